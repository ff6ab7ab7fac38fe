//! `dehusk templates kinds`: the kinds of a site's pages, and how much of its template each has shown, run by run.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use serde::Serialize;

use super::documents::counter;
use super::table::{Table, terminal_width, time};
use super::terminal::stdout;
use super::{Failure, open_store};
use dehusk_core::clean::TemplateMatcher;
use dehusk_html::parse_bytes;
use dehusk_settings::Settings;
use dehusk_store::{CorpusQuery, PageRow, Store, StoreError};
use dehusk_template::method::Method;
use dehusk_template::template::Template;

/// Pages that are read at once.
const PART: usize = 256;

/// The pages of a kind, or those that show too little of every kind.
#[derive(Default, Serialize)]
struct Listed {
    /// From 1; `None` for pages of no kind.
    kind: Option<usize>,
    training_pages: usize,
    #[serde(flatten)]
    pages: Tally,
    runs: Vec<OfRun>,
    #[serde(skip)]
    by_run: BTreeMap<i64, OfRun>,
}

/// What the pages of a kind showed in one run of the template that they were cleaned with.
#[derive(Default, Serialize)]
struct OfRun {
    run: i64,
    /// When the first of them was fetched, Unix milliseconds.
    fetched_at: i64,
    #[serde(flatten)]
    pages: Tally,
}

/// The coverage of pages.
#[derive(Default, Serialize)]
struct Tally {
    pages: usize,
    /// Mean share of the template that they show, 0 to 1.
    coverage: Option<f64>,
    lowest: Option<f64>,
    lowest_url: Option<String>,
}

impl Tally {
    fn add(&mut self, coverage: f64, url: &str) {
        let sum = self.coverage.unwrap_or(0.0) * self.pages as f64 + coverage;
        self.pages += 1;
        self.coverage = Some(sum / self.pages as f64);
        if self.lowest.is_none_or(|lowest| coverage < lowest) {
            (self.lowest, self.lowest_url) = (Some(coverage), Some(url.to_owned()));
        }
    }

    fn cells(&self) -> Vec<String> {
        let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"));
        let url = self.lowest_url.clone().unwrap_or_else(|| "-".to_owned());
        vec![self.pages.to_string(), share(self.coverage), share(self.lowest), url]
    }
}

/// Lists the kinds of a site's stored pages: the newest version of each page, or with `by_run` all versions.
pub(super) fn kinds(
    settings: &Settings,
    (host, version, template): (&str, Option<i64>, &Template),
    by_run: bool,
    json: bool,
) -> Result<(), Failure> {
    let matcher = TemplateMatcher::from_template(template);
    let Some(set) = matcher.training_set() else {
        return Err(Failure::Nothing(anyhow!(
            "{host}: its template was learned by votes, which know pages like the key page only; \
             `label.by = \"site_model\"` knows kinds"
        )));
    };
    let found = set.kinds();
    let version = version_of(settings, &template.host, version)?;
    let mut listed: Vec<Listed> = (0..=found.sizes.len())
        .map(|at| match found.sizes.get(at) {
            Some(size) => Listed { kind: Some(at + 1), training_pages: *size, ..Listed::default() },
            None => Listed::default(),
        })
        .collect();
    let bar = counter("read");
    let read = |put: &mut dyn FnMut(Result<Stored, StoreError>) -> bool| {
        read_pages(settings, host, (&template.host, version), by_run, put)
    };
    let size =
        |page: &Result<Stored, StoreError>| page.as_ref().map_or(0, |page| page.raw.as_ref().map_or(0, Vec::len));
    let work = |page: Result<Stored, StoreError>| {
        let Stored { row, raw } = page?;
        let shown = raw.map_or_else(|| Shown::stored(&row), |raw| Shown::now(&raw, &row, &matcher, settings));
        Ok((row, shown))
    };
    dehusk_corpus::pipeline::run(read, size, work, |done: Result<(PageRow, Shown), StoreError>| {
        let (row, Shown { kind, coverage }) = done.map_err(|e| Failure::Work(e.into()))?;
        let Some(listed) = listed.get_mut(kind.unwrap_or(found.sizes.len())) else { return Ok(()) };
        listed.pages.add(coverage, &row.url);
        let of_run = listed.by_run.entry(row.run).or_insert(OfRun {
            run: row.run,
            fetched_at: row.fetched_at,
            ..OfRun::default()
        });
        of_run.fetched_at = of_run.fetched_at.min(row.fetched_at);
        // What the page showed of the template of its night is stored with it, and stays when the site is relearned.
        let then = row.confidence.filter(|_| row.method.as_deref() == Some(Method::SiteModel.name()));
        of_run.pages.add(then.unwrap_or(coverage), &row.url);
        bar.inc(1);
        Ok::<(), Failure>(())
    })?;
    bar.finish_and_clear();
    for listed in &mut listed {
        listed.runs = std::mem::take(&mut listed.by_run).into_values().collect();
    }
    listed.retain(|listed| listed.kind.is_some() || listed.pages.pages > 0);
    write(host, &listed, by_run, json)
}

/// The version that is asked for; without one, the newest of the host.
fn version_of(settings: &Settings, host: &str, asked: Option<i64>) -> Result<i64, Failure> {
    let rows = open_store(settings)?.list_templates(Some(host), true).map_err(|e| Failure::Work(e.into()))?;
    let newest = || rows.iter().find(|row| row.host == host).map(|row| row.version);
    Ok(asked.or_else(newest).unwrap_or_default())
}

/// The kind of a page, and how much of the template it shows.
struct Shown {
    /// From 0.
    kind: Option<usize>,
    coverage: f64,
}

impl Shown {
    /// What is stored with a page.
    fn stored(row: &PageRow) -> Shown {
        let kind = row.kind.and_then(|kind| usize::try_from(kind.checked_sub(1)?).ok());
        Shown { kind, coverage: row.confidence.unwrap_or_default() }
    }

    /// What a page shows of a template that it was not cleaned with.
    fn now(raw: &[u8], row: &PageRow, matcher: &TemplateMatcher, settings: &Settings) -> Shown {
        let (tree, _) = parse_bytes(raw, row.content_type.as_deref(), &settings.core.parse);
        let labels = matcher.label(&tree);
        let coverage = labels.confidence;
        let is_shown = coverage >= matcher.min_confidence(&settings.core.clean);
        Shown { kind: matcher.training_set().filter(|_| is_shown).and_then(|set| set.kind_of(&labels)), coverage }
    }
}

/// A stored version of a page, with its bytes where its kind is not stored.
struct Stored {
    row: PageRow,
    raw: Option<Vec<u8>>,
}

/// Reads the cleaned pages of a host in the order in which they were stored.
fn read_pages(
    settings: &Settings,
    host: &str,
    (of_host, version): (&str, i64),
    all_versions: bool,
    put: &mut dyn FnMut(Result<Stored, StoreError>) -> bool,
) {
    let store = match Store::open(Path::new(&settings.store.path)) {
        Ok(store) => store,
        Err(error) => {
            put(Err(error));
            return;
        }
    };
    let mut after = 0;
    loop {
        let query =
            CorpusQuery { upto: i64::MAX, hosts: vec![host.to_owned()], all_versions, ..CorpusQuery::default() };
        let rows = match store.corpus_rows(&query, after, PART) {
            Ok(rows) => rows,
            Err(error) => {
                put(Err(error));
                return;
            }
        };
        let Some(last) = rows.last() else { return };
        after = last.id;
        for row in rows {
            // `www.` may be a site of its own, with other templates.
            let is_known = row.kind.is_some() && row.host == of_host && row.template_version == Some(version);
            let raw = if is_known { Ok(None) } else { store.load_raw(&row).map(Some) };
            if !put(raw.map(|raw| Stored { row, raw })) {
                return;
            }
        }
    }
}

fn write(host: &str, listed: &[Listed], by_run: bool, json: bool) -> Result<(), Failure> {
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "host": host, "kinds": listed}))?;
        return Ok(());
    }
    let name = |listed: &Listed| listed.kind.map_or_else(|| "none".to_owned(), |kind| kind.to_string());
    let mut table = if by_run {
        Table::new(&["kind", "run", "fetched", "pages", "coverage", "lowest", "page"]).left(6)
    } else {
        Table::new(&["kind", "training", "pages", "coverage", "lowest", "page"]).left(5)
    };
    for listed in listed {
        if by_run {
            listed.runs.iter().for_each(|run| {
                let first = vec![name(listed), run.run.to_string(), time(run.fetched_at)];
                table.row([first, run.pages.cells()].concat());
            })
        } else {
            table.row([vec![name(listed), listed.training_pages.to_string()], listed.pages.cells()].concat())
        }
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(())
}
