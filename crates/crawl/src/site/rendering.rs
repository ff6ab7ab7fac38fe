//! Pages that are rendered before they are parsed for good.
//!
//! A site is rendered where its key page or a training page has no text without scripts; the rest of its pages are
//! looked at one by one. Of other sites no page is rendered.

use super::response::NextStep;
use super::{Command, Context, Count, Phase, SiteCrawl, TREE_BYTES};
use crate::rendering::{Rendered, when};
use crate::request::{Request, RequestKind};
use crate::workers::{FetchedPage, PageWaiter, Rendering};
use dehusk_settings::{Mode, Render};

/// The mark of UTF-8, by which the tree is read whatever its server or its `meta` says.
const UTF_8: &str = "\u{feff}";

impl SiteCrawl {
    /// Whether a page that was fetched may be rendered.
    pub(super) fn may_render(&self, phase: &Phase, request: &Request, cx: &Context<'_>) -> Rendering {
        let settings = &cx.tools.settings;
        let is_page = matches!(request.kind, RequestKind::Page { .. }) && settings.crawl.mode == Mode::Full;
        let is_possible = match (when(settings), phase) {
            (Render::Never, _) => false,
            (Render::Needed, Phase::Walking(_)) => self.is_rendered,
            (Render::Needed | Render::Always, _) => true,
        };
        if is_page && is_possible { Rendering::Possible } else { Rendering::Off }
    }

    /// A page is to be rendered.
    pub(super) fn render(
        &mut self,
        waiter: PageWaiter,
        page: Box<FetchedPage>,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        if cx.is_stopping {
            let phase = self.phase_of(waiter);
            return self.interrupt(phase, cx, out);
        }
        // It is counted again when it comes back.
        let bytes = page.response.body.len() * TREE_BYTES;
        self.memory = self.memory.saturating_sub(bytes);
        if !matches!(waiter, PageWaiter::Walk(_)) {
            self.training_bytes = self.training_bytes.saturating_sub(bytes);
        }
        self.phase = Phase::Rendering(waiter);
        out.push(Command::Render(page, self.needs_foreign));
    }

    /// A page was rendered, or could not be.
    pub(super) fn on_rendered(
        &mut self,
        waiter: PageWaiter,
        mut page: FetchedPage,
        rendered: Result<Box<Rendered>, String>,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        let mut phase = self.phase_of(waiter);
        match rendered {
            // The request is made again when the run is taken up.
            Err(_) if cx.is_stopping => return self.interrupt(phase, cx, out),
            Err(reason) => page.rendering = Rendering::Failed(reason),
            Ok(rendered) => {
                self.needs_foreign |= rendered.asked_foreign;
                // A page without text that leads to another one is a redirect.
                if let Some(target) = rendered.leads_to.filter(|_| !rendered.has_text)
                    && let NextStep::Follow(target) = self.redirect(&mut phase, &page.request, target, cx)
                    && let Some(visit) = page.visit.take()
                {
                    self.fetched.remove(&page.response.url.fingerprint());
                    return self.follow(phase, page.request, target, visit, cx, out);
                }
                self.is_rendered |= !matches!(phase, Phase::Walking(_));
                out.push(Command::Count(Count::Rendered));
                let html = format!("{UTF_8}{}", rendered.html).into_bytes();
                page.rendering = Rendering::Done(std::mem::replace(&mut page.response.body, html));
            }
        }
        self.on_page(phase, page, cx, out);
    }
}
