//! Where the file of a page is in an export with a file for each page.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a name above which it is cut: file systems allow 255.
const LONG_NAME: usize = 120;

/// Bytes from the beginning of a file in which its mark stands.
const HEAD: u64 = 16 << 10;

/// Bytes of a path above which a page is found by its number alone.
const LONG_PATH: usize = 1000;

/// The place of a page below a folder. `mark` is a text that only the file of this page has before the first `end`:
/// where another page has the name already (`/rye` and `/rye.html`), this one gets a number.
pub(super) fn place(dir: &Path, url: &str, ending: &str, mark: &str, end: &str) -> PathBuf {
    let plain = place_of(url, ending, false);
    let is_free = match has_mark(&dir.join(&plain), mark, end) {
        Ok(has_mark) => has_mark,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_free { plain } else { place_of(url, ending, true) }
}

/// Removes the file of a page, if it is there.
pub(super) fn remove(dir: &Path, url: &str, ending: &str, mark: &str, end: &str) -> io::Result<()> {
    for is_numbered in [false, true] {
        let path = dir.join(place_of(url, ending, is_numbered));
        if has_mark(&path, mark, end).unwrap_or(false) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Whether a file has a mark before the first `end`.
fn has_mark(path: &Path, mark: &str, end: &str) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let head = &head[..memchr::memmem::find(&head, end.as_bytes()).unwrap_or(head.len())];
    Ok(memchr::memmem::find(head, mark.as_bytes()).is_some())
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

/// `host/path/page.ending`. Pages whose names would be the same, because of a query, of capitals, or of characters and
/// names that not every file system takes, get a number that depends on their address.
fn place_of(url: &str, ending: &str, is_numbered: bool) -> PathBuf {
    let address = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (place, query) = address.split_once('?').map_or((address, ""), |(place, query)| (place, query));
    let given: Vec<&str> = place.split('/').collect();
    let (last, folders) = given.split_last().unwrap_or((&"", &[]));
    let stem = match last.rsplit_once('.') {
        Some((stem, "html" | "htm" | "php" | "xhtml" | "asp" | "aspx" | "jsp")) if !stem.is_empty() => stem,
        _ if last.is_empty() => "index",
        _ => last,
    };
    let parts: Vec<String> = folders.iter().map(|part| safe_folder(part)).collect();
    let name = safe(stem);
    let is_same = name == stem && parts.iter().eq(folders.iter());
    let is_short = parts.iter().chain([&name]).all(|part| part.len() < LONG_NAME);
    let is_lower = !place.bytes().any(|byte| byte.is_ascii_uppercase());
    let name = if query.is_empty() && is_same && is_short && is_lower && !is_numbered {
        format!("{name}.{ending}")
    } else {
        format!("{}-{:016x}.{ending}", cut(&name), xxh3_64(url.as_bytes()))
    };
    let parts: Vec<String> = parts.iter().filter(|part| !part.is_empty()).map(|part| cut(part).to_owned()).collect();
    let length: usize = parts.iter().map(|part| part.len() + 1).sum();
    let n_kept = if length > LONG_PATH { 1 } else { parts.len() };
    parts.into_iter().take(n_kept).chain([name]).collect()
}

/// A folder, which must not have the name that a file of an export may have.
fn safe_folder(part: &str) -> String {
    let mut plain = safe(part);
    let lower = plain.to_ascii_lowercase();
    if [".md", ".html", ".part"].iter().any(|ending| lower.ends_with(ending)) {
        plain.push('_');
    }
    plain
}

/// A part of a path that every file system takes, and that leads nowhere else.
fn safe(part: &str) -> String {
    let is_safe = |c: char| !(c.is_control() || matches!(c, '<' | '>' | ':' | '"' | '\\' | '|' | '*' | '?' | '%'));
    let mut plain: String = part.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    if matches!(plain.as_str(), "." | "..") {
        return "_".to_owned();
    }
    if plain.starts_with('.') {
        plain.replace_range(..1, "_");
    }
    // Windows drops these, and knows devices by these names, whatever follows.
    if plain.ends_with(['.', ' ']) {
        plain.pop();
        plain.push('_');
    }
    if is_device(plain.split('.').next().unwrap_or_default()) {
        plain.insert(0, '_');
    }
    plain
}

/// Whether Windows knows a device by this name.
fn is_device(name: &str) -> bool {
    let lower = name.trim_end().to_ascii_lowercase();
    let is_numbered =
        |kind: &str| lower.strip_prefix(kind).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    matches!(lower.as_str(), "con" | "prn" | "aux" | "nul") || is_numbered("com") || is_numbered("lpt")
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
    fn paths_are_taken_by_every_file_system_and_do_not_depend_on_the_order() {
        let long = format!("https://a.org/{}x", "folder/".repeat(600));
        let mut urls = vec![
            "https://a.org/a",
            "https://a.org/a.md/b",
            "https://a.org/a.html/b",
            "https://a.org/UPPER",
            "https://a.org/upper",
            "https://a.org/CON",
            "https://a.org/con.txt/x",
            "https://a.org/dot./x",
            "https://a.org/x.",
            "https://a.org/..../x",
            &long,
        ];
        let mut folders = Vec::new();
        for ending in ["md", "html"] {
            for _ in 0..2 {
                let dir = tempfile::tempdir().unwrap();
                let mut paths = std::collections::BTreeMap::new();
                for url in &urls {
                    let mark = format!("url: \"{url}\"");
                    let path = place(dir.path(), url, ending, &mark, "\n---\n");
                    write_whole(&dir.path().join(&path), mark.as_bytes()).unwrap();
                    let text = path.to_str().unwrap().to_ascii_lowercase();
                    let is_plain =
                        |part: &str| !part.ends_with(['.', ' ']) && !super::is_device(part.split('.').next().unwrap());
                    assert!(text.split('/').all(is_plain) && text.len() < 1300, "{text}");
                    assert!(paths.insert(text, (*url).to_owned()).is_none(), "{url}");
                }
                folders.push(paths);
                urls.reverse();
            }
        }
        assert_eq!((&folders[0], &folders[2]), (&folders[1], &folders[3]));
    }

    #[test]
    fn two_pages_with_one_name_have_two_files() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = ("https://a.org/rye", "https://a.org/rye.html");
        for _ in 0..2 {
            for url in [one, other] {
                let mark = format!("url: \"{url}\"");
                write_whole(&dir.path().join(place(dir.path(), url, "md", &mark, "\n---\n")), mark.as_bytes()).unwrap();
            }
        }
        assert_eq!(std::fs::read_dir(dir.path().join("a.org")).unwrap().count(), 2);
    }
}
