//! What the scheduler hears.

use super::rendering::{Rendered, Wanted};
use super::request::{QueueEnd, Request};
use super::workers::{FetchedPage, WorkResult};
use crate::fetch::Fetched;
use crate::politeness::PolitenessKey;
use crate::robots::Robots;
use dehusk_store::{Reply, SiteId};

/// Everything that can happen.
pub(super) enum Event {
    /// A request ended.
    Fetched(Box<Answer>),
    /// The politeness key of a request is known.
    Keyed { key: PolitenessKey, request: Box<Request>, end: QueueEnd },
    /// A CPU thread is done with a page of a site.
    Computed { site: SiteId, result: WorkResult },
    /// The store has answered: to a site, or to the scheduler.
    Replied { site: Option<SiteId>, reply: Reply },
    /// The lease of a politeness key is to be asked for once more.
    AskForHost(PolitenessKey),
    /// A page was rendered, or could not be.
    Rendered { site: SiteId, page: Box<FetchedPage>, rendered: Result<Box<Rendered>, String> },
    /// The scripts of a page ask for something.
    #[cfg_attr(not(feature = "render"), expect(dead_code, reason = "only the browser says so"))]
    Wanted(Box<Wanted>),
    /// The writer has ended before it answered.
    WriterGone,
}

impl Event {
    /// Whether a job ends with it. A page that is rendered asks for things before.
    pub(super) fn ends_job(&self) -> bool {
        !matches!(self, Event::Wanted(_))
    }
}

/// A request and what came of it.
pub(super) struct Answer {
    pub(super) key: PolitenessKey,
    pub(super) request: Request,
    pub(super) fetched: Fetched,
    /// For a robots.txt: the rules that follow from the answer.
    pub(super) robots: Option<Robots>,
}
