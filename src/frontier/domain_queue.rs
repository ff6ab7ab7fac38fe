//! The queue of one domain.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::back_off::BackOff;
use super::pace::Ways;

/// Requests of one domain and the state of its politeness.
pub(super) struct DomainQueue<T> {
    pub(super) waiting: VecDeque<T>,
    /// Earliest time of the next fetch.
    pub(super) next_fetch: Instant,
    /// Is a request out?
    pub(super) leased: bool,
    pub(super) back_off: BackOff,
    pub(super) ways: Ways,
    /// Why it was given up for this run.
    pub(super) parked: Option<Arc<str>>,
}

impl<T> DomainQueue<T> {
    pub(super) fn new(now: Instant) -> DomainQueue<T> {
        DomainQueue {
            waiting: VecDeque::new(),
            next_fetch: now,
            leased: false,
            back_off: BackOff::default(),
            ways: Ways::default(),
            parked: None,
        }
    }
}
