//! Documents for commands that take any pile of them: folders, files, WARC, JSON lines.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::dom::{Tree, decode, parse, parse_bytes};
use crate::settings::PageLimits;
use crate::warc::{is_warc, pages};

/// A document as it was found.
pub(super) struct Found {
    /// File, URL, or `id` of a JSON line.
    pub(super) name: String,
    pub(super) is_page: bool,
    body: Body,
    /// What it is to be grouped as, where that is known.
    pub(super) gold: Option<String>,
}

enum Body {
    Bytes(Vec<u8>, Option<String>),
    Text(String),
}

impl Found {
    /// The page's tree.
    pub(super) fn tree(&self, limits: &PageLimits) -> Tree {
        match &self.body {
            Body::Bytes(bytes, content_type) => parse_bytes(bytes, content_type.as_deref(), limits).0,
            Body::Text(text) => parse(text, limits),
        }
    }

    /// Its text as it stands, HTML and all.
    pub(super) fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.body {
            Body::Bytes(bytes, content_type) => decode(bytes, content_type.as_deref()).0,
            Body::Text(text) => text.as_str().into(),
        }
    }
}

/// How documents are read.
pub(super) struct Reading<'a> {
    /// Are pages taken for plain text?
    pub(super) as_text: bool,
    /// Field of a JSON line that holds what it is to be grouped as; of files it is the folder of the source that
    /// they are in.
    pub(super) gold: Option<&'a str>,
    /// Bytes of a document.
    pub(super) max_bytes: usize,
}

type Documents<'a> = Box<dyn Iterator<Item = anyhow::Result<Found>> + 'a>;

impl Reading<'_> {
    /// The documents of these sources, one after the other; each is read when it is asked for.
    pub(super) fn all<'a>(&'a self, sources: &'a [PathBuf]) -> impl Iterator<Item = anyhow::Result<Found>> + 'a {
        sources.iter().flat_map(|source| self.of(source).unwrap_or_else(|e| Box::new(std::iter::once(Err(e)))))
    }

    fn of<'a>(&'a self, source: &'a Path) -> anyhow::Result<Documents<'a>> {
        if is_warc(source) {
            let found = pages(source, self.max_bytes)?.map(|page| {
                let page = page?;
                let gold = self.gold.map(|_| page.url.authority());
                let body = Body::Bytes(page.body, page.content_type);
                Ok(Found { name: page.url.to_string(), is_page: !self.as_text, body, gold })
            });
            return Ok(Box::new(found));
        }
        if source.extension().is_some_and(|e| e == "jsonl" || e == "ndjson") {
            let file = File::open(source).with_context(|| source.display().to_string())?;
            let lines = BufReader::new(file).lines().enumerate();
            let found = lines.filter(|(_, line)| line.as_ref().map_or(true, |line| !line.trim().is_empty()));
            return Ok(Box::new(found.map(|(at, line)| {
                let place = || format!("{}, line {}", source.display(), at + 1);
                self.of_line(&line.with_context(place)?, at).with_context(place)
            })));
        }
        let mut files = Vec::new();
        files_below(source, &mut files).with_context(|| source.display().to_string())?;
        files.sort_unstable();
        Ok(Box::new(files.into_iter().filter_map(move |file| self.of_file(&file, source).transpose())))
    }

    /// The file, when it is text of any kind.
    fn of_file(&self, file: &Path, source: &Path) -> anyhow::Result<Option<Found>> {
        use std::io::Read;
        let mut bytes = Vec::new();
        let opened = File::open(file).and_then(|f| f.take(self.max_bytes as u64).read_to_end(&mut bytes));
        opened.with_context(|| file.display().to_string())?;
        let head = &bytes[..bytes.len().min(1024)];
        if head.contains(&0) {
            return Ok(None);
        }
        let below = file.strip_prefix(source).ok().filter(|below| below.components().count() > 1);
        let folder = below.and_then(|below| below.components().next()).map(|first| source.join(first));
        let gold = self.gold.map(|_| folder.as_deref().unwrap_or(source).display().to_string());
        let is_page = !self.as_text && is_html(file, head);
        Ok(Some(Found { name: file.display().to_string(), is_page, body: Body::Bytes(bytes, None), gold }))
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
        let name = take(&["id", "url", "name"]).unwrap_or_else(|| format!("line {}", at + 1));
        let (text, is_page) = match take(&["html"]) {
            Some(html) => (html, !self.as_text),
            None => (take(&["text", "content", "body"]).context("no field html or text")?, false),
        };
        let gold = match self.gold {
            Some(field) => match line.get(field) {
                Some(Value::String(gold)) => Some(gold.clone()),
                Some(gold) => Some(gold.to_string()),
                None => return Err(anyhow!("no field {field}")),
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

/// Files at any depth; links are not followed, so that there is no circle.
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

/// The next documents to be worked on side by side: as many as memory has room for. `None` at the end.
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

/// A line that counts documents while they are read.
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
