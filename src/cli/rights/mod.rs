//! `dehusk rights`: what owners said about the use of their pages, by site and time.

mod ledger;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;
use serde_json::json;

use self::ledger::{Entry, ledger};
use super::runs::known_run;
use super::table::{Table, count, terminal_width};
use super::{Failure, Outcome, open_store};
use dehusk_core::calendar::iso_8601;
use dehusk_core::rights::FORMS;
use dehusk_settings::Settings;
use dehusk_store::{Store, StoreError};

/// Show what owners say about the use of their pages: for search, as input of models, for training.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk rights list                           every statement, by site, with since when
  dehusk rights list docs.example.org --json
  dehusk rights diff 11 12                     statements that came or went between two runs
  dehusk rights forms                          the forms that are read, with their sources
  dehusk export --rights train --out corpus    leave out what is denied for training")]
pub(super) struct Rights {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the statements of owners: form, place, words, what follows, since and until when, on how many pages.
    #[command(after_help = "Examples:
  dehusk rights list
  dehusk rights list docs.example.org --all
  dehusk rights list --json | jq -r '.statements[] | select(.train == \"deny\") | .host' | sort -u")]
    List {
        /// Only this site.
        host: Option<String>,
        /// Also statements that were withdrawn.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the statements that came or went between the state after run FROM and after run TO.
    #[command(after_help = "Examples:
  dehusk rights diff 11 12
  dehusk rights diff 5 12 --json")]
    Diff {
        /// The earlier run.
        from: i64,
        /// The later run.
        to: i64,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the forms that are read, each with its source and its day.
    #[command(after_help = "Examples:
  dehusk rights forms")]
    Forms,
}

impl Rights {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        match &self.action {
            Action::List { host, all, json } => list(&open_store(settings)?, host.as_deref(), *all, *json),
            Action::Diff { from, to, json } => diff(&open_store(settings)?, *from, *to, *json),
            Action::Forms => forms(),
        }
    }
}

fn work(e: StoreError) -> Failure {
    Failure::Work(e.into())
}

fn list(store: &Store, host: Option<&str>, all: bool, as_json: bool) -> Outcome {
    let rows = store.rights_by_run(host, i64::MAX).map_err(work)?;
    if rows.is_empty() {
        let which = host.map_or_else(|| "no page".to_owned(), |host| format!("no page of {host}"));
        return Err(Failure::Nothing(anyhow!("{which} was visited by a crawl of this database")));
    }
    let entries: Vec<Entry> = ledger(&rows).into_iter().filter(|entry| all || entry.until.is_none()).collect();
    let mut out = io::stdout().lock();
    if as_json {
        writeln!(
            out,
            "{}",
            json!({"schema": 1, "statements": entries.iter().map(Entry::to_json).collect::<Vec<_>>()})
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table =
        Table::new(&["site", "form", "place", "search", "input", "train", "since", "until", "pages", "words"]);
    for column in [1, 2, 3, 4, 5, 6, 7, 9] {
        table = table.left(column);
    }
    for entry in &entries {
        let day = |at: i64| iso_8601(at)[.."2026-11-28".len()].to_owned();
        let mut cells =
            vec![entry.host.clone(), entry.statement.form.name().to_owned(), entry.statement.place.name().to_owned()];
        cells.extend(ledger::COLUMNS.map(|of| entry.verdict(of).unwrap_or("-").to_owned()));
        cells.extend([
            day(entry.since.at),
            entry.until.map_or_else(|| "-".to_owned(), |until| day(until.at)),
            count(entry.visits.max(0) as usize),
            entry.statement.words.clone(),
        ]);
        table.row(cells);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(ExitCode::SUCCESS)
}

fn diff(store: &Store, from: i64, to: i64, as_json: bool) -> Outcome {
    for run in [from, to] {
        known_run(store, run)?;
    }
    if from > to {
        return Err(Failure::Usage(anyhow!("run {from} is later than run {to}; give the earlier one first")));
    }
    let after = |run| Ok::<_, Failure>(ledger(&store.rights_by_run(None, run).map_err(work)?));
    let current = |entries: Vec<Entry>| entries.into_iter().filter(|entry| entry.until.is_none()).collect::<Vec<_>>();
    let (before, now) = (current(after(from)?), current(after(to)?));
    let is_in =
        |all: &[Entry], entry: &Entry| all.iter().any(|one| one.host == entry.host && one.statement == entry.statement);
    let came = now.iter().filter(|entry| !is_in(&before, entry)).map(|entry| ("new", entry));
    let went = before.iter().filter(|entry| !is_in(&now, entry)).map(|entry| ("gone", entry));
    let mut changes: Vec<(&str, &Entry)> = came.chain(went).collect();
    changes.sort_by(|(_, a), (_, b)| a.host.cmp(&b.host));
    let mut out = io::stdout().lock();
    if as_json {
        let changes: Vec<_> = changes
            .iter()
            .map(|(change, entry)| {
                let mut line = entry.to_json();
                line["change"] = (*change).into();
                line
            })
            .collect();
        writeln!(out, "{}", json!({"schema": 1, "changes": changes}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (change, entry) in &changes {
        let statement = &entry.statement;
        writeln!(
            out,
            "{change:<4} {} {} ({}): {}",
            entry.host,
            statement.form.name(),
            statement.place.name(),
            statement.words
        )?;
    }
    let n = changes.len();
    writeln!(
        io::stderr(),
        "{} statement{} differ{}",
        count(n),
        if n == 1 { "" } else { "s" },
        if n == 1 { "s" } else { "" }
    )?;
    Ok(ExitCode::SUCCESS)
}

fn forms() -> Outcome {
    let mut out = io::stdout().lock();
    let mut table = Table::new(&["form", "date", "source", "places"]).left(1).left(2).left(3);
    for form in &FORMS {
        table.row([form.name, form.date, form.source, form.places].map(|text| text.replace('`', "")).to_vec());
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(ExitCode::SUCCESS)
}
