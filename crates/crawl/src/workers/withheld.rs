//! Answers that look like a page and are none, and pages whose owners deny what they are for: they are not stored.

use std::sync::Arc;

use dehusk_content::TaughtPages;
use dehusk_core::suspicion::{Suspicion, suspicion};
use dehusk_html::PageUrl;
use dehusk_template::template::Template;

use super::page::{FetchedPage, ParsedPage};
use super::{SiteLearner, Tools};
use crate::robots_cache::denied;
use crate::site::Walk;
use dehusk_store::NewVisit;
use dehusk_store::reason::{Reason, ReasonCode};

/// What waited for the page.
pub(crate) enum WithheldFrom {
    /// The search for a key page, with what was handed over to it.
    Key { template: Option<Arc<Template>>, taught: TaughtPages, seeds: Vec<PageUrl> },
    /// The search for training pages.
    Training(Box<SiteLearner>),
    /// The walk.
    Walk(Box<Walk>),
}

/// A page that is not stored.
pub(crate) struct Withheld {
    pub(crate) asked: PageUrl,
    pub(crate) visit: Option<NewVisit>,
    pub(crate) reason: Reason,
}

impl Withheld {
    /// The page as one that is not stored, if its owner denies what it is for, or it looks like none. `own_letters`
    /// counts the letters of its text without template.
    pub(super) fn new(
        fetched: &mut FetchedPage,
        parsed: &ParsedPage,
        tools: &Tools,
        own_letters: impl FnOnce() -> usize,
    ) -> Option<Box<Withheld>> {
        let purpose = tools.settings.crawl.purpose;
        if let Some((of, denial)) = purpose.and_then(|of| Some((of, parsed.rights.denial(of)?))) {
            let (asked, rights) = (fetched.request.asked.clone(), parsed.rights.clone());
            let visit = fetched.visit.take().map(|visit| NewVisit { rights, ..visit });
            return Some(Box::new(Withheld { asked, visit, reason: denied(of, denial) }));
        }
        if !tools.settings.crawl.withhold {
            return None;
        }
        let found = suspicion(&parsed.page.tree, &fetched.response.body, own_letters)?;
        let (asked, visit) = (fetched.request.asked.clone(), fetched.visit.take());
        Some(Box::new(Withheld { asked, visit, reason: reason(found) }))
    }

    /// The page as one that says what the site gives for an address that it does not have.
    pub(super) fn as_missing(fetched: &mut FetchedPage) -> Box<Withheld> {
        let text = "answers 200 with what the site gives for an address that it does not have";
        let (asked, visit) = (fetched.request.asked.clone(), fetched.visit.take());
        Box::new(Withheld { asked, visit, reason: Reason::new(ReasonCode::SoftNotFound, text) })
    }
}

fn reason(suspicion: Suspicion) -> Reason {
    let (code, text) = match suspicion {
        Suspicion::Challenge => {
            (ReasonCode::Challenge, "answers 200 with a check that a person looks at it; ask the owner for access")
        }
        Suspicion::NeedsScripts => (ReasonCode::NeedsScripts, "has no text without scripts"),
        Suspicion::LoginWall => {
            (ReasonCode::LoginWall, "answers 200 and asks to log in; fetch.cookies and fetch.headers may help")
        }
        Suspicion::SoftNotFound => (ReasonCode::SoftNotFound, "answers 200 and says that the page was not found"),
        Suspicion::Parked => (ReasonCode::Parked, "the domain is parked or for sale"),
    };
    Reason::new(code, text)
}
