//! The models of the sites in a set of sources, learned from a sample of each site's own pages: `dehusk clean --learn`.
//!
//! Samples and models are in temporary files. Memory holds their places, and the models that were used last.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use indicatif::ProgressBar;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use super::documents::{FoundDocument, Reading};
use dehusk_core::clean::TemplateMatcher;
use dehusk_corpus::pipeline;
use dehusk_html::{Tree, parse_bytes};
use dehusk_settings::Settings;
use dehusk_store::{Packer, unpack};
use dehusk_template::site_model::{PageSample, StoredTrainingSet, TrainingSet};

/// Models that are kept ready. When there are more, all are dropped.
const MOST_READY: usize = 256;

/// Sites that are learned at a time.
const BATCH: usize = 64;

/// What an error of a temporary file says.
const SPILL: &str = "temporary file (TMPDIR names the folder)";

/// Bytes that are packed and appended to a temporary file, and read back.
struct Spill {
    file: File,
    end: u64,
    packer: Packer,
}

/// Where bytes are in a spill.
#[derive(Clone, Copy)]
struct Extent {
    at: u64,
    length: usize,
}

impl Spill {
    fn new() -> io::Result<Spill> {
        Ok(Spill { file: tempfile::tempfile()?, end: 0, packer: Packer::default() })
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<Extent> {
        let packed = self.packer.pack(bytes, 1);
        self.file.write_all(&packed)?;
        let place = Extent { at: self.end, length: packed.len() };
        self.end += packed.len() as u64;
        Ok(place)
    }

    fn read(&self, place: Extent) -> io::Result<Vec<u8>> {
        let mut packed = vec![0; place.length];
        self.file.read_exact_at(&mut packed, place.at)?;
        unpack(&packed)
    }
}

/// A page of a sample: what it is in a spill, and its type as sent.
type Sampled = (Extent, Option<String>);

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
    /// The sample of a site does not depend on the order of its pages: it has those whose addresses have the least
    /// hashes.
    pub(super) fn learn(
        sources: &[PathBuf],
        settings: &Settings,
        bar: &ProgressBar,
    ) -> anyhow::Result<(Models, Learned)> {
        let mut learned = Learned::default();
        let (spill, samples) = sample(sources, settings, bar, &mut learned)?;
        let mut models = Spill::new().context(SPILL)?;
        let mut places = FxHashMap::default();
        let mut samples = samples.into_iter();
        loop {
            let batch: Vec<_> = samples.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            let n = batch.len();
            let made: Vec<(String, Vec<u8>)> = batch
                .into_par_iter()
                .filter_map(|(host, sample)| Some((host, learn(&spill, &sample, settings)?)))
                .collect();
            learned.sites += made.len();
            learned.without += n - made.len();
            for (host, model) in made {
                places.insert(host, models.push(&model).context(SPILL)?);
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

/// The samples of all sites.
type Samples = FxHashMap<String, PageSample<Sampled>>;

fn sample(
    sources: &[PathBuf],
    settings: &Settings,
    bar: &ProgressBar,
    learned: &mut Learned,
) -> anyhow::Result<(Spill, Samples)> {
    let mut spill = Spill::new().context(SPILL)?;
    let mut samples = Samples::default();
    let read = |put: &mut dyn FnMut(FoundDocument) -> bool| {
        let reading = Reading { bar: bar.clone(), ..Reading::new(false, None, settings.core.parse.max_bytes) };
        // What cannot be read is reported when it is cleaned.
        let mut found = reading.all(sources).flatten().filter(|page| page.is_page);
        while found.next().is_some_and(&mut *put) {}
    };
    let place = |page: FoundDocument| (page.url.as_ref().map(|url| (url.authority(), url.fingerprint())), page);
    pipeline::run(read, FoundDocument::n_bytes, place, |(place, page)| {
        let Some((host, id)) = place else {
            learned.nameless += 1;
            return Ok(());
        };
        let sample = samples.entry(host).or_insert_with(|| PageSample::new(PageSample::<Sampled>::SIZE));
        let (bytes, content_type) = page.bytes();
        sample.insert(id, bytes, || spill.push(bytes).map(|place| (place, content_type))).map(drop).context(SPILL)
    })?;
    Ok((spill, samples))
}

/// The model of a site as bytes, if its pages have anything in common.
fn learn(spill: &Spill, sample: &PageSample<Sampled>, settings: &Settings) -> Option<Vec<u8>> {
    let tree = |(id, (place, content_type)): (u64, &Sampled)| {
        let bytes = spill.read(*place).ok()?;
        Some((id, parse_bytes(&bytes, content_type.as_deref(), &settings.core.parse).0))
    };
    let trees: Vec<(u64, Tree)> = sample.iter().filter_map(tree).collect();
    let pages: Vec<(u64, &Tree)> = trees.iter().map(|(id, tree)| (*id, tree)).collect();
    let (set, labels) = TrainingSet::learn(&pages, &settings.core.learn.site_model)?;
    // Every page has a body: pages that share nothing else have no template.
    let is_shared = labels.iter().any(|labels| labels.is_template.iter().filter(|is| **is).count() > 1);
    is_shared.then(|| serde_json::to_vec(&set.store()).ok())?
}
