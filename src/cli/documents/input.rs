//! Opens a source and finds out from its first bytes what it is, so that names do not matter.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use indicatif::ProgressBar;
use serde_json::Value;

use super::lines::Fields;
use dehusk_files::unpacked::{GZIP, Stream, ZSTD, open_packed, peek, unpack};
use dehusk_files::warc::Reader;

/// What a source holds.
pub(super) enum Input {
    /// A web archive.
    Warc(Reader),
    /// A Parquet file.
    Table(File),
    /// JSON lines, unpacked.
    Lines(Box<dyn BufRead>),
    /// One document, unpacked.
    Document(Box<dyn BufRead>),
}

/// First bytes of a Parquet file.
pub(super) const PARQUET: &[u8] = b"PAR1";

/// Bytes that are looked at. A JSON line that is longer is known by its first field.
const HEAD: usize = 64 * 1024;

/// Opens a file, a pipe, or standard input (`-`), each once: a pipe can be read only once. What is read of it moves the
/// bar.
pub(super) fn open(source: &Path, fields: Fields<'_>, bar: &ProgressBar) -> io::Result<Input> {
    let (head, raw) = peek(Box::new(bar.wrap_read(open_packed(source)?)), HEAD)?;
    if head.starts_with(PARQUET) {
        return Ok(Input::Table(seekable(source, raw)?));
    }
    if !head.starts_with(GZIP) && !head.starts_with(ZSTD) {
        return of_unpacked(source, fields, head, raw);
    }
    if head.starts_with(GZIP) {
        let mut begin = [0; 5];
        let is_warc = flate2::read::GzDecoder::new(&*head).read_exact(&mut begin).is_ok() && &begin == b"WARC/";
        if is_warc {
            return Ok(Input::Warc(Reader::tolerant(source, raw)?));
        }
    }
    let (head, text) = peek(unpack(&head, raw)?, HEAD)?;
    of_unpacked(source, fields, head, text)
}

/// A file that can be read at any place: a temporary copy of what is none.
fn seekable(source: &Path, mut stream: Stream) -> io::Result<File> {
    if source.is_file() {
        return File::open(source);
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut stream, &mut copy)?;
    Ok(copy)
}

fn of_unpacked(source: &Path, fields: Fields<'_>, head: Vec<u8>, text: Stream) -> io::Result<Input> {
    if head.starts_with(b"WARC/") {
        return Ok(Input::Warc(Reader::tolerant(source, text)?));
    }
    let text = Box::new(BufReader::with_capacity(1 << 16, text));
    Ok(if is_json_lines(&head, fields) || is_named_lines(source) { Input::Lines(text) } else { Input::Document(text) })
}

/// Whether the name says what a broken first line does not.
fn is_named_lines(source: &Path) -> bool {
    let name = source.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let bare = name.trim_end_matches(".gz").trim_end_matches(".zst");
    bare.ends_with(".jsonl") || bare.ends_with(".ndjson")
}

/// Whether the first line is an object with one of the fields that a document is read from.
fn is_json_lines(head: &[u8], fields: Fields<'_>) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !head.starts_with(b"{") {
        return false;
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(line)) => fields.has_document(&line),
        Ok(_) => false,
        // Cut in the middle: its first field is known.
        Err(e) => e.is_eof() && line.len() > 2 && line[1..].trim_ascii_start().starts_with(b"\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> &'static str {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        match open(&path, Fields::default(), &ProgressBar::hidden()).unwrap() {
            Input::Warc(_) => "warc",
            Input::Lines(_) => "lines",
            Input::Table(_) => "table",
            Input::Document(mut text) => {
                let mut all = Vec::new();
                text.read_to_end(&mut all).unwrap();
                if all == b"<p>x" { "page" } else { "document" }
            }
        }
    }

    #[test]
    fn what_a_source_is_shows_in_its_content() {
        use std::io::Write;
        let gzip = |bytes: &[u8]| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(bytes).unwrap();
            packed.finish().unwrap()
        };
        let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        let long = format!("{{\"id\": \"a\", \"html\": \"{}\"}}", "x".repeat(HEAD));
        for (bytes, want) in [
            (b"<p>x".as_slice(), "page"),
            (b"WARC/1.1\r\n", "warc"),
            (b"\n {\"html\": \"<p>x\"}\n", "lines"),
            (b"{\"text\": \"x\"}", "lines"),
            (long.as_bytes(), "lines"),
            (b"{\"name\": 1}", "document"),
            (b"{ margin: 0 }", "document"),
            (b"[1]", "document"),
            (b"", "document"),
        ] {
            assert_eq!(
                [kind(bytes), kind(&gzip(bytes)), kind(&zstd(bytes))],
                [want; 3],
                "{:?}",
                &bytes[..bytes.len().min(30)]
            );
        }
    }
}
