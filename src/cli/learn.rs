//! `dehusk learn`: learns the template of one site, from a folder, a WARC file or over the network.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashMap;

use anyhow::{Context, anyhow};

use super::crawl::{run_crawl, site_table};
use super::outline::write_outline;
use super::table::terminal_width;
use super::{Failure, Outcome};
use crate::crawl::SeedList;
use crate::folder::{Folder, url_of};
use crate::settings::Settings;
use crate::store::Store;
use crate::warc::{WarcPage, is_warc, undamaged_pages};
use dehusk_core::internals::dom::parse_bytes;
use dehusk_core::internals::learner::{FoundPage, Learner};
use dehusk_core::internals::page_url::{PageUrl, Site};
use dehusk_core::internals::template::Template;

/// Learn the template of one site from a folder of its pages, a WARC file, or its URL.
///
/// In a folder, pages are found as by a web server: /x is x, x.html, or x/index.html after a redirect. With a URL the
/// site is crawled as by `dehusk crawl`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk learn mirror/www.example.org
  dehusk learn mirror/www --key /docs/index.html --host docs.example.org --db dehusk.db
  dehusk learn https://docs.example.org/ --db dehusk.db
  dehusk learn mirror/www --json > template.json")]
pub(super) struct Learn {
    /// Folder with the root of the site, WARC file, or URL of the key page.
    source: String,
    /// Key page in the folder or WARC file.
    #[arg(long, default_value = "/index.html", value_name = "PATH")]
    key: String,
    /// Host of the site; links to it are links within the site [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Print the template as JSON.
    #[arg(long)]
    json: bool,
}

impl Learn {
    /// A template from a folder or WARC file is stored only if --db names a database.
    pub(super) fn run(&self, settings: &Settings, db: Option<&Path>) -> Outcome {
        if self.source.contains("://") {
            return self.learn_url(settings);
        }
        let template = match is_warc(Path::new(&self.source)) {
            true => self.learn_archive(settings)?,
            false => self.learn_folder(settings)?,
        };
        if let Some(db) = db {
            store_template(db, settings, &template)?;
        }
        self.print(&template)?;
        Ok(ExitCode::SUCCESS)
    }

    fn learn_url(&self, settings: &Settings) -> Outcome {
        let url = PageUrl::parse(&self.source).map_err(|e| Failure::Usage(e.into()))?;
        let mut settings = settings.clone();
        settings.template.relearn = true;
        let seeds = SeedList::from(vec![url.clone()]).in_new_run();
        let (summary, sites) = run_crawl(seeds, &settings, None, None)?;
        if summary.stats.learned == 0 {
            let reason = sites.first().and_then(|s| s.reason.clone());
            return Err(Failure::Nothing(anyhow!(reason.unwrap_or_else(|| "interrupted".to_owned()))));
        }
        let host = sites.first().map_or(url.host(), |s| s.host.as_str());
        let store = Store::open(Path::new(&settings.store.path)).map_err(|e| Failure::Work(e.into()))?;
        let template = store.load_template(host, None).map_err(|e| Failure::Work(e.into()))?;
        let template = template.ok_or_else(|| Failure::Nothing(anyhow!("{host}: the template was not stored")))?;
        if !self.json {
            writeln!(io::stdout(), "{}", site_table(&sites).render(terminal_width()))?;
        }
        self.print(&template)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Learns the site of --host in an archive, or of its first page. The key page is --key, or the first page.
    fn learn_archive(&self, settings: &Settings) -> Result<Template, Failure> {
        let path = Path::new(&self.source);
        let work = |e: crate::warc::WarcError| Failure::Nothing(e.into());
        let mut key: Option<PageUrl> = None;
        let mut found: FxHashMap<PageUrl, WarcPage> = FxHashMap::default();
        for page in undamaged_pages(path, settings.fetch.max_bytes).map_err(work)? {
            let page = page.map_err(work)?;
            let host = page.url.authority();
            if self.host.as_ref().is_some_and(|wanted| *wanted != host) {
                continue;
            }
            let first = key.get_or_insert_with(|| page.url.clone());
            if first.authority() == host {
                found.entry(page.url.clone()).or_insert(page);
            }
        }
        let first = key.ok_or_else(|| Failure::Nothing(anyhow!("{}: no HTML page of that host", path.display())))?;
        let named = first.join(&format!("/{}", self.key.trim_start_matches('/')));
        let key_url = named.filter(|url| found.contains_key(url)).unwrap_or(first);
        let read = |page: &WarcPage| {
            FoundPage::new(
                page.url.clone(),
                parse_bytes(&page.body, page.content_type.as_deref(), &settings.core.parse).0,
            )
        };
        let site = Site::of(&key_url, settings.core.learn.links.same_site);
        let learner = Learner::new(read(&found[&key_url]), site, None, &settings.core.learn);
        let learned = learner.run(|url| found.get(url).map(read));
        learned.template.ok_or_else(|| {
            Failure::Nothing(anyhow!(
                "{}: no template: no other page of {} shares anything with {key_url}",
                path.display(),
                key_url.host()
            ))
        })
    }

    fn learn_folder(&self, settings: &Settings) -> Result<Template, Failure> {
        let path = PathBuf::from(&self.source);
        let folder = Folder::open(&path)
            .map_err(|e| Failure::Usage(anyhow!(e).context("give a folder, or a URL with http://")))?;
        let host = match &self.host {
            Some(host) => host.clone(),
            None => folder_host(&path),
        };
        let key_url = url_of(&host, &format!("/{}", self.key.trim_start_matches('/')))
            .ok_or_else(|| Failure::Usage(anyhow!("{host}{} is not a valid URL; see --host and --key", self.key)))?;
        let served = folder
            .find(&key_url)
            .ok_or_else(|| Failure::Usage(anyhow!("{}: no page {}; --key names another", path.display(), self.key)))?;
        let read = |file: &Path, url: PageUrl| -> io::Result<FoundPage> {
            let bytes = std::fs::read(file)?;
            Ok(FoundPage::new(url, parse_bytes(&bytes, None, &settings.core.parse).0))
        };
        let key = read(&served.file, served.url.clone())
            .with_context(|| served.file.display().to_string())
            .map_err(Failure::Work)?;
        let site = Site::of(&key.url, settings.core.learn.links.same_site);
        let learned = Learner::new(key, site, None, &settings.core.learn).run(|url| {
            let served = folder.find(url)?;
            match read(&served.file, served.url) {
                Ok(page) => Some(page),
                Err(e) => {
                    tracing::warn!("{}: {e}, skipped", served.file.display());
                    None
                }
            }
        });
        let n_links = learned.n_links;
        learned.template.ok_or_else(|| {
            Failure::Nothing(anyhow!(
                "{}: no template: {n_links} links of {} lead to pages of the site, but none of them shares anything with it",
                path.display(),
                self.key
            ))
        })
    }

    fn print(&self, template: &Template) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            out.write_all(&template.to_json())?;
            return writeln!(out);
        }
        write_outline(template, &mut out)
    }
}

fn folder_host(path: &Path) -> String {
    let name = path.canonicalize().ok().and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()));
    // A name such as `2024` would be parsed as an IP address.
    let is_host = |name: &String| url_of(name, "/").is_some_and(|url| url.ip_literal().is_none());
    name.filter(is_host).unwrap_or_else(|| "localhost".to_owned())
}

/// Stores a template that was not learned in a crawl.
pub(super) fn store_template(db: &Path, settings: &Settings, template: &Template) -> Result<(), Failure> {
    let work = |e: crate::store::StoreError| Failure::Work(e.into());
    let store = Store::create(db, settings.store.zstd_level).map_err(work)?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    store.import_template(template, at).map_err(work)?;
    Ok(())
}
