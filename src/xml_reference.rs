//! Character references of XML, which sitemaps and feeds hold.

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
