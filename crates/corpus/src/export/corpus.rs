//! A corpus from pages that come from elsewhere than the store: files, archives, JSON lines.
//!
//! The pages of the sources are numbered from 1 in the order in which they are read. The manifest says how many are
//! dealt with, so that the same call goes on behind them after a kill.

use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::duplicates::{Candidate, Deduplication, Dropped, Rule};
use super::filter::Filter;
use super::left_out::LeftOutPage;
use super::manifest::Manifest;
use super::names::Names;
use super::parts::Parts;
use super::repeats::Fingerprint;
use super::sink::Raw;
use super::{Duplicates, ExportError, Form, Kept};
use crate::tokenizer;
use dehusk_core::corpus::{OptionalColumns, Record};
use dehusk_core::pii::Pii;
use dehusk_core::rights::Use;
use dehusk_settings::Settings;

/// What a corpus holds.
#[derive(Clone, Debug, Serialize)]
pub struct CorpusOptions {
    /// Form.
    pub form: Form,
    /// An expression of SQL over the columns.
    pub filter: Option<String>,
    /// Pages whose owners deny this use are left out.
    pub rights: Option<Use>,
    /// Pages with the same text.
    pub duplicates: Duplicates,
    /// Pages with nearly the same text; `None`: they are not looked for.
    pub near_duplicates: Option<Duplicates>,
    /// Paragraphs of earlier pages; `None`: they are not looked for.
    pub paragraphs: Option<Duplicates>,
    /// What is done with personal data.
    pub pii: Option<Pii>,
    /// Columns that are left empty unless they are asked for.
    pub optional: OptionalColumns,
    /// Bytes of rows at which a part is closed.
    pub part_bytes: u64,
}

/// A page that was cleaned for a corpus.
pub struct CorpusPage {
    name: String,
    host: String,
    record: Record,
    raw: Raw,
    fingerprint: Fingerprint,
}

impl CorpusPage {
    /// A page with its name in the source: its URL, or a file. `raw` is the page as it was, with its content type, for
    /// forms that hold it ([`Form::holds_pages`]).
    pub fn new(
        name: String,
        record: Record,
        raw: Option<(Option<String>, Vec<u8>)>,
        options: &CorpusOptions,
        settings: &Settings,
    ) -> CorpusPage {
        let fingerprint = Fingerprint::new(&record, options.near_duplicates.map(|_| settings.export.near));
        let host = record.text("host").unwrap_or_default().to_owned();
        let raw = raw.map(|(content_type, body)| Raw { content_type, body }).unwrap_or_default();
        CorpusPage { name, host, record, raw, fingerprint }
    }
}

/// Writes a corpus.
pub struct CorpusWriter {
    parts: Parts,
    filter: Filter,
    deduplication: Deduplication,
    names: Names,
    names_digest: u64,
}

/// A digest of the names of documents in their order, with one more.
pub fn digest_with(digest: u64, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), digest)
}

impl CorpusWriter {
    /// Opens a folder: a new or empty one, or one with an earlier part of the same. `asked` is all that the rows depend
    /// on beside the options: the sources, and how they are cleaned.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if the filter is wrong, or the folder holds something else or cannot be written.
    pub fn open(
        dir: &Path,
        options: &CorpusOptions,
        asked: &str,
        settings: &Settings,
    ) -> Result<CorpusWriter, ExportError> {
        let filter = Filter::new(options.filter.as_deref(), options.rights)?;
        let asked = serde_json::to_string(&(options, asked, &settings.export))
            .map_err(|e| ExportError::Folder { path: dir.to_owned(), what: e.to_string() })?;
        let parts = Parts::open(dir, options.form, (options.part_bytes, &settings.export), asked, 0)?;
        let rule = Rule {
            duplicates: options.duplicates,
            near_duplicates: options.near_duplicates,
            keep: Kept::First,
            paragraphs: options.paragraphs,
            min_paragraph: settings.export.min_paragraph,
            tokens: tokenizer::open(&settings.export.tokenizer)?,
            pii: options.pii,
            has_versions: false,
        };
        let seen = parts.dir().join(".seen");
        let deduplication = Deduplication::open(&seen, rule)?;
        let names =
            Names::open(&seen, parts.reached as u64).map_err(|reason| ExportError::Io { path: seen, reason })?;
        let names_digest = parts.manifest.names;
        Ok(CorpusWriter { parts, filter, deduplication, names, names_digest })
    }

    /// Pages of the sources that earlier calls have dealt with: those that come next are behind them.
    pub fn n_done(&self) -> u64 {
        self.parts.reached as u64
    }

    /// A digest of the names of these pages, by [`digest_with`]: sources that name others have changed since.
    pub fn names_done(&self) -> u64 {
        self.names_digest
    }

    /// Rows that are written so far, those of the open part among them.
    pub fn n_rows(&self) -> u64 {
        self.parts.manifest.rows + self.parts.open_rows
    }

    /// Adds the next page.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; what is finished stays.
    pub fn push(&mut self, page: CorpusPage) -> Result<(), ExportError> {
        let CorpusPage { name, host, mut record, raw, fingerprint } = page;
        self.next(&name)?;
        if let Some(why) = self.filter.refusal(&record)? {
            self.parts.leave_out(LeftOutPage { url: &name, why, ..LeftOutPage::default() })?;
        } else {
            let row = Candidate {
                id: self.parts.reached,
                host: &host,
                url: &name,
                record: &mut record,
                fingerprint: &fingerprint,
            };
            match self.deduplication.apply(row, &self.names)? {
                Some(Dropped { why, of }) => {
                    self.parts.leave_out(LeftOutPage { url: &name, why, of: Some(&of), what: None })?;
                }
                None => self.parts.push(&record, &raw)?,
            }
        }
        if self.parts.is_full() { self.close_part() } else { Ok(()) }
    }

    /// Lists the next page as one that has no row, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; what is finished stays.
    pub fn leave_out(&mut self, name: &str, why: &'static str, what: Option<&str>) -> Result<(), ExportError> {
        self.next(name)?;
        self.parts.leave_out(LeftOutPage { url: name, why, of: None, what })?;
        if self.parts.is_full() { self.close_part() } else { Ok(()) }
    }

    fn next(&mut self, name: &str) -> Result<(), ExportError> {
        self.parts.reached += 1;
        self.names_digest = digest_with(self.names_digest, name);
        self.names.push(name).map_err(|reason| self.parts.io(".seen", reason))
    }

    fn close_part(&mut self) -> Result<(), ExportError> {
        self.deduplication.flush()?;
        self.names.flush().map_err(|reason| self.parts.io(".seen", reason))?;
        self.parts.manifest.names = self.names_digest;
        self.parts.close()
    }

    /// Completes the open part. The same call goes on behind it. A new folder in which nothing was written stays new.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; what is finished stays.
    pub fn pause(mut self) -> Result<Manifest, ExportError> {
        if !self.parts.is_new() {
            self.close_part()?;
        }
        Ok(self.parts.manifest)
    }

    /// Completes the last part.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; what is finished stays.
    pub fn finish(mut self) -> Result<Manifest, ExportError> {
        self.close_part()?;
        self.parts.manifest.upto = self.parts.reached;
        self.parts.finish()
    }
}
