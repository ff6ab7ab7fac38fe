//! How template strings are learned and applied.

use serde::{Deserialize, Serialize};

/// How template strings are learned and applied (Foschini 2007, chapter 3).
#[derive(Clone, Debug, PartialEq)]
pub struct StringOptions {
    /// How documents are cut into tokens.
    pub tokens: StringTokens,
    /// Tokens of the shortest template string.
    pub min_tokens: usize,
    /// Share of the documents that a string must occur in to be counted; two documents at least.
    pub min_df_share: f64,
    /// What a bin of the histogram weighs.
    pub weight: HistogramWeight,
    /// Smallest share of the documents that a template string occurs in.
    pub min_ratio: f64,
    /// What becomes of strings that enough documents hold only inside of longer ones.
    pub inner: InnerStrings,
    /// Tokens of the longest string that can be an idiom by its distribution over the documents.
    pub max_idiom: usize,
    /// Share of the other sources above which a string is an idiom and no template; two are always allowed.
    pub max_sites_share: f64,
    /// Strings of more tokens are not idioms, however many sources have them; 0 = no limit.
    pub longest_idiom: usize,
    /// Two cuts with fewer characters between them, none of them a letter or digit, are merged.
    pub merge_gap: usize,
    /// Cuts of fewer characters are not made.
    pub min_cut: usize,
    /// Tokens of all strings together.
    pub max_total: usize,
}

/// How documents are cut into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringTokens {
    /// Pages as `Html`, plain text as `Ws`.
    Auto,
    /// Between blanks.
    Ws,
    /// Between blanks and hyphens, as the paper's printed expressions show.
    F2007,
    /// Tags, words and runs of punctuation.
    Html,
}

/// What becomes of strings that enough documents hold only inside of longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InnerStrings {
    /// Kept for pages, whose text nodes are removed as a whole only; dropped for plain text.
    Auto,
    /// Kept (the paper).
    Keep,
    /// Dropped.
    Drop,
}

/// What a bin of the histogram weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramWeight {
    /// Its count (the paper).
    Raw,
    /// log(1 + count).
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
            inner: InnerStrings::Auto,
            max_idiom: 4,
            max_sites_share: 0.05,
            longest_idiom: 8,
            merge_gap: 12,
            min_cut: 0,
            max_total: 5_000_000,
        }
    }
}
