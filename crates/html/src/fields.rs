//! The fields of nodes that are compared between pages: ids, classes, attributes, texts.
//!
//! They are read from a tree when they are first asked for: a page that is cleaned alone is not compared. Error
//! recovery can give thousands of elements the same long attribute (the adoption agency algorithm clones open
//! formatting elements), so long values are hashed once ([`PlaceMemo`]). A site model reads ids, classes and attributes
//! itself, without the sets.

use rustc_hash::FxHashMap;

use super::by_place::PlaceMemo;
use super::hash::{ValueHashes, hash_str};
use super::sets::{SetBuilder, SetId, Sets};
use super::{NodeId, Tree};

/// Compared fields, with one entry per node in preorder.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Hash of the id; 0 = none.
    pub id: Vec<u64>,
    /// Set of class tokens.
    pub classes: Vec<SetId>,
    /// Set of (name, value) pairs, `class` and `id` left out.
    pub attrs: Vec<SetId>,
    /// Hash of the normalized text; 0 for elements.
    pub text: Vec<u64>,
    /// The distinct sets.
    pub sets: Sets,
}

/// Alternatives to compared fields, for two settings, with one entry per node in preorder.
#[derive(Clone, Debug, Default)]
pub struct LooseFields {
    /// Set of class tokens without those that look generated (`ignore_generated`).
    pub classes: Vec<SetId>,
    /// Set of attribute names, `class` and `id` left out (`attr_mode = "name"`).
    pub attrs: Vec<SetId>,
    /// The distinct sets.
    pub sets: Sets,
}

impl Fields {
    pub(super) fn new(tree: &Tree) -> Fields {
        let n = tree.len();
        let mut ids = vec![0; n];
        let (mut classes, mut attrs) = (vec![Sets::EMPTY; n], vec![Sets::EMPTY; n]);
        let (names, mut sets) = (AttributeNames::new(tree), SetBuilder::default());
        let mut class_sets = ClassSets::new(|_| true);
        let (mut values, mut pairs) = (ValueHashes::default(), Vec::new());
        for node in (0..n).filter(|node| !tree.is_text(NodeId::new(*node))) {
            pairs.clear();
            for (name, value) in tree.numbered_attrs(NodeId::new(node)) {
                if Some(name) == names.class {
                    classes[node] = class_sets.intern(value, &mut sets);
                } else if Some(name) == names.id {
                    ids[node] = values.id(value);
                } else {
                    pairs.push(values.pair(names.hashes[name], value));
                }
            }
            attrs[node] = sets.intern(&mut pairs);
        }
        Fields { id: ids, classes, attrs, text: tree.texts().hash.clone(), sets: sets.sets }
    }
}

impl LooseFields {
    pub(super) fn new(tree: &Tree) -> LooseFields {
        let (mut classes, mut attrs) = (vec![Sets::EMPTY; tree.len()], vec![Sets::EMPTY; tree.len()]);
        let (names, mut sets) = (AttributeNames::new(tree), SetBuilder::default());
        let mut class_sets = ClassSets::new(|token| !looks_generated(token));
        let mut members = Vec::new();
        for node in 0..tree.len() {
            members.clear();
            for (name, value) in tree.numbered_attrs(NodeId::new(node)) {
                if Some(name) == names.class {
                    classes[node] = class_sets.intern(value, &mut sets);
                } else if Some(name) != names.id {
                    members.push(names.hashes[name]);
                }
            }
            attrs[node] = sets.intern(&mut members);
        }
        LooseFields { classes, attrs, sets: sets.sets }
    }
}

/// The names of a tree as names of attributes.
pub struct AttributeNames {
    /// The number of `class`.
    pub class: Option<usize>,
    /// The number of `id`.
    pub id: Option<usize>,
    /// The hash of each name.
    pub hashes: Vec<u64>,
}

impl AttributeNames {
    /// Those of a tree.
    pub fn new(tree: &Tree) -> AttributeNames {
        let number = |wanted: &str| tree.names().position(|name| name == wanted);
        AttributeNames { class: number("class"), id: number("id"), hashes: tree.names().map(hash_str).collect() }
    }
}

/// Sets of class tokens, by the value of the attribute. Most pages repeat a few values.
struct ClassSets {
    /// The tokens that count.
    keeps: fn(&str) -> bool,
    by_hash: FxHashMap<u64, SetId>,
    /// Those of long values, which are not hashed again.
    by_place: PlaceMemo<SetId>,
}

impl ClassSets {
    fn new(keeps: fn(&str) -> bool) -> ClassSets {
        ClassSets { keeps, by_hash: FxHashMap::default(), by_place: PlaceMemo::default() }
    }

    fn intern(&mut self, value: &str, sets: &mut SetBuilder) -> SetId {
        let keeps = self.keeps;
        let tokens = || value.split_ascii_whitespace().filter(|token| keeps(token)).map(hash_str).collect();
        let by_hash = &mut self.by_hash;
        self.by_place
            .get_or_read(value, |value| *by_hash.entry(hash_str(value)).or_insert_with(|| sets.intern(&mut tokens())))
    }
}

/// Whether a class token looks generated: eight hexadecimal digits in a row, or three digits at the end.
pub fn looks_generated(token: &str) -> bool {
    let bytes = token.as_bytes();
    let tail = bytes.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let mut run = 0;
    tail >= 3
        || bytes.iter().any(|b| {
            run = if b.is_ascii_hexdigit() { run + 1 } else { 0 };
            run >= 8
        })
}

#[cfg(test)]
mod tests {
    use super::looks_generated;

    #[test]
    fn generated_tokens() {
        for token in ["view-dom-id-9f8a7b6c5d", "post-1234", "node-100"] {
            assert!(looks_generated(token), "{token}");
        }
        for token in ["col-12", "h2", "facade", "nav-item", "deadbee"] {
            assert!(!looks_generated(token), "{token}");
        }
    }
}
