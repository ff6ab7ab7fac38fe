//! What is known of the site of a page: its template, and what its pages have in common in their metadata.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use dehusk_core::SiteMetadata;
use dehusk_core::clean::{KeepText, TemplateMatcher};
use dehusk_html::PageUrl;
use dehusk_html::{Tree, parse_bytes};
use dehusk_settings::Settings;
use dehusk_store::{Store, StoreError};

/// Sites that are kept. When there are more, all are dropped.
const MOST_SITES: usize = 512;

/// Pages of a site that are read for what they have in common.
const SAMPLE: usize = 8;

/// A site.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) matcher: Option<Arc<TemplateMatcher>>,
    pub(super) version: Option<i64>,
    pub(super) metadata: Arc<SiteMetadata>,
}

/// The sites of an export.
#[derive(Default)]
pub(super) struct Sites {
    known: FxHashMap<String, Site>,
}

impl Sites {
    pub(super) fn load(
        &mut self,
        store: &Store,
        host: &str,
        upto: i64,
        settings: &Settings,
    ) -> Result<Site, StoreError> {
        if let Some(site) = self.known.get(host) {
            return Ok(site.clone());
        }
        let template = match settings.core.clean.keep {
            KeepText::Own => store.load_template(host, None)?,
            _ => store.load_template_with_blocks(host, None, &settings.core.parse)?,
        };
        let version = store.list_templates(Some(host), false)?.first().map(|row| row.version);
        let matcher = template.map(|template| Arc::new(TemplateMatcher::from_template(&template)));
        let metadata = Arc::new(metadata_of(store, host, upto, settings)?);
        if self.known.len() >= MOST_SITES {
            self.known.clear();
        }
        let site = Site { matcher, version, metadata };
        self.known.insert(host.to_owned(), site.clone());
        Ok(site)
    }
}

fn metadata_of(store: &Store, host: &str, upto: i64, settings: &Settings) -> Result<SiteMetadata, StoreError> {
    let mut pages: Vec<(Tree, Option<PageUrl>)> = Vec::new();
    for row in store.sample_pages(host, upto, SAMPLE)? {
        // One that cannot be read is reported where it is exported.
        let Ok(body) = store.load_raw(&row) else { continue };
        let (tree, _) = parse_bytes(&body, row.content_type.as_deref(), &settings.core.parse);
        pages.push((tree, PageUrl::parse(&row.url).ok()));
    }
    Ok(SiteMetadata::learn(&pages))
}
