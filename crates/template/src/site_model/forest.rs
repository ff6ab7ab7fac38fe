//! Forests of regression trees (gradient boosting; Friedman 2001), which say how sure a node is template.
//!
//! The trees are not walked (QuickScorer; Lucchese et al., SIGIR 2015, section 3). A test that is false, since its
//! feature is above its threshold, leads to the right: the leaves below its left child cannot be reached. Of the leaves
//! that all false tests of a tree leave, the leftmost is the one that a walk reaches: each test on the way to it that
//! is true has it on its left. So a test is one comparison and one AND for all nodes of a page, without a branch, which
//! is compiled to vector instructions.
//!
//! `scripts/nodes/forest.py` writes the file: a line with the version, then in little-endian bytes XXH3 of the rest,
//! XXH3 of the names of the features, and the two forests: the number of trees (u16), and each tree: the number of its
//! tests, the tests (feature and reachable leaves as u16, threshold), and the values of its leaves from the left, 16 of
//! them.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::node_features::{Column, FEATURES, NodeFeatures};

const MAGIC: &[u8] = b"dehusk node forest 2\n";

/// Leaves of a tree.
const LEAVES: usize = 16;

/// Nodes whose features are read at once, so that they stay in the processor's cache.
const AT_ONCE: usize = 1024;

/// The forests that label nodes.
#[derive(Clone, Debug)]
pub(super) struct Forests {
    /// Checksum of the file.
    number: u64,
    /// Trained on main content that is guessed from the training pages.
    pub(super) by_site: Forest,
    /// Trained on main content that the page model expects.
    pub(super) by_page_model: Forest,
}

/// The trees.
#[derive(Clone, Debug)]
pub(super) struct Forest(Vec<RegressionTree>);

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

impl Forests {
    /// Reads a file. `None` for one of another version, a damaged one, or one that was trained on other features.
    pub(super) fn read(bytes: &[u8]) -> Option<Forests> {
        let (sum, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
        let number = u64::from_le_bytes(*sum);
        let (trained_on, mut rest) = rest.split_first_chunk::<8>()?;
        let is_of_these = u64::from_le_bytes(*trained_on) == xxh3_64(FEATURES.join("\n").as_bytes());
        if !is_of_these || xxh3_64(&bytes[MAGIC.len() + 8..]) != number {
            return None;
        }
        let (by_site, by_page_model) = (Forest::read(&mut rest)?, Forest::read(&mut rest)?);
        rest.is_empty().then_some(Forests { number, by_site, by_page_model })
    }

    /// The forests of this version.
    pub(super) fn of_program() -> Option<&'static Forests> {
        FORESTS.get_or_init(|| Forests::read(include_bytes!("nodes.forest"))).as_ref()
    }
}

impl Forest {
    fn read(rest: &mut &[u8]) -> Option<Forest> {
        let n_trees = u16::from_le_bytes(take(rest)?);
        (0..n_trees).map(|_| RegressionTree::read(rest)).collect::<Option<_>>().map(Forest)
    }

    /// The sum of the trees for each of `n` nodes: the logit of the probability that it is template.
    pub(super) fn logits(&self, n: usize, features: &NodeFeatures) -> Vec<f32> {
        let mut logits = vec![0.0; n];
        let mut reachable = [0; AT_ONCE];
        for (part, logits) in logits.chunks_mut(AT_ONCE).enumerate() {
            let from = part * AT_ONCE;
            self.0.iter().for_each(|tree| tree.add_to(logits, &features.0, from, &mut reachable[..logits.len()]));
        }
        logits
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

    /// Adds the values of the leaves that the nodes from `from` on reach. `reachable` is a buffer.
    fn add_to(&self, logits: &mut [f32], columns: &[Column], from: usize, reachable: &mut [u16]) {
        // A test of a feature of the page is the same for all nodes.
        let is_false =
            |test: &&Test| matches!(&columns[test.feature()], Column::Page(value) if *value > test.threshold);
        let of_page = self.tests.iter().filter(is_false).fold(u16::MAX, |all, test| all & test.reachable);
        reachable.fill(of_page);
        for test in &self.tests {
            // A test is left out if features of the page exclude the same leaves already.
            if let Column::Nodes(values) = &columns[test.feature()]
                && of_page & !test.reachable != 0
            {
                test.apply(&values[from..], reachable);
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

/// Read once. A test holds that the forests in the repository can be read.
static FORESTS: OnceLock<Option<Forests>> = OnceLock::new();

/// Replaces the forests in the program, for figures on sites that others were not trained on. Returns whether they were
/// read, and nothing was labeled before.
pub fn use_forests(bytes: &[u8]) -> bool {
    let forests = Forests::read(bytes);
    forests.is_some() && FORESTS.set(forests).is_ok()
}

/// A number for the forests. Others label pages otherwise.
pub fn forests_number() -> u64 {
    Forests::of_program().map_or(0, |forests| forests.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two trees: one with a test of the first feature and one of the second below its right child; and a single leaf.
    /// Then a forest without trees.
    fn bytes() -> Vec<u8> {
        let mut body = xxh3_64(FEATURES.join("\n").as_bytes()).to_le_bytes().to_vec();
        let (mut first, mut second) = ([0.0_f32; LEAVES], [0.0_f32; LEAVES]);
        first[..3].copy_from_slice(&[-1.0, 2.0, 4.0]);
        second[0] = 0.25;
        body.extend(2_u16.to_le_bytes());
        for (tests, leaves) in [(&[(0_u16, !1_u16), (1, !2)][..], first), (&[], second)] {
            body.push(tests.len() as u8);
            for (feature, reachable) in tests {
                body.extend([feature.to_le_bytes(), reachable.to_le_bytes()].concat());
                body.extend(0.5_f32.to_le_bytes());
            }
            body.extend(leaves.iter().flat_map(|leaf| leaf.to_le_bytes()));
        }
        body.extend(0_u16.to_le_bytes());
        framed(&body)
    }

    fn framed(body: &[u8]) -> Vec<u8> {
        [MAGIC, &xxh3_64(body).to_le_bytes(), body].concat()
    }

    #[test]
    fn the_trees_are_summed_for_each_node() {
        let forests = Forests::read(&bytes()).unwrap();
        let mut features = NodeFeatures(vec![Column::Page(0.0); FEATURES.len()]);
        features.0[0] = Column::Nodes(vec![0.4, 0.5, 0.6, 0.7]);
        features.0[1] = Column::Nodes(vec![0.9, 0.4, 0.4, 0.6]);
        let logits = |features: &NodeFeatures| forests.by_site.logits(4, features);
        assert_eq!(logits(&features), [-0.75, -0.75, 2.25, 4.25]);
        // Features of the page, which are the same for all nodes.
        features.0[1] = Column::Page(0.6);
        assert_eq!(logits(&features), [-0.75, -0.75, 4.25, 4.25]);
        features.0[0] = Column::Page(0.4);
        assert_eq!(logits(&features), [-0.75; 4]);
        assert_eq!(forests.by_page_model.logits(2, &features), [0.0; 2]);
    }

    #[test]
    fn damaged_forests_are_refused() {
        let sound = bytes();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(Forests::read(&damaged).is_none() && Forests::read(&sound[..at]).is_none(), "byte {at}");
        }
        // A test of no feature, and a tree without a leaf, under a right checksum.
        let body = &sound[MAGIC.len() + 8..];
        let test = 8 + 2 + 1;
        for (from, to) in [(test, test + 2), (test + 2, test + 4)] {
            let mut damaged = body.to_vec();
            damaged[from..to].fill(if from == test { 0xff } else { 0 });
            assert!(Forests::read(&framed(&damaged)).is_none(), "bytes {from} to {to}");
        }
        assert!(Forests::read(&framed(&[body, &[0]].concat())).is_none(), "a byte too many");
        assert!(Forests::read(&framed(body)).is_some());
    }

    #[test]
    fn the_forests_of_the_program_can_be_read() {
        let forests = Forests::of_program().unwrap();
        assert!([&forests.by_site, &forests.by_page_model].iter().all(|forest| forest.0.len() > 10));
        assert!(forests_number() != 0);
    }
}
