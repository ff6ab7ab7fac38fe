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
            NextStep::Give(reason) => {
                self.stats.errors += 1;
                self.page_failed(&request, reason).await
            }
        }
    }

    pub(super) fn release(&mut self, domain: &Domain, fetched: &Fetched) -> Result<(), WriterError> {
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

    pub(super) fn release_times(&mut self, domain: &Domain, url: &PageUrl, times: Option<Times>) {
        let own = self.origins.delay(url).unwrap_or_default().min(self.settings.politeness.max_crawl_delay);
        self.frontier.done(domain, times.map(|times| self.pace.next_fetch(times, own)));
    }

    /// A server that is overloaded, or does not answer, is left alone for longer.
    pub(super) fn put_off(&mut self, domain: &Domain, request: &Request, fetched: &Fetched) {
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
    fn page_fetched(&self, request: &Request, outcome: Result<&Response, &FetchError>) -> NextStep {
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

    pub(super) async fn robots_fetched(
        &mut self,
        origin: String,
        request: Request,
        fetched: &Fetched,
    ) -> Result<(), WriterError> {
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
            None => {
                state.has_key = true;
                Work::Key(response)
            }
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
    Page,
    Again(Request),
    Follow(Request),
    Give(String),
}
