//! `dehusk clean`: removes templates from pages.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::builder::PossibleValuesParser;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::documents::{Found, Reading, next_batch};
use super::learned_sites::{Models, learn_sites};
use super::loaded_page::{Loaded, leaves_out, of_found, of_response};
use super::site_pages::site_pages;
use super::stored_templates::{Choice, StoredPage, StoredTemplates};
use super::terminal::stdout;
use super::{Failure, Format, Outcome, exit, method_named, method_names, open_store};
use crate::crawl::Single;
use crate::export::{About, Optional, Record};
use crate::settings::Settings;
use crate::store::{Store, StoreError};
use dehusk_core::internals::clean::LabeledPage;
use dehusk_core::internals::dom::{Note, Tree};
use dehusk_core::internals::method::Method;
use dehusk_core::internals::methods::{MethodEntry, Model};
use dehusk_core::internals::page_url::PageUrl;

/// Remove the site's stored template from pages.
///
/// Sources may be files, folders, standard input or pipes. What they hold shows in their content: pages, JSON lines
/// with `html`, web archives, each of them also packed with gzip or zstd. The site of a page is that of --site, of its
/// URL, or of its canonical link; otherwise the stored template that fits best is used. A page of a site without a
/// stored template is cleaned by itself. Pages that ask for noindex are left out, unless they are named one by one
/// (setting store.noindex). URLs are fetched as politely as in a crawl. --method uses another method instead of the
/// stored template: one that needs only the page, or one that learns from the pages of --like.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk clean page.html --site docs.example.org
  dehusk clean https://docs.example.org/a.html --format html > a.html
  curl -s https://docs.example.org/a.html | dehusk clean - --site docs.example.org
  dehusk clean *.html --json
  dehusk clean --alone page.html --set clean.keep=main
  dehusk clean --method tps page.html
  dehusk clean --like mirror/www/ page.html
  dehusk clean --method rtdm --like mirror/www/ page.html
  dehusk clean --method gottron --site docs.example.org page.html
  dehusk clean mirror/www/ --json
  dehusk clean archive/*.warc.gz --learn --rows > rows.jsonl
  dehusk clean pages.jsonl.zst --rows > rows.jsonl")]
pub(super) struct Clean {
    /// Files, folders, web archives, JSON lines, URLs, or - for standard input.
    #[arg(required = true, value_name = "FILE|DIR|URL|-")]
    pages: Vec<String>,
    /// Host or URL of the site whose template is used for files. With --method: the site whose stored pages it learns
    /// from, in the order of its links.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Clean each page alone, without a site and its template.
    #[arg(long, conflicts_with = "site")]
    alone: bool,
    /// Learn each site from a sample of its pages in these sources first, and clean with what was learned. The sources
    /// are read twice.
    #[arg(long, conflicts_with_all = ["site", "alone", "method", "like"])]
    learn: bool,
    /// Clean with this method instead of the stored template.
    #[arg(long, value_name = "NAME", conflicts_with = "alone")]
    #[arg(value_parser = PossibleValuesParser::new(method_names()))]
    method: Option<String>,
    /// Pages of the same site to learn from, the key page first: folders, files, WARC files or .jsonl with `html`. At
    /// most 64 pages are used.
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["site", "alone"])]
    like: Vec<PathBuf>,
    /// With --method text: the stored collection whose templates are used [default: the only one].
    #[arg(long, value_name = "NAME", conflicts_with_all = ["site", "alone", "like"])]
    collection: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print one JSON line per page: {"page","url","site","method","confidence","content"}.
    ///
    /// The method is the step that labeled the page. Its confidence is: for site_model and etdm, the share of the
    /// site's template on the page (1 for a training page); for df, the share of its texts that other pages have; for
    /// alone, the mean probability of what is kept; for strings, the share of tokens found; for rtdm, the share of the
    /// template found. tps, dsc and mdr have none.
    #[arg(long)]
    json: bool,
    /// Print one JSON line per page with all columns of `dehusk export`: text, Markdown, metadata, signals of quality.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    rows: bool,
}

/// Maximum number of pages of --like that are used.
const MOST_LIKE: usize = 64;

/// How pages are cleaned.
enum By {
    /// By the template of their site, if it has one.
    Store(StoredTemplates),
    /// By the model of their site, learned from these sources.
    Learned(Models),
    /// By the template that --site names.
    Site(Choice),
    /// Each page alone.
    Alone,
    /// Another method, with its learned model.
    Method(&'static MethodEntry, Option<Model>),
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
}

/// The host of a site that was named by its host or by a URL.
fn host_of(site: &str) -> String {
    PageUrl::parse(site).map_or_else(|_| site.to_owned(), |url| url.authority())
}

/// The templates of a collection that `dehusk cluster --store` has stored; of the only one, if none is named.
fn collection(name: Option<&str>, settings: &Settings) -> Result<Model, Failure> {
    let work = |e: StoreError| Failure::Work(e.into());
    let store = Path::new(&settings.store.path).is_file().then(|| open_store(settings)).transpose()?;
    let known = store.as_ref().map_or_else(|| Ok(Vec::new()), Store::list_collections).map_err(work)?;
    let advice = "`dehusk cluster DIR --store NAME` stores the templates of a collection";
    let name = match (name, known.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, []) => {
            let text = "text learns from pages: name some with --like, or store a collection";
            return Err(Failure::Usage(anyhow!("{text}; {advice}")));
        }
        (None, known) => return Err(Failure::Usage(anyhow!("name one with --collection: {}", known.join(", ")))),
    };
    let found = store.map_or(Ok(None), |store| store.load_collection(name)).map_err(work)?;
    let missing = || Failure::Nothing(anyhow!("no collection {name}; stored are: {}; {advice}", known.join(", ")));
    found.map(Model::of_text).ok_or_else(missing)
}

impl Clean {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let with_strings;
        let settings = match self.method.as_deref() == Some(Method::Strings.name()) {
            true => {
                with_strings = super::strings::with_idioms(settings)?;
                &with_strings
            }
            false => settings,
        };
        let by = &self.by(settings)?;
        let runtime = super::runtime()?;
        let mut network = Single::new(settings).map_err(|e| Failure::Work(e.into()))?;
        let mut counts = Counts::default();
        for page in &self.pages {
            if !page.contains("://") {
                self.clean_source(&PathBuf::from(page), by, settings, &mut counts)?;
                continue;
            }
            let fetched = PageUrl::parse(page)
                .map_err(anyhow::Error::from)
                .and_then(|url| runtime.block_on(network.fetch(&url)).map_err(anyhow::Error::from));
            let loaded = fetched.map(|response| of_response(page, &response, settings));
            self.clean_batch(vec![loaded], by, settings, &mut counts)?;
        }
        if counts.noindex > 0 {
            let n = counts.noindex;
            tracing::warn!("{n} pages ask for noindex and were left out; --set store.noindex=show writes them");
        }
        if counts.texts > 0 {
            let n = counts.texts;
            tracing::error!(
                "{n} documents are plain text (a WET file, or lines with a field `text`) and were left out: `clean` needs \
                 HTML, and `dehusk strings` works on text"
            );
        }
        Ok(if counts.failed + counts.texts > 0 { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
    }

    fn by(&self, settings: &Settings) -> Result<By, Failure> {
        if self.learn {
            return self.by_learning(settings);
        }
        let method = match &self.method {
            Some(name) => method_named(name)?,
            None if !self.like.is_empty() => method_named(Method::of_label_by(settings.core.learn.label_by).name())?,
            None if self.alone => return Ok(By::Alone),
            None => return self.by_store(settings),
        };
        let name = method.method;
        match (method.is_site_method(), self.like.is_empty()) {
            (false, _) if self.site.is_some() => {
                Err(Failure::Usage(anyhow!("{name} uses only the page itself; omit --site or choose another method")))
            }
            (false, true) => Ok(By::Method(method, None)),
            (false, false) => {
                Err(Failure::Usage(anyhow!("{name} uses only the page itself; omit --like or choose another method")))
            }
            (true, true) if name == Method::Text => {
                Ok(By::Method(method, Some(collection(self.collection.as_deref(), settings)?)))
            }
            (true, true) if self.site.is_none() => Err(Failure::Usage(anyhow!(
                "{name} learns from pages of the site: name some with --like, or a stored site with --site; without \
                 --method the stored template is used"
            ))),
            (true, _) => {
                let trees = match &self.site {
                    Some(site) => site_pages(&host_of(site), method, settings)?,
                    None => like(&self.like, settings)?,
                };
                let model = method.learn(&trees.iter().collect::<Vec<_>>(), &settings.core);
                let model = model.ok_or_else(|| {
                    Failure::Nothing(anyhow!(
                        "{} pages were read, but {name} found nothing that they share",
                        trees.len()
                    ))
                })?;
                Ok(By::Method(method, Some(model)))
            }
        }
    }

    fn by_learning(&self, settings: &Settings) -> Result<By, Failure> {
        if let Some(source) = self.pages.iter().find(|page| *page == "-" || page.contains("://")) {
            let text = "--learn reads its sources twice; write this one to a file first";
            return Err(Failure::Usage(anyhow!("{source}: {text}")));
        }
        let sources: Vec<PathBuf> = self.pages.iter().map(PathBuf::from).collect();
        let models = learn_sites(&sources, settings);
        tracing::info!("{} sites learned", models.len());
        Ok(By::Learned(models))
    }

    fn by_store(&self, settings: &Settings) -> Result<By, Failure> {
        let store = match open_store(settings) {
            Ok(store) => store,
            Err(Failure::Work(error)) if self.site.is_none() && is_missing(&error) => {
                tracing::warn!("{}: no such database; every page is cleaned by itself", settings.store.path);
                return Ok(By::Alone);
            }
            Err(failure) => return Err(failure),
        };
        let templates = StoredTemplates::of(store);
        match &self.site {
            Some(site) => Ok(By::Site(templates.named(&host_of(site)).map_err(Failure::Nothing)?)),
            None => Ok(By::Store(templates)),
        }
    }

    /// Cleans all pages of a source, in order, on all cores.
    fn clean_source(&self, source: &PathBuf, by: &By, settings: &Settings, counts: &mut Counts) -> Result<(), Failure> {
        let reading = Reading { all_pages: true, ..Reading::new(false, None, settings.core.parse.max_bytes) };
        let sources = std::slice::from_ref(source);
        let mut found = reading.all(sources);
        let agents = settings.agents();
        while let Some(mut batch) = next_batch(&mut found) {
            let n_found = batch.len();
            batch.retain(|found| found.as_ref().map_or(true, |found| found.is_page));
            counts.texts += n_found - batch.len();
            let load = |found: anyhow::Result<Found>| Ok(of_found(found?, settings, &agents));
            let loaded = batch.into_par_iter().map(load).collect();
            self.clean_batch(loaded, by, settings, counts)?;
        }
        reading.warn_of_skipped();
        Ok(())
    }

    fn clean_batch(
        &self,
        batch: Vec<anyhow::Result<Loaded>>,
        by: &By,
        settings: &Settings,
        counts: &mut Counts,
    ) -> Result<(), Failure> {
        let mut chosen = Vec::new();
        for loaded in batch {
            match loaded.and_then(|page| Ok((choose(&page, by)?, page))) {
                Ok((_, page)) if leaves_out(&page, settings) => counts.noindex += 1,
                Ok(page) => chosen.push(page),
                Err(e) => {
                    counts.failed += 1;
                    tracing::error!("{e:#}");
                }
            }
        }
        let method = match by {
            By::Method(method, model) => Some((*method, model.as_ref())),
            _ => None,
        };
        let write = |(choice, page): &(Choice, Loaded)| self.written(page, choice, method, settings);
        let written: Vec<String> = chosen.par_iter().map(write).collect();
        let mut out = stdout();
        for text in written {
            // An empty line separates the texts of several pages.
            if counts.written > 0 && !self.json && !self.rows {
                out.write_all(b"\n")?;
            }
            out.write_all(text.as_bytes())?;
            counts.written += 1;
        }
        Ok(())
    }

    fn written(
        &self,
        page: &Loaded,
        choice: &Choice,
        method: Option<(&MethodEntry, Option<&Model>)>,
        settings: &Settings,
    ) -> String {
        let name = page.name.as_str();
        for note in page.tree.notes() {
            match note {
                Note::BytesCut(n) => tracing::warn!("{name}: {n} bytes beyond page.max_bytes are cut off"),
                Note::NodesCut => tracing::warn!("{name}: what comes after page.max_nodes is cut off"),
                _ => {}
            }
        }
        let how = &settings.core.clean;
        let stored = StoredPage { name, tree: &page.tree, host: None };
        let (host, labeled) = match method {
            Some((method, model)) => (None, method.label(&page.tree, model, &settings.core)),
            None => choice.label(&stored, how),
        };
        if self.rows {
            return row(page, host, &labeled, settings);
        }
        let LabeledPage { labels, method, .. } = labeled;
        let content = match self.format {
            Format::Text => labels.text(&page.tree),
            Format::Html => labels.html(&page.tree, page.url.as_ref()),
            Format::Markdown => labels.markdown(&page.tree, page.url.as_ref(), &settings.core.markdown),
        };
        if !self.json {
            return content;
        }
        let confidence = (labels.confidence * 1000.0).round() / 1000.0;
        let line = serde_json::json!({
            "page": name, "url": page.url.as_ref().map(PageUrl::as_str), "site": host, "method": method,
            "confidence": confidence, "content": content,
        });
        format!("{line}\n")
    }
}

/// The row of a page, as `dehusk export` writes it.
fn row(page: &Loaded, model: Option<String>, labeled: &LabeledPage, settings: &Settings) -> String {
    let model = model.map(|host| (host, None));
    let about = About { url: page.url.clone(), warc_record: page.warc_record.clone(), model, ..About::default() };
    let record = Record::of(&page.tree, labeled, &about, None, Optional::default(), settings);
    format!("{}\n", record.to_json())
}

fn choose(page: &Loaded, by: &By) -> anyhow::Result<Choice> {
    match by {
        By::Store(templates) => {
            let host = page.url.as_ref().map(PageUrl::authority);
            Ok(templates.choose(&StoredPage { name: &page.name, tree: &page.tree, host })?)
        }
        By::Learned(models) => {
            let known = page.url.as_ref().and_then(|url| models.get_key_value(&url.authority()));
            Ok(known.map_or(Choice::Alone, |(host, model)| Choice::Site(host.clone(), Arc::clone(model))))
        }
        By::Site(choice) => Ok(choice.clone()),
        By::Alone | By::Method(..) => Ok(Choice::Alone),
    }
}

fn is_missing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Missing { .. }))
}

/// The first [`MOST_LIKE`] pages of these sources.
fn like(sources: &[PathBuf], settings: &Settings) -> Result<Vec<Tree>, Failure> {
    let reading = Reading::new(false, None, settings.core.parse.max_bytes);
    let pages = reading.all(sources).filter(|found| found.as_ref().map_or(true, |found| found.is_page));
    let trees = pages.take(MOST_LIKE).map(|found| Ok(found?.tree(&settings.core.parse)));
    trees.collect::<anyhow::Result<Vec<Tree>>>().context("--like").map_err(Failure::Nothing)
}
