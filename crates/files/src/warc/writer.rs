//! Appends records to numbered WARC files in a folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::WarcError;
use super::cdxj::{self, Fields};
use super::reader::Reader;
use super::record::{Record, RecordKind};
use crate::media_type::essence;
use crate::private_file::private_file;
use dehusk_core::calendar::digits;

/// Size at which a file is closed and the next one begun.
const MOST_BYTES: u64 = 1_000_000_000;

/// Writes the archives of one folder.
pub struct WarcWriter {
    dir: PathBuf,
    /// The `warcinfo` fields of each file.
    about: String,
    began: String,
    number: usize,
    most: u64,
    open: Option<OpenFile>,
    /// Lock on the folder, held while this writer lives.
    _lock: File,
}

struct OpenFile {
    file: File,
    name: String,
    at: u64,
    lines: Vec<String>,
}

/// A compressed record, with its index line.
pub struct Entry {
    bytes: Vec<u8>,
    index: Option<Index>,
}

struct Index {
    key: String,
    uri: String,
    mime: String,
    status: u16,
    digest: String,
}

impl Entry {
    /// Compresses a record. It gets an index line if `indexed` has status, type and payload digest.
    pub fn pack(record: &Record, indexed: Option<(u16, &str, &str)>) -> io::Result<Entry> {
        let index = indexed.map(|(status, mime, digest)| Index {
            key: cdxj::key(&record.uri, record.at),
            uri: record.uri.clone(),
            mime: if record.kind == RecordKind::Revisit { "warc/revisit".to_owned() } else { mime.to_owned() },
            status,
            digest: digest.strip_prefix("sha1:").unwrap_or(digest).to_owned(),
        });
        Ok(Entry { bytes: record.pack()?, index })
    }

    /// The compressed record.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its line in the index of the file where it stands at this offset.
    pub fn index_line(&self, offset: u64, filename: &str) -> Option<String> {
        self.index.as_ref().map(|index| index.line(offset, self.bytes.len() as u64, filename))
    }
}

impl WarcWriter {
    /// Opens a folder, and closes the files that a crash has left open in it.
    ///
    /// `about` are further fields of each file's `warcinfo` record. Those without a value are left out.
    pub fn open(dir: &Path, about: &[(&str, &str)], at: i64) -> Result<WarcWriter, WarcError> {
        let made = if dir.is_file() { Err(io::ErrorKind::NotADirectory.into()) } else { std::fs::create_dir_all(dir) };
        made.map_err(|reason| WarcError::Io { path: dir.to_owned(), reason })?;
        let lock = lock(dir)?;
        recover(dir)?;
        let own = [
            ("software", concat!("dehusk/", env!("CARGO_PKG_VERSION"))),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        ];
        let fields = own.iter().chain(about).filter(|(_, value)| !value.is_empty());
        let about: String = fields.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Ok(WarcWriter {
            dir: dir.to_owned(),
            about,
            began: digits(at),
            number: 0,
            most: MOST_BYTES,
            open: None,
            _lock: lock,
        })
    }

    /// Sets the size at which a file is closed.
    pub fn with_most(self, most: u64) -> WarcWriter {
        WarcWriter { most, ..self }
    }

    /// Appends related records to one file.
    pub fn write(&mut self, entries: &[Entry], at: i64) -> Result<(), WarcError> {
        if self.open.as_ref().is_some_and(|open| open.at >= self.most) {
            self.close()?;
        }
        if self.open.is_none() {
            self.open = Some(self.next_file(at)?);
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        let path = self.dir.join(&open.name);
        for entry in entries {
            // One call per record: only a crash of the system can truncate a record, and `recover` repairs that.
            open.file.write_all(&entry.bytes).map_err(|reason| WarcError::Io { path: path.clone(), reason })?;
            let length = entry.bytes.len() as u64;
            if let Some(index) = &entry.index {
                open.lines.push(index.line(open.at, length, &open.name));
            }
            open.at += length;
        }
        Ok(())
    }

    /// Closes the current file.
    pub fn close(&mut self) -> Result<(), WarcError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let path = self.dir.join(&open.name);
        open.file.sync_all().map_err(|reason| WarcError::Io { path: path.clone(), reason })?;
        complete(&path, open.lines)
    }

    fn next_file(&mut self, at: i64) -> Result<OpenFile, WarcError> {
        loop {
            let name = format!("dehusk-{}-{:05}.warc.gz", self.began, self.number);
            self.number += 1;
            let path = self.dir.join(&name);
            let opened = private_file().create_new(true).open(open_name(&path));
            let file = match opened {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                _ if path.exists() => {
                    let _ = std::fs::remove_file(open_name(&path));
                    continue;
                }
                opened => opened.map_err(|reason| WarcError::Io { path: path.clone(), reason })?,
            };
            let mut open = OpenFile { file, name: name.clone(), at: 0, lines: Vec::new() };
            let info =
                Record::new(RecordKind::Warcinfo, "", at, "application/warc-fields", self.about.clone().into_bytes())
                    .with("WARC-Filename", name);
            let bytes = info.pack().map_err(|reason| WarcError::Io { path: path.clone(), reason })?;
            open.file.write_all(&bytes).map_err(|reason| WarcError::Io { path, reason })?;
            open.at = bytes.len() as u64;
            return Ok(open);
        }
    }
}

impl Index {
    fn line(&self, offset: u64, length: u64, filename: &str) -> String {
        let (status, offset, length) = (self.status.to_string(), offset.to_string(), length.to_string());
        let fields =
            Fields { url: &self.uri, mime: &self.mime, status, digest: &self.digest, length, offset, filename };
        cdxj::line(&self.key, &fields)
    }
}

/// Locks a folder against other crawls, which would take the current `.open` file for the remains of a crash.
fn lock(dir: &Path) -> Result<File, WarcError> {
    let path = dir.join(".lock");
    let file = private_file().create(true).truncate(false).open(&path);
    let file = file.map_err(|reason| WarcError::Io { path, reason })?;
    file.try_lock().map_err(|_| WarcError::Locked { path: dir.to_owned() })?;
    Ok(file)
}

fn open_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".open");
    PathBuf::from(name)
}

/// Writes the index of a file, then renames the file to its final name.
fn complete(path: &Path, mut lines: Vec<String>) -> Result<(), WarcError> {
    lines.sort_unstable();
    let index = path.with_extension("").with_extension("cdxj");
    let written = private_file().create(true).truncate(true).open(&index);
    let written = written.and_then(|mut file| file.write_all(lines.concat().as_bytes()));
    written.map_err(|reason| WarcError::Io { path: index, reason })?;
    std::fs::rename(open_name(path), path).map_err(|reason| WarcError::Io { path: path.to_owned(), reason })
}

/// Truncates files that a crash has left open after their last complete record, and closes them.
fn recover(dir: &Path) -> Result<(), WarcError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |reason| WarcError::Io { path: path.clone(), reason }
    };
    for found in std::fs::read_dir(dir).map_err(io(dir))? {
        let open = found.map_err(io(dir))?.path();
        let Some(name) =
            open.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".warc.gz.open"))
        else {
            continue;
        };
        let path = dir.join(format!("{name}.warc.gz"));
        let file_name = format!("{name}.warc.gz");
        let (mut lines, mut end) = (Vec::new(), 0);
        for member in Reader::open(&open)? {
            let member = match member {
                Ok(member) => member,
                // The crash truncated the first broken record.
                Err(WarcError::Broken { .. }) => break,
                // A read error says nothing about the contents of the file.
                Err(error) => return Err(error),
            };
            end = member.offset + member.length;
            if let Some(index) = member.index() {
                lines.push(index.line(member.offset, member.length, &file_name));
            }
        }
        if end == 0 {
            std::fs::remove_file(&open).map_err(io(&open))?;
            continue;
        }
        let file = OpenOptions::new().write(true).open(&open).map_err(io(&open))?;
        file.set_len(end).and_then(|()| file.sync_all()).map_err(io(&open))?;
        drop(file);
        complete(&path, lines)?;
        tracing::info!("{}: closed after a crash, {end} bytes are whole", path.display());
    }
    Ok(())
}

impl super::Member {
    /// The index line of the record, if it gets one.
    fn index(&self) -> Option<Index> {
        let is_revisit = self.kind() == "revisit";
        if !is_revisit && self.kind() != "response" {
            return None;
        }
        // The `revisit` record of an unmodified page has no HTTP head.
        let response = super::http::parse_head(&self.block);
        let uri = self.header("WARC-Target-URI")?.to_owned();
        let at = self.at().unwrap_or(0);
        let content_type = response.as_ref().and_then(|head| head.header("content-type"));
        let mime = if is_revisit { "warc/revisit".to_owned() } else { essence(content_type) };
        let mime = if mime.is_empty() { "unk".to_owned() } else { mime };
        let digest = self.header("WARC-Payload-Digest").unwrap_or_default();
        Some(Index {
            key: cdxj::key(&uri, at),
            uri,
            mime,
            status: response.map_or(304, |head| head.status),
            digest: digest.strip_prefix("sha1:").unwrap_or(digest).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(uri: &str, body: &str) -> Entry {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=x\r\n\r\n";
        let record = Record::new(
            RecordKind::Response,
            uri,
            1000,
            "application/http;msgtype=response",
            format!("{head}{body}").into_bytes(),
        )
        .with("WARC-Payload-Digest", super::super::payload_digest(body.as_bytes()));
        Entry::pack(&record, Some((200, "text/html", &super::super::payload_digest(body.as_bytes())))).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".lock");
        names.sort();
        names
    }

    #[test]
    fn files_rotate_are_indexed_and_survive_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = WarcWriter::open(dir.path(), &[("operator", "me")], 0).unwrap().with_most(1);
        writer.write(&[entry("http://b.org/", "two")], 0).unwrap();
        writer.write(&[entry("http://b.org/", "three"), entry("http://a.org/x", "four")], 0).unwrap();
        assert_eq!(names(dir.path()).len(), 3, "one complete with its index, one open");
        let open = dir.path().join("dehusk-19700101000000-00001.warc.gz.open");
        let whole = std::fs::metadata(&open).unwrap().len();
        drop(writer);
        // A truncated record at the end.
        let torn = entry("http://c.org/", &"torn ".repeat(100)).bytes;
        let mut file = OpenOptions::new().append(true).open(&open).unwrap();
        file.write_all(&torn[..torn.len() - 7]).unwrap();
        let mut writer = WarcWriter::open(dir.path(), &[("operator", "me")], 0).unwrap();
        assert!(matches!(WarcWriter::open(dir.path(), &[("operator", "me")], 0), Err(WarcError::Locked { .. })));
        let closed = dir.path().join("dehusk-19700101000000-00001.warc.gz");
        assert_eq!(std::fs::metadata(&closed).unwrap().len(), whole);
        let index = std::fs::read_to_string(dir.path().join("dehusk-19700101000000-00001.cdxj")).unwrap();
        let keys: Vec<&str> = index.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(keys, ["org,a)/x", "org,b)/"]);
        for line in index.lines() {
            let fields: serde_json::Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
            let place = |key: &str| fields[key].as_str().unwrap().parse::<usize>().unwrap();
            let bytes = std::fs::read(&closed).unwrap();
            let piece = &bytes[place("offset")..place("offset") + place("length")];
            let mut text = String::new();
            io::Read::read_to_string(&mut flate2::read::GzDecoder::new(piece), &mut text).unwrap();
            assert!(text.contains(fields["url"].as_str().unwrap()), "{text}");
        }
        writer.write(&[entry("http://d.org/", "five")], 0).unwrap();
        writer.close().unwrap();
        assert!(names(dir.path()).iter().all(|name| !name.ends_with(".open")));
        let read: Vec<_> = Reader::open(&closed).unwrap().map(|member| member.unwrap().kind().to_owned()).collect();
        assert_eq!(read, ["warcinfo", "response", "response"]);
    }
}
