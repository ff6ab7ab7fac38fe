//! What the class names, ids and itemprops around a block say: a learned weight for each sub-word, summed up.
//!
//! No list is written by hand. The sub-words are hashed, and their weights come with the net.

use rustc_hash::FxHashMap;

use super::features::Facts;
use super::word_lists::{Span, WordLists};
use dehusk_html::{NodeId, PlaceMemo};

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
        let mut names = ClassNames::new(facts, WordLists::default(), |word| self.weights.contains_key(word));
        let mut far_sums: FxHashMap<usize, f32> = FxHashMap::default();
        let mut sums: Vec<[f32; 2]> = Vec::with_capacity(facts.len());
        let mut spans = Vec::new();
        let mut last = None;
        for block in &facts.blocks.list {
            let place = (facts.parent(facts.blocks.first_node(block)), block.container);
            // Neighbors often stand in one element.
            if let Some(same) = sums.last().copied().filter(|_| last == Some(place)) {
                sums.push(same);
                continue;
            }
            last = Some(place);
            let outer = names.near(place, &mut spans);
            let near = sum(&names.lists.distinct(&spans), 0);
            let far = *far_sums.entry(outer).or_insert_with(|| {
                names.far(outer, &mut spans);
                sum(&names.lists.distinct(&spans), 1)
            });
            sums.push([near, far]);
        }
        sums
    }
}

/// The sub-words of each element of a page, read once.
struct ClassNames<'f, 't, F> {
    facts: &'f Facts<'t>,
    lists: WordLists,
    /// Others are left out.
    is_known: F,
    /// The lists of all elements that were read.
    spans: Vec<Span>,
    /// Where those of each node are in `spans`; `None` for a node that was not read.
    of_node: Vec<Option<Span>>,
    /// Those of each long value, which error recovery can give thousands of elements.
    of_long: PlaceMemo<Option<Span>>,
}

impl<'f, 't, F: Fn(&u32) -> bool> ClassNames<'f, 't, F> {
    fn new(facts: &'f Facts<'t>, lists: WordLists, is_known: F) -> ClassNames<'f, 't, F> {
        let of_node = vec![None; facts.tree.len()];
        ClassNames { facts, lists, is_known, spans: Vec::new(), of_node, of_long: PlaceMemo::default() }
    }

    /// Appends the lists of an element.
    fn add_element(&mut self, node: usize, out: &mut Vec<Span>) {
        let (from, until) = match self.of_node[node] {
            Some(known) => known,
            None => {
                let read = self.read(node);
                self.of_node[node] = Some(read);
                read
            }
        };
        out.extend_from_slice(&self.spans[from as usize..until as usize]);
    }

    /// Reads the lists of an element, and returns where they are.
    fn read(&mut self, node: usize) -> Span {
        let from = self.spans.len() as u32;
        for (attribute, value) in self.facts.tags.attributes(NodeId::new(node)) {
            let (lists, is_known) = (&mut self.lists, &self.is_known);
            let span = self.of_long.get_or_read(value, |value| lists.of_value(attribute, value, is_known));
            self.spans.extend(span.filter(|(from, until)| from < until));
        }
        (from, self.spans.len() as u32)
    }

    /// Lists the sub-words near a block that begins in `inner`, and gives the element from which on names are far.
    fn near(&mut self, (inner, container): (usize, usize), near: &mut Vec<Span>) -> usize {
        let start = self.facts.tree.counted().start;
        let (mut node, mut steps) = (inner, 0);
        near.clear();
        while node > start && steps < NEAR {
            self.add_element(node, near);
            steps += usize::from(node <= container);
            node = self.facts.parent(node);
        }
        node
    }

    /// Lists the sub-words from this element up to the body.
    fn far(&mut self, outer: usize, far: &mut Vec<Span>) {
        let mut node = outer;
        far.clear();
        while node > self.facts.tree.counted().start {
            self.add_element(node, far);
            node = self.facts.parent(node);
        }
    }
}

/// The hashed sub-words near each block and far from it, each once, ascending.
pub(super) fn class_words(facts: &Facts<'_>) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut names = ClassNames::new(facts, WordLists::default(), |_| true);
    let of_block = |block: &super::blocks::Block| {
        let (inner, mut spans) = (facts.parent(facts.blocks.first_node(block)), Vec::new());
        let outer = names.near((inner, block.container), &mut spans);
        let near = names.lists.distinct(&spans);
        names.far(outer, &mut spans);
        (near, names.lists.distinct(&spans))
    };
    facts.blocks.list.iter().map(of_block).collect()
}
