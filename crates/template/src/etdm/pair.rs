//! A pair of mapped nodes.

/// The left and the right number of two mapped nodes.
pub type Pair = (usize, usize);
