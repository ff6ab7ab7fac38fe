//! Matches the members of two lists, the most probable pair first.
//!
//! A pair that is the best one of both its members is matched whatever the others are. All such pairs are found in one
//! pass, and the pairs of matched members are dropped. What is left after a few passes is sorted.

/// Buffers for the pairs of two lists.
#[derive(Default)]
pub(super) struct Matching {
    /// Ascending by their places.
    candidates: Vec<Candidate>,
    /// The best candidate of each member of a list; none of one that is matched.
    best_left: Vec<Best>,
    best_right: Vec<Best>,
}

/// Two members that may be matched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Ascending with falling probability.
    key: u64,
    left: u32,
    right: u32,
}

/// The candidate that comes first.
#[derive(Clone, Copy)]
struct Best {
    key: u64,
    candidate: u32,
}

impl Best {
    const NONE: Best = Best { key: u64::MAX, candidate: u32::MAX };

    /// Takes a candidate. Of equal probabilities the first one stays.
    fn see(&mut self, key: u64, candidate: u32) {
        if key < self.key {
            *self = Best { key, candidate };
        }
    }
}

impl Matching {
    /// Begins with two other lists.
    pub(super) fn begin(&mut self) {
        self.candidates.clear();
    }

    /// Adds a pair with a positive probability. Pairs are added in the order of their places.
    pub(super) fn add(&mut self, probability: f64, left: usize, right: usize) {
        // The bits of floats that are not negative have their order.
        let key = !probability.to_bits();
        self.candidates.push(Candidate { key, left: left as u32, right: right as u32 });
    }

    /// Matches each member at most once: the pair with the greatest probability first, then the first on the left, then
    /// the first on the right. `out` gets the places of the pairs.
    pub(super) fn best_first(&mut self, (m, n): (usize, usize), mut out: impl FnMut(usize, usize)) {
        while self.candidates.len() > 1 {
            let before = self.candidates.len();
            self.match_mutual((m, n), &mut out);
            if self.candidates.len() > before / 2 {
                return self.match_sorted((m, n), out);
            }
        }
        if let Some(only) = self.candidates.pop() {
            out(only.left as usize, only.right as usize);
        }
    }

    /// Matches the pairs that are the best ones of both their members, and drops the candidates of these members.
    fn match_mutual(&mut self, (m, n): (usize, usize), out: &mut impl FnMut(usize, usize)) {
        let Matching { candidates, best_left, best_right } = self;
        for (best, length) in [(&mut *best_left, m), (&mut *best_right, n)] {
            best.clear();
            best.resize(length, Best::NONE);
        }
        for (at, candidate) in (0..).zip(&*candidates) {
            best_left[candidate.left as usize].see(candidate.key, at);
            best_right[candidate.right as usize].see(candidate.key, at);
        }
        let is_mutual = |best: &Best, of_right: &[Best]| {
            let candidate = candidates.get(best.candidate as usize)?;
            (of_right[candidate.right as usize].candidate == best.candidate).then_some(*candidate)
        };
        for best in best_left.iter_mut() {
            if let Some(Candidate { left, right, .. }) = is_mutual(best, best_right) {
                out(left as usize, right as usize);
                *best = Best::NONE;
                best_right[right as usize] = Best::NONE;
            }
        }
        let is_left = |best: &Best| best.candidate != u32::MAX;
        candidates.retain(|of| is_left(&best_left[of.left as usize]) && is_left(&best_right[of.right as usize]));
    }

    fn match_sorted(&mut self, (m, n): (usize, usize), mut out: impl FnMut(usize, usize)) {
        self.candidates.sort_unstable();
        let (mut is_used, mut is_taken) = (vec![false; m], vec![false; n]);
        for Candidate { left, right, .. } in self.candidates.drain(..) {
            let (left, right) = (left as usize, right as usize);
            if !is_used[left] && !is_taken[right] {
                (is_used[left], is_taken[right]) = (true, true);
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
