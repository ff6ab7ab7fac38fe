//! Adds pages of the site to a training set.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use super::TrainingSet;
use super::aligned::KeptAlignments;
use super::encoded_page::EncodedPage;
use super::names::tokens;
use super::training_page::{TrainingPage, rank};
use dehusk_content::LabelRuns;
use dehusk_content::Labels;
use dehusk_content::LazyJudged;
use dehusk_html::Tree;

/// A labeled page that may become a training page.
pub struct Candidate<'t> {
    /// The labels of the page.
    pub labels: Labels,
    /// Its blocks, judged when they are asked for.
    pub judged: LazyJudged<'t>,
    encoded: Option<Encoded>,
}

/// A page as it was encoded to be labeled.
struct Encoded {
    page: EncodedPage,
    alignments: KeptAlignments,
    /// The number of names in the vocabulary then.
    n_names: usize,
}

impl<'t> Candidate<'t> {
    /// A page with labels that were made elsewhere.
    pub fn labeled(tree: &'t Tree, labels: Labels) -> Candidate<'t> {
        Candidate { labels, judged: LazyJudged::new(tree), encoded: None }
    }
}

impl TrainingSet {
    /// Labels a page that may be added to the set.
    pub fn candidate<'t>(&self, tree: &'t Tree) -> Candidate<'t> {
        let (page, judged) = (self.encode(tree), LazyJudged::new(tree));
        let aligned = self.aligned(&page, &KeptAlignments::default());
        let alignments = if self.has_room() { aligned.kept() } else { KeptAlignments::default() };
        let labels = self.judge_aligned(&page, &judged, aligned).shifted(tree);
        Candidate { labels, judged, encoded: Some(Encoded { page, alignments, n_names: self.vocabulary.len() }) }
    }

    /// Adds a labeled page of the site with the number of its URL. Returns whether the page is kept.
    ///
    /// Beside the training pages of the search, the pages with the smallest hashes of their URLs are kept: a sample of
    /// all pages seen that does not depend on their order. A later version of a page replaces an earlier one.
    pub fn add(&mut self, url: u64, candidate: Candidate<'_>) -> bool {
        let same = self.pages.iter().position(|known| known.url == url && !known.is_hidden);
        let extra = self.pages.iter().enumerate().filter(|(_, known)| known.is_extra);
        let replaced = match same {
            Some(_) => same,
            None if self.has_room() => None,
            None => match extra.max_by_key(|(_, known)| known.rank()) {
                Some((at, known)) if rank(url) < known.rank() => Some(at),
                _ => return false,
            },
        };
        let Candidate { labels, judged, encoded } = candidate;
        let tree = judged.tree;
        let encoded = encoded.filter(|encoded| encoded.n_names == self.vocabulary.len());
        let (mut page, mut alignments) = match encoded {
            Some(encoded) => (encoded.page, encoded.alignments),
            None => (EncodedPage::new(tree, &self.vocabulary), KeptAlignments::default()),
        };
        if page.is_empty() || self.pages.iter().any(|known| known.digest == page.digest()) {
            return false;
        }
        let names = tokens(tree);
        if self.learn_names(&names) {
            (page, alignments) = (EncodedPage::new(tree, &self.vocabulary), KeptAlignments::default());
        }
        let is_extra = replaced.is_none_or(|at| self.pages.remove(at).is_extra);
        let mut page = page.bounded(&self.options);
        self.intern(&mut page, replaced.is_some());
        let mut training_page = TrainingPage::new(&page, url, page.digest(), &self.interner);
        training_page.is_extra = is_extra;
        training_page.relabel_state = self.relabel_state(&page, &judged, &names, alignments);
        let blocks = self.blocks_of(&judged);
        (self.blocks, self.kinds) = (OnceLock::new(), OnceLock::new());
        match labels.is_template.get(tree.counted()).filter(|labels| labels.len() == page.len()) {
            Some(labels) => training_page.set_labels(LabelRuns::new(labels), blocks.as_ref()),
            // The page is kept in part.
            None => {
                let labels = self.judge(&page, &judged);
                training_page.set_labels(LabelRuns::new(&labels.is_template), blocks.as_ref());
            }
        }
        let at = self.pages.partition_point(|known| known.order() < training_page.order());
        self.pages.insert(at, training_page);
        true
    }

    /// Whether a version of the page with this number is in the set.
    pub fn knows(&self, url: u64) -> bool {
        self.pages.iter().any(|page| page.url == url)
    }

    /// Whether there are fewer pages beside the training pages of the search than the options allow.
    pub fn has_room(&self) -> bool {
        self.pages.iter().filter(|page| page.is_extra).count() < self.options.extra_pages
    }

    /// Adds the names of a page that another page had too. Returns whether there are any.
    fn learn_names(&mut self, names: &FxHashSet<u32>) -> bool {
        let before = self.vocabulary.len();
        for name in names {
            let is_new = !self.vocabulary.contains(*name) && self.seen_once.len() < self.options.max_names;
            if is_new && !self.seen_once.insert(*name) {
                self.vocabulary.insert(*name);
                self.later_names.push(*name);
            }
        }
        self.vocabulary.len() > before
    }

    /// Interns the signatures and subtrees of a page, and drops subtrees that only a replaced page had.
    fn intern(&mut self, page: &mut EncodedPage, is_one_replaced: bool) {
        let mut is_used = vec![!is_one_replaced; self.interner.n_subtrees()];
        if is_one_replaced {
            let mut subtrees = Vec::new();
            for page in &self.pages {
                page.columns.subtree.write_to(&mut subtrees);
                subtrees.iter().for_each(|subtree| is_used[*subtree as usize] = true);
            }
        }
        let new = self.interner.intern_pages(std::slice::from_mut(page), |subtree| is_used[subtree]);
        self.pages.iter_mut().for_each(|page| page.renumber(&new));
    }
}
