//! The type of a body: what `Content-Type` says in any spelling, and whether the body contradicts it (after the WHATWG
//! MIME Sniffing Standard).

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
pub fn may_be_html(content_type: Option<&str>) -> Result<(), String> {
    let essence = essence(content_type);
    if HTML.contains(&essence.as_str()) || VAGUE.contains(&essence.as_str()) { Ok(()) } else { Err(essence) }
}

/// Whether a body of this type may be a sitemap, a feed or OPML.
pub fn may_be_list(essence: &str) -> bool {
    essence.ends_with("xml") || essence.ends_with("opml") || essence.ends_with("gzip")
}

/// Whether this body is HTML. The error is its actual type.
pub fn is_html(content_type: Option<&str>, body: &[u8]) -> Result<(), String> {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    if let Some((_, found)) = SIGNATURES.iter().find(|(signature, _)| text.starts_with(signature)) {
        return Err((*found).to_owned());
    }
    if body.get(4..8) == Some(b"ftyp") {
        return Err("video/mp4".to_owned());
    }
    let essence = essence(content_type);
    if HTML.contains(&essence.as_str()) {
        return if is_binary(content_type, body) { Err("binary data".to_owned()) } else { Ok(()) };
    }
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

/// Bytes at the beginning of a body that tell whether it is text (MIME Sniffing, section 5.2).
const HEAD_BYTES: usize = 1445;

/// Bytes that no text has, of which pages of old encodings and editors have fewer.
const FEW_BYTES: usize = 8;

/// Whether a body holds many bytes that no text has, such as one whose coding was not undone.
pub fn is_binary(content_type: Option<&str>, body: &[u8]) -> bool {
    let is_utf16 = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    if is_utf16 || content_type.is_some_and(|line| line.to_ascii_lowercase().contains("utf-16")) {
        return false;
    }
    let head = &body[..body.len().min(HEAD_BYTES)];
    let n = head.iter().filter(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)).count();
    n >= FEW_BYTES && n * 50 > head.len()
}

/// The type without its parameters, in lower case. Of several types the last one counts; empty where there is none.
pub fn essence(content_type: Option<&str>) -> String {
    let one = |part: &str| {
        let lower = part.trim().to_ascii_lowercase();
        let bare = lower.strip_prefix("content-type:").unwrap_or(&lower).trim().trim_matches(['"', '\'']);
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, ';' | '"' | '\'');
        let end = bare.find(is_end).unwrap_or(bare.len());
        bare[..end].trim_end_matches([':', '\\', '/']).to_owned()
    };
    let types = content_type.unwrap_or_default().split(',').map(one);
    types.rev().find(|one| one.contains('/') && one != "*/*").unwrap_or_default()
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

    #[test]
    fn types_are_read_in_every_spelling() {
        for line in [
            "text/html",
            "Text/HTML;charset=utf-8",
            "text/html charset=utf-8",
            "text/html\tcharset=utf-8",
            "text/html, text/html;charset=utf-8",
            "text/plain, text/html",
            "\"text/html\"",
            "'text/html; charset=utf-8'",
            "text/html:",
            "text/html/",
            "Content-Type: text/html",
            "text/html, */*",
        ] {
            assert_eq!(essence(Some(line)), "text/html", "{line}");
        }
        for line in ["", "html", "charset=utf-8", "*/*"] {
            assert_eq!(essence(Some(line)), "", "{line}");
        }
        assert_eq!(essence(Some("text/html, image/png")), "image/png");
    }

    #[test]
    fn binary_bodies_are_no_html_whatever_is_declared() {
        let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for body in [&noise[..], b"\n%PDF-1.7", b"\0\0\0\x18ftypisom", b"PK\x03\x04"] {
            assert!(is_html(Some("text/html"), body).is_err(), "{body:?}");
        }
        let utf16: Vec<u8> = "\u{feff}<p>Rye".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(is_html(Some("text/html"), &utf16).is_ok());
        assert!(is_html(Some("text/html; charset=UTF-16LE"), &utf16[2..]).is_ok());
        assert!(
            is_html(Some("text/html"), b"<p>a form feed \x0c and one \x01 of an old editor in a page of some words")
                .is_ok()
        );
        assert!(is_html(Some("text/html"), b"<p>short\0\0<p>page\0").is_ok());
        assert!(is_html(Some("text/html; charset=shift_jis"), b"\x1b$B%\xcf\x1b(B words of a page").is_ok());
    }
}
