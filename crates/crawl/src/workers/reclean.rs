//! The end of a walk: its pages get the text of the model as it is now.

use dehusk_core::clean::{KeepText, label_page};
use dehusk_html::{parse_bytes, text_digest};
use dehusk_template::learner::FoundPage;

use super::clean::{labeled_by, model_number, packed_html};
use super::{Tools, WorkResult};
use crate::site::Walk;
use dehusk_store::revisit::TextMark;
use dehusk_store::{ConfirmedPage, PackedPage, RecleanedPage, StalePage, unpack};

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
