//! `dehusk pages`: lists and shows page snapshots.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Subcommand;

use super::names::{find_page, host_name};
use super::page_history::no_version;
use super::runs::known_run;
use super::table::{Table, terminal_width, time};
use super::terminal::for_output;
use super::{Failure, Outcome, open_store};
use dehusk_core::clean::TemplateMatcher;
use dehusk_core::write_page_markdown;
use dehusk_html::{PageUrl, parse, parse_bytes, write_text};
use dehusk_render::write_own_html;
use dehusk_settings::{NoindexPages, Settings};
use dehusk_store::{PageRow, Store};

/// List and show page snapshots, raw or without their template, and what changed in them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk pages list docs.example.org
  dehusk pages show http://docs.example.org/a.html
  dehusk pages show http://docs.example.org/a.html --format html > a.html
  dehusk pages show docs.example.org/a.html --format markdown
  dehusk pages history docs.example.org/a.html
  dehusk pages diff docs.example.org/a.html
  dehusk pages list --json | jq -r '.pages[].url'")]
pub(super) struct Pages {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the newest snapshot of each page. URLs of a site with one body are one page (JSON: `aliases`), that of its
    /// canonical link where it is among them.
    #[command(after_help = "Examples:
  dehusk pages list docs.example.org
  dehusk pages list --json")]
    List {
        /// Only this host.
        #[arg(value_parser = host_name)]
        host: Option<String>,
        /// The pages and their states as they were after this run.
        #[arg(long, value_name = "RUN")]
        as_of: Option<i64>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the newest snapshot of one page, or that of a run.
    #[command(after_help = "Examples:
  dehusk pages show docs.example.org/a.html
  dehusk pages show docs.example.org/a.html --run 11       as it was after run 11
  dehusk pages show http://docs.example.org/a.html --format html > a.html
  dehusk pages show docs.example.org/a.html --format markdown
  dehusk pages show docs.example.org/a.html --view template")]
    Show {
        /// URL, as `pages list` prints it.
        url: String,
        /// text, html and markdown are of one part of the page, raw is as fetched, rendered as scripts have built it.
        #[arg(long, value_enum, default_value_t = Shown::Text)]
        format: Shown,
        /// The part of the page: own is without template, template is what is left out there.
        #[arg(long, value_enum, default_value_t = PartName::Own)]
        view: PartName,
        /// The version that was the newest after this run.
        #[arg(long)]
        run: Option<i64>,
        /// Print the record and the text as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List every visit to one page, and to the addresses that it had before: status, what changed, what came of it.
    #[command(after_help = "Examples:
  dehusk pages history docs.example.org/a.html
  dehusk pages history docs.example.org/a.html --json")]
    History {
        /// URL, as `pages list` prints it.
        url: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show which words of a page changed between two runs, template left out.
    #[command(after_help = "Examples:
  dehusk pages diff docs.example.org/a.html              the last two versions with different text
  dehusk pages diff docs.example.org/a.html 11 12        as after run 11 and as after run 12
  dehusk pages diff docs.example.org/a.html --unified")]
    Diff {
        /// URL, as `pages list` prints it.
        url: String,
        /// Run after which the page is the old one.
        #[arg(requires = "to")]
        from: Option<i64>,
        /// Run after which it is the new one.
        to: Option<i64>,
        /// Print a unified diff of lines.
        #[arg(long)]
        unified: bool,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Shown {
    Text,
    Html,
    Markdown,
    Raw,
    Rendered,
}

/// A part of a page.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PartName {
    Own,
    Template,
}

impl Pages {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        match &self.action {
            Action::List { host, as_of, json } => list(settings, host.as_deref(), *as_of, *json)?,
            Action::Show { url, format, view, run, json } => show(settings, url, *run, (*format, *view), *json)?,
            Action::History { url, json } => super::page_history::history(settings, url, *json)?,
            Action::Diff { url, from, to, unified } => {
                super::page_history::diff(settings, url, from.zip(*to), *unified)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(settings: &Settings, host: Option<&str>, as_of: Option<i64>, json: bool) -> Result<(), Failure> {
    let store = open_store(settings)?;
    if let Some(run) = as_of {
        known_run(&store, run)?;
    }
    let mut rows = store.list_pages_as_of(host, as_of.unwrap_or(i64::MAX)).map_err(|e| Failure::Work(e.into()))?;
    let all = rows.len();
    rows.retain(|row| !row.noindex || settings.store.noindex == NoindexPages::Show);
    if rows.len() < all {
        let n = all - rows.len();
        tracing::warn!(
            "{n} pages ask for noindex or are of sites that forbid all, and are not listed; --set store.noindex=show lists them"
        );
    }
    if let (true, Some(host)) = (rows.is_empty(), host) {
        let near = store.near_hosts(host).map_err(|e| Failure::Work(e.into()))?;
        let hint = if near.is_empty() {
            "omit the host to list all".to_owned()
        } else {
            format!("there is {}", near.join(", "))
        };
        return Err(Failure::Nothing(anyhow!("no page of {host} is stored; {hint}")));
    }
    let rows = store.merge_aliases(rows).map_err(|e| Failure::Work(e.into()))?;
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "pages": rows}))?;
        return Ok(());
    }
    let mut table = Table::new(&["page", "fetched", "status", "state", "method", "confidence", "kind"]).left(3);
    for row in rows {
        table.row(vec![
            row.url,
            time(row.fetched_at),
            row.status.to_string(),
            row.state,
            row.method.unwrap_or_else(|| "-".to_owned()),
            row.confidence.map_or_else(|| "-".to_owned(), |c| format!("{c:.2}")),
            row.kind.map_or_else(|| "-".to_owned(), |kind| kind.to_string()),
        ]);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(())
}

fn show(
    settings: &Settings,
    url: &str,
    run: Option<i64>,
    (format, view): (Shown, PartName),
    json: bool,
) -> Result<(), Failure> {
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    let store = open_store(settings)?;
    let newest = find_page(&store, url)?;
    let row = match run {
        None => newest,
        Some(run) => {
            known_run(&store, run)?;
            let versions = store.versions_of_history(&newest.url).map_err(work)?;
            let known = versions.into_iter().rev().find(|version| version.run <= run);
            known.ok_or_else(|| no_version(&newest.url, run))?
        }
    };
    if row.noindex && settings.store.noindex == NoindexPages::Hide {
        tracing::warn!("{url}: asks for noindex, or its site forbids all: its owner wants it in no collection");
    }
    let mut out = io::stdout().lock();
    let whole = match format {
        Shown::Raw if !json => Some(store.load_fetched(&row).map_err(work)?),
        Shown::Rendered if !row.rendered => {
            let text = format!("{url}: not rendered (fetch.render); --format raw shows it as fetched");
            return Err(Failure::Nothing(anyhow!(text)));
        }
        Shown::Rendered if !json => Some(store.load_raw(&row).map_err(work)?),
        _ => None,
    };
    if let Some(body) = whole {
        out.write_all(&for_output(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body)))?;
        return Ok(());
    }
    let html = match view {
        PartName::Own => store.load_cleaned(&row).map_err(work)?.ok_or_else(|| {
            Failure::Nothing(anyhow!(
                "{url}: not cleaned, because its site is not finished; --format raw shows it as fetched"
            ))
        })?,
        PartName::Template => template_part(&store, &row, settings)?,
    };
    let shown = match format {
        Shown::Html | Shown::Raw | Shown::Rendered => html,
        Shown::Text => write_text(&parse(&html, &settings.core.parse), |_| true),
        Shown::Markdown => {
            let url = PageUrl::parse(&row.url).ok();
            write_page_markdown(&parse(&html, &settings.core.parse), url.as_ref(), &settings.core.markdown, |_| true)
        }
    };
    write_page(&row, &shown, json, &mut out)?;
    Ok(())
}

/// What the newest template of its site says is template in a page.
fn template_part(store: &Store, row: &PageRow, settings: &Settings) -> Result<String, Failure> {
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    let template = store.load_template(&row.host, None).map_err(work)?;
    let template = template.ok_or_else(|| Failure::Nothing(anyhow!("{}: no template is stored", row.host)))?;
    let body = store.load_raw(row).map_err(work)?;
    let page = parse_bytes(&body, row.content_type.as_deref(), &settings.core.parse).0;
    let labels = TemplateMatcher::from_template(&template).label(&page);
    let url = PageUrl::parse(&row.url).ok();
    Ok(write_own_html(&page, url.as_ref(), |node| labels.is_template[node.index()]))
}

fn write_page(row: &PageRow, shown: &str, json: bool, out: &mut impl Write) -> io::Result<()> {
    if json {
        return writeln!(out, "{}", serde_json::json!({"schema": 1, "page": row, "content": shown}));
    }
    out.write_all(&for_output(shown.as_bytes()))
}
