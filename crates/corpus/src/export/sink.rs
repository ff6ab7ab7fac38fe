//! Where rows go: one file of a form.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use dehusk_core::corpus::{ColumnValue as Value, Record};
use dehusk_files::warc::{Record as WarcRecord, RecordKind};

/// The page that a row was made of, where a form needs it.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Vec<u8>,
}

/// A file that takes rows.
pub(super) trait Sink {
    /// Adds a row.
    fn push(&mut self, record: &Record, raw: &Raw) -> io::Result<()>;
    /// Bytes taken so far, before compression. The same rows give the same number.
    fn size(&self) -> u64;
    /// Completes the file on the disk.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// JSON lines, packed with zstd.
pub(super) struct Jsonl {
    out: zstd::Encoder<'static, BufWriter<File>>,
    size: u64,
}

impl Jsonl {
    pub(super) fn create(path: &Path) -> io::Result<Jsonl> {
        Ok(Jsonl { out: zstd::Encoder::new(BufWriter::new(File::create(path)?), 6)?, size: 0 })
    }
}

impl Sink for Jsonl {
    fn push(&mut self, record: &Record, _: &Raw) -> io::Result<()> {
        let line = record.to_json();
        self.size += line.len() as u64 + 1;
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        sync(self.out.finish()?)
    }
}

pub(super) fn sync(out: BufWriter<File>) -> io::Result<()> {
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// WARC files: pages as fetched (`resource` records), or their text (`conversion` records, WET).
pub(super) struct Warc {
    out: BufWriter<File>,
    size: u64,
    as_text: bool,
}

impl Warc {
    pub(super) fn create(path: &Path, as_text: bool) -> io::Result<Warc> {
        let mut warc = Warc { out: BufWriter::new(File::create(path)?), size: 0, as_text };
        warc.out.write_all(&warcinfo("dehusk export").pack()?)?;
        Ok(warc)
    }
}

impl Sink for Warc {
    fn push(&mut self, record: &Record, raw: &Raw) -> io::Result<()> {
        let warc = warc_of(record, raw, self.as_text);
        self.size += warc.block.len() as u64 + 400;
        self.out.write_all(&warc.pack()?)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        sync(self.out)
    }
}

/// The record that begins a file. Its id depends on the name only.
pub(super) fn warcinfo(name: &str) -> WarcRecord {
    let about = format!("software: dehusk/{}\r\nformat: WARC File Format 1.1\r\n", env!("CARGO_PKG_VERSION"));
    WarcRecord::new(RecordKind::Warcinfo, "", 0, "application/warc-fields", about.into_bytes())
        .with_id_of(name.as_bytes())
}

/// When the page was fetched, in Unix milliseconds.
pub(super) fn fetched_at(record: &Record) -> i64 {
    if let Some(Value::Time(Some(at))) = record.get("fetched_at") { *at } else { 0 }
}

/// A page as fetched, or its text.
pub(super) fn warc_of(record: &Record, raw: &Raw, as_text: bool) -> WarcRecord {
    let (uri, at) = (record.text("url").unwrap_or_default(), fetched_at(record));
    let (kind, content_type, block) = if as_text {
        let text = record.text("text").unwrap_or_default().as_bytes().to_vec();
        (RecordKind::Conversion, "text/plain".to_owned(), text)
    } else {
        let content_type = raw.content_type.clone().unwrap_or_else(|| "text/html".to_owned());
        (RecordKind::Resource, content_type.replace(['\r', '\n'], " "), raw.body.clone())
    };
    let id = format!("{} {uri} {at}", kind.name());
    let mut warc = WarcRecord::new(kind, uri, at, "", block).with_id_of(id.as_bytes());
    warc.content_type = content_type.into();
    for (name, column) in [("WARC-Identified-Content-Language", "language"), ("X-Dehusk-Step", "step")] {
        if let Some(value) = record.text(column) {
            warc = warc.with(name, value);
        }
    }
    warc
}
