//! The five nearest ancestors that each hold more blocks than the one before.

use super::Facts;
use crate::numbers::{ln, ln1p};
use crate::sums::Sum;

pub(super) const LEVELS: usize = 5;

pub(super) const NAMES: [&str; 12] = [
    "length_share",
    "ln_length",
    "link_share",
    "marks",
    "prose_share",
    "ln_blocks",
    "ln_mean_length",
    "child_share",
    "ln_like_children",
    "inputs",
    "ln_images",
    "depth",
];

/// The steps up from elements that hold blocks.
pub(super) struct Ancestors {
    steps: Vec<Step>,
    /// By node: the number of the step to the nearest ancestor that holds more blocks.
    of_node: Vec<u32>,
    /// ln(1 + length) of the page.
    length: f32,
}

/// No step was looked for.
const UNKNOWN: u32 = u32::MAX;
/// There is no step.
const NONE: u32 = u32::MAX - 1;

struct Step {
    to: usize,
    values: [f32; NAMES.len()],
}

impl Ancestors {
    pub(super) fn new(facts: &Facts<'_>) -> Ancestors {
        let (mut steps, mut of_node): (Vec<Step>, Vec<u32>) = (Vec::new(), vec![UNKNOWN; facts.tree.len()]);
        for block in &facts.blocks.list {
            let mut node = block.container;
            while of_node[node] == UNKNOWN {
                let Some(step) = step_from(facts, node) else {
                    of_node[node] = NONE;
                    break;
                };
                of_node[node] = steps.len() as u32;
                node = step.to;
                steps.push(step);
            }
        }
        Ancestors { steps, of_node, length: ln1p(facts.sums.all.len) }
    }

    pub(super) fn write(&self, facts: &Facts<'_>, at: usize, out: &mut [f32]) {
        let mut node = facts.blocks.list[at].container;
        let mut levels = out.chunks_exact_mut(NAMES.len());
        // Missing levels repeat the last one.
        let mut last = [1.0, self.length, 0.0, 0.0, 1.0, 0.0, self.length, 1.0, 0.0, 0.0, 0.0, 0.0];
        let sum = facts.sums.subtree(facts.tree, node);
        if sum.n_blocks() > 1
            && let Some(level) = levels.next()
        {
            last = values(facts, node, &sum, (node, facts.measures.list[at].len));
            level.copy_from_slice(&last);
        }
        for level in levels {
            if let Some(step) = self.steps.get(self.of_node[node] as usize) {
                (node, last) = (step.to, step.values);
            }
            level.copy_from_slice(&last);
        }
    }
}

fn step_from(facts: &Facts<'_>, from: usize) -> Option<Step> {
    let start = facts.tree.counted().start;
    let below = facts.sums.subtree(facts.tree, from);
    let mut child = from;
    while child != start {
        let node = facts.parent(child);
        let sum = facts.sums.subtree(facts.tree, node);
        if sum.n_blocks() > below.n_blocks() {
            return Some(Step { to: node, values: values(facts, node, &sum, (child, below.len)) });
        }
        child = node;
    }
    None
}

/// The features of an ancestor, above a child and a length of text in it.
fn values(facts: &Facts<'_>, node: usize, sum: &Sum, (child, child_len): (usize, f32)) -> [f32; NAMES.len()] {
    let (all, blocks) = (facts.sums.all, sum.n_blocks() as f32);
    [
        sum.len / all.len.max(1.0),
        ln1p(sum.len),
        sum.link_share(),
        sum.mark_rate(),
        sum.prose / all.prose.max(1.0),
        ln(blocks),
        ln1p(sum.len / blocks),
        child_len / sum.len.max(1.0),
        ln(facts.elements.n_like(facts.tree, child) as f32),
        sum.inputs.min(3.0),
        ln1p(sum.images).min(3.0),
        facts.elements.list[node].depth / 20.0,
    ]
}
