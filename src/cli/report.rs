//! `dehusk report`: one run on one page, for people: which sites fail, what changed.

mod document;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;
use serde::Serialize;

use self::document::Document;
use super::page_history::{ChangedWords, changed_words};
use super::runs::known_run;
use super::table::{count, terminal_width};
use super::terminal::stdout;
use super::{Failure, Outcome, open_store};
use crate::plot::nights::{lines, pages, runs_until};
use dehusk_core::calendar::iso_8601;
use dehusk_settings::{Notify, NotifyEach, Settings};
use dehusk_store::{RunRow, SiteNight, StatusCount, Store, StoreError, UrlChange};

/// Sites, statuses and pages of a kind that are listed one by one.
const MOST_ROWS: usize = 50;

/// Changed pages whose words are shown.
pub(super) const MOST_WITH_WORDS: usize = 20;

/// Pages that are there no longer whose reasons are looked up.
const MOST_WITH_REASONS: usize = 1000;

/// Words that differ beyond which they are not shown, where they are most of the text.
const MOST_SHOWN: usize = 20;

/// Characters of changed words that are shown of a page.
const MOST_OF_WORDS: usize = 400;

/// Report one run: sites that fail now, fail on or work again, statuses by site, and pages that changed, with their
/// words. It compares with the run before.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk report
  dehusk report --run 12 --format md
  dehusk report --format html > night.html
  dehusk report --format text | mail -s \"last night\" me@my.org
  dehusk report --format json | jq '.newly_failing[].host'")]
pub(super) struct Report {
    /// Number of the run [default: the newest that has ended].
    #[arg(long)]
    run: Option<i64>,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = FormatName::Text)]
    format: FormatName,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FormatName {
    /// For a terminal or a mail.
    Text,
    /// Markdown.
    #[value(alias = "markdown")]
    Md,
    /// One page that loads nothing.
    Html,
    /// For programs.
    Json,
}

/// A run, and how it differs from the one before.
#[derive(Serialize)]
pub(super) struct Night {
    schema: u32,
    run: RunRow,
    /// The run that it is compared with.
    before: Option<i64>,
    /// Sites that failed, and did not before.
    newly_failing: Vec<SiteNight>,
    /// Sites that have failed for more than one run.
    still_failing: Vec<SiteNight>,
    /// Sites that failed before, and work again.
    recovered: Vec<SiteNight>,
    /// Statuses that give no page.
    statuses: Vec<StatusCount>,
    /// Whether they are not known any more, as the log of requests was deleted.
    is_log_deleted: bool,
    /// Pages that differ.
    changes: Vec<ChangedPage>,
    /// It and the runs before it, the oldest first.
    #[serde(skip)]
    runs: Vec<RunRow>,
}

/// A page that differs, with the words that do.
#[derive(Serialize)]
pub(super) struct ChangedPage {
    #[serde(flatten)]
    pub(super) page: UrlChange,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) words: Option<String>,
    /// Words that went and came, where they were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) n_words: Option<usize>,
    /// Words of the newer text, where they were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) n_all: Option<usize>,
    /// Why there is no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

impl ChangedPage {
    /// What a table says of the page.
    pub(super) fn shown(&self) -> String {
        let is_other_text = self.n_words.zip(self.n_all).filter(|(n, n_all)| *n > MOST_SHOWN && 2 * n > *n_all);
        let rewritten = is_other_text.map(|(n, n_all)| format!("rewritten: {} of {} words", count(n), count(n_all)));
        let moved = self.page.moved_to.as_ref().map(|to| format!("to {to}"));
        rewritten.or(self.words.clone()).or(moved).or(self.reason.clone()).unwrap_or_default()
    }
}

impl Report {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let store = open_store(settings)?;
        let newest = || {
            let runs = store.newest_runs(100).map_err(work)?;
            let ended = runs.into_iter().find(|(_, ended)| ended.is_some()).map(|(run, _)| run);
            ended.ok_or_else(|| Failure::Nothing(anyhow!("no run has ended yet; see `dehusk runs list`")))
        };
        let run = self.run.map_or_else(newest, Ok)?;
        let night = Night::load(&store, run, settings, MOST_WITH_WORDS)?;
        let mut out = stdout();
        match self.format {
            FormatName::Text => write!(out, "{}", night.document().text(terminal_width()))?,
            FormatName::Md => write!(out, "{}", night.document().markdown())?,
            FormatName::Html => write!(out, "{}", night.document().html())?,
            FormatName::Json => writeln!(out, "{}", serde_json::to_string(&night).map_err(io::Error::other)?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn work(error: StoreError) -> Failure {
    Failure::Work(error.into())
}

impl Night {
    /// A run. The words of at most so many changed pages are compared.
    pub(super) fn load(store: &Store, run: i64, settings: &Settings, most_compared: usize) -> Result<Night, Failure> {
        let found = known_run(store, run)?;
        let before = store.run_before(run).map_err(work)?;
        let (failing, recovered): (Vec<_>, Vec<_>) =
            store.failing_sites(run).map_err(work)?.into_iter().partition(|site| site.outcome == "failed");
        let (still_failing, newly_failing) = failing.into_iter().partition(|site| site.n_failed > 1);
        let changes = match before {
            Some(before) => store.diff_runs(before, run).map_err(work)?,
            // All pages of the first run are new.
            None => Vec::new(),
        };
        let (mut n_with_words, mut n_with_reasons) = (0, 0);
        let with_words = |page: UrlChange| -> Result<ChangedPage, Failure> {
            let is_shown = matches!(page.change.as_str(), "changed" | "returned") && n_with_words < most_compared;
            let compared = match before.filter(|_| is_shown) {
                Some(before) => changed_words(store, &page.url, (before, run), settings)?,
                None => None,
            };
            // Most pages that are back are as they were.
            let compared = compared.filter(|found| found.n > 0 || page.change == "changed");
            n_with_words += usize::from(compared.is_some());
            let has_reason = matches!(page.change.as_str(), "failed" | "gone" | "blocked");
            let reason = if has_reason && n_with_reasons < MOST_WITH_REASONS {
                n_with_reasons += 1;
                store.last_reason(run, &page.host, &page.url).map_err(work)?
            } else {
                None
            };
            let (n_words, n_all) = compared.as_ref().map(|found| (found.n, found.n_all)).unzip();
            let words = compared.map(|ChangedWords { words, .. }| shortened(&words));
            Ok(ChangedPage { page, words, n_words, n_all, reason })
        };
        let changes = changes.into_iter().map(with_words).collect::<Result<_, _>>()?;
        let statuses = store.statuses_of_sites(run, MOST_ROWS).map_err(work)?;
        let is_log_deleted = store.is_log_deleted(run).map_err(work)?;
        let runs = runs_until(store, run).map_err(work)?;
        Ok(Night {
            schema: 1,
            run: found,
            before,
            newly_failing,
            still_failing,
            recovered,
            statuses,
            is_log_deleted,
            changes,
            runs,
        })
    }

    /// The part of it that notices are about. Counts stay those of the whole run.
    pub(super) fn for_notices(mut self, wanted: &Notify) -> Night {
        for sites in [&mut self.newly_failing, &mut self.still_failing, &mut self.recovered] {
            sites.retain(|site| wanted.is_about(&site.host));
        }
        self.statuses.retain(|status| wanted.is_about(&status.host));
        let is_large = |page: &ChangedPage| page.n_words.is_none_or(|n| n >= wanted.min_words);
        self.changes
            .retain(|page| wanted.is_about(&page.page.host) && wanted.has_change(&page.page.change) && is_large(page));
        if wanted.each == NotifyEach::Run {
            let with_words = self.changes.iter_mut().filter(|page| page.words.is_some());
            with_words.skip(MOST_WITH_WORDS).for_each(|page| page.words = None);
        }
        self
    }

    /// The number of the run.
    pub(super) fn number(&self) -> i64 {
        self.run.id
    }

    /// Pages that differ.
    pub(super) fn changes(&self) -> &[ChangedPage] {
        &self.changes
    }

    /// Whether no worker of the run is left.
    pub(super) fn has_ended(&self) -> bool {
        self.run.ended_at.is_some()
    }

    /// When the run ended, Unix milliseconds; else when it began.
    pub(super) fn ended_at(&self) -> i64 {
        self.run.ended_at.unwrap_or(self.run.started_at)
    }

    /// Whether a page differs, or a site fails since this run or works again.
    pub(super) fn has_news(&self) -> bool {
        !self.changes.is_empty() || !self.newly_failing.is_empty() || !self.recovered.is_empty()
    }

    /// Whether a site fails that did not before.
    pub(super) fn has_new_failures(&self) -> bool {
        !self.newly_failing.is_empty()
    }

    /// The run in a few words.
    pub(super) fn subject(&self) -> String {
        let mut subject = format!("dehusk, run {}: {} pages differ", self.run.id, count(self.changes.len()));
        for (n, what) in [(self.newly_failing.len(), "fail now"), (self.recovered.len(), "work again")] {
            if n > 0 {
                subject += &format!(", {} sites {what}", count(n));
            }
        }
        subject
    }

    pub(super) fn document(&self) -> Document {
        let run = &self.run;
        let mut document = Document::new(format!("dehusk, run {}", run.id));
        let ended = run.ended_at.map_or_else(|| "has not ended".to_owned(), |at| format!("ended {}", iso_8601(at)));
        let outcome = run.outcome.as_deref().unwrap_or("unfinished");
        document.line(format!("Began {}, {ended}, {outcome}.", iso_8601(run.started_at)));
        let n = |n: i64| count(n.max(0) as usize);
        document.line(format!(
            "{} requests, {} of them failed. Pages: {} new, {} changed, {} the same, {} gone, {} moved, {} blocked by \
             robots.txt, {} returned.",
            n(run.requests),
            n(run.failed),
            n(run.new),
            n(run.changed),
            n(run.unchanged + run.same_text + run.recleaned),
            n(run.gone),
            n(run.moved),
            n(run.blocked),
            n(run.returned)
        ));
        if self.runs.len() > 2 {
            document.heading("Pages by run, the newest at the right");
            document.plot(pages(&self.runs), lines(&self.runs));
        }
        let sites = |sites: &[SiteNight], is_failing: bool| {
            let row = |site: &SiteNight| {
                let last = if is_failing { n(site.n_failed) } else { site.outcome.replace('_', " ") };
                vec![site.host.clone(), last, site.reason.clone().unwrap_or_default()]
            };
            sites.iter().take(MOST_ROWS).map(row).collect::<Vec<_>>()
        };
        for (name, list) in
            [("Sites that fail since this run", &self.newly_failing), ("Sites that fail on", &self.still_failing)]
        {
            if !list.is_empty() {
                document.heading(format!("{name}: {}", count(list.len())));
                document.table(&["site", "nights", "reason"], &[1], sites(list, true));
                more(&mut document, list.len());
            }
        }
        if !self.recovered.is_empty() {
            document.heading(format!("Sites that work again: {}", count(self.recovered.len())));
            document.table(&["site", "outcome", "reason"], &[], sites(&self.recovered, false));
            more(&mut document, self.recovered.len());
        }
        if !self.statuses.is_empty() {
            document.heading("Statuses that give no page");
            let row = |found: &StatusCount| {
                vec![found.host.clone(), found.status.to_string(), n(found.n), found.example.clone()]
            };
            document.table(
                &["site", "status", "requests", "such as"],
                &[1, 2],
                self.statuses.iter().map(row).collect(),
            );
        }
        if self.is_log_deleted {
            document.line("The log of its requests was deleted (store.keep.nights, dehusk prune): no status is known.");
        }
        self.changes_into(&mut document);
        document
    }

    fn changes_into(&self, document: &mut Document) {
        let Some(before) = self.before else { return };
        let words = ["changed", "new", "gone", "moved", "returned", "blocked", "failed"];
        for word in words {
            let pages: Vec<&ChangedPage> = self.changes.iter().filter(|page| page.page.change == word).collect();
            if pages.is_empty() {
                continue;
            }
            document.heading(format!("Pages {word} since run {before}: {}", count(pages.len())));
            let row = |page: &&ChangedPage| vec![page.page.url.clone(), page.shown()];
            document.table(&["page", ""], &[], pages.iter().take(MOST_ROWS).map(row).collect());
            more(document, pages.len());
        }
        if self.changes.is_empty() {
            document.line(format!("No page differs from the state after run {before}."));
        }
    }
}

/// Says how many rows are not shown.
fn more(document: &mut Document, n: usize) {
    if n > MOST_ROWS {
        document.line(format!("and {} more", count(n - MOST_ROWS)));
    }
}

fn shortened(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_OF_WORDS) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
