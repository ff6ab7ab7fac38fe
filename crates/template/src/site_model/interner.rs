//! Numbers for the node signatures and subtrees of all training pages of a site.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::encoded_page::EncodedPage;
use dehusk_html::mix;

/// Tag, and the id, classes and attributes of a node that are in the vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct NodeSignature {
    /// Hash of the tag name; 0 = text.
    #[serde(rename = "n")]
    pub(super) tag: u32,
    /// 0 = none.
    #[serde(rename = "i", default, skip_serializing_if = "is_none")]
    pub(super) id: u32,
    /// Ascending.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) classes: Vec<u32>,
    /// Name and value, hashed; ascending.
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) attrs: Vec<u32>,
}

fn is_none(id: &u32) -> bool {
    *id == 0
}

impl NodeSignature {
    pub(super) fn is_text(&self) -> bool {
        self.tag == 0
    }

    fn hash(&self) -> u64 {
        let names = self
            .classes
            .iter()
            .chain(&self.attrs)
            .fold(self.classes.len() as u64, |hash, name| mix(hash, u64::from(*name)));
        mix(names, u64::from(self.tag) << 32 | u64::from(self.id))
    }

    /// The tokens of its classes, attributes and id.
    pub(super) fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        let id = std::iter::once(&self.id).filter(|id| **id != 0);
        self.classes.iter().chain(&self.attrs).chain(id).copied()
    }
}

/// Number of a subtree that no training page has.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The node signatures and subtrees of all training pages, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner {
    signatures: Vec<NodeSignature>,
    /// Their numbers by their 64-bit hashes. Equal hashes count as equal signatures, as they do for subtrees: comparing
    /// the lists costs more than the rest of the search.
    by_hash: FxHashMap<u64, u32>,
    /// Number of the signature of texts.
    text: Option<u32>,
    /// Hashes of the texts, ascending. Their subtrees have the first numbers.
    texts: Vec<u32>,
    /// Hashes of the other subtrees, ascending.
    elements: Vec<u64>,
}

impl Interner {
    /// An interner of these signatures, numbered in this order.
    pub(super) fn of_signatures(signatures: &[NodeSignature]) -> Interner {
        let mut interner = Interner::default();
        interner.by_hash.reserve(signatures.len());
        signatures.iter().for_each(|signature| {
            interner.push_signature(signature);
        });
        interner
    }

    pub(super) fn signatures(&self) -> &[NodeSignature] {
        &self.signatures
    }

    /// Whether a number is that of the signature of texts.
    pub(super) fn is_text(&self, signature: u32) -> bool {
        self.text == Some(signature)
    }

    pub(super) fn n_subtrees(&self) -> usize {
        self.texts.len() + self.elements.len()
    }

    pub(super) fn find_signature(&self, signature: &NodeSignature) -> Option<u32> {
        self.by_hash.get(&signature.hash()).copied()
    }

    pub(super) fn find_text(&self, hash: u32) -> u32 {
        self.texts.binary_search(&hash).map_or(UNKNOWN, |at| at as u32)
    }

    pub(super) fn find_element(&self, hash: u64) -> u32 {
        self.elements.binary_search(&hash).map_or(UNKNOWN, |at| (self.texts.len() + at) as u32)
    }

    /// The hash of a text, by the number of its subtree; `None` for an element.
    pub(super) fn text(&self, subtree: u32) -> Option<u32> {
        self.texts.get(subtree as usize).copied()
    }

    pub(super) fn add_signature(&mut self, signature: &NodeSignature) -> u32 {
        self.find_signature(signature).unwrap_or_else(|| self.push_signature(signature))
    }

    /// Appends a signature. Of two equal ones, the first is found.
    fn push_signature(&mut self, signature: &NodeSignature) -> u32 {
        let number = self.signatures.len() as u32;
        self.by_hash.entry(signature.hash()).or_insert(number);
        if *signature == NodeSignature::default() {
            self.text.get_or_insert(number);
        }
        self.signatures.push(signature.clone());
        number
    }

    /// Interns the signatures and subtrees of pages and drops unused subtrees. Returns the new number of each old
    /// subtree number.
    pub(super) fn intern_pages(&mut self, pages: &mut [EncodedPage], is_used: impl Fn(usize) -> bool) -> Vec<u32> {
        let (old_texts, old_elements) = (std::mem::take(&mut self.texts), std::mem::take(&mut self.elements));
        let n_texts = old_texts.len();
        self.texts = merged(&old_texts, &is_used, pages.iter().flat_map(|page| page.text_hashes()));
        let is_used_element = |at: usize| is_used(n_texts + at);
        self.elements = merged(&old_elements, is_used_element, pages.iter().flat_map(|page| page.element_hashes()));
        for page in pages {
            page.intern_signatures(self);
            page.number(self);
        }
        let texts = places(&old_texts, &self.texts);
        let elements = places(&old_elements, &self.elements);
        let n_texts = self.texts.len();
        let number = |at: Option<usize>, before: usize| at.map_or(UNKNOWN, |at| (before + at) as u32);
        texts.map(|at| number(at, 0)).chain(elements.map(|at| number(at, n_texts))).collect()
    }
}

/// The used ones of ascending hashes and others, ascending, each once.
fn merged<T: Ord + Copy>(old: &[T], is_used: impl Fn(usize) -> bool, new: impl Iterator<Item = T>) -> Vec<T> {
    let mut new: Vec<T> = new.collect();
    new.sort_unstable();
    let used = old.iter().enumerate().filter(|(at, _)| is_used(*at)).map(|(_, hash)| *hash);
    // The vector consists of two sorted runs, which the stable sort merges.
    let mut all: Vec<T> = used.chain(new).collect();
    all.sort();
    all.dedup();
    all.shrink_to_fit();
    all
}

/// The place of each old hash among the new ones. Both are ascending.
fn places<T: Ord>(old: &[T], new: &[T]) -> impl Iterator<Item = Option<usize>> {
    let mut at = 0;
    old.iter().map(move |hash| {
        while new.get(at).is_some_and(|known| known < hash) {
            at += 1;
        }
        (new.get(at) == Some(hash)).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_signature_has_one_number() {
        let named = |tag: u32, classes: &[u32], attrs: &[u32]| NodeSignature {
            tag,
            id: 0,
            classes: classes.to_vec(),
            attrs: attrs.to_vec(),
        };
        // A class and an attribute of one number are two names.
        let signatures = [named(1, &[], &[]), named(1, &[2], &[]), named(1, &[], &[2]), named(1, &[2, 3], &[])];
        let mut interner = Interner::of_signatures(&signatures);
        assert_eq!(signatures.each_ref().map(|signature| interner.find_signature(signature)), [0, 1, 2, 3].map(Some));
        assert_eq!(interner.find_signature(&named(2, &[], &[])), None);
        assert_eq!(interner.add_signature(&named(1, &[2], &[3])), 4);
        assert_eq!([&signatures[3], &named(1, &[2], &[3])].map(|signature| interner.add_signature(signature)), [3, 4]);
        assert_eq!(interner.signatures().len(), 5);
        // A stored set may have one twice.
        let twice = Interner::of_signatures(&[named(1, &[], &[]), named(1, &[], &[])]);
        assert_eq!(twice.find_signature(&named(1, &[], &[])), Some(0));
    }

    proptest! {
        #[test]
        fn hashes_are_merged_and_found_again(
            old in proptest::collection::btree_set(0..40_u32, 0..20),
            used in proptest::collection::vec(any::<bool>(), 40),
            new in proptest::collection::vec(0..40_u32, 0..20),
        ) {
            let old: Vec<u32> = old.into_iter().collect();
            let all = merged(&old, |at| used[at], new.iter().copied());
            let mut expected: Vec<u32> = (0..old.len()).filter(|at| used[*at]).map(|at| old[at]).collect();
            expected.extend(&new);
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(&all, &expected);
            let found: Vec<Option<usize>> = places(&old, &all).collect();
            let expected: Vec<Option<usize>> = old.iter().map(|hash| all.iter().position(|new| new == hash)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
