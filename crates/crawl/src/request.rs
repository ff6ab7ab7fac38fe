//! A request of a crawl, from the politeness queue to its end.

use dehusk_core::rights::Statement;
use dehusk_html::PageUrl;

use crate::fetch::Resource;
use crate::rights_files::FileKind;
use dehusk_store::revisit::UrlOutcome;
use dehusk_store::validators::Validators;
use dehusk_store::{KnownUrl, SiteId};

/// A request that waits in a politeness queue or is in flight.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// What is requested now.
    pub(super) url: PageUrl,
    /// What was wanted; differs from `url` after a redirect.
    pub(super) asked: PageUrl,
    pub(super) kind: RequestKind,
    /// Redirects so far.
    pub(super) hops: usize,
    /// Whether one of them is for now only.
    pub(super) is_for_now: bool,
    /// Whether one of them has set a cookie.
    pub(super) was_given_cookie: bool,
    /// Failures so far.
    pub(super) attempts: u8,
    /// Whether its robots.txt was fetched while it waited. Such rules hold for it even if they have expired by now.
    pub(super) has_rules: bool,
    /// Links from the key page.
    pub(super) depth: u32,
    /// Whether it is a seed, which may be a sitemap, a feed or OPML.
    pub(super) may_be_list: bool,
    /// What is known about the page, for a conditional request, and since when.
    pub(super) known: Validators,
    pub(super) known_since: Option<i64>,
    /// What its site says about the use of the page, once its robots.txt was asked.
    pub(super) rights: Vec<Statement>,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// The rules of an origin.
    Robots { origin: String },
    /// A file of an origin that says what its pages may be used for.
    Rights { origin: String, file: FileKind },
    /// A page of a site: the key page, a training page, or a page of the walk.
    Page { site: SiteId },
    /// A sitemap or feed of a site.
    Sitemap { site: SiteId },
    /// An address that a site does not have, to know what it gives then.
    Probe { site: SiteId },
    /// What the scripts of a page of a site ask for.
    Subresource { site: SiteId, wanted: Subresource },
}

/// What the scripts of a page ask for. Two that are equal have one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Subresource {
    pub(super) url: PageUrl,
    /// Header lines that scripts have set.
    pub(super) headers: Vec<(String, String)>,
}

/// Which end of a politeness queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueEnd {
    Back,
    Front,
}

impl Request {
    pub(super) fn new(url: PageUrl, kind: RequestKind) -> Request {
        Request {
            asked: url.clone(),
            url,
            kind,
            hops: 0,
            is_for_now: false,
            was_given_cookie: false,
            attempts: 0,
            has_rules: false,
            depth: 0,
            may_be_list: false,
            known: Validators::default(),
            known_since: None,
            rights: Vec::new(),
        }
    }

    /// A request for a page.
    pub(super) fn page(url: PageUrl, site: SiteId) -> Request {
        Request::new(url, RequestKind::Page { site })
    }

    /// A request for a seed.
    pub(super) fn seed(url: PageUrl, site: SiteId) -> Request {
        Request { may_be_list: true, ..Request::new(url, RequestKind::Page { site }) }
    }

    /// A conditional request for a page that was seen before.
    pub(super) fn conditional(kind: RequestKind, known: KnownUrl) -> Request {
        let KnownUrl { url, depth, validators, snapshot_at, is_seed, .. } = known;
        Request { depth, may_be_list: is_seed, known: validators, known_since: snapshot_at, ..Request::new(url, kind) }
    }

    /// The same request, redirected to another URL, of which nothing is known. A status of success means a
    /// `meta` refresh, which counts as for good. Without a status it is not known for how long.
    pub(super) fn redirected(&self, url: PageUrl, status: Option<u16>) -> Request {
        Request {
            url,
            hops: self.hops + 1,
            is_for_now: self.is_for_now || !matches!(status, Some(200..=299 | 301 | 308)),
            has_rules: false,
            known: Validators::default(),
            known_since: None,
            rights: Vec::new(),
            ..self.clone()
        }
    }

    /// The same request, with what is known of the page that a redirect has led to.
    pub(super) fn knowing(self, known: KnownUrl) -> Request {
        Request { known: known.validators, known_since: known.snapshot_at, ..self }
    }

    /// What became of the URL that was wanted, where a redirect has led to another one.
    pub(super) fn moved(&self) -> UrlOutcome {
        if self.is_for_now { UrlOutcome::MovedForNow } else { UrlOutcome::Moved }
    }

    /// The same request once more.
    pub(super) fn retry(&self) -> Request {
        Request { attempts: self.attempts + 1, ..self.clone() }
    }
}

impl Request {
    /// What is expected.
    pub(super) fn resource(&self) -> Resource {
        match self.kind {
            RequestKind::Robots { .. } | RequestKind::Rights { .. } => Resource::Robots,
            RequestKind::Page { .. } if self.may_be_list => Resource::Seed,
            RequestKind::Page { .. } | RequestKind::Probe { .. } => Resource::Page,
            RequestKind::Sitemap { .. } => Resource::Sitemap,
            RequestKind::Subresource { .. } => Resource::Subresource,
        }
    }
}

impl RequestKind {
    pub(super) fn site(&self) -> Option<SiteId> {
        match self {
            RequestKind::Page { site }
            | RequestKind::Sitemap { site }
            | RequestKind::Probe { site }
            | RequestKind::Subresource { site, .. } => Some(*site),
            RequestKind::Robots { .. } | RequestKind::Rights { .. } => None,
        }
    }

    /// Header lines that scripts have set.
    pub(super) fn headers(&self) -> &[(String, String)] {
        match self {
            RequestKind::Subresource { wanted, .. } => &wanted.headers,
            _ => &[],
        }
    }

    /// The word in the store.
    pub(super) fn name(&self) -> &'static str {
        match self {
            RequestKind::Robots { .. } => "robots",
            RequestKind::Rights { .. } => "rights",
            RequestKind::Page { .. } => "page",
            RequestKind::Sitemap { .. } => "sitemap",
            RequestKind::Probe { .. } => "probe",
            RequestKind::Subresource { .. } => "subresource",
        }
    }
}
