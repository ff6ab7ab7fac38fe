//! A notice for each page that differs, in place of one for the run.

use anyhow::Context;
use serde::Serialize;

use super::{MOST_COMPARED, atom, run, send, try_thrice};
use crate::cli::report::{ChangedPage, Night};
use crate::safe_html::escaped;
use dehusk_settings::Settings;

/// What a command and a webhook are told.
#[derive(Serialize)]
struct Notice<'a> {
    schema: u32,
    /// When the run ended, Unix milliseconds.
    ended_at: i64,
    #[serde(flatten)]
    page: &'a ChangedPage,
}

/// Tells about the pages of a run one by one. Who cannot be told of one page is not told of the next ones.
pub(super) fn tell(settings: &Settings, night: &Night) {
    let wanted = &settings.notify;
    let (number, ended_at) = (night.number(), night.ended_at());
    let pages = &night.changes()[..night.changes().len().min(MOST_COMPARED)];
    if pages.len() < night.changes().len() {
        let n = night.changes().len() - pages.len();
        tracing::warn!(
            "nobody is told about {n} further pages of run {number}; `dehusk report --run {number}` counts them"
        );
    }
    let (mut tells_command, mut tells_webhook) = (!wanted.command.is_empty(), !wanted.webhook.is_empty());
    for page in pages {
        let json = match serde_json::to_string(&Notice { schema: 1, ended_at, page }) {
            Ok(json) => json,
            Err(error) => return tracing::warn!("nobody is told about {}: {error}", page.page.url),
        };
        tells_command = tells_command && try_thrice("notify.command", || run(settings, number, &wanted.command, &json));
        tells_webhook = tells_webhook && try_thrice("notify.webhook", || send(settings, &json));
    }
    if !wanted.atom.is_empty() && !pages.is_empty() {
        let entries: Vec<atom::Entry> = pages.iter().map(|page| entry(page, ended_at)).collect();
        try_thrice("notify.atom", || atom::add(wanted.atom.as_ref(), &entries).with_context(|| wanted.atom.clone()));
    }
}

fn entry(changed: &ChangedPage, ended_at: i64) -> atom::Entry {
    let page = &changed.page;
    let title = format!("{}: {}", page.change, page.url);
    let content = format!("<p>{}</p>", escaped(&changed.shown()));
    atom::Entry::of_page((page.run, ended_at), &page.url, &title, &content)
}
