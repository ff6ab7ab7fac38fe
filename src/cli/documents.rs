//! Reads documents from folders, files, WARC files and JSON lines, for commands that take mixed collections.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::warc::{is_warc, undamaged_pages};
use dehusk_core::internals::dom::ParseOptions;
use dehusk_core::internals::dom::{Tree, decode, parse, parse_bytes};

/// A document as it was read.
pub(super) struct Found {
    /// File, URL, or `id` of a JSON line.
    pub(super) name: String,
    pub(super) is_page: bool,
    body: Body,
    /// Its known group, if there is one.
    pub(super) gold: Option<String>,
}

enum Body {
    Bytes(Vec<u8>, Option<String>),
    Text(String),
}

impl Found {
    /// The page's tree.
    pub(super) fn tree(&self, limits: &ParseOptions) -> Tree {
        match &self.body {
            Body::Bytes(bytes, content_type) => parse_bytes(bytes, content_type.as_deref(), limits).0,
            Body::Text(text) => parse(text, limits),
        }
    }

    /// Its decoded text, including any HTML markup.
    pub(super) fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.body {
            Body::Bytes(bytes, content_type) => decode(bytes, content_type.as_deref()).0,
            Body::Text(text) => text.as_str().into(),
        }
    }
}

/// How documents are read.
pub(super) struct Reading<'a> {
    /// Whether pages are read as plain text.
    pub(super) as_text: bool,
    /// Field of a JSON line with the known group of a document. The group of a file is its folder within the source.
    pub(super) gold: Option<&'a str>,
    /// Maximum bytes of a document.
    pub(super) max_bytes: usize,
    /// Number of files in folders that are neither text nor pages.
    pub(super) skipped: Cell<usize>,
    /// Number of documents that could not be read.
    pub(super) failed: Cell<usize>,
}

type Documents<'a> = Box<dyn Iterator<Item = anyhow::Result<Found>> + 'a>;

/// Maximum number of failures logged one by one.
const MOST_SHOWN: usize = 20;

impl<'r> Reading<'r> {
    pub(super) fn new(as_text: bool, gold: Option<&'r str>, max_bytes: usize) -> Reading<'r> {
        // Positions in a text are 32 bits wide.
        let max_bytes = max_bytes.min(u32::MAX as usize);
        Reading { as_text, gold, max_bytes, skipped: Cell::new(0), failed: Cell::new(0) }
    }

    /// The documents of a batch that could be read. Failures are logged and counted.
    pub(super) fn readable(&self, batch: Vec<anyhow::Result<Found>>) -> Vec<Found> {
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
    pub(super) fn all<'a>(&'a self, sources: &'a [PathBuf]) -> impl Iterator<Item = anyhow::Result<Found>> + 'a {
        sources.iter().flat_map(|source| self.of(source).unwrap_or_else(|e| Box::new(std::iter::once(Err(e)))))
    }

    fn of<'a>(&'a self, source: &'a Path) -> anyhow::Result<Documents<'a>> {
        if is_warc(source) {
            let found = undamaged_pages(source, self.max_bytes)?.map(|page| {
                let page = page?;
                let gold = self.gold.map(|_| page.url.authority());
                let body = Body::Bytes(page.body, page.content_type);
                Ok(Found { name: page.url.to_string(), is_page: !self.as_text, body, gold })
            });
            return Ok(Box::new(found));
        }
        if source.as_os_str() == "-" {
            let mut bytes = Vec::new();
            std::io::stdin().take(self.max_bytes as u64 + 1).read_to_end(&mut bytes).context("standard input")?;
            let found = self.of_bytes(bytes, Path::new("-")).context("standard input: is not text")?;
            let gold = self.gold.map(|_| found.name.clone());
            return Ok(Box::new(std::iter::once(Ok(Found { gold, ..found }))));
        }
        if let Some(file) = open_lines(source).with_context(|| source.display().to_string())? {
            let lines = Lines { reader: BufReader::new(file), most: self.max_bytes, n: 0, is_over: false };
            return Ok(Box::new(lines.map(|(at, line)| {
                let place = || format!("{}, line {at}", source.display());
                self.of_line(&line.with_context(place)?, at).with_context(place)
            })));
        }
        let mut files = Vec::new();
        files_below(source, &mut files).with_context(|| source.display().to_string())?;
        files.sort_unstable();
        let is_folder = source.is_dir();
        Ok(Box::new(files.into_iter().filter_map(move |file| match self.of_file(&file, source) {
            Ok(None) if is_folder => {
                self.skipped.set(self.skipped.get() + 1);
                None
            }
            Ok(None) => Some(Err(anyhow!("{}: contains NUL bytes, so it is neither a page nor text", file.display()))),
            Ok(Some(found)) => Some(Ok(found)),
            Err(e) => Some(Err(e)),
        })))
    }

    /// The file, if it is text of any kind.
    fn of_file(&self, file: &Path, source: &Path) -> anyhow::Result<Option<Found>> {
        let mut bytes = Vec::new();
        let opened = File::open(file).and_then(|f| f.take(self.max_bytes as u64 + 1).read_to_end(&mut bytes));
        opened.with_context(|| file.display().to_string())?;
        let below = file.strip_prefix(source).ok().filter(|below| below.components().count() > 1);
        let folder = below.and_then(|below| below.components().next()).map(|first| source.join(first));
        let gold = self.gold.map(|_| folder.as_deref().unwrap_or(source).display().to_string());
        Ok(self.of_bytes(bytes, file).map(|found| Found { gold, ..found }))
    }

    fn of_bytes(&self, mut bytes: Vec<u8>, name: &Path) -> Option<Found> {
        if bytes.len() > self.max_bytes {
            bytes.truncate(self.max_bytes);
            tracing::warn!("{}: truncated at page.max_bytes ({})", name.display(), self.max_bytes);
        }
        let head = &bytes[..bytes.len().min(1024)];
        let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        if head.contains(&0) && !is_wide {
            return None;
        }
        let is_page = !self.as_text && is_html(name, head);
        Some(Found { name: name.display().to_string(), is_page, body: Body::Bytes(bytes, None), gold: None })
    }

    fn of_line(&self, line: &str, at: usize) -> anyhow::Result<Found> {
        let Value::Object(mut line) = serde_json::from_str(line)? else {
            return Err(anyhow!("expected an object such as {{\"id\": ..., \"html\": ...}}"));
        };
        let mut take = |names: &[&str]| {
            let name = names.iter().find(|name| line.get(**name).is_some_and(Value::is_string))?;
            match line.remove(*name) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            }
        };
        let name = take(&["id", "url", "name"]).unwrap_or_else(|| format!("line {at}"));
        let (text, is_page) = match take(&["html"]) {
            Some(html) => (html, !self.as_text),
            None => (take(&["text", "content", "body"]).context("no field html or text")?, false),
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
        Ok(Found { name, is_page, body: Body::Text(text), gold })
    }
}

fn is_html(file: &Path, head: &[u8]) -> bool {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "html" | "htm" | "xhtml" | "shtml" | "php" | "asp" | "aspx" | "jsp" => true,
        "txt" | "text" | "md" | "eml" | "mbox" | "log" | "srt" | "vtt" => false,
        _ => {
            let head = String::from_utf8_lossy(head).to_ascii_lowercase();
            head.trim_start().starts_with('<')
                && ["<html", "<!doctype html", "<body", "<head"].iter().any(|tag| head.contains(tag))
        }
    }
}

/// Opens JSON lines, compressed or not; `None` for other file names.
fn open_lines(source: &Path) -> std::io::Result<Option<Box<dyn Read>>> {
    let name = source.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (bare, packing) = match name.rsplit_once('.') {
        Some((bare, "gz")) => (bare, "gz"),
        Some((bare, "zst")) => (bare, "zst"),
        _ => (name.as_str(), ""),
    };
    if !(bare.ends_with(".jsonl") || bare.ends_with(".ndjson")) {
        return Ok(None);
    }
    let file = File::open(source)?;
    Ok(Some(match packing {
        "gz" => Box::new(flate2::read::MultiGzDecoder::new(file)),
        "zst" => Box::new(zstd::stream::read::Decoder::new(file)?),
        _ => Box::new(file),
    }))
}

/// Non-blank lines with their numbers, from 1. A line that is not UTF-8 is an error of its own. A line that is too long
/// and a read error end the iteration.
struct Lines<R> {
    reader: R,
    most: usize,
    n: usize,
    is_over: bool,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = (usize, anyhow::Result<String>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            self.n += 1;
            let mut line = Vec::new();
            // JSON escapes can make HTML six times as long.
            let most = 6 * self.most as u64 + 65_536;
            let outcome = (&mut self.reader).take(most).read_until(b'\n', &mut line).map_err(anyhow::Error::from);
            let outcome = outcome.and_then(|n| match n as u64 == most && !line.ends_with(b"\n") {
                true => Err(anyhow!("is longer than page.max_bytes allows; the rest of the file is skipped")),
                false => Ok(n),
            });
            match outcome {
                Ok(0) => self.is_over = true,
                Ok(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(_) => return Some((self.n, String::from_utf8(line).context("is not UTF-8"))),
                Err(e) => {
                    self.is_over = true;
                    return Some((self.n, Err(e)));
                }
            }
        }
        None
    }
}

/// Files at any depth. Symbolic links are not followed, to avoid cycles.
fn files_below(path: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut open = vec![path.to_owned()];
    if !path.is_dir() {
        std::fs::metadata(path)?;
        found.push(path.to_owned());
        return Ok(());
    }
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The next documents to be processed in parallel, with bounded memory. `None` at the end.
pub(super) fn next_batch(
    documents: &mut impl Iterator<Item = anyhow::Result<Found>>,
) -> Option<Vec<anyhow::Result<Found>>> {
    const MOST: usize = 256;
    const MOST_BYTES: usize = 16 << 20;
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < MOST && bytes < MOST_BYTES {
        let Some(found) = documents.next() else { break };
        bytes += found.as_ref().map_or(0, |found| match &found.body {
            Body::Bytes(bytes, _) => bytes.len(),
            Body::Text(text) => text.len(),
        });
        batch.push(found);
    }
    (!batch.is_empty()).then_some(batch)
}

/// A progress line that counts documents while they are read.
pub(super) fn counter(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{spinner} {pos} documents  {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message(what);
    bar
}
