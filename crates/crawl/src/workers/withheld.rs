//! Answers that look like a page and are none, and pages whose owners deny what they are for: they are not stored.

use dehusk_core::suspicion::{Suspicion, needs_scripts, suspicion};
use dehusk_html::PageUrl;

use super::Tools;
use super::page::Rendering;
use super::page::{FetchedPage, ParsedPage};
use crate::robots_cache::denied;
use dehusk_settings::Render;
use dehusk_store::NewVisit;
use dehusk_store::reason::{Reason, ReasonCode};

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
        let reason = match (found, &fetched.rendering) {
            (Suspicion::NeedsScripts, Rendering::Failed(why)) => Reason::new(
                ReasonCode::RenderFailed,
                format!("has no text without scripts, and was not rendered: {why}"),
            ),
            (Suspicion::NeedsScripts, Rendering::Done(_)) => {
                Reason::new(ReasonCode::RenderFailed, "has no text, with scripts or without")
            }
            _ => reason(found),
        };
        let (asked, visit) = (fetched.request.asked.clone(), fetched.visit.take());
        Some(Box::new(Withheld { asked, visit, reason }))
    }

    /// Whether a page is to be rendered before anything else is done with it: one that has no text without scripts, or
    /// any.
    pub(super) fn needs_rendering(fetched: &FetchedPage, parsed: &ParsedPage, tools: &Tools) -> bool {
        let is_denied = |of| parsed.rights.denial(of).is_some();
        matches!(fetched.rendering, Rendering::Possible)
            && !tools.settings.crawl.purpose.is_some_and(is_denied)
            && (tools.settings.fetch.render == Render::Always
                || needs_scripts(&parsed.page.tree, &fetched.response.body))
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
