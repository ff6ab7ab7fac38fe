//! The main content of a page by the page alone: a small net reads features of each block.
//!
//! A page is cut into blocks (`blocks.rs`), each block gets a row of features (`features.rs`), and the net (`net.rs`)
//! gives the probability that it is main content. The weights are trained by `scripts/content/`, which reads the rows
//! that [`content_rows`] gives: there is one implementation of the features.
//!
//! Nothing here names a word or a class: class names enter as a learned sum over hashed sub-words
//! (`class_words.rs`), which a thread reads once for many pages (`word_lists.rs`).

mod amount;
mod bits;
mod blocks;
mod class_words;
mod elements;
mod features;
mod head;
mod measures;
mod narrow_blocks;
mod net;
mod numbers;
mod page_model;
mod rest;
mod rows;
mod site_blocks;
mod slot_means;
mod sums;
mod tags;
mod weights;
mod word_lists;
mod words;

pub use amount::Favor;
pub use blocks::text_blocks;
pub(crate) use elements::hides;
pub use features::{N_FEATURES, feature_names};
pub(crate) use narrow_blocks::NarrowBlocks;
pub use page_model::JudgedPage;
pub(crate) use page_model::LazyJudged;
pub use rest::{RestKind, RestKinds};
pub use rows::{ContentRow, ContentRows, content_rows};
pub use site_blocks::PageBlocks;
pub(crate) use site_blocks::SiteBlocks;
pub use weights::{use_weights, weights_number};
