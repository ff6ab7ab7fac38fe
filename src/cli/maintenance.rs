//! `dehusk prune`, `dehusk forget` and `dehusk backup`: retention, erasure and copies of the database.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use serde::Serialize;

use super::index::index_file;
use super::objects::{self, is_object};
use super::table::count;
use super::{Failure, Outcome, open_store};
use dehusk_files::warc::copies;
use dehusk_html::PageUrl;
use dehusk_settings::{ByHost, Keep, Settings};
use dehusk_store::{Forgotten, SearchIndex, Store, StoreError, host_hash};

/// Delete old versions of pages, and make the database smaller.
///
/// The newest version of each page always stays. Without options, store.keep_versions, store.keep_nights and
/// store.keep_bytes of the settings decide; `dehusk crawl` applies them after every run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk prune --versions 3
  dehusk prune --nights 30 --db dehusk.db
  dehusk prune --versions 1 --json")]
pub(super) struct Prune {
    /// Versions of each page to keep.
    #[arg(long, value_name = "COUNT")]
    versions: Option<usize>,
    /// Runs to keep old versions and the log of requests of.
    #[arg(long, value_name = "COUNT")]
    nights: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Remove every trace of a site or a page from the database, as its owner may ask.
///
/// A site is named by its host, a page by its URL. Pages of a host are found whatever site they are filed under.
/// Copies in archives (--warc) are not removed; they are listed with the number of their records.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk forget www.example.org
  dehusk forget https://www.example.org/people/jane.html
  dehusk forget --never www.example.org")]
pub(super) struct Forget {
    /// Host or URL.
    #[arg(value_name = "HOST|URL")]
    what: String,
    /// Keep it from coming back: no crawl into this database requests or stores it again.
    ///
    /// Only a hash of it is noted.
    #[arg(long)]
    never: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Copy the database to a new file, in one state, also while a crawl runs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk backup /backup/dehusk-$(date +%F).db
  dehusk backup s3://backups/dehusk-$(date +%F).db
  dehusk backup copy.db --db dehusk.db")]
pub(super) struct Backup {
    /// The new file, or its address in an object store (s3://, gs://, az://). None there is replaced.
    file: PathBuf,
}

impl Prune {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let keep = match (self.versions, self.nights) {
            (None, None) => settings.store.keep,
            (versions, nights) => {
                Keep { versions: versions.unwrap_or(0), nights: nights.unwrap_or(0), ..Keep::default() }
            }
        };
        let are_named = self.versions.is_some() || self.nights.is_some();
        let versions =
            ByHost::new(settings, move |of_host| if are_named { keep.versions } else { of_host.store.keep.versions });
        if keep == Keep::default() && (are_named || versions.is_uniform()) {
            let what = "nothing says what to keep: give --versions or --nights, or set store.keep_versions";
            return Err(Failure::Usage(anyhow!(what)));
        }
        let store = locked(settings)?;
        let pruned = store.prune(&keep, &versions).map_err(work)?;
        store.compact().map_err(work)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 1, "pruned": pruned}))?;
        } else {
            let (pages, visits) = (count(pruned.pages), count(pruned.visits));
            let megabytes = pruned.bytes as f64 / 1e6;
            writeln!(out, "{pages} old versions of pages and {visits} rows of the log deleted, {megabytes:.1} MB")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Forget {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let store = locked(settings)?;
        let forgotten = match PageUrl::parse(&self.what) {
            Ok(url) => {
                if store.is_training_page(url.as_str()).map_err(work)? {
                    tracing::warn!(
                        "{url} is a key page: its site's template stays; `dehusk forget {}` removes that, too",
                        url.authority()
                    );
                }
                store.forget_url(url.as_str()).map_err(work)?
            }
            Err(_) => store.forget_site(&self.what).map_err(work)?,
        };
        if self.never {
            let hash = PageUrl::parse(&self.what).map_or_else(|_| host_hash(&self.what), |url| url.fingerprint());
            store.keep_out(hash).map_err(work)?;
        }
        let rows = Forgotten { archives: Vec::new(), ..forgotten.clone() };
        if rows == Forgotten::default() && !self.never {
            self.forget_in_index(settings)?;
            let what = &self.what;
            return Err(Failure::Nothing(anyhow!(
                "{what}: nothing of it is stored; `dehusk pages list` shows what is"
            )));
        }
        store.compact().map_err(work)?;
        self.forget_in_index(settings)?;
        self.print(&forgotten)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Removes what is forgotten from the search index, too, where it is beside the database.
    fn forget_in_index(&self, settings: &Settings) -> Result<(), Failure> {
        let Some(file) = index_file(None, settings) else {
            tracing::warn!("an index that `dehusk index --file` has made still has it: delete that file");
            return Ok(());
        };
        let labels = PathBuf::from(format!("{}.gold.jsonl", settings.store.path));
        if labels.is_file() {
            tracing::warn!("{}: pages that were labeled in the inspector stay there with their HTML", labels.display());
        }
        if let Some(mut index) = SearchIndex::open_to_edit(&file).map_err(work)? {
            let what =
                PageUrl::parse(&self.what).map_or_else(|_| self.what.to_ascii_lowercase(), |url| url.to_string());
            index.forget(&what).map_err(work)?;
        }
        Ok(())
    }

    fn print(&self, forgotten: &Forgotten) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            let copies = copies_in(&forgotten.archives, &self.what);
            let report = serde_json::json!({"schema": 1, "forgotten": forgotten, "copies": copies});
            return writeln!(out, "{report}");
        }
        let Forgotten { pages, urls, visits, templates, sites, mentions, archives } = forgotten;
        writeln!(
            out,
            "removed: {} versions of pages, {} URLs, {} requests of the log, {} templates, {} sites, {} mentions",
            count(*pages),
            count(*urls),
            count(*visits),
            count(*templates),
            count(*sites),
            count(*mentions)
        )?;
        for copy in copies_in(archives, &self.what) {
            match copy.records {
                Some(n) => writeln!(out, "still in the archive {}: {} records", copy.file.display(), count(n))?,
                None => writeln!(out, "the archive {} cannot be looked at; it may hold copies", copy.file.display())?,
            }
        }
        if self.never {
            writeln!(out, "{} is not requested again by crawls into this database", self.what)?;
        }
        Ok(())
    }
}

impl Backup {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let name = self.file.to_string_lossy();
        let size = if is_object(&name) {
            // The copy is made on the disk, and is in the object store when all of it is.
            let folder = tempfile::tempdir()?;
            let copy = folder.path().join("copy.db");
            open_store(settings)?.back_up(&copy).map_err(work)?;
            objects::upload(&name, &copy).map_err(Failure::Work)?;
            std::fs::metadata(&copy)?.len()
        } else {
            open_store(settings)?.back_up(&self.file).map_err(work)?;
            std::fs::metadata(&self.file)?.len()
        };
        let size = size as f64 / 1e6;
        writeln!(io::stdout().lock(), "copied to {}, {size:.1} MB", self.file.display())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// An archive that holds copies.
#[derive(Serialize)]
struct Copies {
    file: PathBuf,
    /// Records; unknown where the folder cannot be read.
    records: Option<usize>,
}

/// The archives in these folders that hold copies of a host or a page.
fn copies_in(folders: &[String], what: &str) -> Vec<Copies> {
    let in_folder = |folder: &String| match copies(Path::new(folder), what) {
        Ok(found) => found.into_iter().map(|(file, n)| Copies { file, records: Some(n) }).collect(),
        Err(_) => vec![Copies { file: folder.into(), records: None }],
    };
    folders.iter().flat_map(in_folder).collect()
}

/// The database, while no crawl writes it.
fn locked(settings: &Settings) -> Result<Store, Failure> {
    let path = Path::new(&settings.store.path);
    if !dehusk_store::may_exist(&settings.store.path) {
        return Err(work(StoreError::Missing { path: path.to_owned() }));
    }
    let store = Store::create(path, settings.store.zstd_level).map_err(work)?;
    store.lock().map_err(work)?;
    Ok(store)
}

fn work(error: StoreError) -> Failure {
    Failure::Work(error.into())
}
