//! How template strings are learned and applied.

use serde::{Deserialize, Serialize};

/// How template strings are learned and applied (Foschini 2007, chapter 3).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StringOptions {
    /// How documents are tokenized.
    pub tokens: StringTokens,
    /// Smallest number of tokens in a template string.
    pub min_tokens: usize,
    /// Share of the documents that a string must occur in to be counted; at least two documents are required.
    pub min_df_share: f64,
    /// How a bin of the histogram is weighted.
    pub weight: HistogramWeight,
    /// Smallest share of the documents that a template string occurs in.
    pub min_ratio: f64,
    /// Whether strings are kept that enough documents contain only inside of longer ones.
    pub inner: InnerStrings,
    /// Largest number of tokens in a string that can be an idiom by its distribution over the documents.
    pub max_idiom: usize,
    /// Share of the other sources above which a string is an idiom; two sources are always allowed.
    pub max_sites_share: f64,
    /// Strings with more tokens are never idioms, however many sources have them; 0 = no limit.
    pub longest_idiom: usize,
    /// Two removed ranges are merged if the gap has fewer characters than this, and no letter or digit unless
    /// `merge_text` is set.
    pub merge_gap: usize,
    /// Whether the text between merged ranges may be words, which are removed, too (the paper).
    pub merge_text: bool,
    /// Smallest number of characters in a removed range.
    pub min_cut: usize,
    /// Largest total number of tokens in all strings.
    pub max_total: usize,
}

/// How documents are tokenized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringTokens {
    /// Pages as `Html`, plain text as `Ws`.
    Auto,
    /// Split at blanks.
    Ws,
    /// Split at blanks and hyphens, as in the regular expressions that the paper prints.
    F2007,
    /// Tags, words and runs of punctuation.
    Html,
}

/// Whether strings are kept that enough documents contain only inside of longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InnerStrings {
    /// Kept, as in the paper.
    Keep,
    /// Dropped.
    Drop,
}

/// How a bin of the histogram is weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistogramWeight {
    /// By its count, as in the paper.
    Raw,
    /// By log(1 + count).
    Log,
}

impl Default for StringOptions {
    fn default() -> StringOptions {
        StringOptions {
            tokens: StringTokens::Auto,
            min_tokens: 2,
            min_df_share: 0.05,
            weight: HistogramWeight::Log,
            min_ratio: 0.5,
            inner: InnerStrings::Keep,
            max_idiom: 4,
            max_sites_share: 0.05,
            longest_idiom: 8,
            merge_gap: 12,
            merge_text: false,
            min_cut: 0,
            max_total: 5_000_000,
        }
    }
}
