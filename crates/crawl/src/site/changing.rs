//! What the versions of a site's pages say together, at the end of its walk: which of their parts always change, and
//! whether its pages have all become one text.

use dehusk_core::changing_parts::Difference;
use rustc_hash::{FxHashMap, FxHashSet};

/// Share of the compared pages on which a part must differ.
const NEARLY_ALL: f64 = 0.9;

/// Share of the visited pages on which a part must differ, where it did not differ on the same pages the last time: a
/// price that changes on some pages each night is news.
const MANY: f64 = 0.5;

/// Share of the compared pages on which a part must differ that is known to change.
const HALF: f64 = 0.5;

/// Pages on which a part must differ.
const SEVERAL: usize = 3;

/// Pages that had different texts and have one text, from which on that is no page of theirs.
const ONE_TEXT: usize = 3;

/// Parts that are counted.
const MOST_PARTS: usize = 10_000;

/// Pages on which a part was compared.
#[derive(Clone, Copy, Default)]
struct Counts {
    differs: usize,
    steady: usize,
    /// Those of `differs` that had changed on the run before as well.
    again: usize,
}

/// What the comparisons of a run have said so far.
#[derive(Default)]
pub(crate) struct Comparisons {
    /// Parts that are known to change.
    pub(crate) known: FxHashSet<u64>,
    counts: FxHashMap<u64, Counts>,
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

    /// What differs between two versions of a page, of which the first had changed on the run before, or not.
    pub(crate) fn note_parts(&mut self, difference: &Difference, changed_before: bool) {
        let again = usize::from(changed_before);
        self.add(&difference.changed, Counts { differs: 1, steady: 0, again });
        self.add(&difference.steady, Counts { differs: 0, steady: 1, again: 0 });
    }

    fn add(&mut self, parts: &[u64], more: Counts) {
        for part in parts {
            if self.counts.len() < MOST_PARTS || self.counts.contains_key(part) {
                let counts = self.counts.entry(*part).or_default();
                counts.differs += more.differs;
                counts.steady += more.steady;
                counts.again += more.again;
            }
        }
    }

    /// Whether parts differed on nearly all pages, of `n_visited`, of which `n_bodies` had other bodies than before.
    /// Parts of which the night says too little are left out.
    pub(crate) fn changing_parts(&self, n_visited: usize, n_bodies: usize) -> Vec<(u64, bool)> {
        // Where few bodies differ, those are of pages that are written anew, not of parts that always change.
        let is_restless = n_bodies as f64 >= MANY * n_visited as f64;
        let word = |(part, counts): (&u64, &Counts)| {
            let differs = counts.differs as f64;
            let share = differs / (counts.differs + counts.steady) as f64;
            if share < NEARLY_ALL {
                // A counter may stand still on a page by chance.
                let is_kept = self.known.contains(part) && share >= HALF;
                return (!is_kept).then_some((*part, false));
            }
            let is_everywhere = differs >= MANY * n_visited as f64;
            let is_always = is_restless && counts.again as f64 >= NEARLY_ALL * differs;
            (counts.differs >= SEVERAL && (is_everywhere || is_always)).then_some((*part, true))
        };
        let mut parts: Vec<(u64, bool)> = self.counts.iter().filter_map(word).collect();
        // Of parts that never differed nothing is stored.
        parts.retain(|(part, differs)| *differs || self.known.contains(part) || self.counts[part].differs > 0);
        parts.sort_unstable();
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(differences: &[(&[u64], &[u64])], n_visited: usize) -> Vec<(u64, bool)> {
        told_of(differences, (n_visited, n_visited), false)
    }

    fn told_of(
        differences: &[(&[u64], &[u64])],
        (n_visited, n_bodies): (usize, usize),
        changed_before: bool,
    ) -> Vec<(u64, bool)> {
        let mut comparisons = Comparisons::default();
        for (changed, steady) in differences {
            let difference = Difference { changed: changed.to_vec(), steady: steady.to_vec(), is_more: false };
            comparisons.note_parts(&difference, changed_before);
        }
        comparisons.changing_parts(n_visited, n_bodies)
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
    fn a_part_of_few_pages_changes_that_differs_on_them_again() {
        let three: [(&[u64], &[u64]); 3] = [(&[3], &[]), (&[3], &[]), (&[3], &[])];
        assert_eq!(told_of(&three, (100, 90), true), [(3, true)]);
        assert_eq!(told_of(&three, (100, 3), true), [], "three pages that are written anew each night");
        assert_eq!(told_of(&three, (100, 90), false), []);
        assert_eq!(told_of(&three[..2], (100, 90), true), [], "two pages only");
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
