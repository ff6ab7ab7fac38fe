//! The HTML pages of any WARC file.

use std::path::Path;

use super::http::{Response, decoded_body};
use super::{Reader, WarcError};
use dehusk_core::internals::page_url::PageUrl;

/// An HTML page of an archive.
#[derive(Clone, Debug)]
pub struct WarcPage {
    /// `WARC-Target-URI`.
    pub url: PageUrl,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Vec<u8>,
}

/// The successful HTML responses of a file, in order. At most `most` bytes of each body are decoded. A body whose
/// content coding is damaged is an error in its place. A broken record ends the iteration with an error.
pub fn pages(path: &Path, most: usize) -> Result<impl Iterator<Item = Result<WarcPage, WarcError>>, WarcError> {
    Ok(Reader::open(path)?.filter_map(move |member| {
        let member = match member {
            Ok(member) => member,
            Err(error) => return Some(Err(error)),
        };
        if member.kind() != "response" {
            return None;
        }
        // Some writers put the URI in angle brackets.
        let uri = member.header("WARC-Target-URI")?.trim_matches(['<', '>']);
        let url = PageUrl::parse(uri).ok()?;
        let Response { status, content_type, body, damage } = decoded_body(&member.block, most)?;
        let essence = content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_html = matches!(essence.to_ascii_lowercase().as_str(), "text/html" | "application/xhtml+xml");
        if !(200..300).contains(&status) || !is_html {
            return None;
        }
        if let Some(reason) = damage {
            return Some(Err(WarcError::Body { url, reason }));
        }
        (!body.is_empty()).then_some(Ok(WarcPage { url, content_type, body }))
    }))
}

/// The [`pages`] of a file without those whose body is damaged. Each of these is logged.
pub fn undamaged_pages(
    path: &Path,
    most: usize,
) -> Result<impl Iterator<Item = Result<WarcPage, WarcError>>, WarcError> {
    Ok(pages(path, most)?.filter(|page| {
        let damage = page.as_ref().err().filter(|error| matches!(error, WarcError::Body { .. }));
        if let Some(error) = damage {
            tracing::warn!("left out: {error}");
        }
        damage.is_none()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::{Entry, Record, RecordKind, WarcWriter};

    #[test]
    fn a_damaged_body_is_an_error_that_names_the_url_and_the_others_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let html = "<p>word</p>".repeat(500);
        let packed = zstd::bulk::compress(html.as_bytes(), 3).unwrap();
        let entry = |url: &str, body: &[u8]| {
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd\r\n\r\n";
            let block = [head.as_slice(), body].concat();
            let record = Record::new(RecordKind::Response, url, 0, "application/http;msgtype=response", block);
            Entry::pack(&record, None).unwrap()
        };
        let mut writer = WarcWriter::open(dir.path(), "test", 0).unwrap();
        let entries = [entry("http://a.org/cut", &packed[..packed.len() - 3]), entry("http://a.org/whole", &packed)];
        writer.write(&entries, 0).unwrap();
        writer.close().unwrap();
        let mut files = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path());
        let file = files.find(|path| path.extension().is_some_and(|ext| ext == "gz")).unwrap();
        let read: Vec<_> = pages(&file, 1 << 20).unwrap().collect();
        assert_eq!(read.len(), 2);
        assert!(read[0].as_ref().unwrap_err().to_string().contains("http://a.org/cut"));
        assert_eq!(read[1].as_ref().unwrap().body, html.as_bytes());
        let whole: Vec<_> =
            undamaged_pages(&file, 1 << 20).unwrap().map(|page| page.unwrap().url.to_string()).collect();
        assert_eq!(whole, ["http://a.org/whole"]);
    }
}
