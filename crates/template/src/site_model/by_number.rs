//! Pairs the children of two lists that have equal numbers.

use super::columns::Child;

/// Buffers for pairing by number: chains of the right nodes with equal numbers.
#[derive(Default)]
pub(super) struct ByNumber {
    /// For each number, the round in which the entry was written, and the first right index with that number.
    first: Vec<(u32, u32)>,
    round: u32,
    next: Vec<u32>,
    is_used: Vec<bool>,
}

impl ByNumber {
    /// Pairs children with equal numbers below `n` in their order, in linear time. The others stay in the lists.
    pub(super) fn pair(
        &mut self,
        n: usize,
        (left, left_number): (&mut Vec<Child>, &[u32]),
        (right, right_number): (&mut Vec<Child>, &[u32]),
        mut out: impl FnMut(usize, usize),
    ) {
        const LAST: u32 = u32::MAX;
        if self.round == u32::MAX {
            *self = ByNumber::default();
        }
        self.round += 1;
        if self.first.len() < n {
            self.first.resize(n, (0, LAST));
        }
        self.next.clear();
        self.next.resize(right.len(), LAST);
        self.is_used.clear();
        self.is_used.resize(right.len(), false);
        for (at, j) in right.iter().enumerate().rev() {
            let (round, first) = &mut self.first[right_number[j.node] as usize];
            self.next[at] = if *round == self.round { *first } else { LAST };
            (*round, *first) = (self.round, at as u32);
        }
        left.retain(|i| match self.first.get_mut(left_number[i.node] as usize) {
            Some((round, first)) if *round == self.round && *first != LAST => {
                let at = *first as usize;
                *first = self.next[at];
                self.is_used[at] = true;
                out(i.node, right[at].node);
                false
            }
            _ => true,
        });
        let mut is_used = self.is_used.iter();
        right.retain(|_| !is_used.next().copied().unwrap_or(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_earlier_lists_are_forgotten() {
        let list = |nodes: std::ops::Range<usize>| nodes.zip(1..).map(|(node, position)| Child { node, position });
        let mut by_number = ByNumber::default();
        for round in [0, 1, u32::MAX - 1, u32::MAX, 1] {
            by_number.round = round;
            // On the right only the first list has a 2.
            for (right_numbers, expected) in [([2, 0, 2], vec![(0, 0), (2, 2)]), ([1, 0, 0], vec![])] {
                let (mut left, mut right): (Vec<Child>, Vec<Child>) = (list(0..3).collect(), list(0..3).collect());
                let mut pairs = Vec::new();
                let (here, there) = ((&mut left, [2, 3, 2].as_slice()), (&mut right, right_numbers.as_slice()));
                by_number.pair(4, here, there, |i, j| pairs.push((i, j)));
                assert_eq!(
                    (pairs.len(), left.len(), right.len()),
                    (expected.len(), 3 - expected.len(), 3 - expected.len())
                );
                assert_eq!(pairs, expected, "round {round}");
            }
        }
    }
}
