//! Parses seed lists into canonical URLs.
//!
//! A list is a file, a pipe or standard input (`-`), packed with gzip or zstd or not. One URL per line; `#` begins a
//! comment, blank lines are ignored. A bare host such as `example.org` is read as
//! `http://example.org/`: a server that wants https redirects. An invalid line is reported and skipped, so one typo
//! does not cost a night.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::unpacked::{open_packed, peek, unpack};
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

    /// Characters of a rejected line that are shown: a list that is none must not be printed.
    const MOST_SHOWN: usize = 80;

    fn add(&self, origin: &str, text: &str, why: &str) {
        if self.0.fetch_add(1, Ordering::Relaxed) < Rejected::MOST_TOLD {
            let text: String = text.chars().flat_map(char::escape_debug).take(Rejected::MOST_SHOWN).collect();
            tracing::warn!("{origin}: `{text}` {why}, skipped");
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
        reason: io::Error,
    },
    /// The argument is neither a URL nor a file.
    #[error("{0}: neither a URL (http://...) nor a file of URLs")]
    Neither(String),
}

impl Seeds {
    /// Adds a file of URLs, a URL, or a bare host.
    pub fn add(&mut self, argument: &str) -> Result<(), SeedsError> {
        let path = Path::new(argument);
        let is_list = argument == "-" || path.metadata().is_ok_and(|about| !about.is_dir());
        if argument == "-" {
            self.sources.push(Source::File(path.to_owned()));
            return Ok(());
        }
        if !argument.contains("://") && is_list {
            // An unreadable file is an error now, not in the middle of a crawl. A pipe can be opened only once.
            if path.is_file() {
                File::open(path).map_err(|reason| SeedsError::Unreadable { path: path.to_owned(), reason })?;
            }
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

    /// Whether seeds may come for as long as the crawl runs: from standard input or a pipe.
    pub fn is_stream(&self) -> bool {
        self.sources.iter().any(|source| match source {
            Source::Url(_) => false,
            Source::File(path) => path.as_os_str() == "-" || !path.is_file(),
        })
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
    let mut reader = open(&path);
    let (mut buffer, mut number) = (Vec::new(), 0);
    std::iter::from_fn(move || {
        loop {
            buffer.clear();
            let read = match &mut reader {
                Ok(reader) => reader.read_until(b'\n', &mut buffer),
                Err(e) => Err(io::Error::new(e.kind(), e.to_string())),
            };
            match read {
                Ok(0) => return None,
                Ok(_) => {}
                Err(e) => {
                    rejected.add(&path.display().to_string(), &e.to_string(), "ends the list");
                    return None;
                }
            }
            number += 1;
            let text = String::from_utf8_lossy(&buffer);
            let line = without_comment(text.trim_start_matches('\u{feff}'));
            if line.is_empty() {
                continue;
            }
            let here = || format!("{}, line {number}", path.display());
            match seed_url(line) {
                Some(_) if line.contains(char::is_whitespace) => {
                    rejected.add(&here(), line, "has a blank: write one URL per line, and nothing behind it");
                }
                Some(url) if url.as_str().len() > MOST_BYTES => {
                    rejected.add(&here(), line, "is longer than 8 kB");
                }
                Some(url) => return Some(url),
                None => rejected.add(&here(), line, "is not an http(s) URL"),
            }
        }
    })
}

/// Longest URL of a list.
const MOST_BYTES: usize = 8 * 1024;

/// Opens a list and unpacks it. UTF-16, as some editors write it, is refused by name.
fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let (head, raw) = peek(open_packed(path)?, 4)?;
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        let advice = "the list is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)";
        return Err(io::Error::new(io::ErrorKind::InvalidData, advice));
    }
    Ok(Box::new(BufReader::new(unpack(&head, raw)?)))
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

    #[test]
    fn lists_are_unpacked_and_what_is_no_url_is_said() {
        use std::io::Write;
        let dir = tempfile::tempdir().unwrap();
        let list = "\u{feff}http://a.test/\nhttp://b.test/ A title\nc.test\n";
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(list.as_bytes()).unwrap();
        let utf16: Vec<u8> = "\u{feff}http://a.test/\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let long = format!("http://a.test/{}\n", "x".repeat(10_000));
        let cases: [(&str, Vec<u8>, usize, usize); 5] = [
            ("plain", list.as_bytes().to_vec(), 2, 1),
            ("packed.gz", packed.finish().unwrap(), 2, 1),
            ("packed.zst", zstd::encode_all(list.as_bytes(), 1).unwrap(), 2, 1),
            ("utf16", utf16, 0, 1),
            ("long", long.into_bytes(), 0, 1),
        ];
        for (name, bytes, n_urls, n_rejected) in cases {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let mut seeds = Seeds::default();
            seeds.add(path.to_str().unwrap()).unwrap();
            let rejected = seeds.rejected();
            assert_eq!((seeds.into_urls().count(), rejected.count()), (n_urls, n_rejected), "{name}");
        }
    }
}
