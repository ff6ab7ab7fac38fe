//! Rate limits over all hosts.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use governor::clock::DefaultClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

use dehusk_settings::Fetch;

type Direct = RateLimiter<NotKeyed, InMemoryState, DefaultClock, NoOpMiddleware>;
type ByAddress = RateLimiter<IpAddr, DefaultKeyedStateStore<IpAddr>, DefaultClock, NoOpMiddleware>;

/// Rate limits over all hosts (governor). The delay of one host is kept by the politeness queues: a token bucket would
/// refuse a URL only after it was taken.
#[derive(Clone, Default)]
pub(super) struct Caps {
    requests: Option<Arc<Direct>>,
    bytes: Option<Arc<Direct>>,
    by_address: Option<Arc<ByAddress>>,
}

/// Number of addresses at which old per-address state is dropped.
const MOST_ADDRESSES: usize = 50_000;

impl Caps {
    pub(super) fn new(fetch: &Fetch) -> Caps {
        let quota = |n: u32| NonZeroU32::new(n).map(Quota::per_second);
        // A burst of one spaces requests evenly.
        let even = |n: u32| quota(n).map(|q| q.allow_burst(NonZeroU32::MIN));
        Caps {
            requests: even(fetch.requests_per_second).map(|q| Arc::new(RateLimiter::direct(q))),
            bytes: quota(fetch.bytes_per_second).map(|q| Arc::new(RateLimiter::direct(q))),
            by_address: even(fetch.requests_per_second_per_address).map(|q| Arc::new(RateLimiter::dashmap(q))),
        }
    }

    pub(super) async fn request(&self, address: Option<IpAddr>) {
        if let (Some(limiter), Some(address)) = (&self.by_address, address) {
            if limiter.len() > MOST_ADDRESSES {
                limiter.retain_recent();
            }
            limiter.until_key_ready(&address).await;
        }
        if let Some(limiter) = &self.requests {
            limiter.until_ready().await;
        }
    }

    /// Waits until the limit allows this many bytes.
    pub(super) async fn bytes(&self, n: usize) {
        let Some(limiter) = &self.bytes else { return };
        let mut left = u32::try_from(n).unwrap_or(u32::MAX);
        while let Some(wanted) = NonZeroU32::new(left) {
            match limiter.until_n_ready(wanted).await {
                Ok(()) => return,
                // More than the limit of one second: wait for it in parts.
                Err(governor::InsufficientCapacity(most)) => {
                    let part = NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN);
                    let _ = limiter.until_n_ready(part).await;
                    left = left.saturating_sub(part.get());
                }
            }
        }
    }
}
