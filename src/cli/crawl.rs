//! `dehusk crawl`: the main job.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;

use super::progress::Display;
use super::table::{Table, count, terminal_width};
use super::{Failure, Outcome};
use crate::crawl::{Progress, SiteSummary, Stop, Summary, crawl};
use crate::page::PageUrl;
use crate::seeds::Seeds;
use crate::settings::Settings;

/// Crawl sites politely, learn their templates, and store every fetched page without it.
///
/// Without SEED, the lists that crawl.toml names are read. The first URL of a host is its key page.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk crawl seeds/example.txt
  dehusk crawl https://www.rust-lang.org/ --db rust.db
  dehusk crawl lists/*.txt --set politeness.delay=2 --set 'fetch.user_agent=mybot/1.0 (+https://my.org/bot)'
  dehusk crawl --json | jq .summary.stats

Exit codes: 0 every site gave a template, 1 some did not, 2 wrong usage or settings.
Ctrl-C lets what is out come home and stores it; a second Ctrl-C ends at once.")]
pub(super) struct Crawl {
    /// Files of URLs, URLs, or bare hosts.
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// Print the summary and every site as JSON.
    #[arg(long)]
    json: bool,
}

impl Crawl {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let seeds = read_seeds(&self.seeds, settings)?;
        let rejected = seeds.rejected.len();
        for line in seeds.rejected.iter().take(20) {
            tracing::warn!("{line}, skipped");
        }
        if rejected > 20 {
            tracing::warn!("{} further lines skipped", rejected - 20);
        }
        let (summary, sites) = run_crawl(seeds.urls, settings)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 1, "summary": summary, "sites": sites}))?;
        } else {
            print(&summary, &sites, settings, &mut out)?;
        }
        let all_well = summary.stats.failed + summary.stats.interrupted + rejected == 0;
        Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

fn read_seeds(given: &[String], settings: &Settings) -> Result<Seeds, Failure> {
    let mut seeds = Seeds::default();
    let sources = if given.is_empty() { &settings.crawl.seeds } else { given };
    for source in sources {
        seeds.add(source).map_err(|e| Failure::Usage(e.into()))?;
    }
    if seeds.urls.is_empty() {
        let place = sources.join(", ");
        return Err(Failure::Usage(anyhow!("no seeds in {place}; give URLs, or a file with one URL a line")));
    }
    Ok(seeds)
}

/// Runs a crawl to its end or to Ctrl-C, showing progress on stderr.
pub(super) fn run_crawl(seeds: Vec<PageUrl>, settings: &Settings) -> Result<(Summary, Vec<SiteSummary>), Failure> {
    let runtime = super::runtime()?;
    let (stop, stopped) = Stop::new();
    runtime.spawn(on_ctrl_c(stop));
    let mut display = Display::new();
    let mut sites = Vec::new();
    let mut watch = |progress: Progress<'_>| {
        if let Progress::Site(site, _) = &progress {
            sites.push((*site).clone());
        }
        display.show(&progress);
    };
    let outcome = runtime.block_on(crawl(seeds, settings, stopped, &mut watch));
    display.finish();
    // Tasks of requests that will not be waited for are dropped with the runtime.
    runtime.shutdown_background();
    let summary = outcome.map_err(|e| Failure::Work(e.into()))?;
    if summary.was_interrupted {
        display.say("interrupted: what had been fetched is stored");
    }
    Ok((summary, sites))
}

async fn on_ctrl_c(stop: Stop) {
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    stop.stop();
    let _ = writeln!(io::stderr(), "\nstopping: waiting for what is out; Ctrl-C again ends at once");
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(130);
    }
}

/// Sites listed one by one up to this many; beyond, failures by reason.
const MOST_ROWS: usize = 40;

fn print(summary: &Summary, sites: &[SiteSummary], settings: &Settings, out: &mut impl Write) -> io::Result<()> {
    if sites.len() <= MOST_ROWS {
        write!(out, "{}", site_table(sites).render(terminal_width()))?;
    }
    let failures: Vec<&SiteSummary> = sites.iter().filter(|s| s.reason.is_some()).collect();
    if !failures.is_empty() {
        writeln!(out, "\nSites without a template:")?;
        write!(out, "{}", failure_table(&failures).render(terminal_width()))?;
    }
    let stats = &summary.stats;
    let rate = stats.pages as f64 / summary.seconds.max(0.001);
    writeln!(
        out,
        "\n{} sites: {} learned, {} failed{}\n{} pages, {:.1} MB in {:.1} s ({rate:.1} pages/s); {} requests, \
         {} forbidden by robots.txt",
        count(stats.sites),
        count(stats.learned),
        count(stats.failed),
        if stats.interrupted > 0 { format!(", {} interrupted", count(stats.interrupted)) } else { String::new() },
        count(stats.pages),
        stats.bytes as f64 / 1e6,
        summary.seconds,
        count(stats.requests),
        count(stats.forbidden),
    )?;
    if stats.repeated_seeds > 0 {
        writeln!(out, "{} seeds left out: their hosts came before", count(stats.repeated_seeds))?;
    }
    let (db, program) = (&settings.store.path, std::env::args().next().unwrap_or_else(|| "dehusk".to_owned()));
    writeln!(
        out,
        "stored in {db}; look at it with\n  {program} templates list --db {db}\n  {program} pages list --db {db}"
    )
}

pub(super) fn site_table(sites: &[SiteSummary]) -> Table {
    let mut table =
        Table::new(&["site", "outcome", "pages", "loads", "votes", "template", "of", "cleaned", "s"]).left(1);
    for s in sites {
        table.row(vec![
            s.host.clone(),
            s.outcome.to_owned(),
            s.pages.to_string(),
            s.loads.to_string(),
            s.voters.to_string(),
            s.template_nodes.to_string(),
            s.key_nodes.to_string(),
            s.cleaned.to_string(),
            format!("{:.1}", s.seconds),
        ]);
    }
    table
}

/// A reason without the URL that it begins with; the site stands beside it.
fn short_reason(site: &SiteSummary) -> &str {
    let reason = site.reason.as_deref().unwrap_or_default();
    reason.split_once(": ").filter(|(url, _)| url.contains("://")).map_or(reason, |(_, rest)| rest)
}

fn failure_table(failures: &[&SiteSummary]) -> Table {
    if failures.len() <= MOST_ROWS {
        let mut table = Table::new(&["site", "reason"]).left(1);
        for s in failures {
            table.row(vec![s.host.clone(), short_reason(s).to_owned()]);
        }
        return table;
    }
    let mut by_reason: BTreeMap<String, (usize, &str)> = BTreeMap::new();
    for s in failures {
        by_reason.entry(short_reason(s).to_owned()).or_insert((0, &s.host)).0 += 1;
    }
    let mut rows: Vec<(String, (usize, &str))> = by_reason.into_iter().collect();
    rows.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    let mut table = Table::new(&["reason", "sites", "such as"]).left(2);
    for (reason, (n, host)) in rows.into_iter().take(MOST_ROWS) {
        table.row(vec![reason, count(n), host.to_owned()]);
    }
    table
}
