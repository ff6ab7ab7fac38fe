//! What sitemaps and feeds have in common: their encoding and character references.

use std::borrow::Cow;

use dehusk_html::decode;

/// The text of a file in the encoding that its byte order mark or XML declaration names, or its bytes suggest.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]);
    let declaration = head.strip_prefix("<?xml").and_then(|rest| rest.split("?>").next()).unwrap_or_default();
    let value = declaration.split("encoding").nth(1).map(|rest| rest.trim_start_matches([' ', '=', '"', '\'']));
    let name = value.and_then(|rest| rest.split(['"', '\'', ' ']).next());
    decode(bytes, name.map(|name| format!("text/xml; charset={name}")).as_deref()).0
}

/// The characters of a reference without its `&` and `;`; nothing for an unknown one.
pub(crate) fn character(name: &str) -> String {
    let numbered = |digits: &str| match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    };
    match name {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        _ => name.strip_prefix('#').and_then(numbered).and_then(char::from_u32).map(String::from).unwrap_or_default(),
    }
}
