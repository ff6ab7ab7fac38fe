//! Links of pages, sitemaps and feeds that the walk may follow.

use dehusk_html::scan_metas;
use dehusk_html::{PageUrl, Site};
use dehusk_template::learner::FoundPage;
use dehusk_template::links::{LinkOrder, hyperlink_distance, outlinks, relevance, scanned_outlinks, words};
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::page::{FetchedPage, ParsedPage};
use super::{Tools, WorkResult};
use crate::scope::{Queries, Refusal};
use crate::site::Walk;
use crate::sitemap::parse_announced;
use dehusk_core::page_rules::PageRules;
use dehusk_settings::Order;
use dehusk_store::{NewUrl, SeenWrite, SiteId};

/// Hashes of links that are remembered for a site.
const MAX_JUDGED: usize = 20_000;

/// Sitemaps of an index that are read.
const MAX_SITEMAPS: usize = 100;

/// Links of the key page that are put into the farthest-first order. The rest keep the order of the document.
const MAX_ORDERED: usize = 500;

/// Finds the links of pages that the walk may follow.
pub(super) struct LinkFinder<'a> {
    site: &'a Site,
    tools: &'a Tools,
    key_words: Vec<String>,
    queries: Queries,
    judged: FxHashSet<u64>,
}

impl<'a> LinkFinder<'a> {
    pub(super) fn new(site: &'a Site, tools: &'a Tools) -> LinkFinder<'a> {
        let key_words = words(site.key(), tools.settings.core.learn.links.slug_dirs);
        LinkFinder { site, tools, key_words, queries: Queries::default(), judged: FxHashSet::default() }
    }

    /// Goes on with what a walk knows.
    pub(super) fn of_walk(walk: &mut Walk, site: &'a Site, tools: &'a Tools) -> LinkFinder<'a> {
        let (queries, mut judged) = (std::mem::take(&mut walk.queries), std::mem::take(&mut walk.judged));
        if judged.len() > MAX_JUDGED {
            judged.clear();
        }
        LinkFinder { queries, judged, ..LinkFinder::new(site, tools) }
    }

    pub(super) fn give_back(self, walk: &mut Walk) {
        (walk.queries, walk.judged) = (self.queries, self.judged);
    }

    /// The links of a parsed page that is `depth - 1` links away from the key page.
    pub(super) fn links_of(&mut self, parsed: &ParsedPage, depth: u32) -> (Vec<NewUrl>, Vec<Refusal>) {
        let settings = &self.tools.settings;
        let is_too_deep = depth > settings.crawl.max_depth();
        if settings.crawl.pages_per_site == 0 || parsed.rules.nofollow || is_too_deep {
            return (Vec::new(), Vec::new());
        }
        // Any host here: what lies outside is refused by name.
        let (page, options) = (&parsed.page, &settings.core.learn.links);
        let links = outlinks(&page.tree, &page.url, self.site, options.max);
        let links = links.into_iter().filter(|link| !(link.nofollow && options.skip_nofollow));
        self.judge(&page.url, links.map(|link| link.url).collect::<Vec<_>>().into_iter(), depth)
    }

    pub(super) fn judge(
        &mut self,
        from: &PageUrl,
        links: impl Iterator<Item = PageUrl>,
        depth: u32,
    ) -> (Vec<NewUrl>, Vec<Refusal>) {
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for (position, link) in links.enumerate() {
            // Another seed than that of a scanned link, which is hashed as it is written.
            if !self.judged.insert(xxh3_64_with_seed(link.as_str().as_bytes(), 1)) {
                continue;
            }
            match self.tools.scope.judge(self.site, from, link, &mut self.queries) {
                Ok(url) => found.push(NewUrl::new(&url, depth, self.rank(&url, depth, position))),
                Err(refusal) => refused.push(refusal),
            }
        }
        (found, refused)
    }

    /// Smaller goes first: by hyperlink relevance to the key page or by depth, then as found.
    fn rank(&self, url: &PageUrl, depth: u32, position: usize) -> i64 {
        let position = position.min(0xf_ffff) as i64;
        let depth = i64::from(depth.min(0xfff));
        match self.tools.settings.crawl.order {
            Order::Breadth => depth << 20 | position,
            Order::Paper => {
                let words = words(url, self.tools.settings.core.learn.links.slug_dirs);
                let (away, steps) = relevance(hyperlink_distance(&self.key_words, &words));
                (i64::from(away) << 12 | i64::from(steps.min(0xfff))) << 32 | depth << 20 | position
            }
        }
    }
}

/// A page of a crawl for links: scanned, not parsed, and not stored.
pub(super) fn seen(site: SiteId, mut walk: Box<Walk>, scope: &Site, fetched: FetchedPage, tools: &Tools) -> WorkResult {
    let FetchedPage { request, response, visit, .. } = fetched;
    let metas = scan_metas(&response.body);
    let metas = metas.iter().map(|(name, content)| (name.as_str(), content.as_str()));
    let rules = PageRules::new(&response.rights.robots_tags(), metas, &tools.agents, fetched.fetched_at / 1000);
    let depth = request.depth + 1;
    let (mut links, mut refused) = (Vec::new(), Vec::new());
    if !rules.nofollow && depth <= tools.settings.crawl.max_depth() {
        let options = &tools.settings.core.learn.links;
        let judged = &mut walk.judged;
        if judged.len() > MAX_JUDGED {
            judged.clear();
        }
        let is_known = |hash| !judged.insert(hash);
        let urls = scanned_outlinks(
            &response.body,
            response.content_type.as_deref(),
            &response.url,
            scope,
            options.max,
            options.skip_nofollow,
            is_known,
        );
        let mut finder = LinkFinder::of_walk(&mut walk, scope, tools);
        (links, refused) = finder.judge(&response.url, urls.into_iter(), depth);
        finder.give_back(&mut walk);
    }
    match visit {
        Some(visit) => {
            let seen = Box::new(SeenWrite { site, visit, url: request.asked, links });
            WorkResult::Seen { walk, seen, refused }
        }
        None => WorkResult::Walked { walk, page: None, links, refused },
    }
}

/// The pages and further sitemaps that a sitemap or feed announces.
pub(super) fn sitemap(mut walk: Box<Walk>, own: &Site, fetched: &FetchedPage, tools: &Tools) -> WorkResult {
    let response = &fetched.response;
    let announced = parse_announced(&response.body);
    for url in announced.sitemaps.iter().filter_map(|sitemap| own.claim(response.url.join(sitemap)?)) {
        if walk.seen.len() < MAX_SITEMAPS {
            walk.announce([url]);
        }
    }
    let scope = tools.scope.site(own.key());
    let mut finder = LinkFinder::of_walk(&mut walk, &scope, tools);
    let of_page = |(page, value): (&str, i64)| Some((response.url.join(page)?.fingerprint(), value));
    let modified = announced.telling_times().filter_map(of_page).collect();
    let intervals = announced.telling_intervals().filter_map(of_page).collect();
    let pages = announced.pages.iter().filter_map(|page| response.url.join(page));
    let (links, refused) = finder.judge(own.key(), pages, 1);
    finder.give_back(&mut walk);
    let strings = if tools.settings.crawl.strings { walk.entries.learn_from(&response.body, tools) } else { None };
    WorkResult::Announced { walk, links, refused, strings, modified, intervals }
}

/// What a list of URLs names.
#[derive(Default)]
pub(crate) struct Listed {
    pub(crate) pages: Vec<PageUrl>,
    /// Further lists.
    pub(crate) lists: Vec<PageUrl>,
}

/// The URLs of a list that is a seed.
pub(super) fn listed(fetched: &FetchedPage) -> Listed {
    let response = &fetched.response;
    let announced = parse_announced(&response.body);
    let absolute = |urls: &[String]| urls.iter().filter_map(|url| response.url.join(url)).collect();
    Listed { pages: absolute(&announced.pages), lists: absolute(&announced.sitemaps) }
}

/// Links of a training page; those of the key page in the paper's order.
pub(super) fn training_page_links(page: &FoundPage, own: &Site, is_key: bool, tools: &Tools) -> Vec<PageUrl> {
    let options = &tools.settings.core.learn.links;
    if page.nofollow {
        return Vec::new();
    }
    let mut links = outlinks(&page.tree, &page.url, own, options.max);
    links.retain(|link| !(link.nofollow && options.skip_nofollow));
    let rest: Vec<PageUrl> = links.iter().skip(MAX_ORDERED).map(|link| link.url.clone()).collect();
    links.truncate(MAX_ORDERED);
    if is_key && tools.settings.crawl.order == Order::Paper {
        LinkOrder::paper(&page.tree, &page.url, &links, options).chain(rest).collect()
    } else {
        links.into_iter().map(|link| link.url).chain(rest).collect()
    }
}

/// Feeds that a page names and its site serves.
pub(super) fn feeds(page: &FoundPage, nofollow: bool, own: &Site, tools: &Tools) -> Vec<PageUrl> {
    if tools.settings.crawl.pages_per_site == 0 || !tools.settings.crawl.feeds || nofollow {
        return Vec::new();
    }
    let tree = &page.tree;
    let is_feed = |kind: &str| matches!(kind.trim(), "application/rss+xml" | "application/atom+xml");
    tree.all("link")
        .filter(|link| tree.attr(*link, "type").is_some_and(is_feed))
        .filter_map(|link| own.claim(page.url.join_in(tree.attr(link, "href")?, tree.charset())?))
        .take(10)
        .collect()
}
