//! The models of the sites in a set of sources, learned from a sample of each site's own pages: `dehusk clean --learn`.
//!
//! Samples and models are in temporary files. Memory holds their places, and the models that were used last.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use indicatif::ProgressBar;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use super::documents::{Crawls, FieldName};
use super::site_samples::{Extent, SPILL, SampledSite, Sampling, Spill, learn_pages};
use dehusk_core::clean::TemplateMatcher;
use dehusk_settings::Settings;
use dehusk_template::site_model::{PageSample, StoredTrainingSet};
use dehusk_template::template::Template;

/// Models that are kept ready. When there are more, all are dropped.
const MOST_READY: usize = 256;

/// Sites that are learned at a time.
const BATCH: usize = 64;

/// What the first reading has found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learned {
    /// Sites with a model.
    pub(super) sites: usize,
    /// Sites without one: they have one page, or nothing in common.
    pub(super) without: usize,
    /// Pages without an address: nothing says which site they are of.
    pub(super) nameless: usize,
}

/// Models by host.
pub(super) struct Models {
    spill: Spill,
    places: FxHashMap<String, Extent>,
    ready: Mutex<FxHashMap<String, Arc<TemplateMatcher>>>,
    settings: Settings,
}

impl Models {
    /// Reads the sources once and learns every site that has two pages or more.
    ///
    /// `save` takes the template of each site.
    pub(super) fn learn(
        sources: &[PathBuf],
        named: &[FieldName],
        settings: &Settings,
        bar: &ProgressBar,
        mut save: impl FnMut(&Template) -> anyhow::Result<()>,
    ) -> anyhow::Result<(Models, Learned)> {
        let most = PageSample::<()>::SIZE;
        // What cannot be read is reported when it is cleaned.
        let crawls = Crawls::new(settings);
        let sampling = Sampling { settings, most, key: None, named, tells_failures: false, crawls, bar };
        let samples = sampling.read(sources)?;
        let mut learned = Learned { nameless: samples.nameless, ..Learned::default() };
        let mut models = Spill::new().context(SPILL)?;
        let mut places = FxHashMap::default();
        for batch in samples.sites.chunks(BATCH) {
            let learn = |site: &SampledSite| {
                let (set, template) = learn_pages(&samples.pages(site, settings), settings)?;
                Some((site.host.clone(), serde_json::to_vec(&set.store()).ok()?, template))
            };
            let made: Vec<(String, Vec<u8>, Template)> = batch.par_iter().filter_map(learn).collect();
            learned.sites += made.len();
            learned.without += batch.len() - made.len();
            for (host, model, template) in made {
                places.insert(host, models.push(&model).context(SPILL)?);
                save(&template)?;
            }
            bar.set_message(format!("{} sites learned", learned.sites));
        }
        Ok((Models { spill: models, places, ready: Mutex::default(), settings: settings.clone() }, learned))
    }

    /// The model of a host.
    pub(super) fn matcher(&self, host: &str) -> anyhow::Result<Option<Arc<TemplateMatcher>>> {
        let Some(place) = self.places.get(host) else { return Ok(None) };
        if let Some(known) = self.ready.lock().unwrap_or_else(PoisonError::into_inner).get(host) {
            return Ok(Some(Arc::clone(known)));
        }
        let read = self.spill.read(*place).map_err(anyhow::Error::from);
        let set: StoredTrainingSet = read.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)).context(SPILL)?;
        let set = set.load(&self.settings.core.learn.site_model);
        let matcher = Arc::new(TemplateMatcher::from_training_set(set));
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= MOST_READY {
            ready.clear();
        }
        Ok(Some(Arc::clone(ready.entry(host.to_owned()).or_insert(matcher))))
    }
}
