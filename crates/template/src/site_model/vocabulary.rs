//! The names by which the pages of a site are compared.

use rustc_hash::FxHashSet;

/// Names that at least two training pages have. Others are generated, or belong to one page.
#[derive(Clone, Debug, Default)]
pub(super) struct Vocabulary(FxHashSet<u32>);

impl Vocabulary {
    pub(super) fn contains(&self, name: u32) -> bool {
        self.0.contains(&name)
    }

    pub(super) fn insert(&mut self, name: u32) {
        self.0.insert(name);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The names, in any order.
    pub(super) fn names(&self) -> &FxHashSet<u32> {
        &self.0
    }
}

impl FromIterator<u32> for Vocabulary {
    fn from_iter<I: IntoIterator<Item = u32>>(names: I) -> Vocabulary {
        Vocabulary(names.into_iter().collect())
    }
}
