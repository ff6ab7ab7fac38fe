//! Which host may be fetched next, and when.
//!
//! Lifecycle of a request: pushed -> waiting in the queue of its [`PolitenessKey`] -> given by [`HostQueues::pop_due`],
//! and in flight -> done. Every request is in exactly one of these states. The priority queue holds one entry per key,
//! by the earliest time of its next fetch (Foschini 2007, section 4.1). That time is set when the key is queued and
//! checked again on pop; a key deferred in between is rescheduled. With one entry per URL, k waiting URLs of one key
//! would cost k - 1 reschedules each second.
//!
//! Invariants, each with a property test under a virtual clock: two fetches of a key never overlap and are never closer
//! than its delay; no request waits while its key is free and due; requests of one key are sent in order.
//!
//! `now` is an argument. Nothing here reads a clock, sleeps or sends a request.

mod back_off;
mod host_queue;
mod host_queues;
mod pace;

pub use dehusk_store::politeness_key::PolitenessKey;
pub use host_queues::{Due, HostQueues, HostState};
pub use pace::{LatencyEstimate, Pace, Times};
