//! The stored form of a training set: each node signature once, pages as columns of numbers.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::encoded_page::EncodedPage;
use super::interner::{Interner, NodeSignature, UNKNOWN};
use super::training_page::TrainingPage;
use super::{MissingPage, SiteModelOptions, TrainingSet};
use dehusk_content::{LabelRuns, NarrowBlocks, PageBlocks, TaughtPages, TaughtSlots};

/// A training set as it is stored. Numbers replace names, so that nothing of a page can be read from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredTrainingSet {
    /// Distinct node signatures of all pages.
    signatures: Vec<NodeSignature>,
    pages: Vec<StoredPage>,
    /// What somebody has said about the blocks of some pages.
    #[serde(default, skip_serializing_if = "TaughtPages::is_empty")]
    pub taught: TaughtPages,
    /// What the site gives for an address that it does not have, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing_page: Option<MissingPage>,
}

fn is_not(value: &bool) -> bool {
    !*value
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredPage {
    /// Digest of the whole page.
    digest: u64,
    /// Number of its URL.
    pub(super) url: u64,
    /// Whether it was added after the training pages of the search.
    #[serde(rename = "extra", default, skip_serializing_if = "is_not")]
    pub(super) is_extra: bool,
    /// Number of each node among the signatures, in preorder.
    signatures: Vec<u32>,
    /// Children of each node.
    children: Vec<u32>,
    /// Hash of each node without children: its text or its attributes.
    leaves: Vec<u32>,
    /// Run lengths of the labels: template, own, template, ...
    labels: Vec<u32>,
    /// Its kind, from 0; `None` for a page without a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<usize>,
    /// Its blocks, for the choice of main content, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<PageBlocks>,
}

/// Why a stored training set was refused.
#[derive(Debug, thiserror::Error)]
#[error("training page {page}: {what}")]
pub struct StoredError {
    /// Its number, from 1.
    page: usize,
    what: &'static str,
}

impl TrainingSet {
    /// The stored form.
    pub fn store(&self) -> StoredTrainingSet {
        // Signatures of replaced pages are left out.
        let (mut signatures, mut number) = (Vec::new(), vec![UNKNOWN; self.interner.signatures().len()]);
        let mut numbered = |signature: &u32| {
            let number = &mut number[*signature as usize];
            if *number == UNKNOWN {
                *number = signatures.len() as u32;
                signatures.push(self.interner.signatures()[*signature as usize].clone());
            }
            *number
        };
        let pages = self.pages.iter().zip(self.kinds_of_pages());
        let pages = pages
            .map(|(page, kind)| StoredPage { kind: *kind, ..StoredPage::new(page, &self.interner, &mut numbered) })
            .collect();
        let missing_page = self.missing_page.clone();
        StoredTrainingSet { signatures, pages, taught: self.taught.pages().clone(), missing_page }
    }
}

impl StoredTrainingSet {
    pub(super) fn new(
        signatures: Vec<NodeSignature>,
        pages: Vec<StoredPage>,
        taught: TaughtPages,
        missing_page: Option<MissingPage>,
    ) -> StoredTrainingSet {
        StoredTrainingSet { signatures, pages, taught, missing_page }
    }

    /// The pages, with their signatures numbered as in `signatures`, which grows.
    pub(super) fn renumbered(self, signatures: &mut Vec<NodeSignature>) -> Vec<StoredPage> {
        let mut known: FxHashMap<NodeSignature, u32> = signatures.iter().cloned().zip(0..).collect();
        let number = |signature: NodeSignature| {
            *known.entry(signature).or_insert_with_key(|signature| {
                signatures.push(signature.clone());
                signatures.len() as u32 - 1
            })
        };
        let new: Vec<u32> = self.signatures.into_iter().map(number).collect();
        let mut pages = self.pages;
        for signature in pages.iter_mut().flat_map(|page| &mut page.signatures) {
            *signature = new[*signature as usize];
        }
        pages
    }

    pub(super) fn pages_mut(&mut self) -> &mut [StoredPage] {
        &mut self.pages
    }

    /// Number of training pages.
    pub fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// The number of the URL of each training page that has a kind, and the kind, from 0.
    pub fn page_kinds(&self) -> impl Iterator<Item = (u64, usize)> {
        let used = self.pages.iter().filter(|page| !page.is_extra || !self.is_training_page(page.url));
        used.filter_map(|page| Some((page.url, page.kind?)))
    }

    fn is_training_page(&self, url: u64) -> bool {
        self.pages.iter().any(|page| !page.is_extra && page.url == url)
    }

    /// The numbers of the URLs of the training pages.
    pub fn page_numbers(&self) -> Vec<u64> {
        self.pages.iter().map(|page| page.url).collect()
    }

    /// The numbers of the URLs of the training pages without blocks.
    pub fn without_blocks(&self) -> Vec<u64> {
        self.pages.iter().filter(|page| page.blocks.is_none()).map(|page| page.url).collect()
    }

    /// Gives blocks to the training page with this number of its URL, where it has none.
    pub fn add_blocks(&mut self, url: u64, blocks: &PageBlocks) {
        for page in self.pages.iter_mut().filter(|page| page.url == url && page.blocks.is_none()) {
            page.blocks = Some(blocks.clone());
        }
    }

    /// Checks what was read from outside.
    pub fn check(&self) -> Result<(), StoredError> {
        for (at, page) in self.pages.iter().enumerate() {
            page.check(self.signatures.len()).map_err(|what| StoredError { page: at + 1, what })?;
            if page.kind.is_some_and(|kind| kind >= self.pages.len()) {
                return Err(StoredError { page: at + 1, what: "it is of no kind of the set" });
            }
        }
        Ok(())
    }

    /// The training set, ready to label pages. What `check` would refuse is left out.
    pub fn load(&self, options: &SiteModelOptions) -> TrainingSet {
        let mut interner = Interner::of_signatures(&self.signatures);
        let pages = self.pages.iter().filter(|page| page.check(self.signatures.len()).is_ok());
        let (stored, mut pages): (Vec<&StoredPage>, Vec<EncodedPage>) =
            pages.map(|page| (page, page.page(&self.signatures))).unzip();
        interner.intern_pages(&mut pages, |_| true);
        let training_page = |(stored, page): (&StoredPage, &EncodedPage)| stored.training_page(page, &interner);
        let mut pages: Vec<TrainingPage> = stored.into_iter().zip(&pages).map(training_page).collect();
        pages.sort_by_key(TrainingPage::order);
        hide_second_versions(&mut pages);
        let taught = TaughtSlots::new(self.taught.clone());
        let missing_page = self.missing_page.clone();
        let mut set =
            TrainingSet { pages, interner, options: *options, taught, missing_page, ..TrainingSet::default() };
        set.gather_vocabulary();
        set
    }
}

/// An extra page that is a training page of the search, too, is kept but not used.
fn hide_second_versions(pages: &mut [TrainingPage]) {
    let training: FxHashSet<u64> = pages.iter().filter(|page| !page.is_extra).map(|page| page.url).collect();
    pages.iter_mut().for_each(|page| page.is_hidden = page.is_extra && training.contains(&page.url));
}

impl StoredPage {
    /// Replaces the hashes of texts and of elements without children.
    pub(super) fn replace_hashes(&mut self, mut by: impl FnMut(u32) -> u32) {
        self.leaves.iter_mut().for_each(|leaf| *leaf = by(*leaf));
        if let Some(blocks) = &mut self.blocks {
            blocks.replace_hashes(by);
        }
    }

    /// Orders two versions of a page by their content. Both must be numbered by `signatures`.
    pub(super) fn cmp_content(&self, other: &StoredPage, signatures: &[NodeSignature]) -> Ordering {
        let names = |page: &StoredPage| page.signatures.iter().map(|at| &signatures[*at as usize]).collect::<Vec<_>>();
        let columns =
            |page: &StoredPage| (page.digest, page.labels.clone(), page.children.clone(), page.leaves.clone());
        self.digest
            .cmp(&other.digest)
            .then_with(|| columns(self).cmp(&columns(other)))
            .then_with(|| names(self).cmp(&names(other)))
            .then_with(|| self.blocks.cmp(&other.blocks))
    }

    fn new(page: &TrainingPage, interner: &Interner, number: &mut impl FnMut(&u32) -> u32) -> StoredPage {
        let columns = page.columns.to_columns();
        StoredPage {
            digest: page.digest,
            url: page.url,
            is_extra: page.is_extra,
            signatures: columns.signature.iter().map(number).collect(),
            leaves: page.leaves(&columns, interner),
            children: columns.n_children,
            labels: page.labels().lengths().to_vec(),
            kind: None,
            blocks: page.blocks.as_ref().map(NarrowBlocks::to_blocks),
        }
    }

    fn check(&self, n_signatures: usize) -> Result<(), &'static str> {
        let n = self.signatures.len();
        if n == 0 || self.children.len() != n {
            return Err("its columns are not of one length");
        }
        if self.signatures.iter().any(|signature| *signature as usize >= n_signatures) {
            return Err("a node is of no signature");
        }
        if self.leaves.len() != self.children.iter().filter(|c| **c == 0).count() {
            return Err("a leaf has no hash");
        }
        if self.labels.iter().map(|run| u64::from(*run)).sum::<u64>() != n as u64 {
            return Err("its labels are not of its length");
        }
        if self.blocks.as_ref().is_some_and(|blocks| !blocks.is_sound()) {
            return Err("its blocks are not of one length");
        }
        // In preorder the open places run out with the last node and not before.
        let mut open: u64 = 1;
        for (at, children) in self.children.iter().enumerate() {
            open = open - 1 + u64::from(*children);
            if (open == 0) != (at + 1 == n) {
                return Err("its nodes are no tree");
            }
        }
        Ok(())
    }

    fn page(&self, signatures: &[NodeSignature]) -> EncodedPage {
        let mut leaves = self.leaves.iter().copied();
        let own = self.children.iter().map(|c| if *c == 0 { leaves.next().unwrap_or(0) } else { 0 }).collect();
        EncodedPage::rebuilt(signatures, &self.signatures, self.children.clone(), own)
    }

    fn training_page(&self, page: &EncodedPage, interner: &Interner) -> TrainingPage {
        let mut training_page = TrainingPage::new(page, self.url, self.digest, interner);
        training_page.is_extra = self.is_extra;
        training_page.set_labels(LabelRuns::of_lengths(&self.labels), self.blocks.as_ref());
        training_page
    }
}

#[cfg(test)]
impl StoredTrainingSet {
    /// Digest and URL of each page.
    pub(super) fn page_ids(&self) -> Vec<(u64, u64, bool)> {
        self.pages.iter().map(|page| (page.digest, page.url, page.is_extra)).collect()
    }
}
