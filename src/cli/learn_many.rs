//! Learns the sites of web archives and JSON lines, each from its own pages.

use std::path::PathBuf;

use anyhow::anyhow;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use super::Failure;
use super::documents::{FoundDocument, Reading};
use dehusk_html::{PageUrl, Site};
use dehusk_settings::Settings;
use dehusk_template::learner::{FoundPage, Learner};
use dehusk_template::template::Template;

/// Pages of a site that are kept; and while memory is short.
const MOST_PAGES: usize = 64;
const FEW_PAGES: usize = 9;

/// The pages of one site.
pub(super) struct SitePages {
    /// Its host, with a port that is not the default.
    pub(super) host: String,
    key: PageUrl,
    pages: FxHashMap<PageUrl, FoundDocument>,
}

impl SitePages {
    /// The pages of all sites of these sources, in the order in which their first pages come. Of a large site, the
    /// first pages.
    pub(super) fn read(sources: &[PathBuf], settings: &Settings) -> Result<Vec<SitePages>, Failure> {
        let reading = Reading::new(false, None, settings.fetch.max_bytes);
        let (mut sites, mut places) = (Vec::<SitePages>::new(), FxHashMap::<String, usize>::default());
        let (mut bytes, mut without_url) = (0, 0_usize);
        for found in reading.all(sources) {
            let Some(found) = reading.readable(vec![found]).pop().filter(|found| found.is_page) else { continue };
            let Some(url) = found.url.clone() else {
                without_url += 1;
                continue;
            };
            let host = url.authority();
            let at = *places.entry(host.clone()).or_insert(sites.len());
            if at == sites.len() {
                sites.push(SitePages { host, key: url.clone(), pages: FxHashMap::default() });
            }
            let most = if bytes < settings.crawl.memory / 2 { MOST_PAGES } else { FEW_PAGES };
            if sites[at].pages.len() < most && !sites[at].pages.contains_key(&url) {
                bytes += found.n_bytes();
                sites[at].pages.insert(url, found);
            }
        }
        if without_url > 0 {
            tracing::warn!("{without_url} pages have no URL, so their site is not known; they were skipped");
        }
        if sites.is_empty() {
            let names = sources.iter().map(|source| source.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(Failure::Nothing(anyhow!("{names}: no page with a URL")));
        }
        Ok(sites)
    }

    /// Makes the page at this path the key page; without it, or where there is none, it is the first page.
    pub(super) fn with_key(mut self, path: Option<&str>) -> Result<SitePages, Failure> {
        if let Some(path) = path {
            let named = self.key.join(&format!("/{}", path.trim_start_matches('/')));
            self.key = named.filter(|url| self.pages.contains_key(url)).ok_or_else(|| {
                Failure::Usage(anyhow!(
                    "{}: no page {path} among {} pages; --key names another",
                    self.host,
                    self.pages.len()
                ))
            })?;
        }
        Ok(self)
    }

    /// Its template, or why there is none. Where no link of the key page leads to a training page, all pages that are
    /// there are tried, in an order that does not depend on that of the source.
    pub(super) fn learn(&self, settings: &Settings) -> Result<Template, String> {
        let read = |url: &PageUrl| {
            let found = self.pages.get(url)?;
            Some(FoundPage::new(url.clone(), found.tree(&settings.core.parse)))
        };
        let key = read(&self.key).ok_or_else(|| "no key page".to_owned())?;
        let site = Site::new(&self.key, settings.core.learn.links.same_site);
        let others = || {
            let mut others: Vec<PageUrl> = self.pages.keys().filter(|url| **url != self.key).cloned().collect();
            others.sort_by_key(PageUrl::fingerprint);
            others
        };
        let learned = Learner::new(key, site, None, &settings.core.learn).run_offered(|url| read(url), others);
        learned.template.ok_or_else(|| match self.pages.len() {
            1 => "one page only".to_owned(),
            n => format!("none of the other {} pages shares anything with {}", n - 1, self.key),
        })
    }
}

/// Learns all sites on all cores.
pub(super) fn learn_all(sites: &[SitePages], settings: &Settings) -> Vec<Result<Template, String>> {
    sites.par_iter().map(|site| site.learn(settings)).collect()
}
