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
use crate::settings::Settings;
use crate::store::{Cleaned, LabeledBy, PackedPage, RecleanedPage, SiteId, StalePage, pack, unpack};

/// A page of the walk: its links, its place in the model, its cleaned form.
///
/// The first pages of a walk become training pages, until there are `site_model.extra_pages` of them, and later
/// versions of training pages take their place. Each that is taken makes the texts before it stale, so that they are
/// cleaned again at the end of the site: a sample of all pages of the site would mean all its pages.
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
            let number = url_number(own, &parsed.page.url);
            let may_add = matcher.has_room() || matcher.knows(number);
            (cleaned, may_add && matcher.add_page(number, tree, &labels))
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

/// A number for the options that the text of a page depends on, and for the program.
pub(in crate::crawl) fn cleaning_number(settings: &Settings) -> u64 {
    let core = &settings.core;
    let options = format!("{:?} {:?} {:?}", core.clean, core.parse, core.learn.site_model);
    xxh3_64_with_seed(options.as_bytes(), CLEANING_VERSION)
}

/// Changes when this version of the program cleans a page otherwise than the former one.
const CLEANING_VERSION: u64 = 3;

/// A number for all that the text of a page depends on, the page left out: the model, the options, the program.
pub(super) fn model_number(matcher: Option<&TemplateMatcher>, tools: &Tools) -> u64 {
    let number = matcher.map_or(0, TemplateMatcher::number);
    xxh3_64_with_seed(&number.to_le_bytes(), tools.cleaning)
}

/// Cleans pages again by the model that their site ends with, and their last versions where only these can tell whether
/// the page has changed.
pub(super) fn reclean(mut walk: Box<Walk>, model: u64, stale: Vec<StalePage>, tools: &Tools) -> WorkResult {
    let after = stale.last().map_or(i64::MAX, |page| page.place);
    let matcher = walk.template.prepare();
    let page_of = |packed: PackedPage| {
        let PackedPage { url, content_type, raw } = packed;
        let body = unpack(&raw).inspect_err(|e| tracing::warn!("{url}: the stored page cannot be read back: {e}"));
        let (tree, _) = parse_bytes(&body.ok()?, content_type.as_deref(), &tools.settings.core.parse);
        Some(FoundPage::new(url, tree))
    };
    let how = &tools.settings.core.clean;
    let reclean = |stale: StalePage| {
        let text_of = |page: &FoundPage| {
            let labeled = label_page(&page.tree, None, matcher.as_deref(), how);
            (labeled.labels.text_digest(&page.tree), labeled)
        };
        let last_text = stale.last.and_then(page_of).map(|last| text_of(&last).0);
        // One that cannot be read back keeps the text that it has.
        let page = page_of(stale.page)?;
        let (digest, labeled) = text_of(&page);
        let text = TextMark { digest, page: text_digest(&page.tree, |_| true), model };
        let html = (stale.stored != Some(digest)).then(|| packed_html(&page, &labeled, tools));
        Some(RecleanedPage { url: page.fetched, text, labeled: labeled_by(&labeled), html, last_text })
    };
    let pages = stale.into_iter().filter_map(reclean).collect();
    WorkResult::Recleaned { walk, model, after, pages }
}

/// Cleans a page by the first step of the chain that fits it.
pub(super) fn clean(
    page: &FoundPage,
    known: Option<Labels>,
    matcher: Option<&TemplateMatcher>,
    tools: &Tools,
) -> Cleaned {
    let labeled = label_page(&page.tree, known, matcher, &tools.settings.core.clean);
    let text = TextMark {
        digest: labeled.labels.text_digest(&page.tree),
        page: text_digest(&page.tree, |_| true),
        model: model_number(matcher, tools),
    };
    let html = packed_html(page, &labeled, tools);
    Cleaned { url: page.fetched.clone(), html, text, labeled: labeled_by(&labeled) }
}

/// The form of a labeled page for the store.
fn packed_html(page: &FoundPage, labeled: &LabeledPage, tools: &Tools) -> Vec<u8> {
    pack(labeled.labels.html(&page.tree, Some(&page.fetched)).as_bytes(), tools.settings.store.zstd_level)
}

fn labeled_by(labeled: &LabeledPage) -> LabeledBy {
    let LabeledPage { labels, method, by_template } = labeled;
    LabeledBy { method: *method, by_template: *by_template, confidence: labels.confidence, nearest: labels.nearest }
}
