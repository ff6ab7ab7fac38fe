//! The shape of a tree: the names and places of its nodes.

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

/// Names and places, with one entry per node in preorder.
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
}

impl Shape {
    /// An empty shape with capacity for `n` nodes.
    pub fn with_capacity(n: usize) -> Shape {
        Shape {
            tag: Vec::with_capacity(n),
            parent: Vec::with_capacity(n),
            size: Vec::new(),
            depth: Vec::with_capacity(n),
            position: Vec::with_capacity(n),
            n_children: Vec::with_capacity(n),
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

    /// Fills in the sizes, children before parents.
    pub fn sum_up(&mut self) {
        let n = self.len();
        self.size = vec![1; n];
        for id in (1..n).rev() {
            let parent = self.parent[id] as usize;
            self.size[parent] += self.size[id];
        }
    }
}
