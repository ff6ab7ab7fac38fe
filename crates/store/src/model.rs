//! What a crawl hands to its database and asks it for: plain values, without channels and without SQL.

use dehusk_core::rights::Rights;
use dehusk_html::PageUrl;
use dehusk_template::method::Method;
use dehusk_template::site_model::StoredTrainingSet;
use dehusk_template::strings::StringTemplate;
use dehusk_template::template::Template;
use serde::Serialize;

use super::{KnownUrl, NewUrl, NewVisit, PackedPage, SiteId, SiteOutcome, SiteWork, Snapshot, StoredRobots};
use crate::reason::Reason;
use crate::revisit::{TextMark, UrlOutcome};
use crate::seed::Seed;
use crate::validators::Validators;

/// Something to write. Each is written whole or not at all.
#[derive(Clone, Debug)]
pub enum Write {
    /// A request ended without a page; with the URL whose record it concerns.
    Visit(NewVisit, Option<(PageUrl, UrlOutcome)>),
    /// A page was fetched. In the walk through a site it comes with its cleaned form and its links.
    Page(Box<PageWrite>),
    /// A page was fetched by a crawl for links.
    Seen(Box<SeenWrite>),
    /// A robots.txt was fetched.
    Robots {
        /// What was answered.
        robots: StoredRobots,
        /// Whether it forbids every path; `None` when it could not be had.
        forbids_all: Option<bool>,
    },
    /// The search for the template of a site ended.
    Learned(Box<LearnedWrite>),
    /// The training pages of a site's template, with more pages.
    ModelUpdated(SiteId, Box<StoredTrainingSet>),
    /// Training pages of a site whose text stands by its model at its end.
    Confirmed {
        /// The site.
        site: SiteId,
        /// The number of its model.
        model: u64,
        /// The pages.
        pages: Vec<ConfirmedPage>,
    },
    /// Pages of a site were cleaned again at its end.
    Recleaned(SiteId, Vec<RecleanedPage>),
    /// Parts of a site's pages, and whether each differed on nearly all pages that were compared.
    ChangingParts(SiteId, Vec<(u64, bool)>),
    /// The strings that the entries of a site's feeds repeat.
    Strings {
        /// Their name.
        source: String,
        /// Unix milliseconds.
        at: i64,
        /// What was learned.
        template: Box<StringTemplate>,
    },
    /// The stored template of a site is the one for this run.
    TemplateKept(SiteId),
    /// URLs for the frontier.
    Links(SiteId, Vec<NewUrl>),
    /// Pages that a sitemap says were modified: those that were visited before are due.
    Modified {
        /// The site.
        site: SiteId,
        /// Fingerprints of the URLs, and when each was modified, Unix milliseconds.
        pages: Vec<(u64, i64)>,
        /// Unix milliseconds.
        at: i64,
    },
    /// How often pages change, as a sitemap says: fingerprints of their URLs, and milliseconds. It holds for pages
    /// whose own visits have said nothing of it yet.
    Intervals(SiteId, Vec<(u64, i64)>),
    /// Seeds that came while the run was on. The first URL of a host is the key page of its site.
    Seeds {
        /// The seeds.
        seeds: Vec<Seed>,
        /// The place of the first one in their stream.
        place: i64,
        /// Unix milliseconds.
        at: i64,
    },
    /// A site that has ended is put back into the run, if seeds of it came while it was worked on.
    OpenAgain {
        /// The site.
        site: SiteId,
        /// Unix milliseconds.
        at: i64,
    },
    /// A politeness key is deferred.
    Deferred {
        /// The key.
        key: String,
        /// Until when, Unix milliseconds.
        until: i64,
        /// Why.
        reason: String,
    },
    /// A host of a shared store is given back.
    HostReleased(HostRelease),
    /// A host of a shared store stays leased and is left alone for longer.
    BackedOff(HostRelease),
    /// The key page of a site leads to another site of the run.
    SiteMoved {
        /// The site.
        site: SiteId,
        /// The other one.
        to: SiteId,
        /// Where it leads.
        key_url: String,
        /// Unix milliseconds.
        at: i64,
    },
    /// The work on a site ended.
    SiteEnded {
        /// The site.
        site: SiteId,
        /// How.
        outcome: SiteOutcome,
        /// The budget that ended it before its time.
        limit: Option<Reason>,
        /// Unix milliseconds.
        at: i64,
    },
    /// The run ended.
    RunEnded {
        /// `finished` or `interrupted`.
        outcome: &'static str,
        /// Unix milliseconds.
        at: i64,
    },
}

impl Write {
    /// A site has ended that no budget has stopped.
    pub fn site_ended(site: SiteId, outcome: SiteOutcome, at: i64) -> Write {
        Write::SiteEnded { site, outcome, limit: None, at }
    }
}

/// A page with all that belongs to it.
#[derive(Clone, Debug)]
pub struct PageWrite {
    /// Its site.
    pub site: SiteId,
    /// The request that gave it.
    pub visit: NewVisit,
    /// The URL that was wanted, when a redirect led from it to the page.
    pub asked: Option<(PageUrl, UrlOutcome)>,
    /// The page.
    pub page: NewPage,
    /// Its cleaned form, when the template is known already.
    pub cleaned: Option<Cleaned>,
    /// Links for the frontier.
    pub links: Vec<NewUrl>,
    /// Whether it is the key page and keeps the stored template for this run. Where a redirect for good led to it, it
    /// is the key page from then on.
    pub settles: bool,
}

/// A page of a crawl for links. The page is not stored, its links are.
#[derive(Clone, Debug)]
pub struct SeenWrite {
    /// Its site.
    pub site: SiteId,
    /// The request.
    pub visit: NewVisit,
    /// The URL that was wanted.
    pub url: PageUrl,
    /// Links for the frontier.
    pub links: Vec<NewUrl>,
}

/// What the search for a template gave.
#[derive(Clone, Debug)]
pub struct LearnedWrite {
    /// The site.
    pub site: SiteId,
    /// Host and key page as they were found, when a redirect led to others than the seed's.
    pub found: Option<(String, String)>,
    /// What was learned.
    pub template: Option<Box<Template>>,
    /// Why there is none.
    pub failure: Option<Reason>,
    /// Its pages without template.
    pub cleaned: Vec<Cleaned>,
    /// Links for the walk.
    pub links: Vec<NewUrl>,
    /// Unix milliseconds.
    pub at: i64,
}

/// A fetched page, packed for the store. Packing costs as much as writing, so it is done on the CPU threads.
#[derive(Clone, Debug)]
pub struct NewPage {
    /// After redirects.
    pub url: PageUrl,
    /// Links from the key page.
    pub depth: u32,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// HTTP status.
    pub status: u16,
    /// As sent.
    pub content_type: Option<String>,
    /// As sent.
    pub validators: Validators,
    /// Whether its owner wants it in no collection.
    pub noindex: bool,
    /// Whether its owner wants none of its links followed.
    pub nofollow: bool,
    /// What is said about its use.
    pub rights: Rights,
    /// Folder of the archive that holds it.
    pub warc: Option<String>,
    /// `WARC-Record-ID` of its record there.
    pub warc_record: Option<String>,
    /// SHA-256 of `raw`, unpacked.
    pub digest: String,
    /// Decoded body, zstd. Of a page that was rendered the tree as HTML, which begins with the mark of UTF-8.
    pub raw: Vec<u8>,
    /// Decoded body of a page that was rendered, zstd.
    pub as_fetched: Option<Vec<u8>>,
}

/// A cleaned page.
#[derive(Clone, Debug)]
pub struct Cleaned {
    /// The page.
    pub url: PageUrl,
    /// HTML without template, zstd.
    pub html: Vec<u8>,
    /// Its text without template.
    pub text: TextMark,
    /// What labeled it.
    pub labeled: LabeledBy,
}

/// What labeled a page.
#[derive(Clone, Copy, Debug)]
pub struct LabeledBy {
    /// Method.
    pub method: Method,
    /// Whether the site's template fits well enough to have been applied.
    pub by_template: bool,
    /// How much the method trusts its labels.
    pub confidence: f64,
    /// Fingerprint of the training page whose template it shows most of.
    pub nearest: Option<u64>,
}

/// A page of the run whose text is not that of the site's model at the end, or whose change is not known.
#[derive(Clone, Debug)]
pub struct StalePage {
    /// Its place in the order of the pages of its site.
    pub place: i64,
    /// The page, as it was fetched or rendered.
    pub page: PackedPage,
    /// Digest of the text that is stored.
    pub stored: Option<u64>,
    /// Digest of a text that was not taken for a version of the page.
    pub doubted: Option<u64>,
    /// Its version of an earlier run, where only that can tell whether the page has changed.
    pub last: Option<PackedPage>,
    /// Whether that version was a change, on the run before.
    pub changed_before: bool,
    /// The form of this version that is compared with it, where that is another one: see `compared`.
    pub compared: Option<PackedPage>,
}

/// A page that was cleaned again.
#[derive(Clone, Debug)]
pub struct RecleanedPage {
    /// The page.
    pub url: PageUrl,
    /// Its text.
    pub text: TextMark,
    /// What labeled it.
    pub labeled: LabeledBy,
    /// HTML without template, zstd; `None` where the stored one has the same text.
    pub html: Option<Vec<u8>>,
    /// Its last version by the same model, where that was asked for.
    pub last_text: Option<LastText>,
    /// Why this is not taken for a version of the page.
    pub doubt: Option<Doubt>,
}

/// Why a text is not taken for a version of its page.
#[derive(Clone, Debug)]
pub struct Doubt {
    /// The reason.
    pub reason: Reason,
    /// Digest of the text without parts that always differ, by which it is known when it comes again.
    pub text: u64,
}

/// The text of the last version of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastText {
    /// Its digest, by the model of today.
    pub digest: u64,
    /// Whether more differs than parts that always do.
    pub has_news: bool,
}

/// A training page whose text stands, although the model of its site has grown since it was cleaned.
#[derive(Clone, Debug)]
pub struct ConfirmedPage {
    /// Fingerprint of its URL.
    pub fingerprint: u64,
    /// How much the model trusts its labels.
    pub confidence: f64,
    /// Fingerprint of the training page whose template it shows most of.
    pub nearest: Option<u64>,
}

/// A politeness key that a worker has leased from a shared store, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLease {
    /// The politeness key.
    pub key: String,
    /// Milliseconds before the next request.
    pub wait_ms: i64,
    /// Whether this time includes a delay that its own robots.txt asks for.
    pub is_pace_known: bool,
    /// Times that its delay was doubled.
    pub doublings: u8,
    /// Failed connections in a row.
    pub failures: u32,
    /// Why it is left alone for the rest of the run, if it is.
    pub parked: Option<String>,
}

/// A politeness key that is given back, or noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRelease {
    /// Its state now.
    pub host: HostLease,
    /// What it is deferred for.
    pub reason: Option<String>,
}

/// A crawl that shares a database.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerRow {
    /// Number.
    pub worker: i64,
    /// Its run.
    pub run: i64,
    /// The machine that it runs on.
    pub machine: String,
    /// Its number there.
    pub process: i64,
    /// `working`, `left`, `lost`; `silent`: its leases have expired, and nobody has taken them over yet.
    pub state: String,
    /// Unix milliseconds, by the server's clock.
    pub started_at: i64,
    /// Unix milliseconds, by the server's clock.
    pub ended_at: Option<i64>,
    /// Seconds since its last heartbeat.
    pub silent_s: f64,
    /// Hosts that it has leased.
    pub leases: i64,
    /// Requests sent.
    pub requests: i64,
    /// Pages fetched.
    pub pages: i64,
    /// Pages per second in the last minute.
    pub pages_per_s: f64,
}

/// A question. It sees everything that was written before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// The next sites of the run, in the order of their numbers.
    NextSites {
        /// Those after this one.
        after: SiteId,
        /// At most so many.
        n: usize,
    },
    /// Sites of hosts that are leased now from a shared store: at most so many.
    LeaseSites(usize),
    /// The lease of one politeness key of a shared store.
    LeaseHost(String),
    /// The sites of these seeds that wait.
    SitesOf(Vec<PageUrl>),
    /// The site of this host that a seed of the run names itself.
    SeededSite(String),
    /// The next URLs of a site.
    NextUrls(SiteId, NextUrlsQuery),
    /// A stored page, by its number.
    Snapshot(i64),
    /// The newest stored page of a URL of a site.
    NewestSnapshot(SiteId, PageUrl),
    /// What is known of a URL of a site that a redirect has led to.
    KnownUrl(SiteId, PageUrl),
    /// Pages of a site that this run has visited, and that [`StalePage`] is about.
    StalePages {
        /// The site.
        site: SiteId,
        /// The number of its model now.
        model: u64,
        /// Those after this place.
        after: i64,
        /// At most so many.
        n: usize,
    },
    /// The number of a site, after a redirect may have led to one that was known under another number.
    CurrentSite(SiteId),
}

/// Which URLs of a site are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextUrlsQuery {
    /// Unix milliseconds.
    pub now: i64,
    /// Whether known pages are wanted that are not due.
    pub all: bool,
    /// Whether URLs are wanted that were never requested.
    pub waiting: bool,
    /// Longest way from the key page, in links.
    pub depth: u32,
    /// Number of pages of the site that may be known; 0 = no limit.
    pub max_known: usize,
    /// At most so many.
    pub n: usize,
}

/// Pages of a site to be cleaned again, and what is known of all its pages.
#[derive(Debug, Default)]
pub struct StalePages {
    /// The pages.
    pub pages: Vec<StalePage>,
    /// Parts of the site's pages that are known to change; empty where there are no pages.
    pub changing: Vec<u64>,
    /// Pages of which the run has stored a body that the run before had not; 0 where there are pages left.
    pub n_bodies: usize,
}

/// The answer to a [`Query`].
#[derive(Debug)]
pub enum Reply {
    /// Sites with what is known about them. Fewer than wanted means that there are no more.
    NextSites(Vec<SiteWork>),
    /// Sites with what is known about them.
    SitesOf(Vec<SiteWork>),
    /// Sites with their leases; and, where there are none, whether none will come: no worker has one.
    LeasedSites {
        /// The sites.
        leased: Vec<(HostLease, SiteWork)>,
        /// Whether the run is over.
        is_over: bool,
    },
    /// A politeness key, and its lease; `None` while another worker has it.
    LeasedHost(String, Option<HostLease>),
    /// That site, if there is one.
    SeededSite(Option<SiteId>),
    /// Seeds, then known pages that are due, then URLs that wait. Of one URL: itself, where it is known.
    NextUrls(Vec<KnownUrl>),
    /// The page; `None` when there is none, or it cannot be read back.
    Snapshot(Option<Snapshot>),
    /// Pages to be cleaned again.
    StalePages(StalePages),
    /// The number from now on, and whether that site has ended in this run.
    CurrentSite(SiteId, bool),
}
