//! The texts of a page, as they are compared between pages.

use super::Tree;
use super::hash::hash_str;
use super::space::runs;
use super::text::normalize_into;

/// Normalized texts, with one entry per node in preorder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    /// Hash of the text; 0 for elements.
    pub(crate) hash: Vec<u64>,
    /// Number of characters; 0 for elements.
    pub(crate) chars: Vec<u32>,
}

impl Texts {
    pub(super) fn of(tree: &Tree) -> Texts {
        let mut texts = Texts { hash: vec![0; tree.len()], chars: vec![0; tree.len()] };
        let mut scratch = String::new();
        for node in tree.nodes().filter(|node| tree.is_text(*node)) {
            let normalized = normalized_text(tree.text(node), &mut scratch);
            texts.hash[node.index()] = hash_str(normalized);
            texts.chars[node.index()] = normalized.chars().count() as u32;
        }
        texts
    }
}

/// A text with its white space normalized. Most texts are so as they are.
fn normalized_text<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    match runs(text).next() {
        Some(run) if run.len() == text.len() => text,
        _ => {
            scratch.clear();
            normalize_into(text, scratch);
            scratch
        }
    }
}
