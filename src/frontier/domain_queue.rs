//! The queue of one domain.

use std::collections::VecDeque;
use std::time::Instant;

use super::back_off::BackOff;

/// Requests of one domain and the state of its politeness.
pub(super) struct DomainQueue<T> {
    pub(super) waiting: VecDeque<T>,
    /// Earliest time of the next fetch.
    pub(super) next_fetch: Instant,
    /// Is a request out?
    pub(super) leased: bool,
    pub(super) back_off: BackOff,
    /// Given up for this run.
    pub(super) parked: bool,
}

impl<T> DomainQueue<T> {
    pub(super) fn new(now: Instant) -> DomainQueue<T> {
        DomainQueue {
            waiting: VecDeque::new(),
            next_fetch: now,
            leased: false,
            back_off: BackOff::default(),
            parked: false,
        }
    }
}
