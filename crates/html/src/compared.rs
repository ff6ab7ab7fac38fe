//! A tree as tree mapping compares it to another one.

use super::fields::{Fields, LooseFields};
use super::hash::mix;
use super::shape::Shape;

/// Hashes of subtrees, with one entry per node in preorder.
#[derive(Clone, Debug, Default)]
pub struct SubtreeHashes {
    /// Of the tags.
    pub tags: Vec<u64>,
    /// Of all compared fields; 0 = never equal (a pruned template node).
    pub full: Vec<u64>,
}

impl SubtreeHashes {
    /// Sums up children before parents. A node with missing children (in a pruned template) gets no full hash.
    pub fn new(shape: &Shape, fields: &Fields) -> SubtreeHashes {
        let n = shape.len();
        let (mut tags, mut fulls) = (vec![0; n], vec![0; n]);
        for id in (0..n).rev() {
            let mut structure = shape.tag[id];
            let mut full = mix(shape.tag[id], fields.id[id]);
            full = mix(full, fields.sets.hash(fields.classes[id]));
            full = mix(full, fields.sets.hash(fields.attrs[id]));
            full = mix(full, fields.text[id]);
            let (mut n_children, mut is_whole) = (0, true);
            for child in shape.children(super::NodeId::new(id)) {
                structure = mix(structure, tags[child]);
                full = mix(full, fulls[child]);
                is_whole &= fulls[child] != 0;
                n_children += 1;
            }
            tags[id] = structure.max(1);
            if is_whole && n_children == shape.n_children[id] {
                fulls[id] = mix(full, u64::from(shape.size[id])).max(1);
            }
        }
        SubtreeHashes { tags, full: fulls }
    }
}

/// What a tree is compared by. A stored template has it, too, although it lacks the page's text, so that pages and
/// templates are mapped by the same code.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Names and places.
    pub shape: &'a Shape,
    /// The fields of the nodes.
    pub fields: &'a Fields,
    /// The alternatives that settings can choose.
    pub loose: &'a LooseFields,
    /// The hashes of the subtrees.
    pub hashes: &'a SubtreeHashes,
}

impl Compared<'_> {
    /// Whether two nodes are equal except for children and position. Compares the fields: hashes are only a filter.
    fn same_node(&self, a: usize, other: &Compared<'_>, b: usize) -> bool {
        let (x, y) = (self.fields, other.fields);
        self.shape.tag[a] == other.shape.tag[b]
            && x.id[a] == y.id[b]
            && x.text[a] == y.text[b]
            && x.sets.get(x.classes[a]) == y.sets.get(y.classes[b])
            && x.sets.get(x.attrs[a]) == y.sets.get(y.attrs[b])
    }

    /// Whether two subtrees are equal in all fields that the full hash covers. Linear in the subtree if the hashes
    /// agree.
    pub fn same_subtree(&self, a: usize, other: &Compared<'_>, b: usize) -> bool {
        let (x, y) = (self.shape, other.shape);
        self.hashes.full[a] != 0
            && self.hashes.full[a] == other.hashes.full[b]
            && x.size[a] == y.size[b]
            && (0..x.size[a] as usize)
                .all(|k| x.n_children[a + k] == y.n_children[b + k] && self.same_node(a + k, other, b + k))
    }
}

/// A tree without its page, ready to be compared.
#[derive(Clone, Debug, Default)]
pub struct ComparedTree {
    shape: Shape,
    fields: Fields,
    loose: LooseFields,
    hashes: SubtreeHashes,
}

impl ComparedTree {
    /// A tree of these nodes, which need no page.
    pub fn new(mut shape: Shape, fields: Fields, loose: LooseFields) -> ComparedTree {
        shape.sum_up();
        let hashes = SubtreeHashes::new(&shape, &fields);
        ComparedTree { shape, fields, loose, hashes }
    }

    /// What it is compared by.
    pub fn compared(&self) -> Compared<'_> {
        Compared { shape: &self.shape, fields: &self.fields, loose: &self.loose, hashes: &self.hashes }
    }
}
