//! Sums over the blocks of a subtree, in constant time from prefix sums.

use super::blocks::Blocks;
use super::measures::Measures;
use super::tags::{Is, Tags};
use dehusk_html::{NodeId, Tree};

/// Sums over the blocks of a subtree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    /// Number of its first block, and the number behind its last one.
    pub(super) blocks: (usize, usize),
    pub(super) len: f32,
    pub(super) link_len: f32,
    pub(super) marks: f32,
    /// Length of its prose.
    pub(super) prose: f32,
    pub(super) images: f32,
    pub(super) inputs: f32,
}

impl Sum {
    pub(super) fn n_blocks(&self) -> usize {
        self.blocks.1 - self.blocks.0
    }

    pub(super) fn link_share(&self) -> f32 {
        self.link_len / self.len.max(1.0)
    }

    pub(super) fn mark_rate(&self) -> f32 {
        (self.marks / self.len.max(1.0) * 30.0).min(2.0)
    }

    pub(super) fn holds(&self, block: usize) -> bool {
        (self.blocks.0..self.blocks.1).contains(&block)
    }
}

/// Prefix sums over blocks and nodes. Sums are of whole numbers below 2^53, so that their order does not matter.
#[derive(Debug)]
pub(super) struct Sums {
    /// Of each node, and of the end: number of blocks that begin before it.
    blocks_before: Vec<u32>,
    len: Vec<f64>,
    link_len: Vec<f64>,
    marks: Vec<f64>,
    prose: Vec<f64>,
    images: Vec<u32>,
    inputs: Vec<u32>,
    pub(super) all: Sum,
}

impl Sums {
    pub(super) fn new(tree: &Tree, tags: &Tags<'_>, blocks: &Blocks, measures: &Measures) -> Sums {
        let prefix = |value: &dyn Fn(usize) -> f32| {
            let mut sum = 0.0;
            let mut sums = vec![0.0];
            sums.extend((0..measures.list.len()).map(|block| {
                sum += f64::from(value(block));
                sum
            }));
            sums
        };
        let count = |is: Is| {
            let mut n = 0;
            let mut counts = vec![0];
            counts.extend((0..tree.len()).map(|node| {
                let id = NodeId::new(node);
                n += u32::from(!tree.is_text(id) && tags.tag(id).is == is);
                n
            }));
            counts
        };
        let list = &measures.list;
        let mut sums = Sums {
            blocks_before: blocks_before(tree, blocks),
            len: prefix(&|at| list[at].len),
            link_len: prefix(&|at| list[at].link_len),
            marks: prefix(&|at| list[at].marks),
            prose: prefix(&|at| if list[at].is_prose { list[at].len } else { 0.0 }),
            images: count(Is::Image),
            inputs: count(Is::Input),
            all: Sum::default(),
        };
        sums.all = sums.range(tree.counted());
        sums
    }

    /// The sums over a subtree.
    pub(super) fn subtree(&self, tree: &Tree, node: usize) -> Sum {
        self.range(tree.shape.subtree(NodeId::new(node)))
    }

    fn range(&self, nodes: std::ops::Range<usize>) -> Sum {
        let [from, to] = [nodes.start, nodes.end].map(|node| self.blocks_before[node] as usize);
        let between = |sums: &[f64]| (sums[to] - sums[from]) as f32;
        Sum {
            blocks: (from, to),
            len: between(&self.len),
            link_len: between(&self.link_len),
            marks: between(&self.marks),
            prose: between(&self.prose),
            images: (self.images[nodes.end] - self.images[nodes.start]) as f32,
            inputs: (self.inputs[nodes.end] - self.inputs[nodes.start]) as f32,
        }
    }

    /// Images among these nodes.
    pub(super) fn images_between(&self, from: usize, to: usize) -> f32 {
        (self.images[to] - self.images[from]) as f32
    }

    /// Length of all blocks before this one.
    pub(super) fn len_before(&self, block: usize) -> f32 {
        self.len[block] as f32
    }
}

fn blocks_before(tree: &Tree, blocks: &Blocks) -> Vec<u32> {
    let mut before = vec![0; tree.len() + 1];
    blocks.list.iter().for_each(|block| before[blocks.first_node(block) + 1] += 1);
    (1..before.len()).for_each(|node| before[node] += before[node - 1]);
    before
}
