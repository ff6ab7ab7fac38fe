//! Requests on their way out: into the queue of their host, past robots.txt, to the fetcher.

use std::time::Instant;

use dehusk_html::PageUrl;

use super::request::{QueueEnd, Request, RequestKind};
use super::robots_cache::Permission;
use super::scheduler::Scheduler;
use super::site::SiteEvent;
use super::visit::unsent_visit;
use crate::politeness::{Due, PolitenessKey};
use crate::robots::{Robots, RobotsAnswer};
use crate::scope::Refusal;
use dehusk_settings::PolitenessScope;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{VisitOutcome, Write, WriterError};

impl Scheduler<'_> {
    /// Puts a request into the queue of its politeness key. A key that is an address needs a look-up first.
    pub(super) async fn push(&mut self, request: Request, end: QueueEnd) -> Result<(), WriterError> {
        if self.tools.scope.is_never(&request.url) {
            return Box::pin(self.refuse(request)).await;
        }
        let scope = self.tools.settings.politeness.key;
        if scope != PolitenessScope::Ip || request.url.ip_literal().is_some() {
            let key = PolitenessKey::new(&request.url, scope, None);
            return self.enqueue(key, request, end).await;
        }
        self.jobs.look_up_key(request, end, scope);
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
        let politeness = &self.tools_by_host.of(request.url.host()).settings.politeness;
        // After a restart, robots.txt of a host may have deferred it before its address was known.
        let by_host = PolitenessKey::new(&request.url, politeness.key, None);
        let deferred = self.delays.take(&key, &by_host);
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
        while !self.is_stopping && self.queues.n_in_flight() < self.tools.settings.fetch.in_flight {
            if self.session_is_closed() || (self.is_over_memory() && self.queues.n_in_flight() > 0) {
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
        // Whether robots.txt allows a file about rights was asked before it came here.
        if matches!(request.kind, RequestKind::Robots { .. } | RequestKind::Rights { .. }) {
            self.send(key, request);
            return Ok(());
        }
        // Hosts of scripts serve many sites: their sitemaps are not the site's, and their rules outlast it.
        let is_script = matches!(request.kind, RequestKind::Subresource { .. });
        if let Some(site) = request.kind.site().filter(|_| !is_script).and_then(|site| self.sites.get_mut(site)) {
            site.add_origin(request.url.origin());
        }
        let most = self.tools_by_host.of(request.url.host()).settings.politeness.max_crawl_delay;
        let purpose = self.tools.settings.crawl.purpose;
        match self.robots.permission(request, now, most, purpose) {
            Permission::Allowed(request) => self.send(key, request),
            Permission::Disallowed(request, reason) => {
                self.queues.done(&key, None);
                match (&request.kind, request.kind.site()) {
                    (RequestKind::Subresource { wanted, .. }, _) => {
                        let wanted = wanted.clone();
                        self.refuse_subresource(&request, &wanted, VisitOutcome::Forbidden, reason).await?;
                    }
                    (_, Some(site)) => self.tell_site(site, SiteEvent::Disallowed(request, reason)).await?,
                    (_, None) => {}
                }
            }
            Permission::Unavailable(request, reason) => {
                self.queues.done(&key, None);
                self.stats.without_rules += 1;
                self.unavailable(request, reason).await?;
            }
            Permission::WaitsForRules => self.queues.done(&key, None),
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
        let never = Reason::new(ReasonCode::Refused, "crawl.never forbids it");
        match (&request.kind, request.kind.site()) {
            (RequestKind::Subresource { wanted, .. }, _) => {
                let wanted = wanted.clone();
                self.refuse_subresource(&request, &wanted, VisitOutcome::Refused, never).await
            }
            (_, Some(site)) => self.tell_site(site, SiteEvent::Refused(request, Refusal::Never)).await,
            (_, None) => self.unavailable(request, never).await,
        }
    }

    /// A request that is not sent, for a reason that concerns its whole origin.
    pub(super) async fn unavailable(&mut self, request: Request, reason: Reason) -> Result<(), WriterError> {
        match (&request.kind, request.kind.site()) {
            (RequestKind::Robots { origin }, _) => {
                let visit = unsent_visit(&request, VisitOutcome::FetchError, Some(reason.text.clone()));
                self.writer.write(Write::Visit(visit, None)).await?;
                let robots = Robots::new(RobotsAnswer::Unreachable(reason.code, &reason.text), &self.tools.agents);
                let until = Instant::now() + self.tools.settings.politeness.max_back_off;
                for waited in self.robots.insert(origin.clone(), robots, until) {
                    Box::pin(self.push(waited, QueueEnd::Front)).await?;
                }
                Ok(())
            }
            (RequestKind::Rights { origin, file }, _) => {
                let (origin, file) = (origin.clone(), *file);
                let visit = unsent_visit(&request, VisitOutcome::FetchError, Some(reason.text));
                self.writer.write(Write::Visit(visit, None)).await?;
                Box::pin(self.take_rights_file(&origin, file, &request.url, None)).await
            }
            (RequestKind::Subresource { wanted, .. }, _) => {
                let wanted = wanted.clone();
                self.refuse_subresource(&request, &wanted, VisitOutcome::FetchError, reason).await
            }
            (_, Some(site)) => self.tell_site(site, SiteEvent::Unavailable(request, reason)).await,
            (_, None) => Ok(()),
        }
    }

    fn send(&mut self, key: PolitenessKey, request: Request) {
        let expired = self.robots.expired(&request).cloned();
        self.jobs.send(key, request, expired);
    }
}
