//! JSON as programs write it that put strings together by hand.

/// The text with its commonest faults mended: quotes within strings that are not escaped, and commas before a bracket
/// that closes.
///
/// A quote ends a string where a comma, a colon or a closing bracket follows, and begins one elsewhere.
pub(super) fn repaired(json: &str) -> String {
    let mut repaired = String::with_capacity(json.len() + 16);
    let mut in_string = false;
    let mut chars = json.char_indices();
    while let Some((at, c)) = chars.next() {
        let next = || json[at + c.len_utf8()..].trim_start().chars().next();
        match c {
            '\\' if in_string => {
                repaired.push(c);
                repaired.extend(chars.next().map(|(_, escaped)| escaped));
                continue;
            }
            '"' if in_string => match next() {
                Some(',' | ':' | '}' | ']') | None => in_string = false,
                _ => repaired.push('\\'),
            },
            '"' => in_string = true,
            ',' if !in_string && matches!(next(), Some('}' | ']')) => continue,
            _ => {}
        }
        repaired.push(c);
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::repaired;

    #[test]
    fn common_faults_are_mended() {
        let mended =
            |json: &str| serde_json::from_str::<serde_json::Value>(&repaired(json)).map(|v| v.to_string()).ok();
        assert_eq!(
            mended(r#"{"a": "She said "rye" twice", "b": [1, 2, ],}"#).unwrap(),
            r#"{"a":"She said \"rye\" twice","b":[1,2]}"#
        );
        assert_eq!(mended(r#"{"a": "\"x\", y"}"#).unwrap(), r#"{"a":"\"x\", y"}"#);
        assert_eq!(repaired(r#"{"a": "b, ]"}"#), r#"{"a": "b, ]"}"#);
        for broken in ["", "\"", "{", "\\", "\"\\"] {
            assert!(repaired(broken).len() <= broken.len() + 1);
        }
    }
}
