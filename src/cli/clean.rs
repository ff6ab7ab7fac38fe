//! `dehusk clean`: removes templates from pages.

mod by;
mod corpus;
mod format;
mod linked;
mod written;

use std::cmp::Ordering;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use clap::builder::PossibleValuesParser;

use by::{By, choose};
use format::CleanFormat;
use linked::{LinkedSites, OfSite};

use super::corpus_args::{CorpusArgs, failure};
use super::crawl::share;
use super::documents::{FieldName, FoundDocument, Reading, byte_bar, named_hosts};
use super::loaded_page::{Loaded, leaves_out, of_found, of_response};
use super::objects::is_object;
use super::rereadable::Rereadable;
use super::stored_templates::Choice;
use super::table::count;
use super::terminal::stdout;
use super::{Failure, Outcome, exit, method_names};
use dehusk_content::tps::Part;
use dehusk_core::LanguageModel;
use dehusk_core::corpus::TokenCounter;
use dehusk_corpus::export::Chunking;
use dehusk_corpus::{language_model, tokenizer};
use dehusk_crawl::Single;
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_template::method::Method;

/// Remove the site's stored template from pages.
///
/// Sources may be files, folders, standard input, pipes, or objects of an object store (s3://, gs://, az://; all below
/// an address that ends with a slash), or hosts of Common Crawl (cc:CRAWL/HOST). What they hold shows in their content:
/// pages, JSON lines with `html`, web archives, each of them also packed with gzip or zstd. The site of a page is that
/// of --site, of its URL, or of its canonical link (not with --learn); otherwise the stored template that fits best is
/// used. A page of a site without a stored template is cleaned by itself; for a URL, the few pages that it links to are
/// loaded first and its site is learned from them, unless --alone is given. Pages that ask for noindex are left out,
/// unless they are named one by one (setting store.noindex). URLs are fetched as politely as in a crawl. --method uses
/// another method instead of the stored template: one that needs only the page, or one that learns from the pages of
/// --like.
#[derive(Clone, clap::Args)]
#[command(after_help = "Examples:
  dehusk clean page.html --site docs.example.org
  dehusk clean https://docs.example.org/a.html --format html > a.html
  dehusk clean https://docs.example.org/a.html --alone
  dehusk clean https://docs.example.org/a.html --method gottron
  curl -s https://docs.example.org/a.html | dehusk clean - --site docs.example.org
  dehusk clean *.html --json
  dehusk clean --alone page.html --set clean.keep=main
  dehusk clean --method tps page.html
  dehusk clean --method mdr --records shop.html
  dehusk clean --like mirror/www/ page.html
  dehusk clean --method rtdm --like mirror/www/ page.html
  dehusk clean --method gottron --site docs.example.org page.html
  dehusk clean mirror/www/ --json
  dehusk clean archive/*.warc.gz --learn --rows > rows.jsonl
  dehusk clean pages.jsonl.zst --rows > rows.jsonl
  dehusk clean s3://crawls/2026-11/ --learn --format parquet --out s3://corpora/2026-11
  dehusk clean cc:CC-MAIN-2026-40/docs.example.org --learn --rows > rows.jsonl
  dehusk clean archive/*.warc.gz --learn --format parquet --out corpus --where \"n_words >= 50\"")]
pub(super) struct Clean {
    /// Files, folders, web archives, JSON lines, Parquet files, URLs, or - for standard input.
    #[arg(required = true, value_name = "FILE|DIR|URL|-")]
    pages: Vec<String>,
    /// Host or URL of the site whose template is used for files.
    ///
    /// With --method: the site whose stored pages it learns from, in the order of its links.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Clean each page alone, without a site and its template.
    #[arg(long, conflicts_with = "site")]
    alone: bool,
    /// Learn each site from a sample of its pages in these sources first, and clean with what was learned.
    ///
    /// The sources are read twice; standard input is kept in a temporary file (TMPDIR) meanwhile.
    #[arg(long, conflicts_with_all = ["site", "alone", "method", "like"])]
    learn: bool,
    /// With --learn: store the templates of the sites in this database, for later calls with --db.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "learn")]
    save: Option<PathBuf>,
    /// Clean with the newest templates of this registry, a folder or an address in an object store: `dehusk models`.
    #[arg(hide_short_help = true, long, value_name = "REGISTRY", conflicts_with_all = ["site", "alone", "learn", "method", "like"])]
    models: Option<String>,
    /// With sources of Common Crawl such as cc:CC-MAIN-2026-40: a list of hosts or addresses, whose pages are cleaned.
    ///
    /// Without it, those that --where asks for (host = 'docs.example.org'), else all.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    sites: Option<PathBuf>,
    /// Clean with this method instead of the stored template.
    #[arg(long, value_name = "NAME", conflicts_with = "alone")]
    #[arg(value_parser = PossibleValuesParser::new(method_names()))]
    method: Option<String>,
    /// Pages of the same site to learn from, the key page first: folders, files, WARC files or .jsonl with `html`.
    ///
    /// At most 64 pages are used.
    #[arg(hide_short_help = true, long, value_name = "DIR|FILE", conflicts_with_all = ["site", "alone"])]
    like: Vec<PathBuf>,
    /// With --method text: the stored collection whose templates are used [default: the only one].
    #[arg(hide_short_help = true, long, value_name = "NAME", conflicts_with_all = ["site", "alone", "like"])]
    collection: Option<String>,
    /// Output format: text, html or markdown on standard output, the other forms in the folder of --out [default: text,
    /// with --out jsonl].
    #[arg(long, value_enum)]
    format: Option<CleanFormat>,
    /// Write a corpus into this folder, as `dehusk export` does.
    ///
    /// It has rows of all columns in parts, a manifest, and lists of the documents that give no row. A call that was
    /// killed goes on where it was. The folder may be in an object store (s3://bucket/folder).
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rows", "records"])]
    out: Option<PathBuf>,
    #[command(flatten)]
    corpus: CorpusArgs,
    /// Fields of JSON lines, of the index of Common Crawl, and columns of Parquet files that are passed through, in the
    /// column input.
    #[arg(hide_short_help = true, long, value_name = "FIELD", value_delimiter = ',')]
    pass: Vec<String>,
    /// Fields or columns that documents are read from, in place of html, text, url and id: html=page,url=address.
    #[arg(hide_short_help = true, long, value_name = "html=NAME", value_delimiter = ',', value_parser = FieldName::parse)]
    fields: Vec<FieldName>,
    /// With --out: exit with code 1 when more than this share of the documents cannot be read, such as 5% [default:
    /// never].
    #[arg(hide_short_help = true, long, value_name = "SHARE", requires = "out", value_parser = share)]
    fail_above: Option<f64>,
    /// Print one JSON line per page: {"page","url","site","method","confidence","kind","content"}, for tps also "part".
    ///
    /// The method is the step that labeled the page.
    ///
    /// Its confidence is: for site_model and etdm, the share of the site's template on the page (1 for a training
    /// page); for df, the share of its texts that other pages have; for alone, the mean probability of what is kept;
    /// for strings, the share of tokens found; for rtdm, the share of the template found; for tps, the share of the
    /// text outside of links that is kept, and the part is the `region` or the `rest` of the page. dsc and mdr have
    /// none. The kind is that of `dehusk templates kinds`, from 1.
    #[arg(long)]
    json: bool,
    /// Print one JSON line per page with all columns of `dehusk export`: text, Markdown, metadata, signals of quality.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    rows: bool,
    /// Print one JSON line per data record of the pages, such as an entry of a list or a product of a shop:
    /// {"page","url","region","record","fields"}.
    ///
    /// The name of a field is the path of tags to it, so that the records of a region have the same names. With
    /// --method mdr or tps.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["json", "format", "rows"], requires = "method")]
    records: bool,
}

/// Maximum number of failures logged one by one.
const MOST_SHOWN: usize = 20;

/// Whether a page is loaded from the web. The address of an object store is that of a file or a folder.
fn is_url(page: &str) -> bool {
    page.contains("://") && !is_object(page)
}

/// What became of a page.
enum Done {
    /// It is plain text.
    Text,
    /// Its owner wants it in no collection.
    Noindex,
    Failed(anyhow::Error),
    Written(Written),
}

/// The output of a page, and the part of it that TPS has kept.
struct Written {
    text: String,
    part: Option<Part>,
}

/// What became of the pages.
#[derive(Default)]
struct Counts {
    failed: usize,
    /// Documents that are plain text.
    texts: usize,
    /// Pages whose owners want them in no collection.
    noindex: usize,
    written: usize,
    /// Pages of which no text is left.
    empty: usize,
    /// Pages of which TPS has kept all but the main region.
    rest: usize,
}

/// What all pages of a call have in common.
struct Run<'a> {
    settings: &'a Settings,
    /// What tells the languages of rows in place of the built-in detector.
    language: Option<Arc<dyn LanguageModel>>,
    /// What counts their tokens.
    tokens: Option<Arc<dyn TokenCounter>>,
    /// How pages are divided, where pieces are written to standard output.
    chunking: Option<Chunking>,
}

impl Clean {
    /// The same for pieces; `None` where another output is asked for.
    pub(super) fn in_chunks(self) -> Option<Clean> {
        let is_other = self.format.is_some_and(|format| format != CleanFormat::Chunks);
        (!is_other && !self.rows && !self.json && !self.records)
            .then_some(Clean { format: Some(CleanFormat::Chunks), ..self })
    }

    /// Whether standard output is rows, or what is made of them, one JSON object a line.
    fn gives_rows(&self) -> bool {
        self.rows || self.format == Some(CleanFormat::Chunks)
    }

    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let with_strings;
        let settings = if self.method.as_deref() == Some(Method::Strings.name()) {
            with_strings = super::strings::with_idioms(settings)?;
            &with_strings
        } else {
            settings
        };
        let sources = named_hosts(&self.pages, self.sites.as_deref(), self.corpus.filter().as_deref())?;
        let kept = if self.learn { Rereadable::new(&sources) } else { Rereadable::new(&[]) };
        let kept = kept.context("a source cannot be kept for the second reading (TMPDIR names the folder)");
        let kept = kept.map_err(Failure::Work)?;
        let pages = if self.learn { &kept.names } else { &sources };
        let corpus = self.corpus_asked()?;
        let language = if self.gives_rows() || corpus.is_some() { settings.export.language_model.as_str() } else { "" };
        let language = language_model::open(language).map_err(|e| Failure::Usage(e.into()))?;
        let tokenizer = if self.gives_rows() || corpus.is_some() { settings.export.tokenizer.as_str() } else { "" };
        let tokens = tokenizer::open(tokenizer).map_err(|e| Failure::Usage(e.into()))?;
        let is_divided = corpus.is_none() && self.format == Some(CleanFormat::Chunks);
        let chunking = is_divided.then(|| Chunking::new(&settings.export)).transpose().map_err(failure)?;
        let run = Run { settings, language, tokens, chunking };
        let by = || {
            let by = self.by(pages, settings)?;
            kept.rewind()?;
            Ok(by)
        };
        if let Some((out, options)) = corpus {
            return self.write_corpus((out, &options), (&sources, pages), by, &run);
        }
        let by = &by()?;
        let runtime = super::runtime(dehusk_corpus::pipeline::cores())?;
        let mut network = Single::new(settings).map_err(|e| Failure::Work(e.into()))?;
        let mut counts = Counts::default();
        let mut linked = LinkedSites::new(settings, by.method());
        for pages in pages.chunk_by(|one, other| !is_url(one) && !is_url(other)) {
            if !is_url(&pages[0]) {
                let sources: Vec<PathBuf> = pages.iter().map(PathBuf::from).collect();
                self.clean_sources(&sources, by, &run, &mut counts)?;
                continue;
            }
            let fetched = PageUrl::parse(&pages[0])
                .map_err(anyhow::Error::from)
                .and_then(|url| runtime.block_on(network.fetch(&url)).map_err(anyhow::Error::from));
            let loaded = fetched.map(|response| of_response(&pages[0], &response, settings));
            let done = match loaded {
                Ok(page) if by.needs_links(&page)? => {
                    self.cleaned_by(&page, linked.of(&page, &mut network, &runtime, now_ms()), by, &run)
                }
                loaded => self.cleaned(loaded, by, &run),
            };
            self.take(done, &mut counts)?;
        }
        if counts.failed > MOST_SHOWN {
            tracing::error!("{} documents could not be read", counts.failed);
        }
        if counts.noindex > 0 {
            let n = counts.noindex;
            tracing::warn!("{n} pages ask for noindex and were left out; --set store.noindex=show writes them");
        }
        if counts.empty > 0 {
            let what = if self.records { "no data records were found in" } else { "no text is left of" };
            tracing::warn!("{what} {} pages", counts.empty);
        }
        if counts.rest > 0 {
            tracing::info!(
                "in place of the main region tps kept the rest, which has more text (pages: {}); \
                 --set papers.tps.complement=false keeps the region",
                count(counts.rest)
            );
        }
        if counts.failed + counts.noindex + counts.texts + counts.written == 0 {
            tracing::warn!("the sources hold no page");
        }
        if counts.texts > 0 {
            let n = counts.texts;
            tracing::error!(
                "{n} documents are plain text (a WET file, or lines without a field `html`; --fields html=NAME names another \
                 one) and were left out: `clean` needs HTML, and `dehusk strings` works on text"
            );
        }
        Ok(if counts.failed + counts.texts > 0 { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
    }

    /// Cleans all pages of these sources, in order, on all cores.
    fn clean_sources(&self, sources: &[PathBuf], by: &By, run: &Run<'_>, counts: &mut Counts) -> Result<(), Failure> {
        let settings = run.settings;
        let agents = settings.agents();
        let bar = byte_bar(sources, "cleaned");
        let read = |put: &mut dyn FnMut(anyhow::Result<FoundDocument>) -> bool| {
            let bar = bar.clone();
            let reading =
                Reading { all_pages: true, pass: &self.pass, named: &self.fields, bar, ..Reading::new(settings) };
            let mut found = reading.all(sources);
            while found.next().is_some_and(&mut *put) {}
            drop(found);
            reading.warn_of_skipped();
        };
        let size = |found: &anyhow::Result<FoundDocument>| found.as_ref().map_or(0, FoundDocument::n_bytes);
        let clean = |found: anyhow::Result<FoundDocument>| match found {
            Ok(found) if !found.is_page => Done::Text,
            found => self.cleaned(found.map(|found| of_found(found, settings, &agents)), by, run),
        };
        let outcome = dehusk_corpus::pipeline::run(read, size, clean, |done| {
            self.take(done, counts)?;
            if counts.written.is_multiple_of(64) {
                bar.set_message(format!("{} pages", count(counts.written)));
            }
            Ok(())
        });
        bar.finish_and_clear();
        outcome
    }

    /// Cleans a page.
    fn cleaned(&self, loaded: anyhow::Result<Loaded>, by: &By, run: &Run<'_>) -> Done {
        match loaded.and_then(|page| Ok((choose(&page, by)?, page))) {
            Ok((_, page)) if leaves_out(&page, run.settings) => Done::Noindex,
            Ok((choice, page)) => {
                let method = match by {
                    By::Method(method, model) => Some((*method, model.as_ref())),
                    _ => None,
                };
                Done::Written(self.written(&page, &choice, method, run))
            }
            Err(e) => Done::Failed(e),
        }
    }

    /// Cleans a page by what the pages that it links to have said of its site.
    fn cleaned_by(&self, page: &Loaded, site: &OfSite, by: &By, run: &Run<'_>) -> Done {
        if leaves_out(page, run.settings) {
            return Done::Noindex;
        }
        Done::Written(match site {
            OfSite::Choice(choice) => self.written(page, choice, None, run),
            OfSite::Model(model) => {
                self.written(page, &Choice::Alone, by.method().map(|method| (method, Some(model))), run)
            }
        })
    }

    /// Writes or counts what became of a page.
    fn take(&self, done: Done, counts: &mut Counts) -> Result<(), Failure> {
        match done {
            Done::Text => counts.texts += 1,
            Done::Noindex => counts.noindex += 1,
            Done::Failed(e) => {
                counts.failed += 1;
                match counts.failed.cmp(&(MOST_SHOWN + 1)) {
                    Ordering::Less => tracing::error!("{e:#}"),
                    Ordering::Equal => tracing::error!("further failures are counted only"),
                    Ordering::Greater => {}
                }
            }
            Done::Written(Written { text, part }) => {
                let mut out = stdout();
                // An empty line separates the texts of several pages.
                if counts.written > 0 && !self.json && !self.gives_rows() && !self.records {
                    out.write_all(b"\n")?;
                }
                out.write_all(text.as_bytes())?;
                counts.written += 1;
                counts.rest += usize::from(part == Some(Part::Rest));
                counts.empty += usize::from(text.trim_ascii().is_empty());
            }
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}
