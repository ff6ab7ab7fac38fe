//! Template strings: what the documents of a source repeat word by word (Foschini 2007, chapter 3; ALGORITHMS 4).
//!
//! Documents are cut into tokens (`tokens.rs`) after mutable texts such as dates were put into one symbol each
//! (`patterns.rs`); a [`Corpus`] numbers the tokens and lines the documents up (`corpus.rs`); a suffix array over
//! the numbers (`suffix.rs`) shows all maximal repeats with their frequencies (`repeats.rs`); a histogram says from which
//! document frequency on they are template (`threshold.rs`), less those that are
//! only parts of longer ones, or idioms (`idioms.rs`). What stays is a [`StringTemplate`] (`learned.rs`), and a
//! [`StringCleaner`] finds its strings in other documents with one automaton (`cleaner.rs`), or writes them as the
//! paper's regular expressions (`expressions.rs`).
//!
//! This works on plain text as well as on pages: feeds, mail archives, transcripts.

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
    /// The suffix array holds 32-bit places.
    #[error("more than {} million tokens in one collection; learn from fewer documents", i32::MAX / 1_000_000)]
    TooLong,
    /// The library's reason.
    #[error("suffix array: {0}")]
    SuffixArray(String),
    /// The library's reason.
    #[error("automaton of the template strings: {0}")]
    Automaton(String),
    /// A stored template that cannot be read.
    #[error("not a template of strings: {0}")]
    Form(String),
    /// Written by a later version.
    #[error("a template of strings of schema {0}; please update dehusk")]
    Newer(u32),
    /// Tokens of pages are no text that an expression could match.
    #[error("no regular expressions for tokens of pages: learn the source as text, with strings.tokens ws or f2007")]
    NoExpressions,
}
