//! A line of the index: a page that was captured, and where its record is.

use std::ops::Range;

use serde::Deserialize;

use dehusk_html::PageUrl;

use crate::media_type::essence;
use crate::warc::surt;

/// A page that was captured, as the index has it.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Its address.
    pub url: PageUrl,
    /// The file of its record, below the base address.
    pub file: String,
    /// Where in the file the record is.
    pub range: Range<u64>,
    /// HTTP status, where the line has one.
    pub status: Option<u16>,
    /// The fields of the line as they are: a JSON object.
    pub fields: String,
    /// Digest of its body; empty, where the line has none.
    pub digest: String,
    is_html: bool,
}

#[derive(Deserialize)]
struct Fields {
    url: String,
    #[serde(default)]
    status: String,
    mime: Option<String>,
    #[serde(rename = "mime-detected")]
    mime_detected: Option<String>,
    #[serde(default)]
    digest: String,
    length: String,
    offset: String,
    filename: String,
}

impl Capture {
    /// Reads a line: key, time and JSON. `None` for any other one.
    pub(super) fn parse(line: &str) -> Option<Capture> {
        let json = &line[line.find('{')?..];
        let Fields { url, status, mime, mime_detected, digest, length, offset, filename } =
            serde_json::from_str(json).ok()?;
        let (offset, length): (u64, u64) = (offset.parse().ok()?, length.parse().ok()?);
        let mime = mime_detected.or(mime).unwrap_or_default();
        Some(Capture {
            url: PageUrl::parse(&url).ok()?,
            file: filename,
            range: offset..offset.checked_add(length)?,
            status: status.parse().ok(),
            fields: json.to_owned(),
            is_html: matches!(essence(Some(&mime)).as_str(), "text/html" | "application/xhtml+xml"),
            digest,
        })
    }

    /// Why its record gives no page, as far as the index knows.
    pub fn left_out(&self) -> Option<&'static str> {
        match self.status {
            Some(300..400) => Some("redirect"),
            Some(200..300) | None if self.is_html => None,
            Some(200..300) | None => Some("not_html"),
            Some(_) => Some("http_status"),
        }
    }
}

/// A host whose captures are looked up.
#[derive(Clone, Debug)]
pub(super) struct HostKeys {
    /// Its keys are from here on,
    pub(super) low: Vec<u8>,
    /// and below this one.
    pub(super) high: Vec<u8>,
    bare: String,
}

impl HostKeys {
    /// `None` for what is no host.
    pub(super) fn new(host: &str) -> Option<HostKeys> {
        let url = PageUrl::parse(&format!("http://{host}/")).ok().filter(|url| url.path() == "/")?;
        let key = surt(url.as_str());
        let low = &key[..=key.find(')')?];
        let high = format!("{}*", &low[..low.len() - 1]);
        let bare = bare(&url.authority()).to_owned();
        Some(HostKeys { low: low.as_bytes().to_vec(), high: high.into_bytes(), bare })
    }

    pub(super) fn holds(&self, key: &[u8]) -> bool {
        *key >= *self.low && *key < *self.high
    }

    /// Whether a page is of the host. A key leaves out `www2.` and the like, too.
    pub(super) fn is_of(&self, url: &PageUrl) -> bool {
        bare(&url.authority()) == self.bare
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_and_says_whether_it_is_a_page() {
        let line = |status: &str, mime: &str| {
            format!(
                "org,example)/a 20260101000000 {{\"url\": \"https://www.example.org/a\", \"mime\": \"{mime}\", \
                 \"status\": \"{status}\", \"digest\": \"ABC\", \"length\": \"20\", \"offset\": \"7\", \"filename\": \"w\"}}"
            )
        };
        let capture = Capture::parse(&line("200", "text/html")).unwrap();
        assert_eq!((capture.range.clone(), capture.left_out()), (7..27, None));
        let why = |status: &str, mime: &str| Capture::parse(&line(status, mime)).unwrap().left_out();
        assert_eq!(why("301", "unk"), Some("redirect"));
        assert_eq!(why("404", "text/html"), Some("http_status"));
        assert_eq!(why("200", "application/pdf"), Some("not_html"));
        assert!(Capture::parse("org,example)/a 2026").is_none() && Capture::parse("x {\"url\": 1}").is_none());
        let host = HostKeys::new("Example.org").unwrap();
        assert!(host.holds(line("200", "x").as_bytes()) && host.is_of(&capture.url));
        assert!(
            !host.holds(b"org,example,www2)/") && !host.holds(b"org,example:8080)/") && !host.holds(b"org,exampl)/")
        );
        assert!(HostKeys::new("a b").is_none() && HostKeys::new("a.org/x").is_none() && HostKeys::new("").is_none());
        assert_eq!(HostKeys::new("a.org:81").unwrap().low, b"org,a:81)");
    }
}
