//! The charset of a page: byte order mark, then Content-Type, then `meta` in the first 1,024 bytes, then detection.
//!
//! This is the order of the HTML standard's encoding sniffing. One departure: UTF-8 that is declared is not followed
//! where most of what is not ASCII is invalid. A browser shows signs without meaning then, and a corpus keeps them for
//! good. Any other declaration is followed, as in browsers.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The charset that a page was decoded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The WHATWG name, such as `windows-1252`.
    pub name: &'static str,
    /// Where the name came from.
    pub source: CharsetSource,
    /// The WHATWG name of the charset that the header or the page declares.
    pub declared: Option<&'static str>,
    /// Whether invalid bytes were decoded to replacement characters.
    pub had_errors: bool,
}

/// Where the name of a charset came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The Content-Type header.
    Header,
    /// A `meta` element.
    Meta,
    /// The bytes themselves.
    Detected,
}

/// Length of the prefix that is searched for a `meta` element (HTML standard, 13.2.3.2).
const META_BYTES: usize = 1024;

/// Characters beside ASCII that are valid, for each invalid one, from which on bytes are UTF-8.
const LEAST_VALID: usize = 4;

/// The same, with which bytes stay UTF-8 if that is declared.
const LEAST_VALID_DECLARED: usize = 1;

/// Decodes a page. Invalid bytes become replacement characters.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> (Cow<'a, str>, Charset) {
    let (encoding, source, declared) = choose(bytes, content_type);
    let (text, encoding, had_errors) = encoding.decode(bytes);
    let declared = declared.map(Encoding::name);
    (text, Charset { name: encoding.name(), source, declared, had_errors })
}

/// The charset of a page, where it is from, and the one that is declared.
fn choose(bytes: &[u8], content_type: Option<&str>) -> (&'static Encoding, CharsetSource, Option<&'static Encoding>) {
    let declared = declared(bytes, content_type);
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (encoding, CharsetSource::Bom, declared.map(|(encoding, _)| encoding));
    }
    let Some((encoding, source)) = declared else { return (detect(bytes), CharsetSource::Detected, None) };
    let is_other = || std::str::from_utf8(bytes).is_err() && !Utf8Counts::of(bytes).is_utf8(LEAST_VALID_DECLARED);
    if encoding == UTF_8 && is_other() {
        return (guess(bytes), CharsetSource::Detected, Some(encoding));
    }
    (encoding, source, Some(encoding))
}

fn declared(bytes: &[u8], content_type: Option<&str>) -> Option<(&'static Encoding, CharsetSource)> {
    let header = content_type.and_then(|t| label_after_charset(t.as_bytes())).and_then(Encoding::for_label);
    let meta = || from_meta(&bytes[..bytes.len().min(META_BYTES)]);
    header.map(|encoding| (encoding, CharsetSource::Header)).or_else(|| Some((meta()?, CharsetSource::Meta)))
}

/// Characters beside ASCII in bytes that are read as UTF-8, and places at which they are not valid.
struct Utf8Counts {
    n_valid: usize,
    n_invalid: usize,
}

impl Utf8Counts {
    fn of(bytes: &[u8]) -> Utf8Counts {
        let mut counts = Utf8Counts { n_valid: 0, n_invalid: 0 };
        for chunk in bytes.utf8_chunks() {
            counts.n_valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            counts.n_invalid += usize::from(!chunk.invalid().is_empty());
        }
        counts
    }

    /// Whether the bytes are UTF-8 with damage: so many valid characters for each invalid one.
    fn is_utf8(&self, least_valid: usize) -> bool {
        self.n_valid >= least_valid * self.n_invalid
    }
}

/// A simplified form of the standard's prescan: the charset of the first `meta` outside a comment that names one.
fn from_meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(at) = rest.iter().position(|b| *b == b'<') {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            let end = rest.windows(3).skip(2).position(|w| w == b"-->")?;
            rest = &rest[end + 5..];
            continue;
        }
        let is_meta = rest.len() > 5
            && rest[1..5].eq_ignore_ascii_case(b"meta")
            && (rest[5].is_ascii_whitespace() || rest[5] == b'/');
        if is_meta {
            let end = rest.iter().position(|b| *b == b'>').unwrap_or(rest.len());
            let label = label_after_charset(&rest[5..end]);
            if let Some(encoding) = label.and_then(Encoding::for_label) {
                return Some(match encoding {
                    // The prescan reads ASCII, so the page cannot be UTF-16.
                    e if e == UTF_16BE || e == UTF_16LE => UTF_8,
                    e if e == X_USER_DEFINED => WINDOWS_1252,
                    e => e,
                });
            }
        }
        rest = &rest[1..];
    }
    None
}

/// The value after `charset=`, quoted or not.
fn label_after_charset(text: &[u8]) -> Option<&[u8]> {
    const WORD: &[u8] = b"charset";
    let mut from = 0;
    loop {
        let at = from + text[from..].windows(WORD.len()).position(|w| w.eq_ignore_ascii_case(WORD))?;
        let rest = text[at + WORD.len()..].trim_ascii_start();
        from = at + WORD.len();
        let Some(rest) = rest.strip_prefix(b"=") else { continue };
        let rest = rest.trim_ascii_start();
        let (rest, ends): (&[u8], fn(u8) -> bool) = match rest.first() {
            Some(b'"') => (&rest[1..], |b| b == b'"'),
            Some(b'\'') => (&rest[1..], |b| b == b'\''),
            _ => (rest, |b| b.is_ascii_whitespace() || matches!(b, b';' | b'"' | b'\'' | b'/')),
        };
        let end = rest.iter().position(|b| ends(*b)).unwrap_or(rest.len());
        return Some(&rest[..end]);
    }
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() || Utf8Counts::of(bytes).is_utf8(LEAST_VALID) { UTF_8 } else { guess(bytes) }
}

/// The charset of bytes that are not UTF-8.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(bytes: &[u8], header: Option<&str>) -> (String, &'static str, CharsetSource) {
        let (text, charset) = decode(bytes, header);
        (text.into_owned(), charset.name, charset.source)
    }

    #[test]
    fn the_order_is_bom_header_meta_detection() {
        let meta = b"<meta charset=windows-1251>\xe9";
        let header = Some("text/html; charset=\"ISO-8859-1\"");
        assert_eq!(got(b"\xef\xbb\xbfa", header), ("a".into(), "UTF-8", CharsetSource::Bom));
        assert_eq!(got(meta, header).1, "windows-1252");
        assert_eq!(got(meta, Some("text/html")).1, "windows-1251");
        assert_eq!(got("é".as_bytes(), None), ("é".into(), "UTF-8", CharsetSource::Detected));
        assert_eq!(got(b"caf\xe9 au lait", None).0, "café au lait");
    }

    #[test]
    fn utf8_that_the_bytes_contradict_is_not_followed() {
        let name = |bytes: &[u8], header: &str| {
            let charset = decode(bytes, Some(&format!("text/html; charset={header}"))).1;
            (charset.name, charset.declared.unwrap(), charset.source)
        };
        let russian = "Рожь выращивают как зерно, из неё пекут хлеб и варят пиво в холодных краях.";
        let (cyrillic, ..) = encoding_rs::WINDOWS_1251.encode(russian);
        assert_eq!(name(&cyrillic, "utf-8"), ("windows-1251", "UTF-8", CharsetSource::Detected));
        assert_eq!(decode(&cyrillic, Some("text/html; charset=utf-8")).0, russian);
        let (japanese, ..) = encoding_rs::SHIFT_JIS.encode("ライ麦は寒い地方で栽培される穀物です。");
        assert_eq!(name(&japanese, "utf-8").0, "Shift_JIS");
        assert_eq!(name(russian.as_bytes(), "iso-8859-1").0, "windows-1252", "as in browsers");
        assert_eq!(name(&cyrillic, "windows-1251"), ("windows-1251", "windows-1251", CharsetSource::Header));
        assert_eq!(name(b"caf\xe9 \xc3\xa9", "utf-8").0, "UTF-8");
    }

    #[test]
    fn a_damaged_byte_does_not_change_the_charset() {
        let text = "Roggen wächst auf kühlen, mageren Böden, und für Brot wird er gemahlen. Größe: fünf.";
        let mut bytes = text.as_bytes().to_vec();
        bytes.insert(40, 0xe4);
        let (decoded, charset) = decode(&bytes, None);
        assert_eq!((charset.name, charset.declared, charset.had_errors), ("UTF-8", None, true));
        assert_eq!(decoded.matches('\u{fffd}').count(), 1);
    }

    #[test]
    fn meta_is_found_in_its_old_form_and_not_in_comments_or_too_late() {
        let old = b"<META http-equiv='Content-Type' content='text/html; charset=gbk'>";
        assert_eq!(got(old, None).1, "GBK");
        assert_eq!(got(b"<!-- <meta charset=gbk> --><p>", None).1, "UTF-8");
        let late = [vec![b' '; META_BYTES], b"<meta charset=gbk>".to_vec()].concat();
        assert_eq!(got(&late, None).1, "UTF-8");
        assert_eq!(got(b"<meta charset=utf-16>", None).1, "UTF-8");
        assert_eq!(got(b"<meta charset=nonsense>", None).2, CharsetSource::Detected);
        assert_eq!(got(b"<!--", None).1, "UTF-8");
    }
}
