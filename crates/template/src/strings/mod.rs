//! Template strings: what the documents of a source repeat word for word (Foschini 2007, chapter 3).
//!
//! - `patterns.rs` replaces each mutable text, such as a date, by one symbol, and `tokens.rs` tokenizes the documents.
//! - A [`Corpus`] numbers the tokens and concatenates the documents (`corpus.rs`).
//! - A suffix array over the numbers (`suffix.rs`) yields all maximal repeats with their frequencies (`repeats.rs`).
//! - A histogram sets the smallest document frequency of a template string (`threshold.rs`).
//! - Idioms and strings that are only parts of longer ones are dropped (`idioms.rs`).
//! - The remaining strings form a [`StringTemplate`] (`learned.rs`). It can be exported as the paper's regular
//!   expressions (`expressions.rs`).
//! - A [`StringCleaner`] finds the strings in other documents with one automaton (`cleaner.rs`).
//!
//! This works on pages and on plain text such as feeds, mail archives and transcripts.

mod cleaner;
mod corpus;
mod expressions;
mod learned;
mod options;
mod patterns;
mod repeats;
mod idioms;
mod suffix;
mod threshold;
mod tokens;

pub use cleaner::{CleanedText, StringCleaner};
pub use corpus::{Corpus, TokenizedDocument};
pub use learned::{StringTemplate, TemplateString};
pub use options::{HistogramWeight, InnerStrings, StringOptions, StringTokens};
pub use patterns::{Pattern, Patterns, PatternsError};
pub use tokens::Document;

/// Why strings could not be learned or used.
#[derive(Debug, thiserror::Error)]
pub enum StringsError {
    /// The corpus is too long for the 32-bit positions of the suffix array.
    #[error("more than {} million tokens in one collection; learn from fewer documents", i32::MAX / 1_000_000)]
    TooLong,
    /// The suffix array could not be built.
    #[error("suffix array: {0}")]
    SuffixArray(String),
    /// The automaton could not be built.
    #[error("automaton of the template strings: {0}")]
    Automaton(String),
    /// A stored template that cannot be read.
    #[error("not a template of strings: {0}")]
    Form(String),
    /// The template was written by a later version.
    #[error("a template of strings of schema {0}; please update dehusk")]
    Newer(u32),
    /// Tokens of pages are not text that a regular expression could match.
    #[error(
        "no regular expressions for tokens of pages: learn the source as text, with papers.strings.tokens ws or f2007"
    )]
    NoExpressions,
}
