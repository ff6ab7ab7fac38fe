//! `dehusk export`: a corpus from the store.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::corpus_args::{CorpusArgs, STOP_WITHIN, failure, tell};
use super::runs::known_run;
use super::signals::StopFlag;
use super::table::count;
use super::{Outcome, exit, open_store};
use dehusk_core::corpus::columns;
use dehusk_corpus::export::{ExportOptions, Form, Kept, PageState, Progress, export};
use dehusk_settings::Settings;

/// Export cleaned pages as a corpus: JSON lines, Parquet, WARC, WACZ, WET, Markdown files or a static site.
///
/// A row is a page without its template: text, Markdown, metadata, counts, digests and signals of quality;
/// docs/corpora.md has the schema. Pages are cleaned with the newest template of their site and the settings of
/// [clean]. Parts are complete or not there, manifest.json lists them with checksums, and an export that was killed
/// goes on where it was. The same export made again adds the pages that were stored since.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk export --format parquet --out corpus
  dehusk export --format jsonl --out corpus --set clean.keep=main
  dehusk export --format parquet --out corpus --where \"language = 'en' AND n_words >= 50\" --duplicates drop
  dehusk export --format md --out notes --sites docs.example.org
  dehusk export --format jsonl --out news --since 12
  dehusk export --format parquet --out march --as-of 90
  dehusk export --format jsonl --out lost --state gone,moved
  dehusk export --format site --out copy && xdg-open copy/index.html
  dehusk export --columns")]
pub(super) struct Export {
    /// Form of the files.
    #[arg(long, value_enum, default_value_t = FormName::Jsonl)]
    format: FormName,
    /// Folder of the export: new, empty, or with an earlier part of the same export.
    ///
    /// It may be in an object store (s3://bucket/folder).
    #[arg(long, value_name = "DIR", required_unless_present = "columns")]
    out: Option<PathBuf>,
    /// Only pages that were fetched by runs after this one.
    #[arg(long, value_name = "RUN", default_value_t = 0)]
    since: i64,
    /// Only pages of these hosts.
    #[arg(long, value_name = "HOST", num_args = 1..)]
    sites: Vec<String>,
    #[command(flatten)]
    corpus: CorpusArgs,
    /// Which of several pages with the same text, or nearly, is no duplicate: first (stored), longest, newest.
    ///
    /// For the last two all pages are read twice.
    #[arg(hide_short_help = true, long, value_enum, default_value_t = KeptName::First)]
    keep: KeptName,
    /// Every stored version of a page, not only the newest.
    #[arg(hide_short_help = true, long)]
    all_versions: bool,
    /// The pages and their states as they were after this run.
    ///
    /// Versions that were pruned since are missing.
    #[arg(hide_short_help = true, long, value_name = "RUN")]
    as_of: Option<i64>,
    /// Only pages of which this became since: alive, gone, moved, blocked (by robots.txt), failed (at the last visit),
    /// or all.
    #[arg(long, value_enum, value_name = "STATE", value_delimiter = ',', default_values_t = [StateName::Alive, StateName::Failed])]
    state: Vec<StateName>,
    /// Print the manifest as JSON when it is done.
    #[arg(long)]
    json: bool,
    /// Print the columns, and do nothing else.
    #[arg(long)]
    columns: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum FormName {
    /// JSON lines, zstd.
    Jsonl,
    /// Pieces of the pages for retrieval: JSON lines, zstd.
    Chunks,
    /// Parquet, zstd.
    Parquet,
    /// Pages as fetched: WARC resource records.
    Warc,
    /// The same with index and text, to open in ReplayWeb.page: WACZ.
    Wacz,
    /// Text: WARC conversion records.
    Wet,
    /// A folder of Markdown files with front matter.
    Md,
    /// A static copy to browse: a folder of HTML files with an index.
    Site,
}

impl FormName {
    pub(super) fn form(self) -> Form {
        match self {
            FormName::Jsonl => Form::Jsonl,
            FormName::Chunks => Form::Chunks,
            FormName::Parquet => Form::Parquet,
            FormName::Warc => Form::Warc,
            FormName::Wacz => Form::Wacz,
            FormName::Wet => Form::Wet,
            FormName::Md => Form::Markdown,
            FormName::Site => Form::Site,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum StateName {
    Alive,
    Gone,
    Moved,
    Blocked,
    Failed,
    All,
}

impl StateName {
    /// `None`: all states.
    fn state(self) -> Option<PageState> {
        match self {
            StateName::Alive => Some(PageState::Alive),
            StateName::Gone => Some(PageState::Gone),
            StateName::Moved => Some(PageState::Moved),
            StateName::Blocked => Some(PageState::Blocked),
            StateName::Failed => Some(PageState::Failed),
            StateName::All => None,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum KeptName {
    First,
    Longest,
    Newest,
}

impl Export {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let Some(out) = self.out.as_ref().filter(|_| !self.columns) else {
            let mut out = io::stdout().lock();
            for column in columns() {
                writeln!(out, "{:36} {:6} {}", column.name, column.kind.name(), column.doc)?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        self.corpus.check(self.format.form())?;
        let store = open_store(settings)?;
        if let Some(run) = self.as_of {
            known_run(&store, run)?;
        }
        let bar = ProgressBar::new_spinner();
        bar.set_style(
            ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        let began = Instant::now();
        let stop = StopFlag::listen(STOP_WITHIN)?;
        let done = export(&store, out, &self.options(), settings, |progress| {
            let rate = |n: u64| n as f64 / began.elapsed().as_secs_f64().max(0.001);
            bar.set_message(match progress {
                Progress::Survey(n) => format!("{} pages compared, {:.0} pages/s", count(n as usize), rate(n)),
                Progress::Rows(manifest, open) => {
                    let (rows, parts) = (manifest.rows + open, manifest.parts.len());
                    format!("{} rows, {parts} parts, {:.0} rows/s", count(rows as usize), rate(rows))
                }
            });
            bar.tick();
            if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();
        let manifest = done.map_err(failure)?;
        let code = if manifest.complete { ExitCode::SUCCESS } else { exit::INTERRUPTED.into() };
        tell(out, &manifest, began.elapsed().as_secs_f64(), self.json)?;
        Ok(code)
    }

    fn options(&self) -> ExportOptions {
        ExportOptions {
            form: self.format.form(),
            since: self.since,
            hosts: self.sites.clone(),
            all_versions: self.all_versions,
            as_of: self.as_of,
            states: self.state.iter().map(|state| state.state()).collect::<Option<_>>().unwrap_or_default(),
            filter: self.corpus.filter(),
            rights: self.corpus.rights(),
            duplicates: self.corpus.duplicates(),
            near_duplicates: self.corpus.near_duplicates(),
            keep: match self.keep {
                KeptName::First => Kept::First,
                KeptName::Longest => Kept::Longest,
                KeptName::Newest => Kept::Newest,
            },
            paragraphs: self.corpus.paragraphs(),
            optional: self.corpus.optional(),
            pii: self.corpus.pii(),
            part_bytes: self.corpus.part_bytes(),
        }
    }
}
