//! Weighs what the witnesses said, and labels the whole tree at once.

use super::align::{Alignment, Said};
use super::page::Page;

/// What all witnesses said of each node.
pub(super) struct Testimony {
    of_node: Vec<Heard>,
    total: f32,
    n_witnesses: u16,
}

/// What was said of one node.
#[derive(Clone, Copy, Default)]
struct Heard {
    /// Weight of the witnesses that have its subtree.
    equal: f32,
    /// Weight of the witnesses that have it.
    mapped: f32,
    /// Witnesses that have its subtree in its place.
    n_equal: u16,
    /// Witnesses that have it.
    n_mapped: u16,
}

impl Testimony {
    pub(super) fn new(page: &Page) -> Testimony {
        Testimony { of_node: vec![Heard::default(); page.len()], total: 0.0, n_witnesses: 0 }
    }

    /// Adds a witness. Its weight is the square of the share of the page that it has: a page of another kind knows
    /// little of what is template here.
    pub(super) fn add(&mut self, alignment: &Alignment) {
        /// A witness that shares nothing still counts a little, or one alone would always be right.
        const LEAST: f32 = 0.02;
        let n = alignment.said.len();
        let shared = alignment.said.iter().filter(|said| **said != Said::Absent).count();
        let weight = (shared as f32 / n.max(1) as f32).max(LEAST).powi(2);
        self.total += weight;
        self.n_witnesses += 1;
        for (said, heard) in alignment.said.iter().zip(&mut self.of_node) {
            if *said == Said::Absent {
                continue;
            }
            heard.mapped += weight;
            heard.n_mapped += 1;
            if *said != Said::Mapped {
                heard.equal += weight;
                heard.n_equal += u16::from(*said == Said::Equal);
            }
        }
    }
}

/// Weights of what speaks for and against a node; the sum is its score as template.
///
/// Found with a covariance-matrix evolution strategy that maximised node F1 and main-content F1 of the dev sites less the
/// share of main content lost, with three and eight training pages and with 16 further ones at once, and not a likelihood
/// of nodes. 14 numbers and two costs, as more of them did worse on sites left out; docs/measurements.md has those figures.
mod weights {
    /// Text: constant, share of equal, number of equal, share with other words, length where it is not equal.
    pub(super) const TEXT: [f64; 5] = [-4.51, 2.65, 2.22, -0.56, -1.46];
    /// Element with text: constant, share that has it, share of its text that is equal, share of its text that has
    /// other words, number of equal.
    pub(super) const ELEMENT: [f64; 5] = [-2.57, 1.45, 0.91, -1.76, 1.43];
    /// Element without text: constant, share of equal, share that has it, number of equal.
    pub(super) const EMPTY: [f64; 4] = [-2.73, 1.11, 3.11, -0.46];
    /// A node that no witness has is not template, whatever stands around it.
    pub(super) const UNKNOWN: f64 = -20.0;
    /// Cost of an edge from template to the page's own.
    pub(super) const OUT: f64 = 1.24;
    /// Cost of an edge from the page's own back to template.
    pub(super) const BACK: f64 = 12.48;
}

/// Labels of all nodes, and the number of witnesses that have each.
pub(super) fn decide(page: &Page, testimony: &Testimony) -> (Vec<bool>, Vec<u16>) {
    let n = page.len();
    if n == 0 || testimony.total <= 0.0 {
        return (vec![false; n], vec![0; n]);
    }
    (
        decide_tree(&page.parent, scores(page, testimony), weights::OUT, weights::BACK),
        testimony.of_node.iter().map(|heard| heard.n_mapped).collect(),
    )
}

fn scores(page: &Page, testimony: &Testimony) -> Vec<f64> {
    use weights::{ELEMENT, EMPTY, TEXT};
    let n = page.len();
    // Three of eight that agree are enough; of fewer than three, all of them.
    let enough = f64::from(testimony.n_witnesses.clamp(1, 3)).max(0.375 * f64::from(testimony.n_witnesses));
    // Characters below each node: all, equal, mapped with other words.
    let mut below = vec![[0.0_f32; 3]; n];
    let mut scores = vec![0.0; n];
    for node in (0..n).rev() {
        let heard = &testimony.of_node[node];
        let (equal, mapped) = (heard.equal / testimony.total, heard.mapped / testimony.total);
        let number = (f64::from(heard.n_equal) / enough).min(1.0);
        let is_text = page.kind(node).is_text();
        if is_text {
            let chars = page.chars[node] as f32;
            below[node] = [chars, chars * equal, chars * (mapped - equal)];
        }
        let [chars, equal_chars, other_chars] = below[node];
        let (equal, mapped) = (f64::from(equal), f64::from(mapped));
        scores[node] = if heard.n_mapped == 0 {
            weights::UNKNOWN
        } else if is_text {
            let length = (1.0 + f64::from(chars)).ln() / 5.0;
            dot(&TEXT, [1.0, equal, number, mapped - equal, length * (1.0 - equal)])
        } else if chars > 0.0 {
            let (equal_text, other_text) = (f64::from(equal_chars / chars), f64::from(other_chars / chars));
            dot(&ELEMENT, [1.0, mapped, equal_text, other_text, number])
        } else {
            dot(&EMPTY, [1.0, equal, mapped, number])
        };
        if node > 0 {
            let above = &mut below[page.parent[node] as usize];
            (0..3).for_each(|k| above[k] += [chars, equal_chars, other_chars][k]);
        }
    }
    scores
}

fn dot<const N: usize>(weights: &[f64; N], features: [f64; N]) -> f64 {
    weights.iter().zip(features).map(|(w, f)| w * f).sum()
}

/// The labelling with the greatest sum of scores of template nodes less the costs of edges between labels; the body is
/// template. Exact, from the leaves up and back down: the tree has no cycles.
///
/// `out` is the cost of an edge from template to the page's own, `back` that of an edge back to template.
pub fn decide_tree(parent: &[u32], scores: Vec<f64>, out: f64, back: f64) -> Vec<bool> {
    let n = scores.len();
    let (mut template, mut own) = (scores, vec![0.0; n]);
    for node in (1..n).rev() {
        let parent = parent[node] as usize;
        template[parent] += template[node].max(own[node] - out);
        own[parent] += own[node].max(template[node] - back);
    }
    let mut labels = vec![true; n];
    for node in 1..n {
        labels[node] = match labels[parent[node] as usize] {
            true => template[node] >= own[node] - out,
            false => template[node] - back > own[node],
        };
    }
    labels
}
