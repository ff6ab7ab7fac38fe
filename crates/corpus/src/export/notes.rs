//! A folder of Markdown files with front matter: one folder for each host, one file for each page.

use std::io;
use std::path::{Path, PathBuf};

use super::places::{self, place, write_whole};
use super::sink::{Raw, Sink};
use dehusk_core::corpus::Record;

pub(super) struct Notes {
    dir: PathBuf,
    size: u64,
}

impl Notes {
    pub(super) fn create(dir: &Path) -> io::Result<Notes> {
        Ok(Notes { dir: dir.to_owned(), size: 0 })
    }
}

/// The line of a file that names its page, and where its front matter ends.
fn mark(url: &str) -> (String, &'static str) {
    (format!("\nurl: {}\n", serde_json::Value::from(url)), "\n---\n")
}

/// Removes the file of a page, if it is there.
pub(super) fn remove(dir: &Path, url: &str) -> io::Result<()> {
    let (mark, end) = mark(url);
    places::remove(dir, url, "md", &mark, end)
}

impl Sink for Notes {
    fn push(&mut self, record: &Record, _: &Raw) -> io::Result<()> {
        let url = record.text("url").unwrap_or_default();
        let (mark, end) = mark(url);
        let path = self.dir.join(place(&self.dir, url, "md", &mark, end));
        let note = record.to_note();
        self.size += note.len() as u64;
        write_whole(&path, note.as_bytes())
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}
