//! When a page is visited again, and what a visit says about it. Policy only: no SQL, no clock.
//!
//! Life of a URL: waiting -> known, gone, moved, blocked or failed, and from each of these to each other. A page that
//! is gone, moved or blocked does not become failed: a server that fails says nothing about it. A page is due again
//! after its interval, which shrinks when its text has changed and grows when it has not (the adaptive schedule of
//! Nutch).

use crate::LastText;
use dehusk_settings::Revisit;

/// What the frontier knows about a URL. The numbers are those of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlState {
    /// Never requested.
    Waiting = 0,
    /// A page was found there.
    Known = 1,
    /// The server says that the page is no more.
    Gone = 2,
    /// It gave no page. The last snapshot of a page that was there is still what is known of it.
    Failed = 3,
    /// It redirects to another URL.
    Moved = 4,
    /// robots.txt forbids it.
    Blocked = 5,
}

impl UrlState {
    /// The state with this number; an unknown number counts as failed.
    pub fn from_number(number: i64) -> UrlState {
        match number {
            0 => UrlState::Waiting,
            1 => UrlState::Known,
            2 => UrlState::Gone,
            4 => UrlState::Moved,
            5 => UrlState::Blocked,
            _ => UrlState::Failed,
        }
    }

    /// The word in the store for the state of a page.
    pub fn as_str(self) -> &'static str {
        match self {
            UrlState::Waiting => "waiting",
            UrlState::Known => "alive",
            UrlState::Gone => "gone",
            UrlState::Failed => "failed",
            UrlState::Moved => "moved",
            UrlState::Blocked => "blocked",
        }
    }
}

/// What a request for a URL came to when it gave no new page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlOutcome {
    /// The page is as it was.
    Unchanged,
    /// Gone (404, 410).
    Gone,
    /// No page, for any other reason.
    Failed,
    /// It redirects for good (301, 308) to another URL of the site, which has a record of its own.
    Moved,
    /// It redirects there for now (302, 303, 307), or nobody knows for how long.
    MovedForNow,
    /// robots.txt forbids it.
    Blocked,
}

/// What a visit found, compared with the visit before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Never seen before.
    New,
    /// The text differs.
    Changed,
    /// Something other than the text differs.
    SameText,
    /// The text differs because the site's model does: cleaned by one model, both versions have the same text.
    Recleaned,
    /// Nothing differs.
    Unchanged,
    /// The page is no more.
    Gone,
    /// The page redirects to another URL.
    Moved,
    /// robots.txt forbids the page by now.
    Blocked,
    /// The page could not be had.
    Failed,
    /// The page was gone, moved, blocked or failed, and is there again.
    Returned,
}

impl Change {
    /// Number of changes.
    pub const COUNT: usize = 10;

    /// The word in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Changed => "changed",
            Change::SameText => "same_text",
            Change::Recleaned => "recleaned",
            Change::Unchanged => "unchanged",
            Change::Gone => "gone",
            Change::Moved => "moved",
            Change::Blocked => "blocked",
            Change::Failed => "failed",
            Change::Returned => "returned",
        }
    }

    /// What the snapshot of a page can be, by its word in the store.
    pub fn from_word(word: &str) -> Option<Change> {
        let all = [Change::New, Change::Changed, Change::SameText, Change::Recleaned, Change::Unchanged];
        all.into_iter().find(|change| change.as_str() == word)
    }
}

/// Digest of a text without template, and the number of the model that left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextMark {
    /// Digest of the text.
    pub digest: u64,
    /// Digest of all text of the page, template included.
    pub page: u64,
    /// Number of the model and of the options that the page was cleaned with.
    pub model: u64,
}

/// What is known about a URL before a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRecord {
    /// Its state.
    pub state: UrlState,
    /// Whether a snapshot of it is stored.
    pub has_page: bool,
    /// Digest of the last body.
    pub digest: Option<String>,
    /// The last text.
    pub text: Option<TextMark>,
    /// Time between visits, milliseconds.
    pub interval_ms: Option<i64>,
    /// Whether this run has visited it already.
    pub is_of_run: bool,
}

impl UrlRecord {
    /// Whether a page was there, and was not at the last visit.
    pub fn is_away(&self) -> bool {
        self.has_page && !matches!(self.state, UrlState::Known | UrlState::Waiting)
    }
}

/// A record after a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlUpdate {
    /// The new state.
    pub state: UrlState,
    /// The new interval, milliseconds.
    pub interval_ms: i64,
    /// What the visit found; `None` when that is not known yet, or no news.
    pub change: Option<Change>,
}

/// After a request that gave no new page.
pub fn after_outcome(before: &UrlRecord, outcome: UrlOutcome, revisit: &Revisit) -> UrlUpdate {
    let grown = match before.interval_ms {
        // Another request in the same run is not another visit.
        Some(interval) if before.is_of_run => interval,
        interval => next_interval(interval, false, revisit),
    };
    let state = match (outcome, before.state) {
        (UrlOutcome::Unchanged, _) => UrlState::Known,
        (UrlOutcome::Gone, _) => UrlState::Gone,
        (UrlOutcome::Moved | UrlOutcome::MovedForNow, _) => UrlState::Moved,
        (UrlOutcome::Blocked, _) => UrlState::Blocked,
        (UrlOutcome::Failed, state @ (UrlState::Gone | UrlState::Moved | UrlState::Blocked)) => state,
        (UrlOutcome::Failed, _) => UrlState::Failed,
    };
    let change = match state {
        UrlState::Known if before.is_away() => Some(Change::Returned),
        UrlState::Known => Some(Change::Unchanged),
        // What was never there cannot go.
        state if !before.has_page || state == before.state => None,
        UrlState::Gone => Some(Change::Gone),
        UrlState::Moved => Some(Change::Moved),
        UrlState::Blocked => Some(Change::Blocked),
        UrlState::Failed | UrlState::Waiting => Some(Change::Failed),
    };
    // The new URL is visited by itself.
    let is_for_good = matches!(outcome, UrlOutcome::Gone | UrlOutcome::Moved);
    let interval_ms = if is_for_good { longest(revisit) } else { grown };
    UrlUpdate { state, interval_ms, change }
}

/// After a page was fetched. `text` is its text, where that is known already. Without it, and where it cannot be
/// compared with the last one, the change and the interval wait for [`after_cleaning`] or [`after_recleaning`].
pub fn after_fetch(before: Option<&UrlRecord>, digest: &str, text: Option<TextMark>, revisit: &Revisit) -> UrlUpdate {
    let interval = before.and_then(|before| before.interval_ms);
    let is_same = before.is_some_and(|before| has_same_body(before, digest));
    let is_known = before.is_some_and(|before| before.has_page && before.digest.is_some());
    let is_of_run = before.is_some_and(|before| before.is_of_run);
    let compared = text.and_then(|text| text_change(before.and_then(|before| before.text), text));
    let change = match compared {
        _ if is_same && before.is_some_and(UrlRecord::is_away) => Some(Change::Returned),
        _ if is_same => Some(Change::Unchanged),
        Some(change) if !is_of_run => Some(change),
        // A page that has moved here has a text, which only the model at the end of the site can compare.
        _ => (!is_known && before.is_none_or(|before| before.text.is_none())).then_some(Change::New),
    };
    let interval_ms = match interval {
        // Another fetch in the same run is not another visit.
        Some(interval) if is_of_run => interval,
        _ if compared.is_none() && !is_same => interval.unwrap_or_else(|| first(revisit)),
        interval => interval_after(interval, change, revisit),
    };
    UrlUpdate { state: UrlState::Known, interval_ms, change }
}

/// After the text of a fetched page became known. `is_first_text` is false when the snapshot is of an earlier run, or
/// when its text was known before in this run.
pub fn after_cleaning(
    last_text: Option<TextMark>,
    interval_ms: Option<i64>,
    text: TextMark,
    is_first_text: bool,
    revisit: &Revisit,
) -> UrlUpdate {
    let change = text_change(last_text, text);
    let interval_ms = match interval_ms {
        Some(interval) if !is_first_text || change.is_none() => interval,
        interval => interval_after(interval, change, revisit),
    };
    UrlUpdate { state: UrlState::Known, interval_ms, change: change.filter(|_| is_first_text) }
}

/// After a page was cleaned again at the end of its site, because the model has grown since, or because its last
/// version was cleaned by another model.
///
/// `change` is what is known of the visit. `last` is the text of the last version by this model, where `change` is not
/// known, and `text` that of this version.
pub fn after_recleaning(
    change: Option<Change>,
    stored: Option<TextMark>,
    last: Option<LastText>,
    interval_ms: Option<i64>,
    text: u64,
    revisit: &Revisit,
) -> UrlUpdate {
    let is_as_stored = stored.is_some_and(|stored| stored.digest == text);
    let decided = match (change, last) {
        // The words that were stored are the words of today, whatever today's model makes of the last version: where
        // the template has changed, it takes the former template for the page's own.
        (None | Some(Change::SameText | Change::Recleaned), _) if is_as_stored => Change::SameText,
        (None, Some(last)) if last.digest != text && last.has_news => Change::Changed,
        (None, Some(last)) if last.digest != text => Change::SameText,
        (None, Some(_)) | (Some(Change::SameText), _) => Change::Recleaned,
        // The last version is no longer there.
        (None, None) => {
            if stored.is_some() {
                Change::Changed
            } else {
                Change::New
            }
        }
        (Some(change), _) => change,
    };
    let interval_ms = match interval_ms {
        Some(interval) if change.is_some() => interval,
        interval => interval_after(interval, Some(decided), revisit),
    };
    UrlUpdate { state: UrlState::Known, interval_ms, change: Some(decided) }
}

/// Whether a fetched body is the one that is stored.
pub fn has_same_body(before: &UrlRecord, digest: &str) -> bool {
    before.has_page && before.digest.as_deref() == Some(digest)
}

/// `None` where the texts differ: only the model that the site ends with can tell, by cleaning both versions. One model
/// has cleaned both where it has not grown yet tonight; to it a new year in the footer is the page's own.
fn text_change(last: Option<TextMark>, text: TextMark) -> Option<Change> {
    match last {
        None => Some(Change::New),
        Some(last) if last.digest == text.digest => Some(Change::SameText),
        Some(last) if last.page == text.page => Some(Change::Recleaned),
        Some(_) => None,
    }
}

fn interval_after(interval: Option<i64>, change: Option<Change>, revisit: &Revisit) -> i64 {
    match change {
        Some(Change::New) => first(revisit),
        change => next_interval(interval, change == Some(Change::Changed), revisit),
    }
}

fn next_interval(last: Option<i64>, changed: bool, revisit: &Revisit) -> i64 {
    let Some(last) = last else { return first(revisit) };
    let factor = if changed { revisit.shrink } else { revisit.grow };
    bounded((last as f64 * factor) as i64, revisit)
}

pub(super) fn first(revisit: &Revisit) -> i64 {
    bounded(revisit.first.as_millis() as i64, revisit)
}

fn longest(revisit: &Revisit) -> i64 {
    revisit.most.max(revisit.least).as_millis() as i64
}

pub(super) fn bounded(interval: i64, revisit: &Revisit) -> i64 {
    interval.clamp(revisit.least.as_millis() as i64, longest(revisit))
}

#[cfg(test)]
mod tests;
