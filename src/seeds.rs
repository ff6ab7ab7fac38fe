//! Parses seed lists into canonical URLs.
//!
//! One URL per line; `#` begins a comment, blank lines are ignored. A bare host such as `example.org` is read as
//! `http://example.org/`: a server that wants https redirects. An invalid line is reported and skipped, so one typo
//! does not cost a night.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dehusk_core::internals::page_url::PageUrl;

/// Sources of seeds. Files are read on demand, because a list may be larger than memory.
#[derive(Debug, Default)]
pub struct Seeds {
    sources: Vec<Source>,
    rejected: Rejected,
}

#[derive(Debug)]
enum Source {
    Url(PageUrl),
    File(PathBuf),
}

/// Counter of lines that are not URLs. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Rejected(Arc<AtomicUsize>);

impl Rejected {
    /// Number of rejected lines so far.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Rejected lines that are logged. Further ones are only counted.
    const MOST_TOLD: usize = 20;

    fn add(&self, origin: &str, text: &str) {
        let text: String = text.chars().take(200).collect();
        if self.0.fetch_add(1, Ordering::Relaxed) < Rejected::MOST_TOLD {
            tracing::warn!("{origin}: `{text}` is not an http(s) URL, skipped");
        }
    }
}

/// Why seeds could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum SeedsError {
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        reason: std::io::Error,
    },
    /// The argument is neither a URL nor a file.
    #[error("{0}: neither a URL (http://...) nor a file of URLs")]
    Neither(String),
}

impl Seeds {
    /// Adds a file of URLs, a URL, or a bare host.
    pub fn add(&mut self, argument: &str) -> Result<(), SeedsError> {
        let path = Path::new(argument);
        if !argument.contains("://") && path.is_file() {
            // An unreadable file is an error now, not in the middle of a crawl.
            File::open(path).map_err(|reason| SeedsError::Unreadable { path: path.to_owned(), reason })?;
            self.sources.push(Source::File(path.to_owned()));
            return Ok(());
        }
        match seed_url(argument) {
            Some(url) if argument.contains("://") || !looks_like_path(argument) => self.sources.push(Source::Url(url)),
            _ => return Err(SeedsError::Neither(argument.to_owned())),
        }
        Ok(())
    }

    /// The counter of lines that are not URLs.
    pub fn rejected(&self) -> Rejected {
        self.rejected.clone()
    }

    /// Identifies the seed list: equal for the same arguments and unchanged files (name, size and modification time).
    pub fn mark(&self) -> String {
        let marks = self.sources.iter().map(|source| match source {
            Source::Url(url) => url.to_string(),
            Source::File(path) => {
                let about = std::fs::metadata(path).ok();
                let changed = about.as_ref().and_then(|about| about.modified().ok());
                format!("{} {} {changed:?}", path.display(), about.map_or(0, |about| about.len()))
            }
        });
        marks.collect::<Vec<_>>().join("\n")
    }

    /// What was asked for: equal for the same arguments, also when a file has changed.
    pub fn name(&self) -> String {
        let names = self.sources.iter().map(|source| match source {
            Source::Url(url) => url.to_string(),
            Source::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string(),
        });
        names.collect::<Vec<_>>().join("\n")
    }

    /// The seeds in order.
    pub fn into_urls(self) -> impl Iterator<Item = PageUrl> + Send + 'static {
        let rejected = self.rejected;
        self.sources.into_iter().flat_map(move |source| match source {
            Source::Url(url) => Box::new(std::iter::once(url)) as Box<dyn Iterator<Item = PageUrl> + Send>,
            Source::File(path) => Box::new(lines(path, rejected.clone())),
        })
    }
}

/// The URLs of a file. A read error is logged and ends the iteration.
fn lines(path: PathBuf, rejected: Rejected) -> impl Iterator<Item = PageUrl> + Send {
    let mut reader = File::open(&path).map(BufReader::new);
    let (mut buffer, mut number) = (Vec::new(), 0);
    std::iter::from_fn(move || {
        loop {
            buffer.clear();
            let read = match &mut reader {
                Ok(reader) => reader.read_until(b'\n', &mut buffer),
                Err(e) => Err(std::io::Error::new(e.kind(), e.to_string())),
            };
            match read {
                Ok(0) => return None,
                Ok(_) => {}
                Err(e) => {
                    rejected.add(&path.display().to_string(), &e.to_string());
                    return None;
                }
            }
            number += 1;
            let text = String::from_utf8_lossy(&buffer);
            let line = without_comment(text.trim_start_matches('\u{feff}'));
            if line.is_empty() {
                continue;
            }
            match seed_url(line) {
                Some(url) => return Some(url),
                None => rejected.add(&format!("{}, line {number}", path.display()), line),
            }
        }
    })
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
        let (rejected, mark) = (seeds.rejected(), seeds.mark());
        let urls: Vec<String> = seeds.into_urls().map(|url| url.to_string()).collect();
        assert_eq!(urls, ["http://a.com/x", "http://b.org/", "http://[::1]/z"]);
        assert_eq!(rejected.count(), 2);
        assert!(mark.contains("list.txt"));
    }

    #[test]
    fn arguments_are_urls_or_files() {
        let mut seeds = Seeds::default();
        seeds.add("https://a.com").unwrap();
        seeds.add("b.org/start").unwrap();
        assert_eq!(seeds.into_urls().count(), 2);
        let mut seeds = Seeds::default();
        for wrong in ["missing.txt", "./none", "word", "ftp://a.com/"] {
            assert!(matches!(seeds.add(wrong), Err(SeedsError::Neither(_))), "{wrong}");
        }
    }
}
