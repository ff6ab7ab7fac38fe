//! The training pages of a site, and what they say about any page of it.
//!
//! The key page and its training pages are kept as numbers: tags, stable names and hashes of texts, none of the words
//! (`encoded_page.rs`). To label a page, it is aligned to every training page (`align.rs`): a node is equal there,
//! mapped with other words, or absent. Each training page is weighted by how much of the page it shares, so that a
//! listing does not outvote the articles about a sidebar. Of this evidence (`node_features.rs`), forests of regression
//! trees that were trained on 232 sites (`forest.rs`) make labels, jointly for all nodes (`decision.rs`). The same
//! function labels the key page, the training pages (each without its own evidence) and every later page.
//!
//! From the papers: the training pages of TeMex (Alarte 2014, section 2), its equality probability (definition 3.2.2)
//! for nodes whose subtrees differ, and Gottron's document frequency, here of a node in its position. This departs from
//! the exact top-down mapping with votes; docs/lab/2026-11-25-site-model.md has the comparison. `label.by = "votes"` is
//! the thesis.
//!
//! Invariants, each with a test: labels depend on the set of training pages and not on their order; a training page
//! that a stored set labels again gets the labels it had; work is linear in the page for each training page, except
//! for child lists that differ, whose product is bounded.

mod add;
mod align;
mod aligned;
mod alike;
mod by_number;
mod by_text;
mod class_lists;
mod columns;
mod confirm;
mod decision;
mod encoded_page;
mod forest;
mod frequency;
mod interner;
mod kinds;
mod matching;
mod merge;
mod missing_page;
mod names;
mod node_features;
mod node_matches;
mod options;
mod page_sample;
mod redacted;
mod same_shape;
mod scratch;
mod stored;
mod subtree_sums;
mod tag_families;
mod training_page;
mod vocabulary;

use std::cell::LazyCell;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use dehusk_content::{
    Favor, JudgedPage, LabelRuns, Labels, LazyJudged, PageBlocks, SiteBlocks, TaughtPages, TaughtSlots,
};
use dehusk_html::{Tree, mix};

pub use add::Candidate;
use align::{PageToAlign, align};
use aligned::{Aligned, KeptAlignments};
use encoded_page::EncodedPage;
pub use forest::{forests_number, use_forests};
use interner::Interner;
pub use kinds::Kinds;
pub use missing_page::MissingPage;
use names::tokens;
pub use options::SiteModelOptions;
pub use page_sample::PageSample;
use scratch::Scratch;
pub use stored::{StoredError, StoredTrainingSet};
use training_page::TrainingPage;
use vocabulary::Vocabulary;

/// The training pages of one site, ready to label pages.
#[derive(Clone, Debug, Default)]
pub struct TrainingSet {
    /// Ascending by digest and URL. Evidence is a sum of floats, and one order gives one sum.
    pages: Vec<TrainingPage>,
    interner: Interner,
    vocabulary: Vocabulary,
    /// Names that exactly one of the pages added later had.
    seen_once: FxHashSet<u32>,
    /// Names that pages added later have brought into the vocabulary, in their order.
    later_names: Vec<u32>,
    options: SiteModelOptions,
    /// The blocks of the pages, read when they are asked for.
    blocks: OnceLock<SiteBlocks>,
    /// The kinds of the pages, found when they are asked for.
    kinds: OnceLock<Kinds>,
    /// What somebody has said about the blocks of some pages.
    taught: TaughtSlots,
    /// What the site gives for an address that it does not have, if it was asked.
    missing_page: Option<MissingPage>,
}

/// A training page with fewer template nodes says nothing about a page that shows them.
const MIN_TEMPLATE: usize = 3;

impl TrainingSet {
    /// What the site gives for an address that it does not have; `None` if it was not asked.
    pub fn missing_page(&self) -> Option<&MissingPage> {
        self.missing_page.as_ref()
    }

    /// Keeps what the site gives for an address that it does not have.
    pub fn set_missing_page(&mut self, page: MissingPage) {
        self.missing_page = Some(page);
    }

    /// Learns from the key page and its training pages, each with a number that stands for its URL. Gives the labels of
    /// each page, too. `None` for fewer than two different pages.
    pub fn learn(trees: &[(u64, &Tree)], options: &SiteModelOptions) -> Option<(TrainingSet, Vec<Labels>)> {
        if trees.len() < 2 {
            return None;
        }
        let names: Vec<FxHashSet<u32>> = trees.iter().map(|(_, tree)| tokens(tree)).collect();
        let mut set = TrainingSet { vocabulary: common_names(&names), options: *options, ..TrainingSet::default() };
        let pages = trees.iter().map(|(_, tree)| EncodedPage::new(tree, &set.vocabulary).bounded(options));
        let mut pages: Vec<EncodedPage> = pages.collect();
        set.interner.intern_pages(&mut pages, |_| true);
        let kept = distinct(trees, &pages);
        if kept.len() < 2 {
            return None;
        }
        let training_page =
            |at: &usize| TrainingPage::new(&pages[*at], trees[*at].0, pages[*at].digest(), &set.interner);
        set.pages = kept.iter().map(training_page).collect();
        set.gather_vocabulary();
        // A page is judged once for both, and not kept so. Confidence is measured by the labels of the training pages,
        // which are not known yet.
        let judge = |at: &usize| {
            let (page, judged) = (&pages[*at], LazyJudged::new(trees[*at].1));
            let aligned = set.aligned(page, &KeptAlignments::default());
            let kept = aligned.kept();
            let labels = set.judge_aligned(page, &judged, aligned).with_confidence(1.0);
            let state = set.relabel_state(page, &judged, &names[*at], kept);
            (set.blocks_of(&judged), state, labels)
        };
        let judged: Vec<_> = kept.iter().map(judge).collect();
        let mut known: FxHashMap<usize, Labels> = FxHashMap::default();
        for ((training_page, at), (blocks, state, labels)) in set.pages.iter_mut().zip(kept).zip(judged) {
            training_page.relabel_state = state;
            training_page.set_labels(LabelRuns::new(&labels.is_template), blocks.as_ref());
            known.insert(at, labels);
        }
        // A page that is kept whole was labeled as a training page. One that differs from it in names only was not.
        let label = |at: usize| match known.remove(&at) {
            Some(labels) if labels.is_template.len() == trees[at].1.counted().len() => labels.shifted(trees[at].1),
            _ => set.label(trees[at].1),
        };
        let labels = (0..trees.len()).map(label).collect();
        Some((set, labels))
    }

    /// A number for the set: sets with the same one label every page alike.
    pub fn number(&self) -> u64 {
        let names = self.vocabulary.names().iter().fold(0_u64, |sum, name| sum.wrapping_add(mix(1, u64::from(*name))));
        let number = self.pages.iter().fold(names, |number, page| mix(number, page.number()));
        if self.taught.is_empty() { number } else { mix(number, self.taught.number()) }
    }

    /// Number of pages kept.
    pub fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// The vocabulary is what the kept nodes have, so that a stored set has the same one.
    fn gather_vocabulary(&mut self) {
        let mut is_used = vec![false; self.interner.signatures().len()];
        let mut signatures = Vec::new();
        for page in &self.pages {
            page.columns.signature.write_to(&mut signatures);
            signatures.iter().for_each(|signature| is_used[*signature as usize] = true);
        }
        let used = self.interner.signatures().iter().zip(is_used).filter(|(_, is_used)| *is_used);
        self.vocabulary = used.flat_map(|(signature, _)| signature.tokens()).collect();
    }

    /// Labels a page. The confidence is the greatest share of a training page's template that the page shows.
    pub fn label(&self, tree: &Tree) -> Labels {
        self.label_judged(&LazyJudged::new(tree))
    }

    /// Labels a page that others judge, too. It is judged where that is in doubt.
    pub fn label_judged(&self, judged: &LazyJudged<'_>) -> Labels {
        self.judge(&self.encode(judged.tree), judged).shifted(judged.tree)
    }

    /// The blocks of a page that becomes a training page, where they are made at once.
    fn blocks_of(&self, judged: &LazyJudged<'_>) -> Option<PageBlocks> {
        self.options.blocks_at_once.then(|| PageBlocks::new(judged.page()))
    }

    /// A page, encoded to be labeled.
    fn encode(&self, tree: &Tree) -> EncodedPage {
        let mut page = EncodedPage::new(tree, &self.vocabulary);
        page.number(&self.interner);
        page
    }

    /// Labels everything but the main content of a page, by what the training pages and those that were taught say
    /// about its blocks. `None` where they say nothing. Training pages without blocks are left out.
    pub fn label_main(&self, page: &JudgedPage<'_>, favor: Favor) -> Option<Labels> {
        let blocks = self.blocks.get_or_init(|| SiteBlocks::new(self.page_blocks().map(|(_, blocks)| blocks)));
        let by_taught = || (!self.taught.is_empty()).then(|| page.taught_labels(favor, &self.taught));
        blocks.labels(page, favor, &self.taught).or_else(by_taught)
    }

    /// The blocks of the training pages that have them, each with the number of its URL.
    pub fn page_blocks(&self) -> impl Iterator<Item = (u64, PageBlocks)> + '_ {
        let pages = self.pages.iter().filter(|page| !page.is_hidden);
        pages.filter_map(|page| Some((page.url, page.blocks.as_ref()?.to_blocks())))
    }

    /// What somebody has said about the blocks of some pages.
    pub fn taught(&self) -> &TaughtSlots {
        &self.taught
    }

    /// Replaces what was said about the blocks of some pages.
    pub fn teach(&mut self, taught: TaughtPages) {
        self.taught = TaughtSlots::new(taught);
    }

    /// The greatest share of a training page's template that this page shows, older versions of the page left out: how
    /// well the page at this URL is covered by the others.
    pub fn key_coverage(&self, url: u64, tree: &Tree) -> f64 {
        let page = self.encode(tree);
        let least = self.median_template_size() / 4;
        let others = self.evidence_pages().filter(|other| other.url != url && other.digest != page.digest());
        let others = others.filter(|other| other.n_template() >= least.max(MIN_TEMPLATE));
        let to_align = PageToAlign::new(&page);
        let mut scratch = Scratch::for_page();
        let coverage = others.map(|other| {
            align(&to_align, other, &self.interner, &self.options, &mut scratch);
            other.coverage(&scratch.taken)
        });
        coverage.fold(0.0, f64::max)
    }

    /// Median number of template nodes of a training page. A page of another layout can share so little with the rest
    /// that any page shows all of it.
    fn median_template_size(&self) -> usize {
        let mut sizes: Vec<usize> = self.evidence_pages().map(TrainingPage::n_template).collect();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(0)
    }

    /// The pages that are evidence. Pages of equal content count once.
    fn evidence_pages(&self) -> impl Iterator<Item = &TrainingPage> {
        let copies = self.pages.chunk_by(|a, b| a.digest == b.digest);
        copies.filter_map(|copies| copies.iter().find(|page| !page.is_hidden))
    }

    /// Labels an encoded page.
    fn judge(&self, page: &EncodedPage, judged: &LazyJudged<'_>) -> Labels {
        self.judge_aligned(page, judged, self.aligned(page, &KeptAlignments::default()))
    }

    fn judge_aligned(&self, page: &EncodedPage, judged: &LazyJudged<'_>, aligned: Aligned) -> Labels {
        let probabilities = LazyCell::new(|| Some(page.kept(judged.page().content_probabilities())));
        self.decide(page, &probabilities, aligned).unwrap_or_else(|| Labels::new(vec![false; page.len()]))
    }

    /// What the forests read of each counted node of a page, to train them: the names of the features, a column of each
    /// with the content that is guessed, and one with the content that the page model expects.
    pub fn node_features(&self, tree: &Tree) -> (&'static [&'static str], [Vec<Vec<f32>>; 2]) {
        let page = self.encode(tree);
        let probabilities = JudgedPage::new(tree).content_probabilities();
        let aligned = self.aligned(&page, &KeptAlignments::default());
        Self::features_of(&page, &probabilities, aligned)
    }
}

/// Names that at least two pages have.
fn common_names(names: &[FxHashSet<u32>]) -> Vocabulary {
    let mut bearers: FxHashMap<u32, u32> = FxHashMap::default();
    names.iter().flatten().for_each(|name| *bearers.entry(*name).or_default() += 1);
    bearers.into_iter().filter(|(_, n)| *n >= 2).map(|(name, _)| name).collect()
}

/// The pages to keep, one for each content, in the order of a training set.
fn distinct(trees: &[(u64, &Tree)], pages: &[EncodedPage]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..pages.len()).filter(|at| !pages[*at].is_empty()).collect();
    kept.sort_by_key(|at| (pages[*at].digest(), trees[*at].0));
    kept.dedup_by_key(|at| pages[*at].digest());
    kept
}

#[cfg(test)]
mod tests;
