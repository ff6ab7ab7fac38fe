//! A folder of Markdown files with front matter: one folder for each host, one file for each page.

use std::io;
use std::path::{Path, PathBuf};

use super::places::{place, write_whole};
use super::record::{Record, Value};
use super::sink::{Raw, Sink};

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

pub(super) struct Notes {
    dir: PathBuf,
    size: u64,
}

impl Notes {
    pub(super) fn create(dir: &Path) -> io::Result<Notes> {
        Ok(Notes { dir: dir.to_owned(), size: 0 })
    }
}

impl Sink for Notes {
    fn push(&mut self, record: &Record, _: &Raw) -> io::Result<()> {
        let url = record.text("url").unwrap_or_default();
        let mark = format!("\nurl: {}\n", serde_json::Value::from(url));
        let path = self.dir.join(place(&self.dir, url, "md", &mark));
        let note = note(record);
        self.size += note.len() as u64;
        write_whole(&path, note.as_bytes())
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Front matter (YAML, of which JSON strings are a part) and Markdown.
fn note(record: &Record) -> String {
    let mut out = String::from("---\n");
    for name in FRONT {
        let value = match record.get(name) {
            Some(Value::Text(Some(text))) => serde_json::Value::from(text.as_str()),
            Some(Value::Texts(texts)) if !texts.is_empty() => serde_json::Value::from(texts.as_slice()),
            Some(Value::Time(Some(at))) => serde_json::Value::from(crate::calendar::iso_8601(*at)),
            _ => continue,
        };
        out.push_str(&format!("{name}: {value}\n"));
    }
    out.push_str("---\n\n");
    out.push_str(record.text("markdown").unwrap_or_default());
    out
}
