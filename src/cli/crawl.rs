//! `dehusk crawl`: crawls sites and stores their pages.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};

use super::metrics::{Metrics, write_file};
use super::progress::Display;
use super::table::{Table, count, terminal_width};
use super::{Failure, Outcome, exit};
use crate::crawl::{Progress, SeedList, SiteSummary, Stats, Stop, Summary, crawl};
use crate::seeds::{Seeds, SeedsError};
use crate::settings::Settings;

/// Crawl sites politely, learn their templates, and store every fetched page without it.
///
/// Without SEED, the seed lists in crawl.toml are read. The first URL of a host is its key page. The same command
/// resumes a run that was killed or interrupted; the next night it fetches only pages that are due.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk crawl seeds/example.txt
  dehusk crawl https://www.rust-lang.org/ --db rust.db
  dehusk crawl https://docs.example.org/ --set crawl.pages_per_site=500
  dehusk crawl lists/*.txt --set politeness.delay=2
  tail -f new-domains.log | dehusk crawl -
  dehusk crawl lists/*.txt --set 'fetch.user_agent=mybot/1.0 (+https://my.org/bot)'
  dehusk crawl --warc archive --metrics 127.0.0.1:9184 --log-format json
  dehusk crawl --json | jq .summary.stats

Seeds from standard input (-) or a pipe are crawled as they come; the run ends when the pipe does. A further URL of a
site that has ended waits for the next run.

A run that was killed or interrupted is resumed by the same command, with the same seeds and settings. Another crawl
on the same database is a run of its own; --resume takes the interrupted one up.

Exit codes: 0 done, also where some sites failed; 1 more sites failed than --fail-above allows; 2 wrong usage or
settings; 3 could not run (database, archive, disk, lock); 4 interrupted.
Ctrl-C or SIGTERM waits for requests in flight and stores them (crawl.stop_within); a second one exits at once.
SIGHUP has the same effect as SIGTERM. docs/nightly.md shows how to run it every night.")]
pub(super) struct Crawl {
    /// Files of URLs, URLs, or bare hosts.
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// Fetch every known page again, due or not [setting revisit.all].
    #[arg(long)]
    all: bool,
    /// Write every exchange to WARC files in this folder.
    #[arg(long, value_name = "DIR")]
    warc: Option<PathBuf>,
    /// Serve /metrics (Prometheus) and /stats (JSON) at this address while the crawl runs.
    #[arg(long, value_name = "ADDR:PORT")]
    metrics: Option<SocketAddr>,
    /// Write the same metrics to this file when the run ends, for node_exporter's textfile collector.
    #[arg(long, value_name = "FILE")]
    metrics_file: Option<PathBuf>,
    /// Print the summary and all sites as JSON.
    #[arg(long)]
    json: bool,
    /// Take up the newest interrupted run, whatever it was asked for.
    #[arg(long, conflicts_with_all = ["seeds", "new"])]
    resume: bool,
    /// Begin a run of its own, even where the same command was interrupted.
    #[arg(long)]
    new: bool,
    /// Exit with code 1 when more than this share of the sites failed, such as 5%.
    #[arg(long, value_name = "SHARE", default_value = "99%", value_parser = share)]
    fail_above: f64,
}

/// Says which settings file is read where nobody has named one, and what it opens to the network.
fn tell_settings() {
    let named = std::env::args().any(|argument| argument == "--config" || argument.starts_with("--config="));
    let Ok(text) = std::fs::read_to_string("crawl.toml") else { return };
    if named {
        return;
    }
    let table: toml::Table = text.parse().unwrap_or_default();
    let fetch = table.get("fetch").and_then(toml::Value::as_table);
    let risky = ["proxy", "allow_private", "allow_networks", "resolve"];
    let set: Vec<String> = risky
        .iter()
        .filter(|key| fetch.is_some_and(|fetch| fetch.contains_key(**key)))
        .map(|key| format!("fetch.{key}"))
        .collect();
    let sets = if set.is_empty() { String::new() } else { format!("; it sets {}", set.join(", ")) };
    tracing::info!("settings: crawl.toml in the current folder{sets}");
}

/// A share: `5%` or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().map(|share| share / unit);
    share.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "write a share such as 5% or 0.05".to_owned())
}

impl Crawl {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let mut settings = settings.clone();
        settings.revisit.all |= self.all;
        tell_settings();
        let list = if self.resume { SeedList::resume() } else { self.seed_list(&settings)? };
        let (summary, sites) = run_crawl(list, &settings, self.warc.as_deref(), self.metrics)?;
        if let Some(path) = &self.metrics_file {
            write_file(path, &summary.stats, summary.seconds, summary.was_interrupted)
                .with_context(|| path.display().to_string())
                .map_err(Failure::Work)?;
        }
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 2, "summary": summary, "sites": sites}))?;
        } else {
            print(&summary, &sites, &settings, &mut out)?;
        }
        let stats = &summary.stats;
        let failed = (stats.failed + stats.failed_before) as f64 / stats.sites.max(1) as f64;
        if failed > self.fail_above && !summary.was_interrupted {
            tracing::error!(
                "{} of {} sites failed{}, more than --fail-above {:.0}%",
                stats.failed + stats.failed_before,
                stats.sites,
                if stats.failed_before > 0 { ", those before the run was resumed among them" } else { "" },
                100.0 * self.fail_above
            );
        }
        Ok(match (summary.was_interrupted, failed > self.fail_above) {
            (true, _) => ExitCode::from(exit::INTERRUPTED),
            (false, true) => ExitCode::from(exit::FAILED),
            (false, false) => ExitCode::SUCCESS,
        })
    }

    fn seed_list(&self, settings: &Settings) -> Result<SeedList, Failure> {
        let seeds = read_seeds(&self.seeds, settings)?;
        let (mark, name, is_stream) = (seeds.mark(), seeds.name(), seeds.is_stream());
        let mut urls = seeds.into_urls().peekable();
        if urls.peek().is_none() {
            let places = self.places(settings);
            return Err(Failure::Usage(anyhow!("no seeds in {places}; give URLs, or a file with one URL per line")));
        }
        let list = SeedList::new(urls, Some(mark), name);
        let list = if is_stream { list.as_stream() } else { list };
        Ok(if self.new { list.in_new_run() } else { list })
    }

    fn places(&self, settings: &Settings) -> String {
        if self.seeds.is_empty() { settings.crawl.seeds.join(", ") } else { self.seeds.join(", ") }
    }
}

fn read_seeds(given: &[String], settings: &Settings) -> Result<Seeds, Failure> {
    let mut seeds = Seeds::default();
    let sources = if given.is_empty() { &settings.crawl.seeds } else { given };
    for source in sources {
        seeds.add(source).map_err(|error| match (error, given) {
            (SeedsError::Neither(name), []) => Failure::Usage(anyhow!(
                "no seeds: name a URL or a file of URLs (`dehusk crawl https://example.org/`); crawl.seeds names {name}, \
                 which is no file here"
            )),
            (error, _) => Failure::Usage(error.into()),
        })?;
    }
    Ok(seeds)
}

/// Raises the limit of open files: connections stay open for a while, and cron allows only 1,024 files.
fn raise_file_limit(settings: &Settings) {
    let wanted = 4 * (settings.fetch.in_flight + settings.crawl.sites_at_once) as u64;
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit < wanted => tracing::warn!(
            "the limit of open files is {limit}, but {wanted} are recommended: raise the hard limit (ulimit -Hn, LimitNOFILE=) or \
             lower fetch.in_flight and crawl.sites_at_once"
        ),
        Ok(_) => {}
        Err(error) => tracing::warn!("cannot raise the limit of open files: {error}"),
    }
}

/// Runs a crawl until it ends or a signal stops it, with progress on stderr.
pub(super) fn run_crawl(
    seeds: SeedList,
    settings: &Settings,
    warc: Option<&Path>,
    metrics: Option<SocketAddr>,
) -> Result<(Summary, Vec<SiteSummary>), Failure> {
    raise_file_limit(settings);
    let runtime = super::runtime()?;
    let (stop, stopped) = Stop::new();
    runtime.spawn(on_signals(stop, settings.crawl.stop_within));
    let metrics = match metrics {
        Some(address) => Some(runtime.block_on(Metrics::serve(address)).map_err(Failure::Work)?),
        None => None,
    };
    let mut display = Display::new();
    let mut sites = Vec::new();
    let mut watch = |progress: Progress<'_>| {
        match &progress {
            // Longer lists are in the database, not in memory.
            Progress::Site(site, _) if sites.len() < MOST_SITES => sites.push((*site).clone()),
            Progress::Tick(stats) => {
                if let Some(metrics) = &metrics {
                    metrics.update(stats);
                }
            }
            Progress::Site(..) => {}
        }
        display.show(&progress);
    };
    let outcome = runtime.block_on(crawl(seeds, settings, warc, stopped, &mut watch));
    display.finish();
    // Requests that are not waited for are dropped with the runtime.
    runtime.shutdown_background();
    let summary = outcome.map_err(|e| Failure::Work(e.into()))?;
    if summary.was_interrupted {
        display.say("interrupted: fetched pages are stored; the same command resumes the run");
    }
    Ok((summary, sites))
}

/// Maximum number of site summaries kept for the output.
const MOST_SITES: usize = 100_000;

/// The first signal stops the crawl, the second one ends the process. SIGHUP stops it, too: settings are not reloaded.
async fn on_signals(stop: Stop, within: Duration) {
    next_signal().await;
    stop.stop();
    let seconds = within.as_secs();
    let _ =
        writeln!(io::stderr(), "\nstopping: waiting up to {seconds} s for what is out; a second signal ends at once");
    next_signal().await;
    std::process::exit(130);
}

async fn next_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut hup)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = hup.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Maximum number of sites listed one by one. Above it, failures are grouped by reason.
const MOST_ROWS: usize = 40;

fn print(summary: &Summary, sites: &[SiteSummary], settings: &Settings, out: &mut impl Write) -> io::Result<()> {
    let db = &settings.store.path;
    print_sites(sites, db, out)?;
    print_totals(summary, out)?;
    print_hints(&summary.stats, db, out)
}

/// The table of sites, and those that need attention.
fn print_sites(sites: &[SiteSummary], db: &str, out: &mut impl Write) -> io::Result<()> {
    if sites.len() <= MOST_ROWS {
        write!(out, "{}", site_table(sites).render(terminal_width()))?;
    }
    let failures: Vec<&SiteSummary> = sites.iter().filter(|s| s.reason.is_some()).collect();
    if !failures.is_empty() {
        writeln!(out, "\nSites without a template:")?;
        write!(out, "{}", failure_table(&failures).render(terminal_width()))?;
    }
    let redesigned: Vec<&SiteSummary> =
        sites.iter().filter(|s| s.outcome == "learned" && s.old_template_coverage.is_some()).collect();
    if let Some(first) = redesigned.first() {
        writeln!(out, "\nRedesigned sites, learned again:")?;
        write!(out, "{}", redesigned_table(&redesigned).render(terminal_width()))?;
        writeln!(out, "changed blocks: {} templates diff {} --db {db}", program(), first.host)?;
    }
    Ok(())
}

/// Sites, pages and requests of the run by outcome.
fn print_totals(summary: &Summary, out: &mut impl Write) -> io::Result<()> {
    let stats = &summary.stats;
    let rate = stats.pages as f64 / summary.seconds.max(0.001);
    let some = |n: usize, text: &str| if n > 0 { format!(", {} {text}", count(n)) } else { String::new() };
    writeln!(
        out,
        "\nrun {}{}: {} sites: {} learned{}{}{}, {} failed{}{}",
        summary.run,
        if summary.was_resumed { " (resumed)" } else { "" },
        count(stats.sites),
        count(stats.learned),
        some(stats.kept, "kept their template"),
        some(stats.walked + stats.not_due, if stats.walked > 0 { "walked" } else { "not due" }),
        some(stats.no_template, "without a template"),
        count(stats.failed),
        some(stats.interrupted, "interrupted"),
        some(stats.ended_before, "done before"),
    )?;
    writeln!(
        out,
        "{} pages: {} new{}{}{}{}{}",
        count(stats.new + stats.changed + stats.same_text + stats.recleaned + stats.unchanged + stats.gone),
        count(stats.new),
        some(stats.changed, "changed"),
        some(stats.same_text, "with the same text"),
        some(stats.recleaned, "cleaned anew"),
        some(stats.unchanged, "unchanged"),
        some(stats.gone, "gone"),
    )?;
    writeln!(
        out,
        "{:.1} MB in {:.1} s ({rate:.1} pages/s); {} requests{}{}{}{}{}",
        stats.bytes as f64 / 1e6,
        summary.seconds,
        count(stats.requests),
        some(stats.retries, "of them retries"),
        some(stats.forbidden, "URLs forbidden by robots.txt"),
        some(stats.without_rules, "not fetched for lack of robots.txt rules"),
        some(stats.back_offs, "back-offs"),
        some(stats.parked, "domains parked"),
    )
}

/// What was left out and how to get it, and where the results are.
fn print_hints(stats: &Stats, db: &str, out: &mut impl Write) -> io::Result<()> {
    if !stats.refused.is_empty() {
        let refused: Vec<String> = stats.refused.iter().map(|(name, n)| format!("{} {name}", count(*n))).collect();
        writeln!(out, "links not followed: {}", refused.join(", "))?;
    }
    if stats.not_due > 0 {
        writeln!(out, "--all fetches pages that are not due, too")?;
    }
    if stats.repeated_seeds > 0 {
        writeln!(out, "{} seeds skipped: an earlier seed has the same host", count(stats.repeated_seeds))?;
    }
    let program = program();
    writeln!(
        out,
        "stored in {db}; look at it with\n  {program} templates list --db {db}\n  {program} pages list --db {db}"
    )
}

pub(super) fn site_table(sites: &[SiteSummary]) -> Table {
    let mut table =
        Table::new(&["site", "outcome", "pages", "loads", "voters", "template", "of", "cleaned", "s"]).left(1);
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

fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "dehusk".to_owned())
}

fn redesigned_table(sites: &[&SiteSummary]) -> Table {
    let mut table = Table::new(&["site", "old template left", "new template", "of"]);
    for s in sites.iter().take(MOST_ROWS) {
        let shown = s.old_template_coverage.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
        table.row(vec![s.host.clone(), shown, s.template_nodes.to_string(), s.key_nodes.to_string()]);
    }
    if sites.len() > MOST_ROWS {
        table.row(vec![format!("and {} more", sites.len() - MOST_ROWS), String::new(), String::new(), String::new()]);
    }
    table
}

fn failure_table(failures: &[&SiteSummary]) -> Table {
    if failures.len() <= MOST_ROWS {
        let mut table = Table::new(&["site", "reason"]).left(1);
        for s in failures {
            table.row(vec![s.host.clone(), s.reason.clone().unwrap_or_default()]);
        }
        return table;
    }
    let mut by_reason: BTreeMap<String, (usize, &str)> = BTreeMap::new();
    for s in failures {
        by_reason.entry(s.reason.clone().unwrap_or_default()).or_insert((0, &s.host)).0 += 1;
    }
    let mut rows: Vec<(String, (usize, &str))> = by_reason.into_iter().collect();
    rows.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    let mut table = Table::new(&["reason", "sites", "such as"]).left(2);
    for (reason, (n, host)) in rows.into_iter().take(MOST_ROWS) {
        table.row(vec![reason, count(n), host.to_owned()]);
    }
    table
}
