//! What the scheduler hears.

use crate::fetch::Fetched;
use crate::politeness::PolitenessKey;
use crate::robots::Robots;
use crate::store::{KnownUrl, SiteId, SiteWork, Snapshot};
use crate::validators::Validators;
use dehusk_core::internals::page_url::PageUrl;

use super::scheduler::End;
use super::work::Advance;

/// A request in the frontier.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// What is asked for now.
    pub(super) url: PageUrl,
    /// What was wanted; differs from `url` after a redirect.
    pub(super) asked: PageUrl,
    pub(super) kind: Kind,
    /// Redirects so far.
    pub(super) hops: usize,
    /// Failures so far.
    pub(super) attempts: u8,
    /// Its rules came while it waited for them; they hold for it even if they are past their time by now.
    pub(super) ruled: bool,
    /// Links from the key page.
    pub(super) depth: u32,
    /// What is known of the page, for a conditional request, and since when.
    pub(super) known: Validators,
    pub(super) known_since: Option<i64>,
}

impl Request {
    pub(super) fn new(url: PageUrl, kind: Kind) -> Request {
        Request {
            asked: url.clone(),
            url,
            kind,
            hops: 0,
            attempts: 0,
            ruled: false,
            depth: 0,
            known: Validators::default(),
            known_since: None,
        }
    }

    /// A request for a page that was seen before.
    pub(super) fn of_known(url: PageUrl, kind: Kind, known: &KnownUrl) -> Request {
        let (known_since, validators) = (known.snapshot_at, known.validators.clone());
        Request { depth: known.depth, known: validators, known_since, ..Request::new(url, kind) }
    }

    /// The same request led to another URL, of which nothing is known.
    pub(super) fn led_to(&self, url: PageUrl) -> Request {
        Request {
            url,
            hops: self.hops + 1,
            ruled: false,
            known: Validators::default(),
            known_since: None,
            ..self.clone()
        }
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
    /// A page of a site: the key page, one that its learner asked for, or one of the walk.
    Page { site: SiteId },
    /// A sitemap or feed of a site.
    Announced { site: SiteId },
}

impl Kind {
    pub(super) fn site(&self) -> Option<SiteId> {
        match self {
            Kind::Page { site } | Kind::Announced { site } => Some(*site),
            Kind::Robots { .. } => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Kind::Robots { .. } => "robots",
            Kind::Page { .. } => "page",
            Kind::Announced { .. } => "sitemap",
        }
    }
}

/// Everything that can happen.
pub(super) enum Event {
    /// A request ended.
    Fetched(Box<Answer>),
    /// The politeness key of a request is known.
    Keyed { domain: PolitenessKey, request: Box<Request>, end: End },
    /// A CPU thread is done with a page.
    Advanced { site: SiteId, advance: Advance },
    /// The store has answered: sites that come next.
    Sites(Vec<SiteWork>),
    /// The store has answered: URLs of a site that come next.
    Urls { site: SiteId, urls: Vec<KnownUrl> },
    /// The store has answered: a page that was fetched before a restart.
    Replayed { site: SiteId, url: PageUrl, snapshot: Option<Snapshot> },
    /// The writer has ended before it answered.
    WriterGone,
    /// The template of a site is written; the site may have another number now.
    Settled { before: SiteId, site: SiteId },
}

/// A request and what came of it.
pub(super) struct Answer {
    pub(super) domain: PolitenessKey,
    pub(super) request: Request,
    pub(super) fetched: Fetched,
    /// For a robots.txt: the rules that follow from the answer.
    pub(super) robots: Option<Robots>,
}
