//! `dehusk models`: a registry of templates by host and day, in a folder or an object store.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Subcommand;

use super::documents::{Reading, hosts_of};
use super::learn::store_template;
use super::names::host_name;
use super::table::{Table, count, terminal_width};
use super::terminal::stdout;
use super::{Failure, Outcome, open_store};
use dehusk_core::calendar::iso_8601;
use dehusk_core::clean::TemplateMatcher;
use dehusk_corpus::registry::{Registry, is_day};
use dehusk_html::Tree;
use dehusk_settings::Settings;
use dehusk_template::template::Template;

/// Pages that a template is tried on, at most.
const MOST_PAGES: usize = 64;

/// Share of a template below which pages are said to have changed since.
const STALE: f64 = 0.5;

/// Keep templates of many sites in a registry: a folder or an object store, by host and day.
///
/// `dehusk clean --models REGISTRY` cleans pages with the newest templates there, without a crawl.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk models push /srv/models
  dehusk models push s3://corpora/models docs.example.org --db models.db
  dehusk models stat /srv/models docs.example.org --pages saved/
  dehusk models pull s3://corpora/models --sites hosts.txt --db models.db
  dehusk clean pages.jsonl --models s3://corpora/models --rows")]
pub(super) struct Models {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// File the newest templates of the database in a registry, each under the day on which it was learned.
    ///
    /// Texts that only one training page has are left out of the hashes by which pages are compared, so that nobody can
    /// tell by a guess whether a page had a text.
    #[command(after_help = "Examples:
  dehusk models push /srv/models
  dehusk models push s3://corpora/models docs.example.org --db models.db")]
    Push {
        /// Folder, or address in an object store (s3://, gs://, az://).
        registry: String,
        /// Hosts [default: all].
        #[arg(value_parser = host_name)]
        hosts: Vec<String>,
        /// Keep the hashes of all texts.
        #[arg(long)]
        whole: bool,
    },
    /// Store templates of a registry in the database, each as the newest version of its site.
    #[command(after_help = "Examples:
  dehusk models pull /srv/models docs.example.org
  dehusk models pull s3://corpora/models --sites hosts.txt --as-of 2026-10-01 --db models.db")]
    Pull {
        /// Folder, or address in an object store.
        registry: String,
        /// Hosts.
        #[arg(value_parser = host_name, required_unless_present = "sites")]
        hosts: Vec<String>,
        /// A list of hosts or addresses.
        #[arg(long, value_name = "FILE")]
        sites: Option<PathBuf>,
        /// The newest templates up to this day [default: the newest].
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
        as_of: Option<String>,
    },
    /// List the templates of hosts. With pages: how much of each template they show, which falls when a site is
    /// redesigned.
    #[command(after_help = "Examples:
  dehusk models stat /srv/models docs.example.org
  dehusk models stat /srv/models docs.example.org --pages saved/ --json")]
    Stat {
        /// Folder, or address in an object store.
        registry: String,
        /// Hosts.
        #[arg(value_parser = host_name, required = true)]
        hosts: Vec<String>,
        /// Pages of the host: files, folders, archives or JSON lines. At most 64 are read.
        #[arg(long, value_name = "FILE|DIR")]
        pages: Vec<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

fn day(text: &str) -> Result<String, String> {
    if is_day(text) { Ok(text.to_owned()) } else { Err("expected a day such as 2026-11-28".to_owned()) }
}

impl Models {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        match &self.action {
            Action::Push { registry, hosts, whole } => push(settings, &open(registry)?, hosts, *whole),
            Action::Pull { registry, hosts, sites, as_of } => {
                let mut hosts = hosts.clone();
                if let Some(file) = sites {
                    hosts.extend(hosts_of(file)?);
                }
                pull(settings, &open(registry)?, &hosts, as_of.as_deref())
            }
            Action::Stat { registry, hosts, pages, json } => stat(settings, &open(registry)?, hosts, pages, *json),
        }
    }
}

/// Opens a registry.
pub(super) fn open(place: &str) -> Result<Registry, Failure> {
    Registry::open(place).with_context(|| place.to_owned()).map_err(Failure::Usage)
}

fn push(settings: &Settings, registry: &Registry, hosts: &[String], whole: bool) -> Outcome {
    let store = open_store(settings)?;
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    let mut rows = store.list_templates(None, false).map_err(work)?;
    let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
    rows.retain(|row| hosts.is_empty() || hosts.iter().any(|host| bare(host) == bare(&row.host)));
    if rows.is_empty() {
        return Err(Failure::Nothing(anyhow!("{}: no template to push", dehusk_store::shown(&settings.store.path))));
    }
    let (mut n_new, mut n_known) = (0_usize, 0_usize);
    for row in rows {
        // The pages that main content is chosen by are not there; their blocks are.
        let found = store.load_template_with_blocks(&row.host, Some(row.version), &settings.core.parse);
        let Some(mut template) = found.map_err(work)? else { continue };
        if let Some(set) = template.training_set.as_mut().filter(|_| !whole) {
            set.redact(RandomState::new().build_hasher().finish());
        }
        let day = &iso_8601(row.learned_at)[.."2026-11-28".len()];
        let is_new = registry.store(day, &template).with_context(|| format!("{}: {}", registry.name(), row.host));
        *(if is_new.map_err(Failure::Work)? { &mut n_new } else { &mut n_known }) += 1;
    }
    writeln!(stdout(), "{}: templates filed: {}, already there: {}", registry.name(), count(n_new), count(n_known))?;
    Ok(ExitCode::SUCCESS)
}

fn pull(settings: &Settings, registry: &Registry, hosts: &[String], as_of: Option<&str>) -> Outcome {
    let (mut n, mut missing) = (0_usize, Vec::new());
    for host in hosts {
        let found = registry.newest(host, as_of).with_context(|| format!("{}: {host}", registry.name()));
        match found.map_err(Failure::Work)? {
            Some((_, template)) => {
                store_template(settings.store.path.as_ref(), settings, &template)?;
                n += 1;
            }
            None => missing.push(host.as_str()),
        }
    }
    for host in missing.iter().take(20) {
        tracing::warn!("{}: no template of {host}", registry.name());
    }
    let path = dehusk_store::shown(&settings.store.path);
    writeln!(stdout(), "{path}: templates stored: {}, hosts without one: {}", count(n), count(missing.len()))?;
    if n == 0 {
        return Err(Failure::Nothing(anyhow!("{}: no template of these hosts", registry.name())));
    }
    Ok(ExitCode::SUCCESS)
}

fn stat(settings: &Settings, registry: &Registry, hosts: &[String], pages: &[PathBuf], json: bool) -> Outcome {
    let trees = pages_of(pages, settings)?;
    let mut table = Table::new(&["site", "day", "kB", "nodes", "pages", "shown", ""]).left(6);
    let mut lines = Vec::new();
    for host in hosts {
        let about = || format!("{}: {host}", registry.name());
        for entry in registry.entries(host).with_context(about).map_err(Failure::Work)? {
            let template = registry.load(host, &entry.day).with_context(about).map_err(Failure::Work)?;
            let shown = (!trees.is_empty()).then(|| shown(&template, &trees));
            let is_stale = shown.is_some_and(|shown| shown < STALE);
            table.row(vec![
                template.host.clone(),
                entry.day.clone(),
                format!("{:.1}", entry.bytes as f64 / 1e3),
                template.n_nodes().to_string(),
                (template.voters.len() + 1).to_string(),
                shown.map_or_else(|| "-".to_owned(), |shown| format!("{shown:.2}")),
                if is_stale { "the pages have another template" } else { "" }.to_owned(),
            ]);
            lines.push(serde_json::json!({
                "host": template.host, "day": entry.day, "bytes": entry.bytes, "nodes": template.n_nodes(),
                "training_pages": template.voters.len() + 1, "key_url": template.key_url, "shown": shown,
            }));
        }
    }
    if lines.is_empty() {
        return Err(Failure::Nothing(anyhow!("{}: no template of {}", registry.name(), hosts.join(", "))));
    }
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "templates": lines}))?;
    } else {
        write!(out, "{}", table.render(terminal_width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn pages_of(sources: &[PathBuf], settings: &Settings) -> Result<Vec<Tree>, Failure> {
    let reading = Reading { all_pages: true, ..Reading::new(settings) };
    let pages = reading.all(sources).filter(|found| found.as_ref().map_or(true, |found| found.is_page));
    let trees = pages.take(MOST_PAGES).map(|found| Ok(found?.tree(&settings.core.parse)));
    trees.collect::<anyhow::Result<Vec<Tree>>>().context("--pages").map_err(Failure::Nothing)
}

/// The mean share of a template that pages show.
fn shown(template: &Template, trees: &[Tree]) -> f64 {
    let matcher = TemplateMatcher::from_template(template);
    trees.iter().map(|tree| matcher.label(tree).confidence).sum::<f64>() / trees.len() as f64
}
