//! The written form of a family: distinct nodes once, pages as columns of numbers.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::page::{Names, Page};
use super::{Family, Params};
use crate::settings::Learn;

/// A family as it is stored; numbers in place of names, so that nothing of a page can be read from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredFamily {
    /// Distinct nodes of all pages.
    kinds: Vec<Kind>,
    pages: Vec<StoredPage>,
}

/// Tag and stable names of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Kind {
    /// Hash of the tag name, 0 = text.
    #[serde(rename = "n")]
    tag: u32,
    #[serde(rename = "i", default, skip_serializing_if = "is_none")]
    id: u32,
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<u32>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    attrs: Vec<u32>,
}

fn is_not(value: &bool) -> bool {
    !*value
}

fn is_none(id: &u32) -> bool {
    *id == 0
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredPage {
    /// Digest of the whole page.
    digest: u64,
    /// Number of its URL.
    url: u64,
    /// Was it added after the training pages?
    #[serde(rename = "more", default, skip_serializing_if = "is_not")]
    is_further: bool,
    /// Number of each node among the kinds, in preorder.
    kinds: Vec<u32>,
    /// Children of each node.
    children: Vec<u32>,
    /// Hash of each node without children: its text or its attributes.
    leaves: Vec<u32>,
    /// Run lengths of the labels: template, own, template, ...
    labels: Vec<u32>,
}

/// Why a written family was refused.
#[derive(Debug, thiserror::Error)]
#[error("witness {page}: {what}")]
pub struct StoredError {
    /// Its number, from 1.
    page: usize,
    what: &'static str,
}

impl Family {
    /// The written form.
    pub fn store(&self) -> StoredFamily {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut known: FxHashMap<Kind, u32> = FxHashMap::default();
        let pages = self.pages.iter().map(|page| StoredPage::of(page, &mut kinds, &mut known)).collect();
        StoredFamily { kinds, pages }
    }
}

impl StoredFamily {
    /// Number of witnesses.
    pub fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// Checks what was read from outside.
    pub fn check(&self) -> Result<(), StoredError> {
        for (at, page) in self.pages.iter().enumerate() {
            page.check(self.kinds.len()).map_err(|what| StoredError { page: at + 1, what })?;
        }
        Ok(())
    }

    /// The family, ready to label pages. What `check` would refuse is left out.
    pub fn load(&self, learn: &Learn) -> Family {
        let names: Arc<Vec<Names>> = Arc::new(self.kinds.iter().map(Kind::names).collect());
        let pages = self.pages.iter().filter(|page| page.check(self.kinds.len()).is_ok());
        let pages: Vec<Page> = pages.map(|page| page.load(&self.kinds, &names)).collect();
        let mut family =
            Family { pages, vocabulary: FxHashSet::default(), once: FxHashSet::default(), params: Params::of(learn) };
        family.gather_vocabulary();
        family
    }
}

impl Kind {
    fn names(&self) -> Names {
        Names::new(self.id, self.classes.clone(), self.attrs.clone())
    }
}

impl StoredPage {
    fn of(page: &Page, kinds: &mut Vec<Kind>, known: &mut FxHashMap<Kind, u32>) -> StoredPage {
        let mut number = |node: usize| {
            let Names { id, classes, attrs, .. } = page.names(node).clone();
            let kind = Kind { tag: page.tag[node], id, classes, attrs };
            *known.entry(kind).or_insert_with_key(|kind| {
                kinds.push(kind.clone());
                kinds.len() as u32 - 1
            })
        };
        let mut labels = Vec::new();
        for run in page.template().chunk_by(|a, b| a == b) {
            if labels.is_empty() && !run[0] {
                labels.push(0);
            }
            labels.push(run.len() as u32);
        }
        StoredPage {
            digest: page.digest(),
            url: page.url(),
            is_further: page.is_further(),
            kinds: (0..page.len()).map(&mut number).collect(),
            children: page.n_children.clone(),
            leaves: (0..page.len()).filter(|n| page.n_children[*n] == 0).map(|n| page.own[n]).collect(),
            labels,
        }
    }

    fn check(&self, n_kinds: usize) -> Result<(), &'static str> {
        let n = self.kinds.len();
        if n == 0 || self.children.len() != n {
            return Err("its columns are not of one length");
        }
        if self.kinds.iter().any(|kind| *kind as usize >= n_kinds) {
            return Err("a node is of no kind");
        }
        if self.leaves.len() != self.children.iter().filter(|c| **c == 0).count() {
            return Err("a leaf has no hash");
        }
        if self.labels.iter().map(|run| u64::from(*run)).sum::<u64>() != n as u64 {
            return Err("its labels are not of its length");
        }
        // In preorder the open places run out with the last node and not before.
        let mut open: u64 = 1;
        for (at, children) in self.children.iter().enumerate() {
            open = open - 1 + u64::from(*children);
            if (open == 0) != (at + 1 == n) {
                return Err("its nodes are no tree");
            }
        }
        Ok(())
    }

    fn load(&self, kinds: &[Kind], names: &Arc<Vec<Names>>) -> Page {
        let n = self.kinds.len();
        let mut page = Page::default().found_at(self.url);
        (page.names, page.named) = (Arc::clone(names), self.kinds.clone());
        page.n_children = self.children.clone();
        page.tag = self.kinds.iter().map(|kind| kinds[*kind as usize].tag).collect();
        page.is_text = page.tag.iter().map(|tag| *tag == 0).collect();
        let mut leaves = self.leaves.iter().copied();
        page.own = self.children.iter().map(|c| if *c == 0 { leaves.next().unwrap_or(0) } else { 0 }).collect();
        // Nodes with children still to come: number, and how many have come.
        let mut open: Vec<(u32, u32)> = Vec::new();
        for node in 0..n as u32 {
            while open.last().is_some_and(|(parent, come)| self.children[*parent as usize] == *come) {
                open.pop();
            }
            let (parent, position) = open.last_mut().map_or((0, 1), |(parent, come)| {
                *come += 1;
                (*parent, *come)
            });
            page.parent.push(parent);
            page.position.push(position);
            open.push((node, 0));
        }
        page.sum_up();
        page.index();
        page.set_digest(self.digest);
        page.set_further(self.is_further);
        let runs = self.labels.iter().enumerate();
        let labels: Vec<bool> = runs.flat_map(|(at, run)| std::iter::repeat_n(at % 2 == 0, *run as usize)).collect();
        page.set_template(&labels);
        page
    }
}
