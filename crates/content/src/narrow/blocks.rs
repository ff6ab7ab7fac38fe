//! The blocks of a training page in less memory, until they are asked for.

use rustc_hash::FxHashMap;

use super::NarrowColumn;
use crate::site_blocks::PageBlocks;

/// The blocks of a page. Many blocks share a few slots.
#[derive(Clone, Debug, Default)]
pub struct NarrowBlocks {
    slots: Box<[u32]>,
    /// Index of the slot of each block.
    slot: NarrowColumn,
    texts: Box<[u32]>,
    /// Difference of each place in `PageBlocks::patterns` from the one before.
    steps: NarrowColumn,
    /// Their texts with digits as 0.
    patterns: Box<[u32]>,
    logits: Box<[i8]>,
    words: Box<[u8]>,
}

impl NarrowBlocks {
    /// Packs the blocks of a page.
    pub fn new(blocks: &PageBlocks) -> NarrowBlocks {
        let (mut slots, mut known) = (Vec::new(), FxHashMap::default());
        let number = |slot: &u32| {
            *known.entry(*slot).or_insert_with(|| {
                slots.push(*slot);
                slots.len() as u32 - 1
            })
        };
        let slot: Vec<u32> = blocks.slots.iter().map(number).collect();
        // What was read from a file can be in any order.
        let mut last = 0_u32;
        let step = |at: u32| at.wrapping_sub(std::mem::replace(&mut last, at));
        let (steps, patterns): (Vec<u32>, Vec<u32>) =
            blocks.patterns.iter().map(|(at, pattern)| (*at, *pattern)).unzip();
        let steps: Vec<u32> = steps.into_iter().map(step).collect();
        NarrowBlocks {
            slots: slots.into(),
            slot: NarrowColumn::new(&slot),
            texts: blocks.texts.as_slice().into(),
            steps: NarrowColumn::new(&steps),
            patterns: patterns.into(),
            logits: blocks.logits.as_slice().into(),
            words: blocks.words.as_slice().into(),
        }
    }

    /// The blocks as they were.
    pub fn to_blocks(&self) -> PageBlocks {
        let mut at = 0_u32;
        let places = self.steps.to_vec().into_iter().map(|step| {
            at = at.wrapping_add(step);
            at
        });
        PageBlocks {
            slots: self.slot.to_vec().iter().map(|slot| self.slots[*slot as usize]).collect(),
            texts: self.texts.to_vec(),
            patterns: places.zip(self.patterns.iter().copied()).collect(),
            logits: self.logits.to_vec(),
            words: self.words.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_are_given_back(
            blocks in proptest::collection::vec((0..9_u32, any::<u32>(), any::<i8>(), any::<u8>()), 0..40),
            patterns in proptest::collection::vec((0..2000_u32, any::<u32>()), 0..20),
        ) {
            let page = PageBlocks {
                slots: blocks.iter().map(|block| block.0 * 1_000_003).collect(),
                texts: blocks.iter().map(|block| block.1).collect(),
                patterns,
                logits: blocks.iter().map(|block| block.2).collect(),
                words: blocks.iter().map(|block| block.3).collect(),
            };
            prop_assert_eq!(NarrowBlocks::new(&page).to_blocks(), page);
        }
    }
}
