//! What CPU threads do with a page: parse, learn, clean, follow links, pack for the store.

use std::sync::{Arc, Mutex};

use super::event::Request;
use super::site::{TemplateSize, Walk};
use crate::fetch::Response;
use dehusk_core::internals::clean::{LabeledPage, TemplateMatcher, label_page};
use dehusk_core::internals::dom::{Tree, parse_bytes};
use dehusk_core::internals::labels::Labels;
use dehusk_core::internals::learner::{FoundPage, Learned, Learner};
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::robots::PageRules;
use crate::scope::{Queries, Refusal, Scope};
use crate::settings::{Mode, Order, Settings};
use crate::sitemap::parse_announced;
use crate::store::{Cleaned, NewPage, NewUrl, NewVisit, PageJob, SeenJob, SiteId, digest, pack, unpack};
use dehusk_core::internals::dom::ParseOptions;
use dehusk_core::internals::links::{LinkOrder, hyperlink_distance, outlinks, relevance, scanned_outlinks, words};
use dehusk_core::internals::page_url::{PageUrl, Site};
use dehusk_core::internals::subdigraph::Step;
use dehusk_core::internals::template::Template;

/// What all work of a crawl needs.
pub(super) struct Tools {
    pub(super) settings: Settings,
    pub(super) scope: Arc<Scope>,
    pub(super) agents: Vec<String>,
    /// Folder of the archive that is written.
    pub(super) warc: Option<String>,
    /// Held while a site whose pages were packed has them all as trees again: one site at a time.
    pub(super) unpacking: Mutex<()>,
}

/// A page that came, from the network or from before a restart.
pub(super) struct Came {
    pub(super) request: Request,
    pub(super) response: Response,
    /// Unix milliseconds.
    pub(super) fetched_at: i64,
    /// Its visit, where it is to be stored.
    pub(super) visit: Option<NewVisit>,
    /// What a restart remembers of its rules.
    pub(super) noindex: bool,
    pub(super) nofollow: bool,
}

/// A learner, and what is remembered beside it.
pub(super) struct SiteLearner {
    pub(super) learner: Learner,
    /// Share of the stored template that the key page shows, where that was too little to keep it.
    pub(super) old_template_coverage: Option<f64>,
}

/// What a CPU thread is given.
pub(super) enum Work {
    /// The key page; it fits the stored template, or a learner is made.
    Key(Box<Came>, Option<Arc<Template>>),
    /// An answer for the learner, which is to keep it packed where the last is true.
    Tell(Box<SiteLearner>, Option<Box<Came>>, bool),
    /// A page of the walk.
    Walk(Box<Walk>, Site, Box<Came>),
    /// A sitemap or feed.
    Announced(Box<Walk>, Site, Box<Came>),
}

/// What a CPU thread gives back.
pub(super) enum Advance {
    /// The learner asks for this page; here is the last one for the store.
    Ask(Box<SiteLearner>, PageUrl, Option<Box<PageJob>>),
    /// The search for a template is over.
    Done(Box<Harvest>, Option<Box<PageJob>>),
    /// The key page still fits the stored template.
    Kept(Box<Kept>, Option<Box<PageJob>>),
    /// The walk of a crawl for links goes on: a visit and what was found.
    Seen(Box<Walk>, Box<SeenJob>, Vec<Refusal>),
    /// The walk goes on.
    Walked(Box<Walk>, Option<Box<PageJob>>, Vec<NewUrl>, Vec<Refusal>),
    /// The work could not be done: a defect of ours, which must not end the crawl.
    Broken(String),
}

/// What came of the search for a template.
pub(super) struct Harvest {
    pub(super) host: String,
    pub(super) key_url: String,
    pub(super) site: Site,
    pub(super) template: Option<Template>,
    pub(super) cleaned: Vec<Cleaned>,
    pub(super) n_links: usize,
    /// Does its owner want no link of the key page followed?
    pub(super) nofollow: bool,
    pub(super) loads: usize,
    pub(super) links: Vec<NewUrl>,
    pub(super) feeds: Vec<PageUrl>,
    pub(super) refused: Vec<Refusal>,
    /// Share of the stored template that the key page shows, where that was too little to keep it.
    pub(super) old_template_coverage: Option<f64>,
}

/// A key page that still fits.
pub(super) struct Kept {
    pub(super) site: Site,
    pub(super) template: TemplateSize,
    pub(super) applier: Box<TemplateMatcher>,
    /// Is tonight's key page new evidence?
    pub(super) is_updated: bool,
    pub(super) feeds: Vec<PageUrl>,
    pub(super) refused: Vec<Refusal>,
}

/// Does the work. Panics of our own code are caught: the site fails, the crawl goes on.
pub(super) fn advance(site: SiteId, work: Work, tools: &Arc<Tools>) -> Advance {
    let tools = Arc::clone(tools);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || step(site, work, &tools)));
    outcome.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Advance::Broken(format!("internal error, please report it: {text}"))
    })
}

fn step(site: SiteId, work: Work, tools: &Tools) -> Advance {
    let settings = &tools.settings;
    let (learner, job) = match work {
        Work::Key(came, template) => {
            let parsed = Parsed::of(&came, tools);
            let mut old_template_coverage = None;
            if let Some(template) = template {
                let (applier, url) = (TemplateMatcher::from_template(&template), parsed.page.url.fingerprint());
                let applied = applier.label(&parsed.page.tree);
                let shown = applier.freshness(url, &parsed.page.tree, &applied);
                if shown >= settings.template.min_freshness {
                    return kept(site, *came, parsed, &template, applier, applied, tools);
                }
                old_template_coverage = Some(shown);
            }
            let job = job(site, *came, &parsed, None, Vec::new(), tools);
            let own = Site::of(&parsed.page.url, settings.core.learn.links.same_site);
            let learner = Learner::new(parsed.page, own, Some(tools.scope.link_filter()), &settings.core.learn);
            (Box::new(SiteLearner { learner, old_template_coverage }), job)
        }
        Work::Tell(mut learner, None, _) => {
            learner.learner.tell(None);
            (learner, None)
        }
        Work::Tell(mut learner, Some(came), is_packed) => {
            let parsed = Parsed::of(&came, tools);
            // The test for settled labels wants the trees, whatever else goes on.
            let is_packed = is_packed && settings.core.learn.search.stop_after == 0;
            let again = is_packed.then(|| packed(&came.response, &settings.core.parse));
            let job = job(site, *came, &parsed, None, Vec::new(), tools);
            match again {
                Some(again) => learner.learner.tell_packed(parsed.page, again),
                None => learner.learner.tell(Some(parsed.page)),
            }
            (learner, job)
        }
        Work::Walk(walk, own, came) => return walked(site, walk, &own, *came, tools),
        Work::Announced(walk, own, came) => return announced(walk, &own, &came, tools),
    };
    let mut learner = learner;
    match learner.learner.next_step() {
        Step::Fetch(url) => Advance::Ask(learner, url, job),
        Step::Done(found) => {
            let _alone = learner.learner.is_packed().then(|| tools.unpacking.lock());
            let SiteLearner { learner, old_template_coverage } = *learner;
            Advance::Done(Box::new(Harvest { old_template_coverage, ..harvest(learner.finish(found), tools) }), job)
        }
    }
}

/// A page with its tree and its owner's wishes.
struct Parsed {
    page: FoundPage,
    rules: PageRules,
}

impl Parsed {
    fn of(came: &Came, tools: &Tools) -> Parsed {
        let response = &came.response;
        let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &tools.settings.core.parse);
        let metas = tree.all("meta").filter_map(|meta| Some((tree.attr(meta, "name")?, tree.attr(meta, "content")?)));
        let mut rules = PageRules::of(&response.robots_tags, metas, &tools.agents, came.fetched_at / 1000);
        rules.noindex |= came.noindex;
        rules.nofollow |= came.nofollow;
        Parsed { page: FoundPage { nofollow: rules.nofollow, ..FoundPage::new(response.url.clone(), tree) }, rules }
    }
}

/// The tree of a page once more, from a fraction of its bytes.
fn packed(response: &Response, limits: &ParseOptions) -> impl FnOnce() -> Tree + Send + 'static {
    let (limits, content_type) = (*limits, response.content_type.clone());
    let body = pack(&response.body, 1);
    move || parse_bytes(&unpack(&body).unwrap_or_default(), content_type.as_deref(), &limits).0
}

/// A page for the store; `None` when it is there already.
fn job(
    site: SiteId,
    came: Came,
    parsed: &Parsed,
    cleaned: Option<Cleaned>,
    links: Vec<NewUrl>,
    tools: &Tools,
) -> Option<Box<PageJob>> {
    let Came { request, response, fetched_at, visit, .. } = came;
    // Two spellings of one URL are one row.
    let is_other = request.asked.fingerprint() != response.url.fingerprint();
    let asked = is_other.then(|| request.asked.clone());
    Some(Box::new(PageJob {
        site,
        visit: visit?,
        asked,
        page: NewPage {
            depth: request.depth,
            fetched_at,
            status: response.status,
            content_type: response.content_type,
            validators: response.validators,
            noindex: parsed.rules.noindex,
            nofollow: parsed.rules.nofollow,
            warc: tools.warc.clone(),
            digest: digest(&response.body),
            raw: pack(&response.body, tools.settings.store.zstd_level),
            url: response.url,
        },
        cleaned,
        links,
        settles: false,
    }))
}

fn kept(
    site: SiteId,
    came: Came,
    parsed: Parsed,
    template: &Template,
    mut applier: TemplateMatcher,
    applied: Labels,
    tools: &Tools,
) -> Advance {
    let scope = tools.scope.site(&parsed.page.url);
    let (links, refused) = Links::new(&scope, tools).of_page(&parsed, 1);
    let feeds = feeds(&parsed, &scope, tools);
    let url = named(&scope, &parsed.page.url);
    let is_updated = applier.add_page(url, &parsed.page.tree, &applied);
    let cleaned = clean(&parsed.page, Some(applied), Some(&applier), tools);
    let mut job = job(site, came, &parsed, Some(cleaned), links, tools);
    if let Some(job) = &mut job {
        job.settles = true;
    }
    let (template, applier) = (TemplateSize::of(template), Box::new(applier));
    Advance::Kept(Box::new(Kept { site: scope, template, applier, is_updated, feeds, refused }), job)
}

fn walked(site: SiteId, mut walk: Box<Walk>, own: &Site, came: Came, tools: &Tools) -> Advance {
    let scope = tools.scope.site(own.key());
    if tools.settings.crawl.mode == Mode::Links {
        return seen(site, walk, &scope, came, tools);
    }
    let parsed = Parsed::of(&came, tools);
    let mut links = Links::of_walk(&mut walk, &scope, tools);
    let (found, refused) = links.of_page(&parsed, came.request.depth + 1);
    links.give_back(&mut walk);
    let applied = walk.template.as_deref().map(|applier| applier.label(&parsed.page.tree));
    if let (Some(applier), Some(applied)) = (walk.template.as_deref_mut(), &applied) {
        walk.is_updated |= applier.add_page(named(own, &parsed.page.url), &parsed.page.tree, applied);
    }
    let cleaned = clean(&parsed.page, applied, walk.template.as_deref(), tools);
    let job = job(site, came, &parsed, Some(cleaned), found, tools);
    Advance::Walked(walk, job, Vec::new(), refused)
}

/// Number of a URL as the site names it, which is how its training pages are known.
fn named(own: &Site, url: &PageUrl) -> u64 {
    own.claim(url.clone()).as_ref().unwrap_or(url).fingerprint()
}

/// A page of a crawl for links: scanned, not parsed, and not stored.
fn seen(site: SiteId, mut walk: Box<Walk>, scope: &Site, came: Came, tools: &Tools) -> Advance {
    let Came { request, response, visit, .. } = came;
    let rules = PageRules::of(&response.robots_tags, std::iter::empty(), &tools.agents, came.fetched_at / 1000);
    let depth = request.depth + 1;
    let crawl = &tools.settings.crawl;
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    if !rules.nofollow && (crawl.depth == 0 || depth <= crawl.depth) {
        let learn = &tools.settings.core.learn;
        let judged = &mut walk.judged;
        if judged.len() > MOST_JUDGED {
            judged.clear();
        }
        let is_known = |hash| !judged.insert(hash);
        let links = scanned_outlinks(
            &response.body,
            &response.url,
            scope,
            learn.links.max,
            learn.links.skip_nofollow,
            is_known,
        );
        let mut finder = Links::of_walk(&mut walk, scope, tools);
        (found, refused) = finder.judge(&response.url, links.into_iter(), depth);
        finder.give_back(&mut walk);
    }
    match visit {
        Some(visit) => {
            Advance::Seen(walk, Box::new(SeenJob { site, visit, url: request.asked, links: found }), refused)
        }
        None => Advance::Walked(walk, None, found, refused),
    }
}

/// Hashes of links that are remembered for a site.
const MOST_JUDGED: usize = 20_000;

/// Sitemaps of an index that are read.
const MOST_SITEMAPS: usize = 100;

fn announced(mut walk: Box<Walk>, own: &Site, came: &Came, tools: &Tools) -> Advance {
    let found = parse_announced(&came.response.body);
    for sitemap in found.sitemaps {
        let url = came.response.url.join(&sitemap).and_then(|url| own.claim(url));
        if let Some(url) = url.filter(|url| walk.seen.len() < MOST_SITEMAPS && walk.seen.insert(url.fingerprint())) {
            walk.announced.push_back(url);
        }
    }
    let scope = tools.scope.site(own.key());
    let mut links = Links::of_walk(&mut walk, &scope, tools);
    let pages = found.pages.iter().filter_map(|page| came.response.url.join(page));
    let (found, refused) = links.judge(own.key(), pages, 1);
    links.give_back(&mut walk);
    Advance::Walked(walk, None, found, refused)
}

/// Finds the links of pages that the walk may follow.
struct Links<'a> {
    site: &'a Site,
    tools: &'a Tools,
    key_words: Vec<String>,
    queries: Queries,
    judged: FxHashSet<u64>,
}

impl<'a> Links<'a> {
    fn new(site: &'a Site, tools: &'a Tools) -> Links<'a> {
        let key_words = words(site.key(), tools.settings.core.learn.links.slug_dirs);
        Links { site, tools, key_words, queries: Queries::default(), judged: FxHashSet::default() }
    }

    /// Goes on with what a walk knows.
    fn of_walk(walk: &mut Walk, site: &'a Site, tools: &'a Tools) -> Links<'a> {
        let (queries, mut judged) = (std::mem::take(&mut walk.queries), std::mem::take(&mut walk.judged));
        if judged.len() > MOST_JUDGED {
            judged.clear();
        }
        Links { queries, judged, ..Links::new(site, tools) }
    }

    fn give_back(self, walk: &mut Walk) {
        (walk.queries, walk.judged) = (self.queries, self.judged);
    }

    fn of_page(&mut self, parsed: &Parsed, depth: u32) -> (Vec<NewUrl>, Vec<Refusal>) {
        let settings = &self.tools.settings;
        let too_deep = settings.crawl.depth != 0 && depth > settings.crawl.depth;
        if settings.crawl.pages_per_site == 0 || parsed.rules.nofollow || too_deep {
            return (Vec::new(), Vec::new());
        }
        // Any host here: what lies outside is refused by name.
        let page = &parsed.page;
        let links = outlinks(&page.tree, &page.url, self.site, settings.core.learn.links.max);
        let links = links.into_iter().filter(|link| !(link.nofollow && settings.core.learn.links.skip_nofollow));
        self.judge(&page.url, links.map(|link| link.url).collect::<Vec<_>>().into_iter(), depth)
    }

    fn judge(
        &mut self,
        from: &PageUrl,
        links: impl Iterator<Item = PageUrl>,
        depth: u32,
    ) -> (Vec<NewUrl>, Vec<Refusal>) {
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for (place, link) in links.enumerate() {
            // Another seed than that of a scanned link, which is hashed as it is written.
            if !self.judged.insert(xxh3_64_with_seed(link.as_str().as_bytes(), 1)) {
                continue;
            }
            match self.tools.scope.judge(self.site, from, link, &mut self.queries) {
                Ok(url) => found.push(NewUrl::new(&url, depth, self.rank(&url, depth, place))),
                Err(refusal) => refused.push(refusal),
            }
        }
        (found, refused)
    }

    /// Smaller goes first: by hyperlink relevance to the key page or by depth, then as found.
    fn rank(&self, url: &PageUrl, depth: u32, place: usize) -> i64 {
        let place = place.min(0xf_ffff) as i64;
        let depth = i64::from(depth.min(0xfff));
        match self.tools.settings.crawl.order {
            Order::Breadth => depth << 20 | place,
            Order::Paper => {
                let words = words(url, self.tools.settings.core.learn.links.slug_dirs);
                let (away, steps) = relevance(hyperlink_distance(&self.key_words, &words));
                (i64::from(away) << 12 | i64::from(steps.min(0xfff))) << 32 | depth << 20 | place
            }
        }
    }
}

/// Links of the key page that are put into the farthest-first order; the rest keep that of the document.
const MOST_ORDERED: usize = 500;

/// Cleans every page of the search with what was learned.
fn harvest(learned: Learned, tools: &Tools) -> Harvest {
    let applier = learned.template.as_ref().map(TemplateMatcher::from_template);
    let mut cleaned = vec![clean(&learned.key, Some(learned.key_labels), applier.as_ref(), tools)];
    let applied = learned.labels.into_iter();
    cleaned.extend(learned.pages.iter().zip(applied).map(|(page, known)| clean(page, known, applier.as_ref(), tools)));
    let (mut links, mut refused) = (Vec::new(), Vec::new());
    let scope = tools.scope.site(&learned.key.url);
    if tools.settings.crawl.pages_per_site > 0 {
        let mut finder = Links::new(&scope, tools);
        let pages = std::iter::once(&learned.key).chain(&learned.pages);
        for (depth, page) in pages.enumerate().map(|(at, page)| (if at == 0 { 1 } else { 2 }, page)) {
            if tools.settings.crawl.depth != 0 && depth > tools.settings.crawl.depth {
                continue;
            }
            let (found, not) = finder.judge(&page.url, page_links(page, &scope, depth == 1, tools).into_iter(), depth);
            links.extend(found);
            refused.extend(not);
        }
    }
    let nofollow = learned.key.nofollow;
    let parsed = Parsed { page: learned.key, rules: PageRules::default() };
    Harvest {
        host: parsed.page.url.authority(),
        key_url: parsed.page.fetched.to_string(),
        feeds: feeds(&parsed, &scope, tools),
        site: scope,
        template: learned.template,
        cleaned,
        n_links: learned.n_links,
        nofollow,
        loads: learned.found.loads,
        links,
        refused,
        old_template_coverage: None,
    }
}

/// Links of a page of the search; those of the key page in the paper's order.
fn page_links(page: &FoundPage, own: &Site, is_key: bool, tools: &Tools) -> Vec<PageUrl> {
    let learn = &tools.settings.core.learn;
    if page.nofollow {
        return Vec::new();
    }
    let mut links = outlinks(&page.tree, &page.url, own, learn.links.max);
    links.retain(|link| !(link.nofollow && learn.links.skip_nofollow));
    let rest: Vec<PageUrl> = links.iter().skip(MOST_ORDERED).map(|link| link.url.clone()).collect();
    links.truncate(MOST_ORDERED);
    match is_key && tools.settings.crawl.order == Order::Paper {
        true => LinkOrder::paper(&page.tree, &page.url, &links, &learn.links).chain(rest).collect(),
        false => links.into_iter().map(|link| link.url).chain(rest).collect(),
    }
}

/// Feeds that a page names and its site serves.
fn feeds(parsed: &Parsed, own: &Site, tools: &Tools) -> Vec<PageUrl> {
    if tools.settings.crawl.pages_per_site == 0 || !tools.settings.crawl.feeds || parsed.rules.nofollow {
        return Vec::new();
    }
    let tree: &Tree = &parsed.page.tree;
    let is_feed = |kind: &str| matches!(kind.trim(), "application/rss+xml" | "application/atom+xml");
    tree.all("link")
        .filter(|link| tree.attr(*link, "type").is_some_and(is_feed))
        .filter_map(|link| own.claim(parsed.page.url.join(tree.attr(link, "href")?)?))
        .take(10)
        .collect()
}

/// Cleans a page by the first step of the chain that fits it.
fn clean(page: &FoundPage, known: Option<Labels>, applier: Option<&TemplateMatcher>, tools: &Tools) -> Cleaned {
    let LabeledPage { labels: applied, method, by_template } =
        label_page(&page.tree, known, applier, &tools.settings.core.clean);
    Cleaned {
        url: page.fetched.clone(),
        html: pack(applied.html(&page.tree).as_bytes(), tools.settings.store.zstd_level),
        text_digest: applied.text_digest(&page.tree),
        method,
        by_template,
        confidence: applied.confidence,
    }
}
