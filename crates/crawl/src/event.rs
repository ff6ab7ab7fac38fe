//! What the scheduler hears.

use super::request::{QueueEnd, Request};
use super::workers::WorkResult;
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
    /// The writer has ended before it answered.
    WriterGone,
}

/// A request and what came of it.
pub(super) struct Answer {
    pub(super) key: PolitenessKey,
    pub(super) request: Request,
    pub(super) fetched: Fetched,
    /// For a robots.txt: the rules that follow from the answer.
    pub(super) robots: Option<Robots>,
}
