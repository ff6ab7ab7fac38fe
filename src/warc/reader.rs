//! Reads the records of any WARC file, with or without gzip.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::WarcError;
use dehusk_core::internals::calendar::days_since_1970;

/// Maximum bytes of one record. A longer record is an error.
const MOST_RECORD: u64 = 1 << 30;

/// Maximum bytes of a record's header lines.
const MOST_HEAD: u64 = 1 << 20;

/// Iterates over the records of a file. An error ends the iteration.
pub struct Reader {
    path: PathBuf,
    source: Counted<BufReader<Box<dyn Read>>>,
    /// Whether each record is packed; known with the first one.
    packed: Option<bool>,
    ended: bool,
}

/// A record that was read.
#[derive(Clone, Debug)]
pub struct Member {
    /// Offset of the record in the file.
    pub offset: u64,
    /// Length of the record in the file, in bytes.
    pub length: u64,
    headers: Vec<(String, String)>,
    /// Its block.
    pub block: Vec<u8>,
}

impl Reader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Reader, WarcError> {
        let file = File::open(path).map_err(|reason| WarcError::Io { path: path.to_owned(), reason })?;
        Ok(Reader::new(path, Box::new(file)))
    }

    /// Reads a stream; `path` names it in errors.
    pub fn new(path: &Path, stream: Box<dyn Read>) -> Reader {
        let source = Counted { inner: BufReader::with_capacity(1 << 16, stream), n: 0, failed: None };
        Reader { path: path.to_owned(), source, packed: None, ended: false }
    }

    fn read(&mut self) -> Result<Option<Member>, String> {
        if self.source.fill_buf().map_err(|e| e.to_string())?.is_empty() {
            return Ok(None);
        }
        let offset = self.source.n;
        let packed = match self.packed {
            Some(packed) => packed,
            None => self.source.fill_buf().map_err(|e| e.to_string())?.starts_with(b"\x1f\x8b"),
        };
        self.packed = Some(packed);
        let (headers, block) = match packed {
            true => {
                let mut gzip = BufReader::new(flate2::bufread::GzDecoder::new(&mut self.source));
                let record = record(&mut gzip)?;
                // Read to the end of the member, including its checksum.
                let rest = std::io::copy(&mut gzip.take(MOST_RECORD), &mut std::io::sink());
                rest.map_err(|e| e.to_string())?;
                record
            }
            false => {
                let record = record(&mut self.source)?;
                // Two line breaks follow a block.
                while self
                    .source
                    .fill_buf()
                    .map_err(|e| e.to_string())?
                    .first()
                    .is_some_and(|b| matches!(b, b'\r' | b'\n'))
                {
                    self.source.consume(1);
                }
                record
            }
        };
        Ok(Some(Member { offset, length: self.source.n - offset, headers, block }))
    }
}

impl Iterator for Reader {
    type Item = Result<Member, WarcError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let offset = self.source.n;
        match self.read() {
            Ok(Some(member)) => Some(Ok(member)),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(reason) => {
                self.ended = true;
                let path = self.path.clone();
                Some(Err(match self.source.failed.take() {
                    Some(reason) => WarcError::Io { path, reason },
                    None => WarcError::Broken { path, offset, reason },
                }))
            }
        }
    }
}

type Head = Vec<(String, String)>;

fn record(source: &mut impl BufRead) -> Result<(Head, Vec<u8>), String> {
    let mut head = Vec::new();
    let mut limited = source.take(MOST_HEAD);
    loop {
        let before = head.len();
        limited.read_until(b'\n', &mut head).map_err(|e| e.to_string())?;
        let line = head[before..].trim_ascii();
        if head.len() == before {
            return Err("its header lines do not end".to_owned());
        }
        if line.is_empty() {
            break;
        }
    }
    let text = String::from_utf8_lossy(&head);
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default();
    if !version.starts_with("WARC/") {
        return Err(format!("it begins with `{}`, not with WARC/", version.chars().take(20).collect::<String>()));
    }
    let headers: Head = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: u64 = length.and_then(|(_, value)| value.parse().ok()).ok_or("it has no Content-Length")?;
    if length > MOST_RECORD {
        return Err(format!("it has {length} bytes, more than {MOST_RECORD}"));
    }
    let mut block = Vec::new();
    source.take(length).read_to_end(&mut block).map_err(|e| e.to_string())?;
    if (block.len() as u64) < length {
        return Err(format!("it has {} bytes of {length}", block.len()));
    }
    Ok((headers, block))
}

impl Member {
    /// The first value of a header line.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// `WARC-Type`.
    pub fn kind(&self) -> &str {
        self.header("WARC-Type").unwrap_or_default()
    }

    /// `WARC-Date` in Unix milliseconds.
    pub fn at(&self) -> Option<i64> {
        let date = self.header("WARC-Date")?;
        let numbers: Vec<i64> = date.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        let [year, month, day, hours, minutes, seconds, ..] = numbers.as_slice() else { return None };
        Some((days_since_1970(*year, *month, *day) * 86_400 + hours * 3600 + minutes * 60 + seconds) * 1000)
    }
}

/// Counts the bytes that were consumed.
struct Counted<R> {
    inner: R,
    n: u64,
    /// The last error of the operating system, as opposed to a malformed file.
    failed: Option<std::io::Error>,
}

impl<R> Counted<R> {
    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        result.inspect_err(|e| self.failed = Some(std::io::Error::new(e.kind(), e.to_string())))
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer);
        let n = self.note(read)?;
        self.n += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        let failed = &mut self.failed;
        self.inner.fill_buf().inspect_err(|e| *failed = Some(std::io::Error::new(e.kind(), e.to_string())))
    }

    fn consume(&mut self, n: usize) {
        self.n += n as u64;
        self.inner.consume(n);
    }
}
