//! The pages that are clustered: read from sources, or stored.

use rayon::iter::{IntoParallelRefIterator, ParallelExtend, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cluster, Method};
use crate::cli::documents::{FoundDocument, Reading, counter, next_batch};
use crate::cli::{Failure, open_store};
use dehusk_papers::baselines::RtdmPage;
use dehusk_settings::{NoindexPages, Settings};
use dehusk_template::cluster::Features;
use dehusk_template::text_mdl::{Implied, Paths, path_names};

/// The features of the pages that were read.
#[derive(Default)]
pub(super) struct Pile {
    pub(super) names: Vec<String>,
    pub(super) gold: Vec<String>,
    pub(super) paths: Vec<Paths>,
    pub(super) features: Vec<Features>,
    pub(super) trees: Vec<RtdmPage>,
    pub(super) failed: usize,
    texts: usize,
}

impl Pile {
    /// The number of each page's known group; none without known groups.
    pub(super) fn groups(&self) -> Vec<usize> {
        let mut known: FxHashMap<&str, usize> = FxHashMap::default();
        let numbers = self.gold.iter().map(|gold| {
            let next = known.len();
            *known.entry(gold).or_insert(next)
        });
        numbers.collect()
    }
}

/// The elements that paths of a page lead past.
fn implied(page: &FoundDocument, settings: &Settings) -> Implied {
    if settings.core.learn.text.implied { Implied::default() } else { Implied::of_source(&page.text()) }
}

type Documents<'a> = Box<dyn Iterator<Item = anyhow::Result<FoundDocument>> + 'a>;

impl Cluster {
    pub(super) fn reading<'a>(&'a self, settings: &'a Settings) -> Reading<'a> {
        Reading { gold: self.gold.as_deref(), ..Reading::new(settings) }
    }

    /// The pages of the sources, or the newest stored version of each page.
    fn documents<'a>(&'a self, reading: &'a Reading<'_>, settings: &Settings) -> Result<Documents<'a>, Failure> {
        let Some(host) = &self.stored else { return Ok(Box::new(reading.all(&self.sources))) };
        let host = Some(host.as_str()).filter(|host| !host.is_empty());
        let store = open_store(settings)?;
        let mut rows = store.list_pages(host).map_err(|e| Failure::Work(e.into()))?;
        rows.retain(|row| !row.noindex || settings.store.noindex == NoindexPages::Show);
        Ok(Box::new(rows.into_iter().map(move |row| {
            let body = store.load_raw(&row)?;
            let gold = self.gold.as_ref().map(|_| row.host.clone());
            let mut found = FoundDocument::new(row.url, true, body, row.content_type);
            found.gold = gold;
            Ok(found)
        })))
    }

    pub(super) fn read(&self, method: Method, settings: &Settings) -> Result<Pile, Failure> {
        let mut pile = Pile::default();
        let reading = self.reading(settings);
        let mut documents = self.documents(&reading, settings)?;
        let bar = counter("read");
        while let Some(batch) = next_batch(&mut documents) {
            let mut found = reading.readable(batch);
            let n = found.len();
            found.retain(|found| found.is_page);
            pile.texts += n - found.len();
            let tree = |found: &FoundDocument| found.tree(&settings.core.parse);
            let trees = found.par_iter().map(tree);
            match method {
                Method::Cp | Method::Cps | Method::Ctss => {
                    pile.features.par_extend(trees.map(|tree| Features::new(&tree, &settings.papers.cluster)));
                }
                Method::Rtdm => pile.trees.par_extend(trees.map(|tree| RtdmPage::new(&tree))),
                Method::Mdl | Method::Hash | Method::Max => {
                    let paths = |found| Paths::without(&tree(found), &implied(found, settings));
                    pile.paths.par_extend(found.par_iter().map(paths));
                }
            }
            bar.inc(found.len() as u64);
            for one in found {
                pile.names.push(one.name);
                pile.gold.extend(one.gold);
            }
        }
        bar.finish_and_clear();
        reading.warn_of_skipped();
        pile.failed = reading.failed.get();
        if pile.texts > 0 {
            tracing::warn!("{} documents are not pages and were skipped", pile.texts);
        }
        Ok(pile)
    }

    /// The text of template paths. Reads the pages again until all paths are found.
    pub(super) fn path_names(
        &self,
        mut wanted: FxHashSet<u64>,
        settings: &Settings,
    ) -> Result<FxHashMap<u64, String>, Failure> {
        let mut names = FxHashMap::default();
        let reading = self.reading(settings);
        let mut documents = self.documents(&reading, settings)?;
        while let Some(batch) = next_batch(&mut documents).filter(|_| !wanted.is_empty()) {
            let pages: Vec<&FoundDocument> = batch.iter().flatten().filter(|found| found.is_page).collect();
            let names_of =
                |page: &&FoundDocument| path_names(&page.tree(&settings.core.parse), &implied(page, settings), &wanted);
            let found: Vec<Vec<(u64, String)>> = pages.par_iter().map(names_of).collect();
            for (hash, name) in found.into_iter().flatten() {
                wanted.remove(&hash);
                names.entry(hash).or_insert(name);
            }
        }
        Ok(names)
    }
}
