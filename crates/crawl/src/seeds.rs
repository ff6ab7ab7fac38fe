//! Parses seed lists into canonical URLs.
//!
//! A list is a file, a pipe or standard input (`-`), packed with gzip or zstd or not. One URL per line; `#` begins a
//! comment, blank lines are ignored. A line may have ranks beside its URL (`1,example.org`). A sitemap, a feed or OPML
//! is a list, too. A host without a scheme such as `example.org` is asked for https first, then for http. An invalid
//! line is reported and skipped, so one typo does not cost a night.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use crate::sitemap::{Announced, MAX_SITEMAP_BYTES, is_announcement, parse_announced};
use dehusk_files::unpacked::{open_packed, peek, unpack};
use dehusk_html::PageUrl;
use dehusk_store::seed::{Seed, SeedKind};

/// Sources of seeds. Files are read on demand, because a list may be larger than memory.
#[derive(Debug, Default)]
pub struct Seeds {
    sources: Vec<Source>,
    rejected: Rejected,
}

#[derive(Debug)]
enum Source {
    Url(Seed),
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
    /// Adds a file of URLs, also in an object store (`s3://bucket/seeds.txt`), a URL, or a bare host.
    pub fn add(&mut self, argument: &str) -> Result<(), SeedsError> {
        let path = Path::new(argument);
        let is_list = argument == "-" || path.metadata().is_ok_and(|about| !about.is_dir());
        if argument == "-" || is_object(argument) {
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
        match seed_of(argument) {
            Some(seed) if argument.contains("://") || !looks_like_path(argument) => {
                self.sources.push(Source::Url(seed))
            }
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
            Source::File(path) => path.as_os_str() == "-" || !(path.is_file() || path.to_str().is_some_and(is_object)),
        })
    }

    /// Identifies the seed list: equal for the same arguments and unchanged files (name, size and modification time).
    pub fn mark(&self) -> String {
        let marks = self.sources.iter().map(|source| match source {
            Source::Url(seed) => seed.url.to_string(),
            Source::File(path) => {
                let about = std::fs::metadata(path).ok();
                let changed = about.as_ref().and_then(|about| about.modified().ok());
                let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
                let bytes = about.map_or(0, |about| about.len());
                format!("{} {bytes} {}", path.display(), changed.as_nanos())
            }
        });
        marks.collect::<Vec<_>>().join("\n")
    }

    /// What was asked for: equal for the same arguments, also when a file has changed.
    pub fn name(&self) -> String {
        let names = self.sources.iter().map(|source| match source {
            Source::Url(seed) => seed.url.to_string(),
            Source::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string(),
        });
        names.collect::<Vec<_>>().join("\n")
    }

    /// The seeds in order.
    pub fn into_seeds(self) -> impl Iterator<Item = Seed> + Send + 'static {
        let rejected = self.rejected;
        self.sources.into_iter().flat_map(move |source| match source {
            Source::Url(seed) => Box::new(std::iter::once(seed)) as Box<dyn Iterator<Item = Seed> + Send>,
            Source::File(path) => seeds_of(&path, &rejected),
        })
    }
}

/// The seeds of a file. A read error is logged and ends the list.
fn seeds_of(path: &Path, rejected: &Rejected) -> Box<dyn Iterator<Item = Seed> + Send> {
    let name = path.display().to_string();
    let opened = open(path).and_then(|(head, reader)| {
        if is_announcement(&head) {
            Ok(Box::new(announced(reader)?) as Box<dyn Iterator<Item = Seed> + Send>)
        } else {
            Ok(Box::new(Lines { reader, line: Vec::new(), number: 0, name: name.clone(), rejected: rejected.clone() }))
        }
    });
    opened.unwrap_or_else(|error| {
        rejected.add(&name, &error.to_string(), "ends the list");
        Box::new(std::iter::empty())
    })
}

/// The URLs of a sitemap, a feed or OPML.
fn announced(reader: Box<dyn BufRead + Send>) -> io::Result<impl Iterator<Item = Seed> + Send> {
    let mut bytes = Vec::new();
    reader.take(MAX_SITEMAP_BYTES as u64).read_to_end(&mut bytes)?;
    let Announced { pages, sitemaps, .. } = parse_announced(&bytes);
    let urls = pages.into_iter().chain(sitemaps).filter_map(|url| PageUrl::parse(&url).ok());
    Ok(urls.filter(|url| url.as_str().len() <= MOST_BYTES).map(Seed::from))
}

/// A list of one seed a line.
struct Lines {
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: usize,
    /// What the list is called.
    name: String,
    rejected: Rejected,
}

impl Iterator for Lines {
    type Item = Seed;

    fn next(&mut self) -> Option<Seed> {
        loop {
            match read_line(&mut *self.reader, &mut self.line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(e) => {
                    self.rejected.add(&self.name, &e.to_string(), "ends the list");
                    return None;
                }
            }
            self.number += 1;
            let text = String::from_utf8_lossy(&self.line);
            let line = field(without_comment(text.trim_start_matches('\u{feff}')));
            if line.is_empty() || (self.number == 1 && is_header(&text)) {
                continue;
            }
            let reject = |why: &str| self.rejected.add(&format!("{}, line {}", self.name, self.number), line, why);
            match seed_of(line) {
                _ if self.line.len() > MOST_BYTES => reject("is longer than 8 kB"),
                Some(_) if line.contains(char::is_whitespace) => {
                    reject("has a blank: write one URL per line, and nothing behind it");
                }
                // What is not ASCII takes three bytes for each one.
                Some(seed) if seed.url.as_str().len() > MOST_BYTES => reject("is longer than 8 kB when it is encoded"),
                Some(seed) => return Some(seed),
                None => reject("is not an http(s) URL"),
            }
        }
    }
}

/// Longest line of a list, and longest URL.
const MOST_BYTES: usize = 8 * 1024;

/// Reads a line with its end. Of a longer one than a list may have, only the beginning is kept.
fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    let n = reader.take(MOST_BYTES as u64 + 1).read_until(b'\n', line)?;
    if n > MOST_BYTES && !line.ends_with(b"\n") {
        loop {
            let rest = reader.fill_buf()?;
            let end = memchr::memchr(b'\n', rest);
            let used = end.map_or(rest.len(), |end| end + 1);
            reader.consume(used);
            if end.is_some() || used == 0 {
                break;
            }
        }
    }
    Ok(n)
}

/// Bytes of a list by which its form is known.
const HEAD_BYTES: usize = 4096;

/// Opens a list and unpacks it, with its first bytes. UTF-16, as some editors write it, is refused by name.
fn open(path: &Path) -> io::Result<(Vec<u8>, Box<dyn BufRead + Send>)> {
    let (head, raw) = peek(open_packed(path)?, 4)?;
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        let advice = "the list is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)";
        return Err(io::Error::new(io::ErrorKind::InvalidData, advice));
    }
    let mut stream = unpack(&head, raw)?;
    let (mut head, mut piece) = (Vec::new(), [0; 512]);
    // A pipe may give its first line long before its second one: no more is waited for than tells the form.
    while head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start().is_empty() && head.len() < HEAD_BYTES {
        match stream.read(&mut piece)? {
            0 => break,
            n => head.extend_from_slice(&piece[..n]),
        }
    }
    if head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start().starts_with(b"<") {
        (&mut stream).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    }
    let whole = io::Cursor::new(head.clone()).chain(stream);
    Ok((head, Box::new(BufReader::new(whole))))
}

/// A comment begins the line or follows white space; `#` inside a URL is a fragment.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    let end = line.char_indices().find(|(at, c)| *c == '#' && (*at == 0 || line[..*at].ends_with(char::is_whitespace)));
    line[..end.map_or(line.len(), |(at, _)| at)].trim_end()
}

/// Separators of the columns of a table.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// The column of a line that holds its URL: behind ranks (`1,example.org`), before one (`https://example.org,1000`),
/// or the whole line. Other commas are part of a URL.
fn field(line: &str) -> &str {
    let mut rest = line;
    while let Some((rank, behind)) = rest.split_once(SEPARATORS) {
        if rank.is_empty() || !rank.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        rest = behind;
    }
    let is_ranked = rest.len() < line.len();
    let authority = rest.find("://").map_or(0, |at| at + 3);
    let end = rest[authority..].find(SEPARATORS).map(|at| authority + at);
    let is_before_path = end.is_some_and(|end| !rest[authority..end].contains(['/', '?']));
    match end.filter(|_| is_ranked || is_before_path) {
        Some(end) => rest[..end].trim().trim_matches('"'),
        None => rest.trim().trim_matches('"'),
    }
}

/// Whether a line names the columns of a table.
fn is_header(line: &str) -> bool {
    line.contains(SEPARATORS) && !line.contains(['.', ':', '#'])
}

fn seed_of(text: &str) -> Option<Seed> {
    if text.contains("://") {
        return PageUrl::parse(text).ok().map(Seed::from);
    }
    let host = text.split(['/', ':', '?']).next().unwrap_or_default();
    let is_host = host.contains('.') || host == "localhost" || text.starts_with('[');
    if !is_host || text.contains(char::is_whitespace) {
        return None;
    }
    let url = PageUrl::parse(&format!("https://{text}")).ok()?;
    // A port that is none of https is one of http.
    match url.url().port() {
        Some(_) => PageUrl::parse(&format!("http://{text}")).ok().map(Seed::from),
        None => Some(Seed { url, kind: SeedKind::Host }),
    }
}

/// Whether an argument is the address of a list in an object store.
#[cfg(feature = "objects")]
fn is_object(argument: &str) -> bool {
    !argument.starts_with("http") && dehusk_files::objects::is_object(argument)
}

#[cfg(not(feature = "objects"))]
fn is_object(_: &str) -> bool {
    false
}

fn looks_like_path(text: &str) -> bool {
    let endings = [".txt", ".csv", ".tsv", ".xml", ".rss", ".opml", ".gz", ".zst", ".list"];
    text.starts_with(['.', '/', '~']) || endings.iter().any(|ending| text.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(seeds: Seeds) -> Vec<String> {
        seeds.into_seeds().map(|seed| seed.url.to_string()).collect()
    }

    fn listed(text: &[u8]) -> (Vec<String>, usize) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("list");
        std::fs::write(&file, text).unwrap();
        let mut seeds = Seeds::default();
        seeds.add(file.to_str().unwrap()).unwrap();
        let rejected = seeds.rejected();
        (urls(seeds), rejected.count())
    }

    #[test]
    fn lists_are_tables_sitemaps_and_feeds_too() {
        let tables = [
            "1,a.com\n2,b.org\n",
            "rank,domain\n1,\"a.com\"\n2,b.org",
            "GlobalRank,TldRank,Domain,TLD\n1,1,a.com,com\n2,7,b.org,org\n",
            "1\ta.com\n2\tb.org\n",
        ];
        for table in tables {
            assert_eq!(
                listed(table.as_bytes()),
                (vec!["https://a.com/".to_owned(), "https://b.org/".to_owned()], 0),
                "{table}"
            );
        }
        let origins = "origin,rank\nhttps://a.com,1000\nhttp://b.org/1,2,3\n";
        assert_eq!(listed(origins.as_bytes()), (vec!["https://a.com/".to_owned(), "http://b.org/1,2,3".to_owned()], 0));
        let sitemap = "<?xml version='1.0'?>\n<urlset><url><loc>http://a.com/1</loc></url></urlset>";
        let opml = "<opml><body><outline htmlUrl='http://a.com/1' xmlUrl='http://a.com/f.xml'/></body></opml>";
        assert_eq!(listed(sitemap.as_bytes()).0, ["http://a.com/1"]);
        assert_eq!(listed(opml.as_bytes()).0, ["http://a.com/1", "http://a.com/f.xml"]);
    }

    #[test]
    fn a_line_without_an_end_costs_a_line() {
        use std::io::Write;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..64 {
            packed.write_all(&vec![b'a'; 1 << 20]).unwrap();
        }
        packed.write_all(b"\nhttp://a.com/\n").unwrap();
        assert_eq!(listed(&packed.finish().unwrap()), (vec!["http://a.com/".to_owned()], 1));
        let mut line = Vec::new();
        let mut endless = BufReader::new(io::repeat(b'a').take(1 << 30));
        read_line(&mut endless, &mut line).unwrap();
        assert_eq!(line.len(), MOST_BYTES + 1);
    }

    #[test]
    fn files_hold_urls_hosts_and_comments() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("list.txt");
        std::fs::write(
            &file,
            "\u{feff}# head\n\nhttp://a.com/x#y # why\r\n b.org.\n[::1]:80/z\nnot a url\nftp://c.com/\n",
        )
        .unwrap();
        let mut seeds = Seeds::default();
        seeds.add(file.to_str().unwrap()).unwrap();
        let (rejected, mark) = (seeds.rejected(), seeds.mark());
        assert_eq!(urls(seeds), ["http://a.com/x", "https://b.org/", "http://[::1]/z"]);
        assert_eq!(rejected.count(), 2);
        assert!(mark.contains("list.txt"));
    }

    #[test]
    fn arguments_are_urls_or_files() {
        let mut seeds = Seeds::default();
        seeds.add("https://a.com").unwrap();
        seeds.add("b.org/start").unwrap();
        assert_eq!(seeds.into_seeds().count(), 2);
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
            assert_eq!((seeds.into_seeds().count(), rejected.count()), (n_urls, n_rejected), "{name}");
        }
    }
}
