//! Numbers for the node signatures and subtrees of all training pages of a site.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::encoded_page::EncodedPage;
use crate::dom::mix;

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

/// First step of the search for a subtree.
const FIRST_STEP: usize = 16;

/// The node signatures and subtrees of all training pages, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner {
    signatures: Vec<NodeSignature>,
    /// Their numbers by their hashes. A signature whose hash is taken gets the next free one.
    by_hash: FxHashMap<u64, u32>,
    /// Hashes of subtrees, ascending.
    subtrees: Vec<u64>,
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

    pub(super) fn n_subtrees(&self) -> usize {
        self.subtrees.len()
    }

    pub(super) fn find_signature(&self, signature: &NodeSignature) -> Option<u32> {
        let mut hash = signature.hash();
        loop {
            let number = *self.by_hash.get(&hash)?;
            if self.signatures[number as usize] == *signature {
                return Some(number);
            }
            hash = hash.wrapping_add(1);
        }
    }

    /// Hashes are spread evenly, so the search begins where this one would be and goes out in steps that double.
    pub(super) fn find_subtree(&self, hash: u64) -> u32 {
        let n = self.subtrees.len();
        let expected = ((u128::from(hash) * n as u128) >> 64) as usize;
        let (mut low, mut high, mut step) = (expected, expected, FIRST_STEP);
        while low > 0 && self.subtrees[low] > hash {
            (low, step) = (low.saturating_sub(step), 2 * step);
        }
        while high < n && self.subtrees[high] < hash {
            (high, step) = ((high + step).min(n), 2 * step);
        }
        match self.subtrees.get(low..(high + 1).min(n)).unwrap_or_default().binary_search(&hash) {
            Ok(at) => (low + at) as u32,
            Err(_) => UNKNOWN,
        }
    }

    pub(super) fn add_signature(&mut self, signature: &NodeSignature) -> u32 {
        self.find_signature(signature).unwrap_or_else(|| self.push_signature(signature))
    }

    /// Appends a signature. Of two equal ones, the first is found.
    fn push_signature(&mut self, signature: &NodeSignature) -> u32 {
        let number = self.signatures.len() as u32;
        let mut hash = signature.hash();
        while self.by_hash.contains_key(&hash) {
            hash = hash.wrapping_add(1);
        }
        self.by_hash.insert(hash, number);
        self.signatures.push(signature.clone());
        number
    }

    /// Interns the signatures and subtree hashes of pages and drops unused subtrees. Returns the new number of each old
    /// subtree number.
    pub(super) fn intern_pages(&mut self, pages: &mut [EncodedPage], is_used: impl Fn(usize) -> bool) -> Vec<u32> {
        let old = std::mem::take(&mut self.subtrees);
        let kept = old.iter().enumerate().filter(|(at, _)| is_used(*at)).map(|(_, hash)| hash);
        let mut hashes: Vec<u64> = pages.iter().flat_map(|page| page.hashes()).copied().collect();
        hashes.sort_unstable();
        // The vector consists of two sorted runs, which the stable sort merges.
        self.subtrees = kept.copied().chain(hashes).collect();
        self.subtrees.sort();
        self.subtrees.dedup();
        self.subtrees.shrink_to_fit();
        for page in pages {
            page.intern_signatures(self);
            page.number(self);
        }
        let mut new = 0;
        let number = |hash: &u64| {
            while self.subtrees.get(new).is_some_and(|known| known < hash) {
                new += 1;
            }
            if self.subtrees.get(new) == Some(hash) { new as u32 } else { UNKNOWN }
        };
        old.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_signature_is_found_where_another_one_has_its_hash() {
        let named = |tag: u32| NodeSignature { tag, classes: vec![tag], ..NodeSignature::default() };
        let mut interner = Interner::of_signatures(&[named(1), named(2)]);
        for hash in [named(3).hash(), named(3).hash().wrapping_add(1)] {
            interner.by_hash.insert(hash, 0);
        }
        assert_eq!(interner.find_signature(&named(3)), None);
        assert_eq!([3, 2, 3, 4, 1].map(|tag| interner.add_signature(&named(tag))), [2, 1, 2, 3, 0]);
        assert_eq!(interner.signatures(), [1, 2, 3, 4].map(named));
    }

    proptest! {
        #[test]
        fn a_subtree_is_found_wherever_it_is(
            mut subtrees in proptest::collection::vec(prop_oneof![any::<u64>(), 0..50_u64, Just(u64::MAX)], 0..300),
            other in any::<u64>(),
        ) {
            subtrees.sort_unstable();
            subtrees.dedup();
            let interner = Interner { subtrees: subtrees.clone(), ..Interner::default() };
            for (at, hash) in subtrees.iter().enumerate() {
                prop_assert_eq!(interner.find_subtree(*hash), at as u32);
            }
            let expected = subtrees.binary_search(&other).map_or(UNKNOWN, |at| at as u32);
            prop_assert_eq!(interner.find_subtree(other), expected);
        }
    }
}
