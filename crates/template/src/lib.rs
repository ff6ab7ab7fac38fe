//! The template of a web site: learned from a few of its pages, applied to any page of it.
//!
//! [`links`] orders the links of a key page, [`subdigraph`] searches for training pages, and [`learner`] drives both
//! from the key page to a [`template::Template`]. What decides which nodes are template is one of four
//! ([`learn_options::LabelBy`]): the [`site_model`], which aligns a page to every training page and decides all labels
//! jointly; [`etdm`], votes by exact top-down mapping (Alarte 2014); document frequency over a training set that
//! [`cluster`] finds (Gottron 2008); the paths of a cluster of pages that [`text_mdl`] finds (Kim and Shim 2011).
//! `strings` finds word sequences that documents repeat (Foschini 2007), with the feature of that name.
//!
//! ```
//! use dehusk_html::{ParseOptions, Tree, parse};
//! use dehusk_template::site_model::{SiteModelOptions, TrainingSet};
//!
//! let page = |text: &str| parse(&format!("<nav><a href=/>Home</a></nav><p>{text}</p>"), &ParseOptions::default());
//! let pages: Vec<Tree> = ["A hardy grain.", "Good for porridge.", "Also called corn."].map(page).into();
//! let numbered: Vec<(u64, &Tree)> = (0..).zip(&pages).collect();
//! let (_, labels) = TrainingSet::learn(&numbered, &SiteModelOptions::default()).unwrap();
//! assert_eq!(labels[0].text(&pages[0]), "A hardy grain.\n");
//! ```
//!
//! Everything here is a pure function of its input: no I/O, no clock. With the feature `parallel`, clustering many
//! pages uses all cores.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod cluster;
mod equality_weights;
pub mod etdm;
pub mod max_sum;
pub mod learn_options;
pub mod learner;
pub mod links;
pub mod method;
mod parallel;
pub mod serialized;
pub mod site_model;
#[cfg(feature = "strings")]
pub mod strings;
pub mod subdigraph;
pub mod template;
pub mod text_mdl;
#[cfg(test)]
#[path = "../../core/src/test_pages.rs"]
mod test_pages;
