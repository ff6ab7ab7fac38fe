//! How TEXT clusters pages.

use serde::{Deserialize, Serialize};

/// How pages are clustered by their paths (Kim and Shim 2011).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextOptions {
    /// Which of the three algorithms is used.
    pub method: TextMethod,
    /// Length of a MinHash signature.
    pub signature: usize,
    /// Smallest number of pages that have an essential path; 1 = the paper.
    pub min_support: u32,
    /// Share of the pages above which a path does not decide what is essential; 1 = the paper.
    pub universal: f64,
    /// Factor on the threshold of essential paths; 1 = the mode of the supports, as in the paper. Where pages lack
    /// parts of their template now and then, the supports of its paths lie around the mode, and half of them are below
    /// it: of 100,000 generated pages of 1,000 templates MAX brings .756 of each together with 1 and .981 with 0.9, in
    /// 8 and 44 s. On the real sites both give the same scores.
    pub threshold: f64,
    /// Whether elements without a tag in the source, such as `head` and `tbody`, are parts of paths; false = the paper.
    pub implied: bool,
    /// Which cost TEXT-MDL lowers.
    pub cost: TextCost,
    /// Number of clusters considered that have the same value at a signature position.
    pub bucket: usize,
}

/// How the next pair of clusters to merge is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMethod {
    /// By the cost of all pairs.
    Mdl,
    /// By the estimated cost of all pairs.
    Hash,
    /// By the estimated cost of the pairs that share the most.
    Max,
}

/// The cost that TEXT-MDL lowers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextCost {
    /// The number of ones of the matrices.
    Count,
    /// Their entropy in bits: the definition of the paper.
    Entropy,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            method: TextMethod::Max,
            signature: 128,
            min_support: 2,
            universal: 0.5,
            threshold: 0.9,
            implied: true,
            cost: TextCost::Count,
            bucket: 64,
        }
    }
}
