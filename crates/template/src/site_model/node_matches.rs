//! What the training pages have of each node of a page, by number and by weight.

use super::align::{Alignment, NodeMatch};
use super::encoded_page::EncodedPage;

/// A training page that shares nothing still counts a little. Otherwise a single other one would always win.
const MIN_SHARE: f32 = 0.02;

/// Share of the nodes of the most similar training page that one of the page's kind has.
const ITS_KIND: f32 = 0.6;

/// What the training pages have of each node.
pub(super) struct NodeMatches {
    pub(super) n_pages: usize,
    /// Share of the page's nodes that each training page has, the greatest first.
    pub(super) shares: Vec<f32>,
    /// Share of the page's letters that a training page has in place, of those whose place it has, in the mean.
    pub(super) agreement: f32,
    pub(super) equal: Vec<f32>,
    pub(super) mapped: Vec<f32>,
    pub(super) n_equal: Vec<u16>,
    pub(super) n_mapped: Vec<u16>,
    pub(super) n_moved: Vec<u16>,
    pub(super) n_partial: Vec<u16>,
    /// Training pages of the page's kind that have the subtree of the node, of `n_kind`.
    pub(super) of_kind: Vec<u16>,
    pub(super) n_kind: usize,
}

impl NodeMatches {
    pub(super) fn new(page: &EncodedPage, alignments: &[Alignment]) -> NodeMatches {
        let n = page.len();
        let share = |alignment: &Alignment| {
            alignment.matches.iter().filter(|found| found.is_mapped()).count() as f32 / n.max(1) as f32
        };
        let mut shares: Vec<f32> = alignments.iter().map(share).collect();
        let greatest = shares.iter().copied().fold(1e-9, f32::max);
        let total: f32 = shares.iter().map(|share| share.max(MIN_SHARE).powi(2)).sum();
        let number = || vec![0_u16; n];
        let mut all = NodeMatches {
            n_pages: alignments.len(),
            shares: Vec::new(),
            agreement: 0.0,
            equal: vec![0.0; n],
            mapped: vec![0.0; n],
            n_equal: number(),
            n_mapped: number(),
            n_moved: number(),
            n_partial: number(),
            of_kind: number(),
            n_kind: 0,
        };
        for (alignment, share) in alignments.iter().zip(&shares) {
            let weight = share.max(MIN_SHARE).powi(2) / total;
            let is_of_kind = *share >= ITS_KIND * greatest;
            all.n_kind += usize::from(is_of_kind);
            all.add(&alignment.matches, weight, is_of_kind);
            all.agreement += agreement(page, alignment) / alignments.len() as f32;
        }
        shares.sort_by(|a, b| b.total_cmp(a));
        NodeMatches { shares, ..all }
    }

    /// Each column in a loop without branches, which is compiled to vector instructions.
    fn add(&mut self, matches: &[NodeMatch], weight: f32, is_of_kind: bool) {
        let count = |numbers: &mut Vec<u16>, counts: fn(NodeMatch) -> bool| {
            numbers.iter_mut().zip(matches).for_each(|(n, found)| *n += u16::from(counts(*found)));
        };
        let weigh = |sums: &mut Vec<f32>, counts: fn(NodeMatch) -> bool| {
            sums.iter_mut().zip(matches).for_each(|(sum, found)| *sum += if counts(*found) { weight } else { 0.0 });
        };
        weigh(&mut self.equal, NodeMatch::has_subtree);
        weigh(&mut self.mapped, NodeMatch::is_mapped);
        count(&mut self.n_equal, |found| found == NodeMatch::Equal);
        count(&mut self.n_mapped, NodeMatch::is_mapped);
        count(&mut self.n_moved, |found| found == NodeMatch::Moved);
        count(&mut self.n_partial, |found| found == NodeMatch::Partial);
        if is_of_kind {
            count(&mut self.of_kind, NodeMatch::has_subtree);
        }
    }

    pub(super) fn n_has_subtree(&self, node: usize) -> u16 {
        self.n_equal[node] + self.n_moved[node]
    }
}

fn agreement(page: &EncodedPage, alignment: &Alignment) -> f32 {
    let (mut equal, mut mapped) = (0_u32, 0_u32);
    for (found, letters) in alignment.matches.iter().zip(&page.chars) {
        equal += if found.has_subtree() { *letters } else { 0 };
        mapped += if found.is_mapped() { *letters } else { 0 };
    }
    if mapped == 0 { 0.0 } else { equal as f32 / mapped as f32 }
}
