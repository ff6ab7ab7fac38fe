//! Weighs what the training pages have of each node, and labels the whole tree.

use std::sync::LazyLock;

use super::align::{Alignment, NodeMatch};
use super::encoded_page::EncodedPage;
use crate::max_sum::max_sum_labels;

/// What all training pages have of each node of a page, in columns by node.
pub(super) struct Evidence {
    /// Weight of the training pages that have its subtree.
    equal: Vec<f32>,
    /// Weight of the training pages that have it.
    mapped: Vec<f32>,
    /// Training pages that have its subtree in the same position.
    n_equal: Vec<u16>,
    /// Training pages that have it.
    n_mapped: Vec<u16>,
    total: f32,
    /// Training pages of the page's own kind, by what they share with it.
    n_of_its_kind: u16,
    /// Training pages.
    n_pages: u16,
}

impl Evidence {
    /// What these training pages have of a page.
    pub(super) fn new(page: &EncodedPage, alignments: &[Alignment]) -> Evidence {
        let mut n_equal = vec![0; page.len()];
        for alignment in alignments {
            for (found, n) in alignment.matches.iter().zip(&mut n_equal) {
                *n += u16::from(*found == NodeMatch::Equal);
            }
        }
        let fixed = fixed_texts(page, &n_equal);
        Evidence::with(n_equal, alignments.iter().map(|alignment| (alignment, agreement(alignment, &fixed))))
    }

    /// The same with a factor for each training page.
    fn with<'a>(n_equal: Vec<u16>, alignments: impl Iterator<Item = (&'a Alignment, f32)>) -> Evidence {
        let n = n_equal.len();
        let mut evidence = Evidence {
            equal: vec![0.0; n],
            mapped: vec![0.0; n],
            n_equal,
            n_mapped: vec![0; n],
            total: 0.0,
            n_of_its_kind: 0,
            n_pages: 0,
        };
        alignments.for_each(|(alignment, agreement)| evidence.add(alignment, agreement));
        evidence
    }

    /// Whether all training pages of the page's kind have this subtree in its place, and most training pages are of
    /// that kind.
    ///
    /// Such a node scores `weights::ON_ALL` more. Each page with gold as the key page, in sample: node F1 .940 -> .941
    /// on one set of 36 sites, .917 -> .923 on the other; the demo's site of two layouts .967 -> .979.
    /// docs/lab/2026-11-25-site-model.md has the variants.
    pub(super) fn is_on_all(&self, node: usize) -> bool {
        const FEWEST: u16 = 4;
        const MOST_PAGES: f32 = 0.7;
        let n = self.n_of_its_kind;
        n >= FEWEST && f32::from(n) >= MOST_PAGES * f32::from(self.n_pages) && self.n_equal[node] >= n
    }

    /// Training pages that have each node.
    pub(super) fn support(self) -> Vec<u16> {
        self.n_mapped
    }

    /// Adds a training page. Its weight is the square of the share of the page's nodes that it has: a page of another
    /// kind says little about what is template here. `agreement` is its factor of [`agreement`].
    fn add(&mut self, alignment: &Alignment, agreement: f32) {
        /// A training page that shares nothing still counts a little. Otherwise a single other one would always win.
        const MIN_SHARE: f32 = 0.02;
        /// Share of the page's nodes that a training page of its kind has. On a site of two layouts a template node is
        /// on the training pages of one of them. All pages of 36 and 36 sites: node F1 .904 -> .907, .914 -> .912; of
        /// the demo's site of two layouts .790 -> .967. Shares of .35 and .5 give the same within .001.
        const ITS_KIND: f32 = 0.2;
        let n = alignment.matches.len();
        let shared = alignment.matches.iter().filter(|found| found.is_mapped()).count();
        let share = shared as f32 / n.max(1) as f32;
        let weight = share.max(MIN_SHARE).powi(2) * agreement;
        self.total += weight;
        self.n_pages += 1;
        self.n_of_its_kind += u16::from(share >= ITS_KIND);
        // Each column in a loop without branches, which is compiled to vector instructions. `n_equal` is known already.
        let matches = &alignment.matches;
        for (found, mapped) in matches.iter().zip(&mut self.mapped) {
            *mapped += if found.is_mapped() { weight } else { 0.0 };
        }
        for (found, equal) in matches.iter().zip(&mut self.equal) {
            *equal += if found.has_subtree() { weight } else { 0.0 };
        }
        for (found, n) in matches.iter().zip(&mut self.n_mapped) {
            *n += u16::from(found.is_mapped());
        }
    }
}

/// The texts that two or more training pages have in their places, with their letters.
fn fixed_texts(page: &EncodedPage, n_equal: &[u16]) -> Vec<(u32, u32)> {
    let texts = (0..).zip(page.chars.iter().copied()).zip(n_equal);
    texts.filter(|((_, letters), n)| **n >= 2 && *letters > 0).map(|(text, _)| text).collect()
}

/// The factor by which the weight of a training page counts: little where it agrees with the others about hardly any of
/// the fixed texts of a page.
///
/// A page in another language has all the places, and other words in each of them. Each page with gold as the key page:
/// node F1 .911 -> .912 on one set of 36 sites, key pages under .5 five -> four; .918 both on the other. A larger share
/// (.35) makes one site worse, where chapters have menus of their own (.89 -> .44).
fn agreement(alignment: &Alignment, fixed: &[(u32, u32)]) -> f32 {
    /// Share of the fixed texts, by letters, that a page has in their places, if it has the places.
    const LEAST_AGREEMENT: f32 = 0.2;
    const OTHERWISE: f32 = 0.05;
    let (mut equal, mut all) = (0_u64, 0_u64);
    for (node, letters) in fixed {
        let found = alignment.matches[*node as usize];
        equal += if found.has_subtree() { u64::from(*letters) } else { 0 };
        all += if found.is_mapped() { u64::from(*letters) } else { 0 };
    }
    let (equal, all) = (equal as f32, all as f32);
    if equal < LEAST_AGREEMENT * all { OTHERWISE } else { 1.0 }
}

/// Weights of the features of a node; their sum is its score as template.
///
/// Found with a covariance-matrix evolution strategy. It maximized node F1 and main-content F1 of the dev sites, less
/// the share of main content lost, with three and eight training pages and with 16 extra ones at once. There are 14
/// weights and two costs; more of them did worse on sites left out (docs/lab/2026-11-25-site-model.md).
mod weights {
    /// Text: constant, share of equal, number of equal, share with other words, length where it is not equal.
    pub(super) const TEXT: [f64; 5] = [-4.51, 2.65, 2.22, -0.56, -1.46];
    /// Element with text: constant, share that has it, share of its text that is equal, share of its text that has
    /// other words, number of equal.
    pub(super) const ELEMENT: [f64; 5] = [-2.57, 1.45, 0.91, -1.76, 1.43];
    /// Element without text: constant, share of equal, share that has it, number of equal.
    pub(super) const EMPTY: [f64; 4] = [-2.73, 1.11, 3.11, -0.46];
    /// Added for a node with text that all pages of the kind have (`is_on_all`).
    pub(super) const ON_ALL: f64 = 2.0;
    /// Letters from which on all of `ON_ALL` is added. Shorter texts, which may be equal by chance, get their part.
    pub(super) const ON_ALL_LETTERS: f64 = 10.0;
    /// A node that no training page has is not template, whatever its neighbors are.
    pub(super) const UNKNOWN: f64 = -20.0;
    /// Cost of an edge from template to the page's own.
    pub(super) const OUT: f64 = 1.24;
    /// Cost of an edge from the page's own back to template.
    pub(super) const BACK: f64 = 12.48;
}

/// Labels of all nodes.
pub(super) fn label_nodes(page: &EncodedPage, evidence: &Evidence) -> Vec<bool> {
    if page.is_empty() || evidence.total <= 0.0 {
        return vec![false; page.len()];
    }
    max_sum_labels(&page.parent, scores(page, evidence), weights::OUT, weights::BACK)
}

fn scores(page: &EncodedPage, evidence: &Evidence) -> Vec<f64> {
    use weights::{ELEMENT, EMPTY, TEXT};
    let n = page.len();
    // Three of eight that agree are enough; of fewer than three, all of them.
    let enough = f64::from(evidence.n_of_its_kind.clamp(1, 3)).max(0.375 * f64::from(evidence.n_of_its_kind));
    // Characters below each node: all, equal, mapped with other words.
    let mut below = vec![[0.0_f32; 3]; n];
    let mut scores = vec![0.0; n];
    for node in (0..n).rev() {
        let (equal, mapped) = (evidence.equal[node] / evidence.total, evidence.mapped[node] / evidence.total);
        let number = (f64::from(evidence.n_equal[node]) / enough).min(1.0);
        let is_text = page.signature(node).is_text();
        if is_text {
            let chars = page.chars[node] as f32;
            below[node] = [chars, chars * equal, chars * (mapped - equal)];
        }
        let [chars, equal_chars, other_chars] = below[node];
        let (equal, mapped) = (f64::from(equal), f64::from(mapped));
        scores[node] = if evidence.n_mapped[node] == 0 {
            weights::UNKNOWN
        } else if is_text {
            let length = length_score(page.chars[node]);
            dot(&TEXT, [1.0, equal, number, mapped - equal, length * (1.0 - equal)])
        } else if chars > 0.0 {
            let (equal_text, other_text) = (f64::from(equal_chars / chars), f64::from(other_chars / chars));
            dot(&ELEMENT, [1.0, mapped, equal_text, other_text, number])
        } else {
            dot(&EMPTY, [1.0, equal, mapped, number])
        };
        if chars > 0.0 && evidence.is_on_all(node) {
            scores[node] += weights::ON_ALL * (f64::from(chars) / weights::ON_ALL_LETTERS).min(1.0);
        }
        if node > 0 {
            let above = &mut below[page.parent[node] as usize];
            (0..3).for_each(|k| above[k] += [chars, equal_chars, other_chars][k]);
        }
    }
    scores
}

/// The length feature of a text: ln(1 + characters) / 5. A table has the values of short texts.
fn length_score(chars: u32) -> f64 {
    const N_KNOWN: u32 = 1024;
    static KNOWN: LazyLock<Vec<f64>> = LazyLock::new(|| (0..N_KNOWN).map(score).collect());
    fn score(chars: u32) -> f64 {
        (1.0 + f64::from(chars as f32)).ln() / 5.0
    }
    KNOWN.get(chars as usize).copied().unwrap_or_else(|| score(chars))
}

fn dot<const N: usize>(weights: &[f64; N], features: [f64; N]) -> f64 {
    weights.iter().zip(features).map(|(w, f)| w * f).sum()
}

#[cfg(test)]
mod tests {
    use super::super::interner::Interner;
    use super::super::vocabulary::Vocabulary;
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    /// A page of a body, nine paragraphs and their texts, and an alignment that has the first `n` nodes.
    fn page() -> EncodedPage {
        let html: String = (0..9).map(|n| format!("<p>text {n}</p>")).collect();
        let mut pages = [EncodedPage::new(&parse(&html, &ParseOptions::default()), &Vocabulary::default())];
        Interner::default().intern_pages(&mut pages, |_| true);
        let [page] = pages;
        page
    }

    fn first(n: usize, of: usize) -> Alignment {
        let matches = (0..of).map(|node| if node < n { NodeMatch::Equal } else { NodeMatch::Absent }).collect();
        Alignment { matches }
    }

    /// What training pages have of a page, each of which counts whole.
    fn evidence(alignments: &[Alignment]) -> Evidence {
        let n_equal = |node: usize| alignments.iter().filter(|of| of.matches[node] == NodeMatch::Equal).count() as u16;
        let n_equal = (0..page().len()).map(n_equal).collect();
        Evidence::with(n_equal, alignments.iter().map(|alignment| (alignment, 1.0)))
    }

    /// The scores of the first paragraph and of its text. `n_equal` training pages are equal to the page; `n_other`
    /// have the same elements with other words.
    fn scores_with(n_equal: usize, n_other: usize) -> [f64; 2] {
        let page = page();
        let n = page.len();
        let other = || Alignment { matches: vec![NodeMatch::Partial; n] };
        let equal = (0..n_equal).map(|_| first(n, n));
        let alignments: Vec<Alignment> = equal.chain((0..n_other).map(|_| other())).collect();
        let scores = scores(&page, &evidence(&alignments));
        assert!(page.signature(2).is_text());
        assert_eq!(page.chars[2], 6);
        [scores[1], scores[2]]
    }

    #[test]
    fn scores_are_the_weighted_sums() {
        // Number of equal ones: three of eight are enough, one of eight is a third of that.
        let cases = [((4, 4), [-0.115, -1.529103]), ((1, 7), [-2.069583, -4.42593]), ((2, 0), [1.22, 0.36])];
        for ((n_equal, n_other), expected) in cases {
            let found = scores_with(n_equal, n_other);
            let is_near = |at: usize| (found[at] - expected[at]).abs() < 1e-5;
            assert!(is_near(0) && is_near(1), "{n_equal} equal, {n_other} other: {found:?}");
        }
    }

    #[test]
    fn what_all_pages_of_its_kind_have_counts_more() {
        // Six of the ten letters that count whole; four pages are the fewest.
        let (few, all) = (scores_with(3, 0), scores_with(4, 0));
        assert!((all[0] - few[0] - 1.2).abs() < 1e-6 && (all[1] - few[1] - 1.2).abs() < 1e-6, "{few:?} {all:?}");
        // One page of the kind has other words.
        assert!(scores_with(6, 1)[1] < all[1] - 1.2);
        // Two thirds of the training pages are too few: the others may be of the section.
        let n = page().len();
        let on_all = |n_other: usize| {
            let alignments: Vec<Alignment> =
                (0..6).map(|_| first(n, n)).chain((0..n_other).map(|_| first(1, n))).collect();
            evidence(&alignments).is_on_all(1)
        };
        assert!(on_all(2) && !on_all(3));
    }

    #[test]
    fn a_page_weighs_by_the_square_of_what_it_shares() {
        let n = page().len();
        let evidence = evidence(&[n, n / 2, n / 10].map(|shared| first(shared, n)));
        let squares = [n, n / 2, n / 10].map(|shared| (shared as f32 / n as f32).powi(2));
        assert!((evidence.total - squares.iter().sum::<f32>()).abs() < 1e-6);
        assert!((evidence.equal[0] - evidence.total).abs() < 1e-6);
        assert!((evidence.mapped[n - 1] - squares[0]).abs() < 1e-6);
        assert_eq!(evidence.n_of_its_kind, 2, "a tenth is another kind of page");
    }

    #[test]
    fn three_of_eight_pages_are_enough_and_one_is_not() {
        let page = page();
        let n = page.len();
        let text = n - 1;
        let score = |n_equal: usize| {
            let alignments: Vec<Alignment> = (0..8).map(|at| first(if at < n_equal { n } else { text }, n)).collect();
            let evidence = evidence(&alignments);
            let number = (n_equal as f64 / 3.0).min(1.0);
            let equal = f64::from(evidence.equal[text] / evidence.total);
            let length = (1.0 + f64::from(page.chars[text])).ln() / 5.0;
            let on_all = if n_equal == 8 { 1.2 } else { 0.0 };
            let wanted = -4.51 + 2.65 * equal + 2.22 * number - 1.46 * length * (1.0 - equal) + on_all;
            assert!((scores(&page, &evidence)[text] - wanted).abs() < 1e-6, "{n_equal} of 8");
            wanted
        };
        assert!(score(1) < -3.0 && score(8) > 0.0 && score(3) - score(2) > score(4) - score(3));
    }
}
