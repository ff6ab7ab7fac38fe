//! The views of a page that are text: Markdown, text, source, and the words that changed.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::page::{Asked, LabeledPage, View};
use super::words::{bytes, minute};
use super::{Inspector, Refusal};
use dehusk_core::write_page_markdown;
use dehusk_html::{parse, write_text};
use dehusk_store::{PageRow, Store};

/// Bytes of a text that are shown or compared.
const MOST_TEXT: usize = 400_000;

/// How long two versions are compared.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(2);

/// What a view shows that is no document.
pub(super) fn shown_text(
    inspector: &Inspector,
    store: &Store,
    asked: &Asked,
    row: &PageRow,
    labeled: &LabeledPage,
) -> Result<Option<Markup>, Refusal> {
    let text = match asked.view {
        View::Markdown => {
            let (url, options) = (labeled.url.as_ref(), &inspector.settings.core.markdown);
            write_page_markdown(&labeled.tree, url, options, labeled.main.is_own())
        }
        View::Text => labeled.main.text(&labeled.tree),
        View::Source => String::from_utf8_lossy(&store.load_raw(row)?).into_owned(),
        View::Diff => return difference(inspector, store, row).map(Some),
        _ => return Ok(None),
    };
    let shown = &text[..text.floor_char_boundary(MOST_TEXT)];
    let cut = text.len() - shown.len();
    Ok(Some(html! {
        pre.source tabindex="0" { (shown) }
        @if cut > 0 { p.dim { (bytes(cut as i64)) " more are not shown." } }
        @if text.trim().is_empty() { p.dim { "There is no main content." } }
    }))
}

/// Words that changed between a version and the one before it.
fn difference(inspector: &Inspector, store: &Store, row: &PageRow) -> Result<Markup, Refusal> {
    let before = store.page_versions(&row.url)?.into_iter().rev().find(|version| version.run < row.run);
    let Some(before) = before else {
        return Ok(html! { p.empty { "This is the first version that is stored." } });
    };
    let text = |row: &PageRow| -> Result<String, Refusal> {
        let html = store.load_cleaned(row)?.unwrap_or_default();
        let text = write_text(&parse(&html, &inspector.settings.core.parse), |_| true);
        Ok(text[..text.floor_char_boundary(MOST_TEXT)].to_owned())
    };
    let (old, new) = (text(&before)?, text(row)?);
    if old == new {
        return Ok(
            html! { p.empty { "The text is that of run " (before.run) ", " (minute(before.fetched_at)) " UTC." } },
        );
    }
    let diff = TextDiff::configure().timeout(LONGEST).diff_words(old.as_str(), new.as_str());
    let changes = diff.iter_all_changes().map(|change| (change.tag(), change.value().to_owned()));
    let runs = changes.fold(Vec::<(ChangeTag, String)>::new(), |mut runs, (tag, word)| {
        match runs.last_mut() {
            Some((last, text)) if *last == tag => text.push_str(&word),
            _ => runs.push((tag, word)),
        }
        runs
    });
    Ok(html! {
        p.dim { "Since run " (before.run) ", " (minute(before.fetched_at)) " UTC." }
        div.words tabindex="0" { @for (tag, text) in &runs { @match tag {
            ChangeTag::Equal => (text), ChangeTag::Delete => del { (text) }, ChangeTag::Insert => ins { (text) },
        } } }
    })
}
