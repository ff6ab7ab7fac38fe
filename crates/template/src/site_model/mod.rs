//! The training pages of a site, and what they say about any page of it.
//!
//! The key page and its training pages are kept as numbers: tags, stable names and hashes of texts, none of the words
//! (`encoded_page.rs`). To label a page, it is aligned to every training page (`align.rs`): a node is equal there,
//! mapped with other words, or absent. Each training page is weighted by how much of the page it shares, so that a
//! listing does not outvote the articles about a sidebar. The labels of all nodes are then decided jointly
//! (`evidence.rs`; with `site_model.forest` by a forest of regression trees, `node_features.rs` and `forest.rs`). The
//! same function labels the key page, the training pages (each without its own evidence) and every later page.
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
mod class_lists;
mod columns;
mod confirm;
mod content_root;
mod encoded_page;
mod evidence;
mod forest;
mod frequency;
mod interner;
mod kinds;
mod matching;
mod merge;
mod names;
mod node_features;
mod node_matches;
mod options;
mod page_sample;
mod same_shape;
mod scratch;
mod stored;
mod training_page;
mod vocabulary;

use std::cell::LazyCell;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::max_sum::max_sum_labels;
use dehusk_content::{Favor, JudgedPage, LabelRuns, Labels, LazyJudged, NarrowBlocks, PageBlocks, SiteBlocks};
use dehusk_html::{Tree, mix};

pub use add::Candidate;
use align::{Alignment, PageToAlign, align};
use aligned::{Aligned, KeptAlignments};
use content_root::{MIN_EXPECTED, content_root, is_in_doubt};
use encoded_page::EncodedPage;
use evidence::{Evidence, label_nodes};
use forest::Forest;
pub use forest::{forest_number, use_forest};
use interner::Interner;
pub use kinds::Kinds;
use names::tokens;
use node_features::{FEATURES, NodeFeatures};
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
}

/// A training page with fewer template nodes says nothing about a page that shows them.
const MIN_TEMPLATE: usize = 3;

impl TrainingSet {
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
        self.pages.iter().fold(names, |number, page| mix(number, page.number()))
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

    /// Labels everything but the main content of a page, by what the training pages say about its blocks. `None` where
    /// they say nothing. Training pages without blocks are left out.
    pub fn label_main(&self, page: &JudgedPage<'_>, favor: Favor) -> Option<Labels> {
        let pages = || self.pages.iter().filter(|page| !page.is_hidden).filter_map(|page| page.blocks.as_ref());
        self.blocks.get_or_init(|| SiteBlocks::new(pages().map(NarrowBlocks::to_blocks))).labels(page, favor)
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
        if self.options.forest {
            return self.decide_by_forest(page, &page.kept(judged.page().content_probabilities()), aligned);
        }
        // A page that is kept in part has other nodes than its tree.
        let is_whole = judged.tree.counted().len() == page.len();
        let expected = LazyCell::new(|| Some(judged.page().expected_content()));
        self.decide(page, is_whole, &expected, aligned).unwrap_or_else(|| Labels::new(vec![false; page.len()]))
    }

    /// Labels an encoded page. A training page is judged by the others, and so is another version of one. `None` where
    /// the expected main content decides, and is not known.
    fn decide(
        &self,
        page: &EncodedPage,
        is_whole: bool,
        expected: &LazyCell<Option<Vec<f32>>, impl FnOnce() -> Option<Vec<f32>>>,
        aligned: Aligned,
    ) -> Option<Labels> {
        let Aligned { mut alignments, confidence, nearest, .. } = aligned;
        if let Some(version) = other_version(page, &alignments) {
            alignments.remove(version);
        }
        let (mut is_template, evidence) = loop {
            let evidence = Evidence::new(page, &alignments);
            let is_template = label_nodes(page, &evidence);
            if alignments.len() <= 2 || !is_whole || !loses_content(page, expected, &is_template)? {
                break (is_template, evidence);
            }
            // Without the page that has most of its text the labels are decided again.
            let all = page.n_chars();
            let equal = |at: &usize| alignments[*at].equal_text(page, all);
            match (0..alignments.len()).max_by(|a, b| equal(a).total_cmp(&equal(b))) {
                Some(copy) => drop(alignments.remove(copy)),
                None => break (is_template, evidence),
            }
        };
        if is_whole
            && is_in_doubt(page, &is_template)
            && let Some(nodes) = content_root(page, expected.as_ref()?)
        {
            is_template[nodes].fill(false);
        }
        Some(Labels { is_template, support: evidence.support(), confidence, nearest })
    }
}

impl TrainingSet {
    /// Labels an encoded page by the forest, all nodes jointly. A training page is judged by the others, and so is
    /// another version of one. `probabilities` are those of [`JudgedPage::content_probabilities`].
    ///
    /// Left out by site over 231 sites: F1 of all pages .947, by the rules .928; docs/lab/2026-11-27-node-forest.md.
    fn decide_by_forest(&self, page: &EncodedPage, probabilities: &[u8], aligned: Aligned) -> Labels {
        /// Cost of an edge from template to the page's own, and of one from the page's own back to template.
        const OUT: f64 = 2.0;
        const BACK: f64 = 16.0;
        /// Limit of the logits.
        const SURE: f32 = 6.0;
        /// In place of the logit of a node that no training page has: it is the page's own, whatever is around it.
        const ABSENT: f64 = -1000.0;
        let (confidence, nearest) = (aligned.confidence, aligned.nearest);
        let features = features(page, probabilities, aligned);
        let Some(forest) = Forest::of_program().filter(|_| features.n_pages > 0 && !page.is_empty()) else {
            return Labels { support: features.n_mapped, confidence, nearest, ..Labels::new(vec![false; page.len()]) };
        };
        let mut scores = vec![ABSENT; page.len()];
        for (node, logit) in forest.logits(&features) {
            scores[node] = f64::from(logit.clamp(-SURE, SURE));
        }
        let is_template = max_sum_labels(&page.parent, scores, OUT, BACK);
        Labels { is_template, support: features.n_mapped, confidence, nearest }
    }

    /// What the forest reads of each counted node of a page: the names of the features, and a column of each. To train
    /// forests.
    pub fn node_features(&self, tree: &Tree) -> (&'static [&'static str], Vec<Vec<f32>>) {
        let page = self.encode(tree);
        let probabilities = JudgedPage::new(tree).content_probabilities();
        let aligned = self.aligned(&page, &KeptAlignments::default());
        let columns = features(&page, &probabilities, aligned).columns.into_iter();
        (&FEATURES, columns.map(|column| (0..page.len()).map(|node| column.value(node)).collect()).collect())
    }
}

fn features(page: &EncodedPage, probabilities: &[u8], aligned: Aligned) -> NodeFeatures {
    let mut alignments = aligned.alignments;
    if let Some(version) = other_version(page, &alignments) {
        alignments.remove(version);
    }
    let letters = page.chars.iter().zip(probabilities);
    let expected: Vec<f32> = letters.map(|(n, probability)| *n as f32 * f32::from(*probability) / 255.0).collect();
    NodeFeatures::new(page, &alignments, &expected)
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

/// Index of the training page that is another version of this page: it has nearly all of its text, and no other comes
/// near. It knows what the page says, not what is template.
fn other_version(page: &EncodedPage, alignments: &[Alignment]) -> Option<usize> {
    /// Share of the text that another version lacks, at most; also as a part of what any other page lacks.
    const MAX_LACKING: f64 = 0.1;
    const MAX_LACKING_OF_OTHERS: f64 = 0.2;
    let all = page.n_chars();
    let lacking: Vec<f64> = alignments.iter().map(|alignment| 1.0 - alignment.equal_text(page, all)).collect();
    let version = (0..lacking.len()).min_by(|a, b| lacking[*a].total_cmp(&lacking[*b]))?;
    let others = lacking.iter().enumerate().filter(|(at, _)| *at != version).map(|(_, lacks)| *lacks);
    let nearest = others.fold(f64::INFINITY, f64::min);
    let is_near = lacking[version] < MAX_LACKING && lacking[version] < MAX_LACKING_OF_OTHERS * nearest;
    (nearest.is_finite() && is_near).then_some(version)
}

/// Whether most of what the page model takes for main content would be template: an index, an archive or a print
/// version among the training pages repeats the content of this page. `None` where that is to be asked, and not known.
///
/// Each page with gold as the key page, sites left out of the page model's training: words kept .978 -> .992 on one set
/// of 36 sites, .991 on the other before and after. A fixed share of the text instead of the page model (5 % own) keeps
/// as much, and loses .004 of F1 on pages that have little content.
fn loses_content(
    page: &EncodedPage,
    expected: &LazyCell<Option<Vec<f32>>, impl FnOnce() -> Option<Vec<f32>>>,
    is_template: &[bool],
) -> Option<bool> {
    /// Share of a page's text that is its own, from which nothing is wrong.
    const ENOUGH_OWN: f64 = 0.2;
    /// Share of the expected main content that may be template.
    const MAX_LOST: f64 = 0.5;
    let all = page.n_chars();
    let own: u64 = page.chars.iter().zip(is_template).map(|(chars, is)| if *is { 0 } else { u64::from(*chars) }).sum();
    if own as f64 >= ENOUGH_OWN * all as f64 {
        return Some(false);
    }
    let (mut lost, mut content) = (0.0_f64, 0.0_f64);
    for (letters, is_template) in expected.as_ref()?.iter().zip(is_template) {
        content += f64::from(*letters);
        lost += if *is_template { f64::from(*letters) } else { 0.0 };
    }
    Some(content > MIN_EXPECTED && lost > MAX_LOST * content)
}

#[cfg(test)]
mod tests;
