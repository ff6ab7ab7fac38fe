//! `dehusk doctor`: looks at everything that a crawl depends on, without crawling.

mod machine;
mod network;
mod plan;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use super::{Failure, Outcome, exit};
use dehusk_crawl::seeds::Seeds;
use dehusk_settings::Settings;

/// Check what a crawl depends on, and say what it would do. Nothing is crawled, and no file is written.
///
/// Checked are the settings, the user agent, the database, the disk, the clock, the limit of open files and the trusted
/// certificates. With URLs, also their host's address, and their robots.txt: the only request that is sent to each
/// host. Without URLs, what a crawl of the seed lists of crawl.toml would do is said, and nothing is requested.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk doctor
  dehusk doctor https://docs.example.org/guide/
  dehusk doctor --config night.toml --json | jq '.checks[] | select(.state == \"problem\")'

Exit codes: 0 no problem was found, 1 at least one was.")]
pub(super) struct Doctor {
    /// URLs or hosts whose robots.txt is asked, and files of them, of which the first URL is.
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Ok,
    /// As it may be, but perhaps not as it is meant.
    Note,
    /// A crawl would fail, or annoy someone.
    Problem,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Check {
    topic: &'static str,
    state: State,
    text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Check {
    fn ok(topic: &'static str, text: impl Into<String>) -> Check {
        Check { topic, state: State::Ok, text: text.into(), next: None }
    }

    fn note(topic: &'static str, text: impl Into<String>, next: impl Into<String>) -> Check {
        Check { topic, state: State::Note, text: text.into(), next: Some(next.into()) }
    }

    fn problem(topic: &'static str, text: impl Into<String>, next: impl Into<String>) -> Check {
        Check { topic, state: State::Problem, text: text.into(), next: Some(next.into()) }
    }
}

impl Doctor {
    pub(super) fn run(&self, settings: &Settings, settings_file: Option<&Path>) -> Outcome {
        let mut checks = machine::checks(settings, settings_file);
        let (planned, urls) = plan::checks(&self.seeds, settings);
        checks.extend(planned);
        if !self.seeds.is_empty() {
            checks.extend(network::checks(&urls, settings)?);
        }
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 1, "checks": checks}))?;
        } else {
            print(&checks, &mut out)?;
        }
        let has_problem = checks.iter().any(|check| check.state == State::Problem);
        Ok(ExitCode::from(if has_problem { exit::FAILED } else { 0 }))
    }
}

/// A line for each check, and what to do below it.
fn print(checks: &[Check], out: &mut impl Write) -> Result<(), Failure> {
    let width = checks.iter().map(|check| check.topic.len()).max().unwrap_or(0);
    for check in checks {
        let state = match check.state {
            State::Ok => console::style("ok     ").green(),
            State::Note => console::style("note   ").yellow(),
            State::Problem => console::style("problem").red(),
        };
        writeln!(out, "{state}  {:width$}  {}", check.topic, super::terminal::plain(&check.text))?;
        if let Some(next) = &check.next {
            writeln!(out, "{:9}{:width$}  -> {}", "", "", super::terminal::plain(next))?;
        }
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    match count(State::Problem) {
        0 => writeln!(out, "\nno problem found")?,
        1 => writeln!(out, "\n1 problem found")?,
        n => writeln!(out, "\n{n} problems found")?,
    }
    Ok(())
}

/// The seeds that are named, or those of the settings.
fn seeds(given: &[String], settings: &Settings) -> Result<Seeds, String> {
    let mut seeds = Seeds::default();
    for source in if given.is_empty() { &settings.crawl.seeds } else { given } {
        seeds.add(source).map_err(|error| error.to_string())?;
    }
    Ok(seeds)
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} hours", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}
