//! The politeness keys that this worker has leased, and the requests that wait for others.

use std::time::{Duration, Instant};

use dehusk_store::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::request::{QueueEnd, Request};
use crate::politeness::PolitenessKey;

/// How long a request waits for a key that another worker has.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two questions for such a key, and for further sites where none waits.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// What is known of the key of a request.
pub(super) enum Lease {
    /// This worker has leased it.
    Held(Request),
    /// The request waits for it; the store is to be asked for it.
    Wanted,
    /// The request waits for it, as others do.
    Waiting,
}

/// What becomes of requests whose key another worker has.
pub(super) enum Refused {
    /// They wait; the key is asked for again after a pause.
    Wait,
    /// They have waited too long.
    GiveUp(Vec<Request>),
}

/// The keys of this worker.
#[derive(Default)]
pub(super) struct LeaseTable {
    /// Keys that are leased, with the sites that need them.
    held: FxHashMap<PolitenessKey, FxHashSet<SiteId>>,
    /// Requests that wait for keys, with the time of the first question.
    wanted: FxHashMap<PolitenessKey, (Instant, Vec<(Request, QueueEnd)>)>,
    /// When further sites are asked for again; `None` unless there were none to lease.
    ask_at: Option<Instant>,
    /// Sites that were leased.
    n_sites: usize,
}

impl LeaseTable {
    /// Notes that a site needs a key. Where the key is not leased, the request waits for it.
    pub(super) fn lease_for(&mut self, key: &PolitenessKey, request: Request, end: QueueEnd, now: Instant) -> Lease {
        if let Some(sites) = self.held.get_mut(key) {
            sites.extend(request.kind.site());
            return Lease::Held(request);
        }
        let is_new = !self.wanted.contains_key(key);
        let (_, waiting) = self.wanted.entry(key.clone()).or_insert_with(|| (now, Vec::new()));
        waiting.push((request, end));
        if is_new { Lease::Wanted } else { Lease::Waiting }
    }

    /// Notes that a key is leased. Returns whether it was not before.
    pub(super) fn hold(&mut self, key: &PolitenessKey) -> bool {
        let is_new = !self.held.contains_key(key);
        self.held.entry(key.clone()).or_default();
        is_new
    }

    /// A site was leased with its key.
    pub(super) fn add_site(&mut self, key: PolitenessKey, site: SiteId) {
        self.held.entry(key).or_default().insert(site);
        self.n_sites += 1;
    }

    /// Sites that were leased so far.
    pub(super) fn n_sites(&self) -> usize {
        self.n_sites
    }

    /// Whether requests wait for a key.
    pub(super) fn is_wanted(&self, key: &PolitenessKey) -> bool {
        self.wanted.contains_key(key)
    }

    /// The requests that waited for a key, which is leased now.
    pub(super) fn granted(&mut self, key: &PolitenessKey) -> Vec<(Request, QueueEnd)> {
        self.wanted.remove(key).map_or_else(Vec::new, |(_, requests)| requests)
    }

    /// Another worker has a key that requests wait for.
    pub(super) fn refused(&mut self, key: &PolitenessKey, now: Instant) -> Refused {
        match self.wanted.get(key) {
            Some((since, _)) if now.saturating_duration_since(*since) < PATIENCE => Refused::Wait,
            _ => Refused::GiveUp(self.granted(key).into_iter().map(|(request, _)| request).collect()),
        }
    }

    /// Whether the store had no sites to lease when it was asked.
    pub(super) fn none_to_lease(&self) -> bool {
        self.ask_at.is_some()
    }

    /// Whether the store may be asked for sites.
    pub(super) fn may_ask(&self, now: Instant) -> bool {
        self.ask_at.is_none_or(|time| time <= now)
    }

    /// The store has answered the question for sites.
    pub(super) fn set_found(&mut self, has_found: bool, now: Instant) {
        self.ask_at = (!has_found).then(|| now + PAUSE);
    }

    /// Sites came to the store: it may be asked at once.
    pub(super) fn ask_at_once(&mut self) {
        self.ask_at = None;
    }

    /// A site has another number.
    pub(super) fn renumber(&mut self, before: SiteId, now: SiteId) {
        for sites in self.held.values_mut() {
            if sites.remove(&before) {
                sites.insert(now);
            }
        }
    }

    /// A site needs no key any more. Returns the keys that it needed.
    pub(super) fn release_site(&mut self, site: SiteId) -> Vec<PolitenessKey> {
        self.held.iter_mut().filter_map(|(key, sites)| sites.remove(&site).then(|| key.clone())).collect()
    }

    /// Whether a key is held that no site needs.
    pub(super) fn is_unneeded(&self, key: &PolitenessKey) -> bool {
        self.held.get(key).is_some_and(FxHashSet::is_empty)
    }

    /// A key is given back.
    pub(super) fn give_back(&mut self, key: &PolitenessKey) {
        self.held.remove(key);
    }

    /// All requests that wait for keys, when the crawl stops.
    pub(super) fn drain(&mut self) -> Vec<Request> {
        let waiting = self.wanted.drain().flat_map(|(_, (_, requests))| requests);
        waiting.map(|(request, _)| request).collect()
    }
}

#[cfg(test)]
mod tests {
    use dehusk_html::PageUrl;

    use super::*;
    use crate::request::RequestKind;

    fn request(site: SiteId) -> Request {
        Request::new(PageUrl::parse("http://a.org/").unwrap(), RequestKind::Page { site })
    }

    #[test]
    fn requests_wait_for_a_key_and_the_store_is_asked_once() {
        let (key, now) = (PolitenessKey::named("a.org"), Instant::now());
        let mut leases = LeaseTable::default();
        assert!(matches!(leases.lease_for(&key, request(1), QueueEnd::Back, now), Lease::Wanted));
        assert!(matches!(leases.lease_for(&key, request(2), QueueEnd::Front, now), Lease::Waiting));
        assert!(leases.is_wanted(&key) && leases.hold(&key) && !leases.hold(&key));
        assert_eq!(leases.granted(&key).len(), 2);
        assert!(matches!(leases.lease_for(&key, request(1), QueueEnd::Back, now), Lease::Held(_)));
        assert!(!leases.is_unneeded(&key), "site 1 needs it");
        leases.renumber(1, 7);
        assert_eq!((leases.release_site(1), leases.release_site(7)), (Vec::new(), vec![key.clone()]));
        assert!(leases.is_unneeded(&key));
        leases.give_back(&key);
        assert!(!leases.is_unneeded(&key), "it is not held any more");
    }

    #[test]
    fn a_key_of_another_worker_is_waited_for_and_then_given_up() {
        let (key, now) = (PolitenessKey::named("a.org"), Instant::now());
        let mut leases = LeaseTable::default();
        leases.lease_for(&key, request(1), QueueEnd::Back, now);
        assert!(matches!(leases.refused(&key, now + PATIENCE / 2), Refused::Wait));
        let Refused::GiveUp(requests) = leases.refused(&key, now + PATIENCE) else { panic!("it waits on") };
        assert_eq!((requests.len(), leases.is_wanted(&key), leases.drain().len()), (1, false, 0));
    }

    #[test]
    fn after_an_answer_without_sites_the_next_question_has_a_pause() {
        let now = Instant::now();
        let mut leases = LeaseTable::default();
        leases.add_site(PolitenessKey::named("a.org"), 1);
        assert!(leases.may_ask(now) && !leases.none_to_lease() && leases.n_sites() == 1);
        leases.set_found(false, now);
        assert!(!leases.may_ask(now) && leases.may_ask(now + PAUSE) && leases.none_to_lease());
        leases.ask_at_once();
        assert!(leases.may_ask(now));
    }
}
