//! What is read of the headers of a response, and how much of each.

use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};

/// Bytes of a header value that is kept. Validators are sent with every request, and no type or time is longer.
const MOST_VALUE: usize = 1024;

/// Bytes of an address that a redirect leads to.
const MOST_LOCATION: usize = 8 * 1024;

/// Lines of a header that are kept, where it may have many.
const MOST_LINES: usize = 1000;

/// The value of a header, unless it is longer than any that is of use.
pub(super) fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let value = headers.get(name).filter(|value| value.len() <= MOST_VALUE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// All `Content-Type` lines as one, of which the last type counts.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    let joined = lines(headers, CONTENT_TYPE.as_str()).join(", ");
    (!joined.is_empty()).then(|| joined[..joined.floor_char_boundary(MOST_VALUE)].to_owned())
}

/// The address in `Location`. Bytes beyond ASCII are those of the address, whatever their encoding; an empty one leads
/// nowhere.
pub(super) fn location(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(LOCATION)?.as_bytes().trim_ascii();
    let mut address = String::with_capacity(value.len());
    for byte in value {
        if byte.is_ascii() { address.push(char::from(*byte)) } else { address.push_str(&format!("%{byte:02X}")) }
    }
    (!address.is_empty() && address.len() <= MOST_LOCATION).then_some(address)
}

/// All lines of the header of a response.
pub(super) fn all_lines(headers: &HeaderMap) -> Vec<(String, String)> {
    let lines = headers.iter().take(MOST_LINES);
    lines.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())).collect()
}

pub(super) fn lines(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter().take(MOST_LINES);
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

/// `Retry-After`: seconds, or a date (RFC 9110, 10.2.3).
pub(super) fn wait_of(value: &str) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = value.parse().map_or(LONGEST_WAIT, Duration::from_secs);
        return Some(seconds.min(LONGEST_WAIT));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    date.duration_since(SystemTime::now()).ok().map(|wait| wait.min(LONGEST_WAIT))
}

/// Longest `Retry-After` that is accepted.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(wait_of(" 120 "), Some(Duration::from_secs(120)));
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(wait_of(&date).is_some_and(|wait| (98..=100).contains(&wait.as_secs())));
        assert_eq!(wait_of("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert_eq!(wait_of("soon"), None);
        assert_eq!(wait_of("18446744073709551615999"), Some(LONGEST_WAIT));
    }
}
