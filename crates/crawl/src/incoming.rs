//! Answers on their way in: counted, robots rules taken, hosts in trouble backed off, the rest handed to
//! their sites.

use std::time::{Duration, Instant};

use super::event::Answer;
use super::request::{QueueEnd, Request, RequestKind};
use super::scheduler::Scheduler;
use super::site::SiteEvent;
use super::visit::{unsent_visit, visit_of};
use crate::fetch::{FetchError, Fetched, Response, redirect_target};
use crate::politeness::{Pace, PolitenessKey, Times};
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use dehusk_store::reason::ReasonCode;
use dehusk_store::validators::Validators;
use dehusk_store::{StoredRobots, VisitOutcome, Write, WriterError};

impl Scheduler<'_> {
    pub(super) async fn on_answer(&mut self, answer: Answer) -> Result<(), WriterError> {
        let Answer { key, request, fetched, robots } = answer;
        if let Err(error @ FetchError::Shortage { .. }) = &fetched.outcome {
            return self.on_shortage(&key, &request, error.reason()).await;
        }
        if fetched.times.is_some() {
            let n_bytes = fetched.outcome.as_ref().map_or(0, |response| response.raw_bytes);
            let is_answered = !matches!(&fetched.outcome, Err(error) if error.is_connection());
            self.limits.count_request(is_answered);
            self.stats.requests += 1;
            self.stats.retries += usize::from(request.attempts > 0);
            if let Some(site) = request.kind.site().and_then(|site| self.sites.get_mut(site)) {
                site.count_request(n_bytes);
            }
            self.stats.bytes += n_bytes as u64;
        }
        if fetched.archive_failed && !self.is_stopping {
            self.stop().await?;
        }
        self.back_off_host(&key, &request, &fetched).await?;
        let times = fetched.times;
        match (&request.kind, request.kind.site()) {
            (RequestKind::Robots { origin }, _) => {
                let (origin, host) = (origin.clone(), request.url.host().to_owned());
                self.on_robots(&origin, request, &fetched, robots).await?;
                self.release(&key, &origin, &host, times);
                self.give_back(&key).await
            }
            (RequestKind::Rights { origin, file }, _) => {
                let (origin, file, url) = (origin.clone(), *file, request.url.clone());
                self.writer.write(Write::Visit(visit_of(&request, &fetched, self.clock), None)).await?;
                self.take_rights_file(&origin, file, &url, Some(&fetched)).await?;
                self.release(&key, &origin, url.host(), times);
                self.give_back(&key).await
            }
            (RequestKind::Subresource { wanted, .. }, _) => {
                let wanted = wanted.clone();
                self.release(&key, &request.url.origin(), request.url.host(), times);
                self.on_subresource(request, &wanted, fetched).await?;
                self.give_back(&key).await
            }
            (_, Some(site)) => {
                self.release(&key, &request.url.origin(), request.url.host(), times);
                self.tell_site(site, SiteEvent::Fetched(request, Box::new(fetched))).await?;
                self.give_back(&key).await
            }
            (_, None) => Ok(()),
        }
    }

    /// This machine cannot send requests. No site is to blame: all of them wait for the run to be resumed.
    async fn on_shortage(&mut self, key: &PolitenessKey, request: &Request, reason: String) -> Result<(), WriterError> {
        if self.limits.note_shortage(reason.clone()) {
            tracing::error!("{}: {reason}; the crawl stops", request.url);
        }
        if !self.is_stopping {
            self.stop().await?;
        }
        self.queues.done(key, None);
        self.abandon(vec![request.clone()]).await?;
        self.give_back(key).await
    }

    /// Frees a key whose request has ended. `origin` may have asked for a longer delay.
    fn release(&mut self, key: &PolitenessKey, origin: &str, host: &str, times: Option<Times>) {
        // A site that asks for more than the limit gets no request, so nothing waits for it.
        let tools = self.tools_by_host.of(host);
        let politeness = &tools.settings.politeness;
        let most = politeness.max_crawl_delay;
        let own = self.robots.delay(origin).filter(|delay| *delay <= most).unwrap_or_default();
        let next_fetch = times.map(|times| self.queues.next_fetch(key, &Pace::new(politeness), times, own));
        if next_fetch.is_some() {
            self.delays.set_known(key);
        }
        self.queues.done(key, next_fetch);
    }

    /// A server that is overloaded, or does not answer, is left alone for longer, and longer each time.
    async fn back_off_host(
        &mut self,
        key: &PolitenessKey,
        request: &Request,
        fetched: &Fetched,
    ) -> Result<(), WriterError> {
        let politeness = self.tools_by_host.of(request.url.host()).settings.politeness.clone();
        let now = Instant::now();
        let base = politeness.delay.max(Duration::from_millis(100));
        let (wanted, reason) = match &fetched.outcome {
            Ok(response @ Response { status: 429 | 503, .. }) => {
                self.queues.answered(key, false);
                (response.retry_after.unwrap_or_default(), format!("{} answered {}", request.url, response.status))
            }
            Ok(response) => {
                self.queues.answered(key, response.status < 500);
                return Ok(());
            }
            Err(error) if error.is_connection() => {
                if self.queues.failed(key) >= politeness.park_after && self.queues.parked(key).is_none() {
                    let reason = format!("{} failed connections in a row", politeness.park_after);
                    tracing::warn!("{key}: {reason}, left alone for this run");
                    self.queues.park(key, &reason, now);
                    self.stats.parked += 1;
                    return Ok(());
                }
                (Duration::ZERO, error.to_string())
            }
            Err(_) => return Ok(()),
        };
        self.stats.back_offs += 1;
        let until = self.queues.back_off(key, base, wanted, politeness.max_back_off, now);
        // A restart must know what outlasts it.
        if self.leases.is_some() {
            self.writer.write(Write::BackedOff(self.release_of(key, Some(reason)))).await?;
        } else if until.saturating_duration_since(now) > politeness.delay {
            let write = Write::Deferred { key: key.to_string(), until: self.clock.at(until), reason };
            self.writer.write(write).await?;
        }
        if wanted > politeness.max_back_off {
            // No page waits that long. What is left of the host is for another night.
            self.queues.park(key, &deferral_reason(wanted), now);
            self.stats.parked += 1;
        }
        Ok(())
    }

    async fn on_robots(
        &mut self,
        origin: &str,
        request: Request,
        fetched: &Fetched,
        robots: Option<Robots>,
    ) -> Result<(), WriterError> {
        let visit = match &fetched.outcome {
            Err(error) if fetched.times.is_none() => {
                unsent_visit(&request, VisitOutcome::FetchError, Some(error.to_string()))
            }
            _ => visit_of(&request, fetched, self.clock),
        };
        self.writer.write(Write::Visit(visit, None)).await?;
        if !self.is_stopping {
            let may_retry = request.attempts < self.tools_by_host.of(request.url.host()).settings.fetch.retries;
            let next = match &fetched.outcome {
                Ok(response) if request.hops < MAX_ROBOTS_REDIRECTS => {
                    let target = redirect_target(response).filter(|target| *target != request.url);
                    target.map(|url| request.redirected(url, None))
                }
                Err(error) if error.is_transient() && may_retry => Some(request.retry()),
                _ => None,
            };
            if let Some(next) = next {
                self.push(next, QueueEnd::Front).await?;
                return Ok(());
            }
        }
        let answered = self.stored_robots(origin, &request, fetched);
        let robots = robots.unwrap_or_else(|| {
            Robots::new(RobotsAnswer::Unreachable(ReasonCode::RobotsUnavailable, ""), &self.tools.agents)
        });
        if !self.is_stopping && self.reads_rights_files(&robots) {
            return self.read_rights_files(answered, robots).await;
        }
        self.take_rules(answered, robots).await
    }

    /// Takes the rules of an origin. What waited for them is sent.
    pub(super) async fn take_rules(&mut self, answered: StoredRobots, robots: Robots) -> Result<(), WriterError> {
        let origin = answered.origin.clone();
        let forbids_all = robots.unreachable().is_none().then(|| robots.forbids_all());
        self.writer.write(Write::Robots { robots: answered, forbids_all }).await?;
        // Rules that could not be had are requested again when the server may have recovered.
        let politeness = &self.tools.settings.politeness;
        let ttl = match robots.unreachable() {
            Some(_) => politeness.robots_ttl.min(politeness.max_back_off),
            None => politeness.robots_ttl,
        };
        let waited = self.robots.insert(origin, robots, Instant::now() + ttl);
        if self.is_stopping {
            return self.abandon(waited).await;
        }
        for request in waited.into_iter().rev() {
            self.push(request, QueueEnd::Front).await?;
        }
        Ok(())
    }

    /// A robots.txt as it is stored: what was answered, or what is stored when that was not modified.
    fn stored_robots(&self, origin: &str, request: &Request, fetched: &Fetched) -> StoredRobots {
        let fetched_at = self.clock.unix_ms();
        let (status, body, validators) = match (&fetched.outcome, self.robots.expired(request)) {
            (Ok(response @ Response { status: 304, .. }), Some(expired)) => {
                let validators = Some(&response.validators).filter(|validators| !validators.is_empty());
                let validators = validators.unwrap_or(&expired.validators).clone();
                return StoredRobots { fetched_at, validators, ..StoredRobots::clone(expired) };
            }
            // The validators of another URL, to which it was redirected, are none of its own.
            (Ok(response), _) if request.hops == 0 => {
                (Some(response.status), response.body.clone(), response.validators.clone())
            }
            (Ok(response), _) => (Some(response.status), response.body.clone(), Validators::default()),
            (Err(_), _) => (None, Vec::new(), Validators::default()),
        };
        StoredRobots { origin: origin.to_owned(), fetched_at, status, body, validators, rights_files: None }
    }
}

/// What is said about a host that wants to be left alone for long.
pub(super) fn deferral_reason(wait: Duration) -> String {
    format!("it asked to wait {} s, longer than politeness.max_back_off", wait.as_secs())
}
