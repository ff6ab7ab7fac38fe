//! Where a block is in relation to the element that holds most prose, found in two ways.

use rustc_hash::FxHashMap;

use super::Facts;
use crate::sums::Sum;

pub(super) const NAMES: [&str; 15] = [
    "in_half",
    "in_most",
    "in_nearly_all",
    "before",
    "behind",
    "place",
    "steps",
    "link_share",
    "prose_share",
    "in_best",
    "steps_to_best",
    "best_share",
    "place_in_best",
    "before_best",
    "behind_best",
];

/// Shares of the page's prose that a core holds.
const SHARES: [f32; 3] = [0.5, 0.6, 0.8];

/// Steps up to a core beyond which their number does not matter.
const MOST_STEPS: f32 = 10.0;

/// The elements that hold most prose.
pub(super) struct Cores {
    /// By [`SHARES`].
    by_share: [usize; 3],
    main: Sum,
    /// The element with the greatest sum of scores, as the Readability script finds it, and its sums.
    best: Option<(usize, Sum)>,
}

impl Cores {
    pub(super) fn new(facts: &Facts<'_>) -> Cores {
        let by_share = SHARES.map(|share| descend(facts, share));
        let best = best_by_score(facts).map(|node| (node, facts.sums.subtree(facts.tree, node)));
        Cores { main: facts.sums.subtree(facts.tree, by_share[1]), by_share, best }
    }

    pub(super) fn write(&self, facts: &Facts<'_>, at: usize, out: &mut [f32]) {
        let flag = |is: bool| f32::from(u8::from(is));
        let container = facts.blocks.list[at].container;
        let start = facts.tree.counted().start;
        for (value, core) in out.iter_mut().zip(self.by_share) {
            *value = flag(core > start && facts.is_below(container, core));
        }
        let place = |sum: &Sum| {
            let from = at as f32 - sum.blocks.0 as f32;
            (from / (sum.n_blocks() as f32).max(1.0)).clamp(-1.0, 2.0)
        };
        out[3] = flag(at < self.main.blocks.0);
        out[4] = flag(at >= self.main.blocks.1);
        out[5] = place(&self.main);
        out[6] = steps(facts, container, self.by_share[1]) / 5.0;
        out[7] = self.main.link_share();
        out[8] = self.main.prose / facts.sums.all.prose.max(1.0);
        if let Some((best, sum)) = &self.best {
            out[9] = flag(sum.holds(at));
            out[10] = steps(facts, container, *best) / 5.0;
            out[11] = sum.len / facts.sums.all.len.max(1.0);
            out[12] = place(sum);
            out[13] = flag(at < sum.blocks.0);
            out[14] = flag(at >= sum.blocks.1);
        }
    }
}

/// The deepest element that holds more than this share of the prose.
fn descend(facts: &Facts<'_>, share: f32) -> usize {
    let mut core = facts.tree.counted().start;
    let least = share * facts.sums.all.prose;
    if facts.sums.all.prose == 0.0 || facts.len() == 0 {
        return core;
    }
    let has_most = |child: &usize| facts.sums.subtree(facts.tree, *child).prose > least;
    while let Some(child) = facts.tree.shape.children(dehusk_html::NodeId::new(core)).find(has_most) {
        core = child;
    }
    core
}

/// Each prose block scores for the three elements above its own, each half of the one below.
fn best_by_score(facts: &Facts<'_>) -> Option<usize> {
    let start = facts.tree.counted().start;
    let mut scores: FxHashMap<usize, f64> = FxHashMap::default();
    for (at, m) in facts.measures.list.iter().enumerate().filter(|(_, m)| m.is_prose) {
        let mut node = facts.blocks.list[at].container;
        let mut score = f64::from(m.len.sqrt() * 3.0 + m.marks + m.len / 20.0);
        for _ in 0..3 {
            let parent = facts.parent(node);
            *scores.entry(parent).or_default() += score;
            if parent == start {
                break;
            }
            (node, score) = (parent, score / 2.0);
        }
    }
    let rank = |(node, score): (&usize, &f64)| {
        let own_text = 1.0 - f64::from(facts.sums.subtree(facts.tree, *node).link_share());
        (score * own_text, *node)
    };
    let better = |a: (f64, usize), b: (f64, usize)| if (b.0, a.1) > (a.0, b.1) { b } else { a };
    scores.iter().map(rank).reduce(better).map(|(_, node)| node)
}

/// Steps from an element up to the nearest one that also holds the core.
fn steps(facts: &Facts<'_>, container: usize, core: usize) -> f32 {
    let mut node = container;
    while !facts.is_below(core, node) {
        node = facts.parent(node);
    }
    (facts.elements.list[core].depth - facts.elements.list[node].depth).min(MOST_STEPS)
}
