//! Where on the page a block is: in its order, by its text, from the title and from the first heading.

use super::Facts;
use crate::numbers::{ln, ln1p, share};
use crate::tags::Is;
use dehusk_html::NodeId;

pub(super) const NAMES: [&str; 15] = [
    "order",
    "length_before",
    "ln_blocks",
    "ln_page_length",
    "page_link_share",
    "depth",
    "steps_to_title",
    "side_of_title",
    "length_to_title",
    "steps_to_h1",
    "has_h1",
    "ln_headings_before",
    "ln_length_left",
    "page_prose_share",
    "ln_elements",
];

/// What is the same for all blocks of a page.
pub(super) struct Places {
    /// The block that has most of the title, or the first `h1`.
    title: Option<usize>,
    h1: Option<usize>,
    /// Headings up to each block.
    headings: Vec<u32>,
    ln_blocks: f32,
    ln_length: f32,
    link_share: f32,
    prose_share: f32,
    elements: f32,
}

/// Least share of the title that makes a block its place.
const LEAST_TITLE: f32 = 0.3;

impl Places {
    pub(super) fn new(facts: &Facts<'_>) -> Places {
        let is_h1 = |at: &usize| facts.tags.tag(NodeId::new(facts.blocks.list[*at].container)).is == Is::H1;
        let h1 = (0..facts.len()).find(is_h1);
        let mut best = (LEAST_TITLE, None);
        for at in 0..facts.len() {
            if facts.measures.list[at].link_share() < 0.9 {
                let (precision, recall) = facts.title_overlap[at];
                let score = precision * recall * if facts.is_heading[at] { 1.5 } else { 1.0 };
                if score > best.0 {
                    best = (score, Some(at));
                }
            }
        }
        let mut n = 0;
        let headings = facts.is_heading.iter().map(|is| {
            n += u32::from(*is);
            n
        });
        let (all, length) = (facts.sums.all, facts.sums.all.len.max(1.0));
        Places {
            title: best.1.or(h1),
            h1,
            headings: headings.collect(),
            ln_blocks: ln((facts.len() as f32).max(1.0)),
            ln_length: ln1p(length),
            link_share: all.link_len / length,
            prose_share: share(all.prose, length),
            elements: ln1p(facts.elements.n_holders as f32) / 10.0,
        }
    }

    pub(super) fn write(&self, facts: &Facts<'_>, at: usize, out: &mut [f32]) {
        let (n, length) = (facts.len() as f32, facts.sums.all.len.max(1.0));
        let (m, before) = (&facts.measures.list[at], facts.sums.len_before(at));
        let steps = |to: Option<usize>| {
            to.map_or(0.0, |to| {
                let steps = at as f32 - to as f32;
                ln1p(steps.abs()).copysign(steps) * f32::from(u8::from(steps != 0.0)) / 5.0
            })
        };
        let side = self.title.map_or(0.0, |title| (at as f32 - title as f32).clamp(-1.0, 1.0));
        out.copy_from_slice(&[
            at as f32 / (n - 1.0).max(1.0),
            (before + 0.5 * m.len) / length,
            self.ln_blocks,
            self.ln_length,
            self.link_share,
            facts.elements.list[facts.blocks.list[at].container].depth / 20.0,
            steps(self.title),
            side,
            self.title.map_or(0.0, |title| (before - facts.sums.len_before(title)) / length),
            steps(self.h1),
            f32::from(u8::from(self.h1.is_some())),
            ln1p(self.headings[at] as f32) / 3.0,
            ln1p(length - before) / 10.0,
            self.prose_share,
            self.elements,
        ]);
    }
}
