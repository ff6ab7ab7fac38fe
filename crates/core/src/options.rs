//! All options of the core in one value.

use serde::Serialize;

use crate::clean::CleanOptions;
use crate::cluster::{ClusterOptions, GottronOptions};
use crate::dom::ParseOptions;
use crate::learner::LearnOptions;
#[cfg(feature = "strings")]
use crate::strings::StringOptions;
use crate::text_mdl::TextOptions;

/// All options of the core. The default of each is what the product uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Options {
    /// Limits of the page tree.
    pub parse: ParseOptions,
    /// How a site is learned.
    pub learn: LearnOptions,
    /// What is kept of a page.
    pub clean: CleanOptions,
    /// How pages are clustered by layout.
    pub cluster: ClusterOptions,
    /// How the method `gottron` finds its training set.
    pub gottron: GottronOptions,
    /// How template strings are learned and applied.
    #[cfg(feature = "strings")]
    pub strings: StringOptions,
    /// How TEXT clusters pages.
    pub text: TextOptions,
}
