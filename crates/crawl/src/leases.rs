//! Leases of politeness keys, where several crawls share a store.
//!
//! A worker sends requests only to keys that it has leased. It leases a site with its key. A request to another key,
//! such as after a redirect, waits until that key is leased too; when another worker keeps it for too long, the request
//! is given up with that reason. A key is given back when no site of this worker needs it and none of its requests
//! waits, with the state of its politeness.

use std::time::{Duration, Instant};

use super::event::Event;
use super::lease_table::{Lease, PAUSE, Refused};
use super::request::{QueueEnd, Request};
use super::scheduler::Scheduler;
use crate::politeness::PolitenessKey;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{HostLease, HostRelease, Query, SiteId, SiteWork, Write, WriterError};

impl Scheduler<'_> {
    /// Notes that a site needs a key. Where the key is not leased, the request waits for it, and nothing is returned.
    pub(super) async fn lease_for(
        &mut self,
        key: &PolitenessKey,
        request: Request,
        end: QueueEnd,
    ) -> Result<Option<Request>, WriterError> {
        let Some(leases) = &mut self.leases else { return Ok(Some(request)) };
        match leases.lease_for(key, request, end, Instant::now()) {
            Lease::Held(request) => return Ok(Some(request)),
            Lease::Wanted => self.ask(None, Query::LeaseHost(key.to_string())).await?,
            Lease::Waiting => {}
        }
        Ok(None)
    }

    /// The store has given sites with their keys, or says that none waits.
    pub(super) fn on_leased_sites(&mut self, leased: Vec<(HostLease, SiteWork)>, is_over: bool) {
        let has_found = !leased.is_empty();
        let mut sites = Vec::with_capacity(leased.len());
        for (host, work) in leased {
            let key = PolitenessKey::named(&host.key);
            self.hold(&key, &host);
            if let Some(leases) = &mut self.leases {
                leases.add_site(key, work.id);
            }
            sites.push(work);
        }
        self.site_queue.add_leased(sites, is_over);
        if let Some(leases) = &mut self.leases {
            // Seeds of a pipe were not counted when the run began.
            self.stats.sites = self.stats.sites.max(leases.n_sites());
            if !is_over {
                leases.set_found(has_found, Instant::now());
            }
        }
    }

    /// Takes over the state of a key that was leased.
    fn hold(&mut self, key: &PolitenessKey, host: &HostLease) {
        let Some(leases) = &mut self.leases else { return };
        if !leases.hold(key) {
            // Leased twice, by a site and by a request. What is known here is newer.
            return;
        }
        let now = Instant::now();
        let until = now + Duration::from_millis(host.wait_ms.max(0) as u64);
        self.queues.restore(key, until, host.doublings, host.failures);
        // A host that asked to be left alone for long is parked when it is met. A usual delay is none of that.
        let politeness = &self.tools.settings.politeness;
        let usual = politeness.max_back_off.mul_f64(1.25).max(politeness.delay).max(politeness.max_crawl_delay);
        if until > now + usual {
            self.delays.defer(key.clone(), until);
        }
        if let Some(reason) = &host.parked {
            self.queues.park(key, reason, now);
        }
        if !host.is_pace_known {
            self.delays.set_unknown(key.clone(), now);
        }
    }

    /// The store has answered the question for a key.
    pub(super) async fn on_leased_host(&mut self, key: &str, host: Option<HostLease>) -> Result<(), WriterError> {
        let key = PolitenessKey::named(key);
        let Some(leases) = &mut self.leases else { return Ok(()) };
        if !leases.is_wanted(&key) {
            // The crawl stops meanwhile.
            return Ok(());
        }
        if let Some(host) = host {
            let requests = leases.granted(&key);
            self.hold(&key, &host);
            for (request, end) in requests {
                self.enqueue(key.clone(), request, end).await?;
            }
            return Ok(());
        }
        match leases.refused(&key, Instant::now()) {
            Refused::Wait => self.jobs.wake(PAUSE, Event::AskForHost(key)),
            Refused::GiveUp(requests) => {
                for request in requests {
                    let reason = Reason::new(ReasonCode::HostDeferred, format!("another worker crawls {key}"));
                    self.unavailable(request, reason).await?;
                }
            }
        }
        Ok(())
    }

    /// Asks for a key once more.
    pub(super) async fn ask_for_host(&mut self, key: &PolitenessKey) -> Result<(), WriterError> {
        if self.leases.as_ref().is_some_and(|leases| leases.is_wanted(key)) {
            self.ask(None, Query::LeaseHost(key.to_string())).await?;
        }
        Ok(())
    }

    /// A site needs no key any more.
    pub(super) async fn give_back_keys_of(&mut self, site: SiteId) -> Result<(), WriterError> {
        let Some(leases) = &mut self.leases else { return Ok(()) };
        for key in leases.release_site(site) {
            self.give_back(&key).await?;
        }
        Ok(())
    }

    /// Gives a key back, if nothing needs it.
    pub(super) async fn give_back(&mut self, key: &PolitenessKey) -> Result<(), WriterError> {
        let Some(leases) = &mut self.leases else { return Ok(()) };
        // At the end all keys are given back at once.
        if !leases.is_unneeded(key) || !self.queues.is_idle(key) || self.is_stopping {
            return Ok(());
        }
        leases.give_back(key);
        let release = self.release_of(key, None);
        self.queues.forget(key);
        self.delays.forget(key);
        self.writer.write(Write::HostReleased(release)).await
    }

    /// The state of a key.
    pub(super) fn release_of(&self, key: &PolitenessKey, reason: Option<String>) -> HostRelease {
        let now = Instant::now();
        let state = self.queues.state(key, now + self.longest_delay);
        let deferred = self.delays.deferred_until(key);
        let until = deferred.map_or(state.next_fetch, |until| until.max(state.next_fetch));
        let wait_ms = until.saturating_duration_since(now).as_millis() as i64;
        let (doublings, failures, parked) = (state.doublings, state.failures, state.parked);
        // Where nothing was sent, the pace is as unknown as before.
        let is_pace_known = self.delays.is_pace_known(key);
        HostRelease {
            host: HostLease { key: key.to_string(), wait_ms, is_pace_known, doublings, failures, parked },
            reason,
        }
    }
}
