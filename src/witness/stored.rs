//! The written form of a family: distinct nodes once, pages as columns of numbers.

use serde::{Deserialize, Serialize};

use super::known::Witness;
use super::page::Page;
use super::tables::{Kind, Tables, UNKNOWN};
use super::{Family, Params};
use crate::settings::Learn;

/// A family as it is stored; numbers in place of names, so that nothing of a page can be read from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredFamily {
    /// Distinct nodes of all pages.
    kinds: Vec<Kind>,
    pages: Vec<StoredPage>,
}

fn is_not(value: &bool) -> bool {
    !*value
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
        // Kinds of a witness that gave way are left out.
        let (mut kinds, mut number) = (Vec::new(), vec![UNKNOWN; self.tables.kinds().len()]);
        let mut numbered = |kind: &u32| {
            let number = &mut number[*kind as usize];
            if *number == UNKNOWN {
                *number = kinds.len() as u32;
                kinds.push(self.tables.kinds()[*kind as usize].clone());
            }
            *number
        };
        let pages = self.pages.iter().map(|page| StoredPage::of(page, &mut numbered)).collect();
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
        let mut tables = Tables::of_kinds(&self.kinds);
        let pages = self.pages.iter().filter(|page| page.check(self.kinds.len()).is_ok());
        let (stored, mut pages): (Vec<&StoredPage>, Vec<Page>) =
            pages.map(|page| (page, page.page(&self.kinds))).unzip();
        tables.take(&mut pages, |_| true);
        let pages = stored.into_iter().zip(&pages).map(|(stored, page)| stored.witness(page, &tables)).collect();
        let mut family = Family { pages, tables, params: Params::of(learn), ..Family::default() };
        family.gather_vocabulary();
        family
    }
}

impl StoredPage {
    fn of(page: &Witness, number: &mut impl FnMut(&u32) -> u32) -> StoredPage {
        let mut labels = Vec::new();
        for run in page.template().chunk_by(|a, b| a == b) {
            if labels.is_empty() && !run[0] {
                labels.push(0);
            }
            labels.push(run.len() as u32);
        }
        StoredPage {
            digest: page.digest,
            url: page.url,
            is_further: page.is_further,
            kinds: page.columns.kind.iter().map(number).collect(),
            children: page.columns.n_children.clone(),
            leaves: page.leaves.clone(),
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

    fn page(&self, kinds: &[Kind]) -> Page {
        let mut leaves = self.leaves.iter().copied();
        let own = self.children.iter().map(|c| if *c == 0 { leaves.next().unwrap_or(0) } else { 0 }).collect();
        Page::again(kinds, &self.kinds, self.children.clone(), own)
    }

    fn witness(&self, page: &Page, tables: &Tables) -> Witness {
        let mut witness = Witness::of(page, self.url, self.digest, tables);
        witness.is_further = self.is_further;
        let runs = self.labels.iter().enumerate();
        let labels: Vec<bool> = runs.flat_map(|(at, run)| std::iter::repeat_n(at % 2 == 0, *run as usize)).collect();
        witness.set_template(&labels);
        witness
    }
}
