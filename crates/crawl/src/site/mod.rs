//! One site of a crawl, as a pure state machine.
//!
//! Life of a site: robots.txt -> key page -> training pages until the search is done -> template and cleaned pages
//! written -> walk through pages that are due and pages that wait -> end. A site whose stored template still fits goes
//! from the key page to the walk at once.
//!
//! [`SiteCrawl::on`] takes an event and returns commands. It does no I/O, reads no clock and computes nothing that
//! takes time; the scheduler carries the commands out. Invariants, each held by the property test in `tests.rs`:
//!
//! - Exactly one thing is out for a site at any moment: a request, work on a CPU thread, or a question to the store.
//!   Its answer is the next event.
//! - Whatever fails, stops or restarts, the same pages and the same template end up in the store.
//! - Nothing that was stored is fetched again in the same run.
//! - Every site ends exactly once.

mod begin;
mod budget;
mod changing;
mod command;
mod key_page;
mod list;
mod probe;
mod recleaning;
mod rendering;
mod replay;
mod response;
mod training_sitemap;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dehusk_content::TaughtPages;
use dehusk_html::{PageUrl, Site};
use dehusk_template::template::Template;
use rustc_hash::{FxHashMap, FxHashSet};

use super::request::{Request, RequestKind};
use super::stats::SiteSummary;
use super::workers::{
    FetchedPage, KeptTemplate, LearnOutcome, PageWaiter, SiteLearner, TrainingMemory, Work, WorkResult,
};
use crate::scope::Refusal;
use budget::Spent;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::seed::SeedKind;
use dehusk_store::{LearnedWrite, NewUrl, PageWrite, PastVisit, Query, SiteId, SiteOutcome, Write, feeds_source};

pub(super) use changing::Comparisons;
pub(super) use command::{Command, Context, Count, SiteEvent};
pub(crate) use probe::Probe;
pub(super) use walk::{Walk, WalkTemplate};

/// A site that is worked on.
pub(super) struct SiteCrawl {
    id: SiteId,
    seed: PageUrl,
    phase: Phase,
    /// Known with the key page.
    site: Option<Site>,
    /// Further seeds, which may be key pages and training pages.
    seeds: VecDeque<PageUrl>,
    /// Key pages that could not be had.
    n_key_failures: usize,
    /// Whether it is known from other nights, and known to have no template.
    walks_without: bool,
    /// What was taught of it before, for a template that is learned anew.
    taught: TaughtPages,
    /// How the seed came.
    seed_kind: SeedKind,
    /// Sitemaps, feeds and OPML among the seeds that were read.
    n_lists: usize,
    /// Whether the seed is such a list, so that the key page is one of its pages.
    begins_with_list: bool,
    /// What waits while a list is read on a CPU thread.
    held: Option<Phase>,
    /// Whether the seed names a host without a scheme, of which only https was tried.
    may_be_http: bool,
    spent: Spent,
    /// Fingerprints of the pages that this run has fetched.
    fetched: FxHashSet<u64>,
    /// Fingerprints of the pages that the server says are as they were.
    not_modified: FxHashSet<u64>,
    /// Whether pages of it are rendered: its training pages have no text without scripts.
    is_rendered: bool,
    /// Whether its pages need hosts outside of the site.
    needs_foreign: bool,
    /// Pages that were as they had been.
    n_unchanged: usize,
    /// Pages of other nights that were due in the walk.
    n_revisited: usize,
    n_requests: usize,
    /// Origins that were requested.
    origins: Vec<String>,
    /// What this run did for the site before a restart, by URL.
    past: FxHashMap<String, PastVisit>,
    /// The request whose answer is read from the store, or that waits for an answer of the store.
    replayed: Option<Request>,
    /// Bytes of its pages and trees in memory, roughly.
    memory: usize,
    /// Bytes that are free again when the CPU thread gives the site back.
    memory_to_release: usize,
    /// Bytes that the trees of its key page and training pages need together, roughly.
    training_bytes: usize,
    summary: SiteSummary,
}

/// What a site waits for.
enum Phase {
    /// The key page. With the stored template, which may still fit.
    KeyPage(Option<Arc<Template>>),
    /// A training page.
    Training(Box<SiteLearner>),
    /// A browser.
    Rendering(PageWaiter),
    /// A CPU thread.
    Computing,
    /// The write of what was learned.
    Settling(Box<Walk>),
    /// A page or sitemap of the walk, or its next URLs.
    Walking(Box<Walk>),
    /// Pages that are to be cleaned again by the model of this number, after the walk.
    Recleaning(Box<Walk>, u64),
    /// Nothing.
    Ended,
}

impl Phase {
    fn name(&self) -> &'static str {
        match self {
            Phase::KeyPage(_) => "key page",
            Phase::Training(_) => "training",
            Phase::Rendering(_) => "rendering",
            Phase::Computing => "computing",
            Phase::Settling(_) => "settling",
            Phase::Walking(_) => "walking",
            Phase::Recleaning(..) => "recleaning",
            Phase::Ended => "ended",
        }
    }
}

impl SiteCrawl {
    /// Gives the site another number, before [`SiteEvent::Settled`].
    pub(super) fn renumber(&mut self, id: SiteId) {
        self.id = id;
    }

    /// Bytes of its pages and trees in memory, roughly.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Origins whose rules may be dropped with the site.
    pub(super) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Notes that an origin is requested for the site.
    pub(super) fn add_origin(&mut self, origin: String) {
        if !self.origins.contains(&origin) {
            self.origins.push(origin);
        }
    }

    /// Notes that a request was sent, and that it gave a body of so many bytes.
    pub(super) fn count_request(&mut self, n_bytes: usize) {
        self.n_requests += 1;
        self.spent.bytes += n_bytes;
    }

    /// The summary of a site that ended.
    pub(super) fn summary(&self, outcome: &SiteOutcome, took: Duration) -> SiteSummary {
        let mut summary = self.summary.clone();
        summary.end(outcome, took);
        summary.limit = self.spent.limit.as_ref().map(|limit| limit.code);
        (summary.pages, summary.requests) = (self.fetched.len(), self.n_requests);
        summary
    }

    /// Ends the site at once, whatever it waits for.
    pub(super) fn abort(&mut self, cx: &Context<'_>) -> Vec<Command> {
        let mut out = Vec::new();
        self.end(SiteOutcome::Interrupted, cx, &mut out);
        out
    }

    /// Handles an event. Returns what is to be done, in order.
    pub(super) fn on(&mut self, event: SiteEvent, cx: &Context<'_>) -> Vec<Command> {
        let mut commands = Vec::new();
        let out = &mut commands;
        match (std::mem::replace(&mut self.phase, Phase::Computing), event) {
            (Phase::Ended, _) => self.phase = Phase::Ended,
            (phase @ (Phase::KeyPage(_) | Phase::Training(_) | Phase::Walking(_)), event) => match event {
                SiteEvent::Fetched(request, fetched) => self.on_fetched(phase, request, *fetched, cx, out),
                SiteEvent::Snapshot(snapshot) => self.on_snapshot(phase, snapshot, cx, out),
                SiteEvent::Disallowed(request, reason) => self.on_disallowed(phase, request, reason, cx, out),
                SiteEvent::Refused(request, refusal) => self.on_refused(phase, request, refusal, cx, out),
                SiteEvent::SeededSite(other) => self.on_seeded_site(phase, other, cx, out),
                SiteEvent::Unavailable(request, reason) => self.on_unavailable(phase, request, reason, cx, out),
                SiteEvent::Urls(urls) => self.on_urls(phase, urls, cx, out),
                SiteEvent::Abandoned => self.interrupt(phase, cx, out),
                SiteEvent::Computed(_)
                | SiteEvent::Rendered(..)
                | SiteEvent::Settled
                | SiteEvent::Taken
                | SiteEvent::Stale(..) => self.lose(&phase, cx, out),
            },
            (Phase::Rendering(waiter), SiteEvent::Rendered(page, rendered)) => {
                self.on_rendered(waiter, *page, rendered, cx, out);
            }
            (Phase::Computing, SiteEvent::Computed(result)) => self.on_computed(result, cx, out),
            (Phase::Settling(mut walk), SiteEvent::Settled) => {
                walk.announce(self.sitemaps(cx));
                self.walk(walk, cx, out);
            }
            (Phase::Recleaning(walk, model), SiteEvent::Stale(stale)) => {
                self.on_stale(walk, model, stale, cx, out);
            }
            // That site is worked on under its own name; one walk through it is enough.
            (Phase::Settling(_), SiteEvent::Taken) => self.end(SiteOutcome::Moved, cx, out),
            (phase, _) => self.lose(&phase, cx, out),
        }
        commands
    }

    /// The crawl stops: the site goes on in the next part of the run.
    fn interrupt(&mut self, phase: Phase, cx: &Context<'_>, out: &mut Vec<Command>) {
        match phase {
            Phase::Walking(walk) => self.end_walk(walk, SiteOutcome::Interrupted, cx, out),
            _ => self.end(SiteOutcome::Interrupted, cx, out),
        }
    }

    /// An event that no phase waits for: a defect of ours, which must not leave the site waiting for ever.
    fn lose(&mut self, phase: &Phase, cx: &Context<'_>, out: &mut Vec<Command>) {
        let text = format!("internal error, please report it: an unexpected answer in phase {}", phase.name());
        self.end(SiteOutcome::Failed(Reason::new(ReasonCode::Internal, text)), cx, out);
    }

    fn on_computed(&mut self, result: WorkResult, cx: &Context<'_>, out: &mut Vec<Command>) {
        match result {
            WorkResult::NeedPage(learner, url, page) => {
                write_page(page, out);
                if cx.is_stopping {
                    return self.end(SiteOutcome::Interrupted, cx, out);
                }
                self.memory -= std::mem::take(&mut self.memory_to_release).min(self.memory);
                self.site.get_or_insert_with(|| learner.learner.site().clone());
                if let Some(limit) = self.exhausted(cx) {
                    return self.stop_learning(learner, limit, out);
                }
                let request = Request { depth: 1, ..Request::new(url, RequestKind::Page { site: self.id }) };
                self.request_page(Phase::Training(learner), request, cx, out);
            }
            WorkResult::NeedSitemap(learner, page) => {
                write_page(page, out);
                self.request_sitemap(learner, cx, out);
            }
            WorkResult::Learned(learned, page) => {
                write_page(page, out);
                self.on_learned(*learned, cx, out);
            }
            WorkResult::Kept(kept, page) => {
                write_page(page, out);
                self.on_kept(*kept, cx, out);
            }
            WorkResult::Walked { mut walk, page, links, refused } => {
                let has_links = !links.is_empty() || page.as_ref().is_some_and(|page| !page.links.is_empty());
                let cleaned = page.as_ref().and_then(|page| page.cleaned.as_ref());
                self.summary.cleaned += usize::from(cleaned.is_some_and(|cleaned| cleaned.labeled.by_template));
                write_page(page, out);
                self.write_links(links, out);
                self.go_on(&mut walk, has_links, refused, out);
                self.walk(walk, cx, out);
            }
            WorkResult::NeedProbe(walk) => {
                self.memory = 0;
                self.ask_probe(walk, cx, out);
            }
            WorkResult::NeedsRendering(waiter, page) => self.render(waiter, page, cx, out),
            WorkResult::Withheld(from, withheld) => self.on_withheld(from, *withheld, cx, out),
            WorkResult::Announced { mut walk, links, refused, strings, modified, intervals } => {
                if let Some(template) = strings {
                    let source = feeds_source(&self.summary.host);
                    out.push(Command::Write(Write::Strings { source, at: cx.now, template }));
                }
                // One of the future says nothing; one of long ago nothing new.
                let is_recent = |(_, at): &(u64, i64)| (cx.now - RECENT..cx.now + DAY).contains(at);
                let modified: Vec<_> = modified.into_iter().filter(is_recent).collect();
                let has_links = !links.is_empty() || !modified.is_empty();
                if !modified.is_empty() {
                    out.push(Command::Write(Write::Modified { site: self.id, pages: modified, at: cx.now }));
                }
                if !intervals.is_empty() {
                    out.push(Command::Write(Write::Intervals(self.id, intervals)));
                }
                self.write_links(links, out);
                self.go_on(&mut walk, has_links, refused, out);
                self.walk(walk, cx, out);
            }
            WorkResult::Seen { mut walk, seen, refused } => {
                let has_links = !seen.links.is_empty();
                out.push(Command::Write(Write::Seen(seen)));
                self.go_on(&mut walk, has_links, refused, out);
                self.walk(walk, cx, out);
            }
            WorkResult::ModelNumbered { walk, model, confirmed } => self.on_model(walk, model, confirmed, out),
            WorkResult::Recleaned { walk, model, after, pages } => {
                let doubts = pages.iter().filter_map(|page| page.doubt.as_ref());
                out.extend(doubts.map(|doubt| Command::Count(Count::Withheld(doubt.reason.code))));
                out.push(Command::Write(Write::Recleaned(self.id, pages)));
                self.ask_stale(walk, model, after, out);
            }
            WorkResult::ModelStored(set, outcome) => {
                if let Some(set) = set {
                    out.push(Command::Write(Write::ModelUpdated(self.id, set)));
                }
                self.end(outcome, cx, out);
            }
            WorkResult::Listed(listed) => self.on_listed(listed, cx, out),
            WorkResult::Broken(text) => {
                self.end(SiteOutcome::Failed(Reason::new(ReasonCode::Internal, text)), cx, out);
            }
        }
    }

    fn on_learned(&mut self, learned: LearnOutcome, cx: &Context<'_>, out: &mut Vec<Command>) {
        count_refused(learned.refused, out);
        self.memory = 0;
        let outcome = match (&learned.template, &learned.failure) {
            (None, Some(reason)) => SiteOutcome::NoTemplate(reason.clone()),
            _ => SiteOutcome::Learned,
        };
        (self.summary.links, self.summary.loads) = (learned.n_links, learned.loads);
        self.summary.cleaned = learned.cleaned.iter().filter(|page| page.labeled.by_template).count();
        if let Some(template) = &learned.template {
            self.summary.set_template(template);
            self.summary.old_template_coverage = learned.old_template_coverage;
        }
        let is_elsewhere = learned.key_url != self.seed.as_str() && !self.begins_with_list;
        let found = is_elsewhere.then(|| (learned.host.clone(), learned.key_url));
        self.summary.host = learned.host;
        self.site = Some(learned.site);
        let mut walk = Walk::new(outcome, learned.matcher.map_or(WalkTemplate::None, WalkTemplate::Ready));
        walk.training_pages = learned.training_pages;
        if cx.tools.settings.crawl.pages_per_site > 0 {
            walk.announce(learned.feeds);
        }
        let (template, cleaned, links) = (learned.template, learned.cleaned, learned.links);
        let write =
            LearnedWrite { site: self.id, found, template, failure: learned.failure, cleaned, links, at: cx.now };
        out.push(Command::Write(Write::Learned(Box::new(write))));
        out.push(Command::Ask(Query::CurrentSite(self.id)));
        self.phase = Phase::Settling(Box::new(walk));
    }

    fn on_kept(&mut self, kept: KeptTemplate, cx: &Context<'_>, out: &mut Vec<Command>) {
        count_refused(kept.refused, out);
        self.memory = 0;
        self.site = Some(kept.site);
        self.summary.cleaned += 1;
        self.summary.set_template(&kept.template);
        let mut walk = Walk::new(SiteOutcome::Kept, WalkTemplate::Ready(kept.matcher));
        walk.is_updated = kept.is_updated;
        walk.training_pages.extend(kept.training_page);
        if cx.tools.settings.crawl.pages_per_site > 0 {
            walk.announce(kept.feeds);
        }
        walk.announce(self.sitemaps(cx));
        self.walk(Box::new(walk), cx, out);
    }

    /// A page as it came, from the network or from before a restart.
    fn on_page(&mut self, phase: Phase, page: FetchedPage, cx: &Context<'_>, out: &mut Vec<Command>) {
        let bytes = page.response.body.len() * TREE_BYTES;
        self.memory += bytes;
        let page = Box::new(page);
        let work = match (phase, &page.request.kind) {
            (Phase::Training(learner), RequestKind::Sitemap { .. }) => Work::LearnSitemap(learner, page),
            (phase @ (Phase::KeyPage(_) | Phase::Training(_)), _) => {
                self.training_bytes += bytes;
                if cx.memory_is_short {
                    self.memory_to_release = bytes - bytes / TREE_BYTES;
                }
                let is_short = cx.memory_is_short;
                let is_last = self.training_bytes > cx.tools.settings.crawl.memory / SITE_SHARE;
                match phase {
                    Phase::KeyPage(template) => {
                        let (taught, seeds) = (std::mem::take(&mut self.taught), self.seeds.drain(..).collect());
                        Work::Key { page, template, taught, is_packed: is_short, seeds }
                    }
                    Phase::Training(learner) => Work::Learn(learner, Some(page), TrainingMemory { is_short, is_last }),
                    phase => return self.lose(&phase, cx, out),
                }
            }
            (Phase::Walking(walk), kind) => {
                let Some(site) = self.site.clone() else {
                    let reason = Reason::new(ReasonCode::Internal, "internal error, please report it: no key page");
                    return self.end(SiteOutcome::Failed(reason), cx, out);
                };
                match kind {
                    RequestKind::Sitemap { .. } => Work::Sitemap(walk, site, page),
                    _ => Work::Walk(walk, site, page),
                }
            }
            (phase, _) => return self.lose(&phase, cx, out),
        };
        self.compute(work, out);
    }

    /// A request came to nothing.
    fn no_page(&mut self, phase: Phase, reason: Reason, cx: &Context<'_>, out: &mut Vec<Command>) {
        match phase {
            Phase::Walking(walk) => self.walk(walk, cx, out),
            _ if cx.is_stopping => self.end(SiteOutcome::Interrupted, cx, out),
            Phase::Training(learner) => {
                self.compute(Work::Learn(learner, None, TrainingMemory::default()), out);
            }
            Phase::KeyPage(template) => self.no_key_page(template, reason, cx, out),
            _ => self.end(SiteOutcome::Failed(reason), cx, out),
        }
    }

    /// A page is as it was.
    fn unchanged(&mut self, phase: Phase, cx: &Context<'_>, out: &mut Vec<Command>) {
        self.n_unchanged += 1;
        match phase {
            Phase::Walking(walk) => self.walk(walk, cx, out),
            Phase::KeyPage(Some(template)) => {
                self.site = Some(cx.tools.scope.site(&self.seed));
                self.summary.set_template(&template);
                out.push(Command::Write(Write::TemplateKept(self.id)));
                let feeds = SiteCrawl::feeds_of(&template, cx);
                let mut walk = Walk::new(SiteOutcome::Kept, WalkTemplate::Stored(template));
                walk.announce(feeds);
                walk.announce(self.sitemaps(cx));
                self.walk(Box::new(walk), cx, out);
            }
            // Requested without a condition: a server that answers so all the same has no page.
            phase => self.no_page(phase, Reason::new(ReasonCode::HttpStatus, "answers 304"), cx, out),
        }
    }

    fn compute(&mut self, work: Work, out: &mut Vec<Command>) {
        self.phase = Phase::Computing;
        out.push(Command::Compute(work));
    }

    fn write_links(&self, links: Vec<NewUrl>, out: &mut Vec<Command>) {
        if !links.is_empty() {
            out.push(Command::Write(Write::Links(self.id, links)));
        }
    }

    fn end(&mut self, outcome: SiteOutcome, cx: &Context<'_>, out: &mut Vec<Command>) {
        self.phase = Phase::Ended;
        self.memory = 0;
        if outcome != SiteOutcome::Moved {
            let limit = self.spent.limit.clone();
            out.push(Command::Write(Write::SiteEnded { site: self.id, outcome: outcome.clone(), limit, at: cx.now }));
        }
        out.push(Command::End(outcome));
    }
}

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Age of what a sitemap says of a page.
const RECENT: i64 = 60 * DAY;

/// Part of `crawl.memory` that the trees of one site may need: they are all there at once when it is learned.
const SITE_SHARE: usize = 4;

/// Bytes of a page and its tree for one byte of HTML, roughly (measured over the dev sites).
const TREE_BYTES: usize = 5;

fn write_page(page: Option<Box<PageWrite>>, out: &mut Vec<Command>) {
    out.extend(page.map(|page| Command::Write(Write::Page(page))));
}

fn count_refused(refused: Vec<Refusal>, out: &mut Vec<Command>) {
    if !refused.is_empty() {
        out.push(Command::Count(Count::Refused(refused)));
    }
}
