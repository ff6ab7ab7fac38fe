//! `dehusk strings`: learns and removes template strings of pages and plain text.

mod cleaning;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use clap::Subcommand;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use cleaning::Cleaning;

use super::documents::{FoundDocument, Reading, counter, next_batch};
use super::names::host_name;
use super::table::{Table, count, terminal_width, time};
use super::terminal::stdout;
use super::{Failure, Format, Outcome, exit, open_store};
use dehusk_settings::{NoindexPages, Settings};
use dehusk_store::Store;
use dehusk_template::strings::{Corpus, Document, Patterns, StringTemplate, TokenizedDocument};

/// Learn the word sequences that documents of a source repeat, and remove them.
///
/// Works on pages and on plain text: feeds, mail archives, transcripts. A document is a file, an entry of an RSS or
/// Atom feed, a page of a WARC file, or a JSON line with `html` or `text`. Each date, number or address counts as one
/// symbol, whatever its value. A crawl of whole sites (crawl.pages_per_site above 0) learns the strings of each site's
/// feeds as HOST/feeds (crawl.feeds, crawl.strings).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk strings learn mail/ --name list.example.org
  dehusk strings clean mail/0042.txt --name list.example.org
  dehusk strings clean feed.xml --name docs.example.org/feeds     # learned by the crawl of that site
  dehusk strings learn mirror/www --name docs.example.org
  dehusk strings clean mirror/www/a.html --name docs.example.org --format html
  dehusk strings show list.example.org --emit regex
  dehusk strings list")]
pub(super) struct Strings {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Learn the template strings of a source and store them.
    #[command(after_help = "Examples:
  dehusk strings learn mail/ --name list.example.org
  dehusk strings learn --url https://docs.example.org/news
  dehusk strings learn --site docs.example.org
  dehusk strings learn mirror/ --name raw.example.org --text    # the paper's raw HTML: tags are words, too")]
    Learn {
        /// Folders, files, WARC files, or .jsonl with `html` or `text`.
        #[arg(required_unless_present_any = ["url", "site"], value_name = "DIR|FILE")]
        sources: Vec<PathBuf>,
        /// Learn from the stored versions of this page, one a night.
        #[arg(long, conflicts_with_all = ["sources", "site"])]
        url: Option<String>,
        /// Learn from the stored pages of this site.
        #[arg(long, value_name = "HOST", value_parser = host_name, conflicts_with = "sources")]
        site: Option<String>,
        /// Name of the source in the store [default: that of --url or --site].
        #[arg(long, required_unless_present_any = ["url", "site"])]
        name: Option<String>,
        /// Read pages as plain text, including tags.
        #[arg(long)]
        text: bool,
        /// Print the strings instead of a summary.
        #[arg(long, value_enum)]
        emit: Option<Emit>,
    },
    /// Remove the strings of a source from documents.
    #[command(after_help = "Examples:
  dehusk strings clean mail/2.txt --name list.example.org")]
    Clean {
        /// Folders, files, WARC files, .jsonl with `html` or `text`, or - for standard input. Texts are separated by an
        /// empty line.
        #[arg(required = true, value_name = "DIR|FILE|-")]
        sources: Vec<PathBuf>,
        /// The source whose strings are used.
        #[arg(long)]
        name: String,
        /// Read pages as plain text, including tags.
        #[arg(long)]
        text: bool,
        /// Output format of a page.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Print one JSON line per document: {"id","removed","content"}; removed is the share of its tokens.
        #[arg(long)]
        json: bool,
    },
    /// Show the strings of a source, longest first.
    #[command(after_help = "Examples:
  dehusk strings show list.example.org --emit regex")]
    Show {
        /// The source.
        name: String,
        /// Output format.
        #[arg(long, value_enum, default_value_t = Emit::Text)]
        emit: Emit,
    },
    /// List all sources with strings.
    #[command(after_help = "Examples:
  dehusk strings list")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Output format of strings.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Emit {
    /// Document frequency and tokens, one string per line.
    Text,
    /// Regular expressions for Rust, RE2, Python and Perl, one per line; only for sources learned as text.
    Regex,
    /// One JSON line per string: {"df","tf","tokens","text","idiom"}.
    Json,
}

impl Strings {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        match &self.action {
            Action::Learn { sources, url, site, name, text, emit } => {
                let reading = Reading { as_text: *text, entries: true, ..Reading::new(settings) };
                let of_store = url.as_deref().or(site.as_deref());
                let name = name.as_deref().or(of_store).unwrap_or_default();
                match of_store {
                    Some(_) => {
                        let store = open_store(settings)?;
                        let rows = match url {
                            Some(url) => store.page_versions(url),
                            None => store.list_pages(site.as_deref()),
                        };
                        let mut rows = rows.map_err(|e| Failure::Work(e.into()))?;
                        rows.retain(|row| !row.noindex || settings.store.noindex == NoindexPages::Show);
                        let documents = rows.into_iter().map(|row| {
                            let body = store.load_raw(&row)?;
                            Ok(FoundDocument::new(row.url, !text, body, row.content_type))
                        });
                        learn(documents, &reading, name, *emit, settings)
                    }
                    None => learn(reading.all(sources), &reading, name, *emit, settings),
                }
            }
            Action::Clean { sources, name, text, format, json } => {
                Cleaning { name, as_text: *text, format: *format, json: *json, settings }.run(sources)
            }
            Action::Show { name, emit } => {
                let store = open_store(settings)?;
                let template = stored(&store, name)?;
                show(&store, name, &template, *emit, settings)?;
                Ok(ExitCode::SUCCESS)
            }
            Action::List { json } => list(*json, settings),
        }
    }
}

fn learn(
    mut documents: impl Iterator<Item = anyhow::Result<FoundDocument>>,
    reading: &Reading<'_>,
    name: &str,
    emit: Option<Emit>,
    settings: &Settings,
) -> Outcome {
    let patterns = patterns(settings)?;
    let mut collection = Corpus::new(patterns, settings.core.strings.tokens);
    if name.trim().is_empty() {
        return Err(Failure::Usage(anyhow!("--name is empty; it is the name of the source in the store")));
    }
    let (bar, mut n_pages) = (counter("read"), 0);
    while let Some(batch) = next_batch(&mut documents) {
        let found = reading.readable(batch);
        let prepared: Vec<TokenizedDocument> =
            found.par_iter().map(|found| prepare(&collection, found, settings)).collect();
        n_pages += found.iter().filter(|found| found.is_page).count();
        bar.inc(found.len() as u64);
        for document in prepared {
            collection.add(document).map_err(|e| Failure::Nothing(e.into()))?;
        }
    }
    bar.finish_and_clear();
    reading.warn_of_skipped();
    if collection.len() < 2 {
        return Err(Failure::Nothing(anyhow!(
            "{} documents found; a template needs at least two documents",
            collection.len()
        )));
    }
    if n_pages > 0 && n_pages < collection.len() {
        tracing::warn!(
            "{n_pages} of {} documents are pages, the others plain text; --text reads all as text",
            collection.len()
        );
    }
    let template = StringTemplate::learn(collection, &settings.core.strings).map_err(|e| Failure::Nothing(e.into()))?;
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    let store = Store::create(Path::new(&settings.store.path), settings.store.zstd_level).map_err(work)?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    store.save_strings(name, at, &template).map_err(work)?;
    match emit {
        Some(emit) => show(&store, name, &template, emit, settings)?,
        None => summarise(&template, name)?,
    }
    Ok(ended(reading))
}

fn ended(reading: &Reading<'_>) -> ExitCode {
    if reading.failed.get() > 0 { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS }
}

fn prepare(collection: &Corpus, found: &FoundDocument, settings: &Settings) -> TokenizedDocument {
    if found.is_page {
        collection.prepare(Document::Page(&found.tree(&settings.core.parse)))
    } else {
        collection.prepare(Document::Text(&found.text()))
    }
}

fn summarise(template: &StringTemplate, name: &str) -> io::Result<()> {
    let mut out = stdout();
    let mut table = Table::new(&["string", "documents", "tokens"]);
    for string in template.strings.iter().take(20) {
        let text: String = template.text(string).chars().take(100).collect();
        table.row(vec![text, count(string.df as usize), count(template.len_of(string))]);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    let n = template.strings.len();
    if n > 20 {
        writeln!(out, "and {} more; `dehusk strings show {name}` prints all", count(n - 20))?;
    }
    if template.n_left_out > 0 {
        writeln!(
            out,
            "{} shorter strings were dropped because of papers.strings.max_total",
            count(template.n_left_out)
        )?;
    }
    let (documents, tokens) = (count(template.n_documents), count(template.n_tokens));
    writeln!(
        out,
        "\n{name}: {} strings in {} or more of {documents} documents ({tokens} tokens)",
        count(n),
        template.cut
    )
}

fn show(store: &Store, name: &str, template: &StringTemplate, emit: Emit, settings: &Settings) -> Result<(), Failure> {
    let mut out = stdout();
    let idioms = store.idioms(name, settings.core.strings.max_sites_share).map_err(|e| Failure::Work(e.into()))?;
    let is_idiom = |hash| idioms.contains(&hash);
    let expressions = match emit {
        Emit::Regex => {
            let patterns = template.patterns().map_err(|e| Failure::Work(e.into()))?;
            template.expressions(&patterns).map_err(|e| Failure::Usage(e.into()))?
        }
        _ => Vec::new(),
    };
    for (at, string) in template.strings.iter().enumerate() {
        let idiom = template.may_be_idiom(string, &settings.core.strings) && is_idiom(template.hash(string));
        match emit {
            // An idiom is not removed, so it has no expression.
            Emit::Regex if idiom => {}
            Emit::Regex => writeln!(out, "{}", expressions[at])?,
            Emit::Text => {
                let mark = if idiom { "  (idiom, stays)" } else { "" };
                writeln!(out, "{:>7}  {}{mark}", string.df, template.text(string))?;
            }
            Emit::Json => {
                let line = serde_json::json!({
                    "df": string.df, "tf": string.tf, "tokens": template.len_of(string),
                    "text": template.text(string), "idiom": idiom,
                });
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(())
}

fn list(json: bool, settings: &Settings) -> Outcome {
    let rows = open_store(settings)?.list_strings().map_err(|e| Failure::Work(e.into()))?;
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::json!({"schema": 1, "sources": rows}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&["source", "learned", "documents", "strings"]);
    for row in rows {
        let numbers = [row.documents, row.strings].map(|n| count(n as usize));
        table.row([vec![row.source, time(row.learned_at)], numbers.to_vec()].concat());
    }
    write!(out, "{}", table.render(terminal_width()))?;
    Ok(ExitCode::SUCCESS)
}

fn stored(store: &Store, name: &str) -> Result<StringTemplate, Failure> {
    let found = store.load_strings(name).map_err(|e| Failure::Work(e.into()))?;
    found.ok_or_else(|| {
        Failure::Nothing(anyhow!("no strings of {name}; `dehusk strings learn DIR --name {name}` learns them, `dehusk strings list` shows all sources"))
    })
}

/// The settings with the patterns of `papers.strings.patterns`, for the method `strings`.
pub(super) fn with_patterns(settings: &Settings) -> Result<Settings, Failure> {
    let mut settings = settings.clone();
    settings.core.string_patterns = patterns(&settings)?;
    Ok(settings)
}

/// The same, and the strings that are template of many stored sources.
pub(super) fn with_idioms(settings: &Settings) -> Result<Settings, Failure> {
    let mut settings = with_patterns(settings)?;
    if dehusk_store::may_exist(&settings.store.path) {
        let idioms = open_store(&settings)?.frequent_strings(settings.core.strings.max_sites_share);
        settings.core.idioms = idioms.map_err(|e| Failure::Work(e.into()))?;
    }
    Ok(settings)
}

/// The patterns of `papers.strings.patterns`, or the built-in ones.
fn patterns(settings: &Settings) -> Result<Patterns, Failure> {
    let path = &settings.string_patterns;
    if path.is_empty() {
        return Ok(Patterns::shipped());
    }
    let text = std::fs::read_to_string(path).with_context(|| path.clone()).map_err(Failure::Usage)?;
    Patterns::parse(&text).with_context(|| path.clone()).map_err(Failure::Usage)
}
