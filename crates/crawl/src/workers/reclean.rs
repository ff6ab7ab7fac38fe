//! The end of a walk: its pages get the text of the model as it is now.

use dehusk_core::changing_parts::PageParts;
use dehusk_core::clean::{KeepText, LabeledPage, label_page};
use dehusk_html::{parse_bytes, text_digest};
use dehusk_template::learner::FoundPage;

use super::clean::{labeled_by, model_number, packed_html};
use super::{Tools, WorkResult};
use crate::site::{Comparisons, Walk};
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::revisit::TextMark;
use dehusk_store::{ConfirmedPage, Doubt, LastText, PackedPage, RecleanedPage, StalePage, unpack};

/// The number of the model, and the training pages whose text stands: their labels are known without their bodies.
pub(super) fn number_model(mut walk: Box<Walk>, tools: &Tools) -> WorkResult {
    let matcher = walk.template.prepare();
    let model = model_number(matcher.as_deref(), tools);
    let mut confirmed = Vec::new();
    // Main content is chosen from the page itself.
    if tools.settings.core.clean.keep == KeepText::Own
        && walk.is_updated
        && let Some(matcher) = walk.template.prepare()
    {
        let confirm = |(number, fingerprint): (&u64, &u64)| {
            let labels = matcher.confirm_labels(*number)?;
            Some(ConfirmedPage { fingerprint: *fingerprint, confidence: labels.confidence, nearest: labels.nearest })
        };
        confirmed.extend(walk.training_pages.iter().filter_map(confirm));
    }
    WorkResult::ModelNumbered { walk, model, confirmed }
}

/// A version of a page, cleaned by the model of today.
struct Version {
    page: FoundPage,
    labeled: LabeledPage,
    digest: u64,
    /// That of the form which is compared with the last version: its own, except where one of them was rendered.
    compared: u64,
    /// Its texts, where it is compared with another one.
    parts: PageParts,
}

/// A page that is cleaned again, and what it is compared with.
struct Compared {
    now: Version,
    last: Option<Version>,
    /// Whether the last version was a change, on the run before.
    changed_before: bool,
    /// Digest of the text that is stored.
    stored: Option<u64>,
    /// Digest of a text that was not taken for a version of the page.
    doubted: Option<u64>,
}

/// Cleans pages again by the model that their site ends with, and their last versions where only these can tell whether
/// the page has changed.
pub(super) fn reclean(mut walk: Box<Walk>, model: u64, stale: Vec<StalePage>, tools: &Tools) -> WorkResult {
    let after = stale.last().map_or(i64::MAX, |page| page.place);
    let matcher = walk.template.prepare().map(|matcher| &*matcher);
    let version = |packed: PackedPage, is_compared: bool| {
        let PackedPage { url, content_type, raw, .. } = packed;
        let body = unpack(&raw).inspect_err(|e| tracing::warn!("{url}: the stored page cannot be read back: {e}"));
        let (tree, _) = parse_bytes(&body.ok()?, content_type.as_deref(), &tools.settings.core.parse);
        let labeled = label_page(&tree, None, matcher, &tools.settings.core.clean);
        let digest = labeled.labels.text_digest(&tree);
        let is_ignored = |text: &str| tools.ignored.is_match(text);
        let parts = is_compared.then(|| PageParts::new(&tree, labeled.labels.is_own(), is_ignored));
        let (page, parts) = (FoundPage::new(url, tree), parts.unwrap_or_default());
        Some(Version { page, labeled, digest, compared: digest, parts })
    };
    let read = |stale: StalePage| {
        let last = stale.last.and_then(|last| version(last, true));
        // One that cannot be read back keeps the text that it has.
        let mut now = version(stale.page, last.is_some())?;
        if let Some(compared) = stale.compared.and_then(|compared| version(compared, true)) {
            (now.compared, now.parts) = (compared.digest, compared.parts);
        }
        let StalePage { changed_before, stored, doubted, .. } = stale;
        Some(Compared { now, last, changed_before, stored, doubted })
    };
    let pages: Vec<Compared> = stale.into_iter().filter_map(read).collect();
    // All of them first: of pages that became one text, the first one is no page either.
    for Compared { now, last, .. } in &pages {
        if let Some(last) = last.as_ref().filter(|last| last.digest != now.compared) {
            let [before, now] = [&last.parts, &now.parts].map(|parts| parts.beyond(&walk.comparisons.known).0);
            if before != now {
                walk.comparisons.note_text(before, now);
            }
        }
    }
    let reclean = |page: Compared| {
        let Compared { now, last, changed_before, stored, doubted } = page;
        let Version { page, labeled, digest, compared, parts } = now;
        let digest_of = |last: &Version| if last.digest == compared { digest } else { last.digest };
        let text = TextMark { digest, page: text_digest(&page.tree, |_| true), model };
        let html = (stored != Some(digest)).then(|| packed_html(&page, &labeled, tools));
        let mut reclean = RecleanedPage {
            url: page.fetched,
            text,
            labeled: labeled_by(&labeled),
            html,
            last_text: last.as_ref().map(|last| LastText { digest: digest_of(last), has_news: true }),
            doubt: None,
        };
        if let Some(last) = last.filter(|last| last.digest != compared) {
            let comparisons = &mut walk.comparisons;
            let found = doubt(comparisons, &last.parts, &parts, doubted);
            reclean.doubt = found.filter(|_| tools.settings.crawl.withhold);
            if reclean.doubt.is_none() {
                let difference = last.parts.compare(&parts);
                let has_news = !difference.is_within(&comparisons.known);
                reclean.last_text = Some(LastText { digest: last.digest, has_news });
                if tools.settings.crawl.learn_changing {
                    comparisons.note_parts(&difference, changed_before);
                }
            }
        }
        reclean
    };
    let pages = pages.into_iter().map(reclean).collect();
    WorkResult::Recleaned { walk, model, after, pages }
}

/// Letters of a page of which something must be left.
const ENOUGH_LETTERS: usize = 400;

/// Share of its letters of which a page has shrunk.
const NEXT_TO_NOTHING: f64 = 0.05;

/// Why a text is not taken for a version of a page. `before` is the text that was not the last time.
fn doubt(comparisons: &Comparisons, last: &PageParts, now: &PageParts, before: Option<u64>) -> Option<Doubt> {
    let ((_, n_last), (text, n_now)) = (last.beyond(&comparisons.known), now.beyond(&comparisons.known));
    if comparisons.is_one_text(text) {
        let reason = "has the same text as other pages of the site that had their own";
        return Some(Doubt { reason: Reason::new(ReasonCode::OneText, reason), text });
    }
    let is_little = n_last >= ENOUGH_LETTERS && (n_now as f64) < NEXT_TO_NOTHING * n_last as f64;
    (is_little && before != Some(text)).then(|| {
        let reason =
            format!("has {n_now} letters of its own, where it had {n_last}; it is believed if it has them again");
        Doubt { reason: Reason::new(ReasonCode::Shrunk, reason), text }
    })
}
