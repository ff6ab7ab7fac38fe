//! What the class names, ids and itemprops around a block say: a learned weight for each sub-word, summed up.
//!
//! No list is written by hand. The sub-words are hashed, and their weights come with the net.

use rustc_hash::FxHashMap;

use super::features::Facts;
use crate::dom::{NodeId, SetId, hash_str};

/// Weights of sub-words by their hash.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassWords {
    /// Weight near a block and far from it.
    weights: FxHashMap<u32, [f32; 2]>,
}

/// Elements from the container outwards whose names are near.
const NEAR: usize = 3;

/// Divisor of the sums, which brings them to the size of other features.
const SCALE: f32 = 3.0;

impl ClassWords {
    pub(super) fn new(weights: FxHashMap<u32, [f32; 2]>) -> ClassWords {
        ClassWords { weights }
    }

    /// The sums near and far of each block.
    pub(super) fn sums(&self, facts: &Facts<'_>) -> Vec<[f32; 2]> {
        if self.weights.is_empty() {
            return vec![[0.0; 2]; facts.len()];
        }
        let sum = |words: &[u32], place: usize| {
            words.iter().filter_map(|word| self.weights.get(word)).map(|weights| weights[place]).sum::<f32>() / SCALE
        };
        let mut names = Names { known: Some(&self.weights), ..Names::default() };
        let mut far_sums: FxHashMap<usize, f32> = FxHashMap::default();
        let mut sums: Vec<[f32; 2]> = Vec::with_capacity(facts.len());
        let mut last = None;
        for block in &facts.blocks.list {
            let place = (facts.parent(facts.blocks.first_node(block)), block.container);
            // Neighbors often stand in one element.
            if let Some(same) = sums.last().copied().filter(|_| last == Some(place)) {
                sums.push(same);
                continue;
            }
            last = Some(place);
            let (near, outer) = names.near(facts, place);
            let far = *far_sums.entry(outer).or_insert_with(|| sum(&names.far(facts, outer), 1));
            sums.push([sum(&near, 0), far]);
        }
        sums
    }
}

/// The sub-words of each element of a page, read once.
#[derive(Default)]
struct Names<'w> {
    words: FxHashMap<usize, Vec<u32>>,
    /// Those of each set of classes, which many elements share.
    of_classes: FxHashMap<SetId, Vec<u32>>,
    /// Others are left out.
    known: Option<&'w FxHashMap<u32, [f32; 2]>>,
}

impl Names<'_> {
    fn of(&mut self, facts: &Facts<'_>, node: usize) -> &[u32] {
        let known = self.known;
        let is_known = |word: &u32| known.is_none_or(|known| known.contains_key(word));
        let of_classes = &mut self.of_classes;
        self.words.entry(node).or_insert_with(|| {
            let mut words = Vec::new();
            for (name, value) in facts.tree.attrs(NodeId::new(node)) {
                match name {
                    "class" => {
                        let classes = of_classes.entry(facts.tree.shape.classes[node]).or_insert_with(|| {
                            let mut words = sub_words(value);
                            words.retain(is_known);
                            words
                        });
                        words.extend_from_slice(classes);
                    }
                    "id" => words.extend(sub_words(value).into_iter().filter(is_known)),
                    "itemprop" => {
                        let word = hash_str(&format!("itemprop {}", value.trim())) as u32;
                        words.extend(Some(word).filter(is_known));
                    }
                    _ => {}
                }
            }
            words
        })
    }

    /// The sub-words near a block that begins in `inner`, and the element from which on names are far.
    fn near(&mut self, facts: &Facts<'_>, (inner, container): (usize, usize)) -> (Vec<u32>, usize) {
        let start = facts.tree.counted().start;
        let (mut words, mut node, mut steps) = (Vec::new(), inner, 0);
        while node > start && steps < NEAR {
            words.extend_from_slice(self.of(facts, node));
            steps += usize::from(node <= container);
            node = facts.parent(node);
        }
        (distinct(words), node)
    }

    /// The sub-words from this element up to the body.
    fn far(&mut self, facts: &Facts<'_>, outer: usize) -> Vec<u32> {
        let (mut words, mut node) = (Vec::new(), outer);
        while node > facts.tree.counted().start {
            words.extend_from_slice(self.of(facts, node));
            node = facts.parent(node);
        }
        distinct(words)
    }
}

fn distinct(mut words: Vec<u32>) -> Vec<u32> {
    words.sort_unstable();
    words.dedup();
    words
}

/// The hashed sub-words near each block and far from it, each once, ascending.
pub(super) fn class_words(facts: &Facts<'_>) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut names = Names::default();
    let of_block = |block: &super::blocks::Block| {
        let inner = facts.parent(facts.blocks.first_node(block));
        let (near, outer) = names.near(facts, (inner, block.container));
        (near, names.far(facts, outer))
    };
    facts.blocks.list.iter().map(of_block).collect()
}

/// The hashed sub-words of class names.
fn sub_words(names: &str) -> Vec<u32> {
    let mut words = Vec::new();
    split(names, &mut |word| words.push(hash_str(word) as u32));
    words
}

/// Letters of a sub-word, in small letters.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=20;

/// Splits at everything but ASCII letters, and before a capital that follows a small letter or precedes one.
fn split(names: &str, each: &mut dyn FnMut(&str)) {
    let bytes = names.as_bytes();
    let mut begin = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let is_letter = byte.is_ascii_alphabetic();
        let begins = byte.is_ascii_uppercase() && {
            let next_is_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let after_small = at > 0 && bytes[at - 1].is_ascii_lowercase();
            after_small || (next_is_small && begin < at)
        };
        if !is_letter || begins {
            give(names.get(begin..at).unwrap_or_default(), each);
            begin = if is_letter { at } else { at + 1 };
        }
    }
    give(names.get(begin..).unwrap_or_default(), each);
}

fn give(word: &str, each: &mut dyn FnMut(&str)) {
    if !LETTERS.contains(&word.len()) {
        return;
    }
    match word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => each(&word.to_ascii_lowercase()),
        false => each(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_sub_words() {
        let words = |names: &str| {
            let mut words = Vec::new();
            split(names, &mut |word| words.push(word.to_owned()));
            words
        };
        assert_eq!(
            words("postBody entry-content x h2 HTMLText a_b"),
            ["post", "body", "entry", "content", "html", "text"]
        );
        assert_eq!(words("é-nav"), ["nav"]);
    }
}
