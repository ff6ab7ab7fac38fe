//! Pages that are rendered in a browser (`fetch.render`), and what their scripts ask for.
//!
//! The browser sends nothing itself. What a script asks for becomes a request of the crawl: by its robots.txt, in the
//! queue of its politeness key, within the caps, by the fetcher, into the archive. Each is sent once in a run; the
//! answers are kept for the pages that follow.

mod answers;
#[cfg(feature = "render")]
mod browser;

use std::sync::Arc;

use dehusk_html::{PageUrl, SameSite, Site};
use dehusk_settings::{Render, Settings};
use dehusk_store::reason::Reason;
use dehusk_store::{SiteId, VisitOutcome, Write, WriterError};

pub(super) use answers::{Answers, ScriptAnswer};
#[cfg(feature = "render")]
pub(super) use browser::Renderer;

use super::request::{QueueEnd, Request, RequestKind, Subresource};
use super::scheduler::Scheduler;
use super::visit::{unsent_visit, visit_of};
use crate::fetch::{Fetched, Response};
use answers::{Known, Reply};

/// What came of rendering a page.
pub(crate) struct Rendered {
    /// The tree that its scripts have built, as HTML.
    pub(crate) html: String,
    /// Whether it has any text.
    pub(crate) has_text: bool,
    /// Whether hosts outside of its site were needed.
    pub(crate) asked_foreign: bool,
    /// Where its scripts wanted to lead it to.
    pub(crate) leads_to: Option<PageUrl>,
}

/// Something that the scripts of a page ask for.
pub(crate) struct Wanted {
    pub(crate) site: SiteId,
    pub(crate) subresource: Subresource,
    /// Whether its host is outside of the registrable domain of the page.
    pub(crate) is_foreign: bool,
    pub(crate) reply: Reply,
}

/// Whether this program can render pages.
pub(crate) const IS_POSSIBLE: bool = cfg!(feature = "render");

/// Whether a URL is outside of the registrable domain of a page.
#[cfg_attr(not(feature = "render"), expect(dead_code, reason = "only the browser asks"))]
fn is_foreign(page: &PageUrl, url: &PageUrl) -> bool {
    Site::new(page, SameSite::Registrable).claim(url.clone()).is_none()
}

impl Scheduler<'_> {
    /// The script of a page asks for something.
    pub(super) async fn on_wanted(&mut self, wanted: Wanted) -> Result<(), WriterError> {
        let Wanted { site, subresource, is_foreign, reply } = wanted;
        if self.is_stopping || self.refuses(site, &subresource.url, is_foreign) {
            let _ = reply.send(None);
            return Ok(());
        }
        match self.answers.wait_for(&subresource, reply) {
            Known::Answered | Known::Awaited => Ok(()),
            Known::No => {
                let url = subresource.url.clone();
                let kind = RequestKind::Subresource { site, wanted: subresource };
                Box::pin(self.push(Request::new(url, kind), QueueEnd::Back)).await
            }
        }
    }

    /// Whether the settings forbid what a script asks for. Other sites must not learn what is for one host only:
    /// cookies and headers of its own.
    fn refuses(&self, site: SiteId, url: &PageUrl, is_foreign: bool) -> bool {
        let Some(active) = self.sites.get(site) else { return true };
        let is_spent = self.in_context(&active.tools, |cx| active.site.exhausted(cx).is_some());
        let is_excluded = self.tools_by_host.of(url.host()).scope.allows_subresource(url).is_err();
        is_spent || is_excluded || (is_foreign && self.jobs.is_known_to(url))
    }

    /// What a script has asked for was answered.
    pub(super) async fn on_subresource(
        &mut self,
        request: Request,
        wanted: &Subresource,
        fetched: Fetched,
    ) -> Result<(), WriterError> {
        self.writer.write(Write::Visit(visit_of(&request, &fetched, self.clock), None)).await?;
        let may_retry = request.attempts < self.tools_by_host.of(request.url.host()).settings.fetch.retries;
        let is_passing = match &fetched.outcome {
            Ok(response) => response.status == 429 || response.status >= 500,
            Err(error) => error.is_transient(),
        };
        if is_passing && may_retry && !self.is_stopping {
            return Box::pin(self.push(request.retry(), QueueEnd::Back)).await;
        }
        self.answers.answer(wanted, fetched.outcome.ok().map(answer_of));
        Ok(())
    }

    /// What a script has asked for is not requested.
    pub(super) async fn refuse_subresource(
        &mut self,
        request: &Request,
        wanted: &Subresource,
        outcome: VisitOutcome,
        reason: Reason,
    ) -> Result<(), WriterError> {
        self.writer.write(Write::Visit(unsent_visit(request, outcome, Some(reason.text)), None)).await?;
        self.answers.answer(wanted, None);
        Ok(())
    }
}

/// An answer for a browser. The bodies of errors and redirects are not read.
fn answer_of(response: Response) -> Arc<ScriptAnswer> {
    Arc::new(ScriptAnswer { status: response.status, headers: response.lines, body: response.body.into() })
}

/// Which pages of a host are rendered with these settings.
pub(super) fn when(settings: &Settings) -> Render {
    if IS_POSSIBLE { settings.fetch.render } else { Render::Never }
}
