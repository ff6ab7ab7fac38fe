//! The command line, one file per command.
//!
//! `exit.rs` has the exit codes.

mod chunks;
mod clean;
mod cluster;
mod corpus_args;
mod crawl;
mod demo;
mod doctor;
mod documents;
mod evaluate;
mod exit;
mod export;
mod help;
mod index;
mod init;
mod key_page;
mod kinds;
mod learn;
mod learn_many;
mod learned_sites;
mod loaded_page;
mod maintenance;
mod manual;
mod metrics;
#[cfg(feature = "serve")]
mod mcp;
mod models;
mod names;
mod notify;
mod objects;
mod page_history;
mod pages;
mod picture;
mod progress;
mod report;
mod rereadable;
mod rights;
mod runs;
mod scores;
#[cfg(feature = "serve")]
mod serve;
mod shell_command;
mod signals;
mod site_pages;
mod site_samples;
mod stored_templates;
mod strings;
mod table;
mod teach;
mod terminal;
mod workers;
mod templates;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::PossibleValue;
use clap::{FromArgMatches, Parser, Subcommand};

pub use help::command;

use dehusk_papers::method_table::{METHODS, MethodEntry};
use dehusk_settings::Settings;
use dehusk_store::Store;
use dehusk_template::method::{Method, UnknownMethod};

/// Crawls lists of web sites politely, learns each site's template from its own pages, and stores every page without
/// it.
#[derive(Parser)]
#[command(name = "dehusk", version, max_term_width = 100)]
#[command(after_help = "Examples:
  dehusk demo                                    a first try without internet
  dehusk crawl https://docs.example.org/         learn a site and store its pages
  dehusk pages list                              what was stored
  dehusk clean page.html --site docs.example.org

Every key of crawl.toml can be set for one run with --set KEY=VALUE. DEHUSK_LOG sets log levels by module, such as \
DEHUSK_LOG=dehusk=debug,reqwest=info. NO_COLOR=1 switches colors off.")]
struct Args {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of all commands.
#[derive(clap::Args)]
#[command(next_help_heading = "Options of all commands")]
struct Global {
    /// Settings file [default: crawl.toml in the current folder, if it exists].
    ///
    /// The variable DEHUSK_CONFIG names it for all commands of a shell.
    #[arg(long, global = true, value_name = "FILE", env = "DEHUSK_CONFIG", hide_env = true)]
    config: Option<PathBuf>,
    /// The database [setting store.path].
    ///
    /// A SQLite file, or the address of a PostgreSQL server, which many crawls share
    /// (postgres://user:password@host/database).
    #[arg(long, global = true, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Set a key of crawl.toml for this run, such as politeness.delay=2.
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Parameter set of template learning [setting preset]: dehusk, votes, thesis2014 (the paper, literally),
    /// hybex2020.
    ///
    /// --set refines it.
    #[arg(long, global = true, value_name = "NAME")]
    preset: Option<String>,
    /// Format of log lines on stderr.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// Log warnings and errors only.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Log more.
    #[arg(short, long, global = true)]
    verbose: bool,
}

/// Format of log lines.
#[derive(Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Doctor(doctor::Doctor),
    Crawl(crawl::Crawl),
    Learn(learn::Learn),
    Clean(clean::Clean),
    Chunks(chunks::Chunks),
    Templates(templates::Templates),
    Models(models::Models),
    Teach(teach::Teach),
    Pages(pages::Pages),
    Export(export::Export),
    Index(index::Index),
    Runs(runs::Runs),
    Rights(rights::Rights),
    Report(report::Report),
    Workers(workers::Workers),
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    #[cfg(feature = "serve")]
    Open(serve::Open),
    #[cfg(feature = "serve")]
    Mcp(mcp::Mcp),
    Prune(maintenance::Prune),
    Forget(maintenance::Forget),
    Backup(maintenance::Backup),
    Strings(strings::Strings),
    Cluster(cluster::Cluster),
    Evaluate(evaluate::Evaluate),
    Demo(demo::Demo),
    Completions(manual::Completions),
    Man(manual::Man),
}

/// Output format of a cleaned page.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Plain text, one line per block.
    Text,
    /// HTML.
    Html,
    /// Markdown (CommonMark and GFM).
    Markdown,
}

/// Parses the arguments, loads the settings and runs one command. Errors are reported on stderr.
pub fn run() -> ExitCode {
    let args = Args::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    log_to_stderr(&args.global);
    let outcome = args.settings().map_err(Failure::Usage).and_then(|settings| match &args.command {
        Command::Init(command) => command.run(),
        Command::Doctor(command) => command.run(&settings, args.global.settings_file().as_deref()),
        Command::Crawl(command) => command.run(&settings, args.global.config.is_some()),
        Command::Learn(command) => command.run(&settings, args.global.db.as_deref()),
        Command::Clean(command) => command.run(&settings),
        Command::Chunks(command) => command.run(&settings),
        Command::Templates(command) => command.run(&settings),
        Command::Models(command) => command.run(&settings),
        Command::Teach(command) => command.run(&settings),
        Command::Pages(command) => command.run(&settings),
        Command::Export(command) => command.run(&settings),
        Command::Index(command) => command.run(&settings),
        Command::Runs(command) => command.run(&settings),
        Command::Rights(command) => command.run(&settings),
        Command::Report(command) => command.run(&settings),
        Command::Workers(command) => command.run(&settings),
        #[cfg(feature = "serve")]
        Command::Serve(command) => command.run(&settings),
        #[cfg(feature = "serve")]
        Command::Open(command) => command.run(&settings),
        #[cfg(feature = "serve")]
        Command::Mcp(command) => command.run(&settings),
        Command::Prune(command) => command.run(&settings),
        Command::Forget(command) => command.run(&settings),
        Command::Backup(command) => command.run(&settings),
        Command::Strings(command) => command.run(&settings),
        Command::Cluster(command) => command.run(&settings),
        Command::Evaluate(command) => command.run(&settings),
        Command::Demo(command) => command.run(&settings),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    });
    match outcome {
        Ok(code) => code,
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "dehusk: {}", terminal::plain(&failure.to_string()));
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
    /// What was asked for is not there, or could not be made of what is there.
    #[error("{0:#}")]
    Nothing(anyhow::Error),
    /// The work could not be done: no database, no space, no permission, no network.
    #[error("{0:#}")]
    Work(anyhow::Error),
    /// Standard output cannot be written.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Nothing(_) => exit::FAILED,
            Failure::Usage(_) => exit::USAGE,
            Failure::Work(_) | Failure::Output(_) => exit::CANNOT_RUN,
        }
    }
}

type Outcome = Result<ExitCode, Failure>;

impl Args {
    fn settings(&self) -> anyhow::Result<Settings> {
        let preset = self.global.preset.as_ref().map(|name| format!("preset={name}"));
        let sets: Vec<String> = preset.into_iter().chain(self.global.set.iter().cloned()).collect();
        let mut settings = self.global.load(&sets).map_err(|error| match &self.global.preset {
            Some(name) if self.global.load(&self.global.set).is_ok() => error.context(format!("--preset {name}")),
            _ => error,
        })?;
        if let Command::Crawl(crawl::Crawl { store: Some(store), .. }) = &self.command {
            settings.store.path.clone_from(store);
        }
        Ok(settings)
    }
}

impl Global {
    /// The settings file that is read, if there is one.
    fn settings_file(&self) -> Option<PathBuf> {
        let default = Path::new("crawl.toml");
        self.config.clone().or_else(|| default.exists().then(|| default.to_owned()))
    }

    fn load(&self, sets: &[String]) -> anyhow::Result<Settings> {
        let file = self.settings_file();
        if self.config.is_none() && file.as_ref().is_some_and(|file| !file.is_file()) {
            return Err(anyhow::anyhow!("crawl.toml is not a file; remove it, or name another with --config"));
        }
        let text = match &file {
            Some(path) => Some(std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?),
            None => None,
        };
        let name = file.map(|path| path.display().to_string()).unwrap_or_default();
        let mut settings = Settings::load(text.as_deref().map(|text| (name.as_str(), text)), sets)?;
        if let Some(db) = &self.db {
            let name = db.to_str().ok_or_else(|| anyhow::anyhow!("--db: {}: the name is not UTF-8", db.display()))?;
            settings.store.path = name.to_owned();
        }
        Ok(settings)
    }
}

/// Sends log lines to stderr, so that standard output contains only the result. `DEHUSK_LOG` sets levels by module.
fn log_to_stderr(global: &Global) {
    let level = match (global.quiet, global.verbose) {
        (true, _) => "warn",
        (false, true) => "debug",
        (false, false) => "info",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("DEHUSK_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(format!("warn,html5ever=error,dehusk={level}")));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        // A closed stderr must not end a crawl.
        .log_internal_errors(false);
    let _ = match global.log_format {
        LogFormat::Text => subscriber.fmt_fields(message_only()).try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
}

/// Writes the message of an event. Its other fields are for JSON lines.
fn message_only() -> impl for<'w> tracing_subscriber::fmt::FormatFields<'w> + 'static {
    tracing_subscriber::fmt::format::debug_fn(|out, field, value| match field.name() {
        "message" => write!(out, "{}", terminal::plain(&format!("{value:?}"))),
        _ => Ok(()),
    })
}

/// The values of `--method`, each with its help line, from the table of methods.
fn method_names() -> Vec<PossibleValue> {
    METHODS.iter().map(|entry| PossibleValue::new(entry.method.name()).help(entry.summary)).collect()
}

/// The method that `--method` names.
fn method_named(name: &str) -> Result<&'static MethodEntry, Failure> {
    let method: Method = name.parse().map_err(|e: UnknownMethod| Failure::Usage(e.into()))?;
    MethodEntry::find(method).ok_or_else(|| Failure::Usage(anyhow::anyhow!("{method} is not built in")))
}

/// A runtime with so many threads beside the one that waits for it. Without any, that one does the work.
fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    let mut builder = match threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder
        .worker_threads(threads.max(1))
        .enable_all()
        .build()
        .context("cannot start the runtime")
        .map_err(Failure::Work)
}

fn open_store(settings: &Settings) -> Result<Store, Failure> {
    Store::open(Path::new(&settings.store.path)).map_err(|e| Failure::Work(e.into()))
}
