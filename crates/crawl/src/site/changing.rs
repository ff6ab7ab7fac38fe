//! What the versions of a site's pages say together, at the end of its walk: which of their parts always change, and
//! whether its pages have all become one text.

use dehusk_core::changing_parts::Difference;
use rustc_hash::{FxHashMap, FxHashSet};

/// Share of the compared pages on which a part must differ.
const NEARLY_ALL: f64 = 0.9;

/// Share of the visited pages on which a part must differ: a price that changes on some pages each night is news.
const MANY: f64 = 0.5;

/// Share of the compared pages on which a part must differ that is known to change.
const HALF: f64 = 0.5;

/// Pages on which a part must differ.
const SEVERAL: usize = 3;

/// Pages that had different texts and have one text, from which on that is no page of theirs.
const ONE_TEXT: usize = 3;

/// Parts that are counted.
const MOST_PARTS: usize = 10_000;

/// What the comparisons of a run have said so far.
#[derive(Default)]
pub(crate) struct Comparisons {
    /// Parts that are known to change.
    pub(crate) known: FxHashSet<u64>,
    /// Pages on which each part differed, and on which it did not.
    counts: FxHashMap<u64, [usize; 2]>,
    /// The texts that pages had before, by the text that they have now.
    became: FxHashMap<u64, FxHashSet<u64>>,
}

impl Comparisons {
    /// A page has another text than it had.
    pub(crate) fn note_text(&mut self, before: u64, now: u64) {
        self.became.entry(now).or_default().insert(before);
    }

    /// Whether several pages that had texts of their own have this one.
    pub(crate) fn is_one_text(&self, text: u64) -> bool {
        self.became.get(&text).is_some_and(|before| before.len() >= ONE_TEXT)
    }

    /// What differs between two versions of a page.
    pub(crate) fn note_parts(&mut self, difference: &Difference) {
        for (parts, side) in [(&difference.changed, 0), (&difference.steady, 1)] {
            for part in parts {
                let is_full = self.counts.len() >= MOST_PARTS;
                if let Some(counts) = self.counts.get_mut(part) {
                    counts[side] += 1;
                } else if !is_full {
                    let mut counts = [0, 0];
                    counts[side] = 1;
                    self.counts.insert(*part, counts);
                }
            }
        }
    }

    /// Whether parts differed on nearly all pages, of `n_visited`. Parts of which the night says too little are left
    /// out.
    pub(crate) fn changing_parts(&self, n_visited: usize) -> Vec<(u64, bool)> {
        let word = |(part, [differs, steady]): (&u64, &[usize; 2])| {
            let share = *differs as f64 / (differs + steady) as f64;
            if share < NEARLY_ALL {
                // A counter may stand still on a page by chance.
                let is_kept = self.known.contains(part) && share >= HALF;
                return (!is_kept).then_some((*part, false));
            }
            let is_rare = *differs < SEVERAL || (*differs as f64) < MANY * n_visited as f64;
            (!is_rare).then_some((*part, true))
        };
        let mut parts: Vec<(u64, bool)> = self.counts.iter().filter_map(word).collect();
        // Of parts that never differed nothing is stored.
        parts.retain(|(part, differs)| *differs || self.known.contains(part) || self.counts[part][0] > 0);
        parts.sort_unstable();
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(differences: &[(&[u64], &[u64])], n_visited: usize) -> Vec<(u64, bool)> {
        let mut comparisons = Comparisons::default();
        for (changed, steady) in differences {
            let difference = Difference { changed: changed.to_vec(), steady: steady.to_vec(), is_more: false };
            comparisons.note_parts(&difference);
        }
        comparisons.changing_parts(n_visited)
    }

    #[test]
    fn a_part_changes_that_differs_on_many_pages() {
        assert_eq!(told(&[(&[2], &[])], 100), []);
        assert_eq!(told(&[(&[2], &[]), (&[], &[2])], 100), [(2, false)]);
        assert_eq!(told(&[(&[3], &[]), (&[3], &[]), (&[3], &[])], 5), [(3, true)]);
        assert_eq!(told(&[(&[3], &[]), (&[3], &[]), (&[3], &[])], 7), [], "on less than half of the pages");
        assert_eq!(told(&[(&[3], &[]), (&[3], &[])], 2), [], "two pages only");
        assert_eq!(told(&[(&[], &[3])], 2), []);
    }

    #[test]
    fn three_pages_that_had_their_own_texts_are_one_text() {
        let mut comparisons = Comparisons::default();
        comparisons.note_text(1, 9);
        comparisons.note_text(1, 9);
        comparisons.note_text(2, 9);
        assert!(!comparisons.is_one_text(9));
        comparisons.note_text(3, 9);
        assert!(comparisons.is_one_text(9) && !comparisons.is_one_text(1));
    }
}
