//! The templates of sites, prepared for many pages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::serve::Refusal;
use dehusk_core::clean::TemplateMatcher;
use dehusk_html::ParseOptions;
use dehusk_store::Store;

/// Templates that are kept. Where there are more, all are dropped.
const MOST_KEPT: usize = 1024;

/// Time after which a newer template of a site is looked for.
const FRESH_FOR: Duration = Duration::from_secs(2);

/// A template of a site, and its version.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) host: String,
    pub(super) version: i64,
    pub(super) matcher: Arc<TemplateMatcher>,
}

struct Kept {
    model: Option<Model>,
    looked: Instant,
}

/// The newest templates, by host.
#[derive(Default)]
pub(super) struct Models(Mutex<HashMap<String, Kept>>);

impl Models {
    /// The newest template of a host, if it has one.
    pub(super) fn of(&self, store: &Store, host: &str, options: &ParseOptions) -> Result<Option<Model>, Refusal> {
        if let Some(kept) = self.lock().get(host).filter(|kept| kept.looked.elapsed() < FRESH_FOR) {
            return Ok(kept.model.clone());
        }
        let newest = store.list_templates(Some(host), false)?.into_iter().next();
        let version = newest.map(|row| row.version);
        let known = self.lock().get(host).and_then(|kept| kept.model.clone());
        let model = match (known, version) {
            (Some(known), Some(version)) if known.version == version => Some(known),
            (_, Some(version)) => {
                store.load_template_with_blocks(host, Some(version), options)?.map(|template| Model {
                    host: template.host.clone(),
                    version,
                    matcher: Arc::new(TemplateMatcher::from_template(&template)),
                })
            }
            (_, None) => None,
        };
        let mut all = self.lock();
        if all.len() >= MOST_KEPT {
            all.clear();
        }
        all.insert(host.to_owned(), Kept { model: model.clone(), looked: Instant::now() });
        Ok(model)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
