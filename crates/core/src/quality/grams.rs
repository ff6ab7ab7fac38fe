//! n-grams of words, for growing n.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use dehusk_html::{hash_str, mix};

/// Words as hashes, with their lengths.
pub(super) struct Words {
    pub(super) hashes: Vec<u64>,
    pub(super) chars: Vec<usize>,
    /// How often each occurs.
    pub(super) counts: FxHashMap<u64, usize>,
}

impl Words {
    pub(super) fn new(words: &[String]) -> Words {
        let hashes: Vec<u64> = words.iter().map(|word| hash_str(word)).collect();
        let chars = words.iter().map(|word| word.chars().count()).collect();
        Words { counts: counts(hashes.iter().copied()), hashes, chars }
    }

    /// Entropy of the words, in nats.
    pub(super) fn entropy(&self) -> f64 {
        let n = self.hashes.len().max(1) as f64;
        let mut counts: Vec<usize> = self.counts.values().copied().collect();
        // The sum of floating-point numbers depends on their order.
        counts.sort_unstable();
        counts.into_iter().map(|count| count as f64 / n).map(|share| -share * libm::log(share)).sum::<f64>().max(0.0)
    }
}

/// How often each value occurs.
fn counts<T: Hash + Eq>(values: impl Iterator<Item = T>) -> FxHashMap<T, usize> {
    let mut counts = FxHashMap::default();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

/// The n-grams of a text, by the place of their first word.
pub(super) struct Grams<'a> {
    words: &'a Words,
    n: usize,
    hashes: Vec<u64>,
    /// How often each occurs.
    counts: Vec<usize>,
}

impl Grams<'_> {
    /// The words themselves.
    pub(super) fn of_one_word(words: &Words) -> Grams<'_> {
        let counts = words.hashes.iter().map(|hash| words.counts[hash]).collect();
        Grams { words, n: 1, hashes: words.hashes.clone(), counts }
    }

    /// The grams of one word more. Only those are counted whose two grams of n words occur more than once: no other
    /// can.
    pub(super) fn lengthen(&mut self) {
        let n_places = self.hashes.len().saturating_sub(1);
        let may_repeat = |at: &usize| self.counts[*at] > 1 && self.counts[at + 1] > 1;
        let hash = |at: usize| mix(self.hashes[at], self.words.hashes[at + self.n]);
        let candidates: Vec<usize> = (0..n_places).filter(may_repeat).collect();
        let found = counts(candidates.iter().map(|at| hash(*at)));
        let hashes: Vec<u64> = (0..n_places).map(hash).collect();
        self.counts = vec![1; n_places];
        for at in candidates {
            self.counts[at] = found[&hashes[at]];
        }
        self.hashes = hashes;
        self.n += 1;
    }

    /// Share of the characters that the most frequent gram covers, 0 when none occurs twice.
    pub(super) fn top(&self) -> f64 {
        let length = |at: usize| self.words.chars[at..at + self.n].iter().sum::<usize>();
        let repeated = self.counts.iter().enumerate().filter(|(_, count)| **count > 1);
        let (count, length) = repeated.map(|(at, count)| (*count, length(at))).max().unwrap_or((0, 0));
        (count * length) as f64 / self.n_chars() as f64
    }

    /// Share of the characters of words in grams that occur more than once.
    pub(super) fn duplicated(&self) -> f64 {
        // Places behind the last word that is known to be covered.
        let mut end = 0;
        let mut covered = 0;
        for (at, _) in self.counts.iter().enumerate().filter(|(_, count)| **count > 1) {
            covered += self.words.chars[at.max(end)..at + self.n].iter().sum::<usize>();
            end = at + self.n;
        }
        covered as f64 / self.n_chars() as f64
    }

    fn n_chars(&self) -> usize {
        self.words.chars.iter().sum::<usize>().max(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definitions, literally: every gram is counted.
    fn literal(words: &[String], n: usize) -> (f64, f64) {
        let grams: Vec<&[String]> = words.windows(n).collect();
        let count = |gram: &[String]| grams.iter().filter(|other| **other == gram).count();
        let chars = |gram: &[String]| gram.iter().map(|word| word.chars().count()).sum::<usize>();
        let repeated: Vec<usize> = (0..grams.len()).filter(|at| count(grams[*at]) > 1).collect();
        let top = repeated.iter().map(|at| (count(grams[*at]), chars(grams[*at]))).max().unwrap_or((0, 0));
        let is_covered = |at: &usize| repeated.iter().any(|from| (*from..from + n).contains(at));
        let covered: usize = (0..words.len()).filter(is_covered).map(|at| chars(&words[at..=at])).sum();
        let all = chars(words).max(1) as f64;
        ((top.0 * top.1) as f64 / all, covered as f64 / all)
    }

    proptest! {
        #[test]
        fn grams_follow_their_definitions(words in proptest::collection::vec("[ab]{1,2}", 0..40)) {
            let list = Words::new(&words);
            let mut grams = Grams::of_one_word(&list);
            for n in 2..=10 {
                grams.lengthen();
                prop_assert_eq!((grams.top(), grams.duplicated()), literal(&words, n));
            }
        }
    }
}
