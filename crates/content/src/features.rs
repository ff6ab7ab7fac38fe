//! The features of each block: a row of numbers that the net reads.
//!
//! One pass over the nodes from the top, prefix sums for what is below, one pass over the blocks. `GROUPS` has the
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
use super::numbers::ln1p;
use super::sums::Sums;
use super::tags::{AROUND, HOLDERS, Tags};
use dehusk_html::{NodeId, Tree};

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
    pub(super) fn new(tree: &'t Tree) -> Facts<'t> {
        let tags = Tags::new(tree);
        let blocks = Blocks::new(tree, &tags);
        let elements = Elements::new(tree, &tags, &blocks);
        let measures = Measures::new(tree, &tags, &blocks);
        let sums = Sums::new(tree, &tags, &blocks, &measures);
        let heading = super::tags::around_bit("heading");
        let is_heading = blocks.list.iter().map(|block| elements.list[block.container].around & heading != 0).collect();
        let head = Head::new(tree, &measures);
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

    /// Gives the features of each block in order, [`N_FEATURES`] at a time.
    pub(super) fn for_each_row(&self, classes: &ClassWords, mut each: impl FnMut(&[f32])) {
        let ln_articles = ln1p(self.tree.all("article").count() as f32);
        let places = places::Places::new(self);
        let paths = paths::Paths::new(self);
        let ancestors = ancestors::Ancestors::new(self);
        let core = core::Cores::new(self);
        let neighbors = neighbors::Neighbors::new(self);
        let class = classes.sums(self);
        let mut row = [0.0; N_FEATURES];
        for (block, class) in class.into_iter().enumerate() {
            row.fill(0.0);
            let mut rest = &mut row[..];
            let mut groups = GROUPS.iter().map(|(_, width)| {
                let (group, behind) = std::mem::take(&mut rest).split_at_mut(*width);
                rest = behind;
                group
            });
            let mut next = || groups.next().unwrap_or_default();
            own::write(self, block, next());
            own::write_holder(self, block, next());
            own::write_outer_holder(self, block, next());
            own::write_around(self, block, next());
            own::write_article(self, block, ln_articles, next());
            places.write(self, block, next());
            paths.write(self, block, next());
            ancestors.write(self, block, next());
            core.write(self, block, next());
            neighbors.write(self, block, next());
            next().copy_from_slice(&class);
            each(&row);
        }
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
