//! WACZ 1.1.1 files: a ZIP of the pages as WARC records, their CDXJ index, a list of pages with their text, and a
//! description with checksums (<https://specs.webrecorder.net/wacz/1.1.1/>). ReplayWeb.page and pywb open them.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use dehusk_core::calendar::iso_8601;
use dehusk_core::corpus::Record;
use dehusk_files::media_type::essence;
use dehusk_files::warc::{Entry, payload_digest};
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::manifest::hexadecimal;
use super::sink::{Raw, Sink, fetched_at, warc_of, warcinfo};

/// The WARC file within `archive/`, as the index names it.
const ARCHIVE: &str = "data.warc.gz";

/// A WACZ file. Its archive grows in a file without a name, and is copied when all pages are there.
pub(super) struct Wacz {
    path: PathBuf,
    archive: BufWriter<File>,
    /// Bytes of the archive.
    at: u64,
    index: Vec<String>,
    pages: String,
    /// Time of the newest page, so that the same pages give the same file.
    newest: i64,
    /// Bytes of pages.
    size: u64,
}

impl Wacz {
    pub(super) fn create(path: &Path) -> io::Result<Wacz> {
        let mut archive = BufWriter::new(tempfile::tempfile_in(path.parent().unwrap_or(Path::new(".")))?);
        let head = warcinfo("dehusk export").pack()?;
        archive.write_all(&head)?;
        let pages = json!({ "format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": true });
        let (pages, at) = (format!("{pages}\n"), head.len() as u64);
        Ok(Wacz { path: path.to_owned(), archive, at, index: Vec::new(), pages, newest: 0, size: 0 })
    }
}

impl Sink for Wacz {
    fn push(&mut self, record: &Record, raw: &Raw) -> io::Result<()> {
        let (warc, at) = (warc_of(record, raw, false), fetched_at(record));
        let digest = payload_digest(&raw.body);
        let entry = Entry::pack(&warc, Some((200, &essence(Some(&warc.content_type)), &digest)))?;
        self.archive.write_all(entry.bytes())?;
        self.index.extend(entry.index_line(self.at, ARCHIVE));
        self.at += entry.bytes().len() as u64;
        let [url, title, text] = ["url", "title", "text"].map(|column| record.text(column).unwrap_or_default());
        let page = json!({ "id": warc.id, "url": url, "ts": iso_8601(at), "title": title, "text": text });
        self.pages += &format!("{page}\n");
        self.newest = self.newest.max(at);
        self.size += (raw.body.len() + text.len()) as u64 + 400;
        Ok(())
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let mut archive = self.archive.into_inner().map_err(io::IntoInnerError::into_error)?;
        archive.rewind()?;
        self.index.sort_unstable();
        let at = UtcDateTime::from_unix(self.newest / 1000);
        let mut zip = ZipArchiveWriter::new(BufWriter::new(File::create(&self.path)?));
        let resources = [
            add(&mut zip, at, &format!("archive/{ARCHIVE}"), archive)?,
            add(&mut zip, at, "indexes/index.cdxj", self.index.concat().as_bytes())?,
            add(&mut zip, at, "pages/pages.jsonl", self.pages.as_bytes())?,
        ];
        let about = json!({
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "created": iso_8601(self.newest),
            "software": format!("dehusk/{}", env!("CARGO_PKG_VERSION")),
            "resources": resources,
        });
        let about = add(&mut zip, at, "datapackage.json", format!("{about:#}\n").as_bytes())?;
        let digest = json!({ "path": about["path"], "hash": about["hash"] });
        add(&mut zip, at, "datapackage-digest.json", format!("{digest:#}\n").as_bytes())?;
        zip.finish().map_err(io::Error::other)?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// Adds a file to the ZIP, and describes it. It is not packed: records are, and readers take ranges of them.
fn add(zip: &mut ZipArchiveWriter<impl Write>, at: UtcDateTime, path: &str, mut from: impl Read) -> io::Result<Value> {
    let file = zip.new_file(path).compression_method(CompressionMethod::STORE).last_modified(at);
    let (mut entry, config) = file.start().map_err(io::Error::other)?;
    let mut out = Hashing { out: config.wrap(&mut entry), hash: Sha256::new(), bytes: 0 };
    io::copy(&mut from, &mut out)?;
    let Hashing { out, hash, bytes } = out;
    let (_, end) = out.finish().map_err(io::Error::other)?;
    entry.finish(end).map_err(io::Error::other)?;
    let (name, hash) = (path.rsplit('/').next(), format!("sha256:{}", hexadecimal(&hash.finalize())));
    Ok(json!({ "name": name, "path": path, "hash": hash, "bytes": bytes }))
}

/// Counts and hashes what it passes on.
struct Hashing<W> {
    out: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hash.update(&bytes[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
