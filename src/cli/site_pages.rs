//! The stored pages of a site as training pages for any method: in the order in which its links lead to them.

use anyhow::anyhow;

use super::{Failure, open_store};
use dehusk_html::{PageUrl, Site};
use dehusk_html::{Tree, parse_bytes};
use dehusk_papers::method_table::MethodEntry;
use dehusk_settings::Settings;
use dehusk_store::{PageRow, Store, StoreError};
use dehusk_template::learner::{FoundPage, Learner};

/// The key page of a stored site and the stored pages that a method would load from there, in its link order.
pub(super) fn site_pages(host: &str, method: &MethodEntry, settings: &Settings) -> Result<Vec<Tree>, Failure> {
    let store = open_store(settings)?;
    let work = |e: StoreError| Failure::Work(e.into());
    let template = store.load_template(host, None).map_err(work)?;
    let rows = store.list_pages(Some(host)).map_err(work)?;
    let key = match &template {
        Some(template) => store.find_page(&template.key_url).map_err(work)?,
        None => None,
    };
    let Some(key) = key.or_else(|| rows.into_iter().min_by_key(|row| row.url.len())) else {
        return Err(Failure::Nothing(anyhow!("no stored pages of {host}; `dehusk crawl http://{host}/` stores some")));
    };
    let options = method.options(&settings.core).learn;
    let url = PageUrl::parse(&key.url).map_err(|e| Failure::Nothing(e.into()))?;
    let key = FoundPage::new(url.clone(), tree(&store, &key, settings).map_err(work)?);
    let learner = Learner::new(key, Site::new(&url, options.links.same_site), None, &options);
    let load = |url: &PageUrl| {
        let row = store.find_page(url.as_str()).ok()??;
        Some(FoundPage::new(url.clone(), tree(&store, &row, settings).ok()?))
    };
    let learned = learner.run(load);
    let trees = std::iter::once(learned.key).chain(learned.pages).map(|page| page.tree);
    Ok(trees.collect())
}

fn tree(store: &Store, row: &PageRow, settings: &Settings) -> Result<Tree, StoreError> {
    Ok(parse_bytes(&store.load_raw(row)?, row.content_type.as_deref(), &settings.core.parse).0)
}
