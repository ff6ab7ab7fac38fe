//! A forest of regression trees (gradient boosting; Friedman 2001), which says how sure a node is template.
//!
//! The trees are not walked (QuickScorer; Lucchese et al., SIGIR 2015, section 3). A test that is false, since its
//! feature is above its threshold, leads to the right: the leaves below its left child cannot be reached. Of the leaves
//! that all false tests of a tree leave, the leftmost is the one that a walk reaches: each test on the way to it that
//! is true has it on its left. So a test is one comparison and one AND for all nodes of a page, without a branch, which
//! is compiled to vector instructions.
//!
//! `scripts/nodes/forest.py` writes the file: a line with the version, then in little-endian bytes XXH3 of the rest,
//! XXH3 of the names of the features, and each tree: the number of its tests, the tests (feature and reachable leaves
//! as u16, threshold), and the values of its leaves from the left, 16 of them.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::node_features::{Column, FEATURES, NodeFeatures};

const MAGIC: &[u8] = b"dehusk node forest 1\n";

/// Leaves of a tree.
const LEAVES: usize = 16;

/// The trees.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    /// Checksum of the file.
    number: u64,
    trees: Vec<RegressionTree>,
}

#[derive(Clone, Debug)]
struct RegressionTree {
    tests: Vec<Test>,
    /// The values of the leaves, from the left.
    leaves: [f32; LEAVES],
}

/// True for values of at most `threshold`.
#[derive(Clone, Copy, Debug)]
struct Test {
    feature: u16,
    /// The leaves that can be reached where it is false, the leftmost in the lowest bit.
    reachable: u16,
    threshold: f32,
}

impl Forest {
    /// Reads a file. `None` for one of another version, a damaged one, or one that was trained on other features.
    pub(super) fn read(bytes: &[u8]) -> Option<Forest> {
        let (sum, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
        let number = u64::from_le_bytes(*sum);
        let (trained_on, mut rest) = rest.split_first_chunk::<8>()?;
        let is_of_these = u64::from_le_bytes(*trained_on) == xxh3_64(FEATURES.join("\n").as_bytes());
        if !is_of_these || xxh3_64(&bytes[MAGIC.len() + 8..]) != number {
            return None;
        }
        let mut trees = Vec::new();
        while !rest.is_empty() {
            trees.push(RegressionTree::read(&mut rest)?);
        }
        Some(Forest { number, trees })
    }

    /// The forest of this version.
    pub(super) fn of_program() -> Option<&'static Forest> {
        FOREST.get_or_init(|| Forest::read(include_bytes!("nodes.forest"))).as_ref()
    }

    /// The nodes that a training page has, and the sum of the trees for each: the logit of the probability that it is
    /// template.
    pub(super) fn logits(&self, features: &NodeFeatures) -> Vec<(usize, f32)> {
        let nodes: Vec<usize> = (0..features.n_mapped.len()).filter(|node| features.n_mapped[*node] > 0).collect();
        let of_nodes = |column: &Column| match column {
            Column::Nodes(values) => Column::Nodes(nodes.iter().map(|node| values[*node]).collect()),
            Column::Page(value) => Column::Page(*value),
        };
        let columns: Vec<Column> = features.columns.iter().map(of_nodes).collect();
        let (mut logits, mut reachable) = (vec![0.0; nodes.len()], vec![0_u16; nodes.len()]);
        for tree in &self.trees {
            tree.add_to(&mut logits, &columns, &mut reachable);
        }
        nodes.into_iter().zip(logits).collect()
    }
}

impl RegressionTree {
    /// A tree whose tests are of known features, and which has a leaf that is reached where all of them are false.
    fn read(rest: &mut &[u8]) -> Option<RegressionTree> {
        let [n_tests] = take(rest)?;
        let tests = (0..n_tests).map(|_| Test::read(rest)).collect::<Option<Vec<_>>>()?;
        let mut leaves = [0.0; LEAVES];
        for leaf in &mut leaves {
            *leaf = f32::from_le_bytes(take(rest)?);
        }
        let is_known = |test: &Test| test.feature() < FEATURES.len();
        let reachable = tests.iter().fold(u16::MAX, |all, test| all & test.reachable);
        (tests.iter().all(is_known) && reachable != 0).then_some(RegressionTree { tests, leaves })
    }

    /// Adds the values of the leaves that the nodes reach. `reachable` is a buffer.
    fn add_to(&self, logits: &mut [f32], columns: &[Column], reachable: &mut [u16]) {
        // A test of a feature of the page is the same for all nodes.
        let is_false =
            |test: &&Test| matches!(&columns[test.feature()], Column::Page(value) if *value > test.threshold);
        let of_page = self.tests.iter().filter(is_false).fold(u16::MAX, |all, test| all & test.reachable);
        reachable.fill(of_page);
        for test in &self.tests {
            // Where the page rules out all that the test would, it says nothing.
            if let Column::Nodes(values) = &columns[test.feature()]
                && of_page & !test.reachable != 0
            {
                test.apply(values, reachable);
            }
        }
        for (logit, reachable) in logits.iter_mut().zip(reachable) {
            *logit += self.leaves[reachable.trailing_zeros() as usize % LEAVES];
        }
    }
}

impl Test {
    fn feature(&self) -> usize {
        usize::from(self.feature)
    }

    /// Leaves what can be reached of the leaves of each node. A mask of all bits stands for a test that is true.
    fn apply(self, column: &[f32], reachable: &mut [u16]) {
        for (reachable, value) in reachable.iter_mut().zip(column) {
            *reachable &= self.reachable | u16::from(*value <= self.threshold).wrapping_neg();
        }
    }

    fn read(rest: &mut &[u8]) -> Option<Test> {
        let [feature, reachable] = [u16::from_le_bytes(take(rest)?), u16::from_le_bytes(take(rest)?)];
        Some(Test { feature, reachable, threshold: f32::from_le_bytes(take(rest)?) })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

/// Read once. A test holds that the forest in the repository can be read.
static FOREST: OnceLock<Option<Forest>> = OnceLock::new();

/// Replaces the forest in the program, for figures on sites that another one was not trained on. Returns whether it was
/// read, and nothing was labeled before.
pub fn use_forest(bytes: &[u8]) -> bool {
    let forest = Forest::read(bytes);
    forest.is_some() && FOREST.set(forest).is_ok()
}

/// A number for the forest. Another one labels pages otherwise.
pub fn forest_number() -> u64 {
    Forest::of_program().map_or(0, |forest| forest.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two trees: one with a test of the first feature and one of the second below its right child; and a single leaf.
    fn bytes() -> Vec<u8> {
        let mut body = xxh3_64(FEATURES.join("\n").as_bytes()).to_le_bytes().to_vec();
        let (mut first, mut second) = ([0.0_f32; LEAVES], [0.0_f32; LEAVES]);
        first[..3].copy_from_slice(&[-1.0, 2.0, 4.0]);
        second[0] = 0.25;
        for (tests, leaves) in [(&[(0_u16, !1_u16), (1, !2)][..], first), (&[], second)] {
            body.push(tests.len() as u8);
            for (feature, reachable) in tests {
                body.extend([feature.to_le_bytes(), reachable.to_le_bytes()].concat());
                body.extend(0.5_f32.to_le_bytes());
            }
            body.extend(leaves.iter().flat_map(|leaf| leaf.to_le_bytes()));
        }
        framed(&body)
    }

    fn framed(body: &[u8]) -> Vec<u8> {
        [MAGIC, &xxh3_64(body).to_le_bytes(), body].concat()
    }

    #[test]
    fn the_trees_are_summed_for_each_node() {
        let forest = Forest::read(&bytes()).unwrap();
        let mut columns = vec![Column::Page(0.0); FEATURES.len()];
        columns[0] = Column::Nodes(vec![0.4, 0.5, 9.0, 0.6, 0.7]);
        columns[1] = Column::Nodes(vec![0.9, 0.4, 9.0, 0.4, 0.6]);
        let mut features = NodeFeatures { columns, n_mapped: vec![1, 1, 0, 1, 1], n_pages: 1 };
        assert_eq!(forest.logits(&features), [(0, -0.75), (1, -0.75), (3, 2.25), (4, 4.25)]);
        // Features of the page, which are the same for all nodes.
        features.columns[1] = Column::Page(0.6);
        assert_eq!(forest.logits(&features), [(0, -0.75), (1, -0.75), (3, 4.25), (4, 4.25)]);
        features.columns[0] = Column::Page(0.4);
        assert_eq!(forest.logits(&features), [0, 1, 3, 4].map(|node| (node, -0.75)));
    }

    #[test]
    fn damaged_forests_are_refused() {
        let sound = bytes();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(Forest::read(&damaged).is_none() && Forest::read(&sound[..at]).is_none(), "byte {at}");
        }
        // A test of no feature, and a tree without a leaf, under a right checksum.
        let body = &sound[MAGIC.len() + 8..];
        let test = 8 + 1;
        for (from, to) in [(test, test + 2), (test + 2, test + 4)] {
            let mut damaged = body.to_vec();
            damaged[from..to].fill(if from == test { 0xff } else { 0 });
            assert!(Forest::read(&framed(&damaged)).is_none(), "bytes {from} to {to}");
        }
        assert!(Forest::read(&framed(body)).is_some());
    }

    #[test]
    fn the_forest_of_the_program_can_be_read() {
        assert!(Forest::of_program().is_some_and(|forest| forest.trees.len() > 10) && forest_number() != 0);
    }
}
