//! A page that is kept as a training page.

use std::ops::Range;

use super::columns::{Columns, NarrowColumns};
use super::confirm::RelabelState;
use super::encoded_page::EncodedPage;
use super::interner::Interner;
use dehusk_content::LabelRuns;
use dehusk_content::NarrowColumn;
use dehusk_content::{NarrowBlocks, PageBlocks};
use dehusk_html::mix;

/// A page of the site that others are aligned to.
#[derive(Clone, Debug)]
pub(super) struct TrainingPage {
    pub(super) columns: NarrowColumns,
    /// Hashes of the attributes of elements without children, in order.
    empty_elements: Box<[u32]>,
    /// Equal for equal pages.
    pub(super) digest: u64,
    /// Number of its URL.
    pub(super) url: u64,
    /// Whether it was added after the training pages of the search.
    pub(super) is_extra: bool,
    /// Whether another version of the page is used in its place.
    pub(super) is_hidden: bool,
    labels: LabelRuns,
    n_template: usize,
    /// A number for the labels and the blocks.
    labels_number: u64,
    /// Ids with their nodes, ascending.
    ids: Vec<(u32, u32)>,
    /// Its blocks, for the choice of main content, where they are known.
    pub(super) blocks: Option<NarrowBlocks>,
    /// The state by which it is relabeled; `None` for a stored page, and for one that is kept in part.
    pub(super) relabel_state: Option<RelabelState>,
}

/// Sampling priority of a URL: a hash of it. The lowest are kept (bottom-k sample).
pub(super) fn rank(url: u64) -> u64 {
    mix(0, url)
}

impl TrainingPage {
    /// Makes a training page of an interned page; it has no labels yet.
    pub(super) fn new(page: &EncodedPage, url: u64, digest: u64, interner: &Interner) -> TrainingPage {
        let mut training_page = TrainingPage {
            columns: NarrowColumns::new(&page.columns),
            empty_elements: page.empty_elements().into(),
            digest,
            url,
            is_extra: false,
            is_hidden: false,
            labels: LabelRuns::default(),
            n_template: 0,
            labels_number: 0,
            ids: Vec::new(),
            blocks: None,
            relabel_state: None,
        };
        let signature = |node: usize| &interner.signatures()[page.columns.signature[node] as usize];
        let with_id = |node: usize| (signature(node).id, node as u32);
        let mut ids: Vec<(u32, u32)> = (0..page.len()).map(with_id).filter(|(id, _)| *id != 0).collect();
        ids.sort_unstable();
        ids.shrink_to_fit();
        training_page.ids = ids;
        training_page
    }

    /// Where the page is kept in a training set.
    pub(super) fn order(&self) -> (u64, u64) {
        (self.digest, self.url)
    }

    /// Hash of each node without children, in order: its text or its attributes.
    pub(super) fn leaves(&self, columns: &Columns, interner: &Interner) -> Vec<u32> {
        let mut empty_elements = self.empty_elements.iter().copied();
        let leaves = columns.subtree.iter().zip(&columns.n_children).filter(|(_, n)| **n == 0);
        let leaves = leaves.map(|(subtree, _)| interner.text(*subtree).or_else(|| empty_elements.next()));
        leaves.map(Option::unwrap_or_default).collect()
    }

    /// Takes the new numbers of the subtrees.
    pub(super) fn renumber(&mut self, new: &[u32]) {
        let mut subtrees = self.columns.subtree.to_vec();
        subtrees.iter_mut().for_each(|subtree| *subtree = new[*subtree as usize]);
        self.columns.subtree = NarrowColumn::new(&subtrees);
    }

    /// A number for the page, its blocks and its labels.
    pub(super) fn number(&self) -> u64 {
        let kinds = u64::from(self.is_extra) | u64::from(self.is_hidden) << 1;
        mix(mix(mix(kinds, self.digest), self.url), self.labels_number)
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn rank(&self) -> u64 {
        rank(self.url)
    }

    /// The only node of this id.
    pub(super) fn find_id(&self, id: u32) -> Option<usize> {
        let at = self.ids.partition_point(|(other, _)| *other < id);
        let is_it = |at: usize| self.ids.get(at).is_some_and(|(other, _)| *other == id);
        (is_it(at) && !is_it(at + 1)).then(|| self.ids[at].1 as usize)
    }

    /// Takes its labels, and its blocks where they are known.
    pub(super) fn set_labels(&mut self, labels: LabelRuns, blocks: Option<&PageBlocks>) {
        let is_template = labels.to_vec();
        let number = blocks.map_or(0, PageBlocks::number);
        self.labels_number = is_template.iter().fold(number, |number, is| mix(number, u64::from(*is)));
        // The body counts nothing: every page has one.
        self.n_template = is_template.iter().skip(1).filter(|t| **t).count();
        (self.labels, self.blocks) = (labels, blocks.map(NarrowBlocks::new));
    }

    pub(super) fn labels(&self) -> &LabelRuns {
        &self.labels
    }

    /// Nodes of its template, without the body.
    pub(super) fn n_template(&self) -> usize {
        self.n_template
    }

    /// Share of this page's template that an aligned page shows, by the nodes that are taken.
    pub(super) fn coverage(&self, taken: &[bool]) -> f64 {
        // The body counts nothing.
        let taken_of = |run: Range<usize>| taken[run.start.max(1)..run.end.max(1)].iter().filter(|is| **is).count();
        let shown: usize = self.labels.template().map(taken_of).sum();
        if self.n_template == 0 { 0.0 } else { shown as f64 / self.n_template as f64 }
    }
}
