//! The queue of one politeness key.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::back_off::BackOff;
use super::pace::LatencyEstimate;

/// Waiting requests of one key, and the politeness state of the key.
pub(super) struct HostQueue<T> {
    pub(super) waiting: VecDeque<T>,
    /// Earliest time of the next fetch.
    pub(super) next_fetch: Instant,
    /// Whether a request is in flight.
    pub(super) is_in_flight: bool,
    pub(super) back_off: BackOff,
    pub(super) latency: LatencyEstimate,
    /// Why no more requests are sent to this key in this run.
    pub(super) parked: Option<Arc<str>>,
}

impl<T> HostQueue<T> {
    pub(super) fn new(now: Instant) -> HostQueue<T> {
        HostQueue {
            waiting: VecDeque::new(),
            next_fetch: now,
            is_in_flight: false,
            back_off: BackOff::default(),
            latency: LatencyEstimate::default(),
            parked: None,
        }
    }
}
