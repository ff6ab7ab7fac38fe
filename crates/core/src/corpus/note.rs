//! A row as a Markdown file with front matter.

use super::record::{ColumnValue, Record};
use crate::calendar::iso_8601;

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
                Some(ColumnValue::Text(Some(text))) => serde_json::Value::from(text.as_str()),
                Some(ColumnValue::Texts(texts)) if !texts.is_empty() => serde_json::Value::from(texts.as_slice()),
                Some(ColumnValue::Time(Some(at))) => serde_json::Value::from(iso_8601(*at)),
                _ => continue,
            };
            out.push_str(&format!("{name}: {value}\n"));
        }
        out.push_str("---\n\n");
        out.push_str(self.text("markdown").unwrap_or_default());
        out
    }
}
