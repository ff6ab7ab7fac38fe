//! Buffers of a thread for its alignments: a page is aligned to many training pages, and a thread labels many pages.

use std::cell::RefCell;

use super::align::Lists;
use super::by_number::ByNumber;
use super::columns::Columns;

/// Buffers that are reused by the next alignment.
#[derive(Default)]
pub(super) struct Scratch {
    /// For each node of the training page, whether a node of the page is mapped to it.
    pub(super) taken: Vec<bool>,
    /// The columns of the training page.
    pub(super) there: Columns,
    /// Pairs of nodes that are mapped, whose children are to be mapped.
    pub(super) open: Vec<(usize, usize)>,
    pub(super) lists: Lists,
    pub(super) by_subtree: ByNumber,
    pub(super) by_signature: ByNumber,
    /// The subtrees of the training page, if `is_noted`.
    pub(super) found_in: NumberSet,
    pub(super) is_noted: bool,
}

/// Entries of the largest buffer above which the buffers are freed instead of kept for the next page.
const MOST_KEPT: usize = 1 << 18;

/// Calls `work` with the buffers of this thread.
pub(super) fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    let mut scratch = SCRATCH.take();
    let result = work(&mut scratch);
    if scratch.size() <= MOST_KEPT {
        SCRATCH.set(scratch);
    }
    result
}

impl Scratch {
    /// Begins with another page.
    pub(super) fn begin(&mut self) {
        self.lists.begin();
    }

    /// Entries of its largest buffer.
    fn size(&self) -> usize {
        let lists = self.lists.size().max(self.taken.capacity());
        lists.max(self.by_subtree.size()).max(self.by_signature.size()).max(self.found_in.number.capacity())
    }
}

/// A set of numbers that is emptied without a pass over them.
#[derive(Default)]
pub(super) struct NumberSet {
    /// The round in which each number was entered last.
    number: Vec<u32>,
    round: u32,
}

impl NumberSet {
    /// Empties it, to take numbers below `n`.
    pub(super) fn begin(&mut self, n: usize) {
        if self.round == u32::MAX {
            *self = NumberSet::default();
        }
        self.round += 1;
        if self.number.len() < n {
            self.number.resize(n, 0);
        }
    }

    pub(super) fn note(&mut self, number: u32) {
        self.number[number as usize] = self.round;
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.number.get(number as usize) == Some(&self.round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_empty_when_it_begins_again() {
        let mut set = NumberSet::default();
        for round in [0, 1, u32::MAX - 1, u32::MAX, 1] {
            set.round = round;
            set.begin(3);
            assert!((0..4).all(|number| !set.has(number)), "round {round}");
            set.note(2);
            assert!(set.has(2) && !set.has(1) && !set.has(u32::MAX));
        }
    }

    #[test]
    fn large_buffers_are_given_back() {
        with_scratch(|scratch| scratch.taken = vec![true; 9]);
        assert_eq!(with_scratch(|scratch| scratch.taken.len()), 9);
        with_scratch(|scratch| scratch.taken = vec![true; MOST_KEPT + 1]);
        assert_eq!(with_scratch(|scratch| scratch.taken.len()), 0);
    }
}
