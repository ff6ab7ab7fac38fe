//! One row of a corpus: a cleaned page with everything that is known of it.
//!
//! `columns.rs` is the one table of columns, each with the function that gives its value from what `row_facts.rs` finds
//! out about the page. `record.rs` holds a row, and writes it as JSON. `note.rs` writes it as
//! Markdown with front matter.

mod columns;
mod note;
mod record;
mod row_facts;
mod text_options;

pub use columns::{Column, ColumnKind, SCHEMA, SOURCES, columns};
pub use record::{About, ColumnValue, OptionalColumns, Record, RecordSource};
pub use text_options::{TextOptions, TokenCounter};
