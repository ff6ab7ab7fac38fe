//! Merging by the entropy of the matrices, the cost as the paper defines it.
//!
//! The entropy is one of all clusters together, so what a merge saves changes with every other merge. What it changes
//! in the matrices does not: that is kept for each pair, and the pair with the least entropy is searched among all.

use super::Merge;
use super::cost::{Cluster, Parts, entropy_of};
use crate::parallel;

/// Largest difference in bits that is none.
const EQUAL: f64 = 1e-9;

/// Merges the pair that lowers the entropy most, until no merge lowers it.
pub(super) fn merge(start: Vec<Cluster>, n_pages: usize) -> Vec<Cluster> {
    let mut paths: Vec<u32> = start.iter().flat_map(Cluster::paths).map(|(path, _)| path).collect();
    paths.sort_unstable();
    paths.dedup();
    let bits = |parts: Parts| entropy_of(parts, n_pages, paths.len());
    let mut clusters: Vec<Option<Cluster>> = start.into_iter().map(Some).collect();
    let change = |clusters: &[Option<Cluster>], at: usize, other: usize| -> Option<Parts> {
        let (one, two) = (clusters[at].as_ref()?, clusters[other].as_ref()?);
        // Without a shared path nothing is saved.
        Some(one.joined_parts(two)? - one.parts() - two.parts())
    };
    let n = clusters.len();
    let mut changes: Vec<Vec<Option<Parts>>> =
        parallel::map_range(n, |at| (at + 1..n).map(|other| change(&clusters, at, other)).collect());
    let mut total = clusters.iter().flatten().map(Cluster::parts).fold(Parts::default(), |sum, parts| sum + parts);
    loop {
        let now = bits(total);
        let of_row = |at: usize| {
            let row =
                changes[at].iter().enumerate().filter_map(|(k, parts)| Some((bits(total + (*parts)?), at + 1 + k)));
            row.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(cost, other)| (cost, at, other))
        };
        let best = parallel::map_range(n, of_row).into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, at, other)) = best.filter(|(cost, ..)| *cost < now - EQUAL) else { break };
        if let Some(parts) = changes[at][other - at - 1] {
            total = total + parts;
        }
        let Some(absorbed) = clusters[other].take() else { break };
        let Some(cluster) = clusters[at].as_mut() else { break };
        cluster.absorb(absorbed);
        for i in 0..n {
            let (low, high) = (i.min(at), i.max(at));
            if i != at {
                changes[low][high - low - 1] = change(&clusters, low, high);
            }
            let (low, high) = (i.min(other), i.max(other));
            if i != other {
                changes[low][high - low - 1] = None;
            }
        }
    }
    clusters.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::pages;
    use super::super::{TextCost, TextMethod, TextOptions, cluster, entropy_cost};

    #[test]
    fn by_entropy_the_worked_example_stays_in_three_clusters() {
        let example = pages(&[&[1, 2, 3, 4], &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], &[1, 2]]);
        let how = TextOptions { method: TextMethod::Mdl, cost: TextCost::Entropy, ..TextOptions::default() };
        let found = cluster(&example, &how);
        let members: Vec<Vec<u32>> = found.clusters.iter().map(|cluster| cluster.members.clone()).collect();
        assert_eq!(members, [vec![0], vec![1, 2], vec![3]]);
        assert!(
            entropy_cost(&found.clusters, 4, 5)
                < entropy_cost(&cluster(&example, &TextOptions { cost: TextCost::Count, ..how }).clusters, 4, 5)
        );
    }

    #[test]
    fn sparse_templates_are_told_apart() {
        // Each page has a sixth of all paths: the matrices are as sparse as the paper assumes.
        let set = |page: u32| {
            let template = page % 6;
            (0..40).map(|path| template * 100 + path).chain([1000 + page]).collect::<Vec<u32>>()
        };
        let sets: Vec<Vec<u32>> = (0..24).map(set).collect();
        let sets: Vec<&[u32]> = sets.iter().map(Vec::as_slice).collect();
        let how = TextOptions { method: TextMethod::Mdl, cost: TextCost::Entropy, ..TextOptions::default() };
        assert_eq!(cluster(&pages(&sets), &how).of_pages(), [0, 1, 2, 3, 4, 5].repeat(4));
    }
}
