//! The walk through a site after its template is settled: pages that are due, sitemaps, pages that wait.

use super::event::{Event, Kind, Request};
use super::scheduler::{End, Scheduler};
use super::site::{Phase, Walk};
use crate::store::{Job, KnownUrl, NextUrlsQuery, SiteId, SiteOutcome, WriterError};
use dehusk_core::internals::page_url::PageUrl;

/// URLs of one site in memory.
const WINDOW: usize = 32;

impl Scheduler<'_> {
    /// The next thing of a walk, or its end.
    pub(super) async fn walk(&mut self, site: SiteId, mut walk: Box<Walk>) -> Result<(), WriterError> {
        if self.stopping {
            // What the walk has learned ends with it in the store.
            self.put_back(site, walk);
            return self.end_site(site, SiteOutcome::Interrupted).await;
        }
        if let Some(url) = walk.announced.pop_front() {
            self.put_back(site, walk);
            self.push(Request::new(url, Kind::Announced { site }), End::Back);
            return Ok(());
        }
        while let Some(known) = walk.window.pop_front() {
            let Ok(url) = PageUrl::parse(&known.url) else {
                // Only a hand in the database can have written that; it is not to be given again.
                let end = SiteOutcome::Failed(format!("{}: no URL", known.url));
                self.put_back(site, walk);
                return self.end_site(site, end).await;
            };
            if known.snapshot_at.is_none() && !self.has_room(site) {
                continue;
            }
            let known = self.with_archive(known);
            self.put_back(site, walk);
            // An unchanged page is answered with its stored form; a new template wants the page itself.
            let request = match self.keeps_template(site) {
                true => Request::of_known(url, Kind::Page { site }, &known),
                false => Request { depth: known.depth, ..Request::new(url, Kind::Page { site }) },
            };
            // A page that a restart remembers leads back here.
            return Box::pin(self.request_page(site, request)).await;
        }
        let crawl = &self.tools.settings.crawl;
        let wish = NextUrlsQuery {
            run: self.writer.run().id,
            now: self.clock.unix_ms(),
            all: self.tools.settings.revisit.all,
            waiting: self.has_room(site),
            depth: if crawl.depth == 0 { u32::MAX } else { crawl.depth },
            n: WINDOW,
        };
        self.put_back(site, walk);
        self.ask(|reply| Job::NextUrls(site, wish, reply), move |urls| Event::Urls { site, urls }).await
    }

    pub(super) fn put_back(&mut self, site: SiteId, walk: Box<Walk>) {
        if let Some(state) = self.sites.get_mut(&site) {
            state.phase = Phase::Walking(walk);
        }
    }

    /// May this site have another page that was never seen?
    fn has_room(&self, site: SiteId) -> bool {
        let most = self.tools.settings.crawl.pages_per_site;
        self.sites.get(&site).is_some_and(|state| state.fetched.len() + state.n_unchanged < most)
    }

    fn keeps_template(&self, site: SiteId) -> bool {
        match self.sites.get(&site).map(|state| &state.phase) {
            Some(Phase::Walking(walk)) => !matches!(walk.end, SiteOutcome::Learned),
            _ => false,
        }
    }

    /// The frontier on disk has answered.
    pub(super) async fn urls_came(&mut self, site: SiteId, urls: Vec<KnownUrl>) -> Result<(), WriterError> {
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        let mut walk = match state.take_phase() {
            Phase::Walking(walk) => walk,
            other => {
                state.phase = other;
                return Ok(());
            }
        };
        if urls.is_empty() {
            let end = match std::mem::replace(&mut walk.end, SiteOutcome::Interrupted) {
                // Its pages were due, its key page was not.
                SiteOutcome::NotDue if state.n_requests > 0 => SiteOutcome::Kept,
                end => end,
            };
            self.put_back(site, walk);
            return self.end_site(site, end).await;
        }
        walk.window = urls.into();
        self.walk(site, walk).await
    }

    /// A page is as it was.
    pub(super) async fn unchanged(&mut self, request: Request) -> Result<(), WriterError> {
        let Some(site) = request.kind.site() else { return Ok(()) };
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        state.n_unchanged += 1;
        match state.take_phase() {
            Phase::Walking(walk) => self.walk(site, walk).await,
            Phase::Key(Some(template)) => {
                state.site = Some(self.tools.scope.site(&state.seed));
                let origins = state.origins.clone();
                self.writer.send(Job::Kept(site)).await?;
                let mut walk = self.keep(site, &template);
                self.add_sitemaps(&mut walk, &origins);
                self.walk(site, walk).await
            }
            // Asked without a condition: a server that answers so all the same has no page.
            _ => self.end_site(site, SiteOutcome::Failed(format!("{}: answers 304", request.url))).await,
        }
    }
}
