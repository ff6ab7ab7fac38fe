//! The task that owns the frontier and the sites.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc;

use super::event::{Event, Kind, Request};
use super::origin::{Origins, Verdict};
use super::site::{Advance, Harvest, SiteState, Work, advance};
use super::stats::{Progress, SiteSummary, Stats, Summary};
use super::Clock;
use crate::fetch::{Fetched, Gate, Response, Wanted, redirect_target};
use crate::frontier::{Due, Frontier, Pace, Times};
use crate::page::{Domain, PageUrl, PolitenessKey};
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use crate::settings::Settings;
use crate::store::{Job, NewPage, NewVisit, SiteEnd, SiteNumber, VisitOutcome, Writer, WriterError};

/// Events that may wait for the scheduler.
const EVENTS: usize = 1024;

/// How often progress is told when nothing else happens.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Scheduler<'a> {
    settings: Arc<Settings>,
    gate: Gate,
    pool: rayon::ThreadPool,
    writer: &'a Writer,
    clock: Clock,
    watch: &'a mut (dyn FnMut(Progress<'_>) + Send),
    events: mpsc::Sender<Event>,
    inbox: mpsc::Receiver<Event>,
    frontier: Frontier<Request>,
    pace: Pace,
    origins: Origins,
    seeds: VecDeque<PageUrl>,
    sites: FxHashMap<SiteNumber, SiteState>,
    next_site: SiteNumber,
    stats: Stats,
    /// Requests, look-ups and CPU jobs whose event has not come yet.
    n_out: usize,
    stopping: bool,
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

    fn tell_progress(&mut self) {
        self.stats.active = self.sites.len();
        self.stats.waiting = self.frontier.n_waiting();
        self.stats.in_flight = self.frontier.n_leased();
        (self.watch)(Progress::Tick(&self.stats));
    }

    /// Begins work on further sites while there is room.
    async fn admit(&mut self) -> Result<(), WriterError> {
        while self.sites.len() < self.settings.crawl.sites_at_once {
            let Some(seed) = self.seeds.pop_front() else { return Ok(()) };
            let site = self.next_site;
            self.next_site += 1;
            let at = self.clock.unix_ms();
            let begun = Job::SiteBegun { site, host: seed.host().to_owned(), key_url: seed.to_string(), at };
            self.writer.send(begun).await?;
            self.sites.insert(site, SiteState::new(seed.clone(), Instant::now()));
            self.push(Request { url: seed, kind: Kind::Page { site }, hops: 0, attempts: 0 }, End::Back);
        }
        Ok(())
    }

    /// Puts a request into the queue of its domain; by address, after a look-up of its own.
    fn push(&mut self, request: Request, end: End) {
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

    fn enqueue(&mut self, domain: Domain, request: Request, end: End) {
        let now = Instant::now();
        match end {
            End::Back => self.frontier.push(domain, request, now),
            End::Front => self.frontier.push_front(domain, request, now),
        }
    }

    /// Sends everything that is due; says when the next one is.
    async fn dispatch(&mut self) -> Result<Option<Instant>, WriterError> {
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
                    Ok(url) => self.send(domain, Request { url, kind: Kind::Robots { origin }, hops: 0, attempts: 0 }),
                    Err(_) => self.frontier.done(&domain, None),
                },
                _ => self.frontier.done(&domain, None),
            }
        }
        Ok(None)
    }

    fn send(&mut self, domain: Domain, request: Request) {
        self.n_out += 1;
        let (gate, events) = (self.gate.clone(), self.events.clone());
        let wanted = match request.kind {
            Kind::Robots { .. } => Wanted::Robots,
            Kind::Page { .. } => Wanted::Page,
        };
        tokio::spawn(async move {
            let fetched = gate.fetch(&request.url, wanted).await;
            let _ = events.send(Event::Fetched { domain, request, fetched }).await;
        });
    }

    async fn handle(&mut self, event: Event) -> Result<(), WriterError> {
        self.n_out -= 1;
        match event {
            Event::Fetched { domain, request, fetched } => self.fetched(domain, request, fetched).await,
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

    async fn fetched(&mut self, domain: Domain, request: Request, fetched: Fetched) -> Result<(), WriterError> {
        if let Some(times) = fetched.times {
            self.stats.requests += 1;
            if let Some(site) = request.kind.site().and_then(|site| self.sites.get_mut(&site)) {
                site.n_requests += 1;
            }
            if let Ok(response) = &fetched.outcome {
                self.stats.bytes += response.raw_bytes as u64;
            }
            self.record(&request, times, &fetched).await?;
        } else if let Err(error) = &fetched.outcome {
            self.record_unsent(&request, VisitOutcome::FetchError, error.to_string()).await?;
        }
        if let Kind::Robots { origin } = request.kind.clone() {
            self.robots_fetched(origin, request, &fetched).await?;
            return self.release(&domain, &fetched);
        }
        let next = self.page_fetched(&request, fetched.outcome.as_ref());
        self.put_off(&domain, &request, &fetched);
        self.release_times(&domain, &request.url, fetched.times);
        match next {
            NextStep::Again(request) | NextStep::Follow(request) if self.stopping => self.abandon(vec![request]).await,
            NextStep::Again(request) => {
                self.push(request, End::Back);
                Ok(())
            }
            NextStep::Follow(request) => {
                self.push(request, End::Front);
                Ok(())
            }
            NextStep::Page => match fetched.outcome {
                Ok(response) => self.page_came(&request, fetched.times, response).await,
                Err(error) => self.page_failed(&request, error.to_string()).await,
            },
            NextStep::Give(reason) => self.page_failed(&request, reason).await,
        }
    }

    fn release(&mut self, domain: &Domain, fetched: &Fetched) -> Result<(), WriterError> {
        let url = fetched.outcome.as_ref().ok().map(|response| response.url.clone());
        match url {
            Some(url) => self.release_times(domain, &url, fetched.times),
            None => {
                let next = fetched.times.map(|times| self.pace.next_fetch(times, Duration::ZERO));
                self.frontier.done(domain, next);
            }
        }
        Ok(())
    }

    fn release_times(&mut self, domain: &Domain, url: &PageUrl, times: Option<Times>) {
        let own = self.origins.delay(url).unwrap_or_default().min(self.settings.politeness.max_crawl_delay);
        self.frontier.done(domain, times.map(|times| self.pace.next_fetch(times, own)));
    }

    /// A server that is overloaded, or does not answer, is left alone for longer.
    fn put_off(&mut self, domain: &Domain, request: &Request, fetched: &Fetched) {
        let politeness = &self.settings.politeness;
        let wait = match &fetched.outcome {
            Ok(Response { status: 429 | 503, retry_after, .. }) => {
                let asked = Duration::from_secs(retry_after.unwrap_or(0)).min(politeness.max_crawl_delay);
                asked.max(politeness.delay * 2)
            }
            Err(error) if error.is_transient() => politeness.delay * (2 << request.attempts.min(6)),
            _ => return,
        };
        self.frontier.put_off(domain, Instant::now() + wait);
    }

    /// What follows from the answer to a page request.
    fn page_fetched(&self, request: &Request, outcome: Result<&Response, &crate::fetch::FetchError>) -> NextStep {
        let may_retry = request.attempts < self.settings.fetch.retries;
        let again = || NextStep::Again(Request { attempts: request.attempts + 1, ..request.clone() });
        let response = match outcome {
            Ok(response) => response,
            Err(error) if error.is_transient() && may_retry => return again(),
            Err(error) => return NextStep::Give(error.to_string()),
        };
        if let Some(target) = redirect_target(response) {
            if request.hops >= self.settings.fetch.max_redirects {
                return NextStep::Give(format!("{}: more than {} redirects", request.url, request.hops));
            }
            return NextStep::Follow(Request { url: target, hops: request.hops + 1, ..request.clone() });
        }
        match response.status {
            200..=299 if response.body.is_empty() => NextStep::Give(format!("{}: empty answer", request.url)),
            200..=299 => NextStep::Page,
            429 | 500..=599 if may_retry => again(),
            status => NextStep::Give(format!("{}: answers {status}", request.url)),
        }
    }

    async fn robots_fetched(&mut self, origin: String, request: Request, fetched: &Fetched) -> Result<(), WriterError> {
        if let Ok(response) = &fetched.outcome
            && let Some(url) = redirect_target(response)
            && request.hops < MAX_ROBOTS_REDIRECTS
            && !self.stopping
        {
            self.push(Request { url, hops: request.hops + 1, ..request }, End::Front);
            return Ok(());
        }
        let (answer, status, body): (_, _, &[u8]) = match &fetched.outcome {
            Ok(r) => (RobotsAnswer::Status(r.status, &r.body), Some(r.status), &r.body),
            Err(_) => (RobotsAnswer::Unreachable, None, &[]),
        };
        let robots = Robots::of(answer, &self.settings.fetch.user_agent);
        let at = self.clock.unix_ms();
        self.writer.send(Job::Robots { origin: origin.clone(), at, status, body: body.to_vec() }).await?;
        let until = Instant::now() + self.settings.politeness.robots_ttl;
        let parked = self.origins.learn(origin, robots, until);
        if self.stopping {
            return self.abandon(parked).await;
        }
        for request in parked.into_iter().rev() {
            self.push(request, End::Front);
        }
        Ok(())
    }

    async fn page_came(
        &mut self,
        request: &Request,
        times: Option<Times>,
        response: Response,
    ) -> Result<(), WriterError> {
        let Some(site) = request.kind.site() else { return Ok(()) };
        self.stats.pages += 1;
        let page = NewPage {
            site_id: 0,
            url: response.url.to_string(),
            fetched_at: times.map_or_else(|| self.clock.unix_ms(), |t| self.clock.at(t.sent)),
            status: response.status,
            content_type: response.content_type.clone(),
            body: response.body.clone(),
        };
        self.writer.send(Job::Page(site, page)).await?;
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        state.n_pages += 1;
        if self.stopping {
            return self.end_site(site, SiteEnd::Interrupted, None).await;
        }
        let work = match state.learner.take() {
            Some(learner) => Work::Tell(learner, Some(response)),
            None => {
                state.has_key = true;
                Work::Key(response)
            }
        };
        self.compute(site, work);
        Ok(())
    }

    async fn forbid(&mut self, request: Request, reason: &'static str) -> Result<(), WriterError> {
        self.stats.forbidden += 1;
        self.record_unsent(&request, VisitOutcome::Forbidden, reason.to_owned()).await?;
        self.page_failed(&request, format!("{}: {reason}", request.url)).await
    }

    async fn page_failed(&mut self, request: &Request, reason: String) -> Result<(), WriterError> {
        let Some(site) = request.kind.site() else { return Ok(()) };
        self.stats.errors += 1;
        tracing::debug!(url = %request.url, reason, "no page");
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        if self.stopping {
            return self.end_site(site, SiteEnd::Interrupted, None).await;
        }
        match state.learner.take() {
            Some(learner) => {
                self.compute(site, Work::Tell(learner, None));
                Ok(())
            }
            None => self.end_site(site, SiteEnd::Failed(reason), None).await,
        }
    }

    /// Hands work on a site to a CPU thread.
    fn compute(&mut self, site: SiteNumber, work: Work) {
        self.n_out += 1;
        let (events, settings) = (self.events.clone(), Arc::clone(&self.settings));
        self.pool.spawn(move || {
            let advance = advance(work, &settings);
            let _ = events.blocking_send(Event::Advanced { site, advance });
        });
    }

    async fn advanced(&mut self, site: SiteNumber, advance: Advance) -> Result<(), WriterError> {
        match advance {
            Advance::Ask(..) if self.stopping => self.end_site(site, SiteEnd::Interrupted, None).await,
            Advance::Ask(learner, url) => {
                if let Some(state) = self.sites.get_mut(&site) {
                    state.learner = Some(learner);
                    self.push(Request { url, kind: Kind::Page { site }, hops: 0, attempts: 0 }, End::Back);
                }
                Ok(())
            }
            Advance::Done(harvest) => {
                let end = match (&harvest.template, harvest.n_links) {
                    (Some(_), _) => SiteEnd::Learned,
                    (None, 0) => SiteEnd::Failed("the key page has no links to pages of its site".to_owned()),
                    (None, n) => SiteEnd::Failed(format!("none of {n} links gave a page that could vote")),
                };
                self.end_site(site, end, Some(harvest)).await
            }
            Advance::Broken(reason) => self.end_site(site, SiteEnd::Failed(reason), None).await,
        }
    }

    async fn end_site(
        &mut self,
        site: SiteNumber,
        end: SiteEnd,
        harvest: Option<Box<Harvest>>,
    ) -> Result<(), WriterError> {
        let Some(state) = self.sites.remove(&site) else { return Ok(()) };
        for origin in &state.origins {
            self.origins.forget(origin);
        }
        let host = harvest.as_ref().map_or_else(|| state.seed.host().to_owned(), |h| h.host.clone());
        let mut summary = SiteSummary::new(&host, &end, state.begun.elapsed());
        (summary.pages, summary.requests) = (state.n_pages, state.n_requests);
        self.stats.count_end(&end);
        let (mut template, mut cleaned) = (None, Vec::new());
        if let Some(harvest) = harvest {
            (summary.links, summary.loads) = (harvest.n_links, harvest.loads);
            summary.cleaned = harvest.cleaned.iter().filter(|page| page.by_template).count();
            if let Some(t) = &harvest.template {
                (summary.voters, summary.template_nodes, summary.key_nodes) = (t.m, t.nodes.len(), t.key_nodes);
            }
            (template, cleaned) = (harvest.template.map(Box::new), harvest.cleaned);
        }
        let at = self.clock.unix_ms();
        self.writer.send(Job::SiteEnded { site, end, template, cleaned, at }).await?;
        (self.watch)(Progress::Site(&summary, &self.stats));
        Ok(())
    }

    /// No new request from now on.
    async fn stop(&mut self) -> Result<(), WriterError> {
        self.stopping = true;
        let waiting = self.frontier.drain();
        let parked = self.origins.drain();
        self.stats.interrupted += self.seeds.len();
        self.seeds.clear();
        self.abandon(waiting).await?;
        self.abandon(parked).await
    }

    async fn abandon(&mut self, requests: Vec<Request>) -> Result<(), WriterError> {
        for site in requests.iter().filter_map(|request| request.kind.site()) {
            self.end_site(site, SiteEnd::Interrupted, None).await?;
        }
        Ok(())
    }

    async fn record(&self, request: &Request, times: Times, fetched: &Fetched) -> Result<(), WriterError> {
        let (outcome, reason) = match &fetched.outcome {
            Ok(response) if (300..400).contains(&response.status) => (VisitOutcome::Redirected, response.location.clone()),
            Ok(response) if (200..300).contains(&response.status) => (VisitOutcome::Fetched, None),
            Ok(response) if response.status == 429 || response.status >= 500 => (VisitOutcome::FetchError, None),
            Ok(_) => (VisitOutcome::Failed, None),
            Err(error) if error.is_transient() => (VisitOutcome::FetchError, Some(error.to_string())),
            Err(error) => (VisitOutcome::Failed, Some(error.to_string())),
        };
        let response = fetched.outcome.as_ref().ok();
        let visit = NewVisit {
            sent_at: Some(self.clock.at(times.sent)),
            took_ms: Some(times.ended.saturating_duration_since(times.sent).as_millis() as i64),
            status: response.map(|r| r.status),
            raw_bytes: response.map(|r| r.raw_bytes),
            ..visit(request, outcome, reason)
        };
        self.writer.send(Job::Visit(request.kind.site(), visit)).await
    }

    async fn record_unsent(&self, request: &Request, outcome: VisitOutcome, reason: String) -> Result<(), WriterError> {
        self.writer.send(Job::Visit(request.kind.site(), visit(request, outcome, Some(reason)))).await
    }
}

/// Which end of a domain's queue.
#[derive(Clone, Copy)]
enum End {
    Back,
    Front,
}

enum NextStep {
    Page,
    Again(Request),
    Follow(Request),
    Give(String),
}

fn visit(request: &Request, outcome: VisitOutcome, reason: Option<String>) -> NewVisit {
    NewVisit {
        site_id: None,
        url: request.url.to_string(),
        kind: match request.kind {
            Kind::Robots { .. } => "robots",
            Kind::Page { .. } => "page",
        },
        sent_at: None,
        took_ms: None,
        status: None,
        raw_bytes: None,
        outcome,
        reason,
    }
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
