//! What a site gives for an address that it does not have. A site that answers 200 for every address is known by it,
//! and so are its pages that are gone.
//!
//! The address is requested once for a template, when a page of the walk has little text; that page waits for the
//! answer. The answer is kept with the training pages. An error of the server, which may pass, is no answer.

use dehusk_html::PageUrl;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Command, Context, Phase, SiteCrawl};
use crate::fetch::{Fetched, Response, page_target};
use crate::request::{QueueEnd, Request, RequestKind};
use crate::site::Walk;
use crate::visit::visit_of;
use crate::workers::FetchedPage;
use dehusk_store::Write;

/// Whether a walk has made the request.
pub(crate) enum Probe {
    /// No page with little text has come yet.
    Unasked,
    /// It was made, and there is no answer yet, or none in this run. With the page that waits.
    Asked(Option<Box<FetchedPage>>),
    /// The page that the site gives, if it gives one, and the page that has waited for it.
    Answered(Option<Box<Response>>, Option<Box<FetchedPage>>),
}

impl Probe {
    /// The page that waits, which is worked on now.
    pub(super) fn held_page(&mut self) -> Option<FetchedPage> {
        match self {
            Probe::Unasked => None,
            Probe::Asked(page) | Probe::Answered(_, page) => page.take().map(|page| *page),
        }
    }
}

impl SiteCrawl {
    /// A page has little text: before it is judged, the site is asked for an address that it does not have.
    pub(super) fn ask_probe(&mut self, walk: Box<Walk>, cx: &Context<'_>, out: &mut Vec<Command>) {
        let url = self.site.as_ref().and_then(|site| missing_address(site.key()));
        let url = url.filter(|url| self.may_request(url, cx).is_ok() && self.exhausted(cx).is_none());
        match url.filter(|_| !cx.is_stopping) {
            Some(url) => {
                out.push(Command::Fetch(Request::new(url, RequestKind::Probe { site: self.id }), QueueEnd::Front));
                self.phase = Phase::Walking(walk);
            }
            None => self.walk(walk, cx, out),
        }
    }

    pub(super) fn on_probe(
        &mut self,
        phase: Phase,
        request: &Request,
        fetched: Fetched,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let Phase::Walking(mut walk) = phase else { return self.lose(&phase, cx, out) };
        out.push(Command::Write(Write::Visit(visit_of(request, &fetched, cx.clock), None)));
        let held = walk.probe.held_page().map(Box::new);
        walk.probe = match fetched.outcome {
            Ok(response) if matches!(response.status, 200..=399 | 404 | 410) => {
                let is_page = response.status < 300 && !response.body.is_empty();
                let page = Some(response).filter(|response| is_page && page_target(response).is_none());
                Probe::Answered(page.map(Box::new), held)
            }
            _ => Probe::Asked(held),
        };
        self.walk(walk, cx, out);
    }
}

/// An address below the home page that no site has. It is the same on every night.
fn missing_address(key: &PageUrl) -> Option<PageUrl> {
    /// Any number: the addresses of no other program.
    const SEED: u64 = 404;
    key.join(&format!("/{:016x}", xxh3_64_with_seed(key.authority().as_bytes(), SEED)))
}
