//! A corpus from the store: rows of cleaned pages as JSON lines, Parquet, WARC, WET or Markdown files.
//!
//! Pages are read in the order in which they were stored, cleaned on all cores, and written by one thread into parts.
//! A part has its name only when it is complete on the disk, and the manifest says how far the parts reach: an export
//! that was killed goes on from there, and the same export made again adds what was stored since.

mod columns;
mod exporter;
mod manifest;
mod near;
mod notes;
#[cfg(feature = "parquet")]
mod parquet;
mod record;
mod sink;
mod site_facts;

pub use columns::{Column, Kind, SCHEMA, columns};
pub use manifest::{Manifest, Part};
pub use record::{About, Optional, Record, Value, comments_of};

use std::io;
use std::path::{Path, PathBuf};

use crate::settings::Settings;
use crate::store::{Store, StoreError};
use exporter::Exporter;

/// Pages that are cleaned at a time.
const BATCH: usize = 128;

/// Form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON lines, zstd.
    Jsonl,
    /// Parquet, zstd.
    Parquet,
    /// Pages as fetched, as WARC `resource` records.
    Warc,
    /// Text, as WARC `conversion` records.
    Wet,
    /// A folder of Markdown files.
    Markdown,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Jsonl => "jsonl",
            Form::Parquet => "parquet",
            Form::Warc => "warc",
            Form::Wet => "wet",
            Form::Markdown => "md",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Form::Jsonl => "jsonl.zst",
            Form::Parquet => "parquet",
            Form::Warc => "warc.gz",
            Form::Wet => "warc.wet.gz",
            Form::Markdown => "md",
        }
    }
}

/// What is done with pages that have the text of an earlier one, or nearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// They are kept; `duplicate_of` or `near_duplicate_of` names the earlier one.
    Mark,
    /// They are left out, and counted.
    Drop,
}

/// What is exported.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// Form.
    pub form: Form,
    /// Only pages fetched after this run; 0 = all.
    pub since: i64,
    /// Only these hosts, if there are any.
    pub hosts: Vec<String>,
    /// Every stored version of a page instead of the newest.
    pub all_versions: bool,
    /// An expression of SQL over the columns.
    pub filter: Option<String>,
    /// Pages with the same text.
    pub duplicates: Duplicates,
    /// Pages with nearly the same text; `None`: they are not looked for.
    pub near_duplicates: Option<Duplicates>,
    /// Optional columns.
    pub optional: Optional,
    /// Bytes of rows at which a part is closed.
    pub part_bytes: u64,
}

/// Why an export did not end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file could not be written.
    #[error("{path}: {reason}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The folder holds something else.
    #[error("{path}: {what}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What it holds, and what to do.
        what: String,
    },
    /// The filter is wrong.
    #[error("--where {expression:?}: {reason}")]
    Filter {
        /// The expression.
        expression: String,
        /// Why, by SQLite.
        reason: String,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Exports the store into a folder. `progress` is called after each batch.
///
/// # Errors
///
/// [`ExportError`]; what is finished stays, and the same call goes on from there.
pub fn export(
    store: &Store,
    dir: &Path,
    options: &ExportOptions,
    settings: &Settings,
    mut progress: impl FnMut(&Manifest, u64),
) -> Result<Manifest, ExportError> {
    let mut exporter = Exporter::open(store, dir, options, settings)?;
    while exporter.next_batch(BATCH)? {
        progress(&exporter.manifest, exporter.open_rows);
    }
    exporter.finish()
}
