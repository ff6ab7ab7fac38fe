//! The walk through a site after its template is settled.

use std::collections::VecDeque;
use std::sync::Arc;

use dehusk_core::clean::TemplateMatcher;
use dehusk_html::PageUrl;
use dehusk_template::template::Template;
use rustc_hash::{FxHashMap, FxHashSet};

use super::begin::with_archive;
use super::{Command, Comparisons, Context, Phase, Probe, SiteCrawl, count_refused};
use crate::request::{QueueEnd, Request, RequestKind};
use crate::scope::{Queries, Refusal};
use crate::workers::{FeedTexts, Work};
use dehusk_settings::Mode;
use dehusk_store::reason::Reason;
use dehusk_store::{KnownUrl, NextUrlsQuery, Query, SiteOutcome};

/// URLs of one site in memory.
const WINDOW: usize = 32;

/// Pages of `crawl.pages_per_site` that are never taken by pages of other nights: one in so many.
const SHARE_OF_NEW: usize = 4;

/// The walk through a site after its template is settled: pages that are due, sitemaps, pages that wait.
pub(crate) struct Walk {
    /// How the site ends when the walk does.
    pub(crate) outcome: SiteOutcome,
    pub(crate) template: WalkTemplate,
    /// Whether a page of the walk became a training page.
    pub(crate) is_updated: bool,
    /// The pages that this run has learned from or added to the model: their numbers in the model, and the fingerprints
    /// of their URLs in the store.
    pub(crate) training_pages: FxHashMap<u64, u64>,
    pub(crate) queries: Queries,
    /// Hashes of links that were judged already: most links of a page are on every page.
    pub(crate) judged: FxHashSet<u64>,
    /// The next URLs. The frontier in the store has the rest.
    pub(crate) window: VecDeque<KnownUrl>,
    /// Sitemaps and feeds that were not read yet.
    pub(crate) announced: VecDeque<PageUrl>,
    /// Fingerprints of the sitemaps and feeds that were announced.
    pub(crate) seen: FxHashSet<u64>,
    /// Entries of the feeds that were read.
    pub(crate) entries: FeedTexts,
    /// What the versions of its pages have said that were compared.
    pub(crate) comparisons: Comparisons,
    pub(crate) probe: Probe,
}

/// The template of a walk.
pub(crate) enum WalkTemplate {
    /// The site has none.
    None,
    /// As stored. A CPU thread prepares it when a page comes.
    Stored(Arc<Template>),
    /// Ready to label pages.
    Ready(Box<TemplateMatcher>),
}

impl Walk {
    pub(crate) fn new(outcome: SiteOutcome, template: WalkTemplate) -> Walk {
        Walk {
            outcome,
            template,
            is_updated: false,
            training_pages: FxHashMap::default(),
            queries: Queries::default(),
            judged: FxHashSet::default(),
            window: VecDeque::new(),
            announced: VecDeque::new(),
            seen: FxHashSet::default(),
            entries: FeedTexts::default(),
            comparisons: Comparisons::default(),
            probe: Probe::Unasked,
        }
    }

    /// Adds sitemaps and feeds, each once.
    pub(crate) fn announce(&mut self, urls: impl IntoIterator<Item = PageUrl>) {
        let seen = &mut self.seen;
        self.announced.extend(urls.into_iter().filter(|url| seen.insert(url.fingerprint())));
    }

    /// Whether pages are requested conditionally: an unchanged page keeps its stored form, but a new template wants the
    /// page itself.
    pub(super) fn keeps_template(&self) -> bool {
        self.outcome != SiteOutcome::Learned
    }
}

impl WalkTemplate {
    /// The template, ready to label pages.
    pub(crate) fn prepare(&mut self) -> Option<&mut TemplateMatcher> {
        if let WalkTemplate::Stored(template) = self {
            *self = WalkTemplate::Ready(Box::new(TemplateMatcher::from_template(template)));
        }
        match self {
            WalkTemplate::Ready(matcher) => Some(matcher),
            _ => None,
        }
    }
}

impl SiteCrawl {
    /// The next thing of a walk, or its end.
    pub(super) fn walk(&mut self, mut walk: Box<Walk>, cx: &Context<'_>, out: &mut Vec<Command>) {
        if cx.is_stopping {
            return self.end_walk(walk, SiteOutcome::Interrupted, cx, out);
        }
        if let Some(page) = walk.probe.held_page() {
            return self.on_page(Phase::Walking(walk), page, cx, out);
        }
        let limit = self.exhausted(cx);
        if let Some(url) = walk.announced.pop_front() {
            if let Some(limit) = limit {
                return self.end_exhausted(walk, limit, cx, out);
            }
            let request = Request::new(url, RequestKind::Sitemap { site: self.id });
            out.push(Command::Fetch(request, QueueEnd::Back));
            self.phase = Phase::Walking(walk);
            return;
        }
        walk.entries = FeedTexts::default();
        while let Some(known) = walk.window.pop_front() {
            // A redirect has led to it while it was in the window.
            if self.not_modified.contains(&known.url.fingerprint()) {
                continue;
            }
            if known.snapshot_at.is_none() && !known.is_seed && !self.has_room(cx) {
                continue;
            }
            if let Err(refusal) = self.may_request(&known.url, cx) {
                self.refuse(Request::new(known.url, RequestKind::Page { site: self.id }), refusal, out);
                continue;
            }
            if let Some(limit) = limit {
                return self.end_exhausted(walk, limit, cx, out);
            }
            self.n_revisited += usize::from(known.snapshot_at.is_some());
            let kind = RequestKind::Page { site: self.id };
            let request = if walk.keeps_template() {
                Request::conditional(kind, with_archive(known, cx))
            } else {
                Request { depth: known.depth, may_be_list: known.is_seed, ..Request::new(known.url, kind) }
            };
            return self.request_page(Phase::Walking(walk), request, cx, out);
        }
        let crawl = &cx.tools.settings.crawl;
        let wanted = NextUrlsQuery {
            now: cx.now,
            all: cx.tools.settings.revisit.all,
            waiting: self.has_room(cx),
            depth: crawl.max_depth(),
            max_known: crawl.site_max_pages,
            n: WINDOW,
        };
        out.push(Command::Ask(Query::NextUrls(self.id, wanted)));
        self.phase = Phase::Walking(walk);
    }

    pub(super) fn on_urls(&mut self, phase: Phase, urls: Vec<KnownUrl>, cx: &Context<'_>, out: &mut Vec<Command>) {
        if let Some(request) = self.replayed.take() {
            let request = match urls.into_iter().next() {
                Some(known) => request.knowing(with_archive(known, cx)),
                None => request,
            };
            return self.send_again(phase, request, QueueEnd::Front, cx, out);
        }
        let mut walk = match phase {
            Phase::Walking(walk) => walk,
            phase => return self.lose(&phase, cx, out),
        };
        if urls.is_empty() {
            // Where the key page was not due, the rules that name the sitemaps came with a page of the walk.
            walk.announce(self.sitemaps(cx));
            if !walk.announced.is_empty() {
                return self.walk(walk, cx, out);
            }
            let outcome = std::mem::replace(&mut walk.outcome, SiteOutcome::Interrupted);
            return self.end_walk(walk, self.after_walk(outcome), cx, out);
        }
        walk.window = urls.into();
        self.walk(walk, cx, out);
    }

    /// Ends a walk whose budget is used up. What is left waits for the next run.
    fn end_exhausted(&mut self, mut walk: Box<Walk>, limit: Reason, cx: &Context<'_>, out: &mut Vec<Command>) {
        self.spent.limit = Some(limit);
        let outcome = std::mem::replace(&mut walk.outcome, SiteOutcome::Interrupted);
        self.end_walk(walk, self.after_walk(outcome), cx, out);
    }

    /// How a site ends that has walked.
    fn after_walk(&self, outcome: SiteOutcome) -> SiteOutcome {
        match outcome {
            // Its pages were due, its key page was not.
            SiteOutcome::NotDue if self.n_requests > 0 => SiteOutcome::Kept,
            outcome => outcome,
        }
    }

    /// Whether a URL that is known may still be requested. Settings may have changed since, and seeds pass no link.
    pub(super) fn may_request(&self, url: &PageUrl, cx: &Context<'_>) -> Result<(), Refusal> {
        if *url == self.seed { cx.tools.scope.allows_key(url) } else { cx.tools.scope.allows(url, url) }
    }

    /// Whether the site may have another page that was never seen. A share of the pages of a night is kept for these.
    fn has_room(&self, cx: &Context<'_>) -> bool {
        let most = cx.tools.settings.crawl.pages_per_site;
        let n_pages = self.fetched.len() + self.n_unchanged;
        let n_new = n_pages.saturating_sub(self.n_revisited);
        n_pages < most || (self.n_revisited > 0 && n_new < most / SHARE_OF_NEW)
    }

    /// The feeds that the key page named when its template was learned.
    pub(super) fn feeds_of(template: &Template, cx: &Context<'_>) -> Vec<PageUrl> {
        let crawl = &cx.tools.settings.crawl;
        if crawl.pages_per_site > 0 && crawl.feeds {
            template.feeds.iter().filter_map(|feed| PageUrl::parse(feed).ok()).collect()
        } else {
            Vec::new()
        }
    }

    pub(super) fn sitemaps(&self, cx: &Context<'_>) -> Vec<PageUrl> {
        let crawl = &cx.tools.settings.crawl;
        if crawl.pages_per_site > 0 && crawl.sitemaps { (cx.sitemaps)(&self.origins) } else { Vec::new() }
    }

    /// After a page of the walk: its memory is free, and URLs nearer than the window go first, since the order must not
    /// depend on where a run was interrupted.
    pub(super) fn go_on(&mut self, walk: &mut Walk, has_links: bool, refused: Vec<Refusal>, out: &mut Vec<Command>) {
        count_refused(refused, out);
        self.memory = 0;
        if has_links {
            walk.window.clear();
        }
    }

    /// Ends the walk: pages that were visited get the text of the model as it is now (`recleaning.rs`).
    pub(super) fn end_walk(
        &mut self,
        mut walk: Box<Walk>,
        outcome: SiteOutcome,
        cx: &Context<'_>,
        out: &mut Vec<Command>,
    ) {
        walk.outcome = outcome;
        let has_visited = !self.fetched.is_empty() || self.n_unchanged > 0;
        if cx.is_stopping || !has_visited || cx.tools.settings.crawl.mode == Mode::Links {
            return self.leave_walk(walk, cx, out);
        }
        self.compute(Work::NumberModel(walk), out);
    }

    /// Ends the site with its walk. Training pages that the walk has added are written first.
    pub(super) fn leave_walk(&mut self, walk: Box<Walk>, cx: &Context<'_>, out: &mut Vec<Command>) {
        match walk.template {
            WalkTemplate::Ready(matcher) if walk.is_updated => {
                self.compute(Work::StoreModel(matcher, walk.outcome), out);
            }
            _ => self.end(walk.outcome, cx, out),
        }
    }
}
