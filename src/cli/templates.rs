//! `dehusk templates`: lists, shows, compares, exports and imports templates.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Subcommand;

use super::key_page::{empty_page, show_html};
use super::kinds::kinds;
use super::learn::store_template;
use super::names::host_name;
use super::table::{Table, terminal_width, time};
use super::terminal::stdout;
use super::{Failure, Outcome, open_store};
use crate::outline::write_outline;
use dehusk_settings::Settings;
use dehusk_store::{StoreError, TemplateRow};
use dehusk_template::template::{Template, changes};

/// List, show, compare, export and import stored templates.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk templates list
  dehusk templates show docs.example.org
  dehusk templates show docs.example.org --html template.html
  dehusk templates history docs.example.org
  dehusk templates diff docs.example.org 1 2
  dehusk templates kinds docs.example.org
  dehusk templates export docs.example.org --output docs.json
  dehusk templates import docs.json --db other.db")]
pub(super) struct Templates {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List one template per line.
    #[command(after_help = "Examples:
  dehusk templates list
  dehusk templates list --all --json")]
    List {
        /// Only this host.
        #[arg(value_parser = host_name)]
        host: Option<String>,
        /// Include old versions.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a template as an indented outline: votes or number of training pages, tags, sample text; … marks a page's
    /// own content.
    #[command(after_help = "Examples:
  dehusk templates show docs.example.org
  dehusk templates show docs.example.org --votes
  dehusk templates show docs.example.org --html page.html
  dehusk templates show www --html page.html --page mirror/www/index.html")]
    Show {
        /// Host.
        #[arg(value_parser = host_name)]
        host: String,
        /// Version [default: the newest].
        #[arg(long)]
        version: Option<i64>,
        /// Show the votes of the pages that link to each other (Alarte 2014) in a second column. The JSON always has
        /// them, as `subdigraph_votes`.
        #[arg(long, conflicts_with = "html")]
        votes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Write the stored key page with its template highlighted as one HTML file.
        #[arg(long, value_name = "FILE", conflicts_with = "json")]
        html: Option<PathBuf>,
        /// File of the page that --html shows, for a template learned from files, whose pages are not stored.
        #[arg(long, value_name = "FILE", requires = "html")]
        page: Option<PathBuf>,
    },
    /// List all versions of a site's template, with the number of blocks added and removed.
    #[command(after_help = "Examples:
  dehusk templates history docs.example.org")]
    History {
        /// Host.
        #[arg(value_parser = host_name)]
        host: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the blocks added and removed between two versions of a site's template.
    #[command(after_help = "Examples:
  dehusk templates diff docs.example.org")]
    Diff {
        /// Host.
        #[arg(value_parser = host_name)]
        host: String,
        /// Earlier version [default: the one before AFTER].
        before: Option<i64>,
        /// Later version [default: the newest].
        after: Option<i64>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the kinds of a site's pages, such as a shop and a blog: how many training and stored pages each has, and
    /// how much of its template they show.
    #[command(after_help = "Examples:
  dehusk templates kinds docs.example.org
  dehusk templates kinds docs.example.org --runs

A kind is a group of training pages, each of which shows half of another one's template. A stored \
page is of the kind of the training page whose template it shows most of. A page that shows less \
than clean.min_confidence is of none. `dehusk pages list` prints the kind of each page, and \
`dehusk export` writes it as the column template_kind. \
A coverage that falls from run to run means that this part of the site is being redesigned.")]
    Kinds {
        /// Host.
        #[arg(value_parser = host_name)]
        host: String,
        /// Version of the template [default: the newest].
        #[arg(long)]
        version: Option<i64>,
        /// One line for each run, with all stored versions of the pages and what each showed of the template of its
        /// run, in place of the newest versions.
        #[arg(long)]
        runs: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Export a template as JSON, or as an HTML page with the site's design and empty slots.
    #[command(after_help = "Examples:
  dehusk templates export docs.example.org --output t.json
  dehusk templates export docs.example.org --form html --output empty.html

The HTML is the key page without the text and the elements that are its own: a comment, slot, stands in their place. \
Classes, ids, styles and scripts by reference are those of the site, so that it is as safe to open as the site.")]
    Export {
        /// Host.
        #[arg(value_parser = host_name)]
        host: String,
        /// Version [default: the newest].
        #[arg(long)]
        version: Option<i64>,
        /// Form of the file.
        #[arg(long, value_enum, default_value_t = TemplateForm::Json)]
        form: TemplateForm,
        /// Output file [default: standard output].
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import a template as the newest version of its site.
    #[command(after_help = "Examples:
  dehusk templates import t.json --db other.db")]
    Import {
        /// File, or - for standard input.
        file: PathBuf,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TemplateForm {
    /// What `templates import` reads.
    Json,
    /// The key page with empty slots.
    Html,
}

impl Templates {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        match &self.action {
            Action::List { host, all, json } => list(settings, host.as_deref(), *all, *json)?,
            Action::Show { host, version, html: Some(file), page, .. } => {
                show_html(settings, host, *version, page.as_deref(), file)?
            }
            Action::Show { host, version, json: true, .. } => {
                stdout().write_all(&load_with_blocks(settings, host, *version)?.to_json())?;
                writeln!(stdout())?;
            }
            Action::Show { host, version, votes, .. } => {
                write_outline(&load(settings, host, *version)?, *votes, &mut stdout())?;
            }
            Action::History { host, json } => history(settings, host, *json)?,
            Action::Diff { host, before, after, json } => diff(settings, host, *before, *after, *json)?,
            Action::Kinds { host, version, runs, json } => {
                kinds(settings, (host, *version, &load(settings, host, *version)?), *runs, *json)?
            }
            Action::Export { host, version, form, output } => {
                let exported = match form {
                    TemplateForm::Json => load_with_blocks(settings, host, *version)?.to_json(),
                    TemplateForm::Html => empty_page(settings, host, *version)?.into_bytes(),
                };
                match output {
                    Some(path) => {
                        fs::write(path, exported).with_context(|| path.display().to_string()).map_err(Failure::Work)?
                    }
                    None => stdout().write_all(&exported)?,
                }
            }
            Action::Import { file } => import(settings, file)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(settings: &Settings, host: Option<&str>, all: bool, json: bool) -> Result<(), Failure> {
    let rows = open_store(settings)?.list_templates(host, all).map_err(|e| Failure::Work(e.into()))?;
    if let (true, Some(host)) = (rows.is_empty(), host) {
        tracing::warn!("no template of {host} is stored; omit the host to list all");
    }
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "templates": rows}))?;
        return Ok(());
    }
    let mut table =
        Table::new(&["site", "version", "learned", "method", "nodes", "voters", "loads", "key page"]).left(7);
    for row in rows {
        table.row(vec![
            row.host,
            row.version.to_string(),
            time(row.learned_at),
            row.method,
            row.n_nodes.to_string(),
            // Votes needed and votes cast; a site model needs no votes.
            if row.t == 0 { row.m.to_string() } else { format!("{}/{}", row.t, row.m) },
            row.loads.to_string(),
            row.key_url,
        ]);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(())
}

pub(super) fn versions(settings: &Settings, host: &str) -> Result<Vec<TemplateRow>, Failure> {
    let mut rows = open_store(settings)?.list_templates(Some(host), true).map_err(|e| Failure::Work(e.into()))?;
    rows.sort_by_key(|row| row.version);
    if !rows.is_empty() { Ok(rows) } else { Err(no_template(settings, host)) }
}

fn history(settings: &Settings, host: &str, json: bool) -> Result<(), Failure> {
    let rows = versions(settings, host)?;
    let mut table = Table::new(&["version", "learned", "method", "nodes", "went", "came", "key page"]).left(6);
    let mut lines = Vec::new();
    let mut last: Option<Template> = None;
    for row in rows {
        let template = load(settings, host, Some(row.version))?;
        let blocks = last.as_ref().map(|last| changes(last, &template));
        let count = |came: bool| blocks.as_ref().map(|b| b.iter().filter(|b| b.came == came).count());
        let (went, came) = (count(false), count(true));
        let shown = |n: Option<usize>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        table.row(vec![
            row.version.to_string(),
            time(row.learned_at),
            row.method.clone(),
            row.n_nodes.to_string(),
            shown(went),
            shown(came),
            row.key_url.clone(),
        ]);
        lines.push(serde_json::json!({"template": row, "blocks_went": went, "blocks_came": came}));
        last = Some(template);
    }
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "versions": lines}))?;
    } else {
        write!(out, "{}", table.render(terminal_width()))?;
    }
    Ok(())
}

fn diff(settings: &Settings, host: &str, before: Option<i64>, after: Option<i64>, json: bool) -> Result<(), Failure> {
    let rows = versions(settings, host)?;
    let newest = rows.last().map_or(1, |row| row.version);
    let after = after.unwrap_or(newest);
    let Some(before) = before.or_else(|| rows.iter().map(|row| row.version).filter(|v| *v < after).max()) else {
        return Err(Failure::Nothing(anyhow!("{host} has one version of its template; there is nothing to compare")));
    };
    let blocks = changes(&load(settings, host, Some(before))?, &load(settings, host, Some(after))?);
    let mut out = stdout();
    if json {
        let all = serde_json::json!({"schema": 1, "host": host, "before": before, "after": after, "blocks": blocks});
        writeln!(out, "{all}")?;
        return Ok(());
    }
    let n = |came: bool| blocks.iter().filter(|block| block.came == came).count();
    writeln!(out, "{host}: version {before} to {after}, {} blocks removed, {} added", n(false), n(true))?;
    for block in &blocks {
        let sign = if block.came { '+' } else { '-' };
        let last: Vec<&str> = block.above.iter().rev().take(2).rev().map(String::as_str).collect();
        let text = if block.text.is_empty() { String::new() } else { format!("  {}", block.text) };
        writeln!(out, "{sign} {:>4} nodes  {} > {}{text}", block.n_nodes, last.join(" > "), block.node)?;
    }
    Ok(())
}

fn no_template(settings: &Settings, what: &str) -> Failure {
    let path = dehusk_store::shown(&settings.store.path);
    let near = open_store(settings).ok().and_then(|store| store.near_hosts(what).ok()).unwrap_or_default();
    let hint = if near.iter().any(|host| host == what) {
        "; the site is stored without one, and `dehusk runs show` says why".to_owned()
    } else if near.is_empty() {
        String::new()
    } else {
        format!("; there is {}", near.join(", "))
    };
    Failure::Nothing(anyhow!("{path}: no template of {what}{hint}; `dehusk templates list` shows all"))
}

pub(super) fn load(settings: &Settings, host: &str, version: Option<i64>) -> Result<Template, Failure> {
    let found = open_store(settings)?.load_template(host, version);
    found_or_none(settings, (host, version), found)
}

/// Loads a template for export, with the blocks of its training pages: the stored pages are not exported with it.
fn load_with_blocks(settings: &Settings, host: &str, version: Option<i64>) -> Result<Template, Failure> {
    let found = open_store(settings)?.load_template_with_blocks(host, version, &settings.core.parse);
    found_or_none(settings, (host, version), found)
}

fn found_or_none(
    settings: &Settings,
    (host, version): (&str, Option<i64>),
    found: Result<Option<Template>, StoreError>,
) -> Result<Template, Failure> {
    found.map_err(|e| Failure::Work(e.into()))?.ok_or_else(|| {
        let what = version.map_or_else(|| host.to_owned(), |v| format!("{host} version {v}"));
        no_template(settings, &what)
    })
}

fn import(settings: &Settings, file: &Path) -> Result<(), Failure> {
    let mut json = Vec::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().read_to_end(&mut json).map(drop),
        _ => fs::read(file).map(|bytes| json = bytes),
    };
    read.with_context(|| file.display().to_string()).map_err(Failure::Nothing)?;
    let template = Template::from_json(&json).with_context(|| file.display().to_string()).map_err(Failure::Nothing)?;
    store_template(Path::new(&settings.store.path), settings, &template)?;
    writeln!(stdout(), "{}: {} template nodes imported", template.host, template.n_nodes())?;
    Ok(())
}
