//! `dehusk crawl`: crawls sites and stores their pages.

mod followers;
mod seed_report;
mod summary;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};

use followers::{Followers, Wanted};
use seed_report::SeedReport;
use summary::print;
pub(super) use summary::site_table;

use super::corpus_args::failure;
use super::export::FormName;
use super::metrics::{Metrics, write_file};
use super::notify::notify;
use super::progress::Display;
use super::signals::{Signals, end_at_signal};
use super::strings::with_patterns;
use super::{Failure, Outcome, exit, open_store};
use dehusk_corpus::export::ExportOptions;
use dehusk_crawl::seeds::{Rejected, Seeds, SeedsError};
use dehusk_crawl::{Progress, SeedList, SiteSummary, Stop, Summary, crawl};
use dehusk_settings::Settings;
use rustc_hash::FxHashSet;

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
  dehusk crawl lists/*.txt --export corpus --export-format parquet --feed changes.jsonl
  dehusk crawl lists/*.txt --store postgres://me:secret@db.example.org/crawl
  dehusk crawl --json | jq .summary.stats

Every URL of a list is fetched: the first one of a host is the key page of its site, further ones are pages of it. A \
list has one URL or host on a line, with ranks or not (1,example.org), packed or not; it may also be a sitemap, a feed \
or OPML, as a file or by its URL. Seeds from standard input (-) or a pipe are crawled as they come; the run ends when \
the pipe does. --json has what became of each seed.

With a PostgreSQL server, the same command on any number of machines works on one run: each leases hosts, and takes \
over those of a machine that is not heard of for store.lease. `dehusk workers` lists them. See docs/scaling.md.

A run that was killed or interrupted is resumed by the same command, with the same seeds and settings. Another crawl \
on the same database is a run of its own; --resume takes the interrupted one up.

A run ends early when a budget is used up (crawl.max_requests, max_bytes, max_seconds, max_failures), and so does a \
site (crawl.site.max_*); what is left waits for the next run.

Exit codes: 0 done, also where some sites failed or a budget ended the run; 1 more sites failed than --fail-above allows; 2 wrong usage or \
settings; 3 could not run (database, archive, disk, lock); 4 interrupted. \
Ctrl-C or SIGTERM waits for requests in flight and stores them (crawl.stop_within); a second one exits at once, with 4 \
as well. SIGHUP has the same effect as SIGTERM, unless it is ignored (nohup). docs/nightly.md shows how to run it every night.")]
pub(super) struct Crawl {
    /// Files of URLs, URLs, or hosts without a scheme (https is tried first, then http).
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// Fetch every known page again, due or not [setting revisit.all].
    #[arg(long)]
    all: bool,
    /// The address of a PostgreSQL server that many crawls share (postgres://user:password@host/database); the same as
    /// --db.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "db")]
    pub(super) store: Option<String>,
    /// Write every exchange to WARC files in this folder.
    #[arg(long, value_name = "DIR")]
    warc: Option<PathBuf>,
    /// Serve /metrics (Prometheus) and /stats (JSON) at this address while the crawl runs.
    #[arg(long, value_name = "ADDR:PORT")]
    metrics: Option<SocketAddr>,
    /// Write the same metrics to this file when the run ends, for node_exporter's textfile collector.
    #[arg(long, value_name = "FILE")]
    metrics_file: Option<PathBuf>,
    /// Export pages into this folder as their sites end, like `dehusk export --out DIR`, which adds to it later.
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Form of the files of --export.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = FormName::Jsonl, requires = "export")]
    export_format: FormName,
    /// Append pages that are new, changed, gone, moved, blocked or back to this file as they are committed: JSON lines
    /// with `seq`, `change` and the columns of `dehusk export`.
    #[arg(long, value_name = "FILE")]
    feed: Option<PathBuf>,
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

/// Logs that the settings file of the current folder is read, and what it opens to the network.
fn log_unnamed_settings_file() {
    let Ok(text) = std::fs::read_to_string("crawl.toml") else { return };
    let table: toml::Table = text.parse().unwrap_or_default();
    let fetch = table.get("fetch").and_then(toml::Value::as_table);
    let risky = ["proxy", "allow_private", "allow_networks", "resolve"];
    let set: Vec<String> = risky
        .iter()
        .filter(|key| fetch.is_some_and(|fetch| fetch.contains_key(**key)))
        .map(|key| format!("fetch.{key}"))
        .collect();
    let sets =
        if set.is_empty() { String::new() } else { format!("; it changes what may be reached: {}", set.join(", ")) };
    tracing::info!("settings: crawl.toml in the current folder{sets}");
}

/// A share: `5%` or `0.05`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().map(|share| share / unit);
    share.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "write a share such as 5% or 0.05".to_owned())
}

impl Crawl {
    pub(super) fn run(&self, settings: &Settings, names_settings_file: bool) -> Outcome {
        let mut settings = with_patterns(settings)?;
        settings.revisit.all |= self.all;
        if let Some(agent) = settings.agent_without_a_name() {
            return Err(Failure::Usage(anyhow!(
                "fetch.user_agent: `{agent}` names only browsers, so robots.txt files cannot name this crawler; put your own \
                 name first (mybot/1.0 (+https://my.org/bot)), or set politeness.robots_agents"
            )));
        }
        if !names_settings_file {
            log_unnamed_settings_file();
        }
        let (list, rejected) =
            if self.resume { (SeedList::resume(), Rejected::default()) } else { self.seed_list(&settings)? };
        let followers = Followers::start(self.wanted(), &settings).map_err(failure)?;
        let outcome = run_crawl(list, &settings, self.warc.as_deref(), self.metrics);
        let written = followers.map(Followers::finish).transpose();
        let (summary, sites) = outcome?;
        if let Some(path) = &self.metrics_file {
            write_file(path, &summary.stats, summary.seconds, summary.was_interrupted)
                .with_context(|| path.display().to_string())
                .map_err(Failure::Work)?;
        }
        let seeds = SeedReport::read(&settings, summary.run, &summary.stats, rejected.count(), self.json)?;
        let mut out = io::stdout().lock();
        if self.json {
            let report = serde_json::json!({"schema": 2, "summary": summary, "sites": sites, "seeds": seeds});
            writeln!(out, "{report}")?;
        } else {
            print(&summary, &sites, &failed_before(&settings, summary.run), &settings, &mut out)?;
            seeds.print(&mut out)?;
        }
        if let Some(written) = written.map_err(failure)?.filter(|_| !self.json) {
            written.print(&self.wanted(), &mut out)?;
        }
        drop(out);
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
        // An interrupted run is not over: the same command resumes it, and tells then.
        if summary.was_interrupted {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        let code = if failed > self.fail_above { exit::FAILED } else { 0 };
        let _listener = end_at_signal(code, "stopped; the run is complete, but not everybody was told about it")?;
        notify(&settings, summary.run);
        Ok(ExitCode::from(code))
    }

    fn wanted(&self) -> Wanted {
        let options = ExportOptions { form: self.export_format.form(), ..ExportOptions::default() };
        Wanted { export: self.export.clone().map(|dir| (dir, options)), feed: self.feed.clone() }
    }

    fn seed_list(&self, settings: &Settings) -> Result<(SeedList, Rejected), Failure> {
        let seeds = read_seeds(&self.seeds, settings)?;
        let (mark, name, is_stream, rejected) = (seeds.mark(), seeds.name(), seeds.is_stream(), seeds.rejected());
        let mut seeds = seeds.into_seeds().peekable();
        if seeds.peek().is_none() {
            let places = self.places(settings);
            return Err(Failure::Usage(anyhow!("no seeds in {places}; give URLs, or a file with one URL per line")));
        }
        let list = SeedList::new(seeds, Some(mark), name);
        let list = if is_stream { list.as_stream() } else { list };
        Ok((if self.new { list.in_new_run() } else { list }, rejected))
    }

    fn places(&self, settings: &Settings) -> String {
        if self.seeds.is_empty() { settings.crawl.seeds.join(", ") } else { self.seeds.join(", ") }
    }
}

/// Hosts of the sites that have failed in more than one run. A list that cannot be read is no reason to say nothing.
fn failed_before(settings: &Settings, run: i64) -> FxHashSet<String> {
    let failing = open_store(settings).ok().and_then(|store| store.failing_sites(run).ok());
    failing.into_iter().flatten().filter(|site| site.n_failed > 1).map(|site| site.host).collect()
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

/// The limit of open files that a crawl has room in.
pub(super) fn wanted_files(settings: &Settings) -> u64 {
    4 * (settings.fetch.in_flight + settings.crawl.sites_at_once) as u64
}

/// Raises the limit of open files: connections stay open for a while, and cron allows only 1,024 files.
fn raise_file_limit(settings: &Settings) {
    let wanted = wanted_files(settings);
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
    let runtime = super::runtime(network_threads(settings, dehusk_corpus::pipeline::cores()))?;
    let (stop, stopped) = Stop::new();
    // On a thread of its own, so that a signal is heard whatever the others wait for.
    let signals = super::runtime(1)?;
    signals.spawn(on_signals(stop, settings.crawl.stop_within));
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
    signals.shutdown_background();
    let summary = outcome.map_err(|e| Failure::Work(e.into()))?;
    if summary.was_interrupted {
        let next = if settings.crawl.resume_within.is_zero() {
            "begins a new run (crawl.resume_within is 0)"
        } else {
            "resumes the run"
        };
        display.say(&format!("interrupted: fetched pages are stored; the same command {next}"));
    }
    Ok((summary, sites))
}

/// Threads for the network beside the one of the scheduler. With few cores that one does both: each message between two
/// threads wakes the other one. Full crawls on two cores: .76 -> .72 CPU s a 1,000 pages, links only .09 -> .08.
fn network_threads(settings: &Settings, cores: usize) -> usize {
    match (settings.crawl.network_threads, cores) {
        (1, _) | (0, ..=2) => 0,
        (0, cores) => cores,
        (threads, _) => threads,
    }
}

/// Maximum number of site summaries kept for the output.
const MOST_SITES: usize = 100_000;

/// The first signal stops the crawl, the second one ends the process. SIGHUP stops it, too: settings are not reloaded.
async fn on_signals(stop: Stop, within: Duration) {
    let mut signals = Signals::listen();
    signals.next().await;
    stop.stop();
    let seconds = within.as_secs();
    let _ =
        writeln!(io::stderr(), "\nstopping: waiting up to {seconds} s for open requests; a second signal ends at once");
    signals.next().await;
    std::process::exit(exit::INTERRUPTED.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_network_thread_is_that_of_the_scheduler() {
        let threads = |set: usize, cores: usize| {
            let mut settings = Settings::default();
            settings.crawl.network_threads = set;
            network_threads(&settings, cores)
        };
        assert_eq!([1, 2, 3, 64].map(|cores| threads(0, cores)), [0, 0, 3, 64]);
        assert_eq!([1, 2, 8].map(|set| threads(set, 64)), [0, 2, 8]);
    }
}
