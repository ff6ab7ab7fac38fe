//! What becomes of pages and paragraphs that others repeat.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::repeats::{Fingerprint, Repeat, Seen};
use super::rows::Rows;
use super::{BATCH, Duplicates, ExportError, Kept};
use dehusk_core::corpus::{Record, TextOptions, TokenCounter};
use dehusk_core::pii::Pii;
use dehusk_store::{DuplicateGroups, Store};

/// Pages of a survey after which its state is written to the disk.
const COMMIT_EVERY: usize = 20_000;

/// A page that is left out for another one.
pub(super) struct Dropped {
    pub(super) why: &'static str,
    /// Address of the other one.
    pub(super) of: String,
}

/// A row that may repeat an earlier one.
pub(super) struct Candidate<'r> {
    pub(super) id: i64,
    pub(super) host: &'r str,
    pub(super) url: &'r str,
    pub(super) record: &'r mut Record,
    pub(super) fingerprint: &'r Fingerprint,
}

/// Where the address of a page is found by its number.
pub(super) trait PageUrls {
    fn url_of(&self, page: i64) -> Result<Option<String>, ExportError>;
}

impl PageUrls for Store {
    fn url_of(&self, page: i64) -> Result<Option<String>, ExportError> {
        Ok(self.page_url(page)?)
    }
}

/// What is done with repeats.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) duplicates: Duplicates,
    pub(super) near_duplicates: Option<Duplicates>,
    pub(super) keep: Kept,
    pub(super) paragraphs: Option<Duplicates>,
    /// Words of a paragraph that is looked at, at least.
    pub(super) min_paragraph: usize,
    /// What counts the tokens of the paragraphs that stay.
    pub(super) tokens: Option<Arc<dyn TokenCounter>>,
    /// What is done with personal data in them.
    pub(super) pii: Option<Pii>,
    /// Whether pages with the same address are versions of one page, which repeats nothing by that.
    pub(super) has_versions: bool,
}

/// Finds repeats, and marks or drops them.
pub(super) struct Deduplication {
    rule: Rule,
    dir: PathBuf,
    seen: Seen,
    /// The groups, where not the first page of each is kept.
    groups: Option<DuplicateGroups>,
}

impl Deduplication {
    /// Opens what an earlier part of the export has seen, in this folder.
    pub(super) fn open(dir: &Path, rule: Rule) -> Result<Deduplication, ExportError> {
        let io = |reason| ExportError::Io { path: dir.to_owned(), reason };
        fs::create_dir_all(dir).map_err(io)?;
        // In a repository of the export it is no part of the history.
        fs::write(dir.join(".gitignore"), "*\n").map_err(io)?;
        let seen = Seen::open(&dir.join("seen")).map_err(io)?;
        let groups = (rule.keep != Kept::First).then(|| DuplicateGroups::open(&dir.join("groups.sqlite")));
        let groups = groups
            .transpose()
            .map_err(|what| ExportError::Io { path: dir.to_owned(), reason: io::Error::other(what) })?;
        Ok(Deduplication { rule, dir: dir.to_owned(), seen, groups })
    }

    fn io(&self) -> impl Fn(io::Error) -> ExportError + use<> {
        let path = self.dir.clone();
        move |reason| ExportError::Io { path: path.clone(), reason }
    }

    fn sql(&self) -> impl Fn(String) -> ExportError + use<> {
        let path = self.dir.clone();
        move |what| ExportError::Io { path: path.clone(), reason: io::Error::other(what) }
    }

    /// Reads all pages once to find the groups, if the rule of what is kept needs that. `progress` is called with the
    /// number of pages.
    pub(super) fn survey(
        &mut self,
        rows: &mut Rows<'_>,
        urls: &dyn PageUrls,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ExportError> {
        let (io, sql) = (self.io(), self.sql());
        let Some(groups) = &self.groups else { return Ok(ControlFlow::Continue(())) };
        let mut reached = groups.reached().map_err(&sql)?;
        let (mut n, mut pending) = (0, 0);
        loop {
            let batch = rows.next(reached, BATCH)?;
            pending += batch.len();
            n += batch.len() as u64;
            let is_end = batch.is_empty();
            for made in batch {
                let mut made = match made {
                    Ok(made) => made,
                    Err(left_out) => {
                        reached = left_out.page.id;
                        continue;
                    }
                };
                reached = made.page.id;
                let of = first(&mut self.seen, urls, &self.rule, &made.candidate(), &io)?;
                let measure = match self.rule.keep {
                    Kept::Newest => made.page.fetched_at,
                    _ => made.record.text("text").map_or(0, |text| text.chars().count() as i64),
                };
                let text = made.fingerprint.text;
                groups.add(reached, text, measure, of.map(|(repeat, _)| repeat.of)).map_err(&sql)?;
            }
            if pending >= COMMIT_EVERY || is_end {
                // What the groups have reached must have been seen.
                self.seen.flush().map_err(&io)?;
                groups.commit(reached).map_err(&sql)?;
                pending = 0;
            }
            if is_end {
                return Ok(ControlFlow::Continue(()));
            }
            if progress(n).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// Marks a row that another page has. Returns what it is dropped for, if it is.
    pub(super) fn apply(
        &mut self,
        mut row: Candidate<'_>,
        urls: &dyn PageUrls,
    ) -> Result<Option<Dropped>, ExportError> {
        if let Some((repeat, of)) = self.repeat(&row, urls)? {
            let (column, how, why) = if repeat.is_exact {
                ("duplicate_of", self.rule.duplicates, "duplicate")
            } else {
                ("near_duplicate_of", self.rule.near_duplicates.unwrap_or(Duplicates::Mark), "near_duplicate")
            };
            if how == Duplicates::Drop {
                return Ok(Some(Dropped { why, of }));
            }
            row.record.set_text(column, &of);
        }
        self.paragraphs(&mut row)?;
        Ok(None)
    }

    fn repeat(&mut self, row: &Candidate<'_>, urls: &dyn PageUrls) -> Result<Option<(Repeat, String)>, ExportError> {
        let (io, sql) = (self.io(), self.sql());
        let Some(groups) = &self.groups else {
            return first(&mut self.seen, urls, &self.rule, row, &io);
        };
        let group = groups.group_of(row.id).map_err(sql)?.filter(|group| group.kept != row.id);
        let Some(group) = group else { return Ok(None) };
        let url = urls.url_of(group.kept)?.filter(|url| url != row.url);
        Ok(url.map(|url| (Repeat { of: group.kept, is_exact: group.is_exact }, url)))
    }

    fn paragraphs(&mut self, row: &mut Candidate<'_>) -> Result<(), ExportError> {
        let Some(how) = self.rule.paragraphs else { return Ok(()) };
        let text = row.record.text("text").unwrap_or_default();
        let repeated = self.seen.paragraphs(row.id, row.host, text, self.rule.min_paragraph);
        let repeated = repeated.map_err(self.io())?;
        row.record.set_real("repeated_in_site", repeated.in_site);
        row.record.set_real("repeated_elsewhere", repeated.elsewhere);
        if let (Duplicates::Drop, Some(rest)) = (how, repeated.rest) {
            let texts = TextOptions { tokens: self.rule.tokens.as_deref(), pii: self.rule.pii };
            row.record.replace_text(&rest, texts);
        }
        Ok(())
    }

    /// Writes what was seen to the disk.
    pub(super) fn flush(&mut self) -> Result<(), ExportError> {
        self.seen.flush().map_err(self.io())
    }
}

/// The first page with the text of a page, or nearly, and its address. Other versions of the page do not count. What
/// later pages may repeat is remembered: not a page that is dropped.
fn first(
    seen: &mut Seen,
    urls: &dyn PageUrls,
    rule: &Rule,
    row: &Candidate<'_>,
    io: &impl Fn(io::Error) -> ExportError,
) -> Result<Option<(Repeat, String)>, ExportError> {
    let Some(repeat) = seen.first(row.id, row.fingerprint).map_err(io)? else {
        seen.remember(row.id, row.fingerprint, true).map_err(io)?;
        return Ok(None);
    };
    if !repeat.is_exact && rule.near_duplicates == Some(Duplicates::Mark) {
        seen.remember(row.id, row.fingerprint, false).map_err(io)?;
    }
    let url = urls.url_of(repeat.of)?.filter(|url| !rule.has_versions || url != row.url);
    Ok(url.map(|url| (repeat, url)))
}
