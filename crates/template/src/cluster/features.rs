//! A page as a set of structural features, and the distance of two such sets (Gottron 2008, section 4).

use crate::cluster::{ClusterBy, ClusterOptions};
use dehusk_html::{NodeId, Tree, mix};

/// Features of one page, as sorted distinct hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(Vec<u64>);

impl Features {
    /// The features of a page: tag paths, shingles of them, or shingles of the tag sequence. The time is linear in the
    /// page.
    ///
    /// The paper leaves two details open. Here shingles have `papers.cluster.shingle` names (4), and the sequence
    /// contains the start tags and end tags of the tree as repaired by the parser.
    pub fn new(tree: &Tree, how: &ClusterOptions) -> Features {
        let mut found = match how.by {
            ClusterBy::Cp => paths(tree),
            ClusterBy::Cps => path_shingles(tree, how.shingle),
            ClusterBy::Ctss => sequence_shingles(tree, how.shingle),
        };
        found.sort_unstable();
        found.dedup();
        Features(found)
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the page has no elements.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// d(A, B) = 1 - |A ∩ B| / max(|A|, |B|), from 0 to 1. It is not the Jaccard distance. Two empty pages have
    /// distance 0.
    pub fn distance(&self, other: &Features) -> f64 {
        let most = self.len().max(other.len());
        if most == 0 { 0.0 } else { 1.0 - self.shared(other) as f64 / most as f64 }
    }

    /// Whether the distance is at most `most`. This is cheaper than `distance`, because sizes that differ too much need
    /// no comparison.
    pub fn within(&self, other: &Features, most: f64) -> bool {
        let (few, many) = (self.len().min(other.len()), self.len().max(other.len()));
        let at_best = if many == 0 { 0.0 } else { 1.0 - few as f64 / many as f64 };
        at_best <= most && self.distance(other) <= most
    }

    fn shared(&self, other: &Features) -> usize {
        let (a, b) = (&self.0, &other.0);
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            shared += usize::from(a[i] == b[j]);
            (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
        }
        shared
    }
}

fn is_element(tree: &Tree, node: usize) -> bool {
    let node = NodeId::new(node);
    !tree.is_text(node) && !tree.name(node).starts_with('#')
}

/// For each node, whether it is an element without element children.
fn leaves(tree: &Tree) -> Vec<bool> {
    let mut is_leaf: Vec<bool> = (0..tree.len()).map(|node| is_element(tree, node)).collect();
    for node in 1..tree.len() {
        if is_element(tree, node) {
            is_leaf[tree.shape.parent[node] as usize] = false;
        }
    }
    is_leaf
}

/// CP: the tag paths from the root to the leaves.
fn paths(tree: &Tree) -> Vec<u64> {
    let shape = &tree.shape;
    let mut path = vec![0; tree.len()];
    for node in 0..tree.len() {
        let above = if node == 0 { 0 } else { path[shape.parent[node] as usize] };
        path[node] = mix(above, shape.tag[node]);
    }
    let is_leaf = leaves(tree);
    path.into_iter().zip(is_leaf).filter(|(_, is_leaf)| *is_leaf).map(|(path, _)| path).collect()
}

/// CPS: k consecutive names of a path from the root to a leaf; a shorter path is one shingle. Every element is on a
/// path, so every element with k - 1 ancestors ends a shingle.
fn path_shingles(tree: &Tree, k: usize) -> Vec<u64> {
    let shape = &tree.shape;
    let is_leaf = leaves(tree);
    let mut found = Vec::new();
    for (node, is_leaf) in is_leaf.iter().enumerate() {
        let depth = shape.depth[node] as usize;
        if !is_element(tree, node) || (depth + 1 < k && !is_leaf) {
            continue;
        }
        let (mut at, mut hash) = (node, 0);
        for _ in 0..k.min(depth + 1) {
            hash = mix(hash, shape.tag[at]);
            at = shape.parent[at] as usize;
        }
        found.push(hash);
    }
    found
}

/// CTSS: k consecutive tags of the page, start tags and end tags.
fn sequence_shingles(tree: &Tree, k: usize) -> Vec<u64> {
    const END: u64 = 1;
    let shape = &tree.shape;
    let mut sequence = Vec::with_capacity(2 * tree.len());
    // Open elements, each with the number of the first node after it.
    let mut open: Vec<(usize, u64)> = Vec::new();
    for node in 0..=tree.len() {
        while let Some((_, tag)) = open.pop_if(|(end, _)| *end <= node) {
            sequence.push(mix(END, tag));
        }
        if node < tree.len() && is_element(tree, node) {
            sequence.push(shape.tag[node]);
            open.push((node + shape.size[node] as usize, shape.tag[node]));
        }
    }
    let k = k.min(sequence.len()).max(1);
    sequence.windows(k).map(|tags| tags.iter().fold(0, |hash, tag| mix(hash, *tag))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn distance(by: ClusterBy, shingle: usize) -> f64 {
        let page = |last: &str| {
            let html = format!("<html><head></head><body><div><p></p>{last}</div><ul><li></li></ul></body></html>");
            parse(&html, &ParseOptions::default())
        };
        let how = ClusterOptions { by, shingle, ..ClusterOptions::default() };
        Features::new(&page("<p></p>"), &how).distance(&Features::new(&page("<span></span>"), &how))
    }

    #[test]
    fn the_worked_examples() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} is not {b}");
        near(distance(ClusterBy::Cp, 4), 0.25);
        near(distance(ClusterBy::Cps, 2), 0.142_857);
        near(distance(ClusterBy::Cps, 3), 0.166_667);
        near(distance(ClusterBy::Cps, 4), 0.25);
        near(distance(ClusterBy::Ctss, 3), 0.285_714);
        near(distance(ClusterBy::Ctss, 4), 0.384_615);
    }

    #[test]
    fn an_empty_page_is_as_far_as_can_be_from_any_other() {
        let how = ClusterOptions::default();
        let (none, page) = (Features::default(), Features::new(&parse("<p>a", &ParseOptions::default()), &how));
        assert_eq!(none.distance(&none), 0.0);
        assert_eq!(none.distance(&page), 1.0);
        assert!(!none.within(&page, 0.99) && page.within(&page, 0.0));
    }
}
