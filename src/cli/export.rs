//! `dehusk export`: a corpus from the store.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};

use super::signals::StopFlag;
use super::table::count;
use super::{Failure, Outcome, exit, open_store};
use dehusk_core::corpus::{OptionalColumns, columns};
use dehusk_corpus::export::{Duplicates, ExportError, ExportOptions, Form, Kept, PageState, Progress, export};
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
    #[arg(long, value_name = "DIR", required_unless_present = "columns")]
    out: Option<PathBuf>,
    /// Only pages that were fetched by runs after this one.
    #[arg(long, value_name = "RUN", default_value_t = 0)]
    since: i64,
    /// Only pages of these hosts.
    #[arg(long, value_name = "HOST", num_args = 1..)]
    sites: Vec<String>,
    /// Only rows for which this expression is true: SQL over the columns.
    #[arg(long, value_name = "EXPR")]
    r#where: Option<String>,
    /// Pages with the text of an earlier page of the export: mark (column duplicate_of), drop.
    #[arg(long, value_enum, default_value_t = DuplicatesName::Mark)]
    duplicates: DuplicatesName,
    /// Pages with nearly the text of an earlier page, by MinHash: off, mark (column near_duplicate_of), drop.
    #[arg(long, value_enum, default_value_t = NearName::Off)]
    near_duplicates: NearName,
    /// Which of several pages with the same text, or nearly, is no duplicate: first (stored), longest, newest. For the
    /// last two all pages are read twice.
    #[arg(long, value_enum, default_value_t = KeptName::First)]
    keep: KeptName,
    /// Paragraphs that earlier pages have: off, mark (columns repeated_in_site and repeated_elsewhere), drop (from the
    /// column text).
    #[arg(long, value_enum, default_value_t = NearName::Off)]
    paragraphs: NearName,
    /// Every stored version of a page, not only the newest.
    #[arg(long)]
    all_versions: bool,
    /// The pages and their states as they were after this run. Versions that were pruned since are missing.
    #[arg(long, value_name = "RUN")]
    as_of: Option<i64>,
    /// Only pages of which this became since: alive, gone, moved, blocked (by robots.txt), failed (at the last visit),
    /// or all.
    #[arg(long, value_enum, value_name = "STATE", value_delimiter = ',', default_values_t = [StateName::Alive, StateName::Failed])]
    state: Vec<StateName>,
    /// Fill the column html.
    #[arg(long)]
    html: bool,
    /// Fill the column comments.
    #[arg(long)]
    comments: bool,
    /// Fill the column posts: author, day and text of each post of a thread, and of each comment with --comments.
    #[arg(long)]
    posts: bool,
    /// Megabytes of rows at which a part is closed.
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..1_000_000))]
    part_size: u64,
    /// Print the manifest as JSON when it is done.
    #[arg(long)]
    json: bool,
    /// Print the columns, and do nothing else.
    #[arg(long)]
    columns: bool,
}

/// Time after a signal in which the open part is completed. After it, the part is made again by the next export.
const STOP_WITHIN: Duration = Duration::from_millis(1500);

/// What an error of an export means for the command.
pub(super) fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::Filter { .. } => Failure::Usage(anyhow!("{error}; `dehusk export --columns` lists the columns")),
        ExportError::Folder { .. } | ExportError::LanguageModel(_) => Failure::Usage(error.into()),
        ExportError::Io { ref reason, .. } if reason.kind() == io::ErrorKind::StorageFull => {
            Failure::Work(anyhow!("{error}; make room, and the same command goes on where it was"))
        }
        error => Failure::Work(error.into()),
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum FormName {
    /// JSON lines, zstd.
    Jsonl,
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
enum DuplicatesName {
    Mark,
    Drop,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum NearName {
    Off,
    Mark,
    Drop,
}

impl NearName {
    fn how(self) -> Option<Duplicates> {
        match self {
            NearName::Off => None,
            NearName::Mark => Some(Duplicates::Mark),
            NearName::Drop => Some(Duplicates::Drop),
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
                writeln!(out, "{:36} {:6} {}", column.name, kind(column.kind), column.doc)?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        let store = open_store(settings)?;
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
        if self.json {
            writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&manifest).map_err(io::Error::other)?)?;
            return Ok(code);
        }
        let bytes: u64 = manifest.parts.iter().map(|part| part.bytes).sum();
        let seconds = began.elapsed().as_secs_f64();
        let mut line =
            format!("{}: {} rows in {} parts", out.display(), count(manifest.rows as usize), manifest.parts.len());
        if bytes > 0 {
            line += &format!(", {:.2} MB", bytes as f64 / 1e6);
        }
        for (why, n) in &manifest.left_out {
            line += &format!(", {} left out ({why})", count(*n as usize));
        }
        writeln!(io::stdout(), "{line}, {seconds:.1} s")?;
        if !manifest.complete {
            writeln!(io::stderr(), "stopped; the same command goes on with the pages that are left")?;
        }
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
            filter: self.r#where.clone(),
            duplicates: match self.duplicates {
                DuplicatesName::Mark => Duplicates::Mark,
                DuplicatesName::Drop => Duplicates::Drop,
            },
            near_duplicates: self.near_duplicates.how(),
            keep: match self.keep {
                KeptName::First => Kept::First,
                KeptName::Longest => Kept::Longest,
                KeptName::Newest => Kept::Newest,
            },
            paragraphs: self.paragraphs.how(),
            optional: OptionalColumns { html: self.html, comments: self.comments, posts: self.posts },
            part_bytes: self.part_size * 1_000_000,
        }
    }
}

fn kind(kind: dehusk_core::corpus::ColumnKind) -> &'static str {
    use dehusk_core::corpus::ColumnKind as Kind;
    match kind {
        Kind::Text => "text",
        Kind::Texts => "texts",
        Kind::Posts => "posts",
        Kind::Whole => "whole",
        Kind::Real => "real",
        Kind::Time => "time",
    }
}
