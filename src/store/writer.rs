//! The one thread that owns the database of a crawl.
//!
//! Jobs come over a bounded channel; a full channel makes the sender wait, so a slow disk slows the crawl instead of
//! filling memory. Jobs are written in transactions that close after a fraction of a second.
//! Questions are jobs too: they see everything that was handed over before them. The first error ends the thread: what
//! was committed stays, and the crawl is told.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::sync::{mpsc, oneshot};

use super::{
    Change, Changes, Cleaned, KnownUrl, NewPage, NewUrl, NewVisit, NextUrlsQuery, Run, SiteId, SiteOutcome, SiteWork,
    Snapshot, Store, StoreError, UrlOutcome, VisitOutcome,
};
use crate::settings::Revisit;
use dehusk_core::internals::page_url::PageUrl;
use dehusk_core::internals::site_model::StoredTrainingSet;
use dehusk_core::internals::template::Template;

/// Jobs that may wait.
const QUEUE: usize = 256;

/// Longest time that a transaction stays open.
const COMMIT_AFTER: Duration = Duration::from_millis(100);

/// Longest time that a transaction waits for one more job; what it holds would be lost with the process.
const LULL: Duration = Duration::from_millis(4);

/// Something to write, or to look up.
#[derive(Debug)]
pub enum Job {
    /// A request ended without a page, for the row of this URL when it has one.
    Visit(NewVisit, Option<(PageUrl, UrlOutcome)>),
    /// A page came. In the walk through a site it comes with its cleaned form and its links.
    Page(Box<PageJob>),
    /// A page of a crawl for links.
    Seen(Box<SeenJob>),
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
    /// The search for the template of a site ended.
    Learned {
        /// The site.
        site: SiteId,
        /// Host and key page as they were found, when a redirect led to others than the seed's.
        found: Option<(String, String)>,
        /// What was learned.
        template: Option<Box<Template>>,
        /// Its pages without template.
        cleaned: Vec<Cleaned>,
        /// Links for the walk.
        links: Vec<NewUrl>,
        /// Unix milliseconds.
        at: i64,
        /// The number of the site from now on.
        reply: oneshot::Sender<SiteId>,
    },
    /// Further pages are witnesses of a site's template.
    ModelUpdated(SiteId, Box<StoredTrainingSet>),
    /// The stored template of a site is the one for this run.
    Kept(SiteId),
    /// URLs for the frontier.
    Links(SiteId, Vec<NewUrl>),
    /// A domain is put off until then.
    Domain(String, i64, String),
    /// The work on a site ended.
    SiteEnded(SiteId, SiteOutcome, i64),
    /// Which sites come next, beyond this one?
    NextSites(SiteId, usize, oneshot::Sender<Vec<SiteWork>>),
    /// Which URLs of a site come next?
    NextUrls(SiteId, NextUrlsQuery, oneshot::Sender<Vec<KnownUrl>>),
    /// What is this snapshot?
    Snapshot(i64, oneshot::Sender<Option<Snapshot>>),
    /// The run is over; the thread ends.
    RunEnded {
        /// `finished` or `interrupted`.
        outcome: &'static str,
        /// Unix milliseconds.
        at: i64,
    },
}

/// A page with all that belongs to it: written whole or not at all.
#[derive(Debug)]
pub struct PageJob {
    /// Its site.
    pub site: SiteId,
    /// The request that gave it.
    pub visit: NewVisit,
    /// The URL that was wanted, when a redirect led from it to the page.
    pub asked: Option<PageUrl>,
    /// The page.
    pub page: NewPage,
    /// Its cleaned form, when the template is known already.
    pub cleaned: Option<Cleaned>,
    /// Links for the frontier.
    pub links: Vec<NewUrl>,
    /// Is it the key page, and does it settle the template for this run?
    pub settles: bool,
}

/// A page of a crawl for links: it is not stored, its links are.
#[derive(Debug)]
pub struct SeenJob {
    /// Its site.
    pub site: SiteId,
    /// The request.
    pub visit: NewVisit,
    /// The URL that was wanted.
    pub url: PageUrl,
    /// Links for the frontier.
    pub links: Vec<NewUrl>,
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
    run: Run,
    changes: Arc<Changes>,
}

impl Writer {
    /// Starts the thread with a database in which a run was begun.
    pub fn start(store: Store, run: Run, revisit: Revisit) -> Result<Writer, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (path, changes) = (store.path.clone(), Arc::new(Changes::default()));
        let counts = Arc::clone(&changes);
        let spawned = std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            Transactions { store, run, revisit, changes: counts, templates: FxHashMap::default() }.write_all(queue)
        });
        let thread = spawned.map_err(|e| StoreError::Damaged {
            path,
            what: "writer thread".to_owned(),
            reason: e.to_string(),
        })?;
        Ok(Writer { jobs: Some(jobs), thread: Some(thread), run, changes })
    }

    /// The run that is written.
    pub fn run(&self) -> Run {
        self.run
    }

    /// How pages were found so far.
    pub fn changes(&self) -> &Changes {
        &self.changes
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
    run: Run,
    revisit: Revisit,
    changes: Arc<Changes>,
    /// Row of the newest template of each site that is worked on.
    templates: FxHashMap<SiteId, Option<i64>>,
}

impl Transactions {
    fn write_all(mut self, mut queue: mpsc::Receiver<Job>) -> Result<(), StoreError> {
        while let Some(first) = queue.blocking_recv() {
            let begun = Instant::now();
            self.begin()?;
            let mut next = Some(first);
            while let Some(job) = next {
                if let Err(error) = self.write(job) {
                    // A job is written whole or not at all; this one is not, and with it go those just before it, as
                    // in a crash.
                    let _ = self.store.connection.execute_batch("ROLLBACK");
                    return Err(error);
                }
                next = next_before(begun + COMMIT_AFTER, &mut queue);
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
        let (store, run) = (&self.store, self.run.id);
        match job {
            Job::Visit(visit, url) => {
                let mut change = None;
                if let (Some(site), Some((url, end))) = (visit.site_id, &url) {
                    let at = visit.sent_at.unwrap_or_else(now);
                    let was_there = store.end_url(run, site, url, end, at, &self.revisit)?;
                    change = match end {
                        UrlOutcome::Unchanged => Some(Change::Unchanged),
                        UrlOutcome::Gone if was_there => Some(Change::Gone),
                        UrlOutcome::Gone | UrlOutcome::Failed | UrlOutcome::Moved => None,
                    };
                }
                if let Some(change) = change {
                    self.changes.add(change);
                }
                store.save_visit(run, &visit, None, change.map(Change::as_str))?;
            }
            Job::Page(job) => self.page(*job)?,
            Job::Seen(job) => {
                let SeenJob { site, visit, url, links } = *job;
                let at = visit.sent_at.unwrap_or_else(now);
                store.end_url(run, site, &url, &UrlOutcome::Unchanged, at, &self.revisit)?;
                store.save_visit(run, &visit, None, None)?;
                for link in &links {
                    store.save_url(site, link)?;
                }
            }
            Job::Robots { origin, at, status, body } => store.save_robots(&origin, at, status, &body)?,
            Job::Learned { mut site, found, template, cleaned, links, at, reply } => {
                if let Some((host, key_url)) = found {
                    site = store.rename_site(run, site, &host, &key_url, at)?;
                }
                let template = match template {
                    Some(template) => Some(store.save_template(site, Some(run), at, &template)?),
                    None => None,
                };
                self.templates.insert(site, template);
                for page in &cleaned {
                    match store.save_cleaned(run, site, template, page, &self.revisit)? {
                        Some(change) => self.changes.add(change),
                        None => tracing::warn!("{}: cleaned, but not stored as fetched", page.url),
                    }
                }
                for link in &links {
                    store.save_url(site, link)?;
                }
                store.settle_template(run, site)?;
                // A crawl that has ended meanwhile needs no answer; so below.
                let _ = reply.send(site);
            }
            Job::ModelUpdated(site, family) => store.save_training_set(site, *family)?,
            Job::Kept(site) => store.settle_template(run, site)?,
            Job::Links(site, links) => {
                for link in &links {
                    store.save_url(site, link)?;
                }
            }
            Job::Domain(name, until, reason) => store.save_domain(&name, until, &reason)?,
            Job::SiteEnded(site, end, at) => {
                self.templates.remove(&site);
                store.end_site(site, &end, at)?;
            }
            Job::NextSites(after, n, reply) => {
                let _ = reply.send(store.next_sites(run, after, n, self.run.resumed)?);
            }
            Job::NextUrls(site, wish, reply) => {
                let _ = reply.send(store.next_urls(site, &wish)?);
            }
            Job::Snapshot(page, reply) => {
                let _ = reply.send(store.load_snapshot(page)?);
            }
            Job::RunEnded { outcome, at } => store.end_run(run, at, outcome)?,
        }
        Ok(())
    }

    fn page(&mut self, job: PageJob) -> Result<(), StoreError> {
        let (store, run) = (&self.store, self.run.id);
        let PageJob { site, visit, asked, page, cleaned, links, settles } = job;
        let template = match (&cleaned, self.templates.get(&site)) {
            (None, _) => None,
            (Some(_), Some(template)) => *template,
            (Some(_), None) => *self.templates.entry(site).or_insert(store.newest_template(site)?),
        };
        let form = cleaned.as_ref().map(|cleaned| (cleaned, template));
        let saved = store.save_page(run, site, &page, form, &self.revisit)?;
        if let Some(asked) = asked {
            store.end_url(run, site, &asked, &UrlOutcome::Moved, page.fetched_at, &self.revisit)?;
        }
        let unchanged = (saved.change == Some(Change::Unchanged)).then_some("unchanged");
        let visit = NewVisit { site_id: Some(site), ..visit };
        store.save_visit(run, &visit, Some(saved.page), unchanged)?;
        let change = match cleaned {
            Some(cleaned) if !saved.is_cleaned => store.save_cleaned(run, site, template, &cleaned, &self.revisit)?,
            Some(_) => saved.change,
            None => None,
        };
        if let Some(change) = change {
            self.changes.add(change);
        }
        for link in &links {
            store.save_url(site, link)?;
        }
        if settles {
            store.settle_template(run, site)?;
        }
        debug_assert!(visit.outcome == VisitOutcome::Fetched);
        Ok(())
    }
}

/// The next job of a transaction. A transaction costs more than a job, so a short lull does not end it.
fn next_before(end: Instant, queue: &mut mpsc::Receiver<Job>) -> Option<Job> {
    let end = end.min(Instant::now() + LULL);
    while Instant::now() < end {
        match queue.try_recv() {
            Ok(job) => return Some(job),
            Err(mpsc::error::TryRecvError::Empty) => std::thread::sleep(LULL / 8),
            Err(mpsc::error::TryRecvError::Disconnected) => return None,
        }
    }
    None
}

/// Unix milliseconds.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}
