//! Which blocks of a page are its main content: by the page alone, or beside other pages of its site.
//!
//! A page is cut into blocks (`blocks.rs`), each block gets a row of features (`features.rs`), and a small net
//! (`net.rs`) gives the probability that it is main content. [`JudgedPage`] is a page with these probabilities;
//! [`SiteBlocks`] judges the blocks of one slot of a site together. [`Labels`], which nodes are template, is the result
//! of every method of dehusk; a page is written from it elsewhere.
//!
//! ```
//! use dehusk_content::{Favor, JudgedPage};
//! use dehusk_html::{ParseOptions, parse};
//!
//! let prose = "Rye is a grass, grown as a grain, and it is closely related to wheat and barley. ".repeat(3);
//! let page = format!("<nav><a href=/>Home</a> <a href=/b>About us</a></nav><main><h1>Rye</h1><p>{prose}</main>");
//! let tree = parse(&page, &ParseOptions::default());
//! let labels = JudgedPage::new(&tree).labels(Favor::Balanced);
//! assert!(labels.text(&tree).contains("closely related") && !labels.text(&tree).contains("About us"));
//! ```
//!
//! The weights are trained by `scripts/content/`, which reads the rows that [`content_rows`] gives: there is one
//! implementation of the features. Nothing here names a word or a class: class names enter as a learned sum over hashed
//! sub-words (`class_words.rs`), which a thread reads once for many pages (`word_lists.rs`).

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod amount;
mod blocks;
mod class_words;
mod elements;
mod features;
mod head;
mod labels;
mod measures;
mod narrow;
mod net;
mod numbers;
mod page_model;
mod rest;
mod rows;
mod site_blocks;
mod slot_means;
mod sums;
mod tags;
mod taught;
mod text_scan;
pub mod tps;
mod weights;
mod word_lists;
mod words;

pub use amount::Favor;
pub use blocks::text_blocks;
pub use elements::hides;
pub use features::{N_FEATURES, feature_names};
pub use labels::Labels;
pub use narrow::{LabelRuns, NarrowBlocks, NarrowColumn, TwoBits};
pub use page_model::JudgedPage;
pub use page_model::{LazyJudged, TextBlock};
pub use rest::{RestKind, RestKinds};
pub use rows::{ContentRow, ContentRows, content_rows};
pub use site_blocks::PageBlocks;
pub use site_blocks::SiteBlocks;
pub use taught::{TaughtPages, TaughtSlots, pages_to_teach};
pub use weights::{use_weights, weights_number};
