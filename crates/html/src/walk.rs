//! Tree traversal without a stack.

use super::{NodeId, Tree};

/// The children of a node, in order.
pub fn children(tree: &Tree, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    tree.shape.children(node).map(NodeId::new)
}

/// The ancestors of a node, nearest first, the root last.
pub fn ancestors(tree: &Tree, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let mut at = node.index();
    std::iter::from_fn(move || {
        let parent = tree.shape.parent[at] as usize;
        (parent != at).then(|| {
            at = parent;
            NodeId::new(at)
        })
    })
}
