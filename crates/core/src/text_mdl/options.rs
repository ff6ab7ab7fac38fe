//! How TEXT clusters pages.

use serde::Serialize;

/// How pages are clustered by their paths (Kim and Shim 2011).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextOptions {
    /// Which of the three algorithms is used.
    pub method: TextMethod,
    /// Length of a MinHash signature.
    pub signature: usize,
    /// Smallest number of pages that have an essential path; 1 = the paper.
    pub min_support: u32,
    /// Share of the pages above which a path does not decide what is essential; 1 = the paper.
    pub universal: f64,
    /// Number of clusters considered that have the same value at a signature position.
    pub bucket: usize,
}

/// How the next pair of clusters to merge is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMethod {
    /// By the cost of all pairs.
    Mdl,
    /// By the estimated cost of all pairs.
    Hash,
    /// By the estimated cost of the pairs that share the most.
    Max,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions { method: TextMethod::Max, signature: 128, min_support: 2, universal: 0.5, bucket: 64 }
    }
}
