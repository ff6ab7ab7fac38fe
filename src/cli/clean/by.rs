//! By what the pages of `dehusk clean` are cleaned.

use std::path::PathBuf;

use anyhow::{Context, anyhow};

use super::{Clean, is_url, now_ms};
use crate::cli::documents::{Reading, byte_bar};
use crate::cli::learned_sites::Models;
use crate::cli::loaded_page::Loaded;
use crate::cli::models;
use crate::cli::site_pages::site_pages;
use crate::cli::stored_templates::{Choice, StoredPage, StoredTemplates};
use crate::cli::{Failure, method_named, open_store};
use dehusk_html::PageUrl;
use dehusk_html::Tree;
use dehusk_papers::method_table::{MethodEntry, Model};
use dehusk_settings::Settings;
use dehusk_store::{Store, StoreError};
use dehusk_template::method::Method;
use dehusk_template::template::Template;

/// Maximum number of pages of --like that are used.
const MOST_LIKE: usize = 64;

/// How pages are cleaned.
pub(super) enum By {
    /// By the template of their site, if it has one.
    Store(StoredTemplates),
    /// By the model of their site, learned from these sources.
    Learned(Box<Models>),
    /// By the template that --site names.
    Site(Choice),
    /// No site is stored.
    Nothing,
    /// Each page alone.
    Alone,
    /// Another method, with its learned model.
    Method(&'static MethodEntry, Option<Model>),
}

/// The host of a site that was named by its host or by a URL.
fn host_of(site: &str) -> String {
    PageUrl::parse(site).map_or_else(|_| site.to_owned(), |url| url.authority())
}

/// The templates of a collection that `dehusk cluster --store` has stored; of the only one, if none is named.
fn collection(name: Option<&str>, settings: &Settings) -> Result<Model, Failure> {
    let work = |e: StoreError| Failure::Work(e.into());
    let store = dehusk_store::may_exist(&settings.store.path).then(|| open_store(settings)).transpose()?;
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

impl By {
    /// The method that was named.
    pub(super) fn method(&self) -> Option<&'static MethodEntry> {
        if let By::Method(method, _) = self { Some(method) } else { None }
    }

    /// Whether nothing is known of the site of a page that came by its address, so that it is to be learned.
    pub(super) fn needs_links(&self, page: &Loaded) -> Result<bool, Failure> {
        match self {
            By::Nothing => Ok(true),
            By::Store(_) => Ok(matches!(choose(page, self).map_err(Failure::Work)?, Choice::Alone)),
            By::Method(method, model) => Ok(method.is_site_method() && model.is_none()),
            By::Learned(_) | By::Site(_) | By::Alone => Ok(false),
        }
    }
}

impl Clean {
    pub(super) fn by(&self, pages: &[String], settings: &Settings) -> Result<By, Failure> {
        if self.learn {
            return self.by_learning(pages, settings);
        }
        let method = match &self.method {
            Some(name) => method_named(name)?,
            None if !self.like.is_empty() => method_named(Method::of_label_by(settings.core.learn.label_by).name())?,
            None if self.alone => return Ok(By::Alone),
            None if self.models.is_some() => {
                let registry = models::open(self.models.as_deref().unwrap_or_default())?;
                registry.check().map_err(|e| Failure::Work(e.into()))?;
                return Ok(By::Store(StoredTemplates::of_registry(registry)));
            }
            None => return self.by_store(pages, settings),
        };
        let name = method.method;
        if self.records && !matches!(name, Method::Mdr | Method::Tps) {
            return Err(Failure::Usage(anyhow!("--records: {name} finds no data records; mdr and tps do")));
        }
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
            (true, true) if self.site.is_none() && pages.iter().all(|page| is_url(page)) => {
                Ok(By::Method(method, None))
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
                let model = method.learn(&trees.iter().collect::<Vec<_>>(), &settings.core, &settings.papers);
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

    fn by_learning(&self, pages: &[String], settings: &Settings) -> Result<By, Failure> {
        if let Some(url) = pages.iter().find(|page| is_url(page)) {
            return Err(Failure::Usage(anyhow!("{url}: --learn learns from files, archives and standard input")));
        }
        let sources: Vec<PathBuf> = pages.iter().map(PathBuf::from).collect();
        let bar = byte_bar(&sources, "learned");
        let work = |e: StoreError| Failure::Work(e.into());
        let store = self.save.as_deref().map(|path| Store::create(path, settings.store.zstd_level)).transpose();
        let store = store.map_err(work)?;
        let at = now_ms();
        let save = |template: &Template| {
            store.as_ref().map_or(Ok(()), |store| store.import_template(template, at).map(drop)).map_err(Into::into)
        };
        let learned = Models::learn(&sources, &self.fields, settings, &bar, save);
        bar.finish_and_clear();
        let (models, learned) = learned.map_err(Failure::Work)?;
        tracing::info!("{} sites learned, {} have one page or nothing in common", learned.sites, learned.without);
        if learned.nameless > 0 {
            tracing::warn!(
                "{} pages have no URL, so nothing says which site they are of; they are cleaned by themselves (JSON lines with \
                 `url`, archives and Parquet files have URLs; `dehusk learn FOLDER` takes a folder for one site)",
                learned.nameless
            );
        }
        Ok(By::Learned(Box::new(models)))
    }

    fn has_named_store(&self, settings: &Settings) -> bool {
        settings.store.path != Settings::default().store.path
    }

    fn by_store(&self, pages: &[String], settings: &Settings) -> Result<By, Failure> {
        let store = match open_store(settings) {
            Ok(store) => store,
            // A database that somebody has named is expected to be there.
            Err(Failure::Work(error))
                if self.site.is_none() && is_missing(&error) && !self.has_named_store(settings) =>
            {
                if !pages.iter().all(|page| is_url(page)) {
                    tracing::warn!("{}: no such database; every page is cleaned by itself", settings.store.path);
                }
                return Ok(By::Nothing);
            }
            Err(failure) => return Err(failure),
        };
        let templates = StoredTemplates::new(store, settings);
        match &self.site {
            Some(site) => Ok(By::Site(templates.named(&host_of(site)).map_err(Failure::Nothing)?)),
            None => Ok(By::Store(templates)),
        }
    }
}

/// What cleans a page.
pub(super) fn choose(page: &Loaded, by: &By) -> anyhow::Result<Choice> {
    match by {
        By::Store(templates) => {
            let host = page.url.as_ref().map(PageUrl::authority);
            Ok(templates.choose(&StoredPage { name: &page.name, tree: &page.tree, host })?)
        }
        By::Learned(models) => {
            let Some(host) = page.url.as_ref().map(PageUrl::authority) else { return Ok(Choice::Alone) };
            Ok(models.matcher(&host)?.map_or(Choice::Alone, |model| Choice::Site(host, model)))
        }
        By::Site(choice) => Ok(choice.clone()),
        By::Nothing | By::Alone | By::Method(..) => Ok(Choice::Alone),
    }
}

fn is_missing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Missing { .. }))
}

/// The first [`MOST_LIKE`] pages of these sources.
fn like(sources: &[PathBuf], settings: &Settings) -> Result<Vec<Tree>, Failure> {
    let reading = Reading::new(settings);
    let pages = reading.all(sources).filter(|found| found.as_ref().map_or(true, |found| found.is_page));
    let trees = pages.take(MOST_LIKE).map(|found| Ok(found?.tree(&settings.core.parse)));
    trees.collect::<anyhow::Result<Vec<Tree>>>().context("--like").map_err(Failure::Nothing)
}
