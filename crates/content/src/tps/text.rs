//! Text outside of links: what tells the parts of a page that are read from those that lead elsewhere.

use dehusk_html::{NodeId, Tree, normalized_chars};

/// The number of characters outside of links in each text node of a page.
pub(super) struct TextOutsideLinks<'t> {
    tree: &'t Tree,
    chars: Vec<usize>,
}

impl<'t> TextOutsideLinks<'t> {
    pub(super) fn new(tree: &'t Tree) -> TextOutsideLinks<'t> {
        let (mut chars, mut link_ends) = (vec![0; tree.len()], 0);
        for node in tree.counted() {
            let at = NodeId::new(node);
            if tree.name(at) == "a" {
                link_ends = link_ends.max(tree.shape.subtree(at).end);
            } else if tree.is_text(at) && node >= link_ends {
                chars[node] = normalized_chars(tree.text(at));
            }
        }
        TextOutsideLinks { tree, chars }
    }

    /// The text of an element without that of the elements in it.
    pub(super) fn of_element(&self, element: NodeId) -> usize {
        self.tree.shape.children(element).map(|child| self.chars[child]).sum()
    }

    pub(super) fn sum(&self) -> usize {
        self.chars.iter().sum()
    }

    /// The text of the nodes that are kept, and of the others.
    pub(super) fn kept_and_rest(&self, is_out: &[bool]) -> (usize, usize) {
        let out = self.chars.iter().zip(is_out).filter(|(_, is_out)| **is_out).map(|(chars, _)| *chars).sum();
        (self.sum() - out, out)
    }
}
