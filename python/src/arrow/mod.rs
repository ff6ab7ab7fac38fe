//! Arrow in and out: `dehusk.clean_arrow` and `dehusk.schema`.
//!
//! `input.rs` reads columns where they lie, `output.rs` builds a batch of rows, `clean.rs` is what is between them.

mod clean;
mod input;
mod output;

pub(crate) use clean::clean_arrow;
pub(crate) use output::schema;
