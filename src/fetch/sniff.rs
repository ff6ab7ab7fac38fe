//! Detects HTML. The `Content-Type` header is trusted unless the body contradicts it (after the WHATWG MIME Sniffing
//! Standard).

/// Types that servers send for unknown content. The body decides.
const VAGUE: &[&str] = &["", "text/plain", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"];

const HTML: &[&str] = &["text/html", "application/xhtml+xml"];

/// Signatures of other formats, with their types.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "application/x-riff"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x7fELF", "application/x-executable"),
    (b"\0\0\0 ftyp", "video/mp4"),
    (b"wOF2", "font/woff2"),
];

/// Tags at the beginning of a body that the standard takes as HTML.
const TAGS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a",
    "<style",
    "<title",
    "<b",
    "<body",
    "<br",
    "<p",
    "<!--",
    "<meta",
    "<link",
    "<ul",
    "<nav",
    "<main",
    "<header",
    "<section",
    "<article",
];

/// Whether a body of this declared type may be HTML. Checked before the body is read.
pub(super) fn may_be_html(content_type: Option<&str>) -> Result<(), String> {
    let essence = essence(content_type);
    if HTML.contains(&essence.as_str()) || VAGUE.contains(&essence.as_str()) { Ok(()) } else { Err(essence) }
}

/// Whether a body of this type may be a sitemap, a feed or OPML.
pub(super) fn may_be_list(essence: &str) -> bool {
    essence.ends_with("xml") || essence.ends_with("opml") || essence.ends_with("gzip")
}

/// Whether this body is HTML. The error is its actual type.
pub fn is_html(content_type: Option<&str>, body: &[u8]) -> Result<(), String> {
    if let Some((_, found)) = SIGNATURES.iter().find(|(signature, _)| body.starts_with(signature)) {
        return Err((*found).to_owned());
    }
    let essence = essence(content_type);
    if HTML.contains(&essence.as_str()) {
        return Ok(());
    }
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    let begins = |tag: &&str| {
        let head = text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()));
        head && (tag.starts_with("<!--")
            || matches!(text.get(tag.len()), None | Some(b' ' | b'>' | b'\t' | b'\n' | b'\r' | b'/')))
    };
    if TAGS.iter().any(begins) {
        return Ok(());
    }
    Err(if essence.is_empty() { "an answer without a type".to_owned() } else { essence })
}

fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_where_the_header_is_vague_or_lies() {
        assert!(may_be_html(Some("image/png")).is_err() && may_be_html(Some("Text/HTML; charset=x")).is_ok());
        assert!(is_html(Some("text/plain"), b"\n <!DOCTYPE html><p>").is_ok());
        assert!(is_html(None, b"<!-- x --><html>").is_ok() && is_html(None, b"<article >").is_ok());
        assert_eq!(is_html(Some("text/plain"), b"words").unwrap_err(), "text/plain");
        assert_eq!(is_html(None, b"<abc>").unwrap_err(), "an answer without a type");
        assert_eq!(is_html(Some("text/html"), b"%PDF-1.7").unwrap_err(), "application/pdf");
        assert!(is_html(Some("text/html"), b"plain words are HTML if the server says so").is_ok());
    }
}
