//! A page that is kept as a witness.

use super::align::Alignment;
use super::page::{Columns, Page};
use super::tables::Tables;
use crate::dom::mix;

/// A page of the site that others are aligned to.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    pub(super) columns: Columns,
    /// Hash of each node without children: its text or its attributes.
    pub(super) leaves: Vec<u32>,
    /// Equal for equal pages.
    pub(super) digest: u64,
    /// Number of its URL.
    pub(super) url: u64,
    /// Was it added after the training pages?
    pub(super) is_further: bool,
    is_template: Vec<bool>,
    n_template: usize,
    /// Ids with their nodes, ascending.
    ids: Vec<(u32, u32)>,
}

/// Place of a URL among all URLs: as good as random.
pub(super) fn rank(url: u64) -> u64 {
    mix(0, url)
}

impl Witness {
    /// A page whose kinds and subtrees are known becomes a witness; it has no labels yet.
    pub(super) fn of(page: &Page, url: u64, digest: u64, tables: &Tables) -> Witness {
        let mut witness = Witness {
            columns: page.columns.clone(),
            leaves: page.leaves(),
            digest,
            url,
            is_further: false,
            is_template: Vec::new(),
            n_template: 0,
            ids: Vec::new(),
        };
        let kind = |node: usize| &tables.kinds()[witness.columns.kind[node] as usize];
        let with_id = |node: usize| (kind(node).id, node as u32);
        let mut ids: Vec<(u32, u32)> = (0..page.len()).map(with_id).filter(|(id, _)| *id != 0).collect();
        ids.sort_unstable();
        ids.shrink_to_fit();
        witness.ids = ids;
        witness
    }

    /// Takes the new numbers of the subtrees.
    pub(super) fn renumber(&mut self, new: &[u32]) {
        self.columns.subtree.iter_mut().for_each(|subtree| *subtree = new[*subtree as usize]);
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn rank(&self) -> u64 {
        rank(self.url)
    }

    pub(super) fn has_ids(&self) -> bool {
        !self.ids.is_empty()
    }

    /// The only node of this id.
    pub(super) fn find_id(&self, id: u32) -> Option<usize> {
        let at = self.ids.partition_point(|(other, _)| *other < id);
        let is_it = |at: usize| self.ids.get(at).is_some_and(|(other, _)| *other == id);
        (is_it(at) && !is_it(at + 1)).then(|| self.ids[at].1 as usize)
    }

    pub(super) fn set_template(&mut self, is_template: &[bool]) {
        self.is_template = is_template.to_vec();
        // The body counts nothing: every page has one.
        self.n_template = is_template.iter().skip(1).filter(|t| **t).count();
    }

    pub(super) fn template(&self) -> &[bool] {
        &self.is_template
    }

    /// Nodes of its template, the body left out.
    pub(super) fn n_template(&self) -> usize {
        self.n_template
    }

    /// Share of this witness' template that an aligned page shows.
    pub(super) fn shown(&self, alignment: &Alignment) -> f64 {
        let shown = self.is_template.iter().zip(&alignment.taken).skip(1).filter(|(t, taken)| **t && **taken).count();
        if self.n_template == 0 { 0.0 } else { shown as f64 / self.n_template as f64 }
    }
}
