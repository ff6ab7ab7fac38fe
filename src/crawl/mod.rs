//! The engine: the only place where the stages meet.
//!
//! One task (`scheduler.rs`) owns the frontier and all sites and handles one closed enum of events. Requests run as tokio
//! tasks, parsing and learning on a pool of CPU threads, SQLite on the store's thread; all of them report by event or
//! take jobs over bounded channels. Nothing else is shared, so nothing is locked.
//!
//! Life of a site: seed -> robots.txt -> key page -> links in order until the search is done -> vote -> template and
//! cleaned pages stored. A site's failure is an outcome with a reason, never the end of the crawl.
//!
//! Shutdown: a stop lets what is out come home and stores it; sites in the middle end as interrupted.

mod scheduler;
mod answers;
mod ends;
mod event;
mod origin;
mod single;
mod site;
mod stats;

use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;

use scheduler::Scheduler;
pub use single::{Single, SingleError};
pub use stats::{Progress, SiteSummary, Stats, Summary};

use crate::fetch::{ClientError, Gate};
use crate::page::PageUrl;
use crate::settings::Settings;
use crate::store::{StoreError, Writer, WriterError};

/// Why a crawl could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The database cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pool of CPU threads cannot be started.
    #[error("cannot start CPU threads: {0}")]
    Threads(String),
}

/// Asks a running crawl to end; dropping it changes nothing.
#[derive(Clone)]
pub struct Stop(mpsc::Sender<()>);

impl Stop {
    /// A stop and what the crawl listens to.
    pub fn new() -> (Stop, mpsc::Receiver<()>) {
        let (sender, receiver) = mpsc::channel(1);
        (Stop(sender), receiver)
    }

    /// No new request from now on; what is out comes home and is stored.
    pub fn stop(&self) {
        // A full channel means that it was said already.
        let _ = self.0.try_send(());
    }
}

/// Crawls the sites of these key pages. `watch` is told of every site that ends and now and then how far things are.
pub async fn crawl(
    seeds: Vec<PageUrl>,
    settings: &Settings,
    stop: mpsc::Receiver<()>,
    watch: &mut (dyn FnMut(Progress<'_>) + Send),
) -> Result<Summary, CrawlError> {
    let gate = Gate::new(&settings.fetch)?;
    let clock = Clock::start();
    let asked = format!("{settings:?}");
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.crawl.cpu_threads)
        .thread_name(|n| format!("cpu-{n}"))
        .build()
        .map_err(|e| CrawlError::Threads(e.to_string()))?;
    let writer = Writer::start(Path::new(&settings.store.path), settings.store.zstd_level, &asked, clock.unix_ms())?;
    let scheduler = Scheduler::new(seeds, settings, gate, pool, &writer, clock, watch);
    let outcome = scheduler.run(stop).await;
    // The writer's own error says more than "it has stopped".
    writer.finish()?;
    outcome.map_err(|WriterError| CrawlError::Threads("the database writer ended without a reason".to_owned()))
}

/// Both clocks at once: the monotonic one spaces requests, the other one is written down.
#[derive(Clone, Copy, Debug)]
struct Clock {
    started: Instant,
    started_unix_ms: i64,
}

impl Clock {
    fn start() -> Clock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { started: Instant::now(), started_unix_ms: since.as_millis() as i64 }
    }

    fn unix_ms(&self) -> i64 {
        self.at(Instant::now())
    }

    fn at(&self, instant: Instant) -> i64 {
        self.started_unix_ms + instant.saturating_duration_since(self.started).as_millis() as i64
    }
}
