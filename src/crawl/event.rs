//! What the scheduler hears.

use crate::fetch::Fetched;
use crate::page::{Domain, PageUrl};
use crate::store::SiteNumber;

use super::site::Advance;

/// A request in the frontier.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// What is asked for now; differs from what was wanted after a redirect.
    pub(super) url: PageUrl,
    pub(super) kind: Kind,
    /// Redirects so far.
    pub(super) hops: usize,
    /// Failures so far.
    pub(super) attempts: u8,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The rules of an origin.
    Robots { origin: String },
    /// A page of a site: the key page, or one that its learner asked for.
    Page { site: SiteNumber },
}

impl Kind {
    pub(super) fn site(&self) -> Option<SiteNumber> {
        match self {
            Kind::Page { site } => Some(*site),
            Kind::Robots { .. } => None,
        }
    }
}

/// Everything that can happen.
pub(super) enum Event {
    /// A request ended.
    Fetched { domain: Domain, request: Request, fetched: Fetched },
    /// The politeness key of a request is known.
    Keyed { domain: Domain, request: Request },
    /// A CPU thread is done with a page.
    Advanced { site: SiteNumber, advance: Advance },
}
