//! `dehusk templates`: what was learned.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Subcommand;

use super::learn::store_template;
use super::outline::write_outline;
use super::table::{Table, terminal_width, time};
use super::{Failure, Outcome, open_store};
use crate::settings::Settings;
use crate::template::Template;

/// List, show, export and import stored templates.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk templates list
  dehusk templates show docs.example.org
  dehusk templates export docs.example.org --output docs.json
  dehusk templates import docs.json --db other.db")]
pub(super) struct Templates {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// One line a site.
    List {
        /// Only this host.
        host: Option<String>,
        /// Old versions too.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// A template as an indented outline: votes, tags, sample text; … marks where pages have something of their own.
    Show {
        /// Host.
        host: String,
        /// Version [default: the newest].
        #[arg(long)]
        version: Option<i64>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// A template as JSON.
    Export {
        /// Host.
        host: String,
        /// Version [default: the newest].
        #[arg(long)]
        version: Option<i64>,
        /// Where to [default: standard output].
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Adds an exported template as the newest version of its site.
    Import {
        /// File, or - for standard input.
        file: PathBuf,
    },
}

impl Templates {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        match &self.action {
            Action::List { host, all, json } => list(settings, host.as_deref(), *all, *json)?,
            Action::Show { host, version, json } => {
                let template = load(settings, host, *version)?;
                let mut out = io::stdout().lock();
                if *json {
                    out.write_all(&template.to_json())?;
                    writeln!(out)?;
                } else {
                    write_outline(&template, &mut out)?;
                }
            }
            Action::Export { host, version, output } => {
                let json = load(settings, host, *version)?.to_json();
                match output {
                    Some(path) => {
                        fs::write(path, json).with_context(|| path.display().to_string()).map_err(Failure::Work)?
                    }
                    None => io::stdout().write_all(&json)?,
                }
            }
            Action::Import { file } => import(settings, file)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(settings: &Settings, host: Option<&str>, all: bool, json: bool) -> Result<(), Failure> {
    let rows = open_store(settings)?.list_templates(host, all).map_err(|e| Failure::Work(e.into()))?;
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "templates": rows}))?;
        return Ok(());
    }
    let mut table =
        Table::new(&["site", "version", "learned", "method", "nodes", "votes", "loads", "key page"]).left(7);
    for row in rows {
        table.row(vec![
            row.host,
            row.version.to_string(),
            time(row.learned_at),
            row.method,
            row.n_nodes.to_string(),
            format!("{}/{}", row.t, row.m),
            row.loads.to_string(),
            row.key_url,
        ]);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(())
}

fn load(settings: &Settings, host: &str, version: Option<i64>) -> Result<Template, Failure> {
    let store = open_store(settings)?;
    let found = store.load_template(host, version).map_err(|e| Failure::Work(e.into()))?;
    found.ok_or_else(|| {
        let what = version.map_or_else(|| host.to_owned(), |v| format!("{host} version {v}"));
        Failure::Work(anyhow!(
            "{}: no template of {what}; `dehusk templates list` names those that exist",
            settings.store.path
        ))
    })
}

fn import(settings: &Settings, file: &Path) -> Result<(), Failure> {
    let mut json = Vec::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().read_to_end(&mut json).map(drop),
        _ => fs::read(file).map(|bytes| json = bytes),
    };
    read.with_context(|| file.display().to_string()).map_err(Failure::Work)?;
    let template = Template::from_json(&json).with_context(|| file.display().to_string()).map_err(Failure::Work)?;
    store_template(Path::new(&settings.store.path), settings, &template)?;
    writeln!(io::stdout(), "{}: {} template nodes imported", template.host, template.n_nodes())?;
    Ok(())
}
