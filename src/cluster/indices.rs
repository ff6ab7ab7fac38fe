//! How good is a clustering?

use super::features::Features;

/// Dunn index against known groups: the least distance between groups over the greatest within one. Above 1 a cut
/// separates them all; `None` when there are no two groups or no group of two different pages.
pub fn dunn(pages: &[Features], groups: &[usize]) -> Option<f64> {
    let (mut between, mut within) = (f64::INFINITY, 0.0_f64);
    for (i, page) in pages.iter().enumerate() {
        for (j, other) in pages.iter().enumerate().take(i) {
            let distance = page.distance(other);
            match groups[i] == groups[j] {
                true => within = within.max(distance),
                false => between = between.min(distance),
            }
        }
    }
    (between.is_finite() && within > 0.0).then(|| between / within)
}

/// Rand index: share of the pairs of pages that both partitions put together, or both apart; 1 for fewer than two pages.
pub fn rand(clusters: &[usize], groups: &[usize]) -> f64 {
    let n = clusters.len().min(groups.len());
    let pairs = n * n.saturating_sub(1) / 2;
    let agrees = |i: usize, j: usize| (clusters[i] == clusters[j]) == (groups[i] == groups[j]);
    let agreeing: usize = (0..n).map(|i| (0..i).filter(|j| agrees(i, *j)).count()).sum();
    if pairs == 0 { 1.0 } else { agreeing as f64 / pairs as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::parse;
    use crate::settings::{Cluster, PageLimits};

    #[test]
    fn rand_counts_pairs() {
        assert_eq!(rand(&[0, 0, 1, 1], &[5, 5, 7, 7]), 1.0);
        assert_eq!(rand(&[0, 0, 0, 0], &[0, 0, 1, 1]), 2.0 / 6.0);
        assert_eq!(rand(&[0], &[3]), 1.0);
    }

    #[test]
    fn dunn_is_above_one_where_a_cut_separates() {
        let pages = ["<ul><li><a>", "<ul><li><b>", "<table><tr><td>", "<table><tr><th>"];
        let features = |html: &&str| Features::of(&parse(html, &PageLimits::default()), &Cluster::default());
        let pages: Vec<Features> = pages.iter().map(features).collect();
        assert!(dunn(&pages, &[0, 0, 1, 1]).unwrap() > 1.0);
        assert!(dunn(&pages, &[0, 1, 0, 1]).unwrap() < 1.0);
        assert_eq!(dunn(&pages, &[0, 0, 0, 0]), None);
    }
}
