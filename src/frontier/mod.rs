//! Which URL may be fetched next, and when.
//!
//! Life of a request: pushed -> waiting in the queue of its domain -> leased by [`Frontier::pop_due`] -> done. Every
//! request is in exactly one of these states; popping never loses one. The queue of domains is keyed on the earliest
//! time (Foschini, section 4.1): the time is set when a domain enters the queue and checked again on pop, where a
//! domain that was put off meanwhile is rescheduled. One entry a domain, not a URL: k waiting URLs of one domain
//! would cost k - 1 reschedules each second.
//!
//! Invariants, each with a property test under a virtual clock: two fetches of a domain are never closer than its
//! delay and never overlap; nothing waits while its domain is free and due; FIFO inside a domain.
//!
//! `now` is an argument. Nothing here reads a clock, sleeps or sends.

mod back_off;
mod domain_queue;
mod pace;

use std::cmp::Reverse;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

use priority_queue::PriorityQueue;
use rustc_hash::{FxBuildHasher, FxHashMap};

use domain_queue::DomainQueue;
pub use pace::{Pace, Times, Ways};

use crate::page::Domain;

/// Requests that wait, by domain.
pub struct Frontier<T> {
    /// Domains with waiting requests and no lease, by earliest time.
    due: PriorityQueue<Domain, Reverse<Instant>, FxBuildHasher>,
    domains: FxHashMap<Domain, DomainQueue<T>>,
    n_waiting: usize,
    n_leased: usize,
    /// No domain is asked before; set after a restart, which does not know when the last request was.
    not_before: Option<Instant>,
    /// Size of `domains` at which those that matter no more are dropped.
    sweep_at: usize,
}

/// What the frontier answers.
#[derive(Debug, PartialEq, Eq)]
pub enum Due<T> {
    /// Fetch this one now; the domain is leased until [`Frontier::done`].
    Ready(Domain, T),
    /// Nothing before this time.
    Wait(Instant),
    /// Nothing waits, or all that waits is behind a lease.
    Idle,
}

impl<T> Default for Frontier<T> {
    fn default() -> Frontier<T> {
        Frontier {
            due: PriorityQueue::with_default_hasher(),
            domains: FxHashMap::default(),
            n_waiting: 0,
            n_leased: 0,
            not_before: None,
            sweep_at: 4096,
        }
    }
}

impl<T> Frontier<T> {
    /// A frontier in which no domain is asked before this time.
    pub fn not_before(time: Option<Instant>) -> Frontier<T> {
        Frontier { not_before: time, ..Frontier::default() }
    }

    /// Requests that wait.
    pub fn n_waiting(&self) -> usize {
        self.n_waiting
    }

    /// Requests that are out.
    pub fn n_leased(&self) -> usize {
        self.n_leased
    }

    /// Adds a request behind those of its domain.
    pub fn push(&mut self, domain: Domain, item: T, now: Instant) {
        self.insert(domain, now, |queue| queue.waiting.push_back(item));
    }

    /// Adds a request before those of its domain: one that waited already, such as for robots.txt.
    pub fn push_front(&mut self, domain: Domain, item: T, now: Instant) {
        self.insert(domain, now, |queue| queue.waiting.push_front(item));
    }

    fn insert(&mut self, domain: Domain, now: Instant, add: impl FnOnce(&mut DomainQueue<T>)) {
        self.sweep(now);
        let first = self.not_before.map_or(now, |time| time.max(now));
        let queue = self.domains.entry(domain.clone()).or_insert_with(|| DomainQueue::new(first));
        add(queue);
        self.n_waiting += 1;
        if !queue.leased {
            self.due.push(domain, Reverse(queue.next_fetch));
        }
    }

    /// The next request that may be sent at `now`.
    pub fn pop_due(&mut self, now: Instant) -> Due<T> {
        loop {
            let Some((domain, Reverse(time))) = self.due.peek() else { return Due::Idle };
            if *time > now {
                return Due::Wait(*time);
            }
            let domain = domain.clone();
            let Some(queue) = self.domains.get_mut(&domain) else {
                self.due.remove(&domain);
                continue;
            };
            if queue.next_fetch > now {
                // Put off after it was queued: the paper's check on pop.
                self.due.change_priority(&domain, Reverse(queue.next_fetch));
                continue;
            }
            self.due.remove(&domain);
            if let Some(item) = queue.waiting.pop_front() {
                queue.leased = true;
                self.n_waiting -= 1;
                self.n_leased += 1;
                return Due::Ready(domain, item);
            }
        }
    }

    /// Ends a lease. `next_fetch` is the earliest time of the next fetch; `None` when nothing was sent.
    pub fn done(&mut self, domain: &Domain, next_fetch: Option<Instant>) {
        let Some(queue) = self.domains.get_mut(domain) else { return };
        if std::mem::replace(&mut queue.leased, false) {
            self.n_leased -= 1;
        }
        if let Some(time) = next_fetch {
            queue.next_fetch = queue.next_fetch.max(time);
        }
        if !queue.waiting.is_empty() {
            self.due.push(domain.clone(), Reverse(queue.next_fetch));
        }
    }

    /// Nothing of this domain before `until`.
    pub fn put_off(&mut self, domain: &Domain, until: Instant) {
        if let Some(queue) = self.domains.get_mut(domain) {
            queue.next_fetch = queue.next_fetch.max(until);
        }
    }

    /// Puts a domain off that is overloaded or does not answer: longer each time, and at least as long as it `asked`.
    /// Returns the time until which nothing is sent.
    pub fn trouble(
        &mut self,
        domain: &Domain,
        base: Duration,
        asked: Duration,
        most: Duration,
        now: Instant,
    ) -> Instant {
        let Some(queue) = self.domains.get_mut(domain) else { return now };
        let seed = FxBuildHasher.hash_one(domain);
        let until = now + queue.back_off.trouble(base, asked, most, seed);
        queue.next_fetch = queue.next_fetch.max(until);
        until
    }

    /// A request of this domain had no answer; says how many in a row.
    pub fn failed(&mut self, domain: &Domain) -> u32 {
        self.domains.get_mut(domain).map_or(0, |queue| queue.back_off.failed())
    }

    /// This domain has answered; a good answer lets it recover from trouble.
    pub fn answered(&mut self, domain: &Domain, is_good: bool) {
        if let Some(queue) = self.domains.get_mut(domain) {
            queue.back_off.answered();
            if is_good {
                queue.back_off.fine();
            }
        }
    }

    /// Earliest next fetch of a domain after one with these times.
    pub fn next_fetch(&mut self, domain: &Domain, pace: &Pace, times: Times, own_delay: Duration) -> Instant {
        match self.domains.get_mut(domain) {
            Some(queue) => pace.next_fetch(times, &mut queue.ways, own_delay, queue.back_off.slowdown()),
            None => pace.next_fetch(times, &mut Ways::default(), own_delay, 1),
        }
    }

    /// Gives a domain up: what waits for it comes out at once, to be told why.
    pub fn park(&mut self, domain: &Domain, reason: &str, now: Instant) {
        if let Some(queue) = self.domains.get_mut(domain) {
            (queue.parked, queue.next_fetch) = (Some(reason.into()), now);
            if !queue.leased && !queue.waiting.is_empty() {
                self.due.push(domain.clone(), Reverse(now));
            }
        }
    }

    /// Why this domain was given up.
    pub fn parked(&self, domain: &Domain) -> Option<Arc<str>> {
        self.domains.get(domain)?.parked.clone()
    }

    /// Takes back everything that waits.
    pub fn drain(&mut self) -> Vec<T> {
        self.due.clear();
        self.n_waiting = 0;
        self.domains.values_mut().flat_map(|queue| queue.waiting.drain(..)).collect()
    }

    /// Forgets domains that have nothing waiting and whose delay is over, when many have gathered.
    fn sweep(&mut self, now: Instant) {
        if self.domains.len() < self.sweep_at {
            return;
        }
        let matters = |queue: &DomainQueue<T>| {
            queue.leased
                || !queue.waiting.is_empty()
                || queue.next_fetch > now
                || queue.parked.is_some()
                || queue.back_off.slowdown() > 1
        };
        self.domains.retain(|_, queue| matters(queue));
        self.sweep_at = (self.domains.len() * 2).max(4096);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::page::{PageUrl, PolitenessKey};

    fn domain(name: usize) -> Domain {
        Domain::of(&PageUrl::parse(&format!("http://d{name}.com/")).unwrap(), PolitenessKey::Domain, None)
    }

    #[test]
    fn a_domain_put_off_while_it_waits_is_rescheduled_on_pop() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut frontier = Frontier::default();
        frontier.push(domain(1), "a", start);
        frontier.push(domain(2), "b", start);
        frontier.put_off(&domain(1), at(500));
        assert_eq!(frontier.pop_due(start), Due::Ready(domain(2), "b"));
        assert_eq!(frontier.pop_due(start), Due::Wait(at(500)));
        assert_eq!(frontier.pop_due(at(500)), Due::Ready(domain(1), "a"));
        assert_eq!(frontier.pop_due(at(900)), Due::Idle);
        assert_eq!((frontier.n_waiting(), frontier.n_leased()), (0, 2));
    }

    #[test]
    fn trouble_puts_off_and_a_parked_domain_comes_out_at_once() {
        let start = Instant::now();
        let (base, most) = (Duration::from_secs(1), Duration::from_secs(60));
        let mut frontier = Frontier::not_before(Some(start + base));
        frontier.push(domain(1), 1, start);
        frontier.push(domain(1), 2, start);
        assert_eq!(frontier.pop_due(start), Due::Wait(start + base), "nothing is known of the time before");
        assert_eq!(frontier.pop_due(start + base), Due::Ready(domain(1), 1));
        let until = frontier.trouble(&domain(1), base, Duration::ZERO, most, start + base);
        frontier.done(&domain(1), Some(start + base));
        assert_eq!(frontier.pop_due(start + base), Due::Wait(until));
        assert_eq!(
            (
                frontier.failed(&domain(1)),
                frontier.failed(&domain(1)),
                frontier.domains[&domain(1)].back_off.slowdown()
            ),
            (1, 2, 2)
        );
        frontier.park(&domain(1), "why", start + base);
        assert_eq!(frontier.parked(&domain(1)).as_deref(), Some("why"));
        assert_eq!(frontier.pop_due(start + base), Due::Ready(domain(1), 2));
    }

    #[test]
    fn front_goes_first_and_drain_gives_all_back() {
        let now = Instant::now();
        let mut frontier = Frontier::default();
        frontier.push(domain(1), 1, now);
        frontier.push(domain(1), 2, now);
        frontier.push_front(domain(1), 0, now);
        assert_eq!(frontier.pop_due(now), Due::Ready(domain(1), 0));
        assert_eq!(frontier.pop_due(now), Due::Idle, "leased");
        assert_eq!(frontier.drain(), [1, 2]);
        frontier.done(&domain(1), None);
        assert_eq!(frontier.pop_due(now), Due::Idle);
    }

    #[test]
    fn many_domains_that_are_over_are_forgotten() {
        let start = Instant::now();
        let mut frontier = Frontier::default();
        for name in 0..10_000 {
            let now = start + Duration::from_secs(name as u64);
            frontier.push(domain(name), name, now);
            assert_eq!(frontier.pop_due(now), Due::Ready(domain(name), name));
            frontier.done(&domain(name), Some(now + Duration::from_secs(1)));
        }
        assert!(frontier.domains.len() < 5000, "{}", frontier.domains.len());
    }

    proptest! {
        /// Invariants (i) to (iv) of ALGORITHMS 1, over a virtual clock in milliseconds.
        #[test]
        fn spacing_progress_once_and_in_order(
            pushes in proptest::collection::vec((0..5_usize, 0..3000_u64), 1..60),
            answers in proptest::collection::vec(1..700_u64, 1..8),
            delay in 0..500_u64,
        ) {
            let start = Instant::now();
            let at = |ms: u64| start + Duration::from_millis(ms);
            let mut frontier = Frontier::default();
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
                    frontier.push(domain(d), (d, item), at(clock));
                }
                while let Some(k) = out.iter().position(|(end, _)| *end <= clock) {
                    let (end, d) = out.swap_remove(k);
                    last_end.insert(d, end);
                    frontier.done(&domain(d), Some(at(end + delay)));
                }
                while let Due::Ready(_, (d, item)) = frontier.pop_due(at(clock)) {
                    prop_assert!(out.iter().all(|(_, other)| *other != d), "two requests of one domain");
                    if let Some(end) = last_end.get(&d) {
                        prop_assert!(clock >= end + delay, "(i) spacing");
                    }
                    seen.push((d, item));
                    out.push((clock + answers[n % answers.len()], d));
                    n += 1;
                }
                // (ii) whatever still waits is behind a lease or a delay that is not over.
                for (name, queue) in &frontier.domains {
                    let free = !queue.leased && queue.next_fetch <= at(clock);
                    prop_assert!(queue.waiting.is_empty() || !free, "{name} idles");
                }
                if pending.peek().is_none() && out.is_empty() && frontier.n_waiting() == 0 {
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
