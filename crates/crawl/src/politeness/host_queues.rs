//! The politeness queues of all hosts, ordered by the earliest time of their next fetch.

use std::cmp::Reverse;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

use priority_queue::PriorityQueue;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::PolitenessKey;
use super::back_off::BackOff;
use super::host_queue::HostQueue;
use super::pace::{LatencyEstimate, Pace, Times};

/// Waiting requests by politeness key.
pub struct HostQueues<T> {
    /// Keys with waiting requests and no lease, by the earliest time of their next fetch.
    due: PriorityQueue<PolitenessKey, Reverse<Instant>, FxBuildHasher>,
    hosts: FxHashMap<PolitenessKey, HostQueue<T>>,
    n_waiting: usize,
    n_in_flight: usize,
    /// Earliest time of the first fetch of any key. Set after a restart, when the time of the last request is unknown.
    not_before: Option<Instant>,
    /// Size of `hosts` at which idle queues are dropped.
    sweep_at: usize,
}

/// The politeness state of a key, for the process that has it next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostState {
    /// Earliest time of the next fetch.
    pub next_fetch: Instant,
    /// Times that its delay was doubled.
    pub doublings: u8,
    /// Failed connections in a row.
    pub failures: u32,
    /// Why it is left alone for this run, if it is.
    pub parked: Option<String>,
}

/// What [`HostQueues::pop_due`] returns.
#[derive(Debug, PartialEq, Eq)]
pub enum Due<T> {
    /// A request to fetch now. Its key sends no other one until [`HostQueues::done`].
    Ready(PolitenessKey, T),
    /// No request may be sent before this time.
    Wait(Instant),
    /// No request waits, or all waiting requests are behind a lease.
    Idle,
}

impl<T> Default for HostQueues<T> {
    fn default() -> HostQueues<T> {
        HostQueues {
            due: PriorityQueue::with_default_hasher(),
            hosts: FxHashMap::default(),
            n_waiting: 0,
            n_in_flight: 0,
            not_before: None,
            sweep_at: 4096,
        }
    }
}

impl<T> HostQueues<T> {
    /// Empty queues. No key is fetched before `time`.
    pub fn not_before(time: Option<Instant>) -> HostQueues<T> {
        HostQueues { not_before: time, ..HostQueues::default() }
    }

    /// Number of waiting requests.
    pub fn n_waiting(&self) -> usize {
        self.n_waiting
    }

    /// Number of requests in flight.
    pub fn n_in_flight(&self) -> usize {
        self.n_in_flight
    }

    /// Appends a request to the queue of its key.
    pub fn push(&mut self, key: PolitenessKey, item: T, now: Instant) {
        self.insert(key, now, |queue| queue.waiting.push_back(item));
    }

    /// Puts a request at the front of its key's queue: one that has waited already, such as for robots.txt.
    pub fn push_front(&mut self, key: PolitenessKey, item: T, now: Instant) {
        self.insert(key, now, |queue| queue.waiting.push_front(item));
    }

    fn insert(&mut self, key: PolitenessKey, now: Instant, add: impl FnOnce(&mut HostQueue<T>)) {
        self.sweep(now);
        let first = self.not_before.map_or(now, |time| time.max(now));
        let queue = self.hosts.entry(key.clone()).or_insert_with(|| HostQueue::new(first));
        add(queue);
        self.n_waiting += 1;
        if !queue.is_in_flight {
            self.due.push(key, Reverse(queue.next_fetch));
        }
    }

    /// Leases the next request that may be sent at `now`.
    pub fn pop_due(&mut self, now: Instant) -> Due<T> {
        loop {
            let Some((key, Reverse(time))) = self.due.peek() else { return Due::Idle };
            if *time > now {
                return Due::Wait(*time);
            }
            let key = key.clone();
            let Some(queue) = self.hosts.get_mut(&key) else {
                self.due.remove(&key);
                continue;
            };
            if queue.next_fetch > now {
                // Deferred after it was queued: the check on pop (Foschini 2007, section 4.1).
                self.due.change_priority(&key, Reverse(queue.next_fetch));
                continue;
            }
            self.due.remove(&key);
            if let Some(item) = queue.waiting.pop_front() {
                queue.is_in_flight = true;
                self.n_waiting -= 1;
                self.n_in_flight += 1;
                return Due::Ready(key, item);
            }
        }
    }

    /// Ends a lease. `next_fetch` is the earliest time of the key's next fetch; `None` when nothing was sent.
    pub fn done(&mut self, key: &PolitenessKey, next_fetch: Option<Instant>) {
        let Some(queue) = self.hosts.get_mut(key) else { return };
        if std::mem::replace(&mut queue.is_in_flight, false) {
            self.n_in_flight -= 1;
        }
        if let Some(time) = next_fetch {
            queue.next_fetch = queue.next_fetch.max(time);
        }
        if !queue.waiting.is_empty() {
            self.due.push(key.clone(), Reverse(queue.next_fetch));
        }
    }

    /// Defers the next fetch of this key to `until` or later.
    pub fn defer(&mut self, key: &PolitenessKey, until: Instant) {
        if let Some(queue) = self.hosts.get_mut(key) {
            queue.next_fetch = queue.next_fetch.max(until);
        }
    }

    /// Backs off from a key that is overloaded or does not respond: longer each time, and at least as long as it
    /// `asked`. Returns the time before which nothing is sent to the key.
    pub fn back_off(
        &mut self,
        key: &PolitenessKey,
        base: Duration,
        asked: Duration,
        most: Duration,
        now: Instant,
    ) -> Instant {
        let Some(queue) = self.hosts.get_mut(key) else { return now };
        let seed = FxBuildHasher.hash_one(key);
        let until = now + queue.back_off.back_off(base, asked, most, seed);
        queue.next_fetch = queue.next_fetch.max(until);
        until
    }

    /// Counts a request of this key without a response. Returns the number of them in a row.
    pub fn failed(&mut self, key: &PolitenessKey) -> u32 {
        self.hosts.get_mut(key).map_or(0, |queue| queue.back_off.failed())
    }

    /// Records a response of this key. A success (`is_good`) reduces its back-off.
    pub fn answered(&mut self, key: &PolitenessKey, is_good: bool) {
        if let Some(queue) = self.hosts.get_mut(key) {
            queue.back_off.answered();
            if is_good {
                queue.back_off.record_success();
            }
        }
    }

    /// Earliest time of the key's next fetch, after a fetch with these times.
    pub fn next_fetch(&mut self, key: &PolitenessKey, pace: &Pace, times: Times, own_delay: Duration) -> Instant {
        match self.hosts.get_mut(key) {
            Some(queue) => pace.next_fetch(times, &mut queue.latency, own_delay, queue.back_off.slowdown()),
            None => pace.next_fetch(times, &mut LatencyEstimate::default(), own_delay, 1),
        }
    }

    /// Parks a key for the rest of the run. Its waiting requests become due at once, so that each can be ended with the
    /// reason.
    pub fn park(&mut self, key: &PolitenessKey, reason: &str, now: Instant) {
        if let Some(queue) = self.hosts.get_mut(key) {
            (queue.parked, queue.next_fetch) = (Some(reason.into()), now);
            if !queue.is_in_flight && !queue.waiting.is_empty() {
                self.due.push(key.clone(), Reverse(now));
            }
        }
    }

    /// Why this key is parked, if it is.
    pub fn parked(&self, key: &PolitenessKey) -> Option<Arc<str>> {
        self.hosts.get(key)?.parked.clone()
    }

    /// Removes and returns all waiting requests.
    pub fn drain(&mut self) -> Vec<T> {
        self.due.clear();
        self.n_waiting = 0;
        self.hosts.values_mut().flat_map(|queue| queue.waiting.drain(..)).collect()
    }

    /// Takes over the state of a key that another process had.
    pub fn restore(&mut self, key: &PolitenessKey, next_fetch: Instant, doublings: u8, failures: u32) {
        let queue = self.hosts.entry(key.clone()).or_insert_with(|| HostQueue::new(next_fetch));
        queue.next_fetch = queue.next_fetch.max(next_fetch);
        queue.back_off = BackOff::restored(doublings, failures);
    }

    /// The state of a key; of one that is not known, with this time of its next fetch.
    pub fn state(&self, key: &PolitenessKey, unknown: Instant) -> HostState {
        let Some(queue) = self.hosts.get(key) else {
            return HostState { next_fetch: unknown, doublings: 0, failures: 0, parked: None };
        };
        let (doublings, failures) = queue.back_off.counts();
        let parked = queue.parked.as_deref().map(str::to_owned);
        HostState { next_fetch: queue.next_fetch, doublings, failures, parked }
    }

    /// Whether no request of this key waits or is in flight.
    pub fn is_idle(&self, key: &PolitenessKey) -> bool {
        self.hosts.get(key).is_none_or(|queue| queue.waiting.is_empty() && !queue.is_in_flight)
    }

    /// Drops the state of an idle key.
    pub fn forget(&mut self, key: &PolitenessKey) {
        if self.is_idle(key) {
            self.hosts.remove(key);
            self.due.remove(key);
        }
    }

    /// Drops queues that hold no request and no politeness state, once there are many of them.
    fn sweep(&mut self, now: Instant) {
        if self.hosts.len() < self.sweep_at {
            return;
        }
        let matters = |queue: &HostQueue<T>| {
            queue.is_in_flight
                || !queue.waiting.is_empty()
                || queue.next_fetch > now
                || queue.parked.is_some()
                || queue.back_off.slowdown() > 1
        };
        self.hosts.retain(|_, queue| matters(queue));
        self.sweep_at = (self.hosts.len() * 2).max(4096);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use dehusk_html::PageUrl;
    use dehusk_settings::PolitenessScope;

    fn key(name: usize) -> PolitenessKey {
        PolitenessKey::new(&PageUrl::parse(&format!("http://d{name}.com/")).unwrap(), PolitenessScope::Domain, None)
    }

    #[test]
    fn a_domain_put_off_while_it_waits_is_rescheduled_on_pop() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut queues = HostQueues::default();
        queues.push(key(1), "a", start);
        queues.push(key(2), "b", start);
        queues.defer(&key(1), at(500));
        assert_eq!(queues.pop_due(start), Due::Ready(key(2), "b"));
        assert_eq!(queues.pop_due(start), Due::Wait(at(500)));
        assert_eq!(queues.pop_due(at(500)), Due::Ready(key(1), "a"));
        assert_eq!(queues.pop_due(at(900)), Due::Idle);
        assert_eq!((queues.n_waiting(), queues.n_in_flight()), (0, 2));
    }

    #[test]
    fn trouble_puts_off_and_a_parked_domain_comes_out_at_once() {
        let start = Instant::now();
        let (base, most) = (Duration::from_secs(1), Duration::from_secs(60));
        let mut queues = HostQueues::not_before(Some(start + base));
        queues.push(key(1), 1, start);
        queues.push(key(1), 2, start);
        assert_eq!(queues.pop_due(start), Due::Wait(start + base), "nothing is known of the time before");
        assert_eq!(queues.pop_due(start + base), Due::Ready(key(1), 1));
        let until = queues.back_off(&key(1), base, Duration::ZERO, most, start + base);
        queues.done(&key(1), Some(start + base));
        assert_eq!(queues.pop_due(start + base), Due::Wait(until));
        assert_eq!(
            (queues.failed(&key(1)), queues.failed(&key(1)), queues.hosts[&key(1)].back_off.slowdown()),
            (1, 2, 2)
        );
        queues.park(&key(1), "why", start + base);
        assert_eq!(queues.parked(&key(1)).as_deref(), Some("why"));
        assert_eq!(queues.pop_due(start + base), Due::Ready(key(1), 2));
    }

    #[test]
    fn front_goes_first_and_drain_gives_all_back() {
        let now = Instant::now();
        let mut queues = HostQueues::default();
        queues.push(key(1), 1, now);
        queues.push(key(1), 2, now);
        queues.push_front(key(1), 0, now);
        assert_eq!(queues.pop_due(now), Due::Ready(key(1), 0));
        assert_eq!(queues.pop_due(now), Due::Idle, "in flight");
        assert_eq!(queues.drain(), [1, 2]);
        queues.done(&key(1), None);
        assert_eq!(queues.pop_due(now), Due::Idle);
    }

    #[test]
    fn many_domains_that_are_over_are_forgotten() {
        let start = Instant::now();
        let mut queues = HostQueues::default();
        for name in 0..10_000 {
            let now = start + Duration::from_secs(name as u64);
            queues.push(key(name), name, now);
            assert_eq!(queues.pop_due(now), Due::Ready(key(name), name));
            queues.done(&key(name), Some(now + Duration::from_secs(1)));
        }
        assert!(queues.hosts.len() < 5000, "{}", queues.hosts.len());
    }

    proptest! {
        /// Spacing (i), progress (ii), each request exactly once (iii) and FIFO order (iv), over a virtual clock in
        /// milliseconds.
        #[test]
        fn spacing_progress_once_and_in_order(
            pushes in proptest::collection::vec((0..5_usize, 0..3000_u64), 1..60),
            answers in proptest::collection::vec(1..700_u64, 1..8),
            delay in 0..500_u64,
        ) {
            let start = Instant::now();
            let at = |ms: u64| start + Duration::from_millis(ms);
            let mut queues = HostQueues::default();
            let mut pushes: Vec<(u64, usize, usize)> =
                pushes.iter().enumerate().map(|(n, (d, t))| (*t, *d, n)).collect();
            pushes.sort_unstable();
            let mut pending = pushes.clone().into_iter().peekable();
            let mut out: Vec<(u64, usize)> = Vec::new();
            let mut seen: Vec<(usize, usize)> = Vec::new();
            let mut last_end: FxHashMap<usize, u64> = FxHashMap::default();
            let mut clock = 0;
            let mut n = 0;
            loop {
                while let Some((_, d, item)) = pending.next_if(|p| p.0 <= clock) {
                    queues.push(key(d), (d, item), at(clock));
                }
                while let Some(k) = out.iter().position(|(end, _)| *end <= clock) {
                    let (end, d) = out.swap_remove(k);
                    last_end.insert(d, end);
                    queues.done(&key(d), Some(at(end + delay)));
                }
                while let Due::Ready(_, (d, item)) = queues.pop_due(at(clock)) {
                    prop_assert!(out.iter().all(|(_, other)| *other != d), "two requests of one key");
                    if let Some(end) = last_end.get(&d) {
                        prop_assert!(clock >= end + delay, "(i) spacing");
                    }
                    seen.push((d, item));
                    out.push((clock + answers[n % answers.len()], d));
                    n += 1;
                }
                // (ii) Each waiting request is behind a lease or an unfinished delay.
                for (name, queue) in &queues.hosts {
                    let free = !queue.is_in_flight && queue.next_fetch <= at(clock);
                    prop_assert!(queue.waiting.is_empty() || !free, "{name} idles");
                }
                if pending.peek().is_none() && out.is_empty() && queues.n_waiting() == 0 {
                    break;
                }
                clock += 1;
                prop_assert!(clock < 200_000, "no progress");
            }
            let mut once: Vec<usize> = seen.iter().map(|(_, item)| *item).collect();
            once.sort_unstable();
            prop_assert_eq!(once, (0..pushes.len()).collect::<Vec<_>>(), "(iii) each exactly once");
            for d in 0..5 {
                let got: Vec<usize> = seen.iter().filter(|s| s.0 == d).map(|s| s.1).collect();
                let want: Vec<usize> = pushes.iter().filter(|p| p.1 == d).map(|p| p.2).collect();
                prop_assert_eq!(got, want, "(iv) FIFO");
            }
        }
    }
}
