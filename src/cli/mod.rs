//! The command line: one file a command.
//!
//! Exit codes: 0 all well, 1 some sites or pages failed, 2 wrong usage or settings.

mod evaluate;
mod table;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

use crate::settings::Settings;

/// Crawls lists of web sites politely, learns each site's template from its own pages, and gives back every page
/// without it.
#[derive(Parser)]
#[command(name = "dehusk", version, max_term_width = 100)]
pub struct Args {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(clap::Args)]
struct Global {
    /// Settings file; without it, crawl.toml in this folder when there is one.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The SQLite file with sites, templates and pages [setting store.path].
    #[arg(long, global = true, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Sets any key of crawl.toml for this run, such as politeness.delay=2.
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Subcommand)]
enum Command {
    Evaluate(evaluate::Evaluate),
}

/// Runs a command and says on stderr why it could not.
pub fn run(args: Args) -> ExitCode {
    let outcome = args.settings().map_err(Failure::Usage).and_then(|settings| match &args.command {
        Command::Evaluate(command) => command.run(&settings),
    });
    match outcome {
        Ok(code) => code,
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "dehusk: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Arguments or settings are wrong.
    #[error("{0:#}")]
    Usage(anyhow::Error),
    /// The work could not be done.
    #[error("{0:#}")]
    Work(anyhow::Error),
    /// Standard output is gone.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Work(_) | Failure::Output(_) => 1,
        }
    }
}

type Outcome = Result<ExitCode, Failure>;

impl Args {
    fn settings(&self) -> anyhow::Result<Settings> {
        let preset = match &self.command {
            Command::Evaluate(command) => command.preset_setting(),
        };
        let sets: Vec<String> = preset.into_iter().chain(self.global.set.iter().cloned()).collect();
        self.global.load(&sets)
    }
}

impl Global {
    fn load(&self, sets: &[String]) -> anyhow::Result<Settings> {
        let default = Path::new("crawl.toml");
        let file = match &self.config {
            Some(file) => Some(file.as_path()),
            None => default.is_file().then_some(default),
        };
        let text = match file {
            Some(path) => Some(std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?),
            None => None,
        };
        let name = file.map(|path| path.display().to_string()).unwrap_or_default();
        let mut settings = Settings::load(text.as_deref().map(|text| (name.as_str(), text)), sets)?;
        if let Some(db) = &self.db {
            settings.store.path = db.display().to_string();
        }
        Ok(settings)
    }
}
