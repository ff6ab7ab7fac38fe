//! How often the attributes of a page may be written.

use std::cell::Cell;

use dehusk_html::Tree;

/// Bytes of attributes that are written again, beside twice the size of the page.
const ALWAYS: usize = 1 << 20;

/// Bytes for the name of an attribute and what is around it.
const NAME: usize = 8;

/// A budget for attributes that were written before. Error recovery can give thousands of elements the same one (the
/// adoption agency algorithm clones open formatting elements): a page of 1 MB would be written as 20 GB. Attributes in
/// the order of the source are not charged. Those of elements that the parser has moved are, and 100,000 of them fit.
pub(super) struct Repeats {
    /// Address after the last value that was written in the order of the source.
    after: Cell<usize>,
    /// Bytes that are left.
    left: Cell<usize>,
}

impl Repeats {
    pub(super) fn new(tree: &Tree) -> Repeats {
        Repeats { after: Cell::new(0), left: Cell::new(2 * tree.n_bytes() + ALWAYS) }
    }

    /// Whether this value of the page may be written.
    pub(super) fn allow(&self, value: &str) -> bool {
        let from = value.as_ptr() as usize;
        if from >= self.after.get() {
            // Not written before: values of the source follow each other.
            self.after.set(from + value.len());
            return true;
        }
        self.charge(value.len() + NAME)
    }

    /// Takes bytes from the budget, if it has them.
    pub(super) fn charge(&self, n: usize) -> bool {
        let left = self.left.get().checked_sub(n);
        left.inspect(|left| self.left.set(*left)).is_some()
    }
}
