//! Blocks of one slot judged together.
//!
//! The items of a list, the posts of a thread and the cells of a column have one slot: the same names of elements and
//! classes from the body down. They are content together or not at all, and the net, which sees each block with its
//! neighbors, is not always sure of all. So the logit of each block moves toward the mean of its slot.

use rustc_hash::FxHashMap;

use super::features::Facts;

/// How far a logit moves toward the mean of a slot of many blocks.
const SHARE: f32 = 0.75;

/// Blocks of a slot at which the logit moves half as far.
const HALF_AT: f32 = 2.0;

/// Words of a block beyond which it weighs no more in the mean.
const MOST_WORDS: f32 = 50.0;

/// Logit beyond which a block weighs no more in the mean.
const MOST_LOGIT: f32 = 6.0;

/// The logits of blocks, each moved toward the mean of its slot.
pub(super) fn with_slot_means(facts: &Facts<'_>, logits: &[f32]) -> Vec<f32> {
    let words = facts.measures.list.iter().map(|m| m.n_words());
    let slots: Vec<u64> = (0..facts.len()).map(|block| facts.slot(block)).collect();
    moved(&slots, &words.collect::<Vec<f32>>(), logits)
}

fn moved(slots: &[u64], words: &[f32], logits: &[f32]) -> Vec<f32> {
    // Of each slot: blocks, weights, weighted logits.
    let mut sums: FxHashMap<u64, (f32, f32, f32)> = FxHashMap::default();
    for ((slot, n), logit) in slots.iter().zip(words).zip(logits) {
        let sum = sums.entry(*slot).or_default();
        let weight = n.min(MOST_WORDS) + 1.0;
        *sum = (sum.0 + 1.0, sum.1 + weight, sum.2 + weight * logit.clamp(-MOST_LOGIT, MOST_LOGIT));
    }
    let moved = slots.iter().zip(logits).map(|(slot, logit)| {
        let (n, weights, weighted) = sums[slot];
        let share = SHARE * n / (n + HALF_AT);
        logit + share * (weighted / weights - logit)
    });
    moved.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_in_doubt_goes_with_its_list() {
        let slots = [1, 1, 1, 1, 2];
        let moved = moved(&slots, &[10.0; 5], &[2.0, 2.0, 2.0, -1.0, -1.0]);
        assert!(moved[3] > 0.0 && moved[0] > 1.0, "{moved:?}");
        assert!(moved[4] < -0.99, "a block alone in its slot stays: {moved:?}");
        // A long block says more than a short one.
        let by_words = super::moved(&[1, 1], &[40.0, 1.0], &[3.0, -3.0]);
        assert!(by_words[1] > -1.5, "{by_words:?}");
    }
}
