//! Pages without their template.

use dehusk_content::Labels;
use dehusk_core::clean::{LabeledPage, TemplateMatcher, label_candidate, label_page};
use dehusk_html::{NodeId, PageUrl, Site, Tree, parse_bytes, text_digest};
use dehusk_render::write_own_html;
use dehusk_template::learner::FoundPage;
use dehusk_template::site_model::{Candidate, MissingPage};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::links::LinkFinder;
use super::page::{FetchedPage, ParsedPage, page_write};
use super::{PageWaiter, Tools, Withheld, WorkResult};
use crate::fetch::Response;
use crate::site::{Probe, Walk};
use dehusk_core::suspicion::{LITTLE, letters_of};
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
    if Withheld::needs_rendering(&fetched, &parsed, tools) {
        return WorkResult::NeedsRendering(PageWaiter::Walk(walk), Box::new(fetched));
    }
    let tree = &parsed.page.tree;
    let labeled = walk.template.prepare().map(|matcher| matcher.candidate(tree));
    let own_letters = || match &labeled {
        Some(labeled) => letters_of(tree, labeled.labels.is_own()),
        None => letters_of(tree, |_| true),
    };
    if let Some(withheld) = Withheld::new(&mut fetched, &parsed, tools, own_letters) {
        return WorkResult::Withheld(PageWaiter::Walk(walk), withheld);
    }
    match missing(&mut walk, labeled.as_ref(), &fetched, &parsed.page, tools) {
        Missing::No => {}
        Missing::Is => return WorkResult::Withheld(PageWaiter::Walk(walk), Withheld::as_missing(&mut fetched)),
        Missing::Unknown => {
            walk.probe = Probe::Asked(Some(Box::new(fetched)));
            return WorkResult::NeedProbe(walk);
        }
    }
    let mut finder = LinkFinder::of_walk(&mut walk, &scope, tools);
    let (links, refused) = finder.links_of(&parsed, fetched.request.depth + 1);
    finder.give_back(&mut walk);
    let number = url_number(own, &parsed.page.url);
    let (cleaned, is_kept) = match walk.template.prepare().zip(labeled) {
        Some((matcher, labeled)) => {
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

/// Whether a page is what its site gives for an address that it does not have.
enum Missing {
    No,
    Is,
    /// The site is to be asked first.
    Unknown,
}

/// Looks at pages with little text only. What the site has answered becomes a part of its model.
fn missing(
    walk: &mut Walk,
    labeled: Option<&Candidate<'_>>,
    fetched: &FetchedPage,
    page: &FoundPage,
    tools: &Tools,
) -> Missing {
    let crawl = &tools.settings.crawl;
    let probe = std::mem::replace(&mut walk.probe, Probe::Asked(None));
    let (Some(matcher), Some(labeled)) = (walk.template.prepare(), labeled) else { return Missing::No };
    if !(crawl.withhold && crawl.probe) || fetched.visit.is_none() || matcher.training_set().is_none() {
        return Missing::No;
    }
    let is_unasked = matches!(probe, Probe::Unasked) && matcher.missing_page().is_none();
    if let Probe::Answered(answer, _) = probe {
        matcher
            .set_missing_page(answer.map_or_else(MissingPage::default, |answer| missing_page(matcher, &answer, tools)));
        walk.is_updated = true;
    }
    let own = own_words(&page.tree, &labeled.labels, &page.url);
    match (own, matcher.missing_page()) {
        (Some(own), Some(missing)) if missing.is_alike(&own) => Missing::Is,
        (Some(_), None) if is_unasked => Missing::Unknown,
        _ => {
            if is_unasked {
                walk.probe = Probe::Unasked;
            }
            Missing::No
        }
    }
}

/// What a site says at an address that it does not have.
fn missing_page(matcher: &TemplateMatcher, answer: &Response, tools: &Tools) -> MissingPage {
    let (tree, _) = parse_bytes(&answer.body, answer.content_type.as_deref(), &tools.settings.core.parse);
    own_words(&tree, &matcher.label(&tree), &answer.url).unwrap_or_default()
}

/// The own words of a page with little text.
fn own_words(tree: &Tree, labels: &Labels, url: &PageUrl) -> Option<MissingPage> {
    let own = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node) && !labels.is_template(*node));
    let letters = own.flat_map(|node| tree.text(node).chars()).filter(|c| c.is_alphanumeric());
    (letters.take(LITTLE).count() < LITTLE).then(|| MissingPage::new(&labels.text(tree), url.path()))
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
