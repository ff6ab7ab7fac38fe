//! The fields compared between pages: tags, ids, class and attribute sets, positions, hashes.
//!
//! A [`Shape`] is the input of tree mapping. A stored template also has a shape, although it lacks the page's text, so
//! pages and templates are mapped by the same code. Names are hashed with a fixed function. Shapes of different pages
//! and different crawls are therefore compared by integer equality, without a shared interner.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A node of one tree, by its preorder number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The node with this preorder number.
    pub fn new(index: usize) -> NodeId {
        NodeId(index as u32)
    }

    /// The preorder number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a set of hashed names in one shape. Equal sets of one shape have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetId(pub(crate) u32);

impl SetId {
    /// The index of the set among the sets of its shape.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The comparable part of a tree, with one entry per node in preorder.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Hash of the tag name.
    pub tag: Vec<u64>,
    /// Number of the parent; the root is its own parent.
    pub parent: Vec<u32>,
    /// Nodes in the subtree, the node included.
    pub size: Vec<u32>,
    /// Distance from the root.
    pub depth: Vec<u16>,
    /// Position among the siblings, from 1.
    pub position: Vec<u32>,
    /// Number of children.
    pub n_children: Vec<u32>,
    /// Hash of the id; 0 = none.
    pub id: Vec<u64>,
    /// Set of class tokens.
    pub classes: Vec<SetId>,
    /// Set of class tokens without those that look generated.
    pub stable_classes: Vec<SetId>,
    /// Set of (name, value) pairs, `class` and `id` left out.
    pub attrs: Vec<SetId>,
    /// Set of attribute names, `class` and `id` left out.
    pub attr_names: Vec<SetId>,
    /// Hash of the normalized text; 0 for elements.
    pub text: Vec<u64>,
    /// Hash of the subtree's tags.
    pub h_struct: Vec<u64>,
    /// Hash of all compared fields of the subtree; 0 = never equal (a pruned template node).
    pub h_full: Vec<u64>,
    /// The distinct sets.
    pub sets: Sets,
}

impl Shape {
    /// An empty shape with capacity for `n` nodes.
    pub(crate) fn with_capacity(n: usize) -> Shape {
        Shape {
            tag: Vec::with_capacity(n),
            parent: Vec::with_capacity(n),
            depth: Vec::with_capacity(n),
            position: Vec::with_capacity(n),
            n_children: Vec::with_capacity(n),
            id: Vec::with_capacity(n),
            classes: Vec::with_capacity(n),
            stable_classes: Vec::with_capacity(n),
            attrs: Vec::with_capacity(n),
            attr_names: Vec::with_capacity(n),
            text: Vec::with_capacity(n),
            ..Shape::default()
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.tag.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.tag.is_empty()
    }

    /// The interval of a subtree.
    pub fn subtree(&self, node: NodeId) -> std::ops::Range<usize> {
        node.index()..node.index() + self.size[node.index()] as usize
    }

    /// Whether this is a text node.
    pub fn is_text(&self, node: NodeId) -> bool {
        self.text[node.index()] != 0
    }

    /// The children of a node, in order.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = usize> + '_ {
        let end = node.index() + self.size[node.index()] as usize;
        let mut next = node.index() + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next += self.size[child] as usize;
                child
            })
        })
    }

    /// Whether two nodes are equal except for children and position. Compares the fields: `h_full` is only a filter.
    fn same_node(&self, a: usize, other: &Shape, b: usize) -> bool {
        self.tag[a] == other.tag[b]
            && self.id[a] == other.id[b]
            && self.text[a] == other.text[b]
            && self.sets.get(self.classes[a]) == other.sets.get(other.classes[b])
            && self.sets.get(self.attrs[a]) == other.sets.get(other.attrs[b])
    }

    /// Whether two subtrees are equal in all fields that `h_full` covers. Linear in the subtree if the hashes agree.
    pub fn same_subtree(&self, a: usize, other: &Shape, b: usize) -> bool {
        self.h_full[a] != 0
            && self.h_full[a] == other.h_full[b]
            && self.size[a] == other.size[b]
            && (0..self.size[a] as usize)
                .all(|k| self.n_children[a + k] == other.n_children[b + k] && self.same_node(a + k, other, b + k))
    }
}

impl Shape {
    /// Fills in sizes and hashes, children before parents. A node with missing children (in a pruned template) gets
    /// no `h_full`.
    pub(crate) fn sum_up(&mut self) {
        let n = self.len();
        self.size = vec![1; n];
        for id in (1..n).rev() {
            let parent = self.parent[id] as usize;
            self.size[parent] += self.size[id];
        }
        self.h_struct = vec![0; n];
        self.h_full = vec![0; n];
        for id in (0..n).rev() {
            let mut structure = self.tag[id];
            let mut full = mix(self.tag[id], self.id[id]);
            full = mix(full, self.sets.hash(self.classes[id]));
            full = mix(full, self.sets.hash(self.attrs[id]));
            full = mix(full, self.text[id]);
            let (mut n_children, mut is_whole) = (0, true);
            let end = id + self.size[id] as usize;
            let mut child = id + 1;
            while child < end {
                structure = mix(structure, self.h_struct[child]);
                full = mix(full, self.h_full[child]);
                is_whole &= self.h_full[child] != 0;
                n_children += 1;
                child += self.size[child] as usize;
            }
            self.h_struct[id] = structure.max(1);
            if is_whole && n_children == self.n_children[id] {
                self.h_full[id] = mix(full, u64::from(self.size[id])).max(1);
            }
        }
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

    /// Hash of the members. Equal sets of different shapes have equal hashes.
    pub fn hash(&self, set: SetId) -> u64 {
        self.hash[set.0 as usize]
    }

    /// Adds a set whose members are sorted and unique. The caller must not add a set twice.
    pub(crate) fn push(&mut self, members: &[u64], hash: u64) -> SetId {
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

/// Hash of a name; never 0, which means "none".
pub(crate) fn hash_str(text: &str) -> u64 {
    xxh3_64(text.as_bytes()).max(1)
}

/// Minimum length of a long value. Long values are hashed once for all nodes that share them.
pub(crate) const LONG_VALUE: usize = 64;

/// Hash of an attribute: its hashed name with its value.
pub(crate) fn hash_pair(name: u64, value: &str) -> u64 {
    if value.len() < LONG_VALUE {
        xxh3_64_with_seed(value.as_bytes(), name)
    } else {
        hash_long_pair(name, hash_str(value))
    }
}

/// Hash of an attribute with a long value: its hashed name with its hashed value.
pub(crate) fn hash_long_pair(name: u64, value: u64) -> u64 {
    mix(value, name)
}

/// Chains a number into a hash; order matters.
pub(crate) fn mix(hash: u64, value: u64) -> u64 {
    // The finalizer of splitmix64 over a rotated sum: cheap, and every input bit affects every output bit.
    let mut x = hash.rotate_left(29).wrapping_add(value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Interns sets during the construction of a shape.
#[derive(Default)]
pub(crate) struct SetBuilder {
    known: rustc_hash::FxHashMap<u64, SetId>,
    pub(crate) sets: Sets,
}

impl SetBuilder {
    /// The number of this set. Sorts the members and removes duplicates.
    pub(crate) fn intern(&mut self, members: &mut Vec<u64>) -> SetId {
        if members.is_empty() {
            return Sets::EMPTY;
        }
        members.sort_unstable();
        members.dedup();
        let hash = members.iter().fold(members.len() as u64, |h, m| mix(h, *m));
        let sets = &mut self.sets;
        *self.known.entry(hash).or_insert_with(|| sets.push(members, hash))
    }
}
