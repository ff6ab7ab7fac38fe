//! Pages without their template.

use dehusk_core::internals::clean::{LabeledPage, TemplateMatcher, label_page};
use dehusk_core::internals::labels::Labels;
use dehusk_core::internals::learner::FoundPage;
use dehusk_core::internals::page_url::{PageUrl, Site};

use super::links::LinkFinder;
use super::page::{FetchedPage, ParsedPage, page_write};
use super::{Tools, WorkResult};
use crate::crawl::site::Walk;
use crate::store::{Cleaned, SiteId, pack};

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
    let (mut labels, mut is_kept) = (None, false);
    let matcher = walk.template.prepare();
    if let Some(matcher) = matcher {
        let found = matcher.label(tree);
        is_kept = matcher.add_page(url_number(own, &parsed.page.url), tree, &found);
        labels = Some(found);
    }
    walk.is_updated |= is_kept;
    let cleaned = clean(&parsed.page, labels, walk.template.prepare().as_deref(), tools);
    let page = page_write(site, fetched, &parsed, Some(cleaned), links, tools);
    WorkResult::Walked { walk, page, links: Vec::new(), refused }
}

/// Number of a URL as the site names it, by which its training pages are known.
pub(super) fn url_number(own: &Site, url: &PageUrl) -> u64 {
    own.claim(url.clone()).as_ref().unwrap_or(url).fingerprint()
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
        html: pack(labels.html(&page.tree).as_bytes(), tools.settings.store.zstd_level),
        text_digest: labels.text_digest(&page.tree),
        method,
        by_template,
        confidence: labels.confidence,
    }
}
