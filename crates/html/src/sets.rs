//! Sets of hashed names. Each distinct set of a tree is kept once.

use super::hash::mix;

/// Number of a set of hashed names in one tree. Equal sets of one tree have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetId(pub u32);

impl SetId {
    /// The index of the set among the sets of its tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Distinct sets of hashed names. The members of a set are sorted and unique.
#[derive(Clone, Debug)]
pub struct Sets {
    from: Vec<u32>,
    members: Vec<u64>,
    hash: Vec<u64>,
}

impl Default for Sets {
    /// One set: number 0, the empty set.
    fn default() -> Sets {
        Sets { from: vec![0, 0], members: Vec::new(), hash: vec![0] }
    }
}

impl Sets {
    /// The set without members.
    pub const EMPTY: SetId = SetId(0);

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.hash.len()
    }

    /// Always false: the empty set is always present.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Members of a set, ascending.
    pub fn get(&self, set: SetId) -> &[u64] {
        let at = set.0 as usize;
        &self.members[self.from[at] as usize..self.from[at + 1] as usize]
    }

    /// Hash of the members. Equal sets of different trees have equal hashes.
    pub fn hash(&self, set: SetId) -> u64 {
        self.hash[set.0 as usize]
    }

    /// Adds a set whose members are sorted and unique. The caller must not add a set twice.
    pub fn push(&mut self, members: &[u64], hash: u64) -> SetId {
        self.members.extend_from_slice(members);
        self.from.push(self.members.len() as u32);
        self.hash.push(hash);
        SetId(self.hash.len() as u32 - 1)
    }

    /// Number of members that two sets share, and of members that either has.
    pub fn overlap(&self, a: SetId, other: &Sets, b: SetId) -> (usize, usize) {
        let (x, y) = (self.get(a), other.get(b));
        if self.hash(a) == other.hash(b) && x.len() == y.len() {
            return (x.len(), x.len());
        }
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < x.len() && j < y.len() {
            match x[i].cmp(&y[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    shared += 1;
                    i += 1;
                    j += 1;
                }
            }
        }
        (shared, x.len() + y.len() - shared)
    }
}

/// Hash of a set; 0 for the empty one. Sorts the members and removes duplicates.
pub fn hash_of(members: &mut Vec<u64>) -> u64 {
    members.sort_unstable();
    members.dedup();
    members.iter().fold(members.len() as u64, |hash, member| mix(hash, *member))
}

/// Interns the sets of a tree.
#[derive(Default)]
pub struct SetBuilder {
    known: rustc_hash::FxHashMap<u64, SetId>,
    /// The sets so far.
    pub sets: Sets,
}

impl SetBuilder {
    /// The number of this set. Sorts the members and removes duplicates.
    pub fn intern(&mut self, members: &mut Vec<u64>) -> SetId {
        if members.is_empty() {
            return Sets::EMPTY;
        }
        let hash = hash_of(members);
        let sets = &mut self.sets;
        *self.known.entry(hash).or_insert_with(|| sets.push(members, hash))
    }
}
