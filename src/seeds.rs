//! Reads seed lists into canonical URLs.
//!
//! One URL a line; `#` begins a comment, blank lines do not count. A bare host such as `example.org` is taken as
//! `http://example.org/`: a server that wants https redirects. A line that is no URL is reported and skipped, so
//! one slip does not cost a night.

use std::path::{Path, PathBuf};

use crate::page::PageUrl;

/// Seeds and what was wrong with the rest.
#[derive(Debug, Default)]
pub struct Seeds {
    /// Key pages, in order.
    pub urls: Vec<PageUrl>,
    /// Lines that are no URLs.
    pub rejected: Vec<Rejected>,
}

/// A line that is no URL.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: `{text}` is no http(s) URL")]
pub struct Rejected {
    /// File and line, or the argument.
    pub origin: String,
    /// The line.
    pub text: String,
}

/// Why seeds could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum SeedsError {
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// Neither a URL nor a file.
    #[error("{0}: neither a URL (http://...) nor a file of URLs")]
    Neither(String),
}

impl Seeds {
    /// Adds a file of URLs, a URL, or a bare host.
    pub fn add(&mut self, argument: &str) -> Result<(), SeedsError> {
        let path = Path::new(argument);
        if !argument.contains("://") && path.is_file() {
            return self.add_file(path);
        }
        match seed_url(argument) {
            Some(url) if argument.contains("://") || !looks_like_path(argument) => self.urls.push(url),
            _ => return Err(SeedsError::Neither(argument.to_owned())),
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> Result<(), SeedsError> {
        let unreadable = |reason| SeedsError::Unreadable { path: path.to_owned(), reason };
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let text = String::from_utf8_lossy(&bytes);
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            match seed_url(line) {
                Some(url) => self.urls.push(url),
                None => self.rejected.push(Rejected {
                    origin: format!("{}, line {}", path.display(), at + 1),
                    text: line.chars().take(200).collect(),
                }),
            }
        }
        Ok(())
    }
}

/// A comment begins the line or follows white space; `#` inside a URL is a fragment.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    let end = line.char_indices().find(|(at, c)| *c == '#' && (*at == 0 || line[..*at].ends_with(char::is_whitespace)));
    line[..end.map_or(line.len(), |(at, _)| at)].trim_end()
}

fn seed_url(text: &str) -> Option<PageUrl> {
    if text.contains("://") {
        return PageUrl::parse(text).ok();
    }
    let host = text.split(['/', ':', '?']).next().unwrap_or_default();
    let is_host = host.contains('.') || host == "localhost" || text.starts_with('[');
    if !is_host || text.contains(char::is_whitespace) {
        return None;
    }
    PageUrl::parse(&format!("http://{text}")).ok()
}

fn looks_like_path(text: &str) -> bool {
    text.starts_with(['.', '/', '~']) || text.ends_with(".txt") || text.ends_with(".csv")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_urls_hosts_and_comments() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("list.txt");
        std::fs::write(
            &file,
            "\u{feff}# head\n\nhttp://a.com/x#y # why\r\n b.org\n[::1]:80/z\nnot a url\nftp://c.com/\n",
        )
        .unwrap();
        let mut seeds = Seeds::default();
        seeds.add(file.to_str().unwrap()).unwrap();
        let urls: Vec<&str> = seeds.urls.iter().map(PageUrl::as_str).collect();
        assert_eq!(urls, ["http://a.com/x", "http://b.org/", "http://[::1]/z"]);
        let rejected: Vec<String> = seeds.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(rejected.len(), 2);
        assert!(rejected[0].ends_with("list.txt, line 6: `not a url` is no http(s) URL"), "{}", rejected[0]);
    }

    #[test]
    fn arguments_are_urls_or_files() {
        let mut seeds = Seeds::default();
        seeds.add("https://a.com").unwrap();
        seeds.add("b.org/start").unwrap();
        assert_eq!(seeds.urls.len(), 2);
        for wrong in ["missing.txt", "./none", "word", "ftp://a.com/"] {
            assert!(matches!(seeds.add(wrong), Err(SeedsError::Neither(_))), "{wrong}");
        }
    }
}
