//! The texts of a page, as they are compared between pages.

use super::Tree;
use super::hash::hash_str;
use super::space::runs;

/// Normalized texts, with one entry per node in preorder.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Hash of the text; 0 for elements.
    pub hash: Vec<u64>,
    /// Number of characters; 0 for elements.
    pub chars: Vec<u32>,
}

impl Texts {
    pub(super) fn new(tree: &Tree) -> Texts {
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

/// A text with its white space normalized. Most texts are so, but for white space around them.
fn normalized_text<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    let mut runs = runs(text);
    let first = runs.next().unwrap_or_default();
    let Some(second) = runs.next() else { return first };
    scratch.clear();
    scratch.push_str(first);
    for run in std::iter::once(second).chain(runs) {
        scratch.push(' ');
        scratch.push_str(run);
    }
    scratch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_with_single_blanks() {
        let mut scratch = String::from("of another text");
        let mut normalized = |text: &'static str| normalized_text(text, &mut scratch).to_owned();
        for text in ["a b c d", " a b c d", "a b c d\n", "a\nb c d", "\na  b\u{a0}c \t d "] {
            assert_eq!(normalized(text), "a b c d", "{text:?}");
        }
        assert_eq!((normalized(""), normalized(" \n ")), (String::new(), String::new()));
    }
}
