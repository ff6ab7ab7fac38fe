//! What is counted and looked for in the texts of rows, where that is asked for.

use std::fmt::Debug;

use crate::pii::Pii;

/// Counts the tokens of a text.
pub trait TokenCounter: Debug + Send + Sync {
    /// The number of tokens; `None` where the text cannot be tokenized.
    fn count(&self, text: &str) -> Option<usize>;
}

/// What is counted and looked for beside words.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions<'a> {
    /// Fills the column `n_tokens`.
    pub tokens: Option<&'a dyn TokenCounter>,
    /// What is done with personal data.
    pub pii: Option<Pii>,
}
