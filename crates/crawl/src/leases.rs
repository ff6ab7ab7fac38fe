//! Leases of politeness keys, where several crawls share a store.
//!
//! A worker sends requests only to keys that it has leased. It leases a site with its key. A request to another key,
//! such as after a redirect, waits until that key is leased too; when another worker keeps it for too long, the request
//! is given up with that reason. A key is given back when no site of this worker needs it and none of its requests
//! waits, with the state of its politeness.

use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::event::Event;
use super::request::{QueueEnd, Request};
use super::scheduler::Scheduler;
use crate::politeness::PolitenessKey;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{HostLease, HostRelease, Query, SiteId, SiteWork, Write, WriterError};

/// How long a request waits for a key that another worker has.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two questions for such a key, and for further sites where none waits.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// The keys of this worker.
#[derive(Default)]
pub(super) struct Leases {
    /// Keys that are leased, with the sites that need them.
    held: FxHashMap<PolitenessKey, FxHashSet<SiteId>>,
    /// Requests that wait for keys, with the time of the first question.
    wanted: FxHashMap<PolitenessKey, (Instant, Vec<(Request, QueueEnd)>)>,
    /// When further sites are asked for again; `None` unless there were none to lease.
    pub(super) ask_at: Option<Instant>,
    /// Sites that were leased.
    n_sites: usize,
}

impl Leases {
    /// Requests that wait for keys, when the crawl stops.
    pub(super) fn drain(&mut self) -> Vec<Request> {
        let waiting = self.wanted.drain().flat_map(|(_, (_, requests))| requests);
        waiting.map(|(request, _)| request).collect()
    }
}

impl Scheduler<'_> {
    /// Notes that a site needs a key. Where the key is not leased, the request waits for it, and nothing is returned.
    pub(super) async fn lease_for(
        &mut self,
        key: &PolitenessKey,
        request: Request,
        end: QueueEnd,
    ) -> Result<Option<Request>, WriterError> {
        let Some(leases) = &mut self.leases else { return Ok(Some(request)) };
        if let Some(sites) = leases.held.get_mut(key) {
            sites.extend(request.kind.site());
            return Ok(Some(request));
        }
        let mut is_new = false;
        let (_, waiting) = leases.wanted.entry(key.clone()).or_insert_with(|| {
            is_new = true;
            (Instant::now(), Vec::new())
        });
        waiting.push((request, end));
        if is_new {
            self.ask(None, Query::LeaseHost(key.to_string())).await?;
        }
        Ok(None)
    }

    /// The store has given sites with their keys, or says that none waits.
    pub(super) fn on_leased_sites(&mut self, leased: Vec<(HostLease, SiteWork)>, is_over: bool) {
        self.has_asked_for_sites = false;
        let n = leased.len();
        for (host, work) in leased {
            let key = PolitenessKey::named(&host.key);
            self.hold(&key, &host);
            if let Some(leases) = &mut self.leases {
                leases.held.entry(key).or_default().insert(work.id);
            }
            self.waiting.push_back(work);
        }
        if let Some(leases) = &mut self.leases {
            leases.n_sites += n;
            // Seeds of a pipe were not counted when the run began.
            self.stats.sites = self.stats.sites.max(leases.n_sites);
        }
        if is_over {
            self.last_site = None;
        } else if let Some(leases) = &mut self.leases {
            leases.ask_at = (n == 0).then(|| Instant::now() + PAUSE);
        }
    }

    /// Takes over the state of a key that was leased.
    fn hold(&mut self, key: &PolitenessKey, host: &HostLease) {
        let Some(leases) = &mut self.leases else { return };
        if leases.held.contains_key(key) {
            // Leased twice, by a site and by a request. What is known here is newer.
            return;
        }
        leases.held.insert(key.clone(), FxHashSet::default());
        let now = Instant::now();
        let until = now + Duration::from_millis(host.wait_ms.max(0) as u64);
        self.queues.restore(key, until, host.doublings, host.failures);
        // A host that asked to be left alone for long is parked when it is met. A usual delay is none of that.
        let politeness = &self.tools.settings.politeness;
        let usual = politeness.max_back_off.mul_f64(1.25).max(politeness.delay).max(politeness.max_crawl_delay);
        if until > now + usual {
            self.deferred.insert(key.clone(), until);
        }
        if let Some(reason) = &host.parked {
            self.queues.park(key, reason, now);
        }
        if !host.is_pace_known {
            self.unknown_pace.insert(key.clone(), now);
        }
    }

    /// The store has answered the question for a key.
    pub(super) async fn on_leased_host(&mut self, key: &str, host: Option<HostLease>) -> Result<(), WriterError> {
        let key = PolitenessKey::named(key);
        let Some(leases) = &mut self.leases else { return Ok(()) };
        let Some((since, requests)) = leases.wanted.remove(&key) else {
            // The crawl stops meanwhile.
            return Ok(());
        };
        if let Some(host) = host {
            self.hold(&key, &host);
            for (request, end) in requests {
                self.enqueue(key.clone(), request, end).await?;
            }
            return Ok(());
        }
        if since.elapsed() < PATIENCE {
            leases.wanted.insert(key.clone(), (since, requests));
            let events = self.events.clone();
            self.n_pending += 1;
            tokio::spawn(async move {
                tokio::time::sleep(PAUSE).await;
                let _ = events.send(Event::AskForHost(key)).await;
            });
            return Ok(());
        }
        for (request, _) in requests {
            let reason = Reason::new(ReasonCode::HostDeferred, format!("another worker crawls {key}"));
            self.unavailable(request, reason).await?;
        }
        Ok(())
    }

    /// Asks for a key once more.
    pub(super) async fn ask_for_host(&mut self, key: &PolitenessKey) -> Result<(), WriterError> {
        if self.leases.as_ref().is_some_and(|leases| leases.wanted.contains_key(key)) {
            self.ask(None, Query::LeaseHost(key.to_string())).await?;
        }
        Ok(())
    }

    /// A site has another number.
    pub(super) fn renumber_leases(&mut self, before: SiteId, now: SiteId) {
        for sites in self.leases.iter_mut().flat_map(|leases| leases.held.values_mut()) {
            if sites.remove(&before) {
                sites.insert(now);
            }
        }
    }

    /// A site needs no key any more.
    pub(super) async fn give_back_keys_of(&mut self, site: SiteId) -> Result<(), WriterError> {
        let Some(leases) = &mut self.leases else { return Ok(()) };
        let of_site: Vec<PolitenessKey> =
            leases.held.iter_mut().filter_map(|(key, sites)| sites.remove(&site).then(|| key.clone())).collect();
        for key in of_site {
            self.give_back(&key).await?;
        }
        Ok(())
    }

    /// Gives a key back, if nothing needs it.
    pub(super) async fn give_back(&mut self, key: &PolitenessKey) -> Result<(), WriterError> {
        let Some(leases) = &mut self.leases else { return Ok(()) };
        let is_needed = leases.held.get(key).is_none_or(|sites| !sites.is_empty()) || !self.queues.is_idle(key);
        // At the end all keys are given back at once.
        if is_needed || self.is_stopping {
            return Ok(());
        }
        leases.held.remove(key);
        let release = self.release_of(key, None);
        self.queues.forget(key);
        self.unknown_pace.remove(key);
        self.deferred.remove(key);
        self.writer.write(Write::HostReleased(release)).await
    }

    /// The state of a key.
    pub(super) fn release_of(&self, key: &PolitenessKey, reason: Option<String>) -> HostRelease {
        let now = Instant::now();
        let state = self.queues.state(key, now + self.tools.settings.politeness.delay);
        let deferred = self.deferred.get(key).copied();
        let until = deferred.map_or(state.next_fetch, |until| until.max(state.next_fetch));
        let wait_ms = until.saturating_duration_since(now).as_millis() as i64;
        let (doublings, failures, parked) = (state.doublings, state.failures, state.parked);
        // Where nothing was sent, the pace is as unknown as before.
        let is_pace_known = !self.unknown_pace.contains_key(key);
        HostRelease {
            host: HostLease { key: key.to_string(), wait_ms, is_pace_known, doublings, failures, parked },
            reason,
        }
    }
}
