//! Which host may be asked next, and when.
//!
//! Life of a request: pushed -> waiting in the queue of its [`PolitenessKey`] -> leased by [`HostQueues::pop_due`] -> done.
//! Every request is in exactly one of these states; popping never loses one. The priority queue is keyed on the earliest
//! time of the next fetch (Foschini 2007, section 4.1). The time is set when a host enters the queue and checked again on
//! pop, where a host that was deferred meanwhile is rescheduled. There is one entry for each host, not for each URL: k
//! waiting URLs of one host would cost k - 1 reschedules each second.
//!
//! Invariants, each with a property test under a virtual clock: two fetches of a host are never closer than its delay and
//! never overlap; no request waits while its host is free and due; requests of one host are served in order.
//!
//! `now` is an argument. Nothing here reads a clock, sleeps or sends.

mod back_off;
mod host_queue;
mod host_queues;
mod key;
mod pace;

pub use host_queues::{Due, HostQueues};
pub use key::PolitenessKey;
pub use pace::{LatencyEstimate, Pace, Times};
