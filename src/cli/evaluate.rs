//! `dehusk evaluate`: measures a method against a gold standard.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::scores::{print, print_all};
use super::strings::with_patterns;
use super::{Failure, Outcome, method_names};
use crate::evaluate::{Marked, Report, Task, Which, evaluate};
use dehusk_content::use_weights;
use dehusk_papers::method_table::{METHODS, MethodEntry};
use dehusk_settings::Settings;
use dehusk_template::method::Method;
use dehusk_template::site_model::use_forests;

/// The value of `--method` for all methods.
const ALL: &str = "all";

/// Measure a method against a gold standard.
///
/// CORPUS is a folder with gold.toml, SPLIT/SITE/www (or SPLIT/SITE.warc.gz), labels/SPLIT and content-SPLIT.jsonl, or
/// folders of mirrored sites as TECO publishes them (Alarte 2014: the key page has the classes TECO_notTemplate and
/// TECO_mainContent), or JSON lines {"id","site","url","gold","html"}: a file, a pipe or - for standard input, packed
/// or not. Node scores are means over the pages of a site, then over sites. Word scores are means over pages.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk evaluate sites --pages all
  dehusk evaluate sites --preset thesis2014 --by-site
  dehusk evaluate sites --set etdm.threshold=0.6 --json
  dehusk evaluate sites --pages gold --method all
  dehusk evaluate teco/companies --preset thesis2014 --by-site --set page.keep=browser
  dehusk evaluate pages.jsonl --method plain --dump marked.jsonl
  xzcat pages.jsonl.xz | dehusk evaluate - --method alone")]
pub(super) struct Evaluate {
    /// Folder of sites, or pages as JSON lines.
    corpus: PathBuf,
    /// Method [default: that of label.by].
    #[arg(long, value_parser = PossibleValuesParser::new(method_names().into_iter().chain([PossibleValue::new(ALL).help("one table of all")])))]
    method: Option<String>,
    /// Pages that are labeled: the key page of each site; those with main-content gold; all; or each page with
    /// main-content gold as the key page of its site in turn.
    #[arg(long, default_value = "key", value_parser = ["key", "gold", "all", "each-key"])]
    pages: String,
    /// Add every page of a site to its model before any page is labeled, as a crawl of the whole site does.
    #[arg(long)]
    add_all: bool,
    /// Label the main content of so many pages of each site by the gold, as with `dehusk teach`; these pages are not
    /// scored.
    #[arg(long, value_name = "N", default_value_t = 0)]
    teach: usize,
    /// Folder with weights in place of those in the program: page.weights and site.weights (scripts/content/README.md),
    /// nodes.forest (scripts/nodes/README.md).
    #[arg(long, value_name = "DIR")]
    weights: Option<PathBuf>,
    /// Write what the site model reads of each node of each labeled page, to train it (scripts/nodes/README.md).
    #[arg(long, value_name = "DIR")]
    features: Option<PathBuf>,
    /// Print one line per site, worst first.
    #[arg(long)]
    by_site: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write each labeled page as a JSON line {"method","site","page","labels","id","t"}.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
}

impl Evaluate {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        if let Some(folder) = &self.weights {
            replace_weights(folder)?;
        }
        let settings = &with_patterns(settings)?;
        let which = match self.pages.as_str() {
            "all" => Which::All,
            "gold" => Which::Gold,
            "each-key" => Which::EachKey,
            _ => Which::Key,
        };
        let method = match self.method.as_deref() {
            Some(ALL) => None,
            _ => Some(self.method(settings)?),
        };
        if method.is_none() && self.by_site {
            return Err(Failure::Usage(anyhow!("--by-site needs one method; choose it with --method")));
        }
        if !self.corpus.exists() && self.corpus.as_os_str() != "-" {
            return Err(Failure::Usage(anyhow!("{}: no such corpus", self.corpus.display())));
        }
        let mut dump = match &self.dump {
            Some(path) => {
                let file = File::create(path).with_context(|| path.display().to_string()).map_err(Failure::Work)?;
                Some(BufWriter::new(file))
            }
            None => None,
        };
        let mut out = io::stdout().lock();
        let Some(method) = method else {
            let reports: Vec<Report> = METHODS
                .iter()
                .map(|method| self.report(method, which, settings, &mut dump))
                .collect::<Result<_, _>>()?;
            if self.json {
                let reports: Vec<_> = reports.iter().map(Report::to_json).collect();
                writeln!(out, "{}", serde_json::json!({"schema": 1, "methods": reports}))?;
            } else {
                print_all(&reports, &mut out)?
            }
            return Ok(ExitCode::SUCCESS);
        };
        let report = self.report(method, which, settings, &mut dump)?;
        if self.json {
            writeln!(out, "{}", report.to_json())?
        } else {
            print(&report, self.by_site, &mut out)?
        }
        Ok(ExitCode::SUCCESS)
    }

    fn method(&self, settings: &Settings) -> Result<&'static MethodEntry, Failure> {
        match &self.method {
            None => super::method_named(Method::of_label_by(settings.core.learn.label_by).name()),
            Some(name) => super::method_named(name),
        }
    }

    fn report(
        &self,
        method: &'static MethodEntry,
        which: Which,
        settings: &Settings,
        dump: &mut Option<BufWriter<File>>,
    ) -> Result<Report, Failure> {
        let settings = Settings { core: method.options(&settings.core), ..settings.clone() };
        let mut lost = None;
        let features = self.features.as_deref();
        let task = Task {
            corpus: &self.corpus,
            method,
            which,
            add_all: self.add_all,
            teach: self.teach,
            features,
            settings: &settings,
        };
        let report = evaluate(&task, |marked| {
            if let Some(out) = dump
                && let Err(e) = write_line(out, marked)
            {
                lost.get_or_insert(e);
            }
        })
        .map_err(|e| Failure::Nothing(e.into()))?;
        if let Some(out) = dump
            && let Err(e) = out.flush()
        {
            lost.get_or_insert(e);
        }
        match lost {
            Some(e) => {
                let path = self.dump.as_deref().unwrap_or_else(|| Path::new("-"));
                Err(Failure::Nothing(anyhow!("{}: {e}", path.display())))
            }
            None => Ok(report),
        }
    }
}

/// Puts the weights of a folder in place of those in the program.
fn replace_weights(folder: &Path) -> Result<(), Failure> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).with_context(|| path.display().to_string()).map_err(Failure::Usage)
    };
    let has = |name: &str| folder.join(name).exists();
    let mut is_of_this_version = has("page.weights") || has("nodes.forest");
    if has("page.weights") {
        is_of_this_version &= use_weights(&read("page.weights")?, &read("site.weights")?);
    }
    if has("nodes.forest") {
        is_of_this_version &= use_forests(&read("nodes.forest")?);
    }
    if is_of_this_version {
        Ok(())
    } else {
        Err(Failure::Usage(anyhow!("{}: not weights of this version's features; train them again", folder.display())))
    }
}

fn write_line(out: &mut impl Write, marked: &Marked) -> io::Result<()> {
    serde_json::to_writer(&mut *out, marked)?;
    writeln!(out)
}
