//! Decides which nodes of a page are template, all of them jointly.
//!
//! A forest of regression trees says how sure each node is template; the labels of all nodes are those with the
//! greatest sum, less the costs of edges between unlike labels (`max_sum.rs`). The first forest knows the training
//! pages alone. Where many of its labels are in doubt, or more than four fifths of the page's letters would be
//! template, the page model says where main content is expected, and a second forest decides: on one page in seven.
//!
//! Left out by site over 231 sites: docs/lab/2026-11-27-node-forest.md.

use std::cell::LazyCell;

use super::TrainingSet;
use super::align::Alignment;
use super::aligned::Aligned;
use super::encoded_page::EncodedPage;
use super::forest::{Forest, Forests};
use super::node_features::{Evidence, FEATURES, NodeFeatures};
use super::node_matches::NodeMatches;
use super::tag_families::{families, is_in_link};
use crate::max_sum::max_sum_labels;
use dehusk_content::Labels;

/// Cost of an edge from template to the page's own, and of one from the page's own back to template.
const OUT: f64 = 2.0;
const BACK: f64 = 16.0;

/// In place of the logit of a node that no training page has: it is the page's own, whatever is around it.
const ABSENT: f64 = -1000.0;

/// Expected wrong labels of the nodes, for each template node, from which the page model is asked.
const IN_DOUBT: f32 = 0.25;

/// Template nodes that a page counts as, at least.
const FEW: usize = 20;

/// Share of a page's letters that is its own, below which the page model is asked, too: an index or an archive among
/// the training pages may repeat the page's content. Left out, node F1 is the same without it, and .001 less of the
/// content is kept: it is for the few pages that would lose all of theirs.
const LITTLE_OWN: f64 = 0.2;

/// What a forest says of a page.
struct Decision {
    is_template: Vec<bool>,
    is_in_doubt: bool,
}

impl TrainingSet {
    /// Labels an encoded page. A training page is judged by the others, and so is another version of one. `None` where
    /// the page model is to be asked, and `probabilities` are not known: those of
    /// [`dehusk_content::JudgedPage::content_probabilities`].
    pub(super) fn decide(
        &self,
        page: &EncodedPage,
        probabilities: &LazyCell<Option<Vec<u8>>, impl FnOnce() -> Option<Vec<u8>>>,
        aligned: Aligned,
    ) -> Option<Labels> {
        let (confidence, nearest) = (aligned.confidence, aligned.nearest);
        let found = matches(page, aligned.alignments);
        let is_template = match Forests::of_program().filter(|_| found.n_pages > 0 && !page.is_empty()) {
            Some(forests) => {
                let families = families(page);
                let guessed = guessed_content(page, &found, &families);
                let evidence = Evidence { page, found: &found, families: &families, expected: &guessed };
                let by_site = decision(&evidence, &forests.by_site);
                if by_site.is_in_doubt {
                    let expected = expected_content(page, probabilities.as_ref()?);
                    decision(&Evidence { expected: &expected, ..evidence }, &forests.by_page_model).is_template
                } else {
                    by_site.is_template
                }
            }
            None => vec![false; page.len()],
        };
        Some(Labels { is_template, support: found.n_mapped, confidence, nearest })
    }

    /// What the forests read of each node of a page, to train them: the names of the features, a column of each with
    /// the content that is guessed, and one with the content that the page model expects.
    pub(super) fn features_of(
        page: &EncodedPage,
        probabilities: &[u8],
        aligned: Aligned,
    ) -> (&'static [&'static str], [Vec<Vec<f32>>; 2]) {
        let found = matches(page, aligned.alignments);
        if page.is_empty() {
            return (&FEATURES, [(); 2].map(|()| vec![Vec::new(); FEATURES.len()]));
        }
        let (families, nodes) = (families(page), (0..page.len()).collect::<Vec<usize>>());
        let guessed = guessed_content(page, &found, &families);
        let columns = [guessed, expected_content(page, probabilities)].map(|expected| {
            let evidence = Evidence { page, found: &found, families: &families, expected: &expected };
            let columns = NodeFeatures::new(&evidence, &nodes).0.into_iter();
            columns.map(|column| nodes.iter().map(|node| column.value(*node)).collect()).collect()
        });
        (&FEATURES, columns)
    }
}

fn matches(page: &EncodedPage, mut alignments: Vec<Alignment>) -> NodeMatches {
    if let Some(version) = other_version(page, &alignments) {
        alignments.remove(version);
    }
    NodeMatches::new(page, &alignments)
}

/// The main content that the page model expects in each node, in letters.
fn expected_content(page: &EncodedPage, probabilities: &[u8]) -> Vec<f32> {
    let letters = page.chars.iter().zip(probabilities);
    letters.map(|(n, probability)| *n as f32 * f32::from(*probability) / 255.0).collect()
}

/// The main content that is expected in each node, in letters, by its training pages alone: the letters of long texts
/// outside of links which few training pages have. It takes no page model.
fn guessed_content(page: &EncodedPage, found: &NodeMatches, families: &[f32]) -> Vec<f32> {
    /// Letters of a text that count half.
    const HALF: f32 = 60.0;
    let is_in_link = is_in_link(page, families);
    let guess = |node: usize| {
        let letters = page.chars[node] as f32;
        let is_long = letters / (letters + HALF);
        if is_in_link[node] { 0.0 } else { letters * is_long * (1.0 - found.equal[node]).clamp(0.0, 1.0) }
    };
    (0..page.len()).map(guess).collect()
}

fn decision(evidence: &Evidence<'_>, forest: &Forest) -> Decision {
    let Evidence { page, found, .. } = evidence;
    let judged = judged_nodes(page, found);
    let nodes: Vec<usize> =
        (0..page.len()).filter(|node| judged[*node] == *node && found.n_mapped[*node] > 0).collect();
    let logits = forest.logits(nodes.len(), &NodeFeatures::new(evidence, &nodes));
    let mut scores = vec![ABSENT; page.len()];
    // The probability of the label that is less probable.
    let mut doubts = vec![0.0; page.len()];
    for (node, logit) in nodes.into_iter().zip(logits) {
        scores[node] = f64::from(logit);
        doubts[node] = 1.0 / (1.0 + libm::expf(logit.abs()));
    }
    let mut doubt = 0.0;
    for node in (0..page.len()).filter(|node| found.n_mapped[*node] > 0) {
        scores[node] = scores[judged[node]];
        doubt += doubts[judged[node]];
    }
    let is_template = max_sum_labels(&page.parent, scores, OUT, BACK);
    let n_template = is_template.iter().filter(|is| **is).count();
    let own = page.chars.iter().zip(&is_template).map(|(letters, is)| if *is { 0 } else { u64::from(*letters) });
    let has_little = (own.sum::<u64>() as f64) < LITTLE_OWN * page.n_chars() as f64;
    Decision { is_in_doubt: has_little || doubt > IN_DOUBT * n_template.max(FEW) as f32, is_template }
}

/// The node that is judged in the place of each node: itself, or that of its parent where all training pages have the
/// subtree of the parent in place. Left out by site, node F1 of all pages is .001 less than with each node judged by
/// itself, that of key pages the same, for .64 of the nodes.
fn judged_nodes(page: &EncodedPage, found: &NodeMatches) -> Vec<usize> {
    let is_on_all = |node: usize| usize::from(found.n_equal[node]) == found.n_pages;
    let mut judged: Vec<usize> = (0..page.len()).collect();
    // The body holds everything, and is judged for itself.
    for node in 1..page.len() {
        let parent = page.parent[node] as usize;
        if parent > 0 && is_on_all(node) && is_on_all(parent) {
            judged[node] = judged[parent];
        }
    }
    judged
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
