//! The post that opens a thread: its author and its day are those of the page.

use super::find;
use crate::metadata::MetadataInput;
use dehusk_html::{NodeId, Tree};

/// Share of the letters of a page that the posts of a thread hold, at least. Below it they are comments on something.
const LEAST_SHARE: f64 = 0.6;

/// Share of the letters of the posts above which one of them is the page, or holds many others.
const MOST_OF_ONE: f64 = 0.9;

/// Characters of a text before the first post from which on it is what the posts are about.
const LONG_TEXT: usize = 150;

/// Who wrote the first post of a thread, and on which day. Nothing for pages that are no thread.
pub(crate) fn opening(page: &MetadataInput<'_>) -> Option<(Option<String>, Option<String>)> {
    let tree = page.tree;
    let found = find(page);
    let first = found.first().filter(|_| found.len() > 1)?;
    let is_before = |text: NodeId| text.index() < first.element.index();
    let mut texts = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node));
    if texts.any(|text| is_before(text) && tree.text(text).chars().count() >= LONG_TEXT) {
        return None;
    }
    let (mut end, mut n_posts, mut longest) = (0, 0, 0);
    for post in &found {
        let subtree = tree.shape.subtree(post.element);
        if subtree.start >= end {
            end = subtree.end;
            let n = letters(tree, subtree);
            n_posts += n;
            longest = longest.max(n);
        }
    }
    let n_all = letters(tree, tree.counted());
    let author = first.author.as_ref().map(|(_, name)| name.clone());
    let day = first.day.as_ref().and_then(|(_, day)| day.clone());
    let is_thread = n_posts as f64 >= LEAST_SHARE * n_all as f64 && longest as f64 <= MOST_OF_ONE * n_posts as f64;
    is_thread.then_some((author, day))
}

fn letters(tree: &Tree, nodes: std::ops::Range<usize>) -> usize {
    nodes.map(|at| tree.text(NodeId::new(at)).chars().filter(|c| c.is_alphabetic()).count()).sum()
}
