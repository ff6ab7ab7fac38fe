//! What a crawl needs of a database.
//!
//! The contract of [`Backend`], which `contract.rs` tests over every implementation:
//!
//! - A write is applied whole or not at all. What was applied since the last commit is lost with the process, and
//!   nothing else is.
//! - Writes are idempotent: applied twice, the pages, URLs, sites, templates and rules are as after once. Only the log
//!   of visits has the visit twice.
//! - A query sees all writes before it, committed or not.
//! - The order in which sites and URLs are given depends on what was written only.
//! - A URL is given until what came of it was written: a crash finds it waiting again.

use super::{Query, Reply, Run, StoreError, Write};
use crate::revisit::Change;

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// How it was found.
    pub change: Change,
    /// How it was counted before, where this write says better.
    pub instead: Option<Change>,
}

impl From<Change> for Counted {
    fn from(change: Change) -> Counted {
        Counted { change, instead: None }
    }
}

/// A database with a run that is worked on.
pub trait Backend: Send {
    /// The run.
    fn run(&self) -> Run;

    /// Begins a transaction. Waits while another program holds the database.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the database cannot be written.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Applies a write in the current transaction. Returns what it found to have changed, page by page.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the transaction must be rolled back then.
    fn apply(&mut self, write: Write) -> Result<Vec<Counted>, StoreError>;

    /// Answers a question.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the database cannot be read.
    fn query(&mut self, query: Query) -> Result<Reply, StoreError>;

    /// Commits the current transaction.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the database cannot be written.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Undoes the current transaction.
    fn roll_back(&mut self);

    /// Tidies up after the last commit.
    fn close(&mut self);
}
