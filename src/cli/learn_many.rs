//! Learns the sites of web archives, JSON lines and Common Crawl, each from a sample of its own pages.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use super::site_samples::{SampledSite, SiteSamples, key_page, learn_pages, rooted};
use dehusk_html::{PageUrl, Site, Tree};
use dehusk_settings::Settings;
use dehusk_template::learn_options::LabelBy;
use dehusk_template::learner::{FoundPage, Learner};
use dehusk_template::site_model::PageSample;
use dehusk_template::template::Template;

/// Pages of a site that are kept where links choose the training pages among them.
const MOST_LINKED: usize = 64;

/// Whether links choose the training pages: a key page is named, or something else than the site model labels.
pub(super) fn follows_links(key: Option<&str>, settings: &Settings) -> bool {
    key.is_some() || settings.core.learn.label_by != LabelBy::SiteModel
}

/// Pages of a site that are kept, at most.
pub(super) fn sample_size(key: Option<&str>, settings: &Settings) -> usize {
    if follows_links(key, settings) { MOST_LINKED } else { PageSample::<()>::SIZE }
}

/// Learns these sites on all cores. `key` is the path of their key pages. An error says why there is no template.
pub(super) fn learn_all(
    samples: &SiteSamples,
    sites: &[&SampledSite],
    key: Option<&str>,
    settings: &Settings,
) -> Vec<Result<Template, String>> {
    let learn = |site: &&SampledSite| {
        let pages = samples.pages(site, settings);
        match pages.len() {
            0 => return Err("no page".to_owned()),
            1 if key.is_none() => return Err("one page only".to_owned()),
            _ => {}
        }
        if follows_links(key, settings) {
            return by_links(pages, key, settings);
        }
        let n = pages.len();
        learn_pages(&pages, settings)
            .map(|(_, template)| template)
            .ok_or_else(|| format!("its {n} pages have nothing in common"))
    };
    sites.par_iter().map(learn).collect()
}

/// Learns a site from the pages that its key page links to. Where no link leads to a training page, all pages that are
/// there are tried.
fn by_links(pages: Vec<(PageUrl, Tree)>, key: Option<&str>, settings: &Settings) -> Result<Template, String> {
    let n = pages.len();
    let key_url = match key {
        Some(path) => {
            let named = pages[0].0.join(&rooted(path));
            named
                .filter(|named| pages.iter().any(|(url, _)| url == named))
                .ok_or_else(|| format!("no page {path} among {n} pages; --key names another"))?
        }
        None => key_page(pages.iter().map(|(url, _)| url)).map(|at| pages[at].0.clone()).ok_or("no page")?,
    };
    let urls: Vec<PageUrl> = pages.iter().map(|(url, _)| url.clone()).filter(|url| *url != key_url).collect();
    let mut pages: FxHashMap<PageUrl, Tree> = pages.into_iter().collect();
    let key = pages.remove(&key_url).ok_or("no key page")?;
    let site = Site::new(&key_url, settings.core.learn.links.same_site);
    let find = |url: &PageUrl| Some(FoundPage::new(url.clone(), pages.remove(url)?));
    let key = FoundPage::new(key_url.clone(), key);
    let learned = Learner::new(key, site, None, &settings.core.learn).run_offered(find, || urls);
    learned.template.ok_or_else(|| match n {
        1 => "one page only".to_owned(),
        n => format!("none of the other {} pages shares anything with {key_url}", n - 1),
    })
}
