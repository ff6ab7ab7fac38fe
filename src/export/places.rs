//! Where the file of a page is in an export with a file for each page.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a name above which it is cut: file systems allow 255.
const LONG_NAME: usize = 120;

/// Bytes from the beginning of a file in which its mark stands.
const HEAD: u64 = 16 << 10;

/// The place of a page below a folder. `mark` is a text that only the file of this page has near its beginning: where
/// another page has the name already (`/rye` and `/rye.html`), this one gets a number.
pub(super) fn place(dir: &Path, url: &str, ending: &str, mark: &str) -> PathBuf {
    let plain = place_of(url, ending, false);
    let mut head = Vec::new();
    let is_read = File::open(dir.join(&plain)).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let is_free = is_read.is_err() || memchr::memmem::find(&head, mark.as_bytes()).is_some();
    if is_free { plain } else { place_of(url, ending, true) }
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, content)?;
    fs::rename(part, path)
}

/// `host/path/page.ending`. Pages whose names would be the same, because of a query or of characters that no file
/// system takes, get a number that depends on their address.
fn place_of(url: &str, ending: &str, is_numbered: bool) -> PathBuf {
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
    let name = match is_plain && is_same && !is_numbered {
        true => format!("{stem}.{ending}"),
        false => format!("{}-{:08x}.{ending}", cut(&stem), xxh3_64(url.as_bytes()) as u32),
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
    use super::{place, place_of, write_whole};

    #[test]
    fn every_page_has_a_place_of_its_own_below_its_host() {
        let path = |url: &str| place_of(url, "md", false).to_str().unwrap().to_owned();
        assert_eq!(path("https://a.org/"), "a.org/index.md");
        assert_eq!(path("https://a.org/x/rye.html"), "a.org/x/rye.md");
        assert_eq!(path("https://a.org/x/rye"), "a.org/x/rye.md");
        assert!(path("https://a.org/x?page=2").starts_with("a.org/x-"));
        assert!(path("https://a.org:8080/../x").starts_with("a.org_8080/_/x"));
        assert!(path(&format!("https://a.org/{}", "ä".repeat(200))).len() < 250);
        assert_ne!(path("https://a.org/x?page=2"), path("https://a.org/x?page=3"));
    }

    #[test]
    fn two_pages_with_one_name_have_two_files() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = ("https://a.org/rye", "https://a.org/rye.html");
        for _ in 0..2 {
            for url in [one, other] {
                let mark = format!("url: \"{url}\"");
                write_whole(&dir.path().join(place(dir.path(), url, "md", &mark)), mark.as_bytes()).unwrap();
            }
        }
        assert_eq!(std::fs::read_dir(dir.path().join("a.org")).unwrap().count(), 2);
    }
}
