//! A feed: new and changed pages, and pages that are gone, have moved, are blocked or have returned, as JSON lines,
//! appended to a file as a crawl commits them.
//!
//! A line is the row of an export with two fields before it: `seq`, which rises and is never given twice, and `change`;
//! where the page has moved, a third one, `moved_to`.
//! The position is written after the lines, so that a page is in the file at least once. A line that a kill has cut off
//! is removed when the feed goes on.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::rows::Rows;
use super::{BATCH, ExportError, ExportOptions};
use dehusk_files::on_disk::sync_file;
use dehusk_settings::Settings;
use dehusk_store::{FeedRow, Store};

/// A feed and how far it has come.
pub struct Feed {
    path: PathBuf,
    file: File,
    seq: i64,
}

/// `FILE.position`: the number of the last page that is in the feed.
fn position_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".position");
    PathBuf::from(name)
}

impl Feed {
    /// Opens a feed. One that goes on begins where it ended, a new one with the pages that are stored from now on.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if the file or the store cannot be used.
    pub fn open(path: &Path, store: &Store) -> Result<Feed, ExportError> {
        let seq = match fs::read_to_string(position_of(path)) {
            Ok(text) => text.trim().parse().map_err(|_| ExportError::Folder {
                path: position_of(path),
                what: format!("{:?} is no position of a feed; remove the file to begin anew", text.trim()),
            })?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => store.last_of_feed()?,
            Err(reason) => return Err(ExportError::Io { path: position_of(path), reason }),
        };
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            cut_last_line(&mut file)?;
            Ok(file)
        };
        let file = open().map_err(|reason| ExportError::Io { path: path.to_owned(), reason })?;
        let feed = Feed { path: path.to_owned(), file, seq };
        feed.write_position()?;
        Ok(feed)
    }

    /// Appends what the store has since. Returns the number of pages.
    ///
    /// # Errors
    ///
    /// [`ExportError`]; the next call goes on with the same pages.
    pub fn append(&mut self, store: &Store, settings: &Settings) -> Result<u64, ExportError> {
        let options = ExportOptions::default();
        let mut rows = Rows::new(store, settings, &options)?;
        rows.end_at(i64::MAX);
        let mut n = 0;
        loop {
            let found = store.feed_after(self.seq, BATCH)?;
            let Some(last) = found.last().map(|row| row.seq) else { return Ok(n) };
            let head = |row: &FeedRow| {
                let mut head = format!("{{\"seq\":{},\"change\":\"{}\",", row.seq, row.change);
                if let Some(target) = &row.moved_to {
                    head += &format!("\"moved_to\":{},", serde_json::json!(target));
                }
                head
            };
            // Whoever keeps a copy must learn that a page went, also where its owner wants it in no collection by now.
            let went = |row: &FeedRow| {
                let is_away = matches!(row.change.as_str(), "gone" | "moved" | "blocked");
                is_away.then(|| format!("\"url\":{}}}", serde_json::json!(row.page.url)))
            };
            let heads: Vec<_> = found.iter().map(|row| (head(row), went(row))).collect();
            let made = rows.make(found.into_iter().map(|row| row.page).collect())?;
            let mut lines = String::new();
            for ((head, went), made) in heads.into_iter().zip(made) {
                let record = made.ok().map(|made| made.record.to_json()[1..].to_owned());
                // Other pages that their owners want in no collection are left out.
                let Some(rest) = record.or(went) else { continue };
                n += 1;
                lines += &format!("{head}{rest}\n");
            }
            let written = self.file.write_all(lines.as_bytes()).and_then(|()| self.file.sync_data());
            written.map_err(|reason| ExportError::Io { path: self.path.clone(), reason })?;
            self.seq = last;
            self.write_position()?;
        }
    }

    fn write_position(&self) -> Result<(), ExportError> {
        let path = position_of(&self.path);
        let part = path.with_extension("position.part");
        let write = || -> io::Result<()> {
            fs::write(&part, format!("{}\n", self.seq))?;
            sync_file(&part)?;
            fs::rename(&part, &path)
        };
        write().map_err(|reason| ExportError::Io { path: path.clone(), reason })
    }
}

/// Removes what comes after the last line break.
fn cut_last_line(file: &mut File) -> io::Result<()> {
    let mut end = file.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let begin = end.saturating_sub(1 << 16);
        file.seek(SeekFrom::Start(begin))?;
        block.clear();
        (&mut *file).take(end - begin).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return file.set_len(begin + at as u64 + 1);
        }
        end = begin;
    }
    file.set_len(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("feed.jsonl");
        let store = Store::create(&dir.path().join("f.db"), 3).unwrap();
        let long = "x".repeat(200_000);
        for (before, after) in [
            (String::new(), String::new()),
            ("{}\n{}\n".to_owned(), "{}\n{}\n".to_owned()),
            ("{}\n{\"a".to_owned(), "{}\n".to_owned()),
            (format!("{{}}\n{long}"), "{}\n".to_owned()),
            (long, String::new()),
        ] {
            fs::write(&path, before).unwrap();
            drop(Feed::open(&path, &store).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
        fs::write(position_of(&path), "no number").unwrap();
        let error = Feed::open(&path, &store).map(drop).unwrap_err().to_string();
        assert!(error.contains("feed.jsonl.position") && error.contains("remove"), "{error}");
        // A position that cannot be read is no reason to begin at the end: pages would be lost.
        fs::remove_file(position_of(&path)).unwrap();
        fs::create_dir(position_of(&path)).unwrap();
        let error = Feed::open(&path, &store).map(drop).unwrap_err().to_string();
        assert!(error.contains("feed.jsonl.position"), "{error}");
    }
}
