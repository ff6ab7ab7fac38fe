//! The one thread that writes.
//!
//! Jobs come over a bounded channel; a full channel makes the sender wait, so a slow disk slows the crawl instead of
//! filling memory. Jobs are written in transactions that close when nothing waits or after a fraction of a second.
//! The first error ends the thread: what was committed stays, and the crawl is told.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::sync::mpsc;

use super::{Cleaned, NewPage, NewVisit, SiteEnd, Store, StoreError};
use crate::template::Template;

/// Jobs that may wait.
const QUEUE: usize = 256;

/// Longest time that a transaction stays open.
const COMMIT_AFTER: Duration = Duration::from_millis(250);

/// Number of a site within one run, given by the crawl before SQLite has seen the site.
pub type SiteNumber = u32;

/// Something to write.
#[derive(Debug)]
pub enum Job {
    /// The work on a site begins.
    SiteBegun {
        /// Number of the site in this run.
        site: SiteNumber,
        /// Host.
        host: String,
        /// Key page.
        key_url: String,
        /// Unix milliseconds.
        at: i64,
    },
    /// A request ended. The `site_id` of the visit is filled in here.
    Visit(Option<SiteNumber>, NewVisit),
    /// A page came. The `site_id` of the page is filled in here.
    Page(SiteNumber, NewPage),
    /// A robots.txt was answered.
    Robots {
        /// Its origin.
        origin: String,
        /// Unix milliseconds.
        at: i64,
        /// HTTP status; `None` when it could not be reached.
        status: Option<u16>,
        /// Body.
        body: Vec<u8>,
    },
    /// The work on a site ended.
    SiteEnded {
        /// Number of the site in this run.
        site: SiteNumber,
        /// Host and key page as they were found, when a redirect led to others than the seed's.
        found: Option<(String, String)>,
        /// How.
        end: SiteEnd,
        /// What was learned.
        template: Option<Box<Template>>,
        /// Its pages without template.
        cleaned: Vec<Cleaned>,
        /// Unix milliseconds.
        at: i64,
    },
    /// The run is over; the thread ends.
    RunEnded {
        /// `finished` or `interrupted`.
        outcome: &'static str,
        /// Unix milliseconds.
        at: i64,
    },
}

/// Why a job could not be handed over: the thread has ended.
#[derive(Debug, thiserror::Error)]
#[error("the database writer has stopped")]
pub struct WriterError;

/// The crawl's end of the channel.
///
/// Dropping it waits for the thread, so that what was handed over is committed even when the crawl ends in a panic.
pub struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Writer {
    /// Opens the database, begins a run and starts the thread.
    pub fn start(path: &Path, zstd_level: i32, settings: &str, at: i64) -> Result<Writer, StoreError> {
        let store = Store::create(path, zstd_level)?;
        let run = store.begin_run(at, settings)?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        let spawned = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || Transactions { store, run, sites: FxHashMap::default() }.write_all(queue));
        let thread = spawned.map_err(|e| StoreError::Damaged {
            path: path.to_owned(),
            what: "writer thread".to_owned(),
            reason: e.to_string(),
        })?;
        Ok(Writer { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Hands a job over; waits while the queue is full.
    pub async fn send(&self, job: Job) -> Result<(), WriterError> {
        let jobs = self.jobs.as_ref().ok_or(WriterError)?;
        jobs.send(job).await.map_err(|_| WriterError)
    }

    /// Waits for the thread and says how it ended.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.join().unwrap_or(Ok(()))
    }

    fn join(&mut self) -> Option<Result<(), StoreError>> {
        self.jobs = None;
        match self.thread.take()?.join() {
            Ok(outcome) => Some(outcome),
            Err(panic) if !std::thread::panicking() => std::panic::resume_unwind(panic),
            Err(_) => None,
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.join();
    }
}

struct Transactions {
    store: Store,
    run: i64,
    sites: FxHashMap<SiteNumber, i64>,
}

impl Transactions {
    fn write_all(mut self, mut queue: mpsc::Receiver<Job>) -> Result<(), StoreError> {
        while let Some(first) = queue.blocking_recv() {
            let begun = Instant::now();
            self.begin()?;
            let mut next = Some(first);
            while let Some(job) = next {
                if let Err(error) = self.write(job) {
                    // The rows of this transaction before the error are whole; keep them where that is possible.
                    let _ = self.store.connection.execute_batch("COMMIT");
                    return Err(error);
                }
                next = if begun.elapsed() < COMMIT_AFTER { queue.try_recv().ok() } else { None };
            }
            self.store.wrap(self.store.connection.execute_batch("COMMIT"))?;
        }
        // Leaves one file, without its log beside it.
        let _ = self.store.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize;");
        Ok(())
    }

    /// Begins a transaction. Another program that holds the file is waited for; meanwhile the queue fills and the
    /// crawl slows down.
    fn begin(&self) -> Result<(), StoreError> {
        loop {
            match self.store.connection.execute_batch("BEGIN IMMEDIATE") {
                Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                    tracing::warn!("{}: another program is writing to it, waiting", self.store.path.display());
                }
                outcome => return self.store.wrap(outcome),
            }
        }
    }

    fn write(&mut self, job: Job) -> Result<(), StoreError> {
        let (store, run) = (&self.store, self.run);
        match job {
            Job::SiteBegun { site, host, key_url, at } => {
                let id = store.begin_site(run, &host, &key_url, at)?;
                self.sites.insert(site, id);
            }
            Job::Visit(site, mut visit) => {
                visit.site_id = site.and_then(|site| self.sites.get(&site).copied());
                store.save_visit(run, &visit)?;
            }
            Job::Page(site, mut page) => {
                if let Some(id) = self.sites.get(&site) {
                    page.site_id = *id;
                    store.save_page(run, &page)?;
                }
            }
            Job::Robots { origin, at, status, body } => store.save_robots(&origin, at, status, &body)?,
            Job::SiteEnded { site, found, end, template, cleaned, at } => {
                let Some(mut id) = self.sites.remove(&site) else { return Ok(()) };
                if let Some((host, key_url)) = found {
                    id = store.rename_site(run, id, &host, &key_url, at)?;
                }
                let template = match template {
                    Some(template) => Some(store.save_template(id, Some(run), at, &template)?),
                    None => None,
                };
                for page in &cleaned {
                    if !store.save_cleaned(run, template, page)? {
                        tracing::warn!("{}: cleaned, but not stored as fetched", page.url);
                    }
                }
                store.end_site(id, &end, at)?;
            }
            Job::RunEnded { outcome, at } => store.end_run(run, at, outcome)?,
        }
        Ok(())
    }
}
