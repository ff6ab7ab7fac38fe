//! Maps two trees from their roots down (the part of Algorithm 3 of the thesis that concerns one page).

use super::child_map::map_children;
use super::equality::Equality;
use super::options::EtdmOptions;
use dehusk_html::NodeId;

/// A result of the mapping: two mapped nodes, or two equal subtrees mapped node by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Number on the left.
    pub left: usize,
    /// Number on the right.
    pub right: usize,
    /// Nodes mapped: 1, or the size of two equal subtrees.
    pub size: usize,
}

/// Maps the subtree of `left` to the subtree of `right`, roots unconditionally, and reports every mapped node.
///
/// `descend` decides whether the children of a mapped left node are mapped. Equal subtrees are reported as a whole and
/// not walked, where that is exact. Returns whether a list was too long for the exact child mapping.
pub fn map_trees(
    equality: &Equality<'_>,
    (left, right): (NodeId, NodeId),
    options: &EtdmOptions,
    least_self: &[f64],
    mut descend: impl FnMut(usize) -> bool,
    mut report: impl FnMut(Mapped),
) -> bool {
    let mut approximate = false;
    let mut open = vec![(left.index(), right.index())];
    let (mut a, mut b) = (Vec::new(), Vec::new());
    while let Some((x, y)) = open.pop() {
        if equality.passes(least_self[x]) && equality.left.same_subtree(x, &equality.right, y) {
            report(Mapped { left: x, right: y, size: equality.left.shape.size[x] as usize });
            continue;
        }
        report(Mapped { left: x, right: y, size: 1 });
        if !descend(x) {
            continue;
        }
        a.clear();
        b.clear();
        a.extend(equality.left.shape.children(NodeId::new(x)));
        b.extend(equality.right.shape.children(NodeId::new(y)));
        if !a.is_empty() && !b.is_empty() {
            open.extend(map_children(equality, &a, &b, options, &mut approximate));
        }
    }
    approximate
}
