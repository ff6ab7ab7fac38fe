//! The task that owns the frontier and the sites.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc;

use super::Clock;
use super::event::{Event, Kind, Request};
use super::origin::{Origins, Verdict};
use super::site::SiteState;
use super::stats::{Progress, Stats, Summary};
use crate::fetch::{Fetched, Gate, Wanted};
use crate::frontier::{Due, Frontier, Pace};
use crate::page::{Domain, PageUrl, PolitenessKey};
use crate::robots::{Robots, RobotsAnswer};
use crate::settings::Settings;
use crate::store::{Job, SiteNumber, Writer, WriterError};

/// Events that may wait for the scheduler.
const EVENTS: usize = 1024;

/// How often progress is told when nothing else happens.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Scheduler<'a> {
    pub(super) settings: Arc<Settings>,
    pub(super) gate: Gate,
    pub(super) pool: rayon::ThreadPool,
    pub(super) writer: &'a Writer,
    pub(super) clock: Clock,
    pub(super) watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    pub(super) events: mpsc::Sender<Event>,
    pub(super) inbox: mpsc::Receiver<Event>,
    pub(super) frontier: Frontier<Request>,
    pub(super) pace: Pace,
    pub(super) origins: Origins,
    pub(super) seeds: VecDeque<PageUrl>,
    pub(super) sites: FxHashMap<SiteNumber, SiteState>,
    pub(super) next_site: SiteNumber,
    pub(super) stats: Stats,
    /// Requests, look-ups and CPU jobs whose event has not come yet.
    pub(super) n_out: usize,
    pub(super) stopping: bool,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(
        seeds: Vec<PageUrl>,
        settings: &Settings,
        gate: Gate,
        pool: rayon::ThreadPool,
        writer: &'a Writer,
        clock: Clock,
        watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Scheduler<'a> {
        let (events, inbox) = mpsc::channel(EVENTS);
        let n_seeds = seeds.len();
        let seeds = first_of_each_host(seeds);
        let stats = Stats { sites: seeds.len(), repeated_seeds: n_seeds - seeds.len(), ..Stats::default() };
        Scheduler {
            settings: Arc::new(settings.clone()),
            gate,
            pool,
            writer,
            clock,
            watch,
            events,
            inbox,
            frontier: Frontier::default(),
            pace: Pace::new(&settings.politeness),
            origins: Origins::default(),
            seeds,
            sites: FxHashMap::default(),
            next_site: 0,
            stats,
            n_out: 0,
            stopping: false,
        }
    }

    pub(super) async fn run(mut self, mut stop: mpsc::Receiver<()>) -> Result<Summary, WriterError> {
        loop {
            self.admit().await?;
            let next = self.dispatch().await?;
            self.tell_progress();
            if self.n_out == 0 && self.sites.is_empty() && self.seeds.is_empty() {
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
                Some(()) = stop.recv(), if !self.stopping => self.stop().await?,
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
        let outcome = if self.stopping { "interrupted" } else { "finished" };
        self.writer.send(Job::RunEnded { outcome, at: self.clock.unix_ms() }).await?;
        Ok(Summary {
            stats: self.stats,
            was_interrupted: self.stopping,
            seconds: self.clock.started.elapsed().as_secs_f64(),
        })
    }

    pub(super) fn tell_progress(&mut self) {
        self.stats.active = self.sites.len();
        self.stats.waiting = self.frontier.n_waiting();
        self.stats.in_flight = self.frontier.n_leased();
        (self.watch)(Progress::Tick(&self.stats));
    }

    /// Begins work on further sites while there is room.
    pub(super) async fn admit(&mut self) -> Result<(), WriterError> {
        while self.sites.len() < self.settings.crawl.sites_at_once {
            let Some(seed) = self.seeds.pop_front() else { return Ok(()) };
            let site = self.next_site;
            self.next_site += 1;
            let at = self.clock.unix_ms();
            let begun = Job::SiteBegun { site, host: seed.authority(), key_url: seed.to_string(), at };
            self.writer.send(begun).await?;
            self.sites.insert(site, SiteState::new(seed.clone(), Instant::now()));
            self.push(Request::new(seed, Kind::Page { site }), End::Back);
        }
        Ok(())
    }

    /// Puts a request into the queue of its domain; by address, after a look-up of its own.
    pub(super) fn push(&mut self, request: Request, end: End) {
        let key = self.settings.politeness.key;
        if key != PolitenessKey::Ip || request.url.ip_literal().is_some() {
            let domain = Domain::of(&request.url, key, None);
            self.enqueue(domain, request, end);
            return;
        }
        let (resolver, events) = (self.gate.resolver().clone(), self.events.clone());
        self.n_out += 1;
        tokio::spawn(async move {
            // A name without an address fails when it is fetched, with a reason.
            let found = resolver.resolve(request.url.host()).await.ok();
            let address = found.and_then(|addresses| addresses.first().map(SocketAddr::ip));
            let domain = Domain::of(&request.url, key, address);
            let _ = events.send(Event::Keyed { domain, request }).await;
        });
    }

    pub(super) fn enqueue(&mut self, domain: Domain, request: Request, end: End) {
        let now = Instant::now();
        match end {
            End::Back => self.frontier.push(domain, request, now),
            End::Front => self.frontier.push_front(domain, request, now),
        }
    }

    /// Sends everything that is due; says when the next one is.
    pub(super) async fn dispatch(&mut self) -> Result<Option<Instant>, WriterError> {
        while !self.stopping && self.frontier.n_leased() < self.settings.fetch.in_flight {
            let now = Instant::now();
            let (domain, request) = match self.frontier.pop_due(now) {
                Due::Ready(domain, request) => (domain, request),
                Due::Wait(until) => return Ok(Some(until)),
                Due::Idle => return Ok(None),
            };
            if matches!(request.kind, Kind::Robots { .. }) {
                self.send(domain, request);
                continue;
            }
            if let Some(site) = request.kind.site().and_then(|site| self.sites.get_mut(&site)) {
                let origin = request.url.origin();
                if !site.origins.contains(&origin) {
                    site.origins.push(origin);
                }
            }
            match self.origins.judge(request, now) {
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
        }
        Ok(None)
    }

    pub(super) fn send(&mut self, domain: Domain, request: Request) {
        self.n_out += 1;
        let (gate, events) = (self.gate.clone(), self.events.clone());
        let wanted = match request.kind {
            Kind::Robots { .. } => Wanted::Robots,
            Kind::Page { .. } => Wanted::Page,
        };
        let agents = self.settings.agents();
        tokio::spawn(async move {
            let url = request.url.clone();
            // In a task of its own: a panic below must not swallow the event that everyone waits for.
            let inner = tokio::spawn(async move { gate.fetch(&url, wanted).await });
            let fetched = inner.await.unwrap_or_else(|_| Fetched::broken(&request.url));
            let robots = match wanted {
                Wanted::Robots => Some(read_robots(&fetched, &agents)),
                Wanted::Page => None,
            };
            let _ = events.send(Event::Fetched { domain, request, fetched, robots }).await;
        });
    }

    pub(super) async fn handle(&mut self, event: Event) -> Result<(), WriterError> {
        self.n_out -= 1;
        match event {
            Event::Fetched { domain, request, fetched, robots } => self.fetched(domain, request, fetched, robots).await,
            Event::Keyed { domain, request } if self.stopping => {
                drop(domain);
                self.abandon(vec![request]).await
            }
            Event::Keyed { domain, request } => {
                self.enqueue(domain, request, End::Back);
                Ok(())
            }
            Event::Advanced { site, advance } => self.advanced(site, advance).await,
        }
    }

    /// No new request from now on.
    pub(super) async fn stop(&mut self) -> Result<(), WriterError> {
        self.stopping = true;
        self.gate.stop();
        let waiting = self.frontier.drain();
        let parked = self.origins.drain();
        self.stats.interrupted += self.seeds.len();
        self.seeds.clear();
        self.abandon(waiting).await?;
        self.abandon(parked).await
    }
}

/// The rules that follow from an answer.
fn read_robots(fetched: &Fetched, agents: &[String]) -> Robots {
    let answer = match &fetched.outcome {
        Ok(response) => RobotsAnswer::Status(response.status, &response.body),
        Err(_) => RobotsAnswer::Unreachable,
    };
    Robots::of(answer, agents)
}

/// Which end of a domain's queue.
#[derive(Clone, Copy)]
pub(super) enum End {
    Back,
    Front,
}

/// One key page a host and port: a site has one template here.
fn first_of_each_host(seeds: Vec<PageUrl>) -> VecDeque<PageUrl> {
    let mut seen = FxHashSet::default();
    let key = |url: &PageUrl| {
        let host = url.host();
        (host.strip_prefix("www.").unwrap_or(host).to_owned(), url.url().port())
    };
    seeds.into_iter().filter(|seed| seen.insert(key(seed))).collect()
}
