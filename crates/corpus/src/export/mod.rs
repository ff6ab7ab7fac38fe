//! A corpus from the store: rows of cleaned pages as JSON lines, Parquet, WARC, WACZ, WET or Markdown files.
//!
//! Pages are read in the order in which they were stored, cleaned on all cores, and written by one thread into parts.
//! A part has its name only when it is complete on the disk, and the manifest says how far the parts reach: an export
//! that was killed goes on from there, and the same export made again adds what was stored since.

mod card;
mod chunk_lines;
mod corpus;
mod duplicates;
mod exporter;
mod filter;
mod feed;
mod left_out;
mod manifest;
mod names;
mod notes;
mod places;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod place;
mod repeats;
mod rows;
mod sink;
mod site;
mod site_facts;
mod wacz;

pub use chunk_lines::Chunking;
pub use corpus::{CorpusOptions, CorpusPage, CorpusWriter, digest_with};
pub use feed::Feed;
pub use manifest::{Manifest, Part};
pub use repeats::bands as minhash_bands;

use serde::Serialize;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::language_model::LanguageModelError;
use crate::tokenizer::TokenizerError;
use dehusk_core::corpus::OptionalColumns;
use dehusk_core::pii::Pii;
use dehusk_core::rights::Use;
use dehusk_settings::Settings;
use dehusk_store::{Store, StoreError};
use exporter::Exporter;

/// Pages that are cleaned at a time.
const BATCH: usize = 128;

/// Form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// JSON lines, zstd.
    Jsonl,
    /// Pieces of the pages for retrieval: JSON lines, zstd.
    Chunks,
    /// Parquet, zstd.
    Parquet,
    /// Pages as fetched, as WARC `resource` records.
    Warc,
    /// Pages as fetched with an index and their text, in a file that ReplayWeb.page opens (WACZ 1.1.1).
    Wacz,
    /// Text, as WARC `conversion` records.
    Wet,
    /// A folder of Markdown files.
    Markdown,
    /// A static copy: a folder of HTML files with an index.
    Site,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Jsonl => "jsonl",
            Form::Chunks => "chunks",
            Form::Parquet => "parquet",
            Form::Warc => "warc",
            Form::Wacz => "wacz",
            Form::Wet => "wet",
            Form::Markdown => "md",
            Form::Site => "site",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Form::Jsonl | Form::Chunks => "jsonl.zst",
            Form::Parquet => "parquet",
            Form::Warc => "warc.gz",
            Form::Wacz => "wacz",
            Form::Wet => "warc.wet.gz",
            Form::Markdown => "md",
            Form::Site => "html",
        }
    }

    /// Whether it holds the pages as they were, and not only what was made of them.
    pub fn holds_pages(self) -> bool {
        matches!(self, Form::Warc | Form::Wacz)
    }

    /// Whether each page has a file of its own.
    fn is_folder(self) -> bool {
        matches!(self, Form::Markdown | Form::Site)
    }
}

/// What is done with pages that have the text of another one, or nearly, and with paragraphs of earlier pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// They are kept; columns say what they repeat.
    Mark,
    /// They are left out, counted and listed.
    Drop,
}

/// Which of several pages with the same text, or nearly, is no duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The one that was stored first.
    First,
    /// The one with the longest text. All pages are read twice.
    Longest,
    /// The one that was fetched last. All pages are read twice.
    Newest,
}

/// What became of a page since its version was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageState {
    /// It was there at the last visit.
    Alive,
    /// The server says that it is no more.
    Gone,
    /// It redirects to another URL.
    Moved,
    /// robots.txt forbids it by now.
    Blocked,
    /// It could not be had at the last visit. One bad night is no reason to leave a page out.
    Failed,
}

impl PageState {
    /// The word in the store.
    pub fn name(self) -> &'static str {
        match self {
            PageState::Alive => "alive",
            PageState::Gone => "gone",
            PageState::Moved => "moved",
            PageState::Blocked => "blocked",
            PageState::Failed => "failed",
        }
    }
}

/// What is exported.
#[derive(Clone, Debug, Serialize)]
pub struct ExportOptions {
    /// Form.
    pub form: Form,
    /// Only pages fetched after this run; 0 = all.
    pub since: i64,
    /// Only these hosts, if there are any.
    pub hosts: Vec<String>,
    /// Every stored version of a page instead of the newest.
    pub all_versions: bool,
    /// The store as it was after this run; `None`: as it is.
    pub as_of: Option<i64>,
    /// Only pages in these states; all, if there are none.
    pub states: Vec<PageState>,
    /// An expression of SQL over the columns.
    pub filter: Option<String>,
    /// Pages whose owners deny this use are left out.
    pub rights: Option<Use>,
    /// Pages with the same text.
    pub duplicates: Duplicates,
    /// Pages with nearly the same text; `None`: they are not looked for.
    pub near_duplicates: Option<Duplicates>,
    /// Which page of a group is kept.
    pub keep: Kept,
    /// Paragraphs of earlier pages; `None`: they are not looked for.
    pub paragraphs: Option<Duplicates>,
    /// Columns that are left empty unless they are asked for.
    pub optional: OptionalColumns,
    /// What is done with personal data.
    pub pii: Option<Pii>,
    /// Bytes of rows at which a part is closed.
    pub part_bytes: u64,
}

impl Default for ExportOptions {
    /// The options of `dehusk export` without arguments.
    fn default() -> ExportOptions {
        ExportOptions {
            form: Form::Jsonl,
            since: 0,
            hosts: Vec::new(),
            all_versions: false,
            as_of: None,
            states: vec![PageState::Alive, PageState::Failed],
            filter: None,
            rights: None,
            duplicates: Duplicates::Mark,
            near_duplicates: None,
            keep: Kept::First,
            paragraphs: None,
            optional: OptionalColumns::default(),
            pii: None,
            part_bytes: 512_000_000,
        }
    }
}

/// Why an export did not end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Pieces are to be counted in tokens, and no tokenizer is named.
    #[error("export.chunk_tokens counts by a tokenizer: name its file with export.tokenizer")]
    NoTokenizer,
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
    /// The model of languages could not be read.
    #[error(transparent)]
    LanguageModel(#[from] LanguageModelError),
    /// The tokenizer cannot be used.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far an export is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Pages that were read to find the groups of duplicates.
    Survey(u64),
    /// Finished parts, and rows of the open one.
    Rows(&'a Manifest, u64),
}

/// Exports the store into a folder. `progress` is called after each batch; when it breaks, the open part is completed,
/// and the manifest says that the export is not.
///
/// # Errors
///
/// [`ExportError`]; what is finished stays, and the same call goes on from there.
pub fn export(
    store: &Store,
    dir: &Path,
    options: &ExportOptions,
    settings: &Settings,
    mut progress: impl FnMut(Progress<'_>) -> ControlFlow<()>,
) -> Result<Manifest, ExportError> {
    let mut exporter = Exporter::open(store, dir, options, settings)?;
    if exporter.survey(|pages| progress(Progress::Survey(pages)))?.is_break() {
        return exporter.pause();
    }
    while exporter.next_batch()? {
        if progress(Progress::Rows(&exporter.parts.manifest, exporter.parts.open_rows)).is_break() {
            return exporter.pause();
        }
    }
    exporter.finish()
}

/// An export that grows with the store: one part stays open until it is full or the export ends.
pub struct GrowingExport<'a> {
    store: &'a Store,
    exporter: Exporter<'a>,
}

impl<'a> GrowingExport<'a> {
    /// Opens an export, or goes on with it.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if the folder cannot be used.
    pub fn open(
        store: &'a Store,
        dir: &'a Path,
        options: &'a ExportOptions,
        settings: &'a Settings,
    ) -> Result<GrowingExport<'a>, ExportError> {
        Ok(GrowingExport { store, exporter: Exporter::open(store, dir, options, settings)? })
    }

    /// Exports what the store has since.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; what is finished stays.
    pub fn advance(&mut self) -> Result<(), ExportError> {
        self.exporter.end_at(self.store.last_settled_page()?);
        while self.exporter.next_batch()? {}
        Ok(())
    }

    /// Exports the rest, and completes the last part.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; what is finished stays.
    pub fn finish(mut self) -> Result<Manifest, ExportError> {
        self.advance()?;
        self.exporter.finish()
    }
}
