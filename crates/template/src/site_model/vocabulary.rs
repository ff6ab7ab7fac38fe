//! The names by which the pages of a site are compared.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashSet;

/// Names that at least two training pages have. Others are generated, or belong to one page.
#[derive(Clone, Debug, Default)]
pub(super) struct Vocabulary {
    names: FxHashSet<u32>,
    /// 0 of the default one, which has no names. Others have it from [`next_version`].
    version: u64,
}

/// A number that no other vocabulary of this process has had.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Vocabulary {
    /// Equal versions have equal names.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn contains(&self, name: u32) -> bool {
        self.names.contains(&name)
    }

    /// Adds a name. The vocabulary becomes another version.
    pub(super) fn insert(&mut self, name: u32) {
        self.names.insert(name);
        self.version = next_version();
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The names, in any order.
    pub(super) fn names(&self) -> &FxHashSet<u32> {
        &self.names
    }
}

impl FromIterator<u32> for Vocabulary {
    fn from_iter<I: IntoIterator<Item = u32>>(names: I) -> Vocabulary {
        Vocabulary { names: names.into_iter().collect(), version: next_version() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_versions_have_equal_names() {
        let one: Vocabulary = [1, 2].into_iter().collect();
        let (same, mut more) = (one.clone(), one.clone());
        more.insert(3);
        let other: Vocabulary = [1, 2].into_iter().collect();
        assert_eq!(one.version(), same.version());
        assert_eq!(Vocabulary::default().version(), Vocabulary::default().version());
        let mut versions = [0, one.version(), more.version(), other.version()];
        versions.sort_unstable();
        assert!(versions.windows(2).all(|pair| pair[0] < pair[1]), "{versions:?}");
        assert!(more.contains(3) && !one.contains(3) && more.len() == 3);
    }
}
