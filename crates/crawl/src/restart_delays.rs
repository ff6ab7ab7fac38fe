//! Delays of hosts that an earlier process, or another worker, has left.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::politeness::PolitenessKey;

/// What is known of the pace of hosts from before.
#[derive(Default)]
pub(super) struct RestartDelays {
    /// Keys that were deferred, until they are met.
    deferred: FxHashMap<PolitenessKey, Instant>,
    /// Keys of which it is not known whether an earlier holder kept a delay of their own, since when.
    unknown: FxHashMap<PolitenessKey, Instant>,
    /// No request is sent before this time, after a restart.
    not_before: Option<Instant>,
}

impl RestartDelays {
    pub(super) fn new(deferred: FxHashMap<PolitenessKey, Instant>, not_before: Option<Instant>) -> RestartDelays {
        RestartDelays { deferred, not_before, ..RestartDelays::default() }
    }

    /// A key is deferred.
    pub(super) fn defer(&mut self, key: PolitenessKey, until: Instant) {
        self.deferred.insert(key, until);
    }

    /// The time until which a key is deferred.
    pub(super) fn deferred_until(&self, key: &PolitenessKey) -> Option<Instant> {
        self.deferred.get(key).copied()
    }

    /// The same, of two names of a key; it is forgotten here.
    pub(super) fn take(&mut self, key: &PolitenessKey, by_host: &PolitenessKey) -> Option<Instant> {
        [self.deferred.remove(key), self.deferred.remove(by_host)].into_iter().flatten().max()
    }

    /// Nothing is known of the pace of a key since a time.
    pub(super) fn set_unknown(&mut self, key: PolitenessKey, since: Instant) {
        self.unknown.insert(key, since);
    }

    /// A request was sent, so that the pace of its key is known.
    pub(super) fn set_known(&mut self, key: &PolitenessKey) {
        self.unknown.remove(key);
    }

    pub(super) fn is_pace_known(&self, key: &PolitenessKey) -> bool {
        !self.unknown.contains_key(key)
    }

    /// Stored robots rules ask for a delay. Where an earlier holder may not have kept it, the key is deferred by it.
    pub(super) fn hold_for(&mut self, key: PolitenessKey, delay: Duration, started: Instant) {
        let since = self.unknown.get(&key).copied().or(self.not_before.map(|_| started));
        if let Some(since) = since {
            let until = self.deferred.entry(key).or_insert(self.not_before.unwrap_or(since));
            *until = (*until).max(since + delay);
        }
    }

    /// A key is given back.
    pub(super) fn forget(&mut self, key: &PolitenessKey) {
        self.unknown.remove(key);
        self.deferred.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> PolitenessKey {
        PolitenessKey::named(name)
    }

    #[test]
    fn a_delay_of_robots_rules_is_kept_where_an_earlier_holder_may_not_have() {
        let started = Instant::now();
        let second = Duration::from_secs(1);
        let mut first_run = RestartDelays::default();
        first_run.hold_for(key("a.org"), 9 * second, started);
        assert_eq!(first_run.deferred_until(&key("a.org")), None, "nothing was sent before");

        let mut restarted = RestartDelays::new(FxHashMap::default(), Some(started + second));
        restarted.hold_for(key("a.org"), 9 * second, started);
        assert_eq!(restarted.deferred_until(&key("a.org")), Some(started + 9 * second));
        restarted.hold_for(key("b.org"), Duration::ZERO, started);
        assert_eq!(restarted.take(&key("1.2.3.4"), &key("b.org")), Some(started + second));
        assert_eq!(restarted.take(&key("1.2.3.4"), &key("b.org")), None, "it is met once");

        let mut leased = RestartDelays::default();
        leased.set_unknown(key("c.org"), started + second);
        leased.hold_for(key("c.org"), 9 * second, started);
        assert_eq!(leased.deferred_until(&key("c.org")), Some(started + 10 * second));
        assert!(!leased.is_pace_known(&key("c.org")));
        leased.set_known(&key("c.org"));
        assert!(leased.is_pace_known(&key("c.org")));
        leased.forget(&key("c.org"));
        assert_eq!(leased.deferred_until(&key("c.org")), None);
    }
}
