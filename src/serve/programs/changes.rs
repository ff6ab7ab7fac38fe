//! Pages that are new, changed, gone, moved or back, in the order in which they were found so.

use serde_json::{Value, json};

use crate::serve::{Inspector, Refusal};
use dehusk_core::calendar::iso_8601;
use dehusk_settings::NoindexPages;
use dehusk_store::{FeedRow, Store};

/// Changes of an answer, at most.
const MOST: usize = 1000;

/// The changes after a number, of one host if it is named. `next` is the number to ask with for those that follow.
pub(in crate::serve) fn changes(
    inspector: &Inspector,
    store: &Store,
    (since, limit): (i64, usize),
    host: Option<&str>,
) -> Result<Value, Refusal> {
    let rows = store.feed_after(since, limit.clamp(1, MOST))?;
    let next = rows.last().map_or(since, |row| row.seq);
    let hides = inspector.settings.store.noindex == NoindexPages::Hide;
    let is_asked = |row: &&FeedRow| host.is_none_or(|host| host == row.page.host) && !(hides && row.page.noindex);
    let changes: Vec<Value> = rows.iter().filter(is_asked).map(change).collect();
    Ok(json!({"schema": 1, "changes": changes, "next": next}))
}

fn change(row: &FeedRow) -> Value {
    let page = &row.page;
    json!({
        "seq": row.seq, "change": row.change, "url": page.url, "host": page.host, "run": page.run,
        "fetched_at": iso_8601(page.fetched_at), "moved_to": row.moved_to,
    })
}
