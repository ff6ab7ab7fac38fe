//! Stored pages, as programs read them, and what differs between two versions of one.

use serde_json::{Value, json};
use similar::TextDiff;

use super::{Form, Given, cleaned};
use crate::serve::{Inspector, Refusal};
use dehusk_core::calendar::iso_8601;
use dehusk_core::rights::RightsHeaders;
use dehusk_html::{PageUrl, parse, write_text};
use dehusk_settings::NoindexPages;
use dehusk_store::{PageRow, Store};

/// How long two versions are compared.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(2);

/// Bytes of a text that are compared.
const MOST_TEXT: usize = 400_000;

/// A stored page, as it was after a run, cleaned by the newest template of its site.
pub(in crate::serve) fn read_page(
    inspector: &Inspector,
    store: &Store,
    url: &str,
    run: Option<i64>,
    form: Form,
) -> Result<Value, Refusal> {
    let row = found(inspector, store, url, run)?;
    let given = Given {
        body: store.load_raw(&row)?,
        content_type: row.content_type.clone(),
        url: PageUrl::parse(&row.url).ok(),
        site: None,
        alone: false,
        headers: RightsHeaders::default(),
        said: row.rights.statements.clone(),
        fetched_at: Some(row.fetched_at),
    };
    let mut answer = serde_json::to_value(cleaned(inspector, store, given, form)?).unwrap_or_default();
    for (name, value) in
        [("run", json!(row.run)), ("fetched_at", json!(iso_8601(row.fetched_at))), ("state", json!(row.state))]
    {
        answer[name] = value;
    }
    Ok(answer)
}

/// The lines that differ between the newest version of a page and the one before it with another text.
pub(in crate::serve) fn difference(inspector: &Inspector, store: &Store, url: &str) -> Result<Value, Refusal> {
    let newest = found(inspector, store, url, None)?;
    let text = |row: &PageRow| -> Result<String, Refusal> {
        let html = store.load_cleaned(row)?.unwrap_or_default();
        let text = write_text(&parse(&html, &inspector.settings.core.parse), |_| true);
        Ok(text[..text.floor_char_boundary(MOST_TEXT)].to_owned())
    };
    let new = text(&newest)?;
    for before in store.page_versions(&newest.url)?.iter().rev().filter(|row| row.run < newest.run) {
        let old = text(before)?;
        if old != new {
            let diff = TextDiff::configure().timeout(LONGEST).diff_lines(&old, &new);
            let name = |row: &PageRow| format!("run {} {}", row.run, iso_8601(row.fetched_at));
            let unified = diff.unified_diff().header(&name(before), &name(&newest)).to_string();
            return Ok(json!({
                "schema": 1, "url": newest.url, "from_run": before.run, "to_run": newest.run, "diff": unified,
            }));
        }
    }
    Err(Refusal::Nothing(format!("{}: no earlier version with another text", newest.url)))
}

fn found(inspector: &Inspector, store: &Store, url: &str, run: Option<i64>) -> Result<PageRow, Refusal> {
    let nothing = || Refusal::Nothing(format!("{url}: no stored version"));
    let row = match run {
        None => store.find_page(url)?,
        Some(run) => store.page_versions(url)?.into_iter().rev().find(|version| version.run <= run),
    };
    let row = row.ok_or_else(nothing)?;
    if row.noindex && inspector.settings.store.noindex == NoindexPages::Hide {
        return Err(Refusal::Forbidden(format!("{url}: its owner wants it in no collection (noindex)")));
    }
    Ok(row)
}
