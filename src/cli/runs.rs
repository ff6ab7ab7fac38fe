//! `dehusk runs`: the results of earlier crawls.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};

use super::table::{Table, count, terminal_width};
use super::{Failure, Outcome, open_store};
use crate::plot::nights::{lines, plots};
use crate::plot::svg;
use dehusk_core::calendar::iso_8601;
use dehusk_settings::Settings;
use dehusk_store::{RunRow, RunSize, Store, StoreError};

/// Show the results of each crawl: pages new, changed, unchanged and gone, templates learned.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk runs list
  dehusk runs show                  the newest one
  dehusk runs diff 11 12            pages that changed in run 12
  dehusk runs diff 5 12 --json | jq -r '.changes[] | select(.change == \"gone\") | .url'")]
pub(super) struct Runs {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the newest runs.
    #[command(after_help = "Examples:
  dehusk runs list
  dehusk runs list -n 100 --json")]
    List {
        /// Maximum number of runs.
        #[arg(short, long, default_value_t = 30, value_name = "COUNT")]
        n: usize,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show one run with its sites by outcome.
    #[command(after_help = "Examples:
  dehusk runs show
  dehusk runs show 12 --plot run12.svg
  dehusk runs show 12 --json")]
    Show {
        /// Number of the run [default: the newest].
        run: Option<i64>,
        /// Also write plots into this SVG file.
        ///
        /// They show pages and bytes of this run and those before it, gaps between its requests beside the delay, and
        /// its sites by the share of template.
        #[arg(long, value_name = "FILE")]
        plot: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List pages that differ between the state after run FROM and after run TO: new, changed, same text, recleaned,
    /// gone, moved, blocked (by robots.txt), failed, returned.
    #[command(after_help = "Examples:
  dehusk runs diff 11 12
  dehusk runs diff 5 12 --json")]
    Diff {
        /// The earlier run.
        from: i64,
        /// The later run.
        to: i64,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl Runs {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let store = open_store(settings)?;
        let work = |e: StoreError| Failure::Work(e.into());
        let mut out = io::stdout().lock();
        match &self.action {
            Action::List { n, json } => {
                let runs = store.list_runs(*n).map_err(work)?;
                if *json {
                    writeln!(out, "{}", serde_json::json!({"schema": 1, "runs": runs}))?
                } else {
                    write!(out, "{}", table(&runs).render(terminal_width()))?;
                    let oldest_first: Vec<RunRow> = runs.into_iter().rev().collect();
                    match lines(&oldest_first) {
                        lines if lines.is_empty() => {}
                        lines => write!(out, "\npages by run, the newest at the right\n{lines}")?,
                    }
                }
            }
            Action::Show { run, plot, json } => {
                let newest = || store.list_runs(1).map_err(work).map(|runs| runs.into_iter().next());
                let found = match run {
                    Some(run) => known_run(&store, *run)?,
                    None => {
                        newest()?.ok_or_else(|| Failure::Nothing(anyhow!("no run yet; `dehusk crawl` makes one")))?
                    }
                };
                let outcomes = store.site_outcomes(found.id).map_err(work)?;
                let size = store.run_size(found.id).map_err(work)?;
                if let Some(file) = plot {
                    let text = svg(&plots(&store, &found).map_err(work)?);
                    std::fs::write(file, text).with_context(|| file.display().to_string()).map_err(Failure::Work)?;
                }
                if *json {
                    writeln!(
                        out,
                        "{}",
                        serde_json::json!({"schema": 1, "run": found, "sites": outcomes, "size": size})
                    )?;
                } else {
                    show(&found, &outcomes, size, &mut out)?;
                }
            }
            &Action::Diff { from, to, json } => {
                for run in [from, to] {
                    known_run(&store, run)?;
                }
                if from > to {
                    return Err(Failure::Usage(anyhow!(
                        "run {from} is later than run {to}; give the earlier one first"
                    )));
                }
                let changes = store.diff_runs(from, to).map_err(work)?;
                if json {
                    writeln!(out, "{}", serde_json::json!({"schema": 1, "changes": changes}))?;
                } else {
                    for change in &changes {
                        let word = change.change.replace('_', " ");
                        let to = change.moved_to.as_ref().map_or_else(String::new, |to| format!(" -> {to}"));
                        writeln!(out, "{word:<10} {}{to}", change.url)?;
                    }
                    writeln!(io::stderr(), "{} pages differ", count(changes.len()))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A run that was asked for by its number.
pub(super) fn known_run(store: &Store, run: i64) -> Result<RunRow, Failure> {
    let found = store.find_run(run).map_err(|e| Failure::Work(e.into()))?;
    found.ok_or_else(|| Failure::Nothing(anyhow!("there is no run {run}; see `dehusk runs list`")))
}

fn table(runs: &[RunRow]) -> Table {
    let columns =
        &["run", "began", "outcome", "asked", "new", "changed", "same", "gone", "moved", "back", "fail", "learned"];
    let mut table = Table::new(columns).left(2);
    for run in runs {
        let number = |n: i64| count(n.max(0) as usize);
        table.row(vec![
            run.id.to_string(),
            began(run).chars().take(16).collect(),
            run.outcome.clone().unwrap_or_else(|| "unfinished".to_owned()),
            number(run.requests),
            number(run.new),
            number(run.changed),
            number(run.unchanged + run.same_text + run.recleaned),
            number(run.gone),
            number(run.moved),
            number(run.returned),
            number(run.failed),
            number(run.templates),
        ]);
    }
    table
}

fn began(run: &RunRow) -> String {
    iso_8601(run.started_at).replace('T', " ").trim_end_matches('Z').to_owned()
}

/// Prints a run, one figure per line.
fn show(run: &RunRow, outcomes: &[(String, i64)], size: RunSize, out: &mut impl Write) -> io::Result<()> {
    let took =
        run.ended_at.map_or_else(String::new, |ended| format!(", {}", duration((ended - run.started_at) / 1000)));
    let outcome = run.outcome.as_deref().unwrap_or("unfinished");
    writeln!(out, "run {}, began {} UTC{took}, {outcome}", run.id, began(run))?;
    for (what, n) in [
        ("requests", run.requests),
        ("pages new", run.new),
        ("pages changed", run.changed),
        ("pages with the same text", run.same_text),
        ("pages cleaned anew", run.recleaned),
        ("pages unchanged", run.unchanged),
        ("pages gone", run.gone),
        ("pages moved", run.moved),
        ("pages blocked by robots.txt", run.blocked),
        ("pages back again", run.returned),
        ("requests failed", run.failed),
        ("templates learned", run.templates),
    ] {
        writeln!(out, "{:>9} {what}", count(n.max(0) as usize))?;
    }
    for (outcome, n) in outcomes {
        writeln!(out, "{:>9} sites {outcome}", count((*n).max(0) as usize))?;
    }
    let megabytes = |bytes: i64| format!("{:.1} MB", bytes as f64 / 1e6);
    writeln!(out, "{:>9} of bodies, packed", megabytes(size.bodies))?;
    writeln!(out, "{:>9} of cleaned pages, packed", megabytes(size.cleaned))?;
    writeln!(out, "{:>9} in the whole database", megabytes(size.database))?;
    Ok(())
}

fn duration(seconds: i64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
