//! The models of the sites in a set of sources, learned from a sample of each site's own pages: `dehusk clean --learn`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::documents::{Found, Reading, next_batch};
use crate::settings::Settings;
use dehusk_core::internals::clean::TemplateMatcher;
use dehusk_core::internals::dom::Tree;
use dehusk_core::internals::page_url::PageUrl;
use dehusk_core::internals::site_model::TrainingSet;

/// Pages of a site that its model is learned from.
const SAMPLE: usize = 9;

/// Bytes of a page above which it is no sample.
const LARGE: usize = 1_000_000;

/// Models by host.
pub(super) type Models = FxHashMap<String, Arc<TemplateMatcher>>;

/// Reads the sources once and learns every site that has two pages or more.
///
/// The sample of a site does not depend on the order of its pages: it has those whose addresses have the least hashes.
pub(super) fn learn_sites(sources: &[PathBuf], settings: &Settings) -> Models {
    let reading = Reading::new(false, None, settings.core.parse.max_bytes);
    let mut samples: FxHashMap<String, BTreeMap<u64, Found>> = FxHashMap::default();
    let mut found = reading.all(sources);
    // What cannot be read is reported when it is cleaned.
    while let Some(batch) = next_batch(&mut found) {
        for page in batch.into_iter().flatten().filter(|page| page.is_page && page.n_bytes() < LARGE) {
            let Some(url) = page.url.as_ref() else { continue };
            let sample = samples.entry(url.authority()).or_default();
            sample.insert(xxh3_64(&PageUrl::fingerprint(url).to_le_bytes()), page);
            if sample.len() > SAMPLE {
                sample.pop_last();
            }
        }
    }
    samples.into_par_iter().filter_map(|(host, sample)| Some((host, Arc::new(learn(&sample, settings)?)))).collect()
}

fn learn(sample: &BTreeMap<u64, Found>, settings: &Settings) -> Option<TemplateMatcher> {
    let trees: Vec<(u64, Tree)> = sample.iter().map(|(hash, page)| (*hash, page.tree(&settings.core.parse))).collect();
    let pages: Vec<(u64, &Tree)> = trees.iter().map(|(hash, tree)| (*hash, tree)).collect();
    let (set, labels) = TrainingSet::learn(&pages, &settings.core.learn.site_model)?;
    // Every page has a body: pages that share nothing else have no template.
    let is_shared = labels.iter().any(|labels| labels.is_template.iter().filter(|is| **is).count() > 1);
    is_shared.then(|| TemplateMatcher::from_training_set(set))
}
