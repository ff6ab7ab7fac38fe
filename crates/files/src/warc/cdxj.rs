//! The CDXJ index of an archive: one line per response, sorted by SURT key and time.

use serde::Serialize;

use dehusk_core::calendar::digits;
use dehusk_html::PageUrl;

/// Fields of a line, in the usual order of CDXJ.
#[derive(Debug, Serialize)]
pub(super) struct Fields<'a> {
    pub(super) url: &'a str,
    pub(super) mime: &'a str,
    pub(super) status: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) digest: &'a str,
    pub(super) length: String,
    pub(super) offset: String,
    pub(super) filename: &'a str,
}

/// The sort key of a line: `com,example)/path?query` and the 14-digit timestamp.
pub(super) fn key(uri: &str, at: i64) -> String {
    format!("{} {}", surt(uri), digits(at))
}

/// The key of a URI: `com,example)/path?query`.
///
/// It is the one that replay tools look up (`surt`'s default form): reversed host without `www` and its digits,
/// lower case, sorted parameters, no slash at the end of the path.
pub(crate) fn surt(uri: &str) -> String {
    let Ok(url) = PageUrl::parse(uri) else { return uri.to_ascii_lowercase() };
    let mut out = url.host().split('.').rev().collect::<Vec<_>>().join(",");
    if let Some((rest, last)) = out.rsplit_once(',') {
        let is_www = last.strip_prefix("www").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
        if is_www && url.ip_literal().is_none() {
            out.truncate(rest.len());
        }
    }
    if let Some(port) = url.url().port() {
        out += &format!(":{port}");
    }
    let path = unescaped(url.path()).to_ascii_lowercase();
    out += ")";
    out += match path.trim_end_matches('/') {
        "" => "/",
        path => path,
    };
    let query = unescaped(url.url().query().unwrap_or_default()).to_ascii_lowercase();
    if !query.is_empty() {
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.sort_unstable();
        out += "?";
        out += &parameters.join("&");
    }
    out
}

/// Decodes escapes of printable ASCII, except those that would change the meaning of a URL.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = bytes
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match escaped {
            Some(byte) if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%' | b'?' | b'&' | b'=' | b'/') => {
                out.push(char::from(byte));
                at += 3;
            }
            _ => {
                out.push(char::from(bytes[at]));
                at += 1;
            }
        }
    }
    out
}

/// One line of the index.
pub(super) fn line(key: &str, fields: &Fields<'_>) -> String {
    format!("{key} {}\n", serde_json::to_string(fields).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_reversed_hosts() {
        for (uri, expected) in [
            ("http://www.Example.org:8080/A/b/?y=1&X=2#f", "org,example:8080)/a/b?x=2&y=1"),
            ("https://example.org", "org,example)/"),
            ("http://127.0.0.1:8765/a/", "1,0,0,127:8765)/a"),
            ("http://www2.shop.test/?k%5B%5D=1", "test,shop)/?k[]=1"),
            ("http://a.test/x?A=B&a=B&B=a", "test,a)/x?a=b&a=b&b=a"),
            ("http://a.test/%C3%A4?b=&a", "test,a)/%c3%a4?a&b="),
        ] {
            assert_eq!(key(uri, 0), format!("{expected} 19700101000000"), "{uri}");
        }
    }
}
