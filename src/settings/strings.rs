//! Parameters of template strings.

use serde::{Deserialize, Serialize};

/// How template strings are learned and used (Foschini 2007, chapter 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Strings {
    /// How documents are cut into tokens.
    pub tokens: StringTokens,
    /// File with mutable patterns; empty = those that come with the program.
    pub patterns: String,
    /// Tokens of the shortest template string.
    pub min_tokens: usize,
    /// Share of the documents that a string must be in to be counted at all; two always.
    pub min_df_share: f64,
    /// What a bin of the histogram weighs.
    pub weight: HistogramWeight,
    /// Share of the documents that a template string is in at least.
    pub min_ratio: f64,
    /// What becomes of strings that enough documents hold only inside of longer ones.
    pub inner: InnerStrings,
    /// Tokens of the longest string that may be an idiom, scattered over the documents as words are.
    pub max_idiom: usize,
    /// Share of the other sources above which a string is an idiom and no template; two are allowed always.
    pub max_sites_share: f64,
    /// Strings of more tokens are no idioms of many sites; 0 = no limit.
    pub longest_idiom: usize,
    /// Cuts with fewer characters between them, and no word, are one.
    pub merge_gap: usize,
    /// Cuts of fewer characters are left.
    pub min_cut: usize,
    /// Tokens of all strings together.
    pub max_total: usize,
}

/// How documents are cut into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringTokens {
    /// Pages as `html`, plain text as `ws`.
    Auto,
    /// Between blanks.
    Ws,
    /// Between blanks and hyphens: what the paper's printed expressions show.
    F2007,
    /// Tags, words and runs of marks.
    Html,
}

/// What becomes of strings that enough documents hold only inside of longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InnerStrings {
    /// Kept of pages, whose texts are removed as a whole only; dropped of plain text.
    Auto,
    /// Kept: the paper.
    Keep,
    /// Dropped.
    Drop,
}

/// What a bin of the histogram weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramWeight {
    /// Its count: the paper.
    Raw,
    /// log(1 + count).
    Log,
}
