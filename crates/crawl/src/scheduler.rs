//! The task that owns the queues, the clock and the memory budget, and carries out what sites want.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dehusk_html::PageUrl;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc;

use super::archive::Archive;
use super::event::Event;
use super::leases::Leases;
use super::request::Request;
use super::robots_cache::RobotsCache;
use super::seed_stream::SeedStream;
use super::site::{Command, Context, Count, SiteCrawl, SiteEvent};
use super::stats::{Progress, Stats, Summary};
use super::workers::{self, Tools};
use super::{Clock, CrawlError, StopSignal};
use crate::fetch::Fetcher;
use crate::politeness::{HostQueues, Pace, PolitenessKey};
use dehusk_settings::Budget;
use dehusk_store::lease_gate::WorkerSession;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{Query, Reply, SiteId, SiteWork, Write, Writer, WriterError};

/// Events that may wait for the scheduler.
const EVENTS: usize = 1024;

/// How often progress is told when nothing else happens.
const TICK: Duration = Duration::from_millis(200);

/// Beyond this part of `crawl.memory`, training pages are packed: parsing them again costs less than room for their
/// trees.
const ROOMY: usize = 32;

/// Sitemaps of the robots.txt files of one site that are read.
const MAX_SITEMAPS: usize = 100;

/// What a scheduler begins with.
pub(super) struct Start<'a> {
    pub(super) tools: Tools,
    pub(super) fetcher: Fetcher,
    pub(super) archive: Option<Arc<Archive>>,
    pub(super) pool: rayon::ThreadPool,
    pub(super) writer: &'a Writer,
    pub(super) clock: Clock,
    pub(super) watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    /// Keys that an earlier run has deferred.
    pub(super) deferred: FxHashMap<PolitenessKey, Instant>,
    /// No request is sent before this time, after a restart.
    pub(super) not_before: Option<Instant>,
    /// The session of a worker, where the store is shared.
    pub(super) session: Option<WorkerSession>,
    pub(super) stats: Stats,
    /// Seeds that are still to come.
    pub(super) seeds: SeedStream,
}

pub(super) struct Scheduler<'a> {
    pub(super) tools: Arc<Tools>,
    pub(super) fetcher: Fetcher,
    pub(super) archive: Option<Arc<Archive>>,
    pool: rayon::ThreadPool,
    pub(super) writer: &'a Writer,
    pub(super) clock: Clock,
    pub(super) watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    pub(super) events: mpsc::Sender<Event>,
    inbox: mpsc::Receiver<Event>,
    pub(super) queues: HostQueues<Request>,
    pub(super) pace: Pace,
    pub(super) robots: RobotsCache,
    /// Keys that an earlier run has deferred, until they are met.
    pub(super) deferred: FxHashMap<PolitenessKey, Instant>,
    pub(super) not_before: Option<Instant>,
    /// Keys of which it is not known whether an earlier holder kept a delay of their own, since when.
    pub(super) unknown_pace: FxHashMap<PolitenessKey, Instant>,
    /// The keys of this worker, where the store is shared.
    pub(super) leases: Option<Leases>,
    session: Option<WorkerSession>,
    /// Seeds that are still to come.
    pub(super) seeds: SeedStream,
    /// Sites that the store has given and that wait for room.
    pub(super) waiting: VecDeque<SiteWork>,
    /// The last site that the store has given; `None` when there are no more.
    pub(super) last_site: Option<SiteId>,
    pub(super) has_asked_for_sites: bool,
    pub(super) sites: FxHashMap<SiteId, ActiveSite>,
    /// Sites that redirects have led to; they are worked on from there.
    pub(super) found: FxHashSet<SiteId>,
    pub(super) stats: Stats,
    /// Sites that seeds of a stream were for while they were worked on, with a URL of each.
    pub(super) late: FxHashMap<SiteId, PageUrl>,
    /// Sites that have ended, where a stream may open them again.
    pub(super) ended: Option<FxHashSet<SiteId>>,
    /// Seeds of the stream so far.
    pub(super) n_streamed: i64,
    /// What this machine is short of, which has ended the run.
    pub(super) shortage: Option<String>,
    /// The budget that has ended the run before its time.
    limit: Option<Reason>,
    /// Requests in a row without an answer.
    pub(super) n_unanswered: usize,
    /// Bytes of pages and trees in memory, roughly.
    memory: usize,
    /// Requests, look-ups, CPU jobs and questions whose event has not come yet.
    pub(super) n_pending: usize,
    pub(super) is_stopping: bool,
}

/// A site that is worked on.
pub(super) struct ActiveSite {
    pub(super) site: SiteCrawl,
    pub(super) begun: Instant,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(start: Start<'a>) -> Scheduler<'a> {
        let (events, inbox) = mpsc::channel(EVENTS);
        Scheduler {
            queues: HostQueues::not_before(start.not_before),
            pace: Pace::new(&start.tools.settings.politeness),
            tools: Arc::new(start.tools),
            fetcher: start.fetcher,
            archive: start.archive,
            pool: start.pool,
            writer: start.writer,
            clock: start.clock,
            watch: start.watch,
            events,
            inbox,
            robots: RobotsCache::default(),
            deferred: start.deferred,
            not_before: start.not_before,
            unknown_pace: FxHashMap::default(),
            leases: start.session.is_some().then(Leases::default),
            session: start.session,
            waiting: VecDeque::new(),
            last_site: Some(0),
            has_asked_for_sites: false,
            sites: FxHashMap::default(),
            found: FxHashSet::default(),
            stats: start.stats,
            late: FxHashMap::default(),
            ended: start.seeds.is_open().then(FxHashSet::default),
            n_streamed: 0,
            shortage: None,
            limit: None,
            n_unanswered: 0,
            seeds: start.seeds,
            memory: 0,
            n_pending: 0,
            is_stopping: false,
        }
    }

    pub(super) async fn run(mut self, stop: &mut StopSignal) -> Result<Summary, CrawlError> {
        let mut give_up: Option<Instant> = None;
        loop {
            self.admit().await?;
            let next = self.dispatch().await?;
            self.tell_progress();
            if self.session.as_ref().is_some_and(|session| session.gate.is_lost()) {
                // Nothing more can be stored. What is out is dropped.
                self.fetcher.stop();
                return Err(WriterError.into());
            }
            if !self.is_stopping
                && let Some(limit) = self.exhausted()
            {
                tracing::info!("the run ends: {limit}");
                self.limit = Some(limit);
                give_up = Some(Instant::now() + self.tools.settings.crawl.stop_within);
                self.stop().await?;
            }
            if self.is_over() || give_up.is_some_and(|time| time <= Instant::now()) {
                break;
            }
            let tick = Instant::now() + TICK;
            let wake = next.map_or(tick, |time| time.min(tick));
            let wants_seeds = self.wants_seeds();
            tokio::select! {
                Some(event) = self.inbox.recv() => {
                    self.handle(event).await?;
                    while let Ok(event) = self.inbox.try_recv() {
                        self.handle(event).await?;
                    }
                }
                Some(()) = stop.receiver.recv(), if !self.is_stopping => {
                    stop.was_given = true;
                    give_up = Some(Instant::now() + self.tools.settings.crawl.stop_within);
                    self.stop().await?;
                }
                urls = self.seeds.next(), if wants_seeds => self.on_seeds(urls).await?,
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
        self.end_run().await
    }

    /// The budget of the run that is used up, if one is.
    fn exhausted(&self) -> Option<Reason> {
        let Budget { max_requests, max_failures, max_bytes, max_seconds } = self.tools.settings.crawl.budget;
        let reason = |code, key: &str, limit: String| Some(Reason::new(code, format!("crawl.{key} = {limit}")));
        if max_requests > 0 && self.stats.requests >= max_requests {
            return reason(ReasonCode::MaxRequests, "max_requests", max_requests.to_string());
        }
        if max_failures > 0 && self.n_unanswered >= max_failures {
            return reason(ReasonCode::MaxFailures, "max_failures", max_failures.to_string());
        }
        if max_bytes > 0 && self.stats.bytes >= max_bytes as u64 {
            return reason(ReasonCode::MaxBytes, "max_bytes", max_bytes.to_string());
        }
        if !max_seconds.is_zero() && self.clock.started.elapsed() >= max_seconds {
            return reason(ReasonCode::MaxSeconds, "max_seconds", max_seconds.as_secs_f64().to_string());
        }
        None
    }

    fn is_over(&self) -> bool {
        let no_more =
            self.is_stopping || (self.last_site.is_none() && self.waiting.is_empty() && !self.seeds.is_open());
        self.n_pending == 0 && self.sites.is_empty() && no_more
    }

    async fn end_run(mut self) -> Result<Summary, CrawlError> {
        // Sites whose answers did not come in time; the run is resumed there.
        let left: Vec<SiteId> = self.sites.keys().copied().collect();
        for id in left {
            let commands = self.with_site(id, SiteCrawl::abort);
            self.carry_out(id, commands).await?;
        }
        // The archive is closed before the run is called finished: a crash in between, or a file that cannot be closed,
        // leaves a run that is resumed.
        let closed = self.close_archive().await;
        let outcome = if self.is_stopping || closed.is_err() { "interrupted" } else { "finished" };
        self.writer.write(Write::RunEnded { outcome, at: self.clock.unix_ms() }).await?;
        closed?;
        self.stats.read_changes(self.writer.changes());
        if let Some(reason) = self.shortage {
            return Err(CrawlError::Shortage(reason));
        }
        Ok(Summary {
            run: self.writer.run().id,
            was_resumed: self.writer.run().resumed,
            stats: self.stats,
            was_interrupted: self.is_stopping && self.limit.is_none(),
            limit: self.limit.map(|limit| limit.code),
            seconds: self.clock.started.elapsed().as_secs_f64(),
        })
    }

    async fn close_archive(&self) -> Result<(), CrawlError> {
        let Some(archive) = self.archive.clone() else { return Ok(()) };
        let closed = tokio::task::spawn_blocking(move || archive.close()).await;
        Ok(closed.map_err(|e| CrawlError::Threads(e.to_string()))??)
    }

    fn tell_progress(&mut self) {
        self.stats.active = self.sites.len();
        self.stats.waiting = self.queues.n_waiting();
        self.stats.in_flight = self.queues.n_leased();
        self.stats.held_bytes = self.memory;
        self.stats.read_changes(self.writer.changes());
        if let Some(WorkerSession { counts, .. }) = &self.session {
            counts.requests.store(self.stats.requests as i64, Ordering::Relaxed);
            counts.pages.store(self.stats.pages as i64, Ordering::Relaxed);
        }
        (self.watch)(Progress::Tick(&self.stats));
    }

    /// Whether the leases of this worker may have ended.
    pub(super) fn session_is_closed(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.gate.is_open())
    }

    /// Whether more is in memory than the settings allow.
    pub(super) fn is_over_memory(&self) -> bool {
        self.memory > self.tools.settings.crawl.memory
    }

    /// Runs something that needs to know what a site may know.
    pub(super) fn in_context<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let sitemaps = |origins: &[String]| -> Vec<PageUrl> {
            let of_origin = |origin: &String| {
                let base = PageUrl::parse(&format!("{origin}/")).ok();
                let lines = self.robots.sitemaps(origin).iter();
                lines.filter_map(move |line| base.as_ref()?.join(line)).collect::<Vec<_>>()
            };
            origins.iter().flat_map(of_origin).take(MAX_SITEMAPS).collect()
        };
        run(&Context {
            tools: &self.tools,
            clock: self.clock,
            now: self.clock.unix_ms(),
            memory_is_short: self.memory > self.tools.settings.crawl.memory / ROOMY,
            is_stopping: self.is_stopping,
            sitemaps: &sitemaps,
        })
    }

    /// Lets a site handle something, and keeps account of its memory.
    fn with_site(
        &mut self,
        id: SiteId,
        run: impl FnOnce(&mut SiteCrawl, &Context<'_>) -> Vec<Command>,
    ) -> Vec<Command> {
        let Some(mut active) = self.sites.remove(&id) else { return Vec::new() };
        let before = active.site.memory();
        let commands = self.in_context(|cx| run(&mut active.site, cx));
        self.memory = (self.memory + active.site.memory()).saturating_sub(before);
        self.sites.insert(id, active);
        commands
    }

    /// Hands an event to a site and carries out what it wants.
    pub(super) async fn tell_site(&mut self, id: SiteId, event: SiteEvent) -> Result<(), WriterError> {
        let commands = self.with_site(id, |site, cx| site.on(event, cx));
        self.carry_out(id, commands).await
    }

    pub(super) async fn carry_out(&mut self, id: SiteId, commands: Vec<Command>) -> Result<(), WriterError> {
        for command in commands {
            match command {
                Command::Fetch(request, end) => self.push(request, end).await?,
                Command::Compute(work) => self.compute(id, work),
                Command::Write(write) => self.writer.write(write).await?,
                Command::Ask(query) => self.ask(Some(id), query).await?,
                Command::Seeds(seeds) => {
                    self.ended.get_or_insert_default();
                    self.on_seeds(seeds).await?;
                }
                Command::Count(count) => self.count(count),
                Command::End(outcome) => self.end_site(id, &outcome).await?,
            }
        }
        Ok(())
    }

    fn compute(&mut self, site: SiteId, work: workers::Work) {
        self.n_pending += 1;
        let (events, tools) = (self.events.clone(), Arc::clone(&self.tools));
        self.pool.spawn(move || {
            let result = workers::run(site, work, &tools);
            let _ = events.blocking_send(Event::Computed { site, result });
        });
    }

    /// Asks the store. The answer comes as an event.
    pub(super) async fn ask(&mut self, site: Option<SiteId>, query: Query) -> Result<(), WriterError> {
        let answer = self.writer.query(query).await?;
        self.n_pending += 1;
        let events = self.events.clone();
        tokio::spawn(async move {
            let event = answer.await.map_or(Event::WriterGone, |reply| Event::Replied { site, reply });
            let _ = events.send(event).await;
        });
        Ok(())
    }

    fn count(&mut self, count: Count) {
        match count {
            Count::Page => self.stats.pages += 1,
            Count::Error => self.stats.errors += 1,
            Count::Disallowed => self.stats.forbidden += 1,
            Count::Refused(refused) => {
                for refusal in refused {
                    *self.stats.refused.entry(refusal.name()).or_default() += 1;
                }
            }
        }
    }

    async fn handle(&mut self, event: Event) -> Result<(), WriterError> {
        self.n_pending -= 1;
        match event {
            Event::Fetched(answer) => self.on_answer(*answer).await,
            Event::Keyed { request, .. } if self.is_stopping => self.abandon(vec![*request]).await,
            Event::Keyed { key, request, end } => self.enqueue(key, *request, end).await,
            Event::Computed { site, result } => self.tell_site(site, SiteEvent::Computed(result)).await,
            Event::Replied { site: Some(site), reply } => self.on_reply(site, reply).await,
            Event::Replied { site: None, reply } => {
                match reply {
                    Reply::NextSites(found) => self.on_sites(found),
                    Reply::SitesOf(found) => self.on_streamed_sites(found),
                    Reply::LeasedSites { leased, is_over } => self.on_leased_sites(leased, is_over),
                    Reply::LeasedHost(key, host) => self.on_leased_host(&key, host).await?,
                    _ => {}
                }
                Ok(())
            }
            Event::AskForHost(key) => self.ask_for_host(&key).await,
            Event::WriterGone => Err(WriterError),
        }
    }

    /// No new request from now on.
    pub(super) async fn stop(&mut self) -> Result<(), WriterError> {
        self.is_stopping = true;
        self.seeds.close();
        self.fetcher.stop();
        let waiting = self.queues.drain();
        let mut parked = self.robots.drain();
        parked.extend(self.leases.iter_mut().flat_map(Leases::drain));
        self.waiting.clear();
        self.abandon(waiting).await?;
        self.abandon(parked).await
    }

    /// Tells sites that their requests are not sent.
    pub(super) async fn abandon(&mut self, requests: Vec<Request>) -> Result<(), WriterError> {
        for site in requests.iter().filter_map(|request| request.kind.site()) {
            self.tell_site(site, SiteEvent::Abandoned).await?;
        }
        Ok(())
    }
}
