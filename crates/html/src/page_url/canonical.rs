//! The canonical text of a URL: one spelling for URLs that nearly all servers treat as equal.
//!
//! The rules extend the WHATWG form. They are the rules of crawler-commons' normalizer that change the page on hardly
//! any server: decode escapes of unreserved characters, write other escapes in upper case, merge slashes in a path,
//! sort query parameters, drop nameless ones and a dot after the host. `/` and `/index.html` may differ and are kept.

use std::fmt::Write as _;

use url::{Position, Url};

/// The canonical text.
pub(super) fn text(url: &Url) -> String {
    let mut out = String::with_capacity(url.as_str().len());
    let host = url.host_str().unwrap_or_default();
    let _ = write!(out, "{}://{}", url.scheme(), host.strip_suffix('.').unwrap_or(host));
    if let Some(port) = url.port() {
        let _ = write!(out, ":{port}");
    }
    let mut slash = false;
    for part in url.path().split('/').filter(|part| !part.is_empty()) {
        out.push('/');
        respell(part, &mut out);
        slash = true;
    }
    if !slash || url.path().ends_with('/') {
        out.push('/');
    }
    let mut parameters: Vec<String> = url.query().unwrap_or_default().split('&').filter_map(parameter).collect();
    parameters.sort();
    for (at, parameter) in parameters.iter().enumerate() {
        out.push(if at == 0 { '?' } else { '&' });
        out.push_str(parameter);
    }
    out
}

/// The canonical text of a parameter, without an empty value. `None` if it has no name.
fn parameter(text: &str) -> Option<String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    respell(name, &mut out);
    if !value.is_empty() {
        out.push('=');
        respell(value, &mut out);
    }
    Some(out)
}

/// Normalizes percent-encoding: unreserved characters plain, escapes in upper case, a stray `%` as `%25`.
fn respell(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let escaped = match bytes.get(at + 1..at + 3) {
            Some(digits) if byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit) => {
                std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        match escaped {
            Some(byte) if is_unreserved(byte) => out.push(char::from(byte)),
            Some(byte) => {
                let _ = write!(out, "%{byte:02X}");
            }
            None if byte == b'%' || !byte.is_ascii_graphic() || b"\"<>^`{|}[]\\".contains(&byte) => {
                let _ = write!(out, "%{byte:02X}");
            }
            None => out.push(char::from(byte)),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The URL without the parameters that `drops` selects by name; `None` if it has none of them.
pub(super) fn without_parameters(url: &Url, drops: impl Fn(&str) -> bool) -> Option<Url> {
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    let keeps = |parameter: &&str| !drops(&name(parameter));
    let path: Vec<String> = url
        .path()
        .split('/')
        .map(|part| {
            let (head, parameters) = part.split_once(';').unwrap_or((part, ""));
            if parameters.split(';').all(|parameter| keeps(&parameter)) {
                return part.to_owned();
            }
            let kept = parameters.split(';').filter(keeps);
            kept.fold(head.to_owned(), |path, parameter| path + ";" + parameter)
        })
        .collect();
    let path = if url.path().contains(';') { path.join("/") } else { url.path().to_owned() };
    let query: Vec<&str> = url.query().unwrap_or_default().split('&').filter(keeps).collect();
    let query = query.join("&");
    if path == url.path() && query == url.query().unwrap_or_default() {
        return None;
    }
    // The URL is rebuilt as text, because the setters would not preserve the spelling of the query.
    let mark = if query.is_empty() { "" } else { "?" };
    Url::parse(&format!("{}{path}{mark}{query}", &url[..Position::BeforePath])).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_dropped_by_name_wherever_they_stand() {
        let without = |text: &str| {
            let url = Url::parse(text).unwrap();
            without_parameters(&url, |name| name == "sid" || name.starts_with("utm_")).map(|url| url.to_string())
        };
        assert_eq!(without("http://a.b/x?utm_a=1&q=ä&SID=3").as_deref(), Some("http://a.b/x?q=%C3%A4"));
        assert_eq!(without("http://a.b/x;sid=3;v=1/y?utm_x").as_deref(), Some("http://a.b/x;v=1/y"));
        assert_eq!(without("http://a.b/x;v=1?q=1&&r"), None);
    }

    #[test]
    fn a_canonical_text_is_its_own_canonical_text() {
        for given in ["http://A.b./%7Ex//y/?b=&a=%5b&&=3", "https://a.b:81/%zz?%", "http://a.b", "http://a.b//"] {
            let once = text(&Url::parse(given).unwrap());
            assert_eq!(text(&Url::parse(&once).unwrap()), once, "{given}");
        }
        assert_eq!(text(&Url::parse("http://A.b./%7Ex//y/?b=&a=%5b&&=3").unwrap()), "http://a.b/~x/y/?a=%5B&b");
    }
}
