//! The queue of one key.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::back_off::BackOff;
use super::pace::LatencyEstimate;

/// Requests of one key and the state of its politeness.
pub(super) struct HostQueue<T> {
    pub(super) waiting: VecDeque<T>,
    /// Earliest time of the next fetch.
    pub(super) next_fetch: Instant,
    /// Is a request out?
    pub(super) leased: bool,
    pub(super) back_off: BackOff,
    pub(super) latency: LatencyEstimate,
    /// Why it was given up for this run.
    pub(super) parked: Option<Arc<str>>,
}

impl<T> HostQueue<T> {
    pub(super) fn new(now: Instant) -> HostQueue<T> {
        HostQueue {
            waiting: VecDeque::new(),
            next_fetch: now,
            leased: false,
            back_off: BackOff::default(),
            latency: LatencyEstimate::default(),
            parked: None,
        }
    }
}
