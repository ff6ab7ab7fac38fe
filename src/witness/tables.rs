//! What all witnesses of a site share: one number for each kind of node and for each subtree.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::page::Page;

/// Tag and stable names of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Kind {
    /// Hash of the tag name, 0 = text.
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

impl Kind {
    pub(super) fn is_text(&self) -> bool {
        self.tag == 0
    }

    /// Its names.
    pub(super) fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        let id = std::iter::once(&self.id).filter(|id| **id != 0);
        self.classes.iter().chain(&self.attrs).chain(id).copied()
    }
}

/// Number of a subtree that no witness has.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The kinds of nodes and the subtrees of all witnesses, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    kinds: Vec<Kind>,
    kind: FxHashMap<Kind, u32>,
    /// Hashes of subtrees, ascending.
    subtrees: Vec<u64>,
}

impl Tables {
    /// Tables of these kinds, numbered as they come.
    pub(super) fn of_kinds(kinds: &[Kind]) -> Tables {
        let kind = kinds.iter().cloned().zip(0..).collect();
        Tables { kinds: kinds.to_vec(), kind, subtrees: Vec::new() }
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    pub(super) fn n_subtrees(&self) -> usize {
        self.subtrees.len()
    }

    pub(super) fn find_kind(&self, kind: &Kind) -> Option<u32> {
        self.kind.get(kind).copied()
    }

    pub(super) fn find_subtree(&self, hash: u64) -> u32 {
        self.subtrees.binary_search(&hash).map_or(UNKNOWN, |at| at as u32)
    }

    pub(super) fn add_kind(&mut self, kind: &Kind) -> u32 {
        self.find_kind(kind).unwrap_or_else(|| {
            let number = self.kinds.len() as u32;
            self.kinds.push(kind.clone());
            self.kind.insert(kind.clone(), number);
            number
        })
    }

    /// Makes the kinds and subtrees of pages known and numbers the pages; forgets subtrees that are not in use. Gives the
    /// new number of each old subtree.
    pub(super) fn take(&mut self, pages: &mut [Page], is_used: impl Fn(usize) -> bool) -> Vec<u32> {
        let old = std::mem::take(&mut self.subtrees);
        let kept = old.iter().enumerate().filter(|(at, _)| is_used(*at)).map(|(_, hash)| hash);
        let mut hashes: Vec<u64> = pages.iter().flat_map(|page| page.hashes()).copied().collect();
        hashes.sort_unstable();
        // Two sorted runs, which this sort merges.
        self.subtrees = kept.copied().chain(hashes).collect();
        self.subtrees.sort();
        self.subtrees.dedup();
        self.subtrees.shrink_to_fit();
        for page in pages {
            page.admit_kinds(self);
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
