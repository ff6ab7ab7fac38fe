//! The crawler: from a list of URLs to a database of templates and cleaned pages.
//!
//! Each site is a pure state machine (`site/`): events in, commands out. One task (`scheduler.rs`) owns the politeness
//! queues, the robots cache, the clock and the memory budget, hands events to the sites and carries their commands out.
//! Requests run as tokio tasks (`jobs.rs`), parsing and learning on a pool of CPU threads (`workers/`), the
//! database on a thread of its own. All of them answer with an event over one bounded channel.
//!
//! Shared between threads are only the archive (its writer, the payloads it knows and its error are behind mutexes),
//! the resolver's cache of names, cookies, the permits of large bodies, the contexts of zstd, and the locks for
//! unpacking the pages of one site at a time and for large pages.
//!
//! A site's failure is an outcome with a reason, never the end of the crawl. When the crawl stops, no new request is
//! sent; requests in flight and work on CPU threads are completed and stored, and unfinished sites end as interrupted.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod archive;
mod event;
pub mod feed_entries;
pub mod fetch;
mod site_queue;
pub mod politeness;
pub mod rights_files;
pub mod robots;
pub mod scope;
pub mod seeds;
pub mod sitemap;
mod xml;
mod request;
mod restart_delays;
mod outgoing;
mod incoming;
mod jobs;
mod lease_table;
mod leases;
mod opening;
mod rights_reading;
mod robots_cache;
mod run_limits;
mod scheduler;
mod seed_stream;
mod polite_pages;
mod rendering;
mod single;
mod site_table;
mod site;
mod sites;
mod stats;
mod visit;
mod workers;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;

use archive::Archive;
use opening::OpenedRun;
pub use polite_pages::PolitePages;
use scheduler::{Scheduler, Start};
use seed_stream::SeedStream;
pub use single::{Allowed, Single, SingleError};
pub use stats::{Progress, SiteSummary, Stats, Summary};
use workers::{SharedTools, Tools};

use crate::fetch::{ClientError, Fetcher};
use crate::scope::Scope;
use dehusk_core::calendar;
use dehusk_files::warc::WarcError;
use dehusk_html::PageUrl;
use dehusk_settings::{ByHost, Keep, Settings};
use dehusk_store::seed::Seed;
use dehusk_store::{RunChoice, Store, StoreError, Writer, WriterError, is_kept_out};

/// The sites to crawl.
pub struct SeedList {
    seeds: Box<dyn Iterator<Item = Seed> + Send>,
    mark: Option<String>,
    name: String,
    choice: RunChoice,
    is_stream: bool,
    /// The time at which the crawl begins, where it is not that of this machine.
    begins_at: Option<i64>,
}

impl SeedList {
    /// Seeds as they come. `mark` names where they come from: a run that was interrupted after it had read them all
    /// does not read them again. `name` is what was asked for: an interrupted run is taken up only by a crawl of seeds
    /// of the same name, with the same settings.
    pub fn new(
        seeds: impl Iterator<Item = Seed> + Send + 'static,
        mark: Option<String>,
        name: impl Into<String>,
    ) -> SeedList {
        let (choice, name) = (RunChoice::Same, name.into());
        SeedList { seeds: Box::new(seeds), mark, name, choice, is_stream: false, begins_at: None }
    }

    /// No seeds: those that the newest unfinished run has queued.
    pub fn resume() -> SeedList {
        SeedList { choice: RunChoice::Resume, ..SeedList::new(std::iter::empty(), None, "") }
    }

    /// The same for seeds that come while the crawl runs: it begins with the first one, takes further ones when it has
    /// room, and ends when they end.
    pub fn as_stream(self) -> SeedList {
        SeedList { is_stream: true, ..self }
    }

    /// The same for a crawl that takes this time, Unix milliseconds, for the one at which it begins: for simulations of
    /// many nights.
    pub fn beginning_at(self, unix_ms: i64) -> SeedList {
        SeedList { begins_at: Some(unix_ms), ..self }
    }

    /// The same for a run of its own, whatever is unfinished.
    pub fn in_new_run(self) -> SeedList {
        SeedList { choice: RunChoice::New, ..self }
    }
}

impl From<Vec<PageUrl>> for SeedList {
    fn from(urls: Vec<PageUrl>) -> SeedList {
        let name = urls.iter().map(PageUrl::as_str).collect::<Vec<_>>().join("\n");
        SeedList::new(urls.into_iter().map(Seed::from), None, name)
    }
}

/// Why a crawl could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The database cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The archive cannot be written.
    #[error(transparent)]
    Warc(#[from] WarcError),
    /// The thread that writes the database ended without a reason of its own.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// A setting does not go with a store that is shared.
    #[error("{0}")]
    NotShared(String),
    /// Pages are to be rendered, and cannot be.
    #[error("{0}")]
    Render(String),
    /// This machine cannot send requests.
    #[error("{0}; raise the limit (ulimit -n) or lower fetch.in_flight, and run the same command to go on")]
    Shortage(String),
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
///
/// A run that was killed or interrupted is taken up where it was: sites that had ended are not worked on again, pages
/// that were stored are not fetched again, and every domain waits a full delay first.
///
/// A worker that has lost its leases, because it was not heard of for too long, joins its run again.
pub async fn crawl(
    seeds: impl Into<SeedList>,
    settings: &Settings,
    warc: Option<&Path>,
    stop: mpsc::Receiver<()>,
    watch: &mut (dyn FnMut(Progress<'_>) + Send),
) -> Result<Summary, CrawlError> {
    let (mut seeds, mut stop) = (seeds.into(), StopSignal { receiver: stop, was_given: false });
    let is_stream = seeds.is_stream;
    loop {
        let mut run = None;
        let outcome = crawl_once(seeds, settings, warc, &mut stop, watch, &mut run).await;
        match (&outcome, run) {
            (Err(CrawlError::Store(StoreError::LeaseLost { .. })), Some(run)) if !stop.was_given && !is_stream => {
                tracing::warn!("joining run {run} again in {} s", REJOIN_AFTER.as_secs());
                tokio::select! {
                    () = tokio::time::sleep(REJOIN_AFTER) => {}
                    _ = stop.receiver.recv() => return outcome,
                }
                seeds = SeedList { choice: RunChoice::Number(run), ..SeedList::resume() };
            }
            _ => return outcome,
        }
    }
}

/// Pause before a worker that has lost its leases joins its run again: what took them may last.
const REJOIN_AFTER: Duration = Duration::from_secs(5);

/// Whether the crawl is to end.
struct StopSignal {
    receiver: mpsc::Receiver<()>,
    was_given: bool,
}

async fn crawl_once(
    mut seeds: SeedList,
    settings: &Settings,
    warc: Option<&Path>,
    stop: &mut StopSignal,
    watch: &mut (dyn FnMut(Progress<'_>) + Send),
    run: &mut Option<i64>,
) -> Result<Summary, CrawlError> {
    let clock = seeds.begins_at.map_or_else(Clock::start, Clock::start_at);
    let mut fetcher = Fetcher::new(settings)?;
    if warc.is_some() {
        fetcher = fetcher.keeping_wire()?;
    }
    #[cfg(feature = "render")]
    let renderer = ready_renderer(settings).await?;
    #[cfg(not(feature = "render"))]
    check_rendering(settings).await?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.crawl.cpu_threads)
        .thread_name(|n| format!("cpu-{n}"))
        .build()
        .map_err(|e| CrawlError::Threads(e.to_string()))?;
    let seed_stream = if seeds.is_stream {
        let streamed = std::mem::replace(&mut seeds.seeds, Box::new(std::iter::empty()));
        seeds.mark = None;
        SeedStream::read(streamed).map_err(|e| CrawlError::Threads(e.to_string()))?
    } else {
        SeedStream::default()
    };
    // Before the run, which would be left unfinished where the archive cannot be had.
    let archive = match warc {
        Some(dir) => Some(Arc::new(Archive::open(dir, settings, clock.unix_ms())?)),
        None => None,
    };
    let OpenedRun { backend, session, queued, deferred, not_before, kept_out } =
        OpenedRun::open(seeds, settings, clock).await?;
    *run = Some(backend.run().id);
    let writer = Writer::start(backend)?;
    if let Some(session) = &session {
        fetcher = fetcher.leased_by(session.gate.clone())?;
    }
    let sending = fetcher.clone();
    let is_lost = session.as_ref().map(|session| session.gate.clone());
    let (year, kept_out) = (calendar::year(clock.unix_ms()), Arc::new(kept_out));
    let archived = warc.map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).display().to_string());
    let shared = Arc::new(SharedTools::default());
    let tools = ByHost::new(settings, move |settings| {
        let kept_out = Arc::clone(&kept_out);
        let scope =
            |settings: &Settings| Scope::new(&settings.crawl, year).without(move |url| is_kept_out(url, &kept_out));
        Arc::new(Tools::new(settings, scope, archived.clone(), Arc::clone(&shared)))
    });
    let stats = Stats {
        sites: queued.sites,
        ended_before: queued.ended,
        failed_before: queued.failed,
        queued: queued.urls,
        repeated_seeds: queued.repeated,
        ..Stats::default()
    };
    let (warc, writer_ref) = (archive.clone(), &writer);
    let start = Start {
        tools,
        fetcher,
        archive: warc,
        pool,
        writer: writer_ref,
        clock,
        watch,
        deferred,
        not_before,
        session,
        stats,
        seeds: seed_stream,
        #[cfg(feature = "render")]
        renderer,
    };
    let outcome = Scheduler::new(start).run(stop).await;
    // Requests that wait to be sent, where the crawl ended before them.
    sending.stop();
    // The writer's own error says more than "it has stopped".
    let written = writer.finish();
    if let Some(archive) = archive {
        archive.close()?;
    }
    written?;
    if is_lost.is_some_and(|gate| gate.is_lost()) {
        return Err(StoreError::LeaseLost { path: dehusk_store::shown(&settings.store.path).into() }.into());
    }
    let summary = outcome?;
    let (settings, was_interrupted) = (settings.clone(), summary.was_interrupted);
    let pruned = tokio::task::spawn_blocking(move || prune(&settings, was_interrupted)).await;
    pruned.unwrap_or_else(|e| Err(CrawlError::Threads(e.to_string())))?;
    Ok(summary)
}

/// Whether pages can be rendered, where these settings ask for it: starts the browser once.
///
/// # Errors
///
/// [`CrawlError::Render`] with the reason.
pub async fn check_rendering(settings: &Settings) -> Result<(), CrawlError> {
    #[cfg(feature = "render")]
    return ready_renderer(settings).await.map(drop);
    #[cfg(not(feature = "render"))]
    if settings.renders_any() {
        let text = "fetch.render: this program was built without rendering; build it with --features render";
        Err(CrawlError::Render(text.to_owned()))
    } else {
        Ok(())
    }
}

/// The browser, started: a night without it would be one without pages. `None` where no page is rendered.
#[cfg(feature = "render")]
async fn ready_renderer(settings: &Settings) -> Result<Option<rendering::Renderer>, CrawlError> {
    if !settings.renders_any() {
        return Ok(None);
    }
    let renderer = rendering::Renderer::new(settings);
    let checked = renderer.check().await;
    checked.map_err(|e| CrawlError::Render(format!("fetch.render: {e}")))?;
    Ok(Some(renderer))
}

/// Deletes what the settings do not want kept, after a run. A worker that leaves a shared run leaves that to others.
fn prune(settings: &Settings, was_interrupted: bool) -> Result<(), CrawlError> {
    let versions = ByHost::new(settings, |settings| settings.store.keep.versions);
    if settings.store.keep == Keep::default() && versions.is_uniform() {
        return Ok(());
    }
    let store = Store::open_to_edit(Path::new(&settings.store.path))?;
    if store.is_shared() && was_interrupted {
        return Ok(());
    }
    store.lock()?;
    let pruned = store.prune(&settings.store.keep, &versions)?;
    if pruned.pages + pruned.visits > 0 {
        tracing::info!("deleted {} old versions of pages and {} rows of the log", pruned.pages, pruned.visits);
    }
    Ok(())
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
        Clock::start_at(since.as_millis() as i64)
    }

    fn start_at(unix_ms: i64) -> Clock {
        Clock { started: Instant::now(), started_unix_ms: unix_ms }
    }

    fn unix_ms(&self) -> i64 {
        self.at(Instant::now())
    }

    fn at(&self, instant: Instant) -> i64 {
        self.started_unix_ms + instant.saturating_duration_since(self.started).as_millis() as i64
    }
}
