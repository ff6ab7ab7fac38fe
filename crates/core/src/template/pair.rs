//! Two mapped nodes.

/// Two mapped nodes: number on the left, number on the right.
pub type Pair = (usize, usize);
