//! The columns that pages and training pages both have, with one entry per node in preorder.

use dehusk_content::NarrowColumn;

use super::same_shape::FirstChildren;

/// The columns as they are aligned, in four bytes a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Number of its signature in the interner.
    pub(super) signature: Vec<u32>,
    /// Number of nodes in its subtree.
    pub(super) size: Vec<u32>,
    pub(super) n_children: Vec<u32>,
    /// Number of its subtree in the interner.
    pub(super) subtree: Vec<u32>,
}

/// The columns as a training page keeps them, in less memory.
#[derive(Clone, Debug, Default)]
pub(super) struct NarrowColumns {
    pub(super) signature: NarrowColumn,
    pub(super) size: NarrowColumn,
    pub(super) n_children: NarrowColumn,
    pub(super) subtree: NarrowColumn,
}

impl NarrowColumns {
    pub(super) fn new(columns: &Columns) -> NarrowColumns {
        NarrowColumns {
            signature: NarrowColumn::new(&columns.signature),
            size: NarrowColumn::new(&columns.size),
            n_children: NarrowColumn::new(&columns.n_children),
            subtree: NarrowColumn::new(&columns.subtree),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.size.n_values()
    }

    pub(super) fn to_columns(&self) -> Columns {
        let mut columns = Columns::default();
        self.write_to(&mut columns);
        columns
    }

    /// Writes the columns into a buffer.
    pub(super) fn write_to(&self, columns: &mut Columns) {
        self.signature.write_to(&mut columns.signature);
        self.size.write_to(&mut columns.size);
        self.n_children.write_to(&mut columns.n_children);
        self.subtree.write_to(&mut columns.subtree);
    }
}

impl Columns {
    pub(super) fn children(&self, node: usize) -> Children<'_> {
        Children { sizes: &self.size, next: node + 1, end: node + self.size[node] as usize, position: 1 }
    }
}

/// A node of a child list.
#[derive(Clone, Copy)]
pub(super) struct Child {
    pub(super) node: usize,
    /// Position among the siblings, from 1.
    pub(super) position: u32,
}

/// The children of a node that are still to come.
#[derive(Clone)]
pub(super) struct Children<'c> {
    sizes: &'c [u32],
    next: usize,
    end: usize,
    position: u32,
}

impl Children<'_> {
    pub(super) fn first(&self) -> Option<Child> {
        (self.next < self.end).then_some(Child { node: self.next, position: self.position })
    }

    /// Nodes of the subtrees of all these children.
    pub(super) fn n_nodes(&self) -> usize {
        self.end.saturating_sub(self.next)
    }

    /// The children behind the first ones.
    pub(super) fn without(&self, first: FirstChildren) -> Self {
        let (position, next) = (self.position + first.n_children, self.next + first.n_nodes);
        Children { position, next, ..self.clone() }
    }
}

impl Iterator for Children<'_> {
    type Item = Child;

    #[inline]
    fn next(&mut self) -> Option<Child> {
        let child = self.first()?;
        *self = self.without(FirstChildren { n_children: 1, n_nodes: self.sizes[child.node] as usize });
        Some(child)
    }
}
