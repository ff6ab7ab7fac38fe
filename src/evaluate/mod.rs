//! How good is a method? Node scores and main-content scores against a gold standard.
//!
//! `sites.rs` measures a corpus of whole sites, `pile.rs` JSON lines of pages; `nodes.rs` and `words.rs` hold the two
//! measures, `report.rs` what is printed. Means are macro means: over the pages of a site, then over the sites.

mod nodes;
mod pile;
mod report;
mod sites;
mod source;
mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

pub use nodes::{Score, expand, node_score};
pub use report::{Report, SiteRow};
pub use words::{WordScore, bag_score, lcs_score, tokens};

use crate::folder::FolderError;
use crate::settings::Settings;
use dehusk_core::internals::method::Method;
use dehusk_core::internals::methods::MethodEntry;

/// Which pages of a site are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The key page of each site.
    Key,
    /// The pages that have a main-content gold.
    Gold,
    /// Every page, those of the training set too.
    All,
}

/// What to evaluate.
pub struct Task<'a> {
    /// A sites folder or a JSON-lines file.
    pub corpus: &'a Path,
    /// The method.
    pub method: &'static MethodEntry,
    /// Which pages are marked.
    pub which: Which,
    /// Is the whole site seen once before its pages are marked?
    pub add_all: bool,
    /// Parameters.
    pub settings: &'a Settings,
}

/// Why a corpus could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The path is neither form.
    #[error("{path}: neither a folder with gold.toml nor a .jsonl file of pages")]
    NotACorpus {
        /// As given.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A line or table has not the expected form.
    #[error("{path}{}: {reason}", line.map(|n| format!(", line {n}")).unwrap_or_default())]
    Form {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// A folder of pages could not be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// An archive could not be read.
    #[error(transparent)]
    Warc(#[from] crate::warc::WarcError),
    /// An archive does not hold a page that has labels.
    #[error("{file}: holds no page of the path {page}")]
    NotArchived {
        /// The archive.
        file: PathBuf,
        /// Path of the page.
        page: String,
    },
}

/// One marked page, as `--dump` writes it.
#[derive(Clone, Debug, Serialize)]
pub struct Marked {
    /// Method.
    pub method: Method,
    /// Site.
    pub site: String,
    /// Path of the page.
    pub page: String,
    /// Run-length labels over the counted nodes.
    pub labels: String,
    /// Name of the page in the main-content gold.
    pub id: String,
    /// Text that is not template.
    pub t: String,
    /// Share of the template that the page shows.
    pub confidence: f64,
}

/// What was learned for one site, comparable with other implementations.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Learning {
    /// Counted nodes of the key page.
    pub nodes: usize,
    /// Usable links of the key page.
    pub links: usize,
    /// Pages loaded.
    pub loads: usize,
    /// Pages asked for.
    pub requests: usize,
    /// Paths of the pages that voted.
    pub cs: Vec<String>,
    /// Votes that made a node template; 0 when the site model labeled.
    pub min_votes: usize,
}

/// CPU of the stages, for pages already in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Learning a site: parsing all its training pages, order, search, votes.
    pub learn: Duration,
    /// Votes alone.
    pub vote: Duration,
    /// Cleaning one page, parsing included where pages are parsed one by one; a sum.
    pub clean: Duration,
    /// Labelling a page that is parsed; a sum.
    pub label: Duration,
    /// Pages in `clean`.
    pub n_cleaned: usize,
}

/// Runs a task. `dump` is handed every marked page in a stable order.
pub fn evaluate(task: &Task<'_>, mut dump: impl FnMut(&Marked)) -> Result<Report, EvaluateError> {
    if task.corpus.is_dir() && task.corpus.join("gold.toml").is_file() {
        sites::evaluate(task, &mut dump)
    } else if task.corpus.is_file() {
        pile::evaluate(task, &mut dump)
    } else {
        Err(EvaluateError::NotACorpus { path: task.corpus.to_owned() })
    }
}

fn read(path: &Path) -> Result<String, EvaluateError> {
    std::fs::read_to_string(path).map_err(|reason| EvaluateError::Unreadable { path: path.to_owned(), reason })
}

/// JSON lines of a file; a line that has not the expected form is named by its number.
fn json_lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>, EvaluateError> {
    read(path)?
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|e| EvaluateError::Form {
                path: path.to_owned(),
                line: Some(at + 1),
                reason: e.to_string(),
            })
        })
        .collect()
}
