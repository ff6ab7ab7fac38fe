//! What visits say, one after the other.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const DAY: i64 = 86_400_000;

fn mark(digest: u64) -> TextMark {
    TextMark { digest, page: digest, model: 9 }
}

fn record(interval_ms: Option<i64>) -> UrlRecord {
    UrlRecord {
        state: UrlState::Known,
        has_page: true,
        digest: Some("old".to_owned()),
        text: Some(mark(1)),
        interval_ms,
        is_of_run: false,
    }
}

fn news(digest: u64) -> LastText {
    LastText { digest, has_news: true }
}

fn revisit() -> Revisit {
    let seconds = Duration::from_secs;
    Revisit { first: seconds(100), least: seconds(50), most: seconds(150), ..Revisit::default() }
}

/// A fetch, and the cleaning of both versions by one model at the end of the site.
fn visited(before: &UrlRecord, text: u64, revisit: &Revisit) -> UrlUpdate {
    let fetched = after_fetch(Some(before), "new", Some(mark(text)), revisit);
    let last = before.text.map(|last| last.digest);
    match fetched.change {
        None => after_recleaning(None, before.text, last.map(news), Some(fetched.interval_ms), text, revisit),
        Some(_) => fetched,
    }
}

#[test]
fn intervals_shrink_and_grow_within_bounds() {
    let after = |interval, text| visited(&record(interval), text, &revisit()).interval_ms;
    assert_eq!((after(Some(100_000), 2), after(Some(100_000), 1)), (80_000, 140_000));
    assert_eq!((after(Some(140_000), 1), after(Some(51_000), 2)), (150_000, 50_000));
}

#[test]
fn a_page_that_changes_at_the_longest_interval_shrinks_from_there() {
    let revisit = Revisit::default();
    let before = record(Some(30 * DAY));
    let changed = visited(&before, 2, &revisit);
    assert_eq!((changed.interval_ms, changed.change), (24 * DAY, Some(Change::Changed)));
    // A training page: its text is known only when the site is learned.
    let fetched = after_fetch(Some(&before), "new", None, &revisit).interval_ms;
    let cleaned = after_cleaning(before.text, Some(fetched), mark(2), true, &revisit);
    assert_eq!((cleaned.interval_ms, cleaned.change), (30 * DAY, None), "its model may still grow");
    let decided = after_recleaning(None, before.text, Some(news(1)), Some(cleaned.interval_ms), 2, &revisit);
    assert_eq!((decided.interval_ms, decided.change), (24 * DAY, changed.change), "the same page, cleaned later");
}

#[test]
fn outcomes_without_a_page() {
    let after = |outcome| after_outcome(&record(Some(DAY)), outcome, &Revisit::default());
    assert_eq!(after(UrlOutcome::Unchanged).change, Some(Change::Unchanged));
    let gone = after(UrlOutcome::Gone);
    assert_eq!((gone.state, gone.interval_ms, gone.change), (UrlState::Gone, 30 * DAY, Some(Change::Gone)));
    let moved = after(UrlOutcome::Moved);
    assert_eq!((moved.state, moved.interval_ms, moved.change), (UrlState::Moved, 30 * DAY, Some(Change::Moved)));
    let for_now = after(UrlOutcome::MovedForNow);
    assert_eq!((for_now.state, for_now.change), (UrlState::Moved, Some(Change::Moved)));
    assert!(for_now.interval_ms < 2 * DAY, "asked again soon");
    let failed = after(UrlOutcome::Failed);
    assert_eq!((failed.state, failed.change), (UrlState::Failed, Some(Change::Failed)));
    let never_seen = UrlRecord { has_page: false, state: UrlState::Waiting, ..record(None) };
    let gone = after_outcome(&never_seen, UrlOutcome::Gone, &Revisit::default());
    assert_eq!(gone.change, None, "what was never there cannot go");
    assert_eq!(after_outcome(&never_seen, UrlOutcome::Failed, &Revisit::default()).state, UrlState::Failed);
}

#[test]
fn a_page_that_was_away_returns() {
    let revisit = Revisit::default();
    for state in [UrlState::Gone, UrlState::Moved, UrlState::Blocked, UrlState::Failed] {
        let away = UrlRecord { state, ..record(Some(DAY)) };
        assert_eq!(after_outcome(&away, UrlOutcome::Unchanged, &revisit).change, Some(Change::Returned));
        let same_body = after_fetch(Some(&away), "old", None, &revisit);
        assert_eq!((same_body.state, same_body.change), (UrlState::Known, Some(Change::Returned)));
        let failed = after_outcome(&away, UrlOutcome::Failed, &revisit);
        assert_eq!((failed.state, failed.change), (state, None), "a failure says nothing about it");
    }
    let gone_twice = UrlRecord { state: UrlState::Gone, ..record(Some(DAY)) };
    assert_eq!(after_outcome(&gone_twice, UrlOutcome::Gone, &revisit).change, None);
    let blocked = after_outcome(&gone_twice, UrlOutcome::Blocked, &revisit);
    assert_eq!((blocked.state, blocked.change), (UrlState::Blocked, Some(Change::Blocked)));
}

#[test]
fn a_second_fetch_in_a_run_is_no_second_visit() {
    let before = UrlRecord { is_of_run: true, ..record(Some(DAY)) };
    let update = after_fetch(Some(&before), "new", Some(mark(2)), &Revisit::default());
    assert_eq!((update.interval_ms, update.change), (DAY, None));
    let cleaned = after_cleaning(Some(mark(1)), Some(DAY), mark(2), false, &Revisit::default());
    assert_eq!((cleaned.interval_ms, cleaned.change), (DAY, None));
}

#[test]
fn another_model_is_no_change_of_the_page() {
    let (revisit, grown) = (revisit(), TextMark { digest: 2, page: 2, model: 10 });
    let before = record(Some(100_000));
    let fetched = after_fetch(Some(&before), "new", Some(grown), &revisit);
    assert_eq!((fetched.change, fetched.interval_ms), (None, 100_000), "not known yet");
    let same_words = after_fetch(Some(&before), "new", Some(TextMark { page: 1, ..grown }), &revisit);
    assert_eq!((same_words.change, same_words.interval_ms), (Some(Change::Recleaned), 140_000));
    let after = |change, last: Option<u64>, text| {
        let update = after_recleaning(change, before.text, last.map(news), Some(100_000), text, &revisit);
        (update.change.unwrap(), update.interval_ms)
    };
    assert_eq!(after(None, Some(2), 2), (Change::Recleaned, 140_000));
    assert_eq!(after(None, Some(1), 2), (Change::Changed, 80_000));
    assert_eq!(after(None, Some(1), 1), (Change::SameText, 140_000));
    assert_eq!(after(None, Some(9), 1), (Change::SameText, 140_000), "a footer with another year");
    assert_eq!(after(Some(Change::SameText), None, 2), (Change::Recleaned, 100_000));
    assert_eq!(after(Some(Change::Changed), None, 1), (Change::Changed, 100_000));
    assert_eq!(after(None, None, 2).0, Change::Changed, "the last version is gone");
}

#[test]
fn new_and_unchanged_pages() {
    let new = after_fetch(None, "new", Some(mark(7)), &revisit());
    assert_eq!((new.interval_ms, new.change), (100_000, Some(Change::New)));
    let unknown = after_fetch(None, "new", None, &revisit());
    assert_eq!((unknown.interval_ms, unknown.change), (100_000, Some(Change::New)));
    let same = after_fetch(Some(&record(Some(100_000))), "old", None, &revisit());
    assert_eq!((same.interval_ms, same.change), (140_000, Some(Change::Unchanged)));
}

proptest! {
    #[test]
    fn when_the_text_becomes_known_makes_no_difference(
        interval in prop::option::of(0..40 * DAY), last in prop::option::of(0..3_u64), text in 0..3_u64,
    ) {
        let revisit = Revisit::default();
        let last = last.map(mark);
        let before = UrlRecord { text: last, ..record(interval) };
        let text = mark(text);
        let at_once = after_fetch(Some(&before), "new", Some(text), &revisit);
        let fetched = after_fetch(Some(&before), "new", None, &revisit);
        let later = after_cleaning(last, Some(fetched.interval_ms), text, true, &revisit);
        prop_assert_eq!(at_once.change, later.change);
        if interval.is_some() {
            prop_assert_eq!(at_once.interval_ms, later.interval_ms);
        }
        // An interval that waits for the end of the site is that of before.
        if at_once.change.is_some() {
            let bounds = revisit.least.as_millis() as i64..=revisit.most.as_millis() as i64;
            prop_assert!(bounds.contains(&at_once.interval_ms) && bounds.contains(&later.interval_ms));
        }
    }
}
