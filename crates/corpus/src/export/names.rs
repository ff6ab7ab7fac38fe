//! The names of the documents of a corpus by number, on the disk, so that memory does not grow with them.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use super::duplicates::PageUrls;

/// Bytes of an entry of the index: where a name ends.
const ENTRY: u64 = 8;

/// Two files: the names one behind the other, and where each of them ends. Numbers begin at 1.
pub(super) struct Names {
    path: PathBuf,
    files: RefCell<Files>,
}

struct Files {
    names: BufWriter<File>,
    ends: BufWriter<File>,
    /// Bytes of all names.
    end: u64,
}

impl Names {
    /// Opens the files of a folder, with the first `n` names.
    pub(super) fn open(dir: &Path, n: u64) -> io::Result<Names> {
        let open =
            |name: &str| OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join(name));
        let (mut names, mut ends) = (open("names")?, open("name-ends")?);
        let end = if n == 0 { 0 } else { entry(&mut ends, n)? };
        for (file, length) in [(&mut names, end), (&mut ends, n * ENTRY)] {
            file.set_len(length)?;
            file.seek(SeekFrom::Start(length))?;
        }
        let files = Files { names: BufWriter::new(names), ends: BufWriter::new(ends), end };
        Ok(Names { path: dir.join("names"), files: RefCell::new(files) })
    }

    /// Adds the name of the next document.
    pub(super) fn push(&self, name: &str) -> io::Result<()> {
        let files = &mut *self.files.borrow_mut();
        files.names.write_all(name.as_bytes())?;
        files.end += name.len() as u64;
        files.ends.write_all(&files.end.to_le_bytes())
    }

    /// Writes the names to the disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        let files = &mut *self.files.borrow_mut();
        files.flush()?;
        files.names.get_ref().sync_all()?;
        files.ends.get_ref().sync_all()
    }

    fn find(&self, number: u64) -> io::Result<String> {
        let files = &mut *self.files.borrow_mut();
        files.flush()?;
        let ends = files.ends.get_mut();
        let begin = if number <= 1 { 0 } else { entry(ends, number - 1)? };
        let end = entry(ends, number)?;
        ends.seek(SeekFrom::End(0))?;
        let names = files.names.get_mut();
        names.seek(SeekFrom::Start(begin))?;
        let mut name = vec![0; end.saturating_sub(begin) as usize];
        names.read_exact(&mut name)?;
        names.seek(SeekFrom::End(0))?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }
}

impl Files {
    fn flush(&mut self) -> io::Result<()> {
        self.names.flush()?;
        self.ends.flush()
    }
}

fn entry(ends: &mut File, number: u64) -> io::Result<u64> {
    let mut entry = [0; ENTRY as usize];
    ends.seek(SeekFrom::Start((number - 1) * ENTRY))?;
    ends.read_exact(&mut entry)?;
    Ok(u64::from_le_bytes(entry))
}

impl PageUrls for Names {
    fn url_of(&self, page: i64) -> Result<Option<String>, ExportError> {
        let found = self.find(page as u64);
        found.map(Some).map_err(|reason| ExportError::Io { path: self.path.clone(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number_also_after_a_kill() {
        let dir = tempfile::tempdir().unwrap();
        let names = Names::open(dir.path(), 0).unwrap();
        ["rye", "", "oats"].iter().for_each(|name| names.push(name).unwrap());
        assert_eq!(names.find(1).unwrap() + "|" + &names.find(2).unwrap() + "|" + &names.find(3).unwrap(), "rye||oats");
        names.push("barley").unwrap();
        drop(names);
        // Two of them count: the others are named again.
        let names = Names::open(dir.path(), 2).unwrap();
        names.push("wheat").unwrap();
        assert_eq!((names.find(3).unwrap(), names.find(1).unwrap()), ("wheat".to_owned(), "rye".to_owned()));
        assert!(names.find(4).is_err());
    }
}
