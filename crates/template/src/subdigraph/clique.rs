//! The largest set of pages that all link to each other.

/// The largest clique of at most `n` members that contains `start`, with `start` first. Of equals, the first found.
///
/// `mutual[i]` has bit `j` set if `i` and `j` link to each other. The search is branch and bound over bit sets: with
/// `n` at most 8 and 64 pages it takes microseconds, where the thesis enumerates the power set.
pub(super) fn largest_clique_with(mutual: &[u64], start: usize, n: usize) -> Vec<usize> {
    let mut best = Vec::new();
    let mut chosen = vec![start];
    extend(mutual, mutual[start], n, &mut chosen, &mut best);
    best
}

fn extend(mutual: &[u64], mut candidates: u64, n: usize, chosen: &mut Vec<usize>, best: &mut Vec<usize>) {
    if chosen.len() > best.len() {
        best.clone_from(chosen);
    }
    while candidates != 0 && best.len() < n {
        if chosen.len() + candidates.count_ones() as usize <= best.len() {
            return;
        }
        let next = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        chosen.push(next);
        extend(mutual, candidates & mutual[next], n, chosen, best);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Size of the largest clique that contains `start`, by trying every subset.
    fn literal(mutual: &[u64], start: usize, n: usize) -> usize {
        (0..1_u64 << mutual.len())
            .filter(|set| set & (1 << start) != 0 && set.count_ones() as usize <= n)
            .filter(|set| (0..mutual.len()).all(|i| set & (1 << i) == 0 || set & !(1 << i) & !mutual[i] == 0))
            .map(|set| set.count_ones() as usize)
            .max()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_clique_search_equals_the_power_set(
            size in 1..9_usize, n in 1..9_usize, edges in any::<u64>(), start in 0..8_usize,
        ) {
            let start = start % size;
            let mut mutual = vec![0_u64; size];
            for i in 0..size {
                for j in 0..i {
                    if edges >> (i * 8 + j) & 1 == 1 {
                        mutual[i] |= 1 << j;
                        mutual[j] |= 1 << i;
                    }
                }
            }
            let clique = largest_clique_with(&mutual, start, n);
            prop_assert!(clique.contains(&start) && clique.len() <= n);
            for i in &clique {
                prop_assert!(clique.iter().all(|j| i == j || mutual[*i] >> j & 1 == 1));
            }
            prop_assert_eq!(clique.len(), literal(&mutual, start, n));
        }
    }
}
