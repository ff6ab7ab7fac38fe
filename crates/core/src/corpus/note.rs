//! A row as a Markdown file with front matter.

use super::record::{ColumnValue, Record};

/// Columns of the front matter.
const FRONT: [&str; 11] = [
    "title",
    "url",
    "site_name",
    "authors",
    "published",
    "modified",
    "language",
    "tags",
    "licence",
    "fetched_at",
    "text_digest",
];

impl Record {
    /// Front matter (YAML, of which JSON strings are a part) and Markdown.
    pub fn to_note(&self) -> String {
        let mut out = String::from("---\n");
        for name in FRONT {
            let value = match self.get(name) {
                Some(ColumnValue::Texts(texts)) if texts.is_empty() => continue,
                Some(value) => value.to_json(),
                None => continue,
            };
            if value.is_null() {
                continue;
            }
            out.push_str(&format!("{name}: {}\n", yaml(&value)));
        }
        out.push_str("---\n\n");
        out.push_str(self.text("markdown").unwrap_or_default());
        out
    }
}

/// JSON that YAML 1.2 reads: what it does not allow as it is, or reads as a line break, is escaped.
fn yaml(value: &serde_json::Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_holds_only_characters_of_yaml() {
        let title = serde_json::Value::from("a\u{fffe}b\u{85}c\u{2028}\"d\"\n---");
        assert_eq!(yaml(&title), r#""a\ufffeb\u0085c\u2028\"d\"\n---""#);
    }
}
