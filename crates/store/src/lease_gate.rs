//! Whether this process may send requests: where crawls share a store, only while its leases last.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Whether this process may send requests now.
#[derive(Clone, Debug)]
pub struct LeaseGate(Arc<Gate>);

#[derive(Debug)]
struct Gate {
    /// The earlier one counts: the first clock stops while a machine sleeps, the second one can be set back.
    until: Mutex<(Instant, SystemTime)>,
    is_lost: AtomicBool,
    has_left: AtomicBool,
}

impl LeaseGate {
    /// A gate that is open for this long.
    pub fn open_for(time: Duration) -> LeaseGate {
        let until = Mutex::new((Instant::now() + time, SystemTime::now() + time));
        LeaseGate(Arc::new(Gate { until, is_lost: AtomicBool::default(), has_left: AtomicBool::default() }))
    }

    /// Whether requests may be sent.
    pub fn is_open(&self) -> bool {
        let (until, wall_until) = *self.0.until.lock().unwrap_or_else(PoisonError::into_inner);
        Instant::now() < until
            && SystemTime::now() < wall_until
            && !self.is_lost()
            && !self.0.has_left.load(Ordering::Acquire)
    }

    /// Whether all leases are lost. The gate never opens again then.
    pub fn is_lost(&self) -> bool {
        self.0.is_lost.load(Ordering::Acquire)
    }

    /// Opens the gate for a time from a moment, which both clocks give.
    pub fn extend(&self, from: (Instant, SystemTime), time: Duration) {
        *self.0.until.lock().unwrap_or_else(PoisonError::into_inner) = (from.0 + time, from.1 + time);
    }

    /// Closes the gate for good: others have the leases.
    pub fn lose(&self) {
        self.0.is_lost.store(true, Ordering::Release);
    }

    /// Closes the gate for good, with the leases given back.
    pub fn leave(&self) {
        self.0.has_left.store(true, Ordering::Release);
    }
}

/// The session of a worker, as the crawl sees it.
#[derive(Clone, Debug)]
pub struct WorkerSession {
    /// Number of the worker.
    pub worker: i64,
    /// Whether requests may be sent.
    pub gate: LeaseGate,
    /// What is told with each heartbeat.
    pub counts: Arc<SessionCounts>,
}

/// What a worker has done, for those who list workers.
#[derive(Debug, Default)]
pub struct SessionCounts {
    /// Requests sent.
    pub requests: AtomicI64,
    /// Pages fetched.
    pub pages: AtomicI64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_closes_by_either_clock_and_never_opens_when_lost() {
        let gate = LeaseGate::open_for(Duration::from_secs(60));
        assert!(gate.is_open());
        gate.extend((Instant::now(), SystemTime::now() - Duration::from_secs(120)), Duration::from_secs(60));
        assert!(!gate.is_open(), "the machine slept");
        gate.extend((Instant::now() - Duration::from_secs(61), SystemTime::now()), Duration::from_secs(60));
        assert!(!gate.is_open(), "the clock was set back");
        gate.extend((Instant::now(), SystemTime::now()), Duration::from_secs(60));
        assert!(gate.is_open(), "renewed");
        gate.lose();
        gate.extend((Instant::now(), SystemTime::now()), Duration::from_secs(60));
        assert!(!gate.is_open());
    }
}
