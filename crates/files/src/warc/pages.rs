//! The documents of any WARC file: HTML pages, with or without the head of their response, and the texts of a WET file.

use super::http::{Response, decoded_body};
use super::{Member, Reader, WarcError};
use crate::media_type::{essence, is_binary, is_html};
use dehusk_core::rights::RightsHeaders;
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
    /// Headers in which the owner says what the page may be used for.
    pub rights: RightsHeaders,
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
    /// Why the end of the body is missing: `WARC-Truncated` of its record (`length`, `time`, `disconnect`), or `coding`
    /// where its content coding is damaged.
    pub truncated: Option<String>,
}

impl Archived {
    fn new(member: &Member, status: Option<u16>) -> Archived {
        let header = |name: &str| member.header(name).map(str::to_owned);
        Archived { record: header("WARC-Record-ID"), at: member.at(), status, truncated: header("WARC-Truncated") }
    }
}

/// A record that gives no document.
#[derive(Clone, Debug)]
pub struct NoDocument {
    /// `WARC-Target-URI` as it is written.
    pub name: String,
    /// `redirect`, `http_status`, `not_html`, `no_url`, `no_head`, or `empty`.
    pub why: &'static str,
}

/// The successful HTML responses of an archive and its texts, in order. At most `most` bytes of each body are decoded.
/// Of a body whose content coding is damaged what could be decoded is read; one of which nothing could is an error in
/// its place. A broken record ends the iteration with an error.
pub fn documents(reader: Reader, most: usize) -> impl Iterator<Item = Result<Document, WarcError>> {
    records(reader, most).filter_map(|record| match record {
        Ok(Ok(document)) => Some(Ok(document)),
        Ok(Err(_)) => None,
        Err(error) => Some(Err(error)),
    })
}

/// The same, with the responses and resources among them that give no document.
pub fn records(reader: Reader, most: usize) -> impl Iterator<Item = Result<Result<Document, NoDocument>, WarcError>> {
    reader.filter_map(move |member| match member {
        Ok(member) if member.kind() == "conversion" => Some(Ok(text(member, most))),
        Ok(member) if member.kind() == "response" => page(&member, most).transpose(),
        Ok(member) if member.kind() == "resource" => Some(Ok(resource(member, most))),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

fn none(member: &Member, why: &'static str) -> NoDocument {
    NoDocument { name: member.header("WARC-Target-URI").unwrap_or_default().to_owned(), why }
}

/// Whether a body is declared as HTML, and may be. One without a type is what the crawler has identified it as, else
/// what it begins as.
fn is_page(member: &Member, content_type: Option<&str>, body: &[u8]) -> bool {
    let declared = content_type.or_else(|| member.header("WARC-Identified-Payload-Type"));
    if declared.is_none() {
        return is_html(None, body).is_ok();
    }
    let is_declared = matches!(essence(declared).as_str(), "text/html" | "application/xhtml+xml");
    is_declared && !is_binary(declared, body)
}

/// The URI that a record is about. Some writers put it in angle brackets.
fn target(member: &Member) -> Option<PageUrl> {
    PageUrl::parse(member.header("WARC-Target-URI")?.trim_matches(['<', '>'])).ok()
}

/// The page of a response; `None` for one of another protocol.
fn page(member: &Member, most: usize) -> Result<Option<Result<Document, NoDocument>>, WarcError> {
    let Some(Response { status, content_type, body, rights, damage }) = decoded_body(&member.block, most) else {
        // One of another protocol, such as a lookup of a name, is no page at all.
        let is_http = target(member).is_some();
        return Ok(is_http.then(|| Err(none(member, "no_head"))));
    };
    let Some(url) = target(member) else { return Ok(Some(Err(none(member, "no_url")))) };
    let why = match status {
        200..300 if body.is_empty() && damage.is_none() => Some("empty"),
        200..300 if is_page(member, content_type.as_deref(), &body) => None,
        200..300 => Some("not_html"),
        300..400 => Some("redirect"),
        _ => Some("http_status"),
    };
    if let Some(why) = why {
        return Ok(Some(Err(none(member, why))));
    }
    let mut archived = Archived::new(member, Some(status));
    match damage {
        Some(reason) if body.is_empty() => return Err(WarcError::Body { url, reason }),
        Some(_) => archived.truncated = Some("coding".to_owned()),
        None => {}
    }
    Ok(Some(Ok(Document { url, content_type, body, archived, is_text: false, rights })))
}

/// A page that was written without the head of its response, as `export --format warc` does.
fn resource(mut member: Member, most: usize) -> Result<Document, NoDocument> {
    let Some(url) = target(&member) else { return Err(none(&member, "no_url")) };
    let content_type = member.header("Content-Type").map(str::to_owned);
    if member.block.is_empty() {
        return Err(none(&member, "empty"));
    }
    let archived = Archived::new(&member, None);
    let mut body = std::mem::take(&mut member.block);
    body.truncate(most);
    body.shrink_to_fit();
    if !is_page(&member, content_type.as_deref(), &body) {
        return Err(none(&member, "not_html"));
    }
    Ok(Document { url, content_type, body, archived, is_text: false, rights: RightsHeaders::default() })
}

fn text(mut member: Member, most: usize) -> Result<Document, NoDocument> {
    let Some(url) = target(&member) else { return Err(none(&member, "no_url")) };
    let content_type = member.header("Content-Type").map(str::to_owned);
    let archived = Archived::new(&member, None);
    let mut body = std::mem::take(&mut member.block);
    body.truncate(most);
    body.shrink_to_fit();
    Ok(Document { url, content_type, body, archived, is_text: true, rights: RightsHeaders::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::{Entry, Record, RecordKind, WarcWriter};

    #[test]
    fn of_a_damaged_body_what_could_be_decoded_is_read_and_the_others_are_whole() {
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
        let many: Vec<u8> = (0..90_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let long = [b"<p>".as_slice(), &many].concat().iter().map(|byte| b' ' + byte % 64).collect::<Vec<u8>>();
        let long = [b"<p>", &long[..]].concat();
        let cut = zstd::bulk::compress(&long, 3).unwrap();
        let entries = [
            entry("http://a.org/cut", &cut[..cut.len() - 3]),
            entry("http://a.org/whole", &packed),
            entry("http://a.org/nothing", &packed[..6]),
        ];
        writer.write(&entries, 0).unwrap();
        writer.close().unwrap();
        let mut files = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path());
        let file = files.find(|path| path.extension().is_some_and(|ext| ext == "gz")).unwrap();
        let read: Vec<_> = documents(Reader::open(&file).unwrap(), 1 << 20).collect();
        assert_eq!(read.len(), 3);
        let part = read[0].as_ref().unwrap();
        assert!(part.body.len() > 100_000 && long.starts_with(&part.body) && part.body.len() < long.len());
        assert_eq!(part.archived.truncated.as_deref(), Some("coding"));
        let whole = read[1].as_ref().unwrap();
        assert!(whole.body == html.as_bytes() && whole.archived.truncated.is_none());
        assert!(read[2].as_ref().unwrap_err().to_string().contains("http://a.org/nothing"));
    }
}
