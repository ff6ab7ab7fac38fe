//! The task that owns the frontier and the sites.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{mpsc, oneshot};

use super::Clock;
use super::archive::Archive;
use super::event::{Answer, Event, Kind, Request};
use super::robots_cache::{Origins, Verdict};
use super::site::{Phase, SiteState};
use super::stats::{Progress, Stats, Summary};
use super::work::Tools;
use crate::fetch::{FetchRequest, Fetched, Fetcher, Resource};
use crate::politeness::PolitenessKey;
use crate::politeness::{Due, HostQueues, Pace};
use crate::robots::{Robots, RobotsAnswer};
use crate::settings::PolitenessScope;
use crate::store::{Job, SiteId, SiteOutcome, SiteWork, Writer, WriterError};
use dehusk_core::internals::page_url::PageUrl;

/// Events that may wait for the scheduler.
const EVENTS: usize = 1024;

/// How often progress is told when nothing else happens.
const TICK: Duration = Duration::from_millis(200);

/// Sites asked of the store at once.
const SITES: usize = 64;

pub(super) struct Scheduler<'a> {
    pub(super) tools: Arc<Tools>,
    pub(super) gate: Fetcher,
    pub(super) archive: Option<Arc<Archive>>,
    pub(super) pool: rayon::ThreadPool,
    pub(super) writer: &'a Writer,
    pub(super) clock: Clock,
    pub(super) watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    pub(super) events: mpsc::Sender<Event>,
    pub(super) inbox: mpsc::Receiver<Event>,
    pub(super) frontier: HostQueues<Request>,
    pub(super) pace: Pace,
    pub(super) origins: Origins,
    /// Domains that an earlier run has put off, until they are met.
    pub(super) put_off: FxHashMap<PolitenessKey, Instant>,
    /// Nothing before this after a restart.
    pub(super) not_before: Option<Instant>,
    /// Sites that the store has given and that wait for room.
    pub(super) waiting: VecDeque<SiteWork>,
    /// The last site that the store has given; `None` when there are no more.
    pub(super) last_site: Option<SiteId>,
    pub(super) asked_for_sites: bool,
    pub(super) sites: FxHashMap<SiteId, SiteState>,
    /// Sites that redirects have led to; they are worked on under that lead.
    pub(super) found: FxHashSet<SiteId>,
    pub(super) stats: Stats,
    /// Bytes of pages and trees in memory, roughly.
    pub(super) held: usize,
    /// Requests, look-ups, CPU jobs and questions whose event has not come yet.
    pub(super) n_out: usize,
    pub(super) stopping: bool,
}

/// What a scheduler begins with.
pub(super) struct Start<'a> {
    pub(super) tools: Tools,
    pub(super) gate: Fetcher,
    pub(super) archive: Option<Arc<Archive>>,
    pub(super) pool: rayon::ThreadPool,
    pub(super) writer: &'a Writer,
    pub(super) clock: Clock,
    pub(super) watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    pub(super) put_off: FxHashMap<PolitenessKey, Instant>,
    pub(super) not_before: Option<Instant>,
    pub(super) stats: Stats,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(start: Start<'a>) -> Scheduler<'a> {
        let (events, inbox) = mpsc::channel(EVENTS);
        Scheduler {
            frontier: HostQueues::not_before(start.not_before),
            pace: Pace::new(&start.tools.settings.politeness),
            tools: Arc::new(start.tools),
            gate: start.gate,
            archive: start.archive,
            pool: start.pool,
            writer: start.writer,
            clock: start.clock,
            watch: start.watch,
            events,
            inbox,
            origins: Origins::default(),
            put_off: start.put_off,
            not_before: start.not_before,
            waiting: VecDeque::new(),
            last_site: Some(0),
            asked_for_sites: false,
            sites: FxHashMap::default(),
            found: FxHashSet::default(),
            stats: start.stats,
            held: 0,
            n_out: 0,
            stopping: false,
        }
    }

    pub(super) async fn run(mut self, mut stop: mpsc::Receiver<()>) -> Result<Summary, WriterError> {
        let mut give_up: Option<Instant> = None;
        loop {
            self.admit().await?;
            let next = self.dispatch().await?;
            self.tell_progress();
            if self.is_over() || give_up.is_some_and(|time| time <= Instant::now()) {
                break;
            }
            let tick = Instant::now() + TICK;
            let wake = next.map_or(tick, |time| time.min(tick));
            tokio::select! {
                Some(event) = self.inbox.recv() => {
                    self.handle(event).await?;
                    while let Ok(event) = self.inbox.try_recv() {
                        self.handle(event).await?;
                    }
                }
                Some(()) = stop.recv(), if !self.stopping => {
                    give_up = Some(Instant::now() + self.tools.settings.crawl.stop_within);
                    self.stop().await?;
                }
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
        self.end_run().await
    }

    fn is_over(&self) -> bool {
        let no_more = self.stopping || (self.last_site.is_none() && self.waiting.is_empty());
        self.n_out == 0 && self.sites.is_empty() && no_more
    }

    async fn end_run(mut self) -> Result<Summary, WriterError> {
        // What did not come home in time; the run is taken up there.
        let left: Vec<SiteId> = self.sites.keys().copied().collect();
        for site in left {
            self.end_site(site, SiteOutcome::Interrupted).await?;
        }
        let outcome = if self.stopping { "interrupted" } else { "finished" };
        self.writer.send(Job::RunEnded { outcome, at: self.clock.unix_ms() }).await?;
        self.stats.read_changes(self.writer.changes());
        Ok(Summary {
            run: self.writer.run().id,
            was_resumed: self.writer.run().resumed,
            stats: self.stats,
            was_interrupted: self.stopping,
            seconds: self.clock.started.elapsed().as_secs_f64(),
        })
    }

    fn tell_progress(&mut self) {
        self.stats.active = self.sites.len();
        self.stats.waiting = self.frontier.n_waiting();
        self.stats.in_flight = self.frontier.n_leased();
        self.stats.held_bytes = self.held;
        self.stats.read_changes(self.writer.changes());
        (self.watch)(Progress::Tick(&self.stats));
    }

    /// Is there more in memory than the settings allow?
    pub(super) fn is_full(&self) -> bool {
        self.held > self.tools.settings.crawl.memory
    }

    /// Asks the store something; the answer comes as an event.
    pub(super) async fn ask<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(oneshot::Sender<T>) -> Job,
        event: impl FnOnce(T) -> Event + Send + 'static,
    ) -> Result<(), WriterError> {
        let (reply, answer) = oneshot::channel();
        self.writer.send(job(reply)).await?;
        self.n_out += 1;
        let events = self.events.clone();
        tokio::spawn(async move {
            let event = answer.await.map_or(Event::WriterGone, event);
            let _ = events.send(event).await;
        });
        Ok(())
    }

    /// Begins work on further sites while there is room.
    async fn admit(&mut self) -> Result<(), WriterError> {
        if self.stopping || (self.is_full() && !self.sites.is_empty()) {
            return Ok(());
        }
        while self.sites.len() < self.tools.settings.crawl.sites_at_once {
            let Some(work) = self.waiting.pop_front() else { break };
            self.begin_site(work).await?;
        }
        if let Some(after) = self.last_site
            && !self.asked_for_sites
            && self.waiting.len() < SITES / 2
            && self.sites.len() < self.tools.settings.crawl.sites_at_once
        {
            self.asked_for_sites = true;
            self.ask(|reply| Job::NextSites(after, SITES, reply), Event::Sites).await?;
        }
        Ok(())
    }

    /// Puts a request into the queue of its domain; by address, after a look-up of its own.
    pub(super) fn push(&mut self, request: Request, end: End) {
        let key = self.tools.settings.politeness.key;
        if key != PolitenessScope::Ip || request.url.ip_literal().is_some() {
            let domain = PolitenessKey::of(&request.url, key, None);
            self.enqueue(domain, request, end);
            return;
        }
        let (resolver, events) = (self.gate.resolver().clone(), self.events.clone());
        self.n_out += 1;
        tokio::spawn(async move {
            // A name without an address fails when it is fetched, with a reason.
            let found = resolver.resolve(request.url.host()).await.ok();
            let address = found.and_then(|addresses| addresses.first().map(SocketAddr::ip));
            let domain = PolitenessKey::of(&request.url, key, address);
            let _ = events.send(Event::Keyed { domain, request: Box::new(request), end }).await;
        });
    }

    fn enqueue(&mut self, domain: PolitenessKey, request: Request, end: End) {
        let now = Instant::now();
        let put_off = self.put_off.remove(&domain);
        match end {
            End::Back => self.frontier.push(domain.clone(), request, now),
            End::Front => self.frontier.push_front(domain.clone(), request, now),
        }
        if let Some(until) = put_off {
            let wait = until.saturating_duration_since(now);
            match wait > self.tools.settings.politeness.max_back_off {
                true => self.frontier.park(&domain, &put_off_reason(wait), now),
                false => self.frontier.defer(&domain, until),
            }
        }
    }

    /// Sends everything that is due; says when the next one is.
    async fn dispatch(&mut self) -> Result<Option<Instant>, WriterError> {
        while !self.stopping && self.frontier.n_leased() < self.tools.settings.fetch.in_flight {
            if self.is_full() && self.frontier.n_leased() > 0 {
                return Ok(None);
            }
            let now = Instant::now();
            let (domain, request) = match self.frontier.pop_due(now) {
                Due::Ready(domain, request) => (domain, request),
                Due::Wait(until) => return Ok(Some(until)),
                Due::Idle => return Ok(None),
            };
            self.dispatch_one(domain, request, now).await?;
        }
        Ok(None)
    }

    async fn dispatch_one(&mut self, domain: PolitenessKey, request: Request, now: Instant) -> Result<(), WriterError> {
        if let Some(reason) = self.frontier.parked(&domain) {
            self.frontier.done(&domain, None);
            return self.give_up(request, format!("{domain} is left alone: {reason}")).await;
        }
        if matches!(request.kind, Kind::Robots { .. }) {
            self.send(domain, request);
            return Ok(());
        }
        if let Some(site) = request.kind.site().and_then(|site| self.sites.get_mut(&site)) {
            let origin = request.url.origin();
            if !site.origins.contains(&origin) {
                site.origins.push(origin);
            }
        }
        match self.origins.judge(request, now, self.tools.settings.politeness.max_crawl_delay) {
            (Verdict::Allowed, Some(request)) => self.send(domain, request),
            (Verdict::Forbidden(reason), Some(request)) => {
                self.frontier.done(&domain, None);
                self.forbid(request, reason).await?;
            }
            (Verdict::Ask(origin), _) => match PageUrl::parse(&format!("{origin}/robots.txt")) {
                Ok(url) => self.send(domain, Request::new(url, Kind::Robots { origin })),
                Err(_) => self.frontier.done(&domain, None),
            },
            _ => self.frontier.done(&domain, None),
        }
        Ok(())
    }

    fn send(&mut self, domain: PolitenessKey, request: Request) {
        self.n_out += 1;
        let (gate, events, archive) = (self.gate.clone(), self.events.clone(), self.archive.clone());
        let wanted = match request.kind {
            Kind::Robots { .. } => Resource::Robots,
            Kind::Page { .. } => Resource::Page,
            Kind::Announced { .. } => Resource::Sitemap,
        };
        let (tools, clock) = (Arc::clone(&self.tools), self.clock);
        tokio::spawn(async move {
            let ask = FetchRequest { url: request.url.clone(), resource: wanted, known: request.known.clone() };
            // In a task of its own: a panic below must not swallow the event that everyone waits for.
            let inner = tokio::spawn(async move { gate.fetch(&ask).await });
            let mut fetched = inner.await.unwrap_or_else(|_| Fetched::broken(&request.url));
            let agents = Arc::clone(&tools);
            if let Some(archive) = archive {
                // Written before anyone knows of it, so that no page is in the database and not in the archive.
                fetched = archive.keep(&request, fetched, clock).await;
            }
            let mut robots = None;
            if wanted == Resource::Robots {
                let read = tokio::task::spawn_blocking(move || (read_robots(&fetched, &agents.agents), fetched));
                (robots, fetched) = match read.await {
                    Ok((robots, fetched)) => (Some(robots), fetched),
                    Err(_) => (None, Fetched::broken(&request.url)),
                };
            }
            let _ = events.send(Event::Fetched(Box::new(Answer { domain, request, fetched, robots }))).await;
        });
    }

    async fn handle(&mut self, event: Event) -> Result<(), WriterError> {
        self.n_out -= 1;
        match event {
            Event::Fetched(answer) => self.fetched(*answer).await,
            Event::Keyed { request, .. } if self.stopping => self.abandon(vec![*request]).await,
            Event::Keyed { domain, request, end } => {
                self.enqueue(domain, *request, end);
                Ok(())
            }
            Event::Advanced { site, advance } => self.advanced(site, advance).await,
            Event::Sites(found) => {
                self.asked_for_sites = false;
                // The store gives less than was asked for only when there is no more.
                self.last_site = found.last().filter(|_| found.len() == SITES).map(|site| site.id);
                self.waiting.extend(found);
                Ok(())
            }
            Event::Urls { site, urls } => self.urls_came(site, urls).await,
            Event::Replayed { site, url, snapshot } => self.replayed(site, url, snapshot).await,
            Event::WriterGone => Err(WriterError),
            Event::Settled { before, site } => self.settled(before, site).await,
        }
    }

    /// No new request from now on.
    pub(super) async fn stop(&mut self) -> Result<(), WriterError> {
        self.stopping = true;
        self.gate.stop();
        let waiting = self.frontier.drain();
        let parked = self.origins.drain();
        self.waiting.clear();
        self.abandon(waiting).await?;
        self.abandon(parked).await
    }

    /// What an earlier part of the run, or an earlier run, knows of a site's origins.
    pub(super) fn recall_robots(&mut self, work: &SiteWork) -> Vec<String> {
        let mut recalled = Vec::new();
        let ttl = self.tools.settings.politeness.robots_ttl.as_millis() as i64;
        let mut seen = FxHashSet::default();
        for stored in &work.robots {
            let left = stored.fetched_at + ttl - self.clock.unix_ms();
            // Rules that could not be had are asked for again: that they could not be had is no news of today.
            let is_answer = stored.status.is_some_and(|status| status < 500 && status != 429);
            if left <= 0 || !is_answer || !self.origins.is_unknown(&stored.origin) || !seen.insert(&stored.origin) {
                continue;
            }
            let answer = RobotsAnswer::Status(stored.status.unwrap_or(500), &stored.body);
            let robots = Robots::of(answer, &self.tools.agents);
            if let (Some(time), Some(delay), Ok(url)) =
                (self.not_before, robots.delay(), PageUrl::parse(&format!("{}/", stored.origin)))
            {
                let own = delay.min(self.tools.settings.politeness.max_crawl_delay);
                let domain = PolitenessKey::of(&url, self.tools.settings.politeness.key, None);
                let until = self.put_off.entry(domain).or_insert(time);
                *until = (*until).max(self.clock.started + own);
            }
            let until = Instant::now() + Duration::from_millis(left as u64);
            self.origins.learn(stored.origin.clone(), robots, until);
            recalled.push(stored.origin.clone());
        }
        recalled
    }

    pub(super) fn begin(&self, work: &SiteWork, seed: PageUrl, phase: Phase) -> SiteState {
        let mut state = SiteState::new(work.id, seed, Instant::now(), phase);
        state.summary.host.clone_from(&work.host);
        state
    }
}

/// What is said of a domain that wants to be left alone for long.
pub(super) fn put_off_reason(wait: Duration) -> String {
    format!("it asked to wait {} s, longer than politeness.max_back_off", wait.as_secs())
}

/// The rules that follow from an answer.
fn read_robots(fetched: &Fetched, agents: &[String]) -> Robots {
    match &fetched.outcome {
        Ok(response) => Robots::of(RobotsAnswer::Status(response.status, &response.body), agents),
        Err(error) => {
            let reason = error.to_string();
            // The reason without the URL, which everyone knows.
            let reason = reason.split_once(": ").map_or(reason.as_str(), |(_, rest)| rest);
            Robots::of(RobotsAnswer::Unreachable(reason), agents)
        }
    }
}

/// Which end of a domain's queue.
#[derive(Clone, Copy)]
pub(super) enum End {
    Back,
    Front,
}
