//! Requests on their way out: into the queue of their host, past robots.txt, to the fetcher.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use dehusk_html::PageUrl;

use super::event::{Answer, Event};
use super::request::{QueueEnd, Request, RequestKind};
use super::robots_cache::Permission;
use super::scheduler::Scheduler;
use super::site::SiteEvent;
use super::visit::unsent_visit;
use crate::fetch::{FetchRequest, Fetched, Resolver, Resource, Response};
use crate::politeness::{Due, PolitenessKey, Times};
use crate::robots::{Robots, RobotsAnswer};
use crate::scope::Refusal;
use dehusk_settings::PolitenessScope;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{StoredRobots, VisitOutcome, Write, WriterError};

impl Scheduler<'_> {
    /// Puts a request into the queue of its politeness key. A key that is an address needs a look-up first.
    pub(super) async fn push(&mut self, request: Request, end: QueueEnd) -> Result<(), WriterError> {
        if self.tools.scope.is_never(&request.url) {
            return Box::pin(self.refuse(request)).await;
        }
        let scope = self.tools.settings.politeness.key;
        if scope != PolitenessScope::Ip || request.url.ip_literal().is_some() {
            let key = PolitenessKey::of(&request.url, scope, None);
            return self.enqueue(key, request, end).await;
        }
        let (resolver, events) = (self.fetcher.resolver().clone(), self.events.clone());
        self.n_pending += 1;
        tokio::spawn(async move {
            let url = request.url.clone();
            let inner = tokio::spawn(async move { resolve_key(&resolver, &url, scope).await });
            let key = inner.await.unwrap_or_else(|_| PolitenessKey::of(&request.url, scope, None));
            let _ = events.send(Event::Keyed { key, request: Box::new(request), end }).await;
        });
        Ok(())
    }

    /// Puts a request into the queue of its key, as soon as that key is leased.
    pub(super) async fn enqueue(
        &mut self,
        key: PolitenessKey,
        request: Request,
        end: QueueEnd,
    ) -> Result<(), WriterError> {
        // Keys are leased one after the other, and `enqueue` is what a lease leads to.
        if let Some(request) = Box::pin(self.lease_for(&key, request, end)).await? {
            self.enqueue_leased(key, request, end);
        }
        Ok(())
    }

    fn enqueue_leased(&mut self, key: PolitenessKey, request: Request, end: QueueEnd) {
        let now = Instant::now();
        let politeness = &self.tools.settings.politeness;
        // After a restart, robots.txt of a host may have deferred it before its address was known.
        let by_host = PolitenessKey::of(&request.url, politeness.key, None);
        let deferred = [self.deferred.remove(&key), self.deferred.remove(&by_host)].into_iter().flatten().max();
        match end {
            QueueEnd::Back => self.queues.push(key.clone(), request, now),
            QueueEnd::Front => self.queues.push_front(key.clone(), request, now),
        }
        if let Some(until) = deferred {
            let wait = until.saturating_duration_since(now);
            if wait > politeness.max_back_off {
                self.queues.park(&key, &super::incoming::deferral_reason(wait), now);
            } else {
                self.queues.defer(&key, until);
            }
        }
    }

    /// Sends everything that is due. Returns when the next request is.
    pub(super) async fn dispatch(&mut self) -> Result<Option<Instant>, WriterError> {
        while !self.is_stopping && self.queues.n_leased() < self.tools.settings.fetch.in_flight {
            if self.session_is_closed() || (self.is_over_memory() && self.queues.n_leased() > 0) {
                return Ok(None);
            }
            let now = Instant::now();
            match self.queues.pop_due(now) {
                Due::Ready(key, request) => self.dispatch_one(key, request, now).await?,
                Due::Wait(until) => return Ok(Some(until)),
                Due::Idle => return Ok(None),
            }
        }
        Ok(None)
    }

    async fn dispatch_one(&mut self, key: PolitenessKey, request: Request, now: Instant) -> Result<(), WriterError> {
        if let Some(reason) = self.queues.parked(&key) {
            self.queues.done(&key, None);
            let reason = Reason::new(ReasonCode::HostDeferred, format!("the host is left alone: {reason}"));
            return self.unavailable(request, reason).await;
        }
        if matches!(request.kind, RequestKind::Robots { .. }) {
            self.send(key, request);
            return Ok(());
        }
        if let Some(active) = request.kind.site().and_then(|site| self.sites.get_mut(&site)) {
            active.site.add_origin(request.url.origin());
        }
        match self.robots.permission(request, now, self.tools.settings.politeness.max_crawl_delay) {
            Permission::Allowed(request) => self.send(key, request),
            Permission::Disallowed(request) => {
                self.queues.done(&key, None);
                if let Some(site) = request.kind.site() {
                    let event = SiteEvent::Disallowed(request, "robots.txt forbids it".to_owned());
                    self.tell_site(site, event).await?;
                }
            }
            Permission::Unavailable(request, reason) => {
                self.queues.done(&key, None);
                self.stats.without_rules += 1;
                self.unavailable(request, reason).await?;
            }
            Permission::Parked => self.queues.done(&key, None),
            Permission::FetchRulesFirst(origin) => match PageUrl::parse(&format!("{origin}/robots.txt")) {
                Ok(url) => {
                    let known = self.robots.validators(&origin);
                    let request = Request::new(url, RequestKind::Robots { origin });
                    self.send(key, Request { known, ..request });
                }
                Err(_) => self.queues.done(&key, None),
            },
        }
        Ok(())
    }

    /// A request that `crawl.never` forbids.
    async fn refuse(&mut self, request: Request) -> Result<(), WriterError> {
        match request.kind.site() {
            Some(site) => self.tell_site(site, SiteEvent::Refused(request, Refusal::Never)).await,
            None => self.unavailable(request, Reason::new(ReasonCode::Refused, "crawl.never forbids it")).await,
        }
    }

    /// A request that is not sent, for a reason that concerns its whole origin.
    pub(super) async fn unavailable(&mut self, request: Request, reason: Reason) -> Result<(), WriterError> {
        match (&request.kind, request.kind.site()) {
            (RequestKind::Robots { origin }, _) => {
                let visit = unsent_visit(&request, VisitOutcome::FetchError, Some(reason.text.clone()));
                self.writer.write(Write::Visit(visit, None)).await?;
                let robots = Robots::of(RobotsAnswer::Unreachable(reason.code, &reason.text), &self.tools.agents);
                let until = Instant::now() + self.tools.settings.politeness.max_back_off;
                for waited in self.robots.insert(origin.clone(), robots, until) {
                    Box::pin(self.push(waited, QueueEnd::Front)).await?;
                }
                Ok(())
            }
            (_, Some(site)) => self.tell_site(site, SiteEvent::Unavailable(request, reason)).await,
            (_, None) => Ok(()),
        }
    }

    fn send(&mut self, key: PolitenessKey, request: Request) {
        self.n_pending += 1;
        let (fetcher, events, archive) = (self.fetcher.clone(), self.events.clone(), self.archive.clone());
        let resource = request.resource();
        let (tools, clock) = (Arc::clone(&self.tools), self.clock);
        let expired = self.robots.expired(&request).cloned();
        tokio::spawn(async move {
            let sent = Instant::now();
            let wanted = FetchRequest { url: request.url.clone(), resource, known: request.known.clone() };
            let asked = request.clone();
            // In a task of its own: a panic in it must not swallow the event that everyone waits for.
            let inner = tokio::spawn(async move {
                let mut fetched = fetcher.fetch(&wanted).await;
                if let Some(archive) = archive {
                    // Written before anyone knows about it, so that no page is in the database and not in the archive.
                    fetched = archive.keep(&asked, fetched, clock).await;
                }
                if resource != Resource::Robots {
                    return (fetched, None);
                }
                let is_large = fetched.outcome.as_ref().is_ok_and(|response| response.body.len() > LARGE_ROBOTS);
                let read = move || (read_robots(&fetched, expired.as_deref(), &tools.agents), fetched);
                let (robots, fetched) = if is_large {
                    match tokio::task::spawn_blocking(read).await {
                        Ok(read) => read,
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    }
                } else {
                    read()
                };
                (fetched, Some(robots))
            });
            // The request may have been sent: its host waits for the next one.
            let broken = || Fetched::broken(&request.url, Times { sent, answered: None, ended: Instant::now() });
            let (fetched, robots) = inner.await.unwrap_or_else(|_| (broken(), None));
            let _ = events.send(Event::Fetched(Box::new(Answer { key, request, fetched, robots }))).await;
        });
    }
}

/// The politeness key of a URL; with the scope `Ip` its host is looked up.
pub(super) async fn resolve_key(resolver: &Resolver, url: &PageUrl, scope: PolitenessScope) -> PolitenessKey {
    if scope != PolitenessScope::Ip || url.ip_literal().is_some() {
        return PolitenessKey::of(url, scope, None);
    }
    // A name without an address fails when it is fetched, with a reason.
    let found = resolver.resolve(url.host()).await.ok();
    PolitenessKey::of(url, scope, found.and_then(|addresses| addresses.first().map(SocketAddr::ip)))
}

/// Bytes of a robots.txt file above which it is read on a thread of its own: it would hold up other requests. A thread
/// for each small file would be hundreds of threads where a crawl begins.
const LARGE_ROBOTS: usize = 16 << 10;

/// The rules that follow from an answer. `expired` is the file that the request was conditional on.
fn read_robots(fetched: &Fetched, expired: Option<&StoredRobots>, agents: &[String]) -> Robots {
    match (&fetched.outcome, expired) {
        (Ok(Response { status: 304, .. }), Some(expired)) => Robots::parse(&expired.body, agents),
        (Ok(response), _) => Robots::of(RobotsAnswer::Status(response.status, &response.body), agents),
        (Err(error), _) => Robots::of(RobotsAnswer::Unreachable(error.code(), &error.reason()), agents),
    }
}
