//! `dehusk pages history` and `dehusk pages diff`: what the nights found of one page, without its template.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::anyhow;
use similar::{ChangeTag, TextDiff};

use super::names::{find_page, spellings};
use super::runs::known_run;
use super::table::{Table, terminal_width, time};
use super::terminal::{plain, stdout};
use super::{Failure, open_store};
use dehusk_html::{parse, write_text};
use dehusk_settings::Settings;
use dehusk_store::{PageNight, PageRow, Store, StoreError};

/// Time after which a difference is not made smaller.
const LONGEST: Duration = Duration::from_secs(5);

/// Words around a change that are shown.
const CONTEXT: usize = 12;

fn work(error: StoreError) -> Failure {
    Failure::Work(error.into())
}

/// Lists what each run found of a page.
pub(super) fn history(settings: &Settings, url: &str, json: bool) -> Result<(), Failure> {
    let store = open_store(settings)?;
    let (url, nights) = visited(&store, url)?;
    let mut out = io::stdout().lock();
    if json {
        let listed = serde_json::json!({"schema": 1, "url": url, "history": nights});
        return Ok(writeln!(out, "{listed}")?);
    }
    let mut table = Table::new(&["run", "visited", "status", "change", "stored", "what came of it"]).left(5);
    for night in nights {
        table.row(vec![
            night.run.to_string(),
            time(night.at),
            night.status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
            night.change.as_ref().map_or_else(|| "-".to_owned(), |change| change.replace('_', " ")),
            if night.is_stored { "yes" } else { "" }.to_owned(),
            told(&night, &url),
        ]);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(())
}

/// The address of a page, and the visits to it. One that was never stored may have been visited, too.
fn visited(store: &Store, asked: &str) -> Result<(String, Vec<PageNight>), Failure> {
    let unknown = match find_page(store, asked) {
        Ok(page) => {
            let nights = store.page_history(&page.url).map_err(work)?;
            return Ok((page.url, nights));
        }
        Err(unknown) => unknown,
    };
    for url in spellings(asked) {
        let nights = store.page_history(&url).map_err(work)?;
        if !nights.is_empty() {
            return Ok((url, nights));
        }
    }
    Err(unknown)
}

/// What came of a visit, with the address where that was another one.
fn told(night: &PageNight, url: &str) -> String {
    let outcome = night.outcome.replace('_', " ");
    let said = match (&night.redirect_to, &night.reason) {
        (Some(to), _) => format!("{outcome} to {to}"),
        (None, Some(reason)) => format!("{outcome}: {reason}"),
        (None, None) => outcome,
    };
    if night.url == url { said } else { format!("{} {said}", night.url) }
}

/// No version of a page by a run: it was not stored yet, or was pruned.
pub(super) fn no_version(url: &str, run: i64) -> Failure {
    Failure::Nothing(anyhow!(
        "{url}: no version of run {run} or before it is stored; `dehusk pages history` lists its visits (`prune` deletes \
         versions)"
    ))
}

/// Shows the words that differ between two versions of a page.
pub(super) fn diff(settings: &Settings, url: &str, runs: Option<(i64, i64)>, unified: bool) -> Result<(), Failure> {
    let store = open_store(settings)?;
    let page = find_page(&store, url)?;
    for run in runs.into_iter().flat_map(|(from, to)| [from, to]) {
        known_run(&store, run)?;
    }
    let versions = store.versions_of_history(&page.url).map_err(work)?;
    let text = |row: &PageRow| text_of(&store, row, settings);
    let ((old, old_text), (new, new_text)) = match runs {
        Some((from, to)) => {
            let at = |run: i64| {
                let known = versions.iter().rev().find(|version| version.run <= run);
                known.ok_or_else(|| no_version(&page.url, run))
            };
            let (old, new) = (at(from)?, at(to)?);
            ((old, text(old)?), (new, text(new)?))
        }
        None => last_change(&versions, text)?.ok_or_else(|| {
            let n = versions.len();
            Failure::Nothing(anyhow!("{}: {n} stored versions, all with the same text", page.url))
        })?,
    };
    let title = |row: &PageRow| format!("{} run {} {}", row.url, row.run, time(row.fetched_at));
    if unified {
        let diff = TextDiff::configure().timeout(LONGEST).diff_lines(&old_text, &new_text);
        write!(stdout(), "{}", diff.unified_diff().header(&title(old), &title(new)))?;
        return Ok(());
    }
    // Colors are written past the filter for terminals, the words of the page through it.
    let mut out = io::stdout().lock();
    let (old_text, new_text) = if io::stdout().is_terminal() {
        (plain(&old_text).into_owned(), plain(&new_text).into_owned())
    } else {
        (old_text, new_text)
    };
    writeln!(out, "--- {}\n+++ {}", title(old), title(new))?;
    write_words(&old_text, &new_text, &mut out)?;
    Ok(())
}

fn text_of(store: &Store, row: &PageRow, settings: &Settings) -> Result<String, Failure> {
    let html = store.load_cleaned(row).map_err(work)?.unwrap_or_default();
    Ok(write_text(&parse(&html, &settings.core.parse), |_| true))
}

/// How two texts of a page differ.
pub(super) struct ChangedWords {
    /// The words that differ, as `[-old-]` and `{+new+}`.
    pub(super) words: String,
    /// Their number.
    pub(super) n: usize,
    /// Words of the newer text.
    pub(super) n_all: usize,
}

/// The words of a page that differ between the ends of two runs; `None` where there is no older version.
pub(super) fn changed_words(
    store: &Store,
    url: &str,
    (from, to): (i64, i64),
    settings: &Settings,
) -> Result<Option<ChangedWords>, Failure> {
    let versions = store.page_versions(url).map_err(work)?;
    let at = |run: i64| versions.iter().rev().find(|version| version.run <= run);
    let Some((old, new)) = at(from).zip(at(to)) else { return Ok(None) };
    let (old, new) = (text_of(store, old, settings)?, text_of(store, new, settings)?);
    let mut out = Vec::new();
    let n = write_words(&old, &new, &mut out)?;
    let words = console::strip_ansi_codes(&String::from_utf8_lossy(&out)).into_owned();
    Ok(Some(ChangedWords { words, n, n_all: new.split_whitespace().count() }))
}

type Version<'v> = (&'v PageRow, String);

/// The newest version, and the newest one before it with another text.
fn last_change(
    versions: &[PageRow],
    text: impl Fn(&PageRow) -> Result<String, Failure>,
) -> Result<Option<(Version<'_>, Version<'_>)>, Failure> {
    let mut newest: Option<Version<'_>> = None;
    for version in versions.iter().rev() {
        let words = text(version)?;
        match newest.take() {
            Some((row, last)) if last != words => return Ok(Some(((version, words), (row, last)))),
            Some(kept) => newest = Some(kept),
            None => newest = Some((version, words)),
        }
    }
    Ok(None)
}

/// Words that went and came, in place: `[-old-]{+new+}` as in wdiff, in color on a terminal. Of long runs of equal
/// words only those next to a change are shown. Returns the number of words that went or came, whichever is more.
fn write_words(old: &str, new: &str, out: &mut impl Write) -> io::Result<usize> {
    let diff = TextDiff::configure().timeout(LONGEST).diff_words(old, new);
    let mut runs: Vec<(ChangeTag, String)> = Vec::new();
    for change in diff.iter_all_changes() {
        match runs.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            _ => runs.push((change.tag(), change.value().to_owned())),
        }
    }
    let last = runs.len().saturating_sub(1);
    for (at, (tag, text)) in runs.iter().enumerate() {
        let shown = match tag {
            ChangeTag::Equal => shortened(text, at > 0, at < last),
            ChangeTag::Delete => console::style(format!("[-{text}-]")).red().to_string(),
            ChangeTag::Insert => console::style(format!("{{+{text}+}}")).green().to_string(),
        };
        out.write_all(shown.as_bytes())?;
    }
    out.write_all(b"\n")?;
    let n_words = |wanted: ChangeTag| -> usize {
        runs.iter().filter(|(tag, _)| *tag == wanted).map(|(_, text)| text.split_whitespace().count()).sum()
    };
    Ok(n_words(ChangeTag::Delete).max(n_words(ChangeTag::Insert)))
}

/// Equal words between two changes: all, or the first and the last.
fn shortened(text: &str, has_before: bool, has_after: bool) -> String {
    let ends: Vec<usize> = text
        .split_inclusive(char::is_whitespace)
        .scan(0, |at, word| {
            *at += word.len();
            Some(*at)
        })
        .collect();
    if ends.len() <= 2 * CONTEXT {
        return text.to_owned();
    }
    let head = if has_before { &text[..ends[CONTEXT - 1]] } else { "" };
    let tail = if has_after { &text[ends[ends.len() - CONTEXT - 1]..] } else { "" };
    format!("{head} … {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_went_and_came_stand_in_their_place() {
        let written = |old: &str, new: &str| {
            let mut out = Vec::new();
            write_words(old, new, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        console::set_colors_enabled(false);
        assert_eq!(written("Rye is a grain.", "Rye is a hardy grain."), "Rye is a {+hardy +}grain.\n");
        assert_eq!(written("one two", "one three"), "one [-two-]{+three+}\n");
        let long = "word ".repeat(100);
        let shown = written(&format!("{long}end"), &format!("{long}finish"));
        assert!(shown.starts_with(" … ") && shown.len() < 100, "{shown}");
    }
}
