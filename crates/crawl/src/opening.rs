//! Opens a run: its database, its seeds, and what an earlier run says about hosts.

use std::path::Path;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Clock, CrawlError, SeedList};
use crate::politeness::PolitenessKey;
use dehusk_settings::{PolitenessScope, Settings};
use dehusk_store::lease_gate::WorkerSession;
use dehusk_store::seed::Seed;
use dehusk_store::{Backend, Queued, Run, RunRequest, Store, StoreError, start_backend};

/// A run in its database, ready to be worked on.
pub(super) struct OpenedRun {
    pub(super) backend: Box<dyn Backend>,
    /// The session of this worker, where the database is shared.
    pub(super) session: Option<WorkerSession>,
    pub(super) queued: Queued,
    /// Keys that an earlier run has deferred.
    pub(super) deferred: FxHashMap<PolitenessKey, Instant>,
    /// No request is sent before this time.
    pub(super) not_before: Option<Instant>,
    /// Hashes of hosts and URLs that were forgotten for good.
    pub(super) kept_out: FxHashSet<u64>,
}

impl OpenedRun {
    /// Opens a run, on a thread where waiting for the database is allowed.
    pub(super) async fn open(seeds: SeedList, settings: &Settings, clock: Clock) -> Result<OpenedRun, CrawlError> {
        let settings = settings.clone();
        let opened = tokio::task::spawn_blocking(move || open(seeds, &settings, clock)).await;
        opened.unwrap_or_else(|e| Err(CrawlError::Threads(e.to_string())))
    }
}

fn open(mut seeds: SeedList, settings: &Settings, clock: Clock) -> Result<OpenedRun, CrawlError> {
    let store = Store::create(Path::new(&settings.store.path), settings.store.zstd_level)?;
    let store = store.leasing_by(settings.politeness.key);
    if store.is_shared() && settings.politeness.key == PolitenessScope::Ip {
        let text = "politeness.key: crawls that share a database lease hosts by name; use \"domain\" or \"host\"";
        return Err(CrawlError::NotShared(text.to_owned()));
    }
    store.lock()?;
    // Released with the connection, whatever happens.
    store.lock_runs(settings.politeness.delay)?;
    let now = clock.unix_ms();
    let n_expired = store.expire_future_times(now)?;
    if n_expired > 0 {
        tracing::warn!(
            "{n_expired} pages and robots.txt were visited later than now by the clock of this machine, and count as due; \
             see that its clock is right"
        );
    }
    let last_sent = if store.is_shared() { None } else { store.last_sent()? };
    let (run, queued) = queue(&store, &mut seeds, settings, now)?;
    let took = clock.started.elapsed();
    if run.resumed || took > Duration::from_secs(2) {
        let Queued { sites, ended, urls, .. } = queued;
        let word = if run.resumed { "taken up again" } else { "begun" };
        let new = if urls > 0 { format!(", {urls} new URLs queued") } else { String::new() };
        tracing::info!("run {} {word} in {took:.1?}: {ended} of {sites} sites done{new}", run.id);
    }
    // Whatever sent the last request, a domain that it may have gone to waits a full delay from now. In a shared
    // database each host has its own time.
    let longest = settings.longest_delay().max(settings.politeness.max_crawl_delay) + settings.fetch.timeout;
    let is_recent = last_sent.is_some_and(|sent| now - sent < longest.as_millis() as i64);
    let waits = !store.is_shared() && (run.resumed || is_recent);
    let not_before = waits.then(|| Instant::now() + settings.politeness.delay);
    let deferrals = store.load_deferrals(now)?;
    let later = |until: i64| Instant::now() + Duration::from_millis((until - now).max(0) as u64);
    let deferred = deferrals.into_iter().map(|(name, until)| (PolitenessKey::named(&name), later(until))).collect();
    let kept_out = store.kept_out()?;
    let (backend, session) = start_backend(store, run, settings)?;
    Ok(OpenedRun { backend, session, queued, deferred, not_before, kept_out })
}

/// Begins a run, or takes one up, and puts its seeds into it.
fn queue(store: &Store, seeds: &mut SeedList, settings: &Settings, now: i64) -> Result<(Run, Queued), StoreError> {
    let since = now - settings.crawl.resume_within.as_millis() as i64;
    let stored = settings_json(settings, store.is_shared());
    let asked = dehusk_store::digest(format!("{}\n{stored}", seeds.name).as_bytes());
    let request = RunRequest { at: now, since, settings: &stored, asked: &asked, choice: seeds.choice };
    let run = store.begin_run(&request)?;
    // A later run may have taken sites over, which are put back.
    let known = match &seeds.mark {
        Some(mark) if run.resumed => store.has_seeds(run.id, mark)? && !store.has_later_run(run.id)?,
        _ => false,
    };
    let mut none = std::iter::empty();
    let listed: &mut dyn Iterator<Item = Seed> = if known { &mut none } else { &mut seeds.seeds };
    let queued = store.queue_seeds(run.id, listed, now)?;
    if let Some(mark) = &seeds.mark {
        store.mark_seeds(run.id, mark)?;
    }
    Ok((run, queued))
}

/// The settings as they are stored with a run, without what is secret. Crawls that share a run may differ in what their
/// machines can do.
fn settings_json(settings: &Settings, is_shared: bool) -> String {
    let mut stored = settings.clone();
    (stored.fetch.proxy, stored.fetch.headers) = (String::new(), Vec::new());
    stored.sites.iter_mut().for_each(|site| site.keys.retain(|(name, _)| *name != "fetch.headers"));
    if is_shared {
        let usual = Settings::default();
        stored.store.path = String::new();
        (stored.crawl.cpu_threads, stored.crawl.network_threads) =
            (usual.crawl.cpu_threads, usual.crawl.network_threads);
        stored.crawl.memory = usual.crawl.memory;
        (stored.crawl.sites_at_once, stored.fetch.in_flight) = (usual.crawl.sites_at_once, usual.fetch.in_flight);
    }
    serde_json::to_string(&stored).unwrap_or_default()
}
