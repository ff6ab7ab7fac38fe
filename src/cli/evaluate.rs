//! `dehusk evaluate`: a method against a gold standard.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::table::{Table, terminal_width};
use super::{Failure, Outcome};
use crate::evaluate::{Marked, Report, SiteRow, Task, Which, evaluate};
use crate::methods::{self, METHODS};
use crate::settings::Settings;

/// Measure a method against a gold standard.
///
/// CORPUS is a folder with gold.toml, SPLIT/SITE/www (or SPLIT/SITE.warc.gz), labels/SPLIT and content-SPLIT.jsonl, or
/// a file of JSON lines {"id","site","url","gold","html"}. Means are over the pages of a site, then over sites; words over pages.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk evaluate sites --pages all
  dehusk evaluate sites --preset thesis2014 --by-site
  dehusk evaluate sites --set etdm.threshold=0.6 --json
  dehusk evaluate pages.jsonl --method plain --dump marked.jsonl")]
pub(super) struct Evaluate {
    /// Folder of sites, or file of pages.
    corpus: PathBuf,
    /// Method: witness, etdm, df, main, density, tps or plain [default: that of label.by].
    #[arg(long)]
    method: Option<String>,
    /// Parameter set; --set refines it.
    #[arg(long)]
    preset: Option<String>,
    /// Pages that are marked: the key page of each site, those with a main-content gold, or all.
    #[arg(long, default_value = "key", value_parser = ["key", "gold", "all"])]
    pages: String,
    /// See every page of a site once before any is marked, as a walk through it does.
    #[arg(long)]
    sharpened: bool,
    /// One line a site, worst first.
    #[arg(long)]
    by_site: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write each marked page as a JSON line {"site","page","labels","id","t"}.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
}

impl Evaluate {
    /// `--preset` as a setting, laid down before every `--set`.
    pub(super) fn preset_setting(&self) -> Option<String> {
        self.preset.as_ref().map(|name| format!("preset={name}"))
    }

    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let method = match &self.method {
            None => methods::of_label(settings.learn.label),
            Some(name) => methods::find(name).ok_or_else(|| {
                let names: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
                Failure::Usage(anyhow!("unknown method {name}; there are: {}", names.join(", ")))
            })?,
        };
        let mut settings = settings.clone();
        settings.learn.label = method.label.unwrap_or(settings.learn.label);
        let settings = &settings;
        let which = match self.pages.as_str() {
            "all" => Which::All,
            "gold" => Which::Gold,
            _ => Which::Key,
        };
        if !self.corpus.exists() {
            return Err(Failure::Usage(anyhow!("{}: no such corpus", self.corpus.display())));
        }
        let mut dump = match &self.dump {
            Some(path) => {
                let file = File::create(path).with_context(|| path.display().to_string()).map_err(Failure::Work)?;
                Some(BufWriter::new(file))
            }
            None => None,
        };
        let mut lost = None;
        let task = Task { corpus: &self.corpus, method, which, sharpened: self.sharpened, settings };
        let report = evaluate(&task, |marked| {
            if let Some(out) = &mut dump
                && let Err(e) = write_line(out, marked)
            {
                lost.get_or_insert(e);
            }
        })
        .map_err(|e| Failure::Work(e.into()))?;
        if let Some(out) = &mut dump
            && let Err(e) = out.flush()
        {
            lost.get_or_insert(e);
        }
        if let Some(e) = lost {
            let path = self.dump.as_deref().unwrap_or_else(|| std::path::Path::new("-"));
            return Err(Failure::Work(anyhow!("{}: {e}", path.display())));
        }
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", report.to_json())?;
        } else {
            print(&report, self.by_site, &mut out)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn write_line(out: &mut impl Write, marked: &Marked) -> io::Result<()> {
    serde_json::to_writer(&mut *out, marked)?;
    writeln!(out)
}

fn print(report: &Report, by_site: bool, out: &mut impl Write) -> io::Result<()> {
    if by_site {
        let mut table =
            Table::new(&["site", "key F1", "P", "R", "pages", "nodes F1", "words F1", "links", "loads", "m", "t"]);
        let mut rows: Vec<&SiteRow> = report.sites.iter().collect();
        let worst = |s: &SiteRow| s.key.map_or_else(|| s.word_mean().f1, |k| k.f1);
        rows.sort_by(|a, b| worst(a).total_cmp(&worst(b)));
        for s in rows {
            // What was not measured has a dash.
            let shown = |is_there: bool, text: String| if is_there { text } else { "-".to_owned() };
            let (key, learned) = (s.key.unwrap_or_default(), s.learning.nodes > 0);
            table.row(vec![
                s.site.clone(),
                shown(s.key.is_some(), figure(key.f1)),
                shown(s.key.is_some(), figure(key.precision)),
                shown(s.key.is_some(), figure(key.recall)),
                s.cost.n_cleaned.to_string(),
                shown(!s.nodes.is_empty(), figure(s.node_mean().f1)),
                shown(!s.words.is_empty(), figure(s.word_mean().f1)),
                shown(learned, s.learning.links.to_string()),
                shown(learned, s.learning.loads.to_string()),
                shown(learned, s.learning.cs.len().to_string()),
                shown(learned, s.learning.t.to_string()),
            ]);
        }
        writeln!(out, "{}", table.render(terminal_width()))?;
    }
    let mut table = Table::new(&["measure", "pages", "P", "R", "F1"]);
    let mut add = |name: &str, pages: usize, score: crate::evaluate::Score| {
        if pages > 0 {
            let cells = [score.precision, score.recall, score.f1].map(figure);
            table.row([vec![name.to_owned(), pages.to_string()], cells.to_vec()].concat());
        }
    };
    add("template nodes, key pages", report.sites.iter().filter(|s| s.key.is_some()).count(), report.key());
    add("template nodes, marked pages", report.n_node_pages(), report.nodes());
    add("main content, words", report.n_word_pages(), report.bag());
    add("main content, word order", report.n_word_pages(), report.lcs());
    write!(out, "{}", table.render(terminal_width()))?;
    if let Some(clusters) = report.clusters {
        let dunn = clusters.dunn.map_or_else(|| "-".to_owned(), figure);
        writeln!(
            out,
            "\n{} clusters, {} of one page; against the sites: Rand {}, Dunn {dunn}; {:.0} ms for all",
            clusters.n,
            clusters.alone,
            figure(clusters.rand),
            clusters.took.as_secs_f64() * 1000.0
        )?;
    }
    let (median, worst) = report.median_and_worst(|s| s.cost.learn.as_secs_f64() * 1000.0);
    let (vote_median, vote_worst) = report.median_and_worst(|s| s.cost.vote.as_secs_f64() * 1000.0);
    let unequal: usize = report.sites.iter().map(|s| s.other_node_count).sum();
    if unequal > 0 {
        writeln!(out, "{unequal} marked pages have another number of nodes than the gold and are in no mean")?;
    }
    let n_sites = report.sites.len();
    if report.sites.iter().all(|s| s.learning.nodes == 0) {
        return writeln!(out, "\n{} on {n_sites} sites: cleaning {:.2} ms a page", report.method, report.clean_ms());
    }
    writeln!(
        out,
        "\n{} on {n_sites} sites: {:.1} pages loaded a site; learning {median:.1} ms a site (worst {worst:.1}), votes {vote_median:.1} ms \
         (worst {vote_worst:.1}), cleaning {:.2} ms a page",
        report.method,
        report.site_mean(|s| s.learning.loads as f64),
        report.clean_ms(),
    )
}

fn figure(x: f64) -> String {
    format!("{x:.3}")
}
