//! Pages without their template.

use dehusk_content::Labels;
use dehusk_core::clean::{LabeledPage, TemplateMatcher, label_candidate, label_page};
use dehusk_html::text_digest;
use dehusk_html::{PageUrl, Site};
use dehusk_render::write_own_html;
use dehusk_template::learner::FoundPage;
use dehusk_template::site_model::Candidate;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::links::LinkFinder;
use super::page::{FetchedPage, ParsedPage, page_write};
use super::{Tools, Withheld, WithheldFrom, WorkResult};
use crate::site::Walk;
use dehusk_core::suspicion::letters_of;
use dehusk_store::revisit::TextMark;
use dehusk_store::{Cleaned, LabeledBy, SiteId};

/// A page of the walk: its links, its place in the model, its cleaned form.
///
/// The first pages of a walk become training pages, until there are `site_model.extra_pages` of them, and later
/// versions of training pages take their place. Each that is taken makes the texts before it stale, so that they are
/// cleaned again at the end of the site: a sample of all pages of the site would mean all its pages.
pub(super) fn walk_page(
    site: SiteId,
    mut walk: Box<Walk>,
    own: &Site,
    mut fetched: FetchedPage,
    tools: &Tools,
) -> WorkResult {
    let scope = tools.scope.site(own.key());
    let parsed = ParsedPage::new(&fetched, tools);
    let tree = &parsed.page.tree;
    let own_letters = || match walk.template.prepare() {
        Some(matcher) => {
            let labeled = matcher.candidate(tree);
            letters_of(tree, labeled.labels.is_own())
        }
        None => letters_of(tree, |_| true),
    };
    if let Some(withheld) = Withheld::new(&mut fetched, &parsed, tools, own_letters) {
        return WorkResult::Withheld(WithheldFrom::Walk(walk), withheld);
    }
    let mut finder = LinkFinder::of_walk(&mut walk, &scope, tools);
    let (links, refused) = finder.links_of(&parsed, fetched.request.depth + 1);
    finder.give_back(&mut walk);
    let number = url_number(own, &parsed.page.url);
    let (cleaned, is_kept) = match walk.template.prepare() {
        Some(matcher) => {
            let labeled = matcher.candidate(&parsed.page.tree);
            let cleaned = clean_candidate(&parsed.page, &labeled, matcher, tools);
            let may_add = matcher.has_room() || matcher.knows(number);
            (cleaned, may_add && matcher.add_page(number, labeled))
        }
        None => (clean(&parsed.page, None, None, tools), false),
    };
    walk.is_updated |= is_kept;
    if is_kept {
        walk.training_pages.insert(number, parsed.page.fetched.fingerprint());
    }
    let page = page_write(site, fetched, &parsed, Some(cleaned), links, tools);
    WorkResult::Walked { walk, page, links: Vec::new(), refused }
}

/// Number of a URL as the site names it, by which its training pages are known.
pub(super) fn url_number(own: &Site, url: &PageUrl) -> u64 {
    own.claim(url.clone()).as_ref().unwrap_or(url).fingerprint()
}

/// A number for all that the text of a page depends on, the page left out: the model, the options, the program.
pub(super) fn model_number(matcher: Option<&TemplateMatcher>, tools: &Tools) -> u64 {
    let number = matcher.map_or(0, TemplateMatcher::number);
    xxh3_64_with_seed(&number.to_le_bytes(), tools.cleaning)
}

/// Cleans a page by the first step of the chain that fits it.
pub(super) fn clean(
    page: &FoundPage,
    known: Option<Labels>,
    matcher: Option<&TemplateMatcher>,
    tools: &Tools,
) -> Cleaned {
    cleaned(page, &label_page(&page.tree, known, matcher, &tools.settings.core.clean), matcher, tools)
}

/// The same for a page that may become a training page.
pub(super) fn clean_candidate(
    page: &FoundPage,
    labeled: &Candidate<'_>,
    matcher: &TemplateMatcher,
    tools: &Tools,
) -> Cleaned {
    cleaned(page, &label_candidate(labeled, matcher, &tools.settings.core.clean), Some(matcher), tools)
}

fn cleaned(page: &FoundPage, labeled: &LabeledPage, matcher: Option<&TemplateMatcher>, tools: &Tools) -> Cleaned {
    let text = TextMark {
        digest: labeled.labels.text_digest(&page.tree),
        page: text_digest(&page.tree, |_| true),
        model: model_number(matcher, tools),
    };
    let html = packed_html(page, labeled, tools);
    Cleaned { url: page.fetched.clone(), html, text, labeled: labeled_by(labeled) }
}

/// The form of a labeled page for the store.
pub(super) fn packed_html(page: &FoundPage, labeled: &LabeledPage, tools: &Tools) -> Vec<u8> {
    let html = write_own_html(&page.tree, Some(&page.fetched), labeled.labels.is_own());
    tools.shared.packer.pack(html.as_bytes(), tools.settings.store.zstd_level)
}

pub(super) fn labeled_by(labeled: &LabeledPage) -> LabeledBy {
    let LabeledPage { labels, method, by_template } = labeled;
    LabeledBy { method: *method, by_template: *by_template, confidence: labels.confidence, nearest: labels.nearest }
}
