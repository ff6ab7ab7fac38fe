//! The five nearest ancestors that each hold more blocks than the one before.

use super::Facts;
use crate::content::numbers::{ln, ln1p};

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

pub(super) fn write(facts: &Facts<'_>, at: usize, out: &mut [f32]) {
    let width = NAMES.len();
    let (start, all) = (facts.tree.counted().start, facts.sums.all);
    let mut node = facts.blocks.list[at].container;
    let (mut child, mut child_len, mut child_blocks) = (node, facts.measures.list[at].len, 1);
    let mut level = 0;
    while level < LEVELS {
        let sum = facts.sums.subtree(facts.tree, node);
        if sum.n_blocks() > child_blocks {
            let blocks = sum.n_blocks() as f32;
            out[level * width..(level + 1) * width].copy_from_slice(&[
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
            ]);
            level += 1;
            (child_len, child_blocks) = (sum.len, sum.n_blocks());
        }
        child = node;
        if node == start {
            break;
        }
        node = facts.parent(node);
    }
    // Missing levels repeat the last one.
    let whole_page = [1.0, ln1p(all.len), 0.0, 0.0, 1.0, 0.0, ln1p(all.len), 1.0, 0.0, 0.0, 0.0, 0.0];
    for missing in level..LEVELS {
        match missing {
            0 => out[..width].copy_from_slice(&whole_page),
            _ => out.copy_within((missing - 1) * width..missing * width, missing * width),
        }
    }
}
