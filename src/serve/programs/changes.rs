//! Pages that are new, changed, gone, moved or back, in the order in which they were found so.

use serde_json::{Value, json};

use crate::serve::{Inspector, Refusal};
use dehusk_core::calendar::iso_8601;
use dehusk_settings::NoindexPages;
use dehusk_store::{FeedRow, Store};

/// Changes of an answer, at most, and of one part of them that is read.
const MOST: usize = 1000;

/// Changes that are read for one answer.
const MOST_READ: usize = 100_000;

/// The changes after a number, of one host if it is named. `next` is the number to ask with for those that follow.
pub(in crate::serve) fn changes(
    inspector: &Inspector,
    store: &Store,
    (since, limit): (i64, usize),
    host: Option<&str>,
) -> Result<Value, Refusal> {
    let hides = inspector.settings.store.noindex == NoindexPages::Hide;
    let is_asked = |row: &FeedRow| host.is_none_or(|host| host == row.page.host) && !(hides && row.page.noindex);
    let (limit, mut next, mut found) = (limit.clamp(1, MOST), since, Vec::new());
    // Of many hosts, those of one may be far apart.
    for _ in 0..MOST_READ / MOST {
        let rows = store.feed_after(next, MOST)?;
        let n = rows.len();
        for row in rows {
            if found.len() == limit {
                return Ok(json!({"schema": 1, "changes": found, "next": next}));
            }
            next = row.seq;
            found.extend(is_asked(&row).then(|| change(&row)));
        }
        if n < MOST {
            break;
        }
    }
    Ok(json!({"schema": 1, "changes": found, "next": next}))
}

fn change(row: &FeedRow) -> Value {
    let page = &row.page;
    json!({
        "seq": row.seq, "change": row.change, "url": page.url, "host": page.host, "run": page.run,
        "fetched_at": iso_8601(page.fetched_at), "moved_to": row.moved_to,
    })
}
