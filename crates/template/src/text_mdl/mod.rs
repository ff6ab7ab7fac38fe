//! Clusters the pages of a mixed collection by template and finds the paths of each template: TEXT-MDL, TEXT-HASH and
//! TEXT-MAX (Kim and Shim 2011).
//!
//! A page is a set of tag paths, of which only the essential ones count: those that enough pages have (`paths.rs`). The
//! cost of a clustering is the number of ones in its matrices (`cost.rs`). Clusters are merged as long as the cost
//! falls. The pairs to merge are searched among all pairs (`greedy.rs`), with the exact cost or an estimate by extended
//! MinHash (`signature.rs`), or only among the clusters that share the most of a signature (`max.rs`).

mod cost;
mod entropy;
mod greedy;
mod max;
mod options;
mod paths;
mod signature;
mod templates;

pub use cost::{Cluster, entropy_cost};
pub use options::{TextCost, TextMethod, TextOptions};
pub use paths::{Essential, Implied, Paths, path_names};
pub use templates::{TextTemplate, TextTemplates, TextTemplatesError};

use signature::Signature;

/// A partition of pages into clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// Clusters in the order of their first pages.
    pub clusters: Vec<Cluster>,
    /// Count cost: the ones of the templates and of the differences from them.
    pub cost: u64,
    /// The count cost as estimated by signatures; `None` for a method without signatures.
    pub estimated: Option<f64>,
}

impl Clustering {
    /// The cluster number of each page.
    pub fn of_pages(&self) -> Vec<usize> {
        let n = self.clusters.iter().map(|cluster| cluster.members.len()).sum();
        let mut of_page = vec![0; n];
        for (number, cluster) in self.clusters.iter().enumerate() {
            cluster.members.iter().for_each(|page| of_page[*page as usize] = number);
        }
        of_page
    }
}

/// Clusters pages by their essential paths.
pub fn cluster(pages: &[Essential], how: &TextOptions) -> Clustering {
    let start = grouped(pages);
    let (mut clusters, estimated) = match how.method {
        TextMethod::Mdl if how.cost == TextCost::Entropy => (entropy::merge(start, pages.len()), None),
        TextMethod::Mdl => (greedy::merge(start, Cluster::saving), None),
        TextMethod::Hash => {
            let signed = start.into_iter().map(|cluster| Signature::sign(cluster, how.signature)).collect();
            unsigned(greedy::merge(signed, Signature::saving))
        }
        TextMethod::Max => {
            let signed = start.into_iter().map(|cluster| Signature::sign(cluster, how.signature)).collect();
            unsigned(max::merge(signed, how.bucket))
        }
    };
    clusters.iter_mut().for_each(|cluster| cluster.members.sort_unstable());
    clusters.sort_unstable_by_key(|cluster| cluster.members.first().copied());
    let cost = clusters.iter().map(Cluster::cost).sum();
    Clustering { clusters, cost, estimated }
}

fn unsigned(signed: Vec<Signature>) -> (Vec<Cluster>, Option<f64>) {
    let estimated = signed.iter().map(Signature::cost).sum();
    (signed.into_iter().map(|signature| signature.cluster).collect(), Some(estimated))
}

/// One cluster per distinct set of paths. Pages with the same paths would be merged first, because no pair saves more
/// than the paths that it shares. A page without essential paths is a cluster of its own.
fn grouped(pages: &[Essential]) -> Vec<Cluster> {
    let mut at_paths: rustc_hash::FxHashMap<&[u32], usize> = rustc_hash::FxHashMap::default();
    let mut clusters: Vec<Cluster> = Vec::new();
    for (page, paths) in pages.iter().enumerate() {
        let next = clusters.len();
        let at = if paths.0.is_empty() { next } else { *at_paths.entry(&paths.0).or_insert(next) };
        match clusters.get_mut(at) {
            Some(cluster) => cluster.again(page as u32),
            None => clusters.push(Cluster::new(page as u32, &paths.0)),
        }
    }
    clusters
}

/// A cluster that the merging algorithms can merge.
pub(crate) trait Merge: Sized {
    /// Merges another cluster into this one.
    fn absorb(&mut self, other: Self);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn pages(sets: &[&[u32]]) -> Vec<Essential> {
        sets.iter().map(|set| Essential(set.to_vec())).collect()
    }

    fn by(method: TextMethod) -> TextOptions {
        TextOptions { method, ..TextOptions::default() }
    }

    fn members(clustering: &Clustering) -> Vec<Vec<u32>> {
        clustering.clusters.iter().map(|cluster| cluster.members.clone()).collect()
    }

    #[test]
    fn the_worked_example_stops_where_nothing_more_is_saved() {
        let example = pages(&[&[1, 2, 3, 4], &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], &[1, 2]]);
        for method in [TextMethod::Mdl, TextMethod::Hash, TextMethod::Max] {
            let found = cluster(&example, &by(method));
            assert_eq!((members(&found), found.cost), (vec![vec![0, 1, 2], vec![3]], 8), "{method:?}");
            assert_eq!(found.clusters[0].template(), [1, 2, 3, 4, 5]);
            assert_eq!(found.of_pages(), [0, 0, 0, 1]);
        }
        assert!(cluster(&[], &by(TextMethod::Max)).clusters.is_empty());
        let strangers = cluster(&pages(&[&[], &[]]), &by(TextMethod::Mdl));
        assert_eq!(members(&strangers), [vec![0], vec![1]]);
    }

    /// Twenty templates, ten pages each, with optional blocks and paths of their own.
    fn templates(seed: u64) -> Vec<Essential> {
        let mut state = seed;
        let mut below = |n: u64| {
            state = dehusk_html::mix(state, 1);
            state % n
        };
        let mut pages = Vec::new();
        for page in 0..200_u32 {
            let template = page % 20;
            let mut paths: Vec<u32> = (0..5).collect();
            paths.extend((0..300).filter(|_| below(100) < 97).map(|path| 1000 * (template + 1) + path));
            paths.extend((0..20).map(|_| 100_000 + below(4000) as u32));
            paths.sort_unstable();
            paths.dedup();
            pages.push(Essential(paths));
        }
        pages
    }

    #[test]
    fn twenty_templates_are_told_apart_and_the_estimates_cost_little() {
        let pages = templates(7);
        let exact = cluster(&pages, &by(TextMethod::Mdl));
        assert_eq!(exact.clusters.len(), 20);
        for method in [TextMethod::Hash, TextMethod::Max] {
            let found = cluster(&pages, &by(method));
            assert_eq!(found.clusters.len(), 20, "{method:?}");
            assert!(found.cost as f64 <= 1.02 * exact.cost as f64, "{method:?}: {} and {}", found.cost, exact.cost);
            let estimated = found.estimated.unwrap();
            assert!((estimated / found.cost as f64 - 1.0).abs() < 0.25, "{method:?}: {estimated} for {}", found.cost);
        }
    }

    proptest! {
        #[test]
        fn by_all_pairs_is_what_the_pseudo_code_says(
            sets in proptest::collection::vec(proptest::collection::btree_set(0..12_u32, 0..9), 0..12),
        ) {
            let pages: Vec<Essential> = sets.iter().map(|set| Essential(set.iter().copied().collect())).collect();
            // Every merge searches all pairs again. The first of the best pairs is merged, and only if the cost falls.
            let mut literal = grouped(&pages);
            loop {
                let mut best = (0, 0, 0);
                for i in 0..literal.len() {
                    for j in i + 1..literal.len() {
                        let mut merged = literal[i].clone();
                        merged.absorb(literal[j].clone());
                        let saved = (literal[i].cost() + literal[j].cost()) as i64 - merged.cost() as i64;
                        if saved > best.0 {
                            best = (saved, i, j);
                        }
                    }
                }
                if best.0 == 0 {
                    break;
                }
                let other = literal.remove(best.2);
                literal[best.1].absorb(other);
            }
            let found = cluster(&pages, &by(TextMethod::Mdl));
            prop_assert_eq!(found.cost, literal.iter().map(Cluster::cost).sum::<u64>());
            let mut literal: Vec<Vec<u32>> = literal.into_iter().map(|cluster| cluster.members).collect();
            literal.iter_mut().for_each(|members| members.sort_unstable());
            literal.sort();
            prop_assert_eq!(members(&found), literal);
        }
    }
}
