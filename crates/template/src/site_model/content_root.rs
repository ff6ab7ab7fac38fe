//! The element that holds the main content of a page, and little else.
//!
//! Pages of one kind share the frame of their content: containers, a byline, a list of tags. Where the training pages
//! are of that kind only, this frame looks like template, although it belongs to the content. The page model says where
//! the content is.

use std::ops::Range;

use super::encoded_page::EncodedPage;

/// Share of the expected main content that the element holds.
const MOST_CONTENT: f64 = 0.95;

/// Share of the element's letters that are expected to be main content.
const LEAST_DENSITY: f64 = 0.7;

/// Expected main content, in letters, below which the page model knows too little.
pub(super) const MIN_EXPECTED: f64 = 200.0;

/// Share of the nodes among a page's own text that may be template before the page model is asked.
const FEW_TEMPLATE: f64 = 0.02;

/// Share of the page's letters that are its own, below which the page model is asked.
const LEAST_OWN: f64 = 0.5;

/// Nodes below the smallest element that holds nearly all main content, itself included. `None` where there is little
/// content, where the element is the body, or where it holds much else, such as a page of several columns.
///
/// `expected` is the expected main content of each node, in letters.
pub(super) fn content_root(page: &EncodedPage, expected: &[f32]) -> Option<Range<usize>> {
    let content = subtree_sums(page, expected.iter().map(|letters| f64::from(*letters)));
    let letters = subtree_sums(page, page.chars.iter().map(|letters| f64::from(*letters)));
    let all = *content.first()?;
    let root = smallest_with(page, &content, MOST_CONTENT * all);
    let is_content = all >= MIN_EXPECTED && root > 0 && content[root] >= LEAST_DENSITY * letters[root];
    is_content.then(|| root..root + page.columns.size[root] as usize)
}

/// Whether there may be template among the content, by the labels alone: most of the text is template, or nodes in the
/// smallest element that holds nearly all own text are. The page model costs as much as all other labeling.
pub(super) fn is_in_doubt(page: &EncodedPage, is_template: &[bool]) -> bool {
    let own = page.chars.iter().zip(is_template).map(|(letters, is)| if *is { 0.0 } else { f64::from(*letters) });
    let own = subtree_sums(page, own);
    let all: f64 = page.chars.iter().map(|letters| f64::from(*letters)).sum();
    let Some(total) = own.first() else { return false };
    let root = smallest_with(page, &own, MOST_CONTENT * total);
    let nodes = root..root + page.columns.size[root] as usize;
    let n_template = is_template[nodes.clone()].iter().filter(|is| **is).count();
    *total < LEAST_OWN * all || n_template as f64 > FEW_TEMPLATE * nodes.len() as f64
}

/// The smallest element whose sum is at least this.
fn smallest_with(page: &EncodedPage, sums: &[f64], least: f64) -> usize {
    let mut at = 0;
    while let Some(below) = page.columns.children(at).map(|child| child.node).find(|node| sums[*node] >= least)
        && page.columns.n_children[below] > 0
    {
        at = below;
    }
    at
}

fn subtree_sums(page: &EncodedPage, own: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sums: Vec<f64> = own.collect();
    for node in (1..page.len()).rev() {
        sums[page.parent[node] as usize] += sums[node];
    }
    sums
}
