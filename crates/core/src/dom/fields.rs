//! The fields of nodes that are compared between pages: ids, classes, attributes, texts.
//!
//! They are read from a tree when they are first asked for: a page that is cleaned alone is not compared. Error
//! recovery can give thousands of elements the same long attribute (the adoption agency algorithm clones open
//! formatting elements), so long values are identified by their place, and hashed and stored once.

use rustc_hash::FxHashMap;

use super::hash::{LONG_VALUE, hash_long_pair, hash_pair, hash_str};
use super::sets::{SetBuilder, SetId, Sets};
use super::space::runs;
use super::text::normalize_into;
use super::{Attr, NodeId, Tree};

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
    /// Number of characters of the normalized text; 0 for elements. Not known of a stored template.
    pub chars: Vec<u32>,
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
    pub(super) fn of(tree: &Tree) -> Fields {
        let n = tree.len();
        let (mut ids, mut text, mut chars) = (vec![0; n], vec![0; n], vec![0; n]);
        let (mut classes, mut attrs) = (vec![Sets::EMPTY; n], vec![Sets::EMPTY; n]);
        let (names, mut sets) = (AttributeNames::of(tree), SetBuilder::default());
        let mut class_sets = ClassSets::new(|_| true);
        let mut long_values: FxHashMap<Span, u64> = FxHashMap::default();
        let (mut pairs, mut scratch) = (Vec::new(), String::new());
        for node in 0..n {
            if tree.is_text(NodeId::new(node)) {
                let normalized = normalized_text(tree.slice(tree.text[node]), &mut scratch);
                (text[node], chars[node]) = (hash_str(normalized), normalized.chars().count() as u32);
                continue;
            }
            pairs.clear();
            for Attr { name, value } in tree.own_attrs(node) {
                if Some(*name) == names.class {
                    classes[node] = class_sets.of(tree, *value, &mut sets);
                } else if Some(*name) == names.id {
                    ids[node] = match tree.slice(*value) {
                        text if text.len() < LONG_VALUE => id_hash(text),
                        text => *long_values.entry(*value).or_insert_with(|| id_hash(text)),
                    };
                } else {
                    let (name, text) = (names.hashes[*name as usize], tree.slice(*value));
                    pairs.push(match text.len() < LONG_VALUE {
                        true => hash_pair(name, text),
                        false => hash_long_pair(name, *long_values.entry(*value).or_insert_with(|| hash_str(text))),
                    });
                }
            }
            attrs[node] = sets.intern(&mut pairs);
        }
        Fields { id: ids, classes, attrs, text, chars, sets: sets.sets }
    }
}

impl LooseFields {
    pub(super) fn of(tree: &Tree) -> LooseFields {
        let (mut classes, mut attrs) = (vec![Sets::EMPTY; tree.len()], vec![Sets::EMPTY; tree.len()]);
        let (names, mut sets) = (AttributeNames::of(tree), SetBuilder::default());
        let mut class_sets = ClassSets::new(|token| !looks_generated(token));
        let mut members = Vec::new();
        for node in 0..tree.len() {
            members.clear();
            for Attr { name, value } in tree.own_attrs(node) {
                if Some(*name) == names.class {
                    classes[node] = class_sets.of(tree, *value, &mut sets);
                } else if Some(*name) != names.id {
                    members.push(names.hashes[*name as usize]);
                }
            }
            attrs[node] = sets.intern(&mut members);
        }
        LooseFields { classes, attrs, sets: sets.sets }
    }
}

fn id_hash(value: &str) -> u64 {
    match value.trim() {
        "" => 0,
        value => hash_str(value),
    }
}

/// A text with its white space normalized. Most texts are so as they are.
fn normalized_text<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    match runs(text).next() {
        Some(run) if run.len() == text.len() => text,
        _ => {
            scratch.clear();
            normalize_into(text, scratch);
            scratch
        }
    }
}

/// The names of a tree as names of attributes.
struct AttributeNames {
    class: Option<u32>,
    id: Option<u32>,
    /// The hash of each name.
    hashes: Vec<u64>,
}

impl AttributeNames {
    fn of(tree: &Tree) -> AttributeNames {
        let number = |wanted: &str| tree.names().position(|name| name == wanted).map(|at| at as u32);
        AttributeNames { class: number("class"), id: number("id"), hashes: tree.names().map(hash_str).collect() }
    }
}

/// A value, by its place in the buffer of the tree.
type Span = (u32, u32);

/// Sets of class tokens, by the value of the attribute. Most pages repeat a few values.
struct ClassSets {
    /// The tokens that count.
    keeps: fn(&str) -> bool,
    by_hash: FxHashMap<u64, SetId>,
    /// Those of long values, which are not hashed again.
    by_place: FxHashMap<Span, SetId>,
}

impl ClassSets {
    fn new(keeps: fn(&str) -> bool) -> ClassSets {
        ClassSets { keeps, by_hash: FxHashMap::default(), by_place: FxHashMap::default() }
    }

    fn of(&mut self, tree: &Tree, value: Span, sets: &mut SetBuilder) -> SetId {
        let text = tree.slice(value);
        let is_long = text.len() >= LONG_VALUE;
        if let Some(known) = self.by_place.get(&value).filter(|_| is_long) {
            return *known;
        }
        let keeps = self.keeps;
        let tokens = || text.split_ascii_whitespace().filter(|token| keeps(token)).map(hash_str).collect();
        let set = *self.by_hash.entry(hash_str(text)).or_insert_with(|| sets.intern(&mut tokens()));
        if is_long {
            self.by_place.insert(value, set);
        }
        set
    }
}

/// Whether a class token looks generated: eight hexadecimal digits in a row, or three digits at the end.
pub(crate) fn looks_generated(token: &str) -> bool {
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
