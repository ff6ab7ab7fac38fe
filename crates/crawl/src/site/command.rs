//! What a site hears, and what it wants done.

use dehusk_html::PageUrl;

use super::super::Clock;
use super::super::rendering::Rendered;
use super::super::request::{QueueEnd, Request};
use super::super::workers::{FetchedPage, Tools, Work, WorkResult};
use crate::fetch::Fetched;
use crate::scope::Refusal;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::seed::Seed;
use dehusk_store::{KnownUrl, Query, SiteId, SiteOutcome, Snapshot, StalePages, Write};

/// Something that happened to a site.
pub(crate) enum SiteEvent {
    /// A request ended.
    Fetched(Request, Box<Fetched>),
    /// robots.txt disallows the URL.
    Disallowed(Request, Reason),
    /// `crawl.never` lists the URL.
    Refused(Request, Refusal),
    /// The origin of the URL cannot be asked in this run.
    Unavailable(Request, Reason),
    /// The request was not sent, as the crawl stops.
    Abandoned,
    /// A CPU thread is done.
    Computed(WorkResult),
    /// A page was rendered, or could not be.
    Rendered(Box<FetchedPage>, Result<Box<Rendered>, String>),
    /// The store has answered: the site of a host that has a seed of its own.
    SeededSite(Option<SiteId>),
    /// The store has answered: the next URLs.
    Urls(Vec<KnownUrl>),
    /// The store has answered: a page that this run fetched before a restart.
    Snapshot(Option<Box<Snapshot>>),
    /// The store has answered: pages to be cleaned again.
    Stale(StalePages),
    /// What was learned is written.
    Settled,
    /// What was learned is written, but under a number that is worked on as another site.
    Taken,
}

/// Something that a site wants done. Commands are carried out in order.
pub(crate) enum Command {
    /// Put a request into the queue of its host; the answer is `Fetched`, `Disallowed`, `Refused`, `Unavailable` or
    /// `Abandoned`.
    Fetch(Request, QueueEnd),
    /// Render a page; the answer is `Rendered`. And whether hosts outside of the site are known to be needed.
    Render(Box<FetchedPage>, bool),
    /// Hand work to a CPU thread; the answer is `Computed`.
    Compute(Work),
    /// Write.
    Write(Write),
    /// Ask the store; the answer is `Urls`, `Snapshot`, `SeededSite`, `Stale`, `Settled` or `Taken`.
    Ask(Query),
    /// Put these seeds into the run.
    Seeds(Vec<Seed>),
    /// Count something.
    Count(Count),
    /// The site has ended. Always the last command of a site.
    End(SiteOutcome),
}

/// What a site counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// A page was fetched.
    Page,
    /// A request gave no page.
    Error,
    /// An answer was no page, for this reason.
    Withheld(ReasonCode),
    /// A page was rendered.
    Rendered,
    /// robots.txt disallows a page.
    Disallowed,
    /// Links that are not followed.
    Refused(Vec<Refusal>),
}

/// What a site may know beside itself when it handles an event.
pub(crate) struct Context<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) clock: Clock,
    /// Unix milliseconds.
    pub(crate) now: i64,
    /// Whether training pages are to be packed.
    pub(crate) memory_is_short: bool,
    /// Whether the crawl stops: work that is out is stored, nothing new is begun.
    pub(crate) is_stopping: bool,
    /// The sitemaps that the robots.txt of these origins name.
    pub(crate) sitemaps: &'a dyn Fn(&[String]) -> Vec<PageUrl>,
}
