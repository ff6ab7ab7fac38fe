//! What follows from the answer to a request: a page, another try, a redirect, rules, a longer wait.

use std::time::{Duration, Instant};

use super::event::{Answer, Kind, Request};
use super::robots_cache::FORBIDDEN;
use super::scheduler::{End, Scheduler, put_off_reason};
use super::site::Phase;
use super::visit::{visit, visit_of};
use super::work::{Came, Work};
use crate::fetch::{Fetched, Response, redirect_target};
use crate::politeness::PolitenessKey;
use crate::politeness::Times;
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use crate::store::{Job, NewVisit, SiteId, SiteOutcome, UrlOutcome, VisitOutcome, WriterError};
use dehusk_core::internals::page_url::PageUrl;

impl Scheduler<'_> {
    pub(super) async fn fetched(&mut self, answer: Answer) -> Result<(), WriterError> {
        let Answer { domain, request, fetched, robots } = answer;
        if fetched.times.is_some() {
            self.stats.requests += 1;
            self.stats.retries += usize::from(request.attempts > 0);
            if let Some(site) = request.kind.site().and_then(|site| self.sites.get_mut(&site)) {
                site.n_requests += 1;
            }
            if let Ok(response) = &fetched.outcome {
                self.stats.bytes += response.raw_bytes as u64;
            }
        }
        if fetched.archive_failed && !self.stopping {
            self.stop().await?;
        }
        self.spare(&domain, &request, &fetched).await?;
        let origin = match &request.kind {
            Kind::Robots { origin } => origin.clone(),
            _ => request.url.origin(),
        };
        if matches!(request.kind, Kind::Robots { .. }) {
            self.robots_fetched(&origin, request, &fetched, robots).await?;
            self.release(&domain, &origin, fetched.times);
            return Ok(());
        }
        self.release(&domain, &origin, fetched.times);
        self.page_fetched(request, fetched).await
    }

    /// Ends the lease of a domain; `origin` may have asked for a longer delay.
    fn release(&mut self, domain: &PolitenessKey, origin: &str, times: Option<Times>) {
        let own = self.origins.delay(origin).unwrap_or_default().min(self.tools.settings.politeness.max_crawl_delay);
        let next_fetch = times.map(|times| self.frontier.next_fetch(domain, &self.pace, times, own));
        self.frontier.done(domain, next_fetch);
    }

    /// A server that is overloaded, or does not answer, is left alone for longer, and longer each time.
    async fn spare(&mut self, domain: &PolitenessKey, request: &Request, fetched: &Fetched) -> Result<(), WriterError> {
        let politeness = self.tools.settings.politeness.clone();
        let now = Instant::now();
        let base = politeness.delay.max(Duration::from_millis(100));
        let (asked, reason) = match &fetched.outcome {
            Ok(response @ Response { status: 429 | 503, .. }) => {
                self.frontier.answered(domain, false);
                (response.retry_after.unwrap_or_default(), format!("{} answered {}", request.url, response.status))
            }
            Ok(response) => {
                self.frontier.answered(domain, response.status < 500);
                return Ok(());
            }
            Err(error) if error.is_connection() => {
                if self.frontier.failed(domain) >= politeness.park_after && self.frontier.parked(domain).is_none() {
                    tracing::warn!(
                        "{domain}: {} failed connections in a row, left alone for this run",
                        politeness.park_after
                    );
                    let reason = format!("{} failed connections in a row", politeness.park_after);
                    self.frontier.park(domain, &reason, now);
                    self.stats.parked += 1;
                    return Ok(());
                }
                (Duration::ZERO, error.to_string())
            }
            Err(_) => return Ok(()),
        };
        self.stats.back_offs += 1;
        let until = self.frontier.back_off(domain, base, asked, politeness.max_back_off, now);
        // A restart must know of what outlasts it.
        if until.saturating_duration_since(now) > politeness.delay {
            let job = Job::Domain(domain.to_string(), self.clock.at(until), reason);
            self.writer.send(job).await?;
        }
        if asked > politeness.max_back_off {
            // Nobody waits that long for a page; what is left of the domain is another night's.
            self.frontier.park(domain, &put_off_reason(asked), now);
            self.stats.parked += 1;
        }
        Ok(())
    }

    async fn page_fetched(&mut self, request: Request, fetched: Fetched) -> Result<(), WriterError> {
        let step = self.next_step(&request, &fetched);
        let site = request.kind.site();
        let record = visit_of(&request, &fetched, self.clock);
        match step {
            NextStep::Page => {
                let Ok(response) = fetched.outcome else { return Ok(()) };
                let fetched_at = record.sent_at.unwrap_or_else(|| self.clock.unix_ms());
                self.stats.pages += 1;
                self.page_came(Came {
                    request,
                    response,
                    fetched_at,
                    visit: Some(record),
                    noindex: false,
                    nofollow: false,
                })
                .await
            }
            NextStep::Unchanged => {
                let end = UrlOutcome::Unchanged;
                self.writer
                    .send(Job::Visit(
                        NewVisit { outcome: VisitOutcome::NotModified, ..record },
                        Some((request.url.clone(), end)),
                    ))
                    .await?;
                self.unchanged(request).await
            }
            NextStep::Again(_) | NextStep::Follow(_) if self.stopping => {
                self.writer.send(Job::Visit(record, None)).await?;
                self.abandon(vec![request]).await
            }
            NextStep::Again(request) => {
                self.writer.send(Job::Visit(record, None)).await?;
                self.push(request, End::Back);
                Ok(())
            }
            NextStep::Follow(target) if self.has_fetched(site, &target) => {
                let record = NewVisit { reason: Some(target.to_string()), ..record };
                self.writer.send(Job::Visit(record, Some((request.asked.clone(), UrlOutcome::Moved)))).await?;
                self.no_page(request, "leads to a page that this run has fetched".to_owned()).await
            }
            NextStep::Follow(target) => {
                let record = NewVisit { reason: Some(target.to_string()), ..record };
                self.writer.send(Job::Visit(record, None)).await?;
                match self.recalled(site, &target) {
                    Some(past) => self.replay(request.led_to(target), past).await,
                    None => {
                        self.push(request.led_to(target), End::Front);
                        Ok(())
                    }
                }
            }
            NextStep::Give(..) if self.stopping && fetched.times.is_none() => self.abandon(vec![request]).await,
            NextStep::Give(reason, end) => {
                self.stats.errors += 1;
                let record = NewVisit { reason: Some(reason.clone()), ..record };
                let record = match (&end, record.outcome) {
                    (UrlOutcome::Gone, _) => NewVisit { outcome: VisitOutcome::Gone, ..record },
                    // It led somewhere, but not to anything of use.
                    (_, VisitOutcome::Redirected) => NewVisit { outcome: VisitOutcome::Failed, ..record },
                    _ => record,
                };
                let row = matches!(request.kind, Kind::Page { .. }).then(|| (request.asked.clone(), end));
                self.writer.send(Job::Visit(record, row)).await?;
                self.no_page(request, reason).await
            }
        }
    }

    /// What follows from the answer to a page request.
    fn next_step(&self, request: &Request, fetched: &Fetched) -> NextStep {
        let may_retry = request.attempts < self.tools.settings.fetch.retries;
        let response = match &fetched.outcome {
            Ok(response) => response,
            Err(error) if error.is_transient() && may_retry => return NextStep::Again(request.again()),
            Err(error) => return NextStep::Give(error.to_string(), UrlOutcome::Failed),
        };
        if let Some(target) = redirect_target(response) {
            return self.redirected(request, target);
        }
        let url = &request.url;
        let patience = self.tools.settings.politeness.max_back_off;
        match (response.status, response.retry_after) {
            (304, _) if !request.known.is_empty() => NextStep::Unchanged,
            (200..=299, _) if response.body.is_empty() => {
                NextStep::Give(format!("{url}: empty answer"), UrlOutcome::Failed)
            }
            (200..=299, _) => NextStep::Page,
            (status @ (404 | 410), _) => NextStep::Give(format!("{url}: answers {status}"), UrlOutcome::Gone),
            (status @ (429 | 503), Some(wait)) if wait > patience => NextStep::Give(
                format!("{url}: answers {status} and asks to wait {} s, put off", wait.as_secs()),
                UrlOutcome::Failed,
            ),
            (429 | 500..=599, _) if may_retry => NextStep::Again(request.again()),
            (status, _) => NextStep::Give(format!("{url}: answers {status}"), UrlOutcome::Failed),
        }
    }

    /// Does a walk know this page of this run already? A learner decides for itself what counts as another page.
    fn has_fetched(&self, site: Option<SiteId>, target: &PageUrl) -> bool {
        let state = site.and_then(|site| self.sites.get(&site));
        state.is_some_and(|state| {
            matches!(state.phase, Phase::Walking(_)) && state.fetched.contains(&target.fingerprint())
        })
    }

    /// A key page may be anywhere; once it is found, what leaves its site is of no use and is not asked for.
    fn redirected(&self, request: &Request, target: PageUrl) -> NextStep {
        if request.hops >= self.tools.settings.fetch.max_redirects {
            let reason = format!("{}: more than {} redirects", request.url, request.hops);
            return NextStep::Give(reason, UrlOutcome::Failed);
        }
        let site = request.kind.site().and_then(|site| self.sites.get(&site)).and_then(|state| state.site.as_ref());
        match site {
            Some(site) if site.claim(target.clone()).is_none() => {
                NextStep::Give(format!("{}: leads to {target}, outside the site", request.url), UrlOutcome::Failed)
            }
            _ => NextStep::Follow(target),
        }
    }

    async fn robots_fetched(
        &mut self,
        origin: &str,
        request: Request,
        fetched: &Fetched,
        robots: Option<Robots>,
    ) -> Result<(), WriterError> {
        if fetched.times.is_some() {
            self.writer.send(Job::Visit(visit_of(&request, fetched, self.clock), None)).await?;
        } else if let Err(error) = &fetched.outcome {
            let record = visit(&request, VisitOutcome::FetchError, Some(error.to_string()));
            self.writer.send(Job::Visit(record, None)).await?;
        }
        if !self.stopping {
            let may_retry = request.attempts < self.tools.settings.fetch.retries;
            match &fetched.outcome {
                Ok(response) if request.hops < MAX_ROBOTS_REDIRECTS => {
                    if let Some(url) = redirect_target(response) {
                        self.push(request.led_to(url), End::Front);
                        return Ok(());
                    }
                }
                Err(error) if error.is_transient() && may_retry => {
                    self.push(request.again(), End::Front);
                    return Ok(());
                }
                _ => {}
            }
        }
        let (status, body) = match &fetched.outcome {
            Ok(response) => (Some(response.status), response.body.clone()),
            Err(_) => (None, Vec::new()),
        };
        let at = self.clock.unix_ms();
        self.writer.send(Job::Robots { origin: origin.to_owned(), at, status, body }).await?;
        let robots = robots.unwrap_or_else(|| Robots::of(RobotsAnswer::Unreachable(""), &self.tools.agents));
        // Rules that could not be had are asked for again when the server may have recovered.
        let politeness = &self.tools.settings.politeness;
        let ttl = match robots.unreachable() {
            Some(_) => politeness.robots_ttl.min(politeness.max_back_off),
            None => politeness.robots_ttl,
        };
        let waited = self.origins.learn(origin.to_owned(), robots, Instant::now() + ttl);
        if self.stopping {
            return self.abandon(waited).await;
        }
        for request in waited.into_iter().rev() {
            self.push(request, End::Front);
        }
        Ok(())
    }

    /// A page has come, from the network or from before a restart.
    pub(super) async fn page_came(&mut self, came: Came) -> Result<(), WriterError> {
        let Some(site) = came.request.kind.site() else { return Ok(()) };
        let bytes = came.response.body.len() * TREE_BYTES;
        let too_large = bytes > self.tools.settings.crawl.memory / 2;
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        if matches!(came.request.kind, Kind::Page { .. }) {
            state.fetched.insert(came.response.url.fingerprint());
        }
        if too_large {
            let reason = format!("{}: too large for crawl.memory", came.request.url);
            if let Some(visit) = came.visit {
                let record = NewVisit { outcome: VisitOutcome::Failed, reason: Some(reason.clone()), ..visit };
                let row = matches!(came.request.kind, Kind::Page { .. });
                let row = row.then(|| (came.request.asked.clone(), UrlOutcome::Failed));
                self.writer.send(Job::Visit(record, row)).await?;
            }
            return self.no_page(came.request, reason).await;
        }
        state.held += bytes;
        self.held += bytes;
        let mut came = Box::new(came);
        if matches!(came.request.kind, Kind::Announced { .. })
            && let Some(visit) = came.visit.take()
        {
            self.writer.send(Job::Visit(visit, None)).await?;
        }
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        let work = match state.take_phase() {
            Phase::Key(template) => Work::Key(came, template),
            Phase::Learning(learner) => {
                let is_packed = self.held > self.tools.settings.crawl.memory / ROOMY;
                if is_packed {
                    state.leaving = bytes - bytes / TREE_BYTES;
                }
                Work::Tell(learner, Some(came), is_packed)
            }
            Phase::Walking(walk) => {
                let Some(own) = state.site.clone() else {
                    return self.end_site(site, SiteOutcome::Failed("no key page".to_owned())).await;
                };
                match came.request.kind {
                    Kind::Announced { .. } => Work::Announced(walk, own, came),
                    _ => Work::Walk(walk, own, came),
                }
            }
            // Nothing was asked for in this state: a defect of ours, which must not leave the site waiting for ever.
            Phase::Away => {
                return self.end_site(site, SiteOutcome::Failed("lost its place, please report it".to_owned())).await;
            }
        };
        self.compute(site, work);
        Ok(())
    }

    pub(super) async fn forbid(&mut self, request: Request, reason: String) -> Result<(), WriterError> {
        if reason != FORBIDDEN {
            // Not this page is out of reach but all of its origin, for now.
            self.stats.without_rules += 1;
            let reason = format!("{}: {reason}", request.url);
            return self.give_up(request, reason).await;
        }
        self.stats.forbidden += 1;
        let row = matches!(request.kind, Kind::Page { .. }).then(|| (request.asked.clone(), UrlOutcome::Failed));
        let record = visit(&request, VisitOutcome::Forbidden, Some(reason.clone()));
        self.writer.send(Job::Visit(record, row)).await?;
        let reason = format!("{}: {reason}", request.url);
        self.no_page(request, reason).await
    }

    /// A request that is not sent, for a reason that concerns its whole origin: its URL goes on waiting for another
    /// night, and so does the rest of its site. Where the site is elsewhere, only that URL is out of reach.
    pub(super) async fn give_up(&mut self, request: Request, reason: String) -> Result<(), WriterError> {
        let record = visit(&request, VisitOutcome::FetchError, Some(reason.clone()));
        let own = request.kind.site().and_then(|site| self.sites.get(&site)?.site.clone());
        let is_elsewhere = own.is_some_and(|site| site.key().origin() != request.url.origin());
        let row = (is_elsewhere && matches!(request.kind, Kind::Page { .. }))
            .then(|| (request.asked.clone(), UrlOutcome::Failed));
        self.writer.send(Job::Visit(record, row)).await?;
        if let Kind::Robots { origin } = &request.kind {
            let robots = Robots::of(RobotsAnswer::Unreachable(""), &self.tools.agents);
            let until = Instant::now() + self.tools.settings.politeness.max_back_off;
            for request in self.origins.learn(origin.clone(), robots, until) {
                self.push(request, End::Front);
            }
            return Ok(());
        }
        let Some(site) = request.kind.site() else { return Ok(()) };
        match self.sites.get_mut(&site).map(super::site::SiteState::take_phase) {
            Some(Phase::Walking(walk)) if is_elsewhere => self.walk(site, walk).await,
            Some(Phase::Walking(mut walk)) => {
                let end = match std::mem::replace(&mut walk.end, SiteOutcome::Interrupted) {
                    SiteOutcome::NotDue => SiteOutcome::Failed(reason),
                    end => end,
                };
                self.put_back(site, walk);
                self.end_site(site, end).await
            }
            Some(phase) => {
                if let Some(state) = self.sites.get_mut(&site) {
                    state.phase = phase;
                }
                self.no_page(request, reason).await
            }
            None => Ok(()),
        }
    }

    /// A request came to nothing; what was out for the site is so no longer.
    async fn no_page(&mut self, request: Request, reason: String) -> Result<(), WriterError> {
        let Some(site) = request.kind.site() else { return Ok(()) };
        tracing::debug!(url = %request.url, reason, "no page");
        let stopping = self.stopping;
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        if stopping {
            return self.end_site(site, SiteOutcome::Interrupted).await;
        }
        match state.take_phase() {
            Phase::Learning(learner) => {
                self.compute(site, Work::Tell(learner, None, false));
                Ok(())
            }
            Phase::Walking(walk) => self.walk(site, walk).await,
            Phase::Key(_) | Phase::Away => self.end_site(site, SiteOutcome::Failed(reason)).await,
        }
    }
}

/// Bytes of a page and its tree for one byte of HTML, roughly (measured over the dev sites).
const TREE_BYTES: usize = 5;

/// Beyond this part of `crawl.memory` pages that wait for the vote are packed: parsing them again costs less than the
/// room for their trees.
const ROOMY: usize = 16;

enum NextStep {
    Page,
    Unchanged,
    Again(Request),
    Follow(PageUrl),
    Give(String, UrlOutcome),
}
