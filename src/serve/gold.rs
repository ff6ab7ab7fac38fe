//! The gold file: pages that a user has labeled, as JSON lines that `dehusk evaluate` reads.
//!
//! A line has `id`, `site`, `url`, `gold` (the main content), `labels` (run lengths of the counted nodes, `T` template,
//! `N` not) and `html`, and for the inspector itself `kinds`: the kind of each block. The file is written anew at each
//! save, beside the old one, and then takes its place.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::Refusal;

/// A labeled page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GoldPage {
    /// The URL, and the digest of the body: another version of a page is another page.
    pub(super) id: String,
    pub(super) site: String,
    pub(super) url: String,
    pub(super) gold: String,
    pub(super) labels: String,
    /// `t`, `n` or `m` for each block.
    pub(super) kinds: String,
    pub(super) html: String,
}

/// The file of a store, and who may write it now.
pub(super) struct GoldFile {
    path: Option<PathBuf>,
    writing: Mutex<()>,
}

/// What is read of a line to know whose it is.
#[derive(Deserialize)]
struct Id {
    id: String,
}

impl GoldFile {
    pub(super) fn at(path: Option<PathBuf>) -> GoldFile {
        GoldFile { path, writing: Mutex::new(()) }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// A labeled page.
    pub(super) fn page(&self, id: &str) -> Result<Option<GoldPage>, Refusal> {
        let Some(path) = self.path.as_deref().filter(|path| path.is_file()) else { return Ok(None) };
        for line in BufReader::new(fs::File::open(path).map_err(|e| failed(path, &e))?).lines() {
            let line = line.map_err(|e| failed(path, &e))?;
            if id_of(&line).is_some_and(|found| found == id) {
                return Ok(serde_json::from_str(&line).ok());
            }
        }
        Ok(None)
    }

    /// Saves a page in the place of an earlier label of it. Lines that are not understood stay. Returns the number of
    /// labeled pages.
    pub(super) fn save(&self, page: &GoldPage) -> Result<usize, Refusal> {
        let no_file = || Refusal::Wrong("name a file for labels: dehusk serve --gold FILE".to_owned());
        let path = self.path.as_deref().ok_or_else(no_file)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        written(path, page).map_err(|e| failed(path, &e))
    }
}

fn failed(path: &Path, error: &io::Error) -> Refusal {
    Refusal::Unwritten(format!("{}: {error}", path.display()))
}

fn id_of(line: &str) -> Option<String> {
    serde_json::from_str::<Id>(line).ok().map(|line| line.id)
}

fn written(path: &Path, page: &GoldPage) -> io::Result<usize> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut out = BufWriter::new(fs::File::create(&part)?);
    let mut n = 1;
    if path.is_file() {
        for line in BufReader::new(fs::File::open(path)?).lines() {
            let line = line?;
            if !line.is_empty() && id_of(&line).is_none_or(|id| id != page.id) {
                writeln!(out, "{line}")?;
                n += 1;
            }
        }
    }
    writeln!(out, "{}", serde_json::to_string(page)?)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&part, path)?;
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_one_line_and_foreign_lines_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g.jsonl");
        fs::write(&path, "{\"note\":\"mine\"}\nnot JSON\n").unwrap();
        let file = GoldFile::at(Some(path.clone()));
        let page = |id: &str, gold: &str| GoldPage {
            id: id.to_owned(),
            site: "a.org".to_owned(),
            url: "http://a.org/".to_owned(),
            gold: gold.to_owned(),
            labels: "N1".to_owned(),
            kinds: "m".to_owned(),
            html: "<p>x".to_owned(),
        };
        assert!(file.page("1").unwrap().is_none());
        for (id, gold) in [("1", "one"), ("2", "two"), ("1", "new")] {
            file.save(&page(id, gold)).unwrap();
        }
        assert_eq!(file.page("1").unwrap().unwrap().gold, "new");
        let lines = fs::read_to_string(&path).unwrap();
        assert!(lines.starts_with("{\"note\":\"mine\"}\nnot JSON\n") && lines.lines().count() == 4, "{lines}");
        assert!(GoldFile::at(None).save(&page("1", "x")).is_err());
    }
}
