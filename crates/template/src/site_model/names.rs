//! The names of elements that are compared between pages: ids, classes and attributes, as numbers.

use rustc_hash::FxHashSet;

use super::class_lists::ClassLists;
use dehusk_html::{AttributeNames, NodeId, PlaceMemo, Tree, ValueHashes, hash_of_set, hash_str, mix};

/// Kinds of tokens. A class and an id of the same name are different tokens.
const ID: u64 = 1;
const CLASS: u64 = 2;
const ATTRIBUTE: u64 = 3;

fn token(kind: u64, name: u64) -> u32 {
    (mix(kind, name) as u32).max(1)
}

/// The token of a class.
pub(super) fn class_token(class: &str) -> u32 {
    token(CLASS, hash_str(class))
}

/// The distinct tokens of a page.
pub(super) fn tokens(tree: &Tree) -> FxHashSet<u32> {
    let (mut names, mut found) = (NameReader::new(tree, ClassLists::default(), |_| true), FxHashSet::default());
    for node in tree.counted() {
        names.read(NodeId::new(node));
        found.extend(Some(names.id).filter(|id| *id != 0));
        found.extend(&names.attributes);
    }
    found.extend(names.classes.classes());
    found
}

/// Reads the names of the elements of a page, one element at a time. Names for which `keeps` is false are left out.
pub(super) struct NameReader<'t, F> {
    tree: &'t Tree,
    keeps: F,
    attribute_names: AttributeNames,
    values: ValueHashes,
    classes: ClassLists,
    /// Numbers of the lists of long values of `class`. Error recovery can give thousands of elements the same one.
    long_classes: PlaceMemo<u32>,
    // Of the element that was read last:
    /// 0 = none.
    id: u32,
    list: u32,
    /// Ascending, each once.
    attributes: Vec<u32>,
    /// Hashes of all attributes and their values, without ids and classes.
    hashes: Vec<u64>,
    has_any: bool,
}

impl<'t, F: Fn(u32) -> bool> NameReader<'t, F> {
    pub(super) fn new(tree: &'t Tree, classes: ClassLists, keeps: F) -> NameReader<'t, F> {
        NameReader {
            tree,
            keeps,
            attribute_names: AttributeNames::new(tree),
            values: ValueHashes::default(),
            classes,
            long_classes: PlaceMemo::default(),
            id: 0,
            list: ClassLists::EMPTY,
            attributes: Vec::new(),
            hashes: Vec::new(),
            has_any: false,
        }
    }

    /// Reads the names of an element.
    pub(super) fn read(&mut self, element: NodeId) {
        (self.id, self.list, self.has_any) = (0, ClassLists::EMPTY, false);
        self.attributes.clear();
        self.hashes.clear();
        for (name, value) in self.tree.numbered_attrs(element) {
            self.has_any = true;
            if Some(name) == self.attribute_names.class {
                let (classes, long_classes, keeps) = (&mut self.classes, &mut self.long_classes, &self.keeps);
                self.list = long_classes.get_or_read(value, |value| classes.number(value, keeps));
            } else if Some(name) == self.attribute_names.id {
                let id = Some(self.values.id(value)).filter(|id| *id != 0).map(|id| token(ID, id));
                self.id = id.filter(|id| (self.keeps)(*id)).unwrap_or(0);
            } else {
                let hash = self.values.pair(self.attribute_names.hashes[name], value);
                self.hashes.push(hash);
                let attribute = token(ATTRIBUTE, hash);
                if (self.keeps)(attribute) {
                    self.attributes.push(attribute);
                }
            }
        }
        if self.attributes.len() > 1 {
            self.attributes.sort_unstable();
            self.attributes.dedup();
        }
    }

    /// Whether the element has no attributes.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_any
    }

    /// A hash of the names that are kept. Equal hashes count as equal names.
    pub(super) fn key(&self) -> u64 {
        let names = mix(u64::from(self.id), u64::from(self.list));
        self.attributes.iter().fold(names, |key, attribute| mix(key, u64::from(*attribute)))
    }

    /// The kept id; 0 = none.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// The kept classes, ascending.
    pub(super) fn classes(&self) -> &[u32] {
        self.classes.list(self.list)
    }

    /// The kept attributes, ascending.
    pub(super) fn attributes(&self) -> &[u32] {
        &self.attributes
    }

    /// Hash of all attributes, without ids and classes; 0 for none.
    pub(super) fn hash_of_attributes(&mut self) -> u64 {
        hash_of_set(&mut self.hashes)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn names_are_read_as_sets_of_what_is_kept() {
        let html = "<p class='a b'></p><p class=' b  a a'></p><p class=c title=x></p><p title=x id=' '></p><p>";
        let tree = parse(html, &ParseOptions::default());
        let elements: Vec<NodeId> = tree.all("p").collect();
        let c = class_token("c");
        let mut names = NameReader::new(&tree, ClassLists::default(), |token| token != c);
        let mut read = |at: usize| {
            names.read(elements[at]);
            (names.key(), names.classes().len(), names.attributes().len(), names.id(), names.is_empty())
        };
        let keys: Vec<u64> = (0..5).map(|at| read(at).0).collect();
        assert_eq!((keys[0], keys[2]), (keys[1], keys[3]));
        assert!(keys[0] != keys[2] && keys[2] != keys[4]);
        let rest = [0, 2, 3, 4].map(read).map(|(_, classes, attributes, id, none)| (classes, attributes, id, none));
        assert_eq!(rest, [(2, 0, 0, false), (0, 1, 0, false), (0, 1, 0, false), (0, 0, 0, true)]);
        assert_eq!(tokens(&tree).len(), 4);
    }

    #[test]
    fn the_names_of_cloned_elements_are_read_once() {
        // Error recovery gives each paragraph a `b` of its own.
        let classes: String = (0..100).map(|n| format!("class{n} ")).collect();
        let tree = parse(&format!("<p><b class='{classes}'>x{}", "<p>x".repeat(20)), &ParseOptions::default());
        let n_read = Cell::new(0);
        let mut names = NameReader::new(&tree, ClassLists::default(), |_| n_read.replace(n_read.get() + 1) < 100);
        let n_elements = tree.all("b").map(|b| names.read(b)).count();
        assert_eq!((n_elements, n_read.get(), names.classes().len()), (21, 100, 100));
    }
}
