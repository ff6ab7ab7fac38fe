//! Matches the members of two lists, the most probable pair first.

/// Buffers for the pairs of two lists.
#[derive(Default)]
pub(super) struct Matching {
    candidates: Vec<Candidate>,
    /// Whether a member of a list is matched.
    is_left: Vec<bool>,
    is_right: Vec<bool>,
}

/// Two members that may be matched.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Ascending with falling probability.
    key: u64,
    left: u32,
    right: u32,
}

impl Matching {
    /// Begins with two other lists.
    pub(super) fn begin(&mut self) {
        self.candidates.clear();
    }

    /// Adds a pair with a positive probability.
    pub(super) fn add(&mut self, probability: f64, left: usize, right: usize) {
        // The bits of floats that are not negative have their order.
        let key = !probability.to_bits();
        self.candidates.push(Candidate { key, left: left as u32, right: right as u32 });
    }

    /// Matches each member at most once: the pair with the greatest probability first, then the first on the left, then
    /// the first on the right. `out` gets the places of the pairs.
    pub(super) fn best_first(&mut self, (m, n): (usize, usize), mut out: impl FnMut(usize, usize)) {
        self.candidates.sort_unstable();
        for (is_matched, length) in [(&mut self.is_left, m), (&mut self.is_right, n)] {
            is_matched.clear();
            is_matched.resize(length, false);
        }
        for Candidate { left, right, .. } in self.candidates.drain(..) {
            let (left, right) = (left as usize, right as usize);
            if !self.is_left[left] && !self.is_right[right] {
                (self.is_left[left], self.is_right[right]) = (true, true);
                out(left, right);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pairs of sorted candidates.
    fn literal(pairs: &[(u8, usize, usize)]) -> Vec<(usize, usize)> {
        let mut sorted = pairs.to_vec();
        sorted.sort_by_key(|(p, left, right)| (u8::MAX - p, *left, *right));
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (_, left, right) in sorted {
            if found.iter().all(|(a, b)| *a != left && *b != right) {
                found.push((left, right));
            }
        }
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn the_best_pairs_are_matched(
            (m, n) in (1..12_usize, 1..12_usize),
            most in 1..20_u8,
            probabilities in proptest::collection::vec(any::<u8>(), 144),
        ) {
            let mut matching = Matching::default();
            // The second lists use the buffers of the first.
            for skip in [0, 7] {
                let places = (0..m).flat_map(|left| (0..n).map(move |right| (left, right)));
                let pairs = places.zip(probabilities.iter().cycle().skip(skip));
                let pairs: Vec<(u8, usize, usize)> =
                    pairs.map(|((left, right), p)| (p % (most + 1), left, right)).filter(|(p, ..)| *p > 0).collect();
                matching.begin();
                pairs.iter().for_each(|(p, left, right)| matching.add(f64::from(*p), *left, *right));
                let mut found = Vec::new();
                matching.best_first((m, n), |left, right| found.push((left, right)));
                found.sort_unstable();
                prop_assert_eq!(found, literal(&pairs));
            }
        }
    }
}
