//! Pages without their template.

use dehusk_core::internals::clean::{LabeledPage, TemplateMatcher, label_page};
use dehusk_core::internals::dom::{parse_bytes, text_digest};
use dehusk_core::internals::labels::Labels;
use dehusk_core::internals::learner::FoundPage;
use dehusk_core::internals::page_url::{PageUrl, Site};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::links::LinkFinder;
use super::page::{FetchedPage, ParsedPage, page_write};
use super::{Tools, WorkResult};
use crate::crawl::site::Walk;
use crate::revisit::TextMark;
use crate::store::{Cleaned, RecleanedPage, SiteId, Snapshot, StalePage, pack};

/// A page of the walk: its links, its place in the model, its cleaned form.
pub(super) fn walk_page(
    site: SiteId,
    mut walk: Box<Walk>,
    own: &Site,
    fetched: FetchedPage,
    tools: &Tools,
) -> WorkResult {
    let scope = tools.scope.site(own.key());
    let parsed = ParsedPage::new(&fetched, tools);
    let mut finder = LinkFinder::of_walk(&mut walk, &scope, tools);
    let (links, refused) = finder.links_of(&parsed, fetched.request.depth + 1);
    finder.give_back(&mut walk);
    let tree = &parsed.page.tree;
    let (cleaned, is_kept) = match walk.template.prepare() {
        Some(matcher) => {
            let labels = matcher.label(tree);
            let cleaned = clean(&parsed.page, Some(labels.clone()), Some(matcher), tools);
            (cleaned, matcher.add_page(url_number(own, &parsed.page.url), tree, &labels))
        }
        None => (clean(&parsed.page, None, None, tools), false),
    };
    walk.is_updated |= is_kept;
    let page = page_write(site, fetched, &parsed, Some(cleaned), links, tools);
    WorkResult::Walked { walk, page, links: Vec::new(), refused }
}

/// Number of a URL as the site names it, by which its training pages are known.
pub(super) fn url_number(own: &Site, url: &PageUrl) -> u64 {
    own.claim(url.clone()).as_ref().unwrap_or(url).fingerprint()
}

/// Changes when this version of the program cleans a page otherwise than the former one.
const CLEANING_VERSION: u64 = 1;

/// A number for all that the text of a page depends on, the page left out: the model, the options, the program.
pub(super) fn model_number(matcher: Option<&TemplateMatcher>, tools: &Tools) -> u64 {
    let core = &tools.settings.core;
    let options = format!("{:?} {:?} {:?}", core.clean, core.parse, core.learn.site_model);
    let seed = matcher.map_or(0, TemplateMatcher::number) ^ CLEANING_VERSION;
    xxh3_64_with_seed(options.as_bytes(), seed)
}

/// Cleans pages again by the model that their site ends with, and their last versions where only these can tell whether
/// the page has changed.
pub(super) fn reclean(mut walk: Box<Walk>, model: u64, stale: Vec<StalePage>, tools: &Tools) -> WorkResult {
    let after = stale.last().map_or(i64::MAX, |page| page.place);
    let matcher = walk.template.prepare();
    let cleaned = |snapshot: Snapshot| {
        let (tree, _) = parse_bytes(&snapshot.body, snapshot.content_type.as_deref(), &tools.settings.core.parse);
        clean(&FoundPage::new(snapshot.url, tree), None, matcher.as_deref(), tools)
    };
    let reclean = |page: StalePage| RecleanedPage {
        last_text: page.last.map(|last| cleaned(last).text.digest),
        cleaned: cleaned(page.page),
    };
    let pages = stale.into_iter().map(reclean).collect();
    WorkResult::Recleaned { walk, model, after, pages }
}

/// Cleans a page by the first step of the chain that fits it.
pub(super) fn clean(
    page: &FoundPage,
    known: Option<Labels>,
    matcher: Option<&TemplateMatcher>,
    tools: &Tools,
) -> Cleaned {
    let LabeledPage { labels, method, by_template } =
        label_page(&page.tree, known, matcher, &tools.settings.core.clean);
    Cleaned {
        url: page.fetched.clone(),
        html: pack(labels.html(&page.tree, Some(&page.fetched)).as_bytes(), tools.settings.store.zstd_level),
        text: TextMark {
            digest: labels.text_digest(&page.tree),
            page: text_digest(&page.tree, |_| true),
            model: model_number(matcher, tools),
        },
        method,
        by_template,
        confidence: labels.confidence,
    }
}
