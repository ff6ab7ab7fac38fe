//! Indices of the quality of a clustering.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::features::Features;

/// Dunn index of known groups: the smallest distance between groups over the largest within one. Above 1, one threshold
/// separates all groups. `None` if there are fewer than two groups or no group has two different pages.
pub fn dunn(pages: &[Features], groups: &[usize]) -> Option<f64> {
    dunn_by(groups, |one, other| pages[one].distance(&pages[other]))
}

/// The same for any distance of two pages, given by their numbers.
pub fn dunn_by(groups: &[usize], distance: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let (mut between, mut within) = (f64::INFINITY, 0.0_f64);
    for i in 0..groups.len() {
        for j in 0..i {
            let distance = distance(i, j);
            if groups[i] == groups[j] { within = within.max(distance) } else { between = between.min(distance) }
        }
    }
    (between.is_finite() && within > 0.0).then(|| between / within)
}

/// Rand index: the share of the page pairs that both partitions put together or both put apart; 1 for fewer than two
/// pages. It is computed in linear time from the sizes of the clusters, the groups and their intersections.
pub fn rand(clusters: &[usize], groups: &[usize]) -> f64 {
    let n = clusters.len().min(groups.len());
    let pairs = |n: u64| n * n.saturating_sub(1) / 2;
    let (in_clusters, in_groups, in_both) = meets(&clusters[..n], &groups[..n]);
    let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.map(pairs).sum::<u64>();
    let all = pairs(n as u64);
    let together = sum(&mut in_both.values().copied());
    let apart = all + together - sum(&mut in_clusters.values().copied()) - sum(&mut in_groups.values().copied());
    if all == 0 { 1.0 } else { (together + apart) as f64 / all as f64 }
}

/// Precision and recall, averaged over the clusters. Each cluster is compared with the group that has the most of its
/// pages (Kim and Shim 2011).
pub fn precision_and_recall(clusters: &[usize], groups: &[usize]) -> (f64, f64) {
    let (in_clusters, in_groups, in_both) = meets(clusters, groups);
    let mut best: FxHashMap<usize, (u64, usize)> = FxHashMap::default();
    for ((cluster, group), n) in in_both {
        let closest = best.entry(cluster).or_insert((n, group));
        // Of groups with equally many of its pages, the smaller one is closer.
        if (n, Reverse(in_groups[&group]), Reverse(group))
            > (closest.0, Reverse(in_groups[&closest.1]), Reverse(closest.1))
        {
            *closest = (n, group);
        }
    }
    let mean = |share: &dyn Fn(usize, u64, usize) -> f64| {
        best.iter().map(|(cluster, (n, group))| share(*cluster, *n, *group)).sum::<f64>() / best.len().max(1) as f64
    };
    let precision = mean(&|cluster, n, _| n as f64 / in_clusters[&cluster] as f64);
    let recall = mean(&|_, n, group| n as f64 / in_groups[&group] as f64);
    (precision, recall)
}

type Sizes<K> = FxHashMap<K, u64>;

/// Sizes of clusters, of groups, and of their intersections.
fn meets(clusters: &[usize], groups: &[usize]) -> (Sizes<usize>, Sizes<usize>, Sizes<(usize, usize)>) {
    let (mut a, mut b, mut both) = (Sizes::default(), Sizes::default(), Sizes::default());
    for (cluster, group) in clusters.iter().zip(groups) {
        *a.entry(*cluster).or_default() += 1;
        *b.entry(*group).or_default() += 1;
        *both.entry((*cluster, *group)).or_default() += 1;
    }
    (a, b, both)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::ClusterOptions;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    #[test]
    fn rand_counts_pairs() {
        assert_eq!(rand(&[0, 0, 1, 1], &[5, 5, 7, 7]), 1.0);
        assert_eq!(rand(&[0, 0, 0, 0], &[0, 0, 1, 1]), 2.0 / 6.0);
        assert_eq!(rand(&[0], &[3]), 1.0);
    }

    #[test]
    fn dunn_is_above_one_where_a_cut_separates() {
        let pages = ["<ul><li><a>", "<ul><li><b>", "<table><tr><td>", "<table><tr><th>"];
        let features = |html: &&str| Features::new(&parse(html, &ParseOptions::default()), &ClusterOptions::default());
        let pages: Vec<Features> = pages.iter().map(features).collect();
        assert!(dunn(&pages, &[0, 0, 1, 1]).unwrap() > 1.0);
        assert!(dunn(&pages, &[0, 1, 0, 1]).unwrap() < 1.0);
        assert_eq!(dunn(&pages, &[0, 0, 0, 0]), None);
    }

    #[test]
    fn precision_and_recall_are_those_of_the_closest_group() {
        assert_eq!(precision_and_recall(&[0, 0, 1, 1], &[5, 5, 7, 7]), (1.0, 1.0));
        // A group split in two: full precision, half recall.
        assert_eq!(precision_and_recall(&[0, 0, 1, 1], &[5, 5, 5, 5]), (1.0, 0.5));
        assert_eq!(precision_and_recall(&[0, 0, 0, 0], &[5, 5, 7, 7]), (0.5, 1.0));
        assert_eq!(precision_and_recall(&[], &[]), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn rand_by_sizes_is_rand_by_pairs(pages in proptest::collection::vec((0..5_usize, 0..4_usize), 0..20)) {
            let (clusters, groups): (Vec<usize>, Vec<usize>) = pages.into_iter().unzip();
            let n = clusters.len();
            let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
            let agrees = |(i, j): &&(usize, usize)| (clusters[*i] == clusters[*j]) == (groups[*i] == groups[*j]);
            let literal = if pairs.is_empty() { 1.0 } else { pairs.iter().filter(agrees).count() as f64 / pairs.len() as f64 };
            prop_assert!((rand(&clusters, &groups) - literal).abs() < 1e-12);
        }
    }
}
