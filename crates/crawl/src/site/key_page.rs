//! Which page is the key page: the first seed of a site, or where it leads, or the first of the further seeds that can
//! be had.
//!
//! A host without a scheme is asked for https first, then for http. A seed that leads to the host of another seed names
//! no key page there: that seed does.

use std::sync::Arc;

use dehusk_html::PageUrl;
use dehusk_template::template::Template;

use super::{Command, Context, Phase, SiteCrawl, Walk, WalkTemplate};
use crate::request::{QueueEnd, Request};
use crate::visit::unsent_visit;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{NewVisit, Query, SiteId, SiteOutcome, VisitOutcome, Write};

/// Further seeds that are tried as key pages. The rest are walked through without a template.
const MOST_KEY_PAGES: usize = 5;

impl SiteCrawl {
    /// The key page could not be had. Another seed takes its place; pages that are known from other nights are visited
    /// where they are due, unless the host does not answer at all.
    pub(super) fn no_key_page(
        &mut self,
        template: Option<Arc<Template>>,
        reason: Reason,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let is_unanswered = matches!(reason.code, ReasonCode::Connection | ReasonCode::Timeout);
        if is_unanswered && let Some(url) = self.with_http() {
            let request = Request::seed(url, self.id);
            return self.request_page(Phase::KeyPage(template), request, cx, out);
        }
        self.n_key_failures += 1;
        let is_spent = self.exhausted(cx).is_some();
        let is_out_of_reach = is_unanswered || matches!(reason.code, ReasonCode::Dns | ReasonCode::HostDeferred);
        let is_known = (template.is_some() || self.walks_without) && !is_out_of_reach;
        if is_spent || (self.seeds.is_empty() && !is_known) {
            self.spent.limit = self.exhausted(cx);
            return self.end(SiteOutcome::Failed(reason), cx, out);
        }
        if template.is_none()
            && self.n_key_failures <= MOST_KEY_PAGES
            && let Some(next) = self.seeds.pop_front()
        {
            let request = Request::seed(next, self.id);
            return self.request_page(Phase::KeyPage(None), request, cx, out);
        }
        let key = template.as_ref().and_then(|template| PageUrl::parse(&template.key_url).ok());
        self.site = Some(cx.tools.scope.site(key.as_ref().unwrap_or(&self.seed)));
        let template = template.map_or(WalkTemplate::None, WalkTemplate::Stored);
        self.walk(Box::new(Walk::new(SiteOutcome::Failed(reason), template)), cx, out);
    }

    /// The seed with http, once, where it names a host without a scheme.
    pub(super) fn with_http(&mut self) -> Option<PageUrl> {
        let may_be_http = std::mem::take(&mut self.may_be_http) && self.seed.url().scheme() == "https";
        let rest = self.seed.as_str().strip_prefix("https").filter(|_| may_be_http)?;
        PageUrl::parse(&format!("http{rest}")).ok()
    }

    /// Sends the request for a key page that a redirect has led to. Where it leaves the host, the store is asked first
    /// whether that host has a seed of its own; and where it leaves it for good, the site is learned anew, as the site
    /// of its new host.
    pub(super) fn follow_key_page(&mut self, phase: Phase, request: Request, out: &mut Vec<Command>) {
        let bare = |url: &PageUrl| {
            let host = url.authority();
            host.strip_prefix("www.").map_or(host.clone(), str::to_owned)
        };
        self.phase = phase;
        if bare(&request.url) == bare(&self.seed) {
            return out.push(Command::Fetch(request, QueueEnd::Front));
        }
        if !request.is_for_now {
            self.phase = Phase::KeyPage(None);
        }
        out.push(Command::Ask(Query::SeededSite(request.url.authority())));
        self.replayed = Some(request);
    }

    /// The store says whether the host that a key page leads to has a seed of its own.
    pub(super) fn on_seeded_site(
        &mut self,
        phase: Phase,
        other: Option<SiteId>,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let Some(request) = self.replayed.take() else { return self.lose(&phase, cx, out) };
        if cx.is_stopping {
            return self.end(SiteOutcome::Interrupted, cx, out);
        }
        let Some(to) = other.filter(|other| *other != self.id) else {
            self.phase = phase;
            return out.push(Command::Fetch(request, QueueEnd::Front));
        };
        let text = format!("leads to {}, whose host has a seed of its own", request.url);
        let asked = Request::new(request.asked.clone(), request.kind.clone());
        let visit = unsent_visit(&asked, VisitOutcome::Failed, Some(text.clone()));
        let visit = NewVisit { redirect_to: Some(request.url.to_string()), ..visit };
        out.push(Command::Write(Write::Visit(visit, Some((request.asked.clone(), request.moved())))));
        if !self.seeds.is_empty() {
            let reason = Reason::new(ReasonCode::OtherSite, text);
            return self.no_page(phase, reason, cx, out);
        }
        out.push(Command::Write(Write::SiteMoved { site: self.id, to, key_url: request.url.to_string(), at: cx.now }));
        self.end(SiteOutcome::Moved, cx, out);
    }
}
