//! `dehusk clean`: removes templates from pages.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::builder::PossibleValuesParser;

use super::documents::Reading;
use super::stored_templates::{StoredPage, StoredTemplates};
use super::{Failure, Format, Outcome, exit, method_named, method_names, open_store};
use crate::crawl::Single;
use crate::fetch::is_html;
use crate::settings::Settings;
use crate::warc::{is_warc, pages};
use dehusk_core::Options;
use dehusk_core::internals::clean::{LabeledPage, label_page};
use dehusk_core::internals::dom::{Note, Tree, parse_bytes};
use dehusk_core::internals::method::Method;
use dehusk_core::internals::methods::{MethodEntry, Model};
use dehusk_core::internals::page_url::PageUrl;

/// Remove the site's stored template from pages.
///
/// The site of a page is that of its URL, of --site, or of its canonical link; otherwise the stored template that fits
/// best is used. URLs are fetched as politely as in a crawl. --method uses another method instead of the stored
/// template: one that needs only the page, or one that learns from the pages of --like.
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
  dehusk clean archive/*.warc.gz --json")]
pub(super) struct Clean {
    /// Files, URLs, WARC files, or - for standard input.
    #[arg(required = true, value_name = "FILE|URL|-")]
    pages: Vec<String>,
    /// Host or URL of the site whose template is used for files.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Clean each page alone, without a site and its template.
    #[arg(long, conflicts_with = "site")]
    alone: bool,
    /// Clean with this method instead of the stored template.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["site", "alone"])]
    #[arg(value_parser = PossibleValuesParser::new(method_names()))]
    method: Option<String>,
    /// Pages of the same site to learn from, the key page first: folders, files, WARC files or .jsonl with `html`. At
    /// most 64 pages are used.
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["site", "alone"])]
    like: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print one JSON line per page: {"page","site","method","confidence","content"}.
    ///
    /// The method is the step that labeled the page. Its confidence is: for site_model and etdm, the share of the
    /// site's template on the page (1 for a training page); for df, the share of its texts that other pages have; for
    /// density, the share of prose in what is kept; for strings, the share of tokens found; for rtdm, the share of the
    /// template found. tps, dsc and mdr have none.
    #[arg(long)]
    json: bool,
}

/// Maximum number of pages of --like that are used.
const MOST_LIKE: usize = 64;

/// How pages are cleaned.
enum By {
    Store(StoredTemplates),
    /// Each page alone.
    Alone,
    /// Another method, with its learned model.
    Method(&'static MethodEntry, Option<Model>),
}

struct Loaded {
    tree: Tree,
    /// URL of a page from the network.
    url: Option<PageUrl>,
}

impl Clean {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let by = &self.by(settings)?;
        let runtime = super::runtime()?;
        let mut network = Single::new(settings).map_err(|e| Failure::Work(e.into()))?;
        let mut failed = false;
        // An empty line separates the texts of several pages.
        let between = if self.json || self.pages.len() < 2 { "" } else { "\n" };
        for page in &self.pages {
            if is_warc(Path::new(page)) {
                failed |= !self.clean_archive(page, by, settings)?;
                continue;
            }
            let loaded = if page.contains("://") {
                PageUrl::parse(page).map_err(anyhow::Error::from).and_then(|url| {
                    let response = runtime.block_on(network.fetch(&url))?;
                    let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &settings.core.parse);
                    Ok(Loaded { tree, url: Some(response.url) })
                })
            } else {
                load_file(page, settings)
            };
            let outcome = loaded.and_then(|loaded| self.clean(page, &loaded, by, &settings.core));
            match outcome {
                Ok(text) => write!(io::stdout().lock(), "{text}{between}")?,
                Err(e) => {
                    failed = true;
                    tracing::error!("{e:#}");
                }
            }
        }
        Ok(if failed { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
    }

    fn by(&self, settings: &Settings) -> Result<By, Failure> {
        let method = match &self.method {
            Some(name) => method_named(name)?,
            None if !self.like.is_empty() => method_named(Method::of_label_by(settings.core.learn.label_by).name())?,
            None if self.alone => return Ok(By::Alone),
            None => return Ok(By::Store(StoredTemplates::of(open_store(settings)?))),
        };
        let name = method.method;
        match (method.is_site_method(), self.like.is_empty()) {
            (false, true) => Ok(By::Method(method, None)),
            (false, false) => {
                Err(Failure::Usage(anyhow!("{name} uses only the page itself; omit --like or choose another method")))
            }
            (true, true) => Err(Failure::Usage(anyhow!(
                "{name} learns from pages of the site: name some with --like; without --method the stored template is used"
            ))),
            (true, false) => {
                let trees = like(&self.like, settings)?;
                let model = method.learn(&trees.iter().collect::<Vec<_>>(), &settings.core);
                let model = model.ok_or_else(|| {
                    Failure::Nothing(anyhow!(
                        "--like: {} pages were read, but {name} found nothing that they share",
                        trees.len()
                    ))
                })?;
                Ok(By::Method(method, Some(model)))
            }
        }
    }

    /// Cleans every HTML page of an archive. Returns whether all succeeded.
    fn clean_archive(&self, file: &str, by: &By, settings: &Settings) -> Result<bool, Failure> {
        let mut all_well = true;
        let pages = pages(Path::new(file), settings.fetch.max_bytes).map_err(|e| Failure::Nothing(e.into()))?;
        for page in pages {
            let outcome = page.map_err(anyhow::Error::from).and_then(|page| {
                let (tree, _) = parse_bytes(&page.body, page.content_type.as_deref(), &settings.core.parse);
                let name = page.url.to_string();
                self.clean(&name, &Loaded { tree, url: Some(page.url) }, by, &settings.core)
            });
            match outcome {
                Ok(text) => io::stdout().lock().write_all(text.as_bytes())?,
                Err(e) => {
                    all_well = false;
                    tracing::error!("{e:#}");
                }
            }
        }
        Ok(all_well)
    }

    /// The host of the URL of a page from the network, or of --site.
    fn host_of(&self, loaded: &Loaded) -> Option<String> {
        let site =
            self.site.as_ref().map(|site| PageUrl::parse(site).map_or_else(|_| site.clone(), |url| url.authority()));
        loaded.url.as_ref().map(PageUrl::authority).or(site)
    }

    fn clean(&self, page: &str, loaded: &Loaded, by: &By, options: &Options) -> anyhow::Result<String> {
        for note in loaded.tree.notes() {
            match note {
                Note::BytesCut(n) => tracing::warn!("{page}: {n} bytes beyond page.max_bytes are cut off"),
                Note::NodesCut => tracing::warn!("{page}: what comes after page.max_nodes is cut off"),
                _ => {}
            }
        }
        let how = &options.clean;
        let (host, labeled) = match by {
            By::Store(templates) => {
                let page = StoredPage { name: page, tree: &loaded.tree, host: self.host_of(loaded) };
                let (host, labeled) = templates.label(&page, how)?;
                (Some(host), labeled)
            }
            By::Alone => (None, label_page(&loaded.tree, None, None, how)),
            By::Method(method, model) => (None, method.label(&loaded.tree, model.as_ref(), options)),
        };
        let LabeledPage { labels, method, .. } = labeled;
        let content = match self.format {
            Format::Text => labels.text(&loaded.tree),
            Format::Html => labels.html(&loaded.tree, loaded.url.as_ref()),
        };
        if !self.json {
            return Ok(content);
        }
        let confidence = (labels.confidence * 1000.0).round() / 1000.0;
        let line = serde_json::json!({
            "page": page, "site": host, "method": method, "confidence": confidence, "content": content,
        });
        Ok(format!("{line}\n"))
    }
}

/// The first [`MOST_LIKE`] pages of these sources.
fn like(sources: &[PathBuf], settings: &Settings) -> Result<Vec<Tree>, Failure> {
    let reading = Reading::new(false, None, settings.core.parse.max_bytes);
    let pages = reading.all(sources).filter(|found| found.as_ref().map_or(true, |found| found.is_page));
    let trees = pages.take(MOST_LIKE).map(|found| Ok(found?.tree(&settings.core.parse)));
    trees.collect::<anyhow::Result<Vec<Tree>>>().context("--like").map_err(Failure::Nothing)
}

fn load_file(page: &str, settings: &Settings) -> anyhow::Result<Loaded> {
    let mut bytes = Vec::new();
    if page == "-" {
        io::stdin().read_to_end(&mut bytes).context("standard input")?;
    } else {
        bytes = std::fs::read(Path::new(page)).with_context(|| page.to_owned())?;
    }
    // A file has no Content-Type, and a fragment may begin with plain words.
    is_html(Some("text/html"), &bytes).map_err(|found| anyhow!("{page}: is not HTML but {found}"))?;
    if bytes.iter().take(1024).any(|byte| *byte == 0)
        && !bytes.starts_with(b"\xff\xfe")
        && !bytes.starts_with(b"\xfe\xff")
    {
        return Err(anyhow!("{page}: is not HTML: it contains NUL bytes"));
    }
    Ok(Loaded { tree: parse_bytes(&bytes, None, &settings.core.parse).0, url: None })
}
