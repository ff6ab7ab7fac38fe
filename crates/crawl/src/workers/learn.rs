//! A site from its key page to its template.

use std::collections::VecDeque;
use std::sync::Arc;

use dehusk_content::TaughtPages;
use dehusk_core::clean::TemplateMatcher;
use dehusk_html::{PageUrl, Site};
use dehusk_html::{ParseOptions, Tree, parse_bytes};
use dehusk_template::learn_options::LabelBy;
use dehusk_template::learner::{FoundPage, Learned, Learner};
use dehusk_template::site_model::Candidate;
use dehusk_template::subdigraph::Step;
use dehusk_template::template::Template;
use rustc_hash::FxHashMap;

use super::clean::{clean, clean_candidate, url_number};
use super::links::{LinkFinder, feeds, training_page_links};
use super::page::{FetchedPage, ParsedPage, page_write};
use super::{PageWaiter, Tools, Withheld, WorkResult};
use crate::scope::Refusal;
use crate::sitemap::parse_announced;
use dehusk_core::suspicion::letters_of;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::{Cleaned, NewUrl, PageWrite, SiteId, unpack};

/// What memory allows when a training page comes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TrainingMemory {
    /// Whether the page is kept packed.
    pub(crate) is_short: bool,
    /// Whether the site is learned from what it has: its pages together need too much.
    pub(crate) is_last: bool,
}

/// A learner, and what is remembered beside it.
pub(crate) struct SiteLearner {
    pub(crate) learner: Learner,
    /// Share of the stored template that the key page shows, where that was too little to keep it.
    pub(super) old_template_coverage: Option<f64>,
    /// What was taught of the site before.
    pub(super) taught: TaughtPages,
    /// Sitemaps that are read where no link gave a page; `None` before that is known.
    pub(crate) sitemaps: Option<VecDeque<PageUrl>>,
    /// Sitemaps that were asked for.
    pub(crate) n_sitemaps: usize,
}

/// What the search for a template gave.
pub(crate) struct LearnOutcome {
    pub(crate) host: String,
    pub(crate) key_url: String,
    pub(crate) site: Site,
    pub(crate) template: Option<Box<Template>>,
    /// The template, ready to label pages.
    pub(crate) matcher: Option<Box<TemplateMatcher>>,
    pub(crate) cleaned: Vec<Cleaned>,
    /// The pages of the search: their numbers in the model, and the fingerprints of their URLs in the store.
    pub(crate) training_pages: FxHashMap<u64, u64>,
    /// Why there is no template.
    pub(crate) failure: Option<Reason>,
    pub(crate) n_links: usize,
    pub(crate) loads: usize,
    pub(crate) links: Vec<NewUrl>,
    pub(crate) feeds: Vec<PageUrl>,
    pub(crate) refused: Vec<Refusal>,
    /// Share of the stored template that the key page shows, where that was too little to keep it.
    pub(crate) old_template_coverage: Option<f64>,
}

/// A key page that still fits its template.
pub(crate) struct KeptTemplate {
    pub(crate) site: Site,
    pub(crate) template: Arc<Template>,
    pub(crate) matcher: Box<TemplateMatcher>,
    /// Whether the key page became a training page.
    pub(crate) is_updated: bool,
    /// The key page, where it became one: its number in the model, and the fingerprint of its URL in the store.
    pub(crate) training_page: Option<(u64, u64)>,
    pub(crate) feeds: Vec<PageUrl>,
    pub(crate) refused: Vec<Refusal>,
}

/// The key page: it fits the stored template, or a learner begins with it.
pub(super) fn key_page(
    site: SiteId,
    mut fetched: FetchedPage,
    (template, taught): (Option<Arc<Template>>, TaughtPages),
    (is_packed, seeds): (bool, Vec<PageUrl>),
    tools: &Tools,
) -> WorkResult {
    let parsed = ParsedPage::new(&fetched, tools);
    if Withheld::needs_rendering(&fetched, &parsed, tools) {
        return WorkResult::NeedsRendering(PageWaiter::Key { template, taught, seeds }, Box::new(fetched));
    }
    let tree = &parsed.page.tree;
    if let Some(withheld) = Withheld::new(&mut fetched, &parsed, tools, || letters_of(tree, |_| true)) {
        return WorkResult::Withheld(PageWaiter::Key { template, taught, seeds }, withheld);
    }
    let mut old_template_coverage = None;
    if let Some(template) = template {
        let matcher = TemplateMatcher::from_template(&template);
        let labeled = matcher.candidate(&parsed.page.tree);
        let freshness = matcher.freshness(parsed.page.url.fingerprint(), &parsed.page.tree, &labeled.labels);
        if freshness >= tools.settings.template.min_freshness {
            return keep(site, fetched, &parsed, (template, matcher), labeled, tools);
        }
        old_template_coverage = Some(freshness);
    }
    let packed =
        is_packed.then(|| (tools.shared.packer.pack(&fetched.response.body, 1), fetched.response.content_type.clone()));
    let page = page_write(site, fetched, &parsed, None, Vec::new(), tools);
    let options = &tools.settings.core.learn;
    let own = Site::new(&parsed.page.url, options.links.same_site);
    let mut learner = Learner::new(parsed.page, own, Some(tools.scope.link_filter()), options);
    learner.offer(seeds);
    if let Some((body, content_type)) = packed.filter(|_| options.search.stop_after == 0) {
        learner.pack_key(rebuild(body, content_type, tools.settings.core.parse));
    }
    next(Box::new(SiteLearner { learner, old_template_coverage, taught, sitemaps: None, n_sitemaps: 0 }), page, tools)
}

/// The answer to what the learner wanted.
pub(super) fn training_page(
    site: SiteId,
    mut learner: Box<SiteLearner>,
    fetched: Option<Box<FetchedPage>>,
    memory: TrainingMemory,
    tools: &Tools,
) -> WorkResult {
    let Some(mut fetched) = fetched else {
        learner.learner.tell(None);
        return next(learner, None, tools);
    };
    let settings = &tools.settings;
    let parsed = ParsedPage::new(&fetched, tools);
    if Withheld::needs_rendering(&fetched, &parsed, tools) {
        return WorkResult::NeedsRendering(PageWaiter::Training(learner), fetched);
    }
    let tree = &parsed.page.tree;
    if let Some(withheld) = Withheld::new(&mut fetched, &parsed, tools, || letters_of(tree, |_| true)) {
        return WorkResult::Withheld(PageWaiter::Training(learner), withheld);
    }
    // The test for settled labels needs the trees.
    let is_packed = memory.is_short && settings.core.learn.search.stop_after == 0;
    let content_type = fetched.response.content_type.clone();
    let unstored = (is_packed && fetched.visit.is_none()).then(|| tools.shared.packer.pack(&fetched.response.body, 1));
    let page = page_write(site, *fetched, &parsed, None, Vec::new(), tools);
    if is_packed {
        match unstored.or_else(|| page.as_ref().map(|page| page.page.raw.clone())) {
            Some(body) => {
                learner.learner.tell_packed(parsed.page, rebuild(body, content_type, settings.core.parse));
            }
            None => learner.learner.tell(Some(parsed.page)),
        }
    } else {
        learner.learner.tell(Some(parsed.page));
    }
    if memory.is_last {
        learner.learner.stop();
    }
    next(learner, page, tools)
}

/// Sitemaps that are read for training pages.
const MAX_SITEMAPS: usize = 5;

/// Pages of a sitemap that are offered.
const MAX_OFFERED: usize = 100;

impl SiteLearner {
    /// Whether a sitemap may still be read.
    fn has_sitemaps(&self, tools: &Tools) -> bool {
        let may_read = tools.settings.crawl.sitemaps && self.n_sitemaps < MAX_SITEMAPS;
        may_read && self.sitemaps.as_ref().is_none_or(|sitemaps| !sitemaps.is_empty())
    }
}

/// A sitemap for a site whose key page has no usable link: pages and sitemaps that it names.
pub(super) fn sitemap(mut learner: Box<SiteLearner>, fetched: &FetchedPage, tools: &Tools) -> WorkResult {
    let response = &fetched.response;
    let announced = parse_announced(&response.body);
    let absolute = |url: &String| response.url.join(url);
    let further = announced.sitemaps.iter().filter_map(absolute);
    let further: Vec<PageUrl> =
        further.filter_map(|url| learner.learner.site().claim(url)).take(MAX_SITEMAPS).collect();
    learner.sitemaps.get_or_insert_default().extend(further);
    learner.learner.offer(announced.pages.iter().filter_map(absolute).take(MAX_OFFERED));
    next(learner, None, tools)
}

/// The tree of a packed page.
fn rebuild(
    body: Vec<u8>,
    content_type: Option<String>,
    options: ParseOptions,
) -> impl FnOnce() -> Tree + Send + 'static {
    move || match unpack(&body) {
        Ok(body) => parse_bytes(&body, content_type.as_deref(), &options).0,
        // It was packed by this run. The site ends with this defect, and the crawl goes on.
        Err(e) => std::panic::resume_unwind(Box::new(format!("a page that waited packed cannot be read back: {e}"))),
    }
}

fn next(mut learner: Box<SiteLearner>, page: Option<Box<PageWrite>>, tools: &Tools) -> WorkResult {
    match learner.learner.next_step() {
        Step::Fetch(url) => WorkResult::NeedPage(learner, url, page),
        Step::Done(_) if learner.learner.has_nothing() && learner.has_sitemaps(tools) => {
            WorkResult::NeedSitemap(learner, page)
        }
        Step::Done(found) => {
            let _one_at_a_time = learner.learner.is_packed().then(|| tools.shared.unpacking.lock());
            let SiteLearner { learner, old_template_coverage, taught, .. } = *learner;
            let mut learned = learner.finish(found);
            learned.teach(taught);
            let outcome = finish(learned, old_template_coverage, tools);
            WorkResult::Learned(Box::new(outcome), page)
        }
    }
}

fn keep(
    site: SiteId,
    fetched: FetchedPage,
    parsed: &ParsedPage,
    (template, mut matcher): (Arc<Template>, TemplateMatcher),
    labeled: Candidate<'_>,
    tools: &Tools,
) -> WorkResult {
    let scope = tools.scope.site(&parsed.page.url);
    let (links, refused) = LinkFinder::new(&scope, tools).links_of(parsed, 1);
    let feeds = feeds(&parsed.page, parsed.rules.nofollow, &scope, tools);
    let cleaned = clean_candidate(&parsed.page, &labeled, &matcher, tools);
    let number = url_number(&scope, &parsed.page.url);
    let is_updated = matcher.add_page(number, labeled);
    let training_page = is_updated.then(|| (number, parsed.page.fetched.fingerprint()));
    let mut page = page_write(site, fetched, parsed, Some(cleaned), links, tools);
    if let Some(page) = &mut page {
        page.settles = true;
    }
    let kept =
        KeptTemplate { site: scope, template, matcher: Box::new(matcher), is_updated, training_page, feeds, refused };
    WorkResult::Kept(Box::new(kept), page)
}

/// Cleans every page of the search with what was learned, and collects the links for the walk.
fn finish(learned: Learned, old_template_coverage: Option<f64>, tools: &Tools) -> LearnOutcome {
    let failure = if learned.template.is_none() {
        Some(why_no_template(&learned, tools.settings.core.learn.label_by))
    } else {
        None
    };
    let set = learned.training_set;
    let matcher = learned.template.as_ref().map(|template| Box::new(TemplateMatcher::learned(template, set)));
    let all = std::iter::once(&learned.key).chain(&learned.pages);
    let training_pages = all.map(|page| (page.url.fingerprint(), page.fetched.fingerprint())).collect();
    let mut cleaned = vec![clean(&learned.key, Some(learned.key_labels), matcher.as_deref(), tools)];
    let pages = learned.pages.iter().zip(learned.labels);
    cleaned.extend(pages.map(|(page, known)| clean(page, known, matcher.as_deref(), tools)));
    let scope = tools.scope.site(&learned.key.url);
    let (mut links, mut refused) = (Vec::new(), Vec::new());
    if tools.settings.crawl.pages_per_site > 0 {
        let mut finder = LinkFinder::new(&scope, tools);
        for (at, page) in std::iter::once(&learned.key).chain(&learned.pages).enumerate() {
            let is_key = at == 0;
            let depth = if is_key { 1 } else { 2 };
            if depth <= tools.settings.crawl.max_depth() {
                let urls = training_page_links(page, &scope, is_key, tools);
                let (found, not) = finder.judge(&page.url, urls.into_iter(), depth);
                links.extend(found);
                refused.extend(not);
            }
        }
    }
    let feeds = feeds(&learned.key, learned.key.nofollow, &scope, tools);
    let template = learned.template.map(|mut template| {
        template.feeds = feeds.iter().map(PageUrl::to_string).collect();
        Box::new(template)
    });
    LearnOutcome {
        failure,
        host: learned.key.url.authority(),
        key_url: learned.key.fetched.to_string(),
        feeds,
        site: scope,
        template,
        matcher,
        cleaned,
        training_pages,
        n_links: learned.n_links,
        loads: learned.found.loads,
        links,
        refused,
        old_template_coverage,
    }
}

/// Why a search gave no template.
fn why_no_template(learned: &Learned, label_by: LabelBy) -> Reason {
    let content = |page: &FoundPage| page.tree.body().map(|body| page.tree.subtree_hashes().full[body.index()]);
    let n = learned.n_links;
    let links = match n {
        0 => "its sitemap and the folders above it".to_owned(),
        1 => "its only link".to_owned(),
        n => format!("its {n} links"),
    };
    if n == 0 && learned.key.nofollow {
        return Reason::new(ReasonCode::Nofollow, "the key page wants none of its links followed (nofollow)");
    }
    if n == 0 && learned.pages.is_empty() {
        let text = "the key page has no links to pages of its site, and neither the folders above it nor a sitemap \
                    gave another page";
        return Reason::new(ReasonCode::NoLinks, text);
    }
    if learned.pages.is_empty() {
        let text = format!("the key page was had, but {links} gave no page");
        return Reason::new(ReasonCode::NoPages, text);
    }
    if learned.pages.iter().all(|page| content(page) == content(&learned.key)) {
        let text = format!("the pages behind {links} are copies of the key page");
        return Reason::new(ReasonCode::Copies, text);
    }
    let text = match label_by {
        LabelBy::Gottron => format!(
            "fewer than two pages behind {links} share the layout of the key page, and a training set needs three pages \
             (gottron.by, gottron.distance)"
        ),
        _ => format!("no page behind {links} shares anything with the key page"),
    };
    Reason::new(ReasonCode::NothingShared, text)
}
