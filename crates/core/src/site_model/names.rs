//! The names of elements that are compared between pages: ids, classes and attributes, as numbers.

use rustc_hash::FxHashSet;

use super::interner::NodeSignature;
use crate::dom::{AttributeNames, ByPlace, NodeId, Tree, ValueHashes, hash_of_set, hash_str, mix};

/// Kinds of tokens. A class and an id of the same name are different tokens.
const ID: u64 = 1;
const CLASS: u64 = 2;
const ATTRIBUTE: u64 = 3;

fn token(kind: u64, name: u64) -> u32 {
    (mix(kind, name) as u32).max(1)
}

/// The distinct tokens of a page.
pub(super) fn tokens(tree: &Tree) -> FxHashSet<u32> {
    let (mut names, mut found) = (Names::of(tree), FxHashSet::default());
    for node in tree.counted() {
        names.read(NodeId::new(node));
        found.extend(names.tokens());
    }
    found
}

/// Reads the names of the elements of a page, one element at a time.
pub(super) struct Names<'t> {
    tree: &'t Tree,
    attribute_names: AttributeNames,
    values: ValueHashes,
    /// The tokens of long classes that were read, by their place, and where those of each begin and end.
    long_classes: ByPlace<(usize, usize)>,
    long_tokens: Vec<u32>,
    /// Of the element that was read last; 0 = none.
    id: u32,
    classes: Vec<u32>,
    /// Hashes of the other attributes and their values.
    attributes: Vec<u64>,
}

impl<'t> Names<'t> {
    pub(super) fn of(tree: &'t Tree) -> Names<'t> {
        Names {
            tree,
            attribute_names: AttributeNames::of(tree),
            values: ValueHashes::default(),
            long_classes: ByPlace::default(),
            long_tokens: Vec::new(),
            id: 0,
            classes: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// Whether the element that was read last has no attributes.
    pub(super) fn is_empty(&self) -> bool {
        self.id == 0 && self.classes.is_empty() && self.attributes.is_empty()
    }

    /// Reads the names of an element.
    pub(super) fn read(&mut self, element: NodeId) {
        self.id = 0;
        self.classes.clear();
        self.attributes.clear();
        for (name, value) in self.tree.numbered_attrs(element) {
            if Some(name) == self.attribute_names.class {
                self.read_classes(value);
            } else if Some(name) == self.attribute_names.id {
                self.id = Some(self.values.id(value)).filter(|id| *id != 0).map_or(0, |id| token(ID, id));
            } else {
                self.attributes.push(self.values.pair(self.attribute_names.hashes[name], value));
            }
        }
    }

    fn read_classes(&mut self, value: &str) {
        let tokens = value.split_ascii_whitespace().map(|class| token(CLASS, hash_str(class)));
        if !ByPlace::<(usize, usize)>::is_long(value) {
            return self.classes.extend(tokens);
        }
        let (from, to) = self.long_classes.get_or_read(value, |_| {
            let from = self.long_tokens.len();
            self.long_tokens.extend(tokens);
            (from, self.long_tokens.len())
        });
        self.classes.extend_from_slice(&self.long_tokens[from..to]);
    }

    /// The tokens of its names; some may be given twice.
    fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        let id = Some(self.id).filter(|id| *id != 0);
        let attributes = self.attributes.iter().map(|attribute| token(ATTRIBUTE, *attribute));
        id.into_iter().chain(self.classes.iter().copied()).chain(attributes)
    }

    /// Writes the names that are in the vocabulary into the signature of the element.
    pub(super) fn write_to(&self, vocabulary: &FxHashSet<u32>, signature: &mut NodeSignature) {
        let is_known = |token: &u32| vocabulary.contains(token);
        signature.id = Some(self.id).filter(is_known).unwrap_or(0);
        write_set(self.classes.iter().copied().filter(is_known), &mut signature.classes);
        let attributes = self.attributes.iter().map(|attribute| token(ATTRIBUTE, *attribute));
        write_set(attributes.filter(is_known), &mut signature.attrs);
    }

    /// Hash of its attributes, without id and classes; 0 for none.
    pub(super) fn hash_of_attributes(&mut self) -> u64 {
        hash_of_set(&mut self.attributes)
    }
}

/// Writes tokens in ascending order, each once.
fn write_set(tokens: impl Iterator<Item = u32>, set: &mut Vec<u32>) {
    set.clear();
    set.extend(tokens);
    set.sort_unstable();
    set.dedup();
}
