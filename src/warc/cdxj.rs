//! The index beside an archive: a line a response, sorted by reversed host, path and time.

use serde::Serialize;

use crate::calendar::digits;
use crate::page::PageUrl;

/// Fields of a line, in the order that readers print them.
#[derive(Debug, Serialize)]
pub(super) struct Fields<'a> {
    pub(super) url: &'a str,
    pub(super) mime: &'a str,
    pub(super) status: String,
    pub(super) digest: &'a str,
    pub(super) length: String,
    pub(super) offset: String,
    pub(super) filename: &'a str,
}

/// `com,example)/path?query` and the fourteen digits: what lines are sorted by.
pub(super) fn key(uri: &str, at: i64) -> String {
    let Ok(url) = PageUrl::parse(uri) else { return format!("{} {}", uri.to_ascii_lowercase(), digits(at)) };
    let host = url.host();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let mut reversed = match url.ip_literal() {
        Some(_) => host.to_owned(),
        None => host.split('.').rev().collect::<Vec<_>>().join(","),
    };
    if let Some(port) = url.url().port() {
        reversed += &format!(":{port}");
    }
    let canonical = url.canonical_text();
    let path = canonical.splitn(4, '/').nth(3).unwrap_or_default().to_ascii_lowercase();
    let path = match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => path.as_str(),
    };
    format!("{reversed})/{path} {}", digits(at))
}

/// A whole line.
pub(super) fn line(key: &str, fields: &Fields<'_>) -> String {
    format!("{key} {}\n", serde_json::to_string(fields).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_reversed_hosts() {
        assert_eq!(
            key("http://www.Example.org:8080/A/b/?y=1&x=2#f", 0),
            "org,example:8080)/a/b/?x=2&y=1 19700101000000"
        );
        assert_eq!(key("https://example.org", 0), "org,example)/ 19700101000000");
        assert_eq!(key("http://127.0.0.1/a/", 0), "127.0.0.1)/a 19700101000000");
    }
}
