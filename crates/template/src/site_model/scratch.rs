//! Buffers for the alignments of one page, which is aligned to many training pages.

use super::align::Lists;
use super::by_number::ByNumber;
use super::columns::Columns;

/// Buffers that are reused by the next alignment of the same page.
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

impl Scratch {
    /// The buffers of a page: what is remembered of its names is valid for no other one.
    pub(super) fn for_page() -> Scratch {
        Scratch {
            taken: Vec::new(),
            there: Columns::default(),
            open: Vec::new(),
            lists: Lists::default(),
            by_subtree: ByNumber::default(),
            by_signature: ByNumber::default(),
            found_in: NumberSet::default(),
            is_noted: false,
        }
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
}
