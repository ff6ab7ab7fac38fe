//! What follows from the answer to a request: a page, a retry, a redirect, no page.

use dehusk_html::PageUrl;

use super::replay::leads_elsewhere;
use super::{Command, Context, Count, Phase, SiteCrawl, TREE_BYTES, count_refused};
use crate::fetch::{Fetched, Response, page_target};
use crate::request::{QueueEnd, Request, RequestKind};
use crate::scope::Refusal;
use crate::visit::{unsent_visit, visit_of};
use crate::workers::{FetchedPage, PageWaiter, Withheld};
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::revisit::UrlOutcome;
use dehusk_store::{NewVisit, Query, SiteOutcome, VisitOutcome, Write};

/// What follows from an answer.
pub(super) enum NextStep {
    Page(Box<Response>),
    Unchanged,
    Retry,
    Follow(PageUrl),
    /// The target of a redirect is not to be requested.
    Refuse(PageUrl, Refusal),
    GiveUp(Reason, UrlOutcome),
}

impl SiteCrawl {
    pub(super) fn on_fetched(
        &mut self,
        phase: Phase,
        request: Request,
        fetched: Fetched,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        if matches!(request.kind, RequestKind::Probe { .. }) {
            return self.on_probe(phase, &request, fetched, cx, out);
        }
        let sets_cookie = fetched.outcome.as_ref().is_ok_and(|response| response.sets_cookie);
        let request = Request { was_given_cookie: request.was_given_cookie || sets_cookie, ..request };
        let visit = visit_of(&request, &fetched, cx.clock);
        let was_sent = fetched.times.is_some();
        let mut phase = phase;
        match self.next_step(&mut phase, &request, fetched, cx) {
            NextStep::Page(response) => self.on_response(phase, request, *response, visit, cx, out),
            NextStep::Unchanged => {
                let visit = NewVisit { outcome: VisitOutcome::NotModified, ..visit };
                let is_elsewhere = request.hops > 0;
                let seen = if is_elsewhere { cx.tools.scope.strip(&request.url) } else { request.url.clone() };
                self.not_modified.insert(seen.fingerprint());
                out.push(Command::Write(Write::Visit(visit, Some((seen, UrlOutcome::Unchanged)))));
                if is_elsewhere {
                    out.push(leads_elsewhere(&request));
                }
                self.unchanged(phase, cx, out);
            }
            NextStep::Retry => {
                out.push(Command::Write(Write::Visit(visit, None)));
                self.send_again(phase, request.retry(), QueueEnd::Back, cx, out);
            }
            NextStep::Follow(target) => self.follow(phase, request, target, visit, cx, out),
            NextStep::Refuse(target, refusal) => {
                count_refused(vec![refusal], out);
                // What was forgotten for good is not named again.
                let target = if refusal == Refusal::Never { "a URL".to_owned() } else { target.to_string() };
                let text = format!("leads to {target}, which is not requested ({})", refusal.name());
                let reason = Reason::new(ReasonCode::Refused, text);
                let (outcome, text) = (VisitOutcome::Refused, reason.text.clone());
                let visit = NewVisit { outcome, reason: Some(text), redirect_to: None, ..visit };
                out.push(Command::Write(Write::Visit(visit, row_of(&request, UrlOutcome::Failed))));
                self.spent.failures += 1;
                self.no_page(phase, reason, cx, out);
            }
            NextStep::GiveUp(reason, _) if cx.is_stopping && !was_sent => self.no_page(phase, reason, cx, out),
            NextStep::GiveUp(reason, outcome) => {
                self.spent.failures += usize::from(was_sent);
                out.push(Command::Count(Count::Error));
                if matches!(reason.code, ReasonCode::LoginWall | ReasonCode::CookieWall) {
                    out.push(Command::Count(Count::Withheld(reason.code)));
                }
                let visit = NewVisit { reason: Some(reason.text.clone()), redirect_to: None, ..visit };
                let visit = match (outcome, visit.outcome) {
                    (UrlOutcome::Gone, _) => NewVisit { outcome: VisitOutcome::Gone, ..visit },
                    // It led somewhere, but not to anything of use; or it gave no page.
                    (_, VisitOutcome::Redirected | VisitOutcome::Fetched) => {
                        NewVisit { outcome: VisitOutcome::Failed, ..visit }
                    }
                    _ => visit,
                };
                out.push(Command::Write(Write::Visit(visit, row_of(&request, outcome))));
                self.no_page(phase, reason, cx, out);
            }
        }
    }

    fn next_step(&self, phase: &mut Phase, request: &Request, fetched: Fetched, cx: &Context<'_>) -> NextStep {
        let settings = &cx.tools.settings;
        let may_retry = request.attempts < settings.fetch.retries;
        let response = match fetched.outcome {
            Ok(response) => response,
            Err(error) if error.is_transient() && may_retry => return NextStep::Retry,
            Err(error) => {
                return NextStep::GiveUp(Reason::new(error.code(), error.reason()), UrlOutcome::Failed);
            }
        };
        if let Some(target) = page_target(&response) {
            if leads_to_log_in(&response, request, &target) {
                let text = format!("leads to {target} to log in; fetch.cookies and fetch.headers may help");
                return NextStep::GiveUp(Reason::new(ReasonCode::LoginWall, text), UrlOutcome::Failed);
            }
            return self.redirect(phase, request, target, cx);
        }
        let patience = settings.politeness.max_back_off;
        let give_up = |code, text: String| NextStep::GiveUp(Reason::new(code, text), UrlOutcome::Failed);
        match (response.status, response.retry_after) {
            (304, _) if !request.known.is_empty() => NextStep::Unchanged,
            (206 | 226, _) => {
                give_up(ReasonCode::HttpStatus, format!("answers {}, a part that was not asked for", response.status))
            }
            (204 | 205, _) => give_up(ReasonCode::Empty, "empty answer".to_owned()),
            (200..=299, _) if response.body.is_empty() => give_up(ReasonCode::Empty, "empty answer".to_owned()),
            (200..=299, _) if response.body.len() * TREE_BYTES > settings.crawl.memory / 2 => {
                give_up(ReasonCode::Memory, "too large for crawl.memory".to_owned())
            }
            (200..=299, _) => NextStep::Page(Box::new(response)),
            (status @ (404 | 410), _) => NextStep::GiveUp(
                Reason::new(ReasonCode::of_status(status), format!("answers {status}")),
                UrlOutcome::Gone,
            ),
            (status @ (429 | 503), Some(wait)) if wait > patience => give_up(
                ReasonCode::HostDeferred,
                format!("answers {status} and asks to wait {} s, deferred", wait.as_secs()),
            ),
            (429 | 500..=599, _) if may_retry => NextStep::Retry,
            (status, _) => give_up(ReasonCode::of_status(status), format!("answers {status}")),
        }
    }

    /// A key page may be anywhere. Once it is found, what leaves its site is of no use and is not requested. The target
    /// passes the rules for links, as it is named without session and tracking parameters.
    pub(super) fn redirect(&self, phase: &mut Phase, request: &Request, target: PageUrl, cx: &Context<'_>) -> NextStep {
        let give_up = |code, text: String| NextStep::GiveUp(Reason::new(code, text), UrlOutcome::Failed);
        let is_loop = target == request.url || target == request.asked;
        if is_loop && !cx.tools.settings.fetch.cookies && request.was_given_cookie {
            let text = "leads back as long as its cookie is not sent; fetch.cookies and fetch.headers may help";
            return give_up(ReasonCode::CookieWall, text.to_owned());
        }
        if is_loop && !cx.tools.settings.fetch.cookies {
            let text = if target == request.url { "leads to itself" } else { "leads back to itself" };
            return give_up(ReasonCode::Redirects, text.to_owned());
        }
        if request.hops >= cx.tools.settings.fetch.max_redirects {
            return give_up(ReasonCode::Redirects, format!("more than {} redirects", request.hops));
        }
        if let Some(site) = &self.site
            && site.claim(target.clone()).is_none()
        {
            return give_up(ReasonCode::OtherSite, format!("leads to {target}, outside the site"));
        }
        let (scope, named) = (&cx.tools.scope, cx.tools.scope.strip(&target));
        let allowed = match (phase, &request.kind) {
            (Phase::KeyPage(_), _) | (_, RequestKind::Sitemap { .. }) => scope.allows_key(&named),
            // Training pages may be anywhere on the site.
            (Phase::Walking(walk), _) => match &self.site {
                Some(site) => scope.judge(site, &request.url, named, &mut walk.queries).map(drop),
                None => scope.allows_key(&named),
            },
            _ => scope.allows(&request.url, &named),
        };
        match allowed {
            Ok(()) => NextStep::Follow(target),
            Err(refusal) => NextStep::Refuse(target, refusal),
        }
    }

    pub(super) fn follow(
        &mut self,
        phase: Phase,
        request: Request,
        target: PageUrl,
        visit: NewVisit,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let status = visit.status;
        let (outcome, redirect_to) = (VisitOutcome::Redirected, Some(target.to_string()));
        let visit = NewVisit { outcome, redirect_to, ..visit };
        // A server that adds a session to the same URL is asked for it: the page is stored without.
        let named = cx.tools.scope.strip(&target).fingerprint();
        if self.fetched.contains(&named) || self.not_modified.contains(&named) {
            let request = request.redirected(target, status);
            let row = Some((request.asked.clone(), request.moved()));
            out.push(Command::Write(Write::Visit(visit, row)));
            if matches!(phase, Phase::Training(_)) && !cx.is_stopping {
                return self.read_stored(phase, request, out);
            }
            return self.no_page(phase, fetched_already(), cx, out);
        }
        out.push(Command::Write(Write::Visit(visit, None)));
        let request = request.redirected(target, status);
        let is_page = matches!(request.kind, RequestKind::Page { .. });
        match (self.recalled(&request.url), phase) {
            (_, phase) if cx.is_stopping => self.no_page(phase, stopped(), cx, out),
            (Some(past), phase) => self.replay(phase, request, past, cx, out),
            (None, phase @ Phase::KeyPage(_)) => self.follow_key_page(phase, request, out),
            // A page that is known where it is now is requested with what is known of it.
            (None, Phase::Walking(walk)) if is_page && walk.keeps_template() => {
                self.phase = Phase::Walking(walk);
                out.push(Command::Ask(Query::KnownUrl(self.id, cx.tools.scope.strip(&request.url))));
                self.replayed = Some(request);
            }
            (None, phase) => self.send_again(phase, request, QueueEnd::Front, cx, out),
        }
    }

    pub(super) fn send_again(
        &mut self,
        phase: Phase,
        request: Request,
        end: QueueEnd,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        if cx.is_stopping {
            return self.no_page(phase, stopped(), cx, out);
        }
        self.phase = phase;
        out.push(Command::Fetch(request, end));
    }

    fn on_response(
        &mut self,
        phase: Phase,
        request: Request,
        response: Response,
        visit: NewVisit,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        out.push(Command::Count(Count::Page));
        let response = Response { url: cx.tools.scope.strip(&response.url), ..response };
        let fetched_at = visit.sent_at.unwrap_or(cx.now);
        if response.is_list {
            return self.on_list(phase, request, response, visit, out);
        }
        let mut visit = Some(visit);
        match request.kind {
            RequestKind::Page { .. } => {
                self.spent.failures = 0;
                self.fetched.insert(response.url.fingerprint());
            }
            _ => out.extend(visit.take().map(|visit| Command::Write(Write::Visit(visit, None)))),
        }
        let rendering = self.may_render(&phase, &request, cx);
        let page = FetchedPage { request, response, fetched_at, visit, noindex: false, nofollow: false, rendering };
        self.on_page(phase, page, cx, out);
    }

    /// A page looks like none. It is not stored: the page has failed, and its last version stays.
    pub(super) fn on_withheld(
        &mut self,
        from: PageWaiter,
        withheld: Withheld,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let Withheld { asked, visit, reason } = withheld;
        let (outcome, of_url) = if reason.code == ReasonCode::RightsDenied {
            out.push(Command::Count(Count::Disallowed));
            (VisitOutcome::Forbidden, UrlOutcome::Blocked)
        } else {
            self.spent.failures += 1;
            out.push(Command::Count(Count::Error));
            out.push(Command::Count(Count::Withheld(reason.code)));
            (VisitOutcome::Failed, UrlOutcome::Failed)
        };
        if let Some(visit) = visit {
            let visit = NewVisit { outcome, reason: Some(reason.text.clone()), ..visit };
            out.push(Command::Write(Write::Visit(visit, Some((asked, of_url)))));
        }
        let phase = self.phase_of(from);
        self.no_page(phase, reason, cx, out);
    }

    /// The phase in which a page was waited for.
    pub(super) fn phase_of(&mut self, waiter: PageWaiter) -> Phase {
        match waiter {
            PageWaiter::Key { template, taught, seeds } => {
                (self.memory, self.taught, self.seeds) = (0, taught, seeds.into());
                Phase::KeyPage(template)
            }
            PageWaiter::Training(learner) => Phase::Training(learner),
            PageWaiter::Walk(walk) => {
                self.memory = 0;
                Phase::Walking(walk)
            }
        }
    }

    pub(super) fn on_disallowed(
        &mut self,
        phase: Phase,
        request: Request,
        reason: Reason,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        out.push(Command::Count(Count::Disallowed));
        let visit = unsent_visit(&request, VisitOutcome::Forbidden, Some(reason.text.clone()));
        out.push(Command::Write(Write::Visit(visit, row_of(&request, UrlOutcome::Blocked))));
        self.no_page(phase, reason, cx, out);
    }

    /// A URL that the settings forbid.
    pub(super) fn on_refused(
        &mut self,
        phase: Phase,
        request: Request,
        refusal: Refusal,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let text = self.refuse(request, refusal, out);
        self.no_page(phase, Reason::new(ReasonCode::Refused, text), cx, out);
    }

    /// Notes that a URL is not requested. Returns why.
    pub(super) fn refuse(&self, request: Request, refusal: Refusal, out: &mut Vec<Command>) -> String {
        count_refused(vec![refusal], out);
        let text = format!("the settings forbid it ({})", refusal.name());
        let visit = unsent_visit(&request, VisitOutcome::Refused, Some(text.clone()));
        out.push(Command::Write(Write::Visit(visit, row_of(&request, UrlOutcome::Failed))));
        text
    }

    /// A request that is not sent, for a reason that concerns its whole origin. Its URL goes on waiting for another
    /// night, and so does the rest of its site. Where the site is elsewhere, only that URL is out of reach.
    pub(super) fn on_unavailable(
        &mut self,
        phase: Phase,
        request: Request,
        reason: Reason,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let origin = request.url.origin();
        let is_elsewhere = self.site.as_ref().is_some_and(|site| site.key().origin() != origin);
        let row = if is_elsewhere { row_of(&request, UrlOutcome::Failed) } else { None };
        let visit = unsent_visit(&request, VisitOutcome::FetchError, Some(reason.text.clone()));
        out.push(Command::Write(Write::Visit(visit, row)));
        match phase {
            // Its page is there; what follows will not be had either.
            Phase::Walking(walk) if matches!(request.kind, RequestKind::Probe { .. }) => self.walk(walk, cx, out),
            Phase::Walking(mut walk) if !is_elsewhere && !cx.is_stopping => {
                let outcome = match std::mem::replace(&mut walk.outcome, SiteOutcome::Interrupted) {
                    SiteOutcome::NotDue => SiteOutcome::Failed(reason),
                    outcome => outcome,
                };
                self.end_walk(walk, outcome, cx, out);
            }
            Phase::KeyPage(template) if !is_elsewhere && !cx.is_stopping => match self.with_http() {
                Some(url) => {
                    let request = Request::seed(url, self.id);
                    self.request_page(Phase::KeyPage(template), request, cx, out);
                }
                // Further seeds of the host are as far out of reach.
                None if origin == self.seed.origin() => self.end(SiteOutcome::Failed(reason), cx, out),
                None => self.no_key_page(template, reason, cx, out),
            },
            phase => self.no_page(phase, reason, cx, out),
        }
    }
}

/// A URL leads to a page that this run has fetched.
/// Names of pages to log in at, as segments of a path.
#[rustfmt::skip]
const LOG_IN_PATHS: [&str; 18] = [
    "login", "log-in", "log_in", "signin", "sign-in", "sign_in", "logon", "wp-login", "sso", "anmelden", "anmeldung",
    "connexion", "se-connecter", "iniciar-sesion", "accedi", "inloggen", "zaloguj", "logga-in",
];

/// Whether a page redirects for now to one to log in at. That page stands for many others, and is none of them.
fn leads_to_log_in(response: &Response, request: &Request, target: &PageUrl) -> bool {
    let names_it = |url: &PageUrl| {
        url.path().to_lowercase().split('/').any(|segment| {
            let stem = segment.split_once('.').map_or(segment, |(stem, _)| stem);
            LOG_IN_PATHS.contains(&stem)
        })
    };
    matches!(response.status, 302 | 303 | 307) && names_it(target) && !names_it(&request.url)
}

pub(super) fn fetched_already() -> Reason {
    Reason::new(ReasonCode::Other, "leads to a page that this run has fetched")
}

/// The crawl stops.
pub(super) fn stopped() -> Reason {
    Reason::new(ReasonCode::Other, "the crawl was stopped")
}

/// The row of the frontier that an outcome concerns. Sitemaps have none.
fn row_of(request: &Request, outcome: UrlOutcome) -> Option<(PageUrl, UrlOutcome)> {
    matches!(request.kind, RequestKind::Page { .. }).then(|| (request.asked.clone(), outcome))
}
