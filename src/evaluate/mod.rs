//! Evaluation of a method: node scores and main-content scores against a gold standard.
//!
//! `sites.rs` evaluates a corpus of whole sites, ours or TECO (`teco.rs`), `pile.rs` a JSON-lines file of pages.
//! `dehusk_papers::scores` has the two measures, `report.rs` the figures to print. Node scores are macro means
//! over the pages of a site, then over the sites. Word scores are means over all pages.

mod features;
mod pile;
mod report;
mod sites;
mod source;
mod taught;
mod teco;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

pub use report::{Report, SiteRow};

use dehusk_files::folder::FolderError;
use dehusk_files::unpacked::open;
use dehusk_papers::method_table::MethodEntry;
use dehusk_settings::Settings;
use dehusk_template::method::Method;

/// Gold of one page.
#[derive(Default)]
struct PageGold {
    labels: Vec<u8>,
    words: Option<Vec<String>>,
}

/// Which pages of a site are labeled and scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The key page of each site.
    Key,
    /// The key page and the pages that have main-content gold.
    Gold,
    /// Every page, including the training pages.
    All,
    /// Each page with main-content gold, as the key page of its site in turn.
    EachKey,
}

/// What to evaluate.
pub struct Task<'a> {
    /// A sites folder or a JSON-lines file.
    pub corpus: &'a Path,
    /// The method.
    pub method: &'static MethodEntry,
    /// Which pages are labeled and scored.
    pub which: Which,
    /// Whether all pages of the site are added to the model before they are scored.
    pub add_all: bool,
    /// Pages of each site that the gold labels, as with `dehusk teach`; they are not scored.
    pub teach: usize,
    /// Folder for the features of the nodes of each page, to train forests.
    pub features: Option<&'a Path>,
    /// Parameters.
    pub settings: &'a Settings,
}

/// Why a corpus could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The path is neither form of a corpus.
    #[error("{path}: neither a folder with gold.toml, nor folders of TECO, nor a file of pages as JSON lines")]
    NotACorpus {
        /// The path as given.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A line or table does not have the expected form.
    #[error("{path}{}: {reason}", line.map(|n| format!(", line {n}")).unwrap_or_default())]
    Form {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// A folder of pages could not be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// An archive could not be read.
    #[error(transparent)]
    Warc(#[from] dehusk_files::warc::WarcError),
    /// An archive lacks a page that has labels.
    #[error("{file}: no page with the path {page}")]
    NotArchived {
        /// The archive.
        file: PathBuf,
        /// Path of the page.
        page: String,
    },
}

/// One labeled page, as `--dump` writes it.
#[derive(Clone, Debug, Serialize)]
pub struct Marked {
    /// Method.
    pub method: Method,
    /// Site.
    pub site: String,
    /// Path of the page.
    pub page: String,
    /// Run-length labels of the counted nodes.
    pub labels: String,
    /// Id of the page in the main-content gold.
    pub id: String,
    /// Text that is not template.
    pub t: String,
    /// Confidence of the labels.
    pub confidence: f64,
}

/// What was learned for one site, in a form comparable with other implementations.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Learning {
    /// Number of counted nodes of the key page.
    pub nodes: usize,
    /// Number of usable links of the key page.
    pub links: usize,
    /// Number of pages loaded.
    pub loads: usize,
    /// Number of pages requested.
    pub requests: usize,
    /// Paths of the pages that voted.
    pub cs: Vec<String>,
    /// Number of votes that make a node template; 0 if the site model labels.
    pub min_votes: usize,
}

/// Elapsed time of the stages, for pages already in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Learning a site: parsing of all its training pages, link order, search, votes.
    pub learn: Duration,
    /// Votes, or learning of the site model, alone.
    pub vote: Duration,
    /// Cleaning the pages, including parsing where pages are parsed one by one; a sum.
    pub clean: Duration,
    /// Labeling the parsed pages; a sum.
    pub label: Duration,
    /// Number of pages in `clean`.
    pub n_cleaned: usize,
}

/// Runs a task. Every labeled page is passed to `dump` in a stable order.
pub fn evaluate(task: &Task<'_>, mut dump: impl FnMut(&Marked)) -> Result<Report, EvaluateError> {
    if task.corpus.is_dir() && task.corpus.join("gold.toml").is_file() {
        sites::evaluate(task, &mut dump)
    } else if task.corpus.is_dir() {
        sites::evaluate_teco(task, &mut dump)
    } else if !task.corpus.is_dir() && (task.corpus.exists() || task.corpus.as_os_str() == "-") {
        pile::evaluate(task, &mut dump)
    } else {
        Err(EvaluateError::NotACorpus { path: task.corpus.to_owned() })
    }
}

fn read(path: &Path) -> Result<String, EvaluateError> {
    let unreadable = |reason| EvaluateError::File { path: path.to_owned(), reason };
    let mut text = String::new();
    open(path).map_err(unreadable)?.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Parses the JSON lines of a file. The error for a malformed line has its number.
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
