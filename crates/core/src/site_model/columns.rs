//! The columns that pages and training pages both have, with one entry per node in preorder.

use crate::narrow::NarrowColumn;

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
    pub(super) fn of(columns: &Columns) -> NarrowColumns {
        NarrowColumns {
            signature: NarrowColumn::of(&columns.signature),
            size: NarrowColumn::of(&columns.size),
            n_children: NarrowColumn::of(&columns.n_children),
            subtree: NarrowColumn::of(&columns.subtree),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.size.len()
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
    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = node + self.size[node] as usize;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next += self.size[child] as usize;
                child
            })
        })
    }
}
