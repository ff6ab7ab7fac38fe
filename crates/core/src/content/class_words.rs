//! What the class names, ids and itemprops around a block say: a learned weight for each sub-word, summed up.
//!
//! No list is written by hand. The sub-words are hashed, and their weights come with the net.

use rustc_hash::FxHashMap;

use super::features::Facts;
use super::tags::Attribute;
use crate::dom::{ByPlace, NodeId, Tree, hash_str};

/// Weights of sub-words by their hash.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassWords {
    /// Weight near a block and far from it.
    weights: FxHashMap<u32, [f32; 2]>,
}

/// Elements from the container outwards whose names are near.
const NEAR: usize = 3;

/// Number of sub-words above which a list is kept without repeats, and joined only once.
const MANY: usize = 64;

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
        let mut names = Names::of(facts.tree, Some(&self.weights));
        let mut far_sums: FxHashMap<usize, f32> = FxHashMap::default();
        let mut sums: Vec<[f32; 2]> = Vec::with_capacity(facts.len());
        let (mut near, mut last_near, mut near_sum) = (Vec::new(), Vec::new(), sum(&[], 0));
        let mut last = None;
        for block in &facts.blocks.list {
            let place = (facts.parent(facts.blocks.first_node(block)), block.container);
            // Neighbors often stand in one element.
            if let Some(same) = sums.last().copied().filter(|_| last == Some(place)) {
                sums.push(same);
                continue;
            }
            last = Some(place);
            let outer = names.near(facts, place, &mut near);
            // The items of a list have the same names.
            if near != last_near {
                near_sum = sum(&names.distinct(&near), 0);
                std::mem::swap(&mut near, &mut last_near);
            }
            let far = *far_sums.entry(outer).or_insert_with(|| {
                let far = names.far(facts, outer);
                sum(&names.distinct(&far), 1)
            });
            sums.push([near_sum, far]);
        }
        sums
    }
}

/// Where sub-words are among those of a page.
type Span = (u32, u32);

/// The sub-words of each element of a page, read once.
struct Names<'w> {
    /// Those of all elements that were read.
    words: Vec<u32>,
    /// Where those of each node are in `words`; `None` for a node that was not read.
    of_node: Vec<Option<Span>>,
    /// Those of each short value of `class`, which many elements share.
    of_classes: FxHashMap<&'w str, Span>,
    /// Those of each long value.
    of_long: ByPlace<Span>,
    /// Those of two values of an element, where they are many.
    joined: FxHashMap<(Span, Span), Span>,
    /// Others are left out.
    known: Option<&'w FxHashMap<u32, [f32; 2]>>,
}

impl<'w> Names<'w> {
    fn of(tree: &Tree, known: Option<&'w FxHashMap<u32, [f32; 2]>>) -> Names<'w> {
        Names {
            words: Vec::new(),
            of_node: vec![None; tree.len()],
            of_classes: FxHashMap::default(),
            of_long: ByPlace::default(),
            joined: FxHashMap::default(),
            known,
        }
    }

    /// The sub-words of an element.
    fn of_element(&mut self, facts: &Facts<'w>, node: usize) -> Span {
        if let Some(span) = self.of_node[node] {
            return span;
        }
        let mut all = (0, 0);
        for (attribute, value) in facts.tags.attributes(NodeId::new(node)) {
            if let Some(span) = self.of_value(attribute, value) {
                all = self.joined(all, span);
            }
        }
        self.of_node[node] = Some(all);
        all
    }

    /// The sub-words of a value; `None` for an attribute that has none.
    fn of_value(&mut self, attribute: Attribute, value: &'w str) -> Option<Span> {
        let is_class = match attribute {
            Attribute::Class => true,
            Attribute::Id | Attribute::Itemprop => false,
            _ => return None,
        };
        let is_long = ByPlace::<Span>::is_long(value);
        let known = match is_long {
            true => self.of_long.get(value),
            false => self.of_classes.get(value).copied().filter(|_| is_class),
        };
        if known.is_some() {
            return known;
        }
        let span = match attribute {
            Attribute::Itemprop => self.add(|words| words.push(hash_str(&format!("itemprop {}", value.trim())) as u32)),
            _ => self.add(|words| split(value, &mut |word| words.push(hash_str(word) as u32))),
        };
        if is_long {
            self.of_long.insert(value, span);
        } else if is_class {
            self.of_classes.insert(value, span);
        }
        Some(span)
    }

    /// The sub-words of both, in one place.
    fn joined(&mut self, a: Span, b: Span) -> Span {
        if a.0 == a.1 || b.0 == b.1 {
            return if b.0 == b.1 { a } else { b };
        }
        let is_kept = (a.1 - a.0) as usize + (b.1 - b.0) as usize > MANY;
        if let Some(known) = self.joined.get(&(a, b)).filter(|_| is_kept) {
            return *known;
        }
        let from = self.words.len() as u32;
        for (from, until) in [a, b] {
            self.words.extend_from_within(from as usize..until as usize);
        }
        let span = (from, self.words.len() as u32);
        if is_kept {
            self.joined.insert((a, b), span);
        }
        span
    }

    /// Adds sub-words, the unknown ones left out, and returns where they are. Many are added once each.
    fn add(&mut self, write: impl FnOnce(&mut Vec<u32>)) -> Span {
        let from = self.words.len();
        write(&mut self.words);
        if self.words.len() - from > MANY {
            self.words[from..].sort_unstable();
        }
        let mut n = from;
        for at in from..self.words.len() {
            let word = self.words[at];
            let is_new = n == from || self.words[n - 1] != word;
            self.words[n] = word;
            n += usize::from(is_new && self.known.is_none_or(|known| known.contains_key(&word)));
        }
        self.words.truncate(n);
        (from as u32, n as u32)
    }

    /// The sub-words near a block that begins in `inner`, and the element from which on names are far.
    fn near(&mut self, facts: &Facts<'w>, (inner, container): (usize, usize), near: &mut Vec<Span>) -> usize {
        let start = facts.tree.counted().start;
        let (mut node, mut steps) = (inner, 0);
        near.clear();
        while node > start && steps < NEAR {
            near.push(self.of_element(facts, node));
            steps += usize::from(node <= container);
            node = facts.parent(node);
        }
        node
    }

    /// The sub-words from this element up to the body.
    fn far(&mut self, facts: &Facts<'w>, outer: usize) -> Vec<Span> {
        let (mut far, mut node) = (Vec::new(), outer);
        while node > facts.tree.counted().start {
            far.push(self.of_element(facts, node));
            node = facts.parent(node);
        }
        far
    }

    /// Each of these sub-words once, ascending.
    fn distinct(&self, spans: &[Span]) -> Vec<u32> {
        let words = spans.iter().flat_map(|(from, until)| &self.words[*from as usize..*until as usize]);
        let mut words: Vec<u32> = words.copied().collect();
        words.sort_unstable();
        words.dedup();
        words
    }
}

/// The hashed sub-words near each block and far from it, each once, ascending.
pub(super) fn class_words(facts: &Facts<'_>) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut names = Names::of(facts.tree, None);
    let of_block = |block: &super::blocks::Block| {
        let (inner, mut near) = (facts.parent(facts.blocks.first_node(block)), Vec::new());
        let outer = names.near(facts, (inner, block.container), &mut near);
        let far = names.far(facts, outer);
        (names.distinct(&near), names.distinct(&far))
    };
    facts.blocks.list.iter().map(of_block).collect()
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
