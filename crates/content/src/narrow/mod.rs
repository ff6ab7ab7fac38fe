//! Encodings of columns of small numbers. A crawl holds the training pages of many sites at once, so that bytes count.
//!
//! | type | numbers | kept as |
//! |---|---|---|
//! | [`NarrowColumn`] | up to 32 bits | as many bytes as most of them need; greater ones in a list beside it |
//! | [`LabelRuns`] | 0 or 1, in long runs | lengths of the runs |
//! | [`TwoBits`] | 0 to 3 | four in a byte |
//! | [`NarrowBlocks`] | the columns of the blocks of a page | the encodings above |
//!
//! Each gives back what it was given; a property test of each says so.

mod blocks;
mod column;
mod label_runs;
mod two_bits;

pub use blocks::NarrowBlocks;
pub use column::NarrowColumn;
pub use label_runs::LabelRuns;
pub use two_bits::TwoBits;
