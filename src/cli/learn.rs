//! `dehusk learn`: learns templates from a folder, from web archives or over the network.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};

use super::crawl::{run_crawl, site_table};
use super::documents::{Crawls, FieldName, byte_bar, is_common_crawl, named_hosts};
use super::learn_many::{learn_all, sample_size};
use super::objects::{is_object, read_failure};
use super::site_samples::{SampledSite, Sampling};
use super::table::{Table, count, terminal_width};
use super::terminal::stdout;
use super::{Failure, Outcome, exit, open_store};
use crate::outline::{write_outline, write_summary};
use dehusk_crawl::SeedList;
use dehusk_crawl::sitemap::parse_announced;
use dehusk_files::folder::{Folder, url_of};
use dehusk_html::parse_bytes;
use dehusk_html::{PageUrl, Site};
use dehusk_settings::Settings;
use dehusk_store::Store;
use dehusk_template::learner::{FoundPage, Learner};
use dehusk_template::template::Template;

/// Learn templates from a folder of pages, a web archive, JSON lines with `url` and `html`, Common Crawl, or a URL.
///
/// Of an archive, every site is learned from nine of its pages, or that of --host. The same holds for the hosts of a
/// crawl of Common Crawl (cc:CC-MAIN-2026-40/docs.example.org, or --sites), whose pages are found by its index and
/// fetched one by one. In a folder, pages are found as by a web server: /x is x,
/// x.html, or x/index.html after a redirect; where the key page has no usable link, sitemap.xml is read. With a URL
/// the site is crawled as by `dehusk crawl`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk learn mirror/www.example.org
  dehusk learn mirror/www --key /docs/index.html --host docs.example.org --db dehusk.db
  dehusk learn https://docs.example.org/ --db dehusk.db
  dehusk learn crawl.warc.gz --db dehusk.db
  dehusk learn cc:CC-MAIN-2026-40 --sites hosts.txt --db models.db
  curl -s https://archive.example.org/a.warc.gz | dehusk learn - --host docs.example.org
  dehusk learn mirror/www --json > template.json")]
pub(super) struct Learn {
    /// Folder with the root of the site, web archive, JSON lines (each of these two also in an object store), - for
    /// standard input, cc:CRAWL or cc:CRAWL/HOST of Common Crawl, or URL of the key page.
    source: String,
    /// Path of the key page [default: /index.html in a folder, else the shortest path].
    #[arg(long, value_name = "PATH")]
    key: Option<String>,
    /// With cc:CRAWL: a list of hosts or addresses, whose sites are learned.
    #[arg(long, value_name = "FILE")]
    sites: Option<PathBuf>,
    /// With cc:CRAWL: only sites without a template in the database, so that a call that was killed goes on.
    #[arg(long)]
    missing: bool,
    /// Host of the site; links to it are links within the site [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Fields or columns that documents are read from, in place of html, url and id: html=page,url=address.
    #[arg(long, value_name = "html=NAME", value_delimiter = ',', value_parser = FieldName::parse)]
    fields: Vec<FieldName>,
    /// Print every node of the template.
    #[arg(long)]
    outline: bool,
    /// Print the template as JSON.
    #[arg(long)]
    json: bool,
}

impl Learn {
    /// Templates of files are stored only if --db names a database.
    pub(super) fn run(&self, settings: &Settings, db: Option<&Path>) -> Outcome {
        if self.missing && !is_common_crawl(&self.source) {
            return Err(Failure::Usage(anyhow!("--missing concerns hosts of Common Crawl: cc:CRAWL, cc:CRAWL/HOST")));
        }
        if is_object(&self.source) || is_common_crawl(&self.source) {
            return self.learn_documents(settings, db);
        }
        if self.source.contains("://") {
            return self.learn_url(settings);
        }
        if Path::new(&self.source).is_dir() {
            return self.give(self.learn_folder(settings)?, settings, db);
        }
        if self.source != "-" && !Path::new(&self.source).exists() {
            let source = &self.source;
            return Err(Failure::Usage(anyhow!("{source}: no such folder or file; a URL begins with http://")));
        }
        self.learn_documents(settings, db)
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
        let template = store.load_template_with_blocks(host, None, &settings.core.parse);
        let template = template.map_err(|e| Failure::Work(e.into()))?;
        let template = template.ok_or_else(|| Failure::Nothing(anyhow!("{host}: the template was not stored")))?;
        if !self.json {
            writeln!(stdout(), "{}", site_table(&sites).render(terminal_width()))?;
        }
        self.print(&template, Some(Path::new(&settings.store.path)))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Learns the sites of archives, or that of --host.
    fn learn_documents(&self, settings: &Settings, db: Option<&Path>) -> Outcome {
        let sources = named_hosts(std::slice::from_ref(&self.source), self.sites.as_deref(), None)?;
        let sources: Vec<PathBuf> = self.unknown(sources, settings)?.into_iter().map(PathBuf::from).collect();
        if sources.is_empty() {
            writeln!(stdout(), "{}: all sites have a template", settings.store.path)?;
            return Ok(ExitCode::SUCCESS);
        }
        let (key, bar) = (self.key.as_deref(), byte_bar(&sources, "learned"));
        let most = sample_size(key, settings);
        let crawls = Crawls::new(settings);
        let sampling = Sampling { settings, most, key, named: &self.fields, tells_failures: true, crawls, bar: &bar };
        let (mut outcomes, mut nameless) = (Vec::new(), 0);
        // Templates are stored as they are learned: a call that is killed has not worked for nothing.
        for sources in sources.chunks(if is_common_crawl(&self.source) { HOSTS_AT_ONCE } else { usize::MAX }) {
            let samples = sampling.read(sources).map_err(Failure::Work)?;
            nameless += samples.nameless;
            let mut sites: Vec<&SampledSite> = samples.sites.iter().collect();
            if let Some(host) = &self.host {
                sites.retain(|site| site.host == *host);
            }
            if key.is_some() && sites.len() > 1 {
                let n = sites.len();
                return Err(Failure::Usage(anyhow!("{} holds {n} sites; name one with --host", self.source)));
            }
            for sites in sites.chunks(SITES_AT_ONCE) {
                let learned = learn_all(&samples, sites, key, settings);
                if let Some(db) = db {
                    learned.iter().flatten().try_for_each(|template| store_template(db, settings, template))?;
                }
                let keeps = self.json || (outcomes.is_empty() && sites.len() == 1);
                let learned =
                    learned.into_iter().map(|outcome| outcome.map(|template| LearnedSite::new(template, keeps)));
                outcomes.extend(sites.iter().map(|site| site.host.clone()).zip(learned));
                bar.set_message(format!("{} sites", count(outcomes.len())));
            }
        }
        bar.finish_and_clear();
        if let Some(failure) = read_failure() {
            return Err(Failure::Work(anyhow!(failure)));
        }
        if nameless > 0 {
            tracing::warn!("{nameless} pages have no URL, so their site is not known; they were skipped");
        }
        match outcomes.as_slice() {
            [] if nameless == 0 && self.host.is_none() => {
                Err(Failure::Nothing(anyhow!("{}: no page with a URL", self.source)))
            }
            [] if self.host.is_none() => {
                Err(Failure::Nothing(anyhow!("{}: no page has a URL, so that no site is known", self.source)))
            }
            [] => Err(Failure::Nothing(anyhow!("{}: no page of that host", self.source))),
            [(_, Ok(LearnedSite { template: Some(template), .. }))] => {
                self.print(template, db)?;
                Ok(ExitCode::SUCCESS)
            }
            [(_, Err(why))] => Err(Failure::Nothing(anyhow!("{}: no template: {why}", self.source))),
            _ => self.print_sites(&outcomes, db),
        }
    }

    /// The sources whose sites have no template in the database, where only these are asked for.
    fn unknown(&self, sources: Vec<String>, settings: &Settings) -> Result<Vec<String>, Failure> {
        if !self.missing || !dehusk_store::may_exist(&settings.store.path) {
            return Ok(sources);
        }
        let store = open_store(settings)?;
        let mut missing = Vec::new();
        for source in sources {
            let host = source.rsplit_once('/').map_or("", |(_, host)| host);
            if store.list_templates(Some(host), false).map_err(|e| Failure::Work(e.into()))?.is_empty() {
                missing.push(source);
            }
        }
        Ok(missing)
    }

    fn print_sites(&self, outcomes: &[(String, Result<LearnedSite, String>)], db: Option<&Path>) -> Outcome {
        let learned: Vec<&LearnedSite> = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()).collect();
        let mut out = stdout();
        if self.json {
            let templates = learned.iter().filter_map(|site| site.template.as_ref());
            let templates: Result<Vec<serde_json::Value>, _> =
                templates.map(|template| serde_json::from_slice(&template.to_json())).collect();
            let templates = templates.map_err(|e| Failure::Work(e.into()))?;
            writeln!(out, "{}", serde_json::json!({"schema": 1, "templates": templates}))?;
        } else {
            let mut table = Table::new(&["site", "template", "of", "why not"]);
            for (host, outcome) in outcomes {
                let (nodes, of, why) = match outcome {
                    Ok(site) => (site.n_nodes.to_string(), site.key_nodes.to_string(), String::new()),
                    Err(why) => ("-".to_owned(), "-".to_owned(), why.clone()),
                };
                table.row(vec![host.clone(), nodes, of, why]);
            }
            write!(out, "{}", table.render(terminal_width()))?;
            writeln!(out, "{} of {} sites have a template; {}", learned.len(), outcomes.len(), stored(db))?;
        }
        Ok(if learned.is_empty() { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
    }

    /// Stores a template where --db names a database, and prints it.
    fn give(&self, template: Template, settings: &Settings, db: Option<&Path>) -> Outcome {
        if let Some(db) = db {
            store_template(db, settings, &template)?;
        }
        self.print(&template, db)?;
        Ok(ExitCode::SUCCESS)
    }

    fn learn_folder(&self, settings: &Settings) -> Result<Template, Failure> {
        let path = PathBuf::from(&self.source);
        let folder = Folder::open(&path)
            .map_err(|e| Failure::Usage(anyhow!(e).context("give a folder, or a URL with http://")))?;
        let host = match &self.host {
            Some(host) => host.clone(),
            None => folder_host(&path),
        };
        let key_path = self.key.as_deref().unwrap_or("/index.html");
        let key_url = url_of(&host, &format!("/{}", key_path.trim_start_matches('/')))
            .ok_or_else(|| Failure::Usage(anyhow!("{host}{key_path} is not a valid URL; see --host and --key")))?;
        let served = folder.find(&key_url).ok_or_else(|| {
            Failure::Usage(anyhow!(
                "{0}: no page {key_path}; --key names another. A folder is taken for the pages of one site; name the \
                     archives in it one by one, or clean them with `dehusk clean {0} --learn --save FILE`",
                path.display()
            ))
        })?;
        let read = |file: &Path, url: PageUrl| -> io::Result<FoundPage> {
            let bytes = std::fs::read(file)?;
            Ok(FoundPage::new(url, parse_bytes(&bytes, None, &settings.core.parse).0))
        };
        let key = read(&served.file, served.url.clone())
            .with_context(|| served.file.display().to_string())
            .map_err(Failure::Work)?;
        let (site, root) = (Site::new(&key.url, settings.core.learn.links.same_site), key.url.clone());
        let find = |url: &PageUrl| {
            let served = folder.find(url)?;
            match read(&served.file, served.url) {
                Ok(page) => Some(page),
                Err(e) => {
                    tracing::warn!("{}: {e}, skipped", served.file.display());
                    None
                }
            }
        };
        let learned =
            Learner::new(key, site, None, &settings.core.learn).run_offered(find, || announced(&folder, &root));
        let n_links = learned.n_links;
        learned.template.ok_or_else(|| {
            let sitemap = match announced(&folder, &root).len() {
                0 => format!("and {SITEMAP} names no page of the folder"),
                n => format!("and neither does one of {n} pages of {SITEMAP}"),
            };
            Failure::Nothing(anyhow!(
                "{}: no template: {n_links} links of {key_path} lead to pages of the site, none of them shares \
                 anything with it, {sitemap}",
                path.display(),
            ))
        })
    }

    fn print(&self, template: &Template, db: Option<&Path>) -> io::Result<()> {
        let mut out = stdout();
        if self.json {
            out.write_all(&template.to_json())?;
            return writeln!(out);
        }
        if self.outline {
            return write_outline(template, false, &mut out);
        }
        write_summary(template, &mut out)?;
        writeln!(out, "{}", stored(db))
    }
}

/// What was learned of a site. Of many sites the templates are stored, and not kept in memory.
struct LearnedSite {
    n_nodes: usize,
    key_nodes: usize,
    template: Option<Template>,
}

impl LearnedSite {
    fn new(template: Template, keeps: bool) -> LearnedSite {
        let (n_nodes, key_nodes) = (template.n_nodes(), template.key_nodes);
        LearnedSite { n_nodes, key_nodes, template: keeps.then_some(template) }
    }
}

/// Hosts of Common Crawl whose pages are fetched before they are learned.
const HOSTS_AT_ONCE: usize = 256;

/// Sites that are learned before their templates are stored.
const SITES_AT_ONCE: usize = 64;

/// The sitemap of a folder, which is read where the key page has no usable link.
const SITEMAP: &str = "/sitemap.xml";

/// Pages of a sitemap that are tried.
const MAX_OFFERED: usize = 100;

/// Sitemaps of a folder that are read.
const MAX_SITEMAPS: usize = 20;

/// The pages of the folder that its sitemap and those that it lists announce. A mirror has another name than its site,
/// so that only paths count.
fn announced(folder: &Folder, root: &PageUrl) -> Vec<PageUrl> {
    let here = |from: &PageUrl, url: &str| root.join(from.join(url)?.path());
    let (mut sitemaps, mut pages): (Vec<PageUrl>, Vec<PageUrl>) =
        (root.join(SITEMAP).into_iter().collect(), Vec::new());
    let mut at = 0;
    while let Some(sitemap) = sitemaps.get(at).cloned().filter(|_| at < MAX_SITEMAPS && pages.len() < MAX_OFFERED) {
        at += 1;
        let Ok(bytes) = folder.read(sitemap.path()) else { continue };
        let found = parse_announced(&bytes);
        for further in found.sitemaps.iter().filter_map(|url| here(&sitemap, url)).take(MAX_SITEMAPS) {
            if !sitemaps.contains(&further) {
                sitemaps.push(further);
            }
        }
        let stored =
            found.pages.iter().filter_map(|url| here(&sitemap, url)).filter(|page| folder.find(page).is_some());
        pages.extend(stored.take(MAX_OFFERED - pages.len()));
    }
    pages
}

/// Where templates were stored, and what to do next.
fn stored(db: Option<&Path>) -> String {
    match db {
        Some(db) => format!("stored in {}; `dehusk templates show HOST --db {}` prints it", db.display(), db.display()),
        None => "not stored: --db FILE stores it, --outline prints it".to_owned(),
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
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    let store = Store::create(db, settings.store.zstd_level).map_err(work)?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    store.import_template(template, at).map_err(work)?;
    Ok(())
}
