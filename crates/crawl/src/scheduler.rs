//! The task that owns the queues, the clock and the memory budget, and carries out what sites want.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dehusk_html::PageUrl;
use rustc_hash::FxHashMap;

use super::archive::Archive;
use super::event::Event;
use super::jobs::Jobs;
use super::lease_table::LeaseTable;
use super::rendering::Answers;
#[cfg(feature = "render")]
use super::rendering::Renderer;
use super::request::{Request, RequestKind};
use super::restart_delays::RestartDelays;
use super::rights_reading::RightsReading;
use super::robots_cache::RobotsCache;
use super::run_limits::RunLimits;
use super::seed_stream::SeedStream;
use super::site::{Command, Context, Count, SiteCrawl, SiteEvent};
use super::site_queue::SiteQueue;
use super::site_table::SiteTable;
use super::stats::{Progress, Stats, Summary};
use super::workers::Tools;
use super::{Clock, CrawlError, StopSignal};
use crate::fetch::Fetcher;
use crate::politeness::{HostQueues, PolitenessKey};
use dehusk_settings::ByHost;
use dehusk_store::lease_gate::WorkerSession;
use dehusk_store::{Query, Reply, SiteId, Write, Writer, WriterError};

/// How often progress is told when nothing else happens.
const TICK: Duration = Duration::from_millis(200);

/// Beyond this part of `crawl.memory`, training pages are packed: parsing them again costs less than room for their
/// trees.
const ROOMY: usize = 32;

/// Sitemaps of the robots.txt files of one site that are read.
const MAX_SITEMAPS: usize = 100;

/// What a scheduler begins with.
pub(super) struct Start<'a> {
    pub(super) tools: ByHost<Arc<Tools>>,
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
    /// The browser, where pages are rendered.
    #[cfg(feature = "render")]
    pub(super) renderer: Option<Renderer>,
}

pub(super) struct Scheduler<'a> {
    /// The tools of hosts that no `[[site]]` table names, and the settings of the run.
    pub(super) tools: Arc<Tools>,
    pub(super) tools_by_host: ByHost<Arc<Tools>>,
    /// The longest minimum delay of any host.
    pub(super) longest_delay: Duration,
    pub(super) archive: Option<Arc<Archive>>,
    pub(super) writer: &'a Writer,
    pub(super) clock: Clock,
    pub(super) watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    /// Requests, look-ups, CPU work and questions that are out.
    pub(super) jobs: Jobs,
    /// Requests that wait for their turn, by politeness key.
    pub(super) queues: HostQueues<Request>,
    pub(super) delays: RestartDelays,
    pub(super) robots: RobotsCache,
    /// What scripts of pages have asked for.
    pub(super) answers: Answers,
    /// Rules of origins whose files about rights are being read.
    pub(super) rights_reading: FxHashMap<String, RightsReading>,
    /// The keys of this worker, where the store is shared.
    pub(super) leases: Option<LeaseTable>,
    session: Option<WorkerSession>,
    /// The sites to come.
    pub(super) site_queue: SiteQueue,
    /// The sites that are worked on.
    pub(super) sites: SiteTable,
    pub(super) limits: RunLimits,
    pub(super) stats: Stats,
    pub(super) is_stopping: bool,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(start: Start<'a>) -> Scheduler<'a> {
        let tools = Arc::clone(start.tools.usual());
        let jobs = Jobs::new(
            tools.agents.clone().into(),
            start.fetcher,
            start.archive.clone(),
            start.pool,
            start.clock,
            tools.settings.crawl.purpose,
            #[cfg(feature = "render")]
            start.renderer,
        );
        Scheduler {
            archive: start.archive,
            writer: start.writer,
            clock: start.clock,
            watch: start.watch,
            jobs,
            queues: HostQueues::not_before(start.not_before),
            delays: RestartDelays::new(start.deferred, start.not_before),
            robots: RobotsCache::default(),
            answers: Answers::default(),
            rights_reading: FxHashMap::default(),
            leases: start.session.is_some().then(LeaseTable::default),
            session: start.session,
            site_queue: SiteQueue::new(start.seeds),
            sites: SiteTable::default(),
            limits: RunLimits::new(tools.settings.crawl.budget),
            stats: start.stats,
            is_stopping: false,
            longest_delay: tools.settings.longest_delay(),
            tools,
            tools_by_host: start.tools,
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
                self.jobs.stop_sending();
                return Err(WriterError.into());
            }
            if !self.is_stopping
                && let Some(limit) = self.limits.check(&self.stats, self.clock.started.elapsed())
            {
                tracing::info!("the run ends: {limit}");
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
                Some(event) = self.jobs.next() => {
                    self.handle(event).await?;
                    while let Some(event) = self.jobs.try_next() {
                        self.handle(event).await?;
                    }
                }
                Some(()) = stop.receiver.recv(), if !self.is_stopping => {
                    stop.was_given = true;
                    give_up = Some(Instant::now() + self.tools.settings.crawl.stop_within);
                    self.stop().await?;
                }
                seeds = self.site_queue.next_seeds(), if wants_seeds => self.on_seeds(seeds).await?,
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
        self.end_run().await
    }

    fn is_over(&self) -> bool {
        let no_more = self.is_stopping || self.site_queue.is_over();
        self.jobs.n_out() == 0 && self.sites.is_empty() && no_more
    }

    async fn end_run(mut self) -> Result<Summary, CrawlError> {
        // Sites whose answers did not come in time; the run is resumed there.
        for id in self.sites.ids() {
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
        if let Some(reason) = self.limits.shortage() {
            return Err(CrawlError::Shortage(reason));
        }
        Ok(Summary {
            run: self.writer.run().id,
            was_resumed: self.writer.run().resumed,
            stats: self.stats,
            was_interrupted: self.is_stopping && self.limits.used_up().is_none(),
            limit: self.limits.used_up().map(|limit| limit.code),
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
        self.stats.in_flight = self.queues.n_in_flight();
        self.stats.held_bytes = self.sites.memory();
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
        self.sites.memory() > self.tools.settings.crawl.memory
    }

    /// Runs something that needs to know what a site may know.
    pub(super) fn in_context<T>(&self, tools: &Tools, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let sitemaps = |origins: &[String]| -> Vec<PageUrl> {
            let of_origin = |origin: &String| {
                let base = PageUrl::parse(&format!("{origin}/")).ok();
                let lines = self.robots.sitemaps(origin).iter();
                lines.filter_map(move |line| base.as_ref()?.join(line)).collect::<Vec<_>>()
            };
            origins.iter().flat_map(of_origin).take(MAX_SITEMAPS).collect()
        };
        run(&Context {
            tools,
            clock: self.clock,
            now: self.clock.unix_ms(),
            memory_is_short: self.sites.memory() > self.tools.settings.crawl.memory / ROOMY,
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
        let Some(mut active) = self.sites.take(id) else { return Vec::new() };
        let commands = self.in_context(&active.tools, |cx| run(&mut active.site, cx));
        self.sites.put(id, active);
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
                Command::Compute(work) => {
                    let tools = self.sites.tools(id).unwrap_or_else(|| Arc::clone(&self.tools));
                    self.jobs.compute(id, work, tools);
                }
                Command::Render(page, is_open) => {
                    let tools = self.sites.tools(id).unwrap_or_else(|| Arc::clone(&self.tools));
                    self.jobs.render(id, page, is_open, tools);
                }
                Command::Write(write) => self.writer.write(write).await?,
                Command::Ask(query) => self.ask(Some(id), query).await?,
                Command::Seeds(seeds) => {
                    self.site_queue.expect_seeds();
                    self.on_seeds(seeds).await?;
                }
                Command::Count(count) => self.count(count),
                Command::End(outcome) => self.end_site(id, &outcome).await?,
            }
        }
        Ok(())
    }

    /// Asks the store. The answer comes as an event.
    pub(super) async fn ask(&mut self, site: Option<SiteId>, query: Query) -> Result<(), WriterError> {
        let answer = self.writer.query(query).await?;
        self.jobs.await_reply(site, answer);
        Ok(())
    }

    fn count(&mut self, count: Count) {
        match count {
            Count::Page => self.stats.pages += 1,
            Count::Error => self.stats.errors += 1,
            Count::Withheld(code) => *self.stats.withheld.entry(code.as_str()).or_default() += 1,
            Count::Rendered => self.stats.rendered += 1,
            Count::Disallowed => self.stats.forbidden += 1,
            Count::Refused(refused) => {
                for refusal in refused {
                    *self.stats.refused.entry(refusal.name()).or_default() += 1;
                }
            }
        }
    }

    async fn handle(&mut self, event: Event) -> Result<(), WriterError> {
        match event {
            Event::Fetched(answer) => self.on_answer(*answer).await,
            Event::Keyed { request, .. } if self.is_stopping => self.abandon(vec![*request]).await,
            Event::Keyed { key, request, end } => self.enqueue(key, *request, end).await,
            Event::Computed { site, result } => self.tell_site(site, SiteEvent::Computed(result)).await,
            Event::Replied { site: Some(site), reply } => self.on_reply(site, reply).await,
            Event::Replied { site: None, reply } => {
                match reply {
                    Reply::NextSites(found) => self.site_queue.add(found),
                    Reply::SitesOf(found) => self.on_streamed_sites(found),
                    Reply::LeasedSites { leased, is_over } => self.on_leased_sites(leased, is_over),
                    Reply::LeasedHost(key, host) => self.on_leased_host(&key, host).await?,
                    _ => {}
                }
                Ok(())
            }
            Event::Rendered { site, page, rendered } => self.tell_site(site, SiteEvent::Rendered(page, rendered)).await,
            Event::Wanted(wanted) => self.on_wanted(*wanted).await,
            Event::AskForHost(key) => self.ask_for_host(&key).await,
            Event::WriterGone => Err(WriterError),
        }
    }

    /// No new request from now on.
    pub(super) async fn stop(&mut self) -> Result<(), WriterError> {
        self.is_stopping = true;
        self.site_queue.close();
        self.jobs.stop_sending();
        let waiting = self.queues.drain();
        let mut parked = self.robots.drain();
        parked.extend(self.leases.iter_mut().flat_map(LeaseTable::drain));
        self.abandon(waiting).await?;
        self.abandon(parked).await
    }

    /// Tells sites that their requests are not sent.
    pub(super) async fn abandon(&mut self, requests: Vec<Request>) -> Result<(), WriterError> {
        for request in requests {
            match request.kind {
                RequestKind::Subresource { wanted, .. } => self.answers.answer(&wanted, None),
                kind => {
                    if let Some(site) = kind.site() {
                        self.tell_site(site, SiteEvent::Abandoned).await?;
                    }
                }
            }
        }
        Ok(())
    }
}
