//! What the scheduler hears.

use crate::fetch::Fetched;
use crate::page::{Domain, PageUrl};
use crate::robots::Robots;
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
    /// Its rules came while it waited for them; they hold for it even if they are past their time by now.
    pub(super) ruled: bool,
}

impl Request {
    pub(super) fn new(url: PageUrl, kind: Kind) -> Request {
        Request { url, kind, hops: 0, attempts: 0, ruled: false }
    }

    /// The same request led to another URL.
    pub(super) fn led_to(&self, url: PageUrl) -> Request {
        Request { url, hops: self.hops + 1, ruled: false, ..self.clone() }
    }

    /// The same request once more.
    pub(super) fn again(&self) -> Request {
        Request { attempts: self.attempts + 1, ..self.clone() }
    }
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
    Fetched {
        domain: Domain,
        request: Request,
        fetched: Fetched,
        /// For a robots.txt: the rules that follow from the answer.
        robots: Option<Robots>,
    },
    /// The politeness key of a request is known.
    Keyed { domain: Domain, request: Request },
    /// A CPU thread is done with a page.
    Advanced { site: SiteNumber, advance: Advance },
}
