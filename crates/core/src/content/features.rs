//! The features of each block: a row of numbers that the net reads.
//!
//! One pass over the nodes from the top, prefix sums for what is below, one pass over the blocks. `NAMES` has the
//! order. All are language independent: no word and no class name is named here.

mod ancestors;
mod core;
mod neighbors;
mod own;
mod paths;
mod places;

use super::blocks::Blocks;
use super::class_words::ClassWords;
use super::elements::Elements;
use super::head::Head;
use super::measures::{Measure, Measures};
use super::sums::Sums;
use super::tags::{AROUND, HOLDERS, Tags};
use crate::dom::{NodeId, Tree};

/// A group of features and how many columns it has.
const GROUPS: [(&str, usize); 11] = [
    ("own", own::NAMES.len()),
    ("holder", HOLDERS.len()),
    ("outer_holder", HOLDERS.len()),
    ("around", AROUND.len()),
    ("article", own::ARTICLE.len()),
    ("place", places::NAMES.len()),
    ("path", 2 * paths::NAMES.len()),
    ("ancestor", ancestors::LEVELS * ancestors::NAMES.len()),
    ("core", core::NAMES.len()),
    ("neighbor", neighbors::OFFSETS.len() * neighbors::NAMES.len() + neighbors::SMOOTHED.len()),
    ("class", 2),
];

/// Number of features of a block.
pub const N_FEATURES: usize = {
    let (mut sum, mut at) = (0, 0);
    while at < GROUPS.len() {
        sum += GROUPS[at].1;
        at += 1;
    }
    sum
};

/// The names of the features, in their order.
pub fn feature_names() -> Vec<String> {
    let mut names: Vec<String> = own::NAMES.iter().map(|name| format!("own.{name}")).collect();
    names.extend(HOLDERS.iter().map(|name| format!("holder.{name}")));
    names.extend(HOLDERS.iter().map(|name| format!("outer_holder.{name}")));
    names.extend(AROUND.iter().map(|name| format!("around.{name}")));
    names.extend(own::ARTICLE.iter().map(|name| format!("article.{name}")));
    names.extend(places::NAMES.iter().map(|name| format!("place.{name}")));
    for kind in ["tag_path", "slot"] {
        names.extend(paths::NAMES.iter().map(|name| format!("{kind}.{name}")));
    }
    for level in 1..=ancestors::LEVELS {
        names.extend(ancestors::NAMES.iter().map(|name| format!("ancestor{level}.{name}")));
    }
    names.extend(core::NAMES.iter().map(|name| format!("core.{name}")));
    for offset in neighbors::OFFSETS {
        names.extend(neighbors::NAMES.iter().map(|name| format!("neighbor{offset:+}.{name}")));
    }
    names.extend(neighbors::SMOOTHED.iter().map(|name| format!("neighbor.{name}")));
    names.extend(["near", "far"].map(|name| format!("class.{name}")));
    names
}

/// A page, read for its features.
pub(super) struct Facts<'t> {
    pub(super) tree: &'t Tree,
    pub(super) tags: Tags<'t>,
    pub(super) blocks: Blocks,
    pub(super) elements: Elements,
    pub(super) measures: Measures,
    pub(super) sums: Sums,
    pub(super) head: Head,
    /// Whether each block is below a heading element.
    pub(super) is_heading: Vec<bool>,
    /// Of each block: share of its words that are in the title, and share of the title's words that are in it.
    pub(super) title_overlap: Vec<(f32, f32)>,
}

impl<'t> Facts<'t> {
    pub(super) fn of(tree: &'t Tree) -> Facts<'t> {
        let tags = Tags::of(tree);
        let blocks = Blocks::of(tree, &tags);
        let elements = Elements::of(tree, &tags, &blocks);
        let measures = Measures::of(tree, &tags, &blocks);
        let sums = Sums::of(tree, &tags, &blocks, &measures);
        let heading = super::tags::around_bit("heading");
        let is_heading = blocks.list.iter().map(|block| elements.list[block.container].around & heading != 0).collect();
        let head = Head::of(tree, &measures);
        let overlap = |m: &Measure| own::title_overlap(&head, m, &measures.words[m.words.clone()]);
        let title_overlap = measures.list.iter().map(overlap).collect();
        Facts { tree, tags, blocks, elements, sums, is_heading, title_overlap, head, measures }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.list.len()
    }

    /// The parent of a node; the body is its own.
    pub(super) fn parent(&self, node: usize) -> usize {
        (self.tree.shape.parent[node] as usize).max(self.tree.counted().start)
    }

    /// The slot of a block.
    pub(super) fn slot(&self, block: usize) -> u64 {
        self.elements.list[self.blocks.list[block].container].slot
    }

    /// Whether a node is below another one, or is it.
    pub(super) fn is_below(&self, node: usize, above: usize) -> bool {
        self.tree.shape.subtree(NodeId::new(above)).contains(&node)
    }

    /// The features of all blocks, row by row, [`N_FEATURES`] for each.
    pub(super) fn features(&self, classes: &ClassWords) -> Vec<f32> {
        let mut rows = vec![0.0; self.len() * N_FEATURES];
        let mut from = 0;
        let mut write = |width: usize, row: &dyn Fn(usize, &mut [f32])| {
            for (block, values) in rows.chunks_exact_mut(N_FEATURES).enumerate() {
                row(block, &mut values[from..from + width]);
            }
            from += width;
        };
        write(GROUPS[0].1, &|block, out| own::write(self, block, out));
        write(GROUPS[1].1, &|block, out| own::write_holder(self, block, out));
        write(GROUPS[2].1, &|block, out| own::write_outer_holder(self, block, out));
        write(GROUPS[3].1, &|block, out| own::write_around(self, block, out));
        let articles = self.tree.all("article").count();
        write(GROUPS[4].1, &|block, out| own::write_article(self, block, articles, out));
        let places = places::Places::of(self);
        write(GROUPS[5].1, &|block, out| places.write(self, block, out));
        let paths = paths::PathSums::of(self);
        write(GROUPS[6].1, &|block, out| paths.write(self, block, out));
        write(GROUPS[7].1, &|block, out| ancestors::write(self, block, out));
        let core = core::Cores::of(self);
        write(GROUPS[8].1, &|block, out| core.write(self, block, out));
        let neighbors = neighbors::Neighbors::of(self);
        write(GROUPS[9].1, &|block, out| neighbors.write(self, block, out));
        let class = classes.sums(self);
        write(GROUPS[10].1, &|block, out| out.copy_from_slice(&class[block]));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_name() {
        let names = feature_names();
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!((names.len(), distinct.len()), (N_FEATURES, N_FEATURES));
    }
}
