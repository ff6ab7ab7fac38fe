//! All options of learning and cleaning in one value.

#[cfg(feature = "strings")]
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::clean::CleanOptions;
use dehusk_html::ParseOptions;
use dehusk_render::MarkdownOptions;
use dehusk_template::learn_options::LearnOptions;
#[cfg(feature = "strings")]
use dehusk_template::strings::{Patterns, StringOptions};

/// All options of learning and cleaning. The default of each is what the product uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Options {
    /// Limits of the page tree.
    pub parse: ParseOptions,
    /// How a site is learned.
    pub learn: LearnOptions,
    /// What is kept of a page.
    pub clean: CleanOptions,
    /// What Markdown keeps of links and pictures.
    pub markdown: MarkdownOptions,
    /// How template strings are learned and applied.
    #[cfg(feature = "strings")]
    pub strings: StringOptions,
    /// Mutable patterns of the method `strings`.
    #[cfg(feature = "strings")]
    #[serde(skip)]
    pub string_patterns: Patterns,
    /// Hashes of strings that many other sources have. The method `strings` keeps those that may be idioms.
    #[cfg(feature = "strings")]
    #[serde(skip)]
    pub idioms: FxHashSet<u64>,
}
