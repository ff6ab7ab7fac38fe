//! A seed that is a list itself: a sitemap, a feed or OPML. Its URLs become seeds.
//!
//! The key page of a site that begins with a list is the first page of the list on that site. Only a list that the user
//! has named may name other sites.

use rustc_hash::FxHashSet;

use super::{Command, Context, Phase, SiteCrawl, Walk, WalkTemplate};
use crate::fetch::Response;
use crate::request::Request;
use crate::workers::{FetchedPage, Listed, Rendering, TrainingMemory, Work};
use dehusk_html::PageUrl;
use dehusk_store::revisit::UrlOutcome;
use dehusk_store::seed::{Seed, SeedKind};
use dehusk_store::{NewVisit, SiteOutcome, Write};

/// Lists of one site that are read in a run.
const MOST_LISTS: usize = 100;

/// Pages of a list that may be key pages and training pages.
const MOST_CANDIDATES: usize = 100;

impl SiteCrawl {
    /// A list was fetched.
    pub(super) fn on_list(
        &mut self,
        phase: Phase,
        request: Request,
        response: Response,
        visit: NewVisit,
        out: &mut Vec<Command>,
    ) {
        let fetched_at = visit.sent_at.unwrap_or_default();
        out.push(Command::Write(Write::Visit(visit, Some((request.asked.clone(), UrlOutcome::MovedForNow)))));
        self.n_lists += 1;
        self.begins_with_list |= matches!(phase, Phase::KeyPage(_));
        self.held = Some(phase);
        let (noindex, nofollow, rendering) = (false, false, Rendering::Off);
        let page = FetchedPage { request, response, fetched_at, visit: None, noindex, nofollow, rendering };
        self.compute(Work::List(Box::new(page)), out);
    }

    /// The URLs of a list are known.
    pub(super) fn on_listed(&mut self, listed: Listed, cx: &Context<'_>, out: &mut Vec<Command>) {
        let Some(phase) = self.held.take() else { return self.lose(&Phase::Computing, cx, out) };
        let site = cx.tools.scope.site(&self.seed);
        let is_own = |url: &PageUrl| site.claim(url.clone()).is_some();
        // The list that the seed itself names. Lists that it names in turn are a stranger's.
        let may_leave = self.begins_with_list && self.n_lists == 1 && self.seed_kind != SeedKind::Listed;
        let Listed { mut pages, mut lists } = listed;
        pages.retain(|url| may_leave || is_own(url));
        lists.retain(|url| self.n_lists < MOST_LISTS && (may_leave || is_own(url)));
        // Of an index, the first list has the key page.
        self.seeds.extend(pages.iter().chain(&lists).filter(|url| is_own(url)).take(MOST_CANDIDATES).cloned());
        let mut known = FxHashSet::from_iter([self.seed.fingerprint()]);
        let urls = pages.into_iter().chain(lists).filter(|url| known.insert(url.fingerprint()));
        let urls: Vec<PageUrl> = urls.collect();
        if !urls.is_empty() {
            out.push(Command::Seeds(urls.into_iter().map(|url| Seed { url, kind: SeedKind::Listed }).collect()));
        }
        if cx.is_stopping {
            return self.end(SiteOutcome::Interrupted, cx, out);
        }
        match phase {
            Phase::KeyPage(Some(template)) => {
                let key = PageUrl::parse(&template.key_url).unwrap_or_else(|_| self.seed.clone());
                self.request_page(Phase::KeyPage(Some(template)), Request::page(key, self.id), cx, out);
            }
            Phase::KeyPage(None) => match self.seeds.pop_front() {
                Some(url) => self.request_page(Phase::KeyPage(None), Request::seed(url, self.id), cx, out),
                None => {
                    self.site = Some(site);
                    self.walk(Box::new(Walk::new(SiteOutcome::Walked, WalkTemplate::None)), cx, out);
                }
            },
            Phase::Training(learner) => self.compute(Work::Learn(learner, None, TrainingMemory::default()), out),
            Phase::Walking(walk) => self.walk(walk, cx, out),
            phase => self.lose(&phase, cx, out),
        }
    }
}
