//! Reads the records of any WARC file, with or without gzip.
//!
//! A reader of archives of others goes on after a record whose length is wrong, and after what is no record, with a
//! warning. The reader of our own files ends with an error at the place where a crash has cut them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::WarcError;
use super::members::Members;
use crate::unpacked::GZIP;
use dehusk_core::calendar::days_since_1970;

/// Maximum bytes of one record. A longer record is an error.
const MOST_RECORD: u64 = 1 << 30;

/// Maximum bytes of a record's header lines.
const MOST_HEAD: u64 = 1 << 20;

/// What a record begins with.
const BEGIN: &[u8] = b"WARC/";

/// Notes of broken records that are logged for one archive.
const MOST_TOLD: usize = 20;

/// Iterates over the records of a file. An error ends the iteration.
pub struct Reader {
    path: PathBuf,
    source: Counted<BufReader<Box<dyn Read>>>,
    /// Whether each record is packed; known with the first one.
    packed: Option<bool>,
    /// Whether it goes on after a broken record.
    is_tolerant: bool,
    n_told: usize,
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
        let inner = BufReader::with_capacity(1 << 16, stream);
        let source = Counted { inner, ahead: Vec::new(), at: 0, n: 0, failed: None };
        Reader { path: path.to_owned(), source, packed: None, is_tolerant: false, n_told: 0, ended: false }
    }

    /// Reads an archive of others, past broken records. A member may hold many records.
    pub fn tolerant(path: &Path, stream: Box<dyn Read>) -> io::Result<Reader> {
        let mut source = BufReader::with_capacity(1 << 16, stream);
        let stream: Box<dyn Read> = if source.fill_buf()?.starts_with(GZIP) {
            Box::new(Members::new(source, path.display().to_string()))
        } else {
            Box::new(source)
        };
        Ok(Reader { packed: Some(false), is_tolerant: true, ..Reader::new(path, stream) })
    }

    fn tell(&mut self, offset: u64, what: &str) {
        self.n_told += 1;
        if self.n_told <= MOST_TOLD {
            tracing::warn!("{}: record at byte {offset}: {what}", self.path.display());
        }
    }

    /// Puts the end of a block where the next record begins, if its length was wrong.
    fn mend(&mut self, offset: u64, block: &mut Vec<u8>, was_cut: bool) -> Result<(), String> {
        let end = self.source.fill_buf().map_err(|e| e.to_string())?;
        let is_end = end.starts_with(b"\r\n\r\n") || end.starts_with(b"\n\n");
        self.skip_line_ends()?;
        let next = self.source.fill_buf().map_err(|e| e.to_string())?;
        if !was_cut && (next.is_empty() || next.starts_with(&BEGIN[..BEGIN.len().min(next.len())])) {
            return Ok(());
        }
        if let Some(end) = memchr::memmem::find(block, b"\r\n\r\nWARC/1.") {
            self.source.give_back(block.split_off(end + 4));
            block.truncate(end);
            self.tell(offset, "its Content-Length is too large");
        } else if was_cut {
            self.tell(offset, "the archive ends within it");
        } else if !is_end {
            self.tell(offset, "its Content-Length is too small");
            let n = self.seek_record(Some(block))?;
            block.truncate(block.len() - n.min(block.len()));
        }
        Ok(())
    }

    /// Reads up to a line that begins a record, into `block` if there is one. Returns the bytes of white space at its
    /// end.
    fn seek_record(&mut self, mut block: Option<&mut Vec<u8>>) -> Result<usize, String> {
        let mut line = Vec::new();
        let mut n_passed = 0;
        loop {
            line.clear();
            let n = (&mut self.source).take(MOST_HEAD).read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
            n_passed += n as u64;
            if n == 0 || line.starts_with(BEGIN) {
                self.source.give_back(std::mem::take(&mut line));
                let spaces = |block: &Vec<u8>| block.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
                return Ok(block.map_or(0, |block| spaces(block)));
            }
            if n_passed > MOST_RECORD {
                return Err(format!("no record begins within {MOST_RECORD} bytes"));
            }
            if let Some(block) = &mut block {
                block.extend_from_slice(&line);
            }
        }
    }

    /// Two line breaks follow a block.
    fn skip_line_ends(&mut self) -> Result<(), String> {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        while self.source.fill_buf().map_err(|e| e.to_string())?.first().is_some_and(is_end) {
            self.source.consume(1);
        }
        Ok(())
    }

    /// The next record of an archive of others.
    fn read_tolerant(&mut self) -> Result<Option<Member>, String> {
        loop {
            self.skip_line_ends()?;
            let offset = self.source.n;
            let next = self.source.fill_buf().map_err(|e| e.to_string())?;
            if next.is_empty() {
                return Ok(None);
            }
            if !next.starts_with(&BEGIN[..BEGIN.len().min(next.len())]) {
                self.tell(offset, "it does not begin with WARC/, passed over");
                self.seek_record(None)?;
                continue;
            }
            match record(&mut self.source, true) {
                Ok((headers, mut block, was_cut)) => {
                    self.mend(offset, &mut block, was_cut)?;
                    return Ok(Some(Member { offset, length: self.source.n - offset, headers, block }));
                }
                Err(_) if self.source.failed.is_some() => return Err(String::new()),
                Err(reason) => {
                    self.tell(offset, &format!("{reason}, passed over"));
                    self.seek_record(None)?;
                }
            }
        }
    }

    fn read(&mut self) -> Result<Option<Member>, String> {
        if self.is_tolerant {
            return self.read_tolerant();
        }
        if self.source.fill_buf().map_err(|e| e.to_string())?.is_empty() {
            return Ok(None);
        }
        let offset = self.source.n;
        let packed = match self.packed {
            Some(packed) => packed,
            None => self.source.fill_buf().map_err(|e| e.to_string())?.starts_with(b"\x1f\x8b"),
        };
        self.packed = Some(packed);
        let (headers, block) = if packed {
            let mut gzip = BufReader::new(flate2::bufread::GzDecoder::new(&mut self.source));
            let (headers, block, _) = record(&mut gzip, false)?;
            // Read to the end of the member, including its checksum.
            let rest = io::copy(&mut gzip.take(MOST_RECORD), &mut io::sink());
            rest.map_err(|e| e.to_string())?;
            (headers, block)
        } else {
            let (headers, block, _) = record(&mut self.source, false)?;
            self.skip_line_ends()?;
            (headers, block)
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

/// A record: its header lines, its block, and whether the archive ends within it, where that `may_be_cut`.
fn record(source: &mut impl BufRead, may_be_cut: bool) -> Result<(Head, Vec<u8>, bool), String> {
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
    let was_cut = (block.len() as u64) < length;
    if was_cut && !may_be_cut {
        return Err(format!("it has {} bytes of {length}", block.len()));
    }
    Ok((headers, block, was_cut))
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
        let mut numbers = date.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().ok());
        let mut next =
            |range: RangeInclusive<u32>| numbers.next().flatten().filter(|n| range.contains(n)).map(i64::from);
        let (year, month, day) = (next(0..=9999)?, next(1..=12)?, next(1..=31)?);
        let (hours, minutes, seconds) = (next(0..=23)?, next(0..=59)?, next(0..=60)?);
        Some((days_since_1970(year, month, day) * 86_400 + hours * 3600 + minutes * 60 + seconds) * 1000)
    }
}

/// Counts the bytes that were consumed.
struct Counted<R> {
    inner: R,
    /// Bytes that are read before those of `inner`, from `at` on.
    ahead: Vec<u8>,
    at: usize,
    n: u64,
    /// The last error of the operating system, as opposed to a malformed file.
    failed: Option<io::Error>,
}

impl<R> Counted<R> {
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|e| self.failed = Some(io::Error::new(e.kind(), e.to_string())))
    }
}

impl<R: BufRead> Counted<R> {
    /// Gives back what was read last.
    fn give_back(&mut self, bytes: Vec<u8>) {
        self.n -= bytes.len() as u64;
        let rest = self.ahead.split_off(self.at.min(self.ahead.len()));
        (self.ahead, self.at) = (bytes, 0);
        self.ahead.extend(rest);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.ahead.get(self.at..).filter(|ahead| !ahead.is_empty()) {
            Some(mut ahead) => ahead.read(buffer).inspect(|n| self.at += n),
            None => self.inner.read(buffer),
        };
        let n = self.note(read)?;
        self.n += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at < self.ahead.len() {
            return Ok(&self.ahead[self.at..]);
        }
        let failed = &mut self.failed;
        self.inner.fill_buf().inspect_err(|e| *failed = Some(io::Error::new(e.kind(), e.to_string())))
    }

    fn consume(&mut self, n: usize) {
        self.n += n as u64;
        if self.at < self.ahead.len() { self.at += n } else { self.inner.consume(n) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn response(n: usize, length: isize) -> Vec<u8> {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Page {n}.");
        let length = block.len() as isize + length;
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/{n}\r\nContent-Length: {length}\r\n\r\n"
        );
        format!("{head}{block}\r\n\r\n").into_bytes()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    /// The last words of the blocks that are read.
    fn read(archive: Vec<u8>) -> Vec<String> {
        let reader = Reader::tolerant(Path::new("a.warc"), Box::new(io::Cursor::new(archive))).unwrap();
        let blocks = reader.map(|member| String::from_utf8(member.unwrap().block).unwrap());
        // A length that is a little too large takes a part of the line ends behind the block.
        blocks.map(|block| block.rsplit("<p>").next().unwrap().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_wrong_length_costs_nothing_and_what_is_no_record_is_passed_over() {
        let all = ["Page 0.", "Page 1.", "Page 2."];
        for wrong in [-5, -1, 0, 1, 40, 10_000] {
            let archive = [response(0, 0), response(1, wrong), response(2, 0)].concat();
            assert_eq!(read(archive.clone()), all, "{wrong}");
            assert_eq!(read(gzip(&archive)), all, "{wrong}, many records in a member");
        }
        let junk = [response(0, 0), b"junk\r\nmore junk\r\n".to_vec(), response(1, 0), response(2, 0)].concat();
        assert_eq!(read(junk), all);
        let members = [gzip(&response(0, 0)), b"junk \x1f junk".to_vec(), gzip(&response(1, 0)), gzip(&response(2, 0))];
        assert_eq!(read(members.concat()), all);
        let mut damaged = [gzip(&response(0, 0)), gzip(&response(9, 0)), gzip(&response(1, 0)), gzip(&response(2, 0))];
        let middle = damaged[1].len() / 2;
        damaged[1].truncate(middle);
        let read = read(damaged.concat());
        assert!(read.starts_with(&["Page 0.".to_owned()]) && read.ends_with(&["Page 2.".to_owned()]), "{read:?}");
        // The reader of our own files says where they are broken.
        let archive = [response(0, 0), response(1, -5), response(2, 0)].concat();
        let own: Vec<bool> =
            Reader::new(Path::new("a.warc"), Box::new(io::Cursor::new(archive))).map(|member| member.is_ok()).collect();
        assert_eq!(own, [true, true, false]);
    }

    #[test]
    fn a_date_is_a_date() {
        let at = |date: &str| {
            let headers = vec![("WARC-Date".to_owned(), date.to_owned())];
            Member { offset: 0, length: 0, headers, block: Vec::new() }.at()
        };
        assert_eq!(at("1970-01-02T00:00:01Z"), Some(86_401_000));
        assert_eq!(at("2026-11-26T20:00:00.123Z").map(|at| at % 86_400_000), Some(20 * 3_600_000));
        for wrong in ["", "9223372036854775807-1-1T1:1:1Z", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "-1-1-1"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
