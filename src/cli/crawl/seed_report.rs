//! What became of the seeds: how many were read, fetched, refused, and why.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::cli::Failure;
use crate::cli::table::{count, count_of};
use dehusk_crawl::Stats;
use dehusk_settings::Settings;
use dehusk_store::{SeedRow, Store};

/// Maximum number of seeds that are reported one by one. Longer lists are in the database.
const MOST_ROWS: usize = 100_000;

/// The seeds of a run.
#[derive(Debug, Default, Serialize)]
pub(super) struct SeedReport {
    /// Lines of lists that are no URLs.
    not_urls: usize,
    /// Seeds that were named before.
    repeated: usize,
    /// Seeds by what became of them.
    outcomes: BTreeMap<String, usize>,
    /// Whether there are more seeds than `urls` has.
    is_cut: bool,
    urls: Vec<SeedRow>,
}

impl SeedReport {
    /// Reads the seeds of a run. Without `all`, those of a long list are not read.
    pub(super) fn read(
        settings: &Settings,
        run: i64,
        stats: &Stats,
        not_urls: usize,
        all: bool,
    ) -> Result<SeedReport, Failure> {
        let mut report = SeedReport { not_urls, repeated: stats.repeated_seeds, ..SeedReport::default() };
        if !all && stats.sites + stats.queued > MOST_ROWS {
            return Ok(report);
        }
        let store = Store::open(Path::new(&settings.store.path)).map_err(|e| Failure::Work(e.into()))?;
        let each = |row: SeedRow| {
            *report.outcomes.entry(row.outcome.clone()).or_default() += 1;
            if report.urls.len() < MOST_ROWS {
                report.urls.push(row)
            } else {
                report.is_cut = true
            }
            true
        };
        store.seeds_of_run(run, each).map_err(|e| Failure::Work(e.into()))?;
        Ok(report)
    }

    /// A line, where there is more to say than that the key page of each site was fetched.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let n: usize = self.outcomes.values().sum();
        let mut parts: Vec<String> =
            self.outcomes.iter().map(|(word, n)| format!("{} {}", count(*n), word.replace('_', " "))).collect();
        let repeats = [(self.repeated, "named before"), (self.not_urls, "lines that are no URLs")];
        parts.extend(repeats.iter().filter(|(n, _)| *n > 0).map(|(n, text)| format!("{} {text}", count(*n))));
        if parts.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}: {}", count_of(n, "seed"), parts.join(", "))
    }
}
