//! Sums over all blocks of the page that stand in the same kind of place: the same path of names, or the same slot.

use rustc_hash::FxHashMap;

use super::Facts;
use crate::numbers::{ln, ln1p};

pub(super) const NAMES: [&str; 7] =
    ["length_share", "ln_blocks", "ln_mean_length", "link_share", "marks", "ln_deviation", "prose_share"];

#[derive(Clone, Copy, Default)]
struct PathSum {
    n: f32,
    len: f64,
    squared: f64,
    link_len: f32,
    marks: f32,
    prose: f32,
}

impl PathSum {
    fn values(&self, all: crate::sums::Sum) -> [f32; NAMES.len()] {
        let len = self.len as f32;
        let mean = self.len / f64::from(self.n.max(1.0));
        let variance = (self.squared / f64::from(self.n.max(1.0)) - mean * mean).max(0.0);
        [
            len / all.len.max(1.0),
            ln(self.n.max(1.0)),
            ln1p(mean as f32),
            self.link_len / len.max(1.0),
            (self.marks / len.max(1.0) * 30.0).min(2.0),
            ln1p(variance.sqrt() as f32),
            self.prose / all.prose.max(1.0),
        ]
    }
}

/// The values of each path of the page.
pub(super) struct Paths {
    by_tag_path: FxHashMap<u64, [f32; NAMES.len()]>,
    by_slot: FxHashMap<u64, [f32; NAMES.len()]>,
}

#[derive(Default)]
struct PathSums {
    by_tag_path: FxHashMap<u64, PathSum>,
    by_slot: FxHashMap<u64, PathSum>,
}

impl Paths {
    pub(super) fn new(facts: &Facts<'_>) -> Paths {
        let mut sums = PathSums::default();
        for (at, m) in facts.measures.list.iter().enumerate() {
            let element = &facts.elements.list[facts.blocks.list[at].container];
            let paths =
                [sums.by_tag_path.entry(element.tag_path).or_default(), sums.by_slot.entry(element.slot).or_default()];
            for sum in paths {
                sum.n += 1.0;
                sum.len += f64::from(m.len);
                sum.squared += f64::from(m.len) * f64::from(m.len);
                sum.link_len += m.link_len;
                sum.marks += m.marks;
                sum.prose += if m.is_prose { m.len } else { 0.0 };
            }
        }
        let values = |sums: FxHashMap<u64, PathSum>| {
            sums.into_iter().map(|(path, sum)| (path, sum.values(facts.sums.all))).collect()
        };
        Paths { by_tag_path: values(sums.by_tag_path), by_slot: values(sums.by_slot) }
    }

    pub(super) fn write(&self, facts: &Facts<'_>, at: usize, out: &mut [f32]) {
        let element = &facts.elements.list[facts.blocks.list[at].container];
        let (first, second) = out.split_at_mut(NAMES.len());
        let of = |paths: &FxHashMap<u64, [f32; NAMES.len()]>, path: u64| paths.get(&path).copied().unwrap_or_default();
        first.copy_from_slice(&of(&self.by_tag_path, element.tag_path));
        second.copy_from_slice(&of(&self.by_slot, element.slot));
    }
}
