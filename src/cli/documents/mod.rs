//! The one reader of documents: folders, files, pipes and standard input, which may hold pages, text, web archives or
//! JSON lines or Parquet, packed with gzip or zstd or not. `input.rs` tells them apart by their content.

mod batch;
mod common_crawl;
mod document;
mod file_kind;
mod input;
mod lines;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod progress;
mod sources;

use std::cell::Cell;
use std::cmp::Ordering;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use indicatif::ProgressBar;
use serde_json::Value;

pub(super) use batch::next_batch;
use common_crawl::{Address, of_one_crawl};
pub(super) use common_crawl::{Crawls, hosts_of, is_common_crawl, named_hosts};
use document::Body;
pub(super) use document::FoundDocument;
use file_kind::{is_html, other_format};
use input::Input;
pub(super) use lines::FieldName;
use lines::{Fields, Line, Lines};
pub(super) use progress::{byte_bar, counter};
pub(super) use sources::{SourceError, size_of};
use sources::{files_below, may_hold_many, objects_below};

use dehusk_crawl::feed_entries::{FeedEntry, feed_entries, is_feed};
use dehusk_files::media_type::is_html as looks_like_html;
use dehusk_files::warc::WarcError;
use dehusk_files::warc::{Archived, Document, NoDocument, records};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;

/// How documents are read.
pub(super) struct Reading<'a> {
    /// Whether pages are read as plain text.
    pub(super) as_text: bool,
    /// Whether any file of text is a page: a fragment may begin with plain words. Texts of archives and of JSON lines
    /// are not.
    pub(super) all_pages: bool,
    /// Whether a feed is read as its entries, each a text. Otherwise it is one text.
    pub(super) entries: bool,
    /// Field of a JSON line with the known group of a document. The group of a file is its folder within the source.
    pub(super) gold: Option<&'a str>,
    /// Maximum bytes of a document.
    pub(super) max_bytes: usize,
    /// Number of files in folders that are neither text nor pages.
    pub(super) skipped: Cell<usize>,
    /// Number of documents that could not be read.
    pub(super) failed: Cell<usize>,
    /// Fields of JSON lines and of rows that are passed through.
    pub(super) pass: &'a [String],
    /// Those that documents are read from, in place of the usual ones.
    pub(super) named: &'a [FieldName],
    /// Whether records of archives that give no page are told of, too.
    pub(super) tells_left_out: bool,
    /// Whether of a host of Common Crawl only the pages are read that its template is learned from.
    pub(super) sampled: bool,
    /// Crawls of Common Crawl that were opened.
    pub(super) crawls: Crawls<'a>,
    /// Shows how many bytes of the sources were read.
    pub(super) bar: ProgressBar,
}

type Documents<'a> = Box<dyn Iterator<Item = anyhow::Result<FoundDocument>> + 'a>;

/// Maximum number of failures logged one by one.
const MOST_SHOWN: usize = 20;

impl<'r> Reading<'r> {
    pub(super) fn new(settings: &'r Settings) -> Reading<'r> {
        Reading {
            as_text: false,
            all_pages: false,
            entries: false,
            gold: None,
            // Positions in a text are 32 bits wide.
            max_bytes: settings.core.parse.max_bytes.min(u32::MAX as usize),
            skipped: Cell::new(0),
            failed: Cell::new(0),
            pass: &[],
            named: &[],
            tells_left_out: false,
            sampled: false,
            crawls: Crawls::new(settings),
            bar: ProgressBar::hidden(),
        }
    }

    fn fields(&self) -> Fields<'_> {
        Fields { named: self.named, pass: self.pass }
    }

    /// The documents of a batch that could be read. Failures are logged and counted.
    pub(super) fn readable(&self, batch: Vec<anyhow::Result<FoundDocument>>) -> Vec<FoundDocument> {
        let mut readable = Vec::with_capacity(batch.len());
        for found in batch {
            match found {
                Ok(found) => readable.push(found),
                Err(e) => {
                    self.failed.set(self.failed.get() + 1);
                    match self.failed.get().cmp(&(MOST_SHOWN + 1)) {
                        Ordering::Less => tracing::error!("{e:#}"),
                        Ordering::Equal => tracing::error!("further failures are counted only"),
                        Ordering::Greater => {}
                    }
                }
            }
        }
        readable
    }

    /// Logs how many files were skipped or failed.
    pub(super) fn warn_of_skipped(&self) {
        let (skipped, failed) = (self.skipped.get(), self.failed.get());
        if skipped > 0 {
            tracing::warn!("{skipped} files are neither pages nor text and were skipped");
        }
        if failed > MOST_SHOWN {
            tracing::error!("{failed} documents could not be read");
        }
    }

    /// The documents of these sources in order, each read on demand.
    pub(super) fn all<'a>(
        &'a self,
        sources: &'a [PathBuf],
    ) -> impl Iterator<Item = anyhow::Result<FoundDocument>> + 'a {
        // Hosts that are sampled are looked up together.
        let together = |one: &PathBuf, other: &PathBuf| self.sampled && of_one_crawl(one, other);
        sources.chunk_by(together).flat_map(move |sources| self.of_sources(sources))
    }

    fn of_sources<'a>(&'a self, sources: &'a [PathBuf]) -> Documents<'a> {
        let source = sources[0].as_path();
        if let Some(address) = Address::parse(source) {
            return match address.host {
                Some(_) if self.sampled => self.of_sampled_hosts(sources),
                _ => self.of_crawl(&address).unwrap_or_else(unreadable),
            };
        }
        match objects_below(source) {
            None => self.of_source(source).unwrap_or_else(unreadable),
            Some(Err(e)) => unreadable(e),
            Some(Ok(below)) => {
                Box::new(below.into_iter().flat_map(move |source| self.of_source(&source).unwrap_or_else(unreadable)))
            }
        }
    }

    fn of_source(&self, source: &Path) -> anyhow::Result<Documents<'_>> {
        if source.is_dir() {
            return self.of_folder(source.to_owned());
        }
        let place: Arc<str> = if source.as_os_str() == "-" || source.starts_with("/dev/fd") {
            "standard input".into()
        } else {
            source.display().to_string().into()
        };
        let here = || place.to_string();
        match input::open(source, self.fields(), &self.bar).with_context(here)? {
            Input::Warc(reader) => {
                let found = self.of_archive(reader, here());
                Ok(Box::new(
                    found.map(move |found| {
                        found.map(|found| FoundDocument { source: Some(Arc::clone(&place)), ..found })
                    }),
                ))
            }
            Input::Lines(reader) => {
                let lines = Lines::new(reader, self.max_bytes);
                Ok(Box::new(lines.map(move |(at, line)| {
                    let here = || format!("{place}, line {at}");
                    let line = Line::parse(&line.with_context(here)?, self.fields()).with_context(here)?;
                    let found = self.of_line(line, || format!("line {at}")).with_context(here)?;
                    Ok(FoundDocument { source: Some(Arc::clone(&place)), ..found })
                })))
            }
            Input::Table(file) => self.of_table(file, place),
            Input::Document(reader) => {
                let mut bytes = Vec::new();
                reader.take(self.max_bytes as u64 + 1).read_to_end(&mut bytes).with_context(here)?;
                let found = self
                    .of_bytes(bytes, source)
                    .map_err(|what| anyhow!("is not HTML {what}").context(place.to_string()));
                let found = match found {
                    Ok(found) => FoundDocument { name: place.to_string(), ..found },
                    Err(error) => return Ok(Box::new(std::iter::once(Err(error)))),
                };
                let gold = self.gold.map(|_| found.name.clone());
                Ok(Box::new(self.entries_of(FoundDocument { gold, source: Some(place), ..found }).into_iter().map(Ok)))
            }
        }
    }

    /// The pages of an archive, or the texts of one that holds texts. One without either is an error.
    fn of_archive(&self, reader: dehusk_files::warc::Reader, place: String) -> Documents<'_> {
        let mut has_any = false;
        let mut found = records(reader, self.max_bytes);
        Box::new(std::iter::from_fn(move || match found.find(|record| self.tells_left_out || !is_left_out(record)) {
            Some(record) => {
                has_any = true;
                Some(record.map(|record| self.of_archived(record)).map_err(named))
            }
            None if has_any => None,
            None => {
                has_any = true;
                let what = anyhow!("an archive without a page: no record is an HTML response or a text");
                Some(Err(what.context(place.clone())))
            }
        }))
    }

    fn of_archived(&self, record: Result<Document, NoDocument>) -> FoundDocument {
        let Document { url, content_type, body, is_text, rights, mut archived } = match record {
            Ok(document) => document,
            Err(NoDocument { name, why }) => {
                return FoundDocument { name, left_out: Some(why), is_one_of_many: true, ..FoundDocument::default() };
            }
        };
        if body.len() >= self.max_bytes {
            archived.truncated.get_or_insert_with(|| CUT.to_owned());
        }
        FoundDocument {
            name: url.to_string(),
            is_page: !is_text && !self.as_text,
            gold: self.gold.map(|_| url.authority()),
            url: Some(url),
            rights,
            archived,
            is_one_of_many: true,
            body: Body::Bytes(body, content_type),
            ..FoundDocument::default()
        }
    }

    fn of_folder(&self, source: PathBuf) -> anyhow::Result<Documents<'_>> {
        let mut files = Vec::new();
        files_below(&source, &mut files).with_context(|| source.display().to_string())?;
        files.sort_unstable();
        let holds_many = move |file: &Path| {
            let is_asked = self.all_pages && may_hold_many(file);
            let input = is_asked.then(|| input::open(file, self.fields(), &ProgressBar::hidden()));
            matches!(input, Some(Ok(Input::Warc(_) | Input::Lines(_) | Input::Table(_))))
        };
        let failed = |e| Box::new(std::iter::once(Err(e))) as Documents<'_>;
        Ok(Box::new(files.into_iter().flat_map(move |file| {
            if holds_many(&file) {
                self.of_source(&file).unwrap_or_else(failed)
            } else {
                Box::new(self.of_folder_file(&file, &source).into_iter())
            }
        })))
    }

    /// The documents of a file of a folder.
    fn of_folder_file(&self, file: &Path, source: &Path) -> Vec<anyhow::Result<FoundDocument>> {
        match self.of_file(file, source) {
            Ok(None) => {
                self.skipped.set(self.skipped.get() + 1);
                Vec::new()
            }
            Ok(Some(found)) => self.entries_of(found).into_iter().map(Ok).collect(),
            Err(e) => vec![Err(e)],
        }
    }

    /// The entries of a feed, if they are asked for; a document otherwise.
    fn entries_of(&self, found: FoundDocument) -> Vec<FoundDocument> {
        let (bytes, _) = found.bytes();
        if !self.entries || self.as_text || !is_feed(bytes) {
            return vec![found];
        }
        let entry = |(number, entry): (usize, FeedEntry)| FoundDocument {
            name: format!("{}#{}", found.name, if entry.id.is_empty() { (number + 1).to_string() } else { entry.id }),
            is_one_of_many: true,
            body: Body::Text(entry.text),
            gold: found.gold.clone(),
            source: found.source.clone(),
            ..FoundDocument::default()
        };
        feed_entries(bytes).into_iter().enumerate().map(entry).collect()
    }

    /// The file, if it is text of any kind.
    fn of_file(&self, file: &Path, source: &Path) -> anyhow::Result<Option<FoundDocument>> {
        let mut bytes = Vec::new();
        let opened = std::fs::File::open(file).and_then(|f| f.take(self.max_bytes as u64 + 1).read_to_end(&mut bytes));
        opened.with_context(|| file.display().to_string())?;
        self.bar.inc(bytes.len() as u64);
        let below = file.strip_prefix(source).ok().filter(|below| below.components().count() > 1);
        let folder = below.and_then(|below| below.components().next()).map(|first| source.join(first));
        let gold = self.gold.map(|_| folder.as_deref().unwrap_or(source).display().to_string());
        Ok(self.of_bytes(bytes, file).ok().map(|found| {
            let name = Some(found.name.as_str().into());
            FoundDocument { gold, is_one_of_many: true, source: name, ..found }
        }))
    }

    /// A page or a text; otherwise, what it is instead.
    fn of_bytes(&self, mut bytes: Vec<u8>, name: &Path) -> Result<FoundDocument, String> {
        let mut archived = Archived::default();
        if bytes.len() > self.max_bytes {
            archived.truncated = Some(CUT.to_owned());
            bytes.truncate(self.max_bytes);
            tracing::warn!("{}: truncated at page.max_bytes ({})", name.display(), self.max_bytes);
        }
        let head = &bytes[..bytes.len().min(1024)];
        let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        looks_like_html(Some("text/html"), head).map_err(|found| format!("but {found}"))?;
        if head.contains(&0) && !is_wide {
            return Err("or text: it contains NUL bytes".to_owned());
        }
        if let Some(other) = other_format(name, &bytes) {
            return Err(other.to_owned());
        }
        let is_page = !self.as_text && (self.all_pages || is_html(name, head));
        let body = Body::Bytes(bytes, None);
        let name = name.display().to_string();
        Ok(FoundDocument { name, is_page, body, archived, ..FoundDocument::default() })
    }

    #[cfg(feature = "parquet")]
    fn of_table(&self, file: std::fs::File, place: Arc<str>) -> anyhow::Result<Documents<'_>> {
        let asked: Vec<String> = self.pass.iter().cloned().chain(self.gold.map(str::to_owned)).collect();
        let asked = Fields { pass: &asked, ..self.fields() };
        let rows = parquet_rows::ParquetRows::open(file, asked).with_context(|| place.to_string())?;
        Ok(Box::new(rows.enumerate().map(move |(at, fields)| {
            let here = || format!("{place}, row {}", at + 1);
            let line = Line::of_fields(fields.with_context(here)?, self.fields()).with_context(here)?;
            let found = self.of_line(line, || format!("row {}", at + 1)).with_context(here)?;
            self.bar.inc(found.n_bytes() as u64);
            Ok(FoundDocument { source: Some(Arc::clone(&place)), ..found })
        })))
    }

    #[cfg(not(feature = "parquet"))]
    fn of_table(&self, _: std::fs::File, place: Arc<str>) -> anyhow::Result<Documents<'_>> {
        Err(anyhow!("a Parquet file, which this program cannot read: it was built without the feature parquet"))
            .with_context(|| place.to_string())
    }

    /// The document of a line. `default` names it where nothing else does.
    fn of_line(&self, line: Line, default: impl Fn() -> String) -> anyhow::Result<FoundDocument> {
        let Line { name, url, content, input, rest: line } = line;
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(default);
        let url = url.and_then(|url| PageUrl::parse(&url).ok());
        let (text, is_page) = match content {
            Ok(html) => (html, !self.as_text),
            Err(text) => (text, false),
        };
        let gold = match self.gold {
            Some(field) => match line.get(field) {
                Some(Value::String(gold)) => Some(gold.clone()),
                Some(gold) => Some(gold.to_string()),
                None => {
                    let fields: Vec<&str> = line.keys().map(String::as_str).collect();
                    return Err(anyhow!("no field {field}; there are: {}", fields.join(", ")));
                }
            },
            None => None,
        };
        let body = Body::Text(text);
        Ok(FoundDocument { name, is_page, url, is_one_of_many: true, input, body, gold, ..FoundDocument::default() })
    }
}

/// What the column `truncated` says of a page that was cut off when it was read.
const CUT: &str = "page.max_bytes";

/// An error of an archive whose first message names what it is about.
fn named(error: WarcError) -> anyhow::Error {
    match error {
        WarcError::Body { url, reason } => {
            anyhow::Error::from(reason).context("its body cannot be decoded").context(url)
        }
        error => error.into(),
    }
}

/// A source that cannot be opened or listed.
fn unreadable<'a>(error: anyhow::Error) -> Documents<'a> {
    Box::new(std::iter::once(Err(SourceError(error).into())))
}

fn is_left_out<E>(record: &Result<Result<Document, NoDocument>, E>) -> bool {
    matches!(record, Ok(Err(_)))
}
