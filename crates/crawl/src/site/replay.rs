//! After a restart: what this run has fetched already is read from the store, not from the network.

use dehusk_html::PageUrl;

use super::response::{fetched_already, stopped};
use super::{Command, Context, Phase, SiteCrawl};
use crate::fetch::Response;
use crate::request::{QueueEnd, Request};
use crate::visit::unsent_visit;
use crate::workers::{FetchedPage, Rendering};
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::revisit::UrlOutcome;
use dehusk_store::{NewVisit, PastVisit, Query, Snapshot, VisitOutcome, Write};

impl SiteCrawl {
    /// What this run did with a URL before the restart.
    pub(super) fn recalled(&self, url: &PageUrl) -> Option<PastVisit> {
        self.past.get(url.as_str()).cloned()
    }

    /// Requests a page, unless this run has fetched it already.
    pub(super) fn request_page(&mut self, phase: Phase, request: Request, cx: &Context<'_>, out: &mut Vec<Command>) {
        if matches!(phase, Phase::Training(_)) && self.fetched.contains(&request.url.fingerprint()) {
            return self.read_stored(phase, request, out);
        }
        match self.recalled(&request.url) {
            Some(past) => self.replay(phase, request, past, cx, out),
            None => {
                self.phase = phase;
                out.push(Command::Fetch(request, QueueEnd::Back));
            }
        }
    }

    /// Takes a page that this run has fetched under another name from the store. The learner decides for itself whether
    /// it counts as another page.
    pub(super) fn read_stored(&mut self, phase: Phase, request: Request, out: &mut Vec<Command>) {
        out.push(Command::Ask(Query::NewestSnapshot(self.id, request.url.clone())));
        self.replayed = Some(request);
        self.phase = phase;
    }

    /// Goes on with a request from what is remembered of it.
    pub(super) fn replay(
        &mut self,
        phase: Phase,
        mut request: Request,
        mut past: PastVisit,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        loop {
            if matches!(phase, Phase::Walking(_))
                && let Some(outcome) = settled_outcome(&request, &past, cx)
            {
                // The URL was visited under another name. It must not be given to the walk again.
                let reason = past.reason.unwrap_or_else(|| format!("leads to {}", request.url));
                let asked = Request::new(request.asked.clone(), request.kind.clone());
                let visit = unsent_visit(&asked, VisitOutcome::Failed, Some(reason));
                let moved_to =
                    matches!(outcome, UrlOutcome::Moved | UrlOutcome::MovedForNow).then(|| request.url.to_string());
                let visit = NewVisit { redirect_to: moved_to, ..visit };
                out.push(Command::Write(Write::Visit(visit, Some((request.asked, outcome)))));
                return self.no_page(phase, stopped(), cx, out);
            }
            match (past.outcome, past.page) {
                (VisitOutcome::Fetched, Some(page)) => {
                    self.replayed = Some(request);
                    self.phase = phase;
                    out.push(Command::Ask(Query::Snapshot(page)));
                    return;
                }
                (VisitOutcome::Redirected, _) => {
                    let target = past.redirect_to.as_deref().and_then(|target| request.url.join(target));
                    let may_follow = request.hops <= cx.tools.settings.fetch.max_redirects;
                    let Some(target) = target.filter(|_| may_follow) else { break };
                    request = request.redirected(target, None);
                    match self.recalled(&request.url) {
                        Some(next) => past = next,
                        None => break,
                    }
                }
                (VisitOutcome::NotModified, _) => {
                    // It was counted when the site began.
                    self.n_unchanged = self.n_unchanged.saturating_sub(1);
                    return self.unchanged(phase, cx, out);
                }
                (VisitOutcome::Failed | VisitOutcome::Gone | VisitOutcome::Forbidden | VisitOutcome::Refused, _) => {
                    let code = match past.outcome {
                        VisitOutcome::Refused => ReasonCode::Refused,
                        VisitOutcome::Forbidden => ReasonCode::RobotsDisallowed,
                        VisitOutcome::Gone => ReasonCode::Http404,
                        _ => ReasonCode::Other,
                    };
                    let reason = Reason::new(code, past.reason.unwrap_or_else(|| "no page".to_owned()));
                    return self.no_page(phase, reason, cx, out);
                }
                // An error may have passed.
                (VisitOutcome::FetchError | VisitOutcome::Fetched, _) => break,
            }
        }
        let named = cx.tools.scope.strip(&request.url);
        if named != request.asked && self.fetched.contains(&named.fingerprint()) {
            return self.led_to_fetched(phase, request, cx, out);
        }
        if matches!(phase, Phase::KeyPage(_)) && request.hops > 0 {
            return self.follow_key_page(phase, request, out);
        }
        self.phase = phase;
        out.push(Command::Fetch(request, QueueEnd::Front));
    }

    /// A remembered redirect leads to a page that was fetched since.
    fn led_to_fetched(&mut self, phase: Phase, request: Request, cx: &Context<'_>, out: &mut Vec<Command>) {
        if matches!(phase, Phase::Training(_)) {
            return self.read_stored(phase, request, out);
        }
        out.push(leads_elsewhere(&request));
        self.no_page(phase, fetched_already(), cx, out);
    }

    pub(super) fn on_snapshot(
        &mut self,
        phase: Phase,
        snapshot: Option<Box<Snapshot>>,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let Some(request) = self.replayed.take() else { return self.lose(&phase, cx, out) };
        if cx.is_stopping {
            return self.no_page(phase, stopped(), cx, out);
        }
        let Some(snapshot) = snapshot else {
            // It cannot be read back, so it is fetched again.
            self.phase = phase;
            out.push(Command::Fetch(request, QueueEnd::Back));
            return;
        };
        let response = Response {
            content_type: snapshot.content_type,
            body: snapshot.body,
            ..Response::empty(snapshot.url, snapshot.status)
        };
        let response = Response { url: cx.tools.scope.strip(&response.url), ..response };
        self.fetched.insert(response.url.fingerprint());
        let page = FetchedPage {
            request,
            response,
            fetched_at: snapshot.fetched_at,
            visit: None,
            noindex: snapshot.noindex,
            nofollow: snapshot.nofollow,
            // It was decided when it came.
            rendering: Rendering::Off,
        };
        self.on_page(phase, page, cx, out);
    }
}

/// Notes what became of the URL that was wanted, where a redirect has led to a page that was seen already.
pub(super) fn leads_elsewhere(request: &Request) -> Command {
    let asked = Request::new(request.asked.clone(), request.kind.clone());
    let visit = unsent_visit(&asked, VisitOutcome::Failed, Some(format!("leads to {}", request.url)));
    let visit = NewVisit { redirect_to: Some(request.url.to_string()), ..visit };
    Command::Write(Write::Visit(visit, Some((request.asked.clone(), request.moved()))))
}

/// What the frontier must note about a URL of the walk whose visit is remembered; `None` when its page is still to be
/// read.
fn settled_outcome(request: &Request, past: &PastVisit, cx: &Context<'_>) -> Option<UrlOutcome> {
    // A session in a redirect does not make another page.
    let is_elsewhere = || cx.tools.scope.strip(&request.url).fingerprint() != request.asked.fingerprint();
    match past.outcome {
        VisitOutcome::Gone => Some(UrlOutcome::Gone),
        VisitOutcome::Forbidden => Some(UrlOutcome::Blocked),
        VisitOutcome::Failed | VisitOutcome::Refused => Some(UrlOutcome::Failed),
        VisitOutcome::Fetched | VisitOutcome::NotModified => {
            (request.hops > 0 && is_elsewhere()).then(|| request.moved())
        }
        VisitOutcome::Redirected | VisitOutcome::FetchError => None,
    }
}
