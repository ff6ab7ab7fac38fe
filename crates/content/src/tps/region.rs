//! The search for the main region (Velloso and Dorneles 2013, Algorithm 3).
//!
//! Where the paper is ambiguous or wrong, these choices are made. The filter is "at least", as in Algorithm 4. The loop
//! ends with the last threshold. The symbol at the cut belongs to the left side. As printed, `(n - 2i) / n > 0.20` can
//! never keep the left side; the default is its absolute value, which can (`papers.tps.gap`).

use std::ops::Range;

use crate::tps::{TpsGap, TpsOptions, TpsSearch};

/// The range of a sequence that is the main region.
///
/// The work is linear in the sequence for each cut and threshold. Cuts that remove symbols from the front one by one
/// share one pass, because a page of dissimilar siblings can have very many of them. After `papers.tps.max_splits` + 1
/// passes the search stops, and the remaining range is the region.
pub fn main_region(symbols: &[u32], how: &TpsOptions) -> Range<usize> {
    let mut region = 0..symbols.len();
    let mut room = Room::new(symbols);
    for _ in 0..=how.max_splits {
        room.count(&symbols[region.clone()]);
        let Some(cut) = room.cut(&symbols[region.clone()], how) else { break };
        region = region.start + cut.start..region.start + cut.end;
    }
    region
}

/// Working memory, indexed by symbol.
struct Room {
    count: Vec<u32>,
    /// Number of occurrences not yet scanned.
    left: Vec<u32>,
}

impl Room {
    fn new(symbols: &[u32]) -> Room {
        let n = symbols.iter().max().map_or(0, |most| *most as usize + 1);
        Room { count: vec![0; n], left: vec![0; n] }
    }

    fn count(&mut self, symbols: &[u32]) {
        self.count.fill(0);
        symbols.iter().for_each(|symbol| self.count[*symbol as usize] += 1);
    }

    /// The kept side at the first threshold whose cut is accepted.
    fn cut(&mut self, symbols: &[u32], how: &TpsOptions) -> Option<Range<usize>> {
        let mut thresholds: Vec<u32> = self.count.iter().copied().filter(|count| *count > 0).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        for (at, threshold) in thresholds.into_iter().enumerate() {
            if self.count.iter().filter(|count| **count >= threshold).count() < 2 {
                return None;
            }
            let found = match how.search {
                TpsSearch::First if at == 0 => self.peel(symbols, how),
                TpsSearch::First => self.first_gap(symbols, threshold).and_then(|i| side(symbols.len(), i, how)),
                TpsSearch::Best => self.best_gap(symbols, threshold, how),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Calls `gap` with the length of each prefix that is a gap: no symbol of the alphabet in the prefix occurs after
    /// it, and other symbols of the alphabet do. Stops when `gap` returns false.
    fn gaps(&mut self, symbols: &[u32], threshold: u32, mut gap: impl FnMut(usize) -> bool) {
        self.left.clone_from(&self.count);
        let alphabet = self.count.iter().filter(|count| **count >= threshold).count();
        let (mut open, mut seen) = (0, 0);
        for (at, symbol) in symbols.iter().map(|symbol| *symbol as usize).enumerate() {
            if self.count[symbol] < threshold {
                continue;
            }
            if self.left[symbol] == self.count[symbol] {
                (open, seen) = (open + 1, seen + 1);
            }
            self.left[symbol] -= 1;
            open -= usize::from(self.left[symbol] == 0);
            if open == 0 && (seen == alphabet || !gap(at + 1)) {
                return;
            }
        }
    }

    fn first_gap(&mut self, symbols: &[u32], threshold: u32) -> Option<usize> {
        let mut first = None;
        self.gaps(symbols, threshold, |i| {
            first = Some(i);
            false
        });
        first
    }

    /// Takes the first gap of the whole alphabet, then the first gap of the remainder, as long as the right side is
    /// kept. The symbols of the remainder keep their counts, so one pass finds all these gaps.
    fn peel(&mut self, symbols: &[u32], how: &TpsOptions) -> Option<Range<usize>> {
        let least = self.count.iter().copied().filter(|count| *count > 0).min()?;
        let (mut start, mut kept) = (0, None);
        self.gaps(symbols, least, |i| match side(symbols.len() - start, i - start, how) {
            Some(side) if side.start > 0 => {
                start = i;
                kept = Some(start..symbols.len());
                true
            }
            Some(side) => {
                kept = Some(start + side.start..start + side.end);
                false
            }
            None => false,
        });
        kept
    }

    fn best_gap(&mut self, symbols: &[u32], threshold: u32, how: &TpsOptions) -> Option<Range<usize>> {
        let n = symbols.len();
        let mut best: Option<usize> = None;
        self.gaps(symbols, threshold, |i| {
            if best.is_none_or(|best| n.abs_diff(2 * i) > n.abs_diff(2 * best)) {
                best = Some(i);
            }
            true
        });
        best.and_then(|i| side(n, i, how))
    }
}

/// The kept side of a sequence of length `n` cut after `i`, if it is sufficiently larger than the other side.
fn side(n: usize, i: usize, how: &TpsOptions) -> Option<Range<usize>> {
    let more = match how.gap {
        TpsGap::Abs => n.abs_diff(2 * i) as f64,
        TpsGap::Paper => n as f64 - 2.0 * i as f64,
    };
    (more / n as f64 > how.split_margin).then_some(if 2 * i < n { i..n } else { 0..i })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn how() -> TpsOptions {
        TpsOptions::default()
    }

    fn runs(runs: &[(u32, usize)]) -> Vec<u32> {
        runs.iter().flat_map(|(symbol, n)| std::iter::repeat_n(*symbol, *n)).collect()
    }

    #[test]
    fn figure_2_and_the_trace() {
        assert_eq!(main_region(&[1, 2, 3, 4, 4, 3, 4, 4], &how()), 2..8);
        let trace = runs(&[(1, 1), (2, 1), (3, 1), (4, 6), (3, 1), (5, 5), (3, 1), (6, 9), (2, 1)]);
        let region = main_region(&trace, &how());
        assert_eq!(trace[region], [6; 9]);
        assert_eq!(main_region(&[], &how()), 0..0);
        assert_eq!(main_region(&[1], &how()), 0..1);
    }

    #[test]
    fn the_branch_that_is_dead_in_print() {
        let sequence = runs(&[(1, 1), (4, 12), (5, 3), (2, 1)]);
        assert_eq!(sequence[main_region(&sequence, &how())], [4; 12]);
        let paper = TpsOptions { gap: TpsGap::Paper, ..how() };
        assert_eq!(main_region(&sequence, &paper), 1..17, "the literal form stops there");
    }

    #[test]
    fn a_page_of_unlike_siblings_is_no_square() {
        let sequence: Vec<u32> = (1..200_000).collect();
        assert!(!main_region(&sequence, &how()).is_empty());
    }

    /// A direct implementation of Algorithm 3 with sets.
    fn literal(symbols: &[u32], how: &TpsOptions) -> Range<usize> {
        let mut region = 0..symbols.len();
        'cuts: loop {
            let part = &symbols[region.clone()];
            let n = part.len();
            let count = |symbol: u32| part.iter().filter(|s| **s == symbol).count();
            let mut thresholds: Vec<usize> = part.iter().map(|symbol| count(*symbol)).collect();
            thresholds.sort_unstable();
            thresholds.dedup();
            for threshold in thresholds {
                let alphabet: std::collections::BTreeSet<u32> =
                    part.iter().copied().filter(|symbol| count(*symbol) >= threshold).collect();
                if alphabet.len() < 2 {
                    return region;
                }
                let candidate = (1..=n).find(|i| {
                    let (before, behind) = part.split_at(*i);
                    let seen = || before.iter().filter(|symbol| alphabet.contains(symbol));
                    alphabet.contains(&before[i - 1]) && seen().all(|symbol| !behind.contains(symbol))
                });
                let Some(i) = candidate else { continue };
                if alphabet.iter().all(|symbol| part[..i].contains(symbol)) {
                    continue;
                }
                if let Some(side) = side(n, i, how) {
                    region = region.start + side.start..region.start + side.end;
                    continue 'cuts;
                }
            }
            return region;
        }
    }

    proptest! {
        #[test]
        fn the_search_equals_the_literal_one(
            symbols in proptest::collection::vec(1..8_u32, 0..40), is_paper in any::<bool>(), runs in any::<bool>(),
        ) {
            let symbols: Vec<u32> =
                if runs { symbols.iter().flat_map(|s| std::iter::repeat_n(*s, *s as usize)).collect() } else { symbols };
            let gap = if is_paper { TpsGap::Paper } else { TpsGap::Abs };
            let how = TpsOptions { gap, ..how() };
            prop_assert_eq!(main_region(&symbols, &how), literal(&symbols, &how));
        }
    }
}
