//! A page by its address, of a site that is not stored: the site is learned from the few pages that the page links to
//! (Gottron 2008, section 2: one page is given, and the others are found by its links).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::Runtime;

use crate::cli::loaded_page::{Loaded, of_response};
use crate::cli::stored_templates::Choice;
use dehusk_core::calendar::year;
use dehusk_core::clean::TemplateMatcher;
use dehusk_crawl::Single;
use dehusk_crawl::scope::Scope;
use dehusk_html::{PageUrl, Site};
use dehusk_papers::method_table::{MethodEntry, Model};
use dehusk_settings::Settings;
use dehusk_template::learner::{FoundPage, Learned, Learner};

/// What was learned of a site.
pub(super) enum OfSite {
    /// The model of a method that was named.
    Model(Model),
    /// The template, or none.
    Choice(Choice),
}

/// The sites that were learned in this call, by host and port.
pub(super) struct LinkedSites<'s> {
    settings: &'s Settings,
    /// The method that was named; `None`: the one of the settings.
    method: Option<&'static MethodEntry>,
    known: HashMap<String, OfSite>,
}

impl<'s> LinkedSites<'s> {
    pub(super) fn new(settings: &'s Settings, method: Option<&'static MethodEntry>) -> LinkedSites<'s> {
        LinkedSites { settings, method, known: HashMap::new() }
    }

    /// What is known of the site of a page. A site that is not known yet is learned, one request after the other.
    pub(super) fn of(&mut self, page: &Loaded, network: &mut Single, runtime: &Runtime, now: i64) -> &OfSite {
        let host = page.url.as_ref().map(PageUrl::authority).unwrap_or_default();
        match self.known.entry(host) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let host = unknown.key().clone();
                let learned = learned(page, self.method, self.settings, network, runtime, now);
                unknown.insert(read(&host, learned, self.method, self.settings))
            }
        }
    }
}

/// The pages that a page links to, as many as the search wants.
fn learned(
    page: &Loaded,
    method: Option<&MethodEntry>,
    settings: &Settings,
    network: &mut Single,
    runtime: &Runtime,
    now: i64,
) -> Option<Learned> {
    let url = page.url.clone()?;
    let options = method.map_or_else(|| settings.core.clone(), |method| method.options(&settings.core)).learn;
    let scope = Arc::new(Scope::new(&settings.crawl, year(now)));
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::default_spinner());
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let found = |url: PageUrl, loaded: Loaded| FoundPage {
        fetched: loaded.url.clone().unwrap_or_else(|| url.clone()),
        url: loaded.url.unwrap_or(url),
        tree: loaded.tree,
        nofollow: loaded.rules.nofollow,
    };
    let key = FoundPage { nofollow: page.rules.nofollow, ..FoundPage::new(url.clone(), page.tree.clone()) };
    let site = Site::new(&url, options.links.same_site);
    let mut n_loaded = 0;
    let learned = Learner::new(key, site, Some(scope.link_filter()), &options).run(|url| {
        n_loaded += 1;
        bar.set_message(format!("{n_loaded} pages loaded to learn the site: {url}"));
        match runtime.block_on(network.fetch(url)) {
            Ok(response) => Some(found(url.clone(), of_response(url.as_str(), &response, settings))),
            Err(error) => {
                tracing::debug!("{error}");
                None
            }
        }
    });
    bar.finish_and_clear();
    Some(learned)
}

/// What the pages of a site say, and a message of what was loaded.
fn read(host: &str, learned: Option<Learned>, method: Option<&MethodEntry>, settings: &Settings) -> OfSite {
    let alone = OfSite::Choice(Choice::Alone);
    let Some(learned) = learned else { return alone };
    let n = learned.pages.len();
    let of_site = match method {
        Some(method) => {
            let trees: Vec<_> = std::iter::once(&learned.key).chain(&learned.pages).map(|page| &page.tree).collect();
            method.learn(&trees, &settings.core, &settings.papers).map(OfSite::Model)
        }
        None => learned.template.as_ref().map(|template| {
            let matcher = TemplateMatcher::learned(template, learned.training_set);
            OfSite::Choice(Choice::Site(host.to_owned(), Arc::new(matcher)))
        }),
    };
    match of_site {
        Some(found) => {
            tracing::info!(
                "{host}: learned from {n} pages that it links to; `dehusk learn URL --db FILE` keeps a site"
            );
            found
        }
        None => {
            tracing::warn!("{host}: {n} pages that it links to were loaded, which share nothing; cleaned by itself");
            alone
        }
    }
}
