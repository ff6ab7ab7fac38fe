//! All regions of a page instead of only the main one, as in the authors' own program of 2013 for news pages.

use std::ops::Range;

use super::region::main_region;
use crate::tps::TpsOptions;

/// The regions that contain at least `papers.tps.min_region` of the sequence, in document order. The parts that a
/// search cuts off are segmented in the same way, with at most `papers.tps.max_splits` + 1 searches in total. If no
/// region is large enough, the main region is returned.
pub fn region_list(symbols: &[u32], how: &TpsOptions) -> Vec<Range<usize>> {
    let least = ((how.min_region * symbols.len() as f64).ceil() as usize).max(1);
    let mut found = Vec::new();
    let whole = 0..symbols.len();
    let mut queue = vec![whole];
    let mut searches = 0;
    while let Some(part) = queue.pop().filter(|_| searches <= how.max_splits) {
        // All parts of a part that is too small are too small.
        if part.len() < least {
            continue;
        }
        searches += 1;
        let inner = main_region(&symbols[part.clone()], how);
        let region = part.start + inner.start..part.start + inner.end;
        if region.len() >= least {
            found.push(region.clone());
        }
        queue.extend([part.start..region.start, region.end..part.end]);
    }
    found.sort_unstable_by_key(|region| region.start);
    if found.is_empty() && !symbols.is_empty() { vec![main_region(symbols, how)] } else { found }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_cut_off_is_searched_too() {
        let how = TpsOptions::default();
        let sequence: Vec<u32> = [(1, 1), (4, 16), (5, 7), (6, 2), (2, 1)]
            .iter()
            .flat_map(|(symbol, n)| std::iter::repeat_n(*symbol, *n))
            .collect();
        let found = region_list(&sequence, &how);
        assert!(
            found.iter().any(|region| sequence[region.clone()].iter().all(|s| *s == 4) && region.len() == 16),
            "{found:?}"
        );
        assert!(found.iter().any(|region| sequence[region.clone()].contains(&5)), "{found:?}");
        assert!(region_list(&[], &how).is_empty());
        let unlike: Vec<u32> = (0..100_000).collect();
        assert!(!region_list(&unlike, &how).is_empty(), "something is kept, and soon");
    }

    proptest! {
        #[test]
        fn regions_do_not_overlap_and_hold_the_main_one(
            sequence in proptest::collection::vec(0..6_u32, 1..60), least in 0.0..0.4_f64,
        ) {
            let how = TpsOptions { min_region: least, ..TpsOptions::default() };
            let found = region_list(&sequence, &how);
            prop_assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let main = main_region(&sequence, &how);
            let least = ((least * sequence.len() as f64).ceil() as usize).max(1);
            let is_fallback = found == [main.clone()] && main.len() < least;
            prop_assert!(is_fallback || found.iter().all(|region| region.len() >= least));
            prop_assert!(found.contains(&main) || (main.len() < least && !found.is_empty()));
        }
    }
}
