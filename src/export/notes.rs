//! A folder of Markdown files with front matter: one folder for each host, one file for each page.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::record::{Record, Value};
use super::sink::{Raw, Sink};

/// Bytes of a name above which it is cut: file systems allow 255.
const LONG_NAME: usize = 120;

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
        let path = self.dir.join(path_of(record.text("url").unwrap_or_default()));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let note = note(record);
        self.size += note.len() as u64;
        let part = path.with_extension("md.part");
        fs::write(&part, note)?;
        fs::rename(part, path)
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

/// `host/path/page.md`. Two pages whose names would be the same, because of a query or of characters that no file
/// system takes, get a number that depends on their address.
fn path_of(url: &str) -> PathBuf {
    let address = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (place, query) = address.split_once('?').map_or((address, ""), |(place, query)| (place, query));
    let mut parts: Vec<String> = place.split('/').map(safe).collect();
    let last = parts.pop().filter(|last| !last.is_empty()).unwrap_or_else(|| "index".to_owned());
    let stem = match last.rsplit_once('.') {
        Some((stem, "html" | "htm" | "php" | "xhtml" | "asp" | "aspx" | "jsp")) if !stem.is_empty() => stem.to_owned(),
        _ => last,
    };
    let is_plain = query.is_empty() && parts.iter().all(|part| part.len() < LONG_NAME) && stem.len() < LONG_NAME;
    let is_same = place.split('/').take(parts.len()).eq(parts.iter().map(String::as_str));
    let name = match is_plain && is_same {
        true => format!("{stem}.md"),
        false => format!("{}-{:08x}.md", cut(&stem), xxh3_64(url.as_bytes()) as u32),
    };
    let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| cut(part).to_owned());
    parts.chain(std::iter::once(name)).collect()
}

/// A part of a path that every file system takes, and that leads nowhere else.
fn safe(part: &str) -> String {
    let plain: String =
        part.chars()
            .map(|c| {
                if c.is_control() || matches!(c, '<' | '>' | ':' | '"' | '\\' | '|' | '*' | '?' | '%') {
                    '_'
                } else {
                    c
                }
            })
            .collect();
    match plain.as_str() {
        "." | ".." => "_".to_owned(),
        plain if plain.starts_with('.') => format!("_{}", &plain[1..]),
        plain => plain.to_owned(),
    }
}

fn cut(part: &str) -> &str {
    let end = part.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= LONG_NAME).last();
    &part[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn every_page_has_a_place_of_its_own_below_its_host() {
        let path = |url: &str| path_of(url).to_str().unwrap().to_owned();
        assert_eq!(path("https://a.org/"), "a.org/index.md");
        assert_eq!(path("https://a.org/x/rye.html"), "a.org/x/rye.md");
        assert_eq!(path("https://a.org/x/rye"), "a.org/x/rye.md");
        assert!(path("https://a.org/x?page=2").starts_with("a.org/x-"));
        assert!(path("https://a.org:8080/../x").starts_with("a.org_8080/_/x"));
        assert!(path(&format!("https://a.org/{}", "ä".repeat(200))).len() < 250);
        assert_ne!(path("https://a.org/x?page=2"), path("https://a.org/x?page=3"));
    }
}
