//! One export from the store: its pages, in the order in which they were stored, go to the parts of a corpus.

use std::ops::ControlFlow;
use std::path::Path;

use super::duplicates::{Deduplication, Rule};
use super::left_out::LeftOutPage;
use super::manifest::Manifest;
use super::parts::Parts;
use super::rows::{LeftOut, Made, Rows};
use super::sink::Raw;
use super::{BATCH, ExportError, ExportOptions, Form, notes, site};
use dehusk_core::cleaning_number;
use dehusk_settings::Settings;
use dehusk_store::Store;

pub(super) struct Exporter<'a> {
    options: &'a ExportOptions,
    rows: Rows<'a>,
    deduplication: Deduplication,
    pub(super) parts: Parts,
    /// The last page that an earlier export into the folder has looked at.
    followed: i64,
    store: &'a Store,
}

impl<'a> Exporter<'a> {
    pub(super) fn open(
        store: &'a Store,
        dir: &'a Path,
        options: &'a ExportOptions,
        settings: &'a Settings,
    ) -> Result<Exporter<'a>, ExportError> {
        let mut rows = Rows::new(store, settings, options)?;
        let (core, noindex) = (&settings.core, &settings.store.noindex);
        let asked = (options, &core.clean, &core.markdown, noindex, &settings.export, cleaning_number(core));
        let folder = |what: String| ExportError::Folder { path: dir.to_owned(), what };
        let asked = serde_json::to_string(&asked).map_err(|e| folder(e.to_string()))?;
        let parts =
            Parts::open(dir, options.form, (options.part_bytes, &settings.export), asked, store.last_settled_page()?)?;
        rows.end_at(parts.manifest.upto);
        let rule = Rule {
            duplicates: options.duplicates,
            near_duplicates: options.near_duplicates,
            keep: options.keep,
            paragraphs: options.paragraphs,
            min_paragraph: settings.export.min_paragraph,
            tokens: rows.tokens(),
            pii: options.pii,
            has_versions: true,
        };
        let deduplication = Deduplication::open(&parts.dir().join(".seen"), rule)?;
        let followed = parts.reached;
        Ok(Exporter { options, rows, deduplication, parts, followed, store })
    }

    /// Finds the groups of duplicates, if the rule of what is kept needs that.
    pub(super) fn survey(
        &mut self,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ExportError> {
        self.deduplication.survey(&mut self.rows, self.store, progress)
    }

    /// Moves the last page that belongs to the export further.
    pub(super) fn end_at(&mut self, upto: i64) {
        self.parts.manifest.upto = upto.max(self.parts.manifest.upto);
        self.rows.end_at(self.parts.manifest.upto);
    }

    /// Exports the next pages. Returns whether there were any.
    pub(super) fn next_batch(&mut self) -> Result<bool, ExportError> {
        let batch = self.rows.next(self.parts.reached, BATCH)?;
        let is_any = !batch.is_empty();
        for made in batch {
            let id = made.as_ref().map_or_else(|left_out| left_out.page.id, |made| made.page.id);
            match made {
                Ok(made) => self.push(made)?,
                Err(LeftOut { page, why }) => {
                    self.parts.leave_out(LeftOutPage { url: &page.url, why, ..LeftOutPage::default() })?
                }
            }
            self.parts.reached = id;
            if self.parts.is_full() {
                self.close_part()?;
            }
        }
        Ok(is_any)
    }

    /// Completes the open part. The same export made again goes on behind it.
    pub(super) fn pause(mut self) -> Result<Manifest, ExportError> {
        self.close_part()?;
        Ok(self.parts.manifest)
    }

    /// Completes the last part.
    pub(super) fn finish(mut self) -> Result<Manifest, ExportError> {
        self.follow_states()?;
        self.parts.reached = self.parts.manifest.upto;
        self.deduplication.flush()?;
        self.parts.finish()
    }

    /// What was seen is on the disk before the manifest says how far the parts reach.
    fn close_part(&mut self) -> Result<(), ExportError> {
        self.deduplication.flush()?;
        self.parts.close()
    }

    /// Of the pages that an earlier part of the export has looked at: removes the files of those that are not there any
    /// more, and adds those that are there again.
    fn follow_states(&mut self) -> Result<(), ExportError> {
        let since = std::mem::take(&mut self.parts.manifest.turned);
        let (turned, next) = self.store.turned_since(since)?;
        self.parts.manifest.turned = next;
        let may_be_in = |state: &str| {
            self.options.states.is_empty() || self.options.states.iter().any(|given| given.name() == state)
        };
        if since == 0 || self.options.as_of.is_some() {
            return Ok(());
        }
        let (here, away): (Vec<_>, Vec<_>) = turned.into_iter().partition(|page| may_be_in(&page.state));
        let back: Vec<String> = here.into_iter().filter(|page| !may_be_in(&page.before)).map(|page| page.url).collect();
        for page in away {
            let removed = match self.options.form {
                Form::Markdown => notes::remove(self.parts.dir(), &page.url),
                Form::Site => site::remove(self.parts.dir(), &page.url),
                Form::Jsonl | Form::Chunks | Form::Parquet | Form::Warc | Form::Wacz | Form::Wet => Ok(()),
            };
            removed.map_err(|reason| self.parts.io(&page.url, reason))?;
        }
        for url in back {
            let row =
                self.store.find_page(&url)?.filter(|row| row.id <= self.followed && self.rows.has_host(&row.host));
            for made in self.rows.make(row.into_iter().collect())? {
                match made {
                    Ok(made) => self.push(made)?,
                    Err(LeftOut { page, why }) => {
                        self.parts.leave_out(LeftOutPage { url: &page.url, why, ..LeftOutPage::default() })?
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, mut made: Made) -> Result<(), ExportError> {
        if let Some(dropped) = self.deduplication.apply(made.candidate(), self.store)? {
            let (url, of) = (made.page.url.as_str(), Some(dropped.of.as_str()));
            return self.parts.leave_out(LeftOutPage { url, why: dropped.why, of, what: None });
        }
        let raw = Raw { content_type: made.page.content_type, body: made.body };
        self.parts.push(&made.record, &raw)
    }
}
