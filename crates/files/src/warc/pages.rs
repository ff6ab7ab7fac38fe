//! The documents of any WARC file: HTML pages, with or without the head of their response, and the texts of a WET file.

use super::http::{Response, decoded_body};
use super::{Member, Reader, WarcError};
use crate::media_type::{essence, is_binary};
use dehusk_html::PageUrl;

/// A page or a text of an archive.
#[derive(Clone, Debug)]
pub struct Document {
    /// `WARC-Target-URI`.
    pub url: PageUrl,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Vec<u8>,
    /// What the archive says of it.
    pub archived: Archived,
    /// Whether it is plain text that was made of a page (a `conversion` record).
    pub is_text: bool,
    /// `X-Robots-Tag` lines.
    pub robots_tags: Vec<String>,
}

/// What an archive says of a document beside its body.
#[derive(Clone, Debug, Default)]
pub struct Archived {
    /// `WARC-Record-ID` of its record.
    pub record: Option<String>,
    /// `WARC-Date` in Unix milliseconds.
    pub at: Option<i64>,
    /// HTTP status.
    pub status: Option<u16>,
}

impl Archived {
    fn new(member: &Member, status: Option<u16>) -> Archived {
        Archived { record: member.header("WARC-Record-ID").map(str::to_owned), at: member.at(), status }
    }
}

/// The successful HTML responses of an archive and its texts, in order. At most `most` bytes of each body are decoded.
/// A body whose content coding is damaged is an error in its place. A broken record ends the iteration with an error.
pub fn documents(reader: Reader, most: usize) -> impl Iterator<Item = Result<Document, WarcError>> {
    reader.filter_map(move |member| match member {
        Ok(member) if member.kind() == "conversion" => text(member, most).map(Ok),
        Ok(member) if member.kind() == "response" => page(&member, most),
        Ok(member) if member.kind() == "resource" => resource(member, most).map(Ok),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// Whether a body is declared as HTML, and may be.
fn is_page(content_type: Option<&str>, body: &[u8]) -> bool {
    let is_declared = matches!(essence(content_type).as_str(), "text/html" | "application/xhtml+xml");
    is_declared && !is_binary(content_type, body)
}

/// The URI that a record is about. Some writers put it in angle brackets.
fn target(member: &Member) -> Option<PageUrl> {
    PageUrl::parse(member.header("WARC-Target-URI")?.trim_matches(['<', '>'])).ok()
}

fn page(member: &Member, most: usize) -> Option<Result<Document, WarcError>> {
    let url = target(member)?;
    let Response { status, content_type, body, robots_tags, damage } = decoded_body(&member.block, most)?;
    if !(200..300).contains(&status) || !is_page(content_type.as_deref(), &body) {
        return None;
    }
    if let Some(reason) = damage {
        return Some(Err(WarcError::Body { url, reason }));
    }
    let archived = Archived::new(member, Some(status));
    (!body.is_empty()).then_some(Ok(Document { url, content_type, body, archived, is_text: false, robots_tags }))
}

/// A page that was written without the head of its response, as `export --format warc` does.
fn resource(mut member: Member, most: usize) -> Option<Document> {
    let (url, content_type) = (target(&member)?, member.header("Content-Type").map(str::to_owned));
    let archived = Archived::new(&member, None);
    let mut body = std::mem::take(&mut member.block);
    body.truncate(most);
    let is_page = !body.is_empty() && is_page(content_type.as_deref(), &body);
    is_page.then_some(Document { url, content_type, body, archived, is_text: false, robots_tags: Vec::new() })
}

fn text(mut member: Member, most: usize) -> Option<Document> {
    let (url, content_type) = (target(&member)?, member.header("Content-Type").map(str::to_owned));
    let archived = Archived::new(&member, None);
    let mut body = std::mem::take(&mut member.block);
    body.truncate(most);
    Some(Document { url, content_type, body, archived, is_text: true, robots_tags: Vec::new() })
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
        let mut writer = WarcWriter::open(dir.path(), &[], 0).unwrap();
        let entries = [entry("http://a.org/cut", &packed[..packed.len() - 3]), entry("http://a.org/whole", &packed)];
        writer.write(&entries, 0).unwrap();
        writer.close().unwrap();
        let mut files = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path());
        let file = files.find(|path| path.extension().is_some_and(|ext| ext == "gz")).unwrap();
        let read: Vec<_> = documents(Reader::open(&file).unwrap(), 1 << 20).collect();
        assert_eq!(read.len(), 2);
        assert!(read[0].as_ref().unwrap_err().to_string().contains("http://a.org/cut"));
        assert_eq!(read[1].as_ref().unwrap().body, html.as_bytes());
    }
}
