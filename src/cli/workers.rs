//! `dehusk workers`: the crawls that share a database.

use std::io::{self, Write};
use std::process::ExitCode;

use super::table::{Table, count, terminal_width};
use super::{Failure, Outcome, open_store};
use dehusk_settings::Settings;
use dehusk_store::WorkerRow;

/// List the crawls that share a PostgreSQL database: run, leases, rate, last heartbeat.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk workers --db postgres://me@db.example.org/crawl
  dehusk workers --all --json | jq '.workers[] | select(.state == \"lost\")'

States: working; silent (not heard of for store.lease: another worker takes its hosts over); lost (taken over); left \
(ended by itself). A worker joins with `dehusk crawl`, and leaves at the end of the run, or by SIGTERM.")]
pub(super) struct Workers {
    /// List workers that have ended, too.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Workers {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let store = open_store(settings)?;
        let workers = store.list_workers(self.all).map_err(|e| Failure::Work(e.into()))?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 1, "workers": workers}))?;
        } else if !workers.is_empty() {
            write!(out, "{}", table(&workers).render(terminal_width()))?;
        } else if store.is_shared() {
            writeln!(out, "no worker is at work; --all lists those that have ended")?;
        } else {
            writeln!(out, "a SQLite file has no workers: one crawl at a time; --db postgres://... is shared")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn table(workers: &[WorkerRow]) -> Table {
    let columns =
        ["worker", "run", "state", "leases", "requests", "pages", "pages/s", "silent s", "machine", "process"];
    let mut table = Table::new(&columns).left(2).left(8);
    for worker in workers {
        table.row(vec![
            worker.worker.to_string(),
            worker.run.to_string(),
            worker.state.clone(),
            count(worker.leases as usize),
            count(worker.requests as usize),
            count(worker.pages as usize),
            format!("{:.1}", worker.pages_per_s),
            format!("{:.1}", worker.silent_s),
            worker.machine.clone(),
            worker.process.to_string(),
        ]);
    }
    table
}
