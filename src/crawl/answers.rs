//! What follows from the answer to a request: a page, another try, a redirect, rules, a longer wait.

use std::time::{Duration, Instant};

use super::event::{Kind, Request};
use super::scheduler::{End, Scheduler};
use super::site::Work;
use crate::fetch::{FetchError, Fetched, Response, redirect_target};
use crate::frontier::Times;
use crate::page::{Domain, PageUrl};
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use crate::store::{Job, NewPage, SiteEnd, VisitOutcome, WriterError};

impl Scheduler<'_> {
    pub(super) async fn fetched(
        &mut self,
        domain: Domain,
        request: Request,
        fetched: Fetched,
        robots: Option<Robots>,
    ) -> Result<(), WriterError> {
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
        self.put_off(&domain, &request, &fetched);
        match request.kind.clone() {
            Kind::Robots { origin } => {
                self.robots_fetched(&origin, request, &fetched, robots).await?;
                self.release(&domain, &origin, fetched.times);
                Ok(())
            }
            Kind::Page { .. } => {
                self.release(&domain, &request.url.origin(), fetched.times);
                self.page_fetched(request, fetched).await
            }
        }
    }

    /// Ends the lease of a domain; `origin` may have asked for a longer delay.
    fn release(&mut self, domain: &Domain, origin: &str, times: Option<Times>) {
        let own = self.origins.delay(origin).unwrap_or_default().min(self.settings.politeness.max_crawl_delay);
        self.frontier.done(domain, times.map(|times| self.pace.next_fetch(times, own)));
    }

    /// A server that is overloaded, or does not answer, is left alone for longer, and longer each time.
    fn put_off(&mut self, domain: &Domain, request: &Request, fetched: &Fetched) {
        let politeness = &self.settings.politeness;
        let longer = politeness.delay * (2 << request.attempts.min(6));
        let wait = match &fetched.outcome {
            Ok(response @ Response { status: 429 | 503, .. }) => {
                Duration::from_secs(response.retry_after.unwrap_or(0)).min(politeness.max_crawl_delay).max(longer)
            }
            Err(error) if error.is_transient() => longer,
            _ => return,
        };
        self.frontier.put_off(domain, Instant::now() + wait);
    }

    async fn page_fetched(&mut self, request: Request, fetched: Fetched) -> Result<(), WriterError> {
        match self.next_step(&request, fetched.outcome) {
            NextStep::Page(response) => self.page_came(&request, fetched.times, response).await,
            NextStep::Again(_) | NextStep::Follow(_) if self.stopping => self.abandon(vec![request]).await,
            NextStep::Again(request) => {
                self.push(request, End::Back);
                Ok(())
            }
            NextStep::Follow(request) => {
                self.push(request, End::Front);
                Ok(())
            }
            NextStep::Give(reason) => {
                self.stats.errors += 1;
                self.page_failed(&request, reason).await
            }
        }
    }

    /// What follows from the answer to a page request.
    fn next_step(&self, request: &Request, outcome: Result<Response, FetchError>) -> NextStep {
        let may_retry = request.attempts < self.settings.fetch.retries;
        let response = match outcome {
            Ok(response) => response,
            Err(error) if error.is_transient() && may_retry => return NextStep::Again(request.again()),
            Err(error) => return NextStep::Give(error.to_string()),
        };
        if let Some(target) = redirect_target(&response) {
            return self.redirected(request, target);
        }
        let url = &request.url;
        let patience = self.settings.politeness.max_crawl_delay.as_secs();
        match (response.status, response.retry_after) {
            (200..=299, _) if response.body.is_empty() => NextStep::Give(format!("{url}: empty answer")),
            (200..=299, _) => NextStep::Page(response),
            (status @ (429 | 503), Some(seconds)) if seconds > patience => {
                NextStep::Give(format!("{url}: answers {status} and asks to wait {seconds} s"))
            }
            (429 | 500..=599, _) if may_retry => NextStep::Again(request.again()),
            (status, _) => NextStep::Give(format!("{url}: answers {status}")),
        }
    }

    /// A key page may be anywhere; once it is found, what leaves its site is of no use and is not asked for.
    fn redirected(&self, request: &Request, target: PageUrl) -> NextStep {
        if request.hops >= self.settings.fetch.max_redirects {
            return NextStep::Give(format!("{}: more than {} redirects", request.url, request.hops));
        }
        let site = request.kind.site().and_then(|site| self.sites.get(&site)).and_then(|state| state.site.as_ref());
        match site {
            Some(site) if site.claim(target.clone()).is_none() => {
                NextStep::Give(format!("{}: leads to {target}, outside the site", request.url))
            }
            _ => NextStep::Follow(request.led_to(target)),
        }
    }

    async fn robots_fetched(
        &mut self,
        origin: &str,
        request: Request,
        fetched: &Fetched,
        robots: Option<Robots>,
    ) -> Result<(), WriterError> {
        if !self.stopping {
            let may_retry = request.attempts < self.settings.fetch.retries;
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
        let robots = robots.unwrap_or_else(|| Robots::of(RobotsAnswer::Unreachable, &self.settings.agents()));
        let until = Instant::now() + self.settings.politeness.robots_ttl;
        let parked = self.origins.learn(origin.to_owned(), robots, until);
        if self.stopping {
            return self.abandon(parked).await;
        }
        for request in parked.into_iter().rev() {
            self.push(request, End::Front);
        }
        Ok(())
    }

    pub(super) async fn page_came(
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
            None => Work::Key(response),
        };
        self.compute(site, work);
        Ok(())
    }

    pub(super) async fn forbid(&mut self, request: Request, reason: &'static str) -> Result<(), WriterError> {
        self.stats.forbidden += 1;
        self.record_unsent(&request, VisitOutcome::Forbidden, reason.to_owned()).await?;
        self.page_failed(&request, format!("{}: {reason}", request.url)).await
    }

    pub(super) async fn page_failed(&mut self, request: &Request, reason: String) -> Result<(), WriterError> {
        let Some(site) = request.kind.site() else { return Ok(()) };
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
}

enum NextStep {
    Page(Response),
    Again(Request),
    Follow(Request),
    Give(String),
}
