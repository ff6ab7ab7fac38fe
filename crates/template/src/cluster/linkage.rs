//! Single linkage cut at a distance: two pages are in one cluster if a chain of near pages connects them.

use super::features::Features;

/// The cluster number of each page. Clusters are numbered in the order of their first pages. Cutting the dendrogram at
/// `most` gives the connected components of the graph that links pages at most that far apart, so no dendrogram is
/// built.
pub fn single_linkage(pages: &[Features], most: f64) -> Vec<usize> {
    single_linkage_by(pages.len(), |one, other| pages[one].within(&pages[other], most))
}

/// The same for `n_pages` pages of which is known whether two are near each other.
pub fn single_linkage_by(n_pages: usize, is_near: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut cluster = vec![usize::MAX; n_pages];
    let mut n = 0;
    for start in 0..n_pages {
        if cluster[start] == usize::MAX {
            reach(n_pages, start, &is_near, |page| cluster[page] == usize::MAX)
                .into_iter()
                .for_each(|page| cluster[page] = n);
            n += 1;
        }
    }
    cluster
}

/// The pages of the cluster that contains `start`, in the order in which they are reached. Gottron's training set needs
/// only this cluster, and only the distances from its members are computed.
pub fn component(pages: &[Features], start: usize, most: f64) -> Vec<usize> {
    reach(pages.len(), start, &|one, other| pages[one].within(&pages[other], most), |_| true)
}

fn reach(
    n_pages: usize,
    start: usize,
    is_near: &impl Fn(usize, usize) -> bool,
    is_free: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut left: Vec<usize> = (0..n_pages).filter(|page| *page != start && is_free(*page)).collect();
    let mut reached = vec![start];
    let mut at = 0;
    while at < reached.len() {
        let page = reached[at];
        left.retain(|other| {
            let is_near = is_near(page, *other);
            if is_near {
                reached.push(*other);
            }
            !is_near
        });
        at += 1;
    }
    reached
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::ClusterOptions;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    proptest! {
        #[test]
        fn clusters_are_the_components_of_near_pages(
            pages in proptest::collection::vec(proptest::collection::vec(0..6_usize, 0..12), 0..14), most in 0.0..1.0_f64,
        ) {
            const PARTS: [&str; 6] = ["<div>", "</div>", "<p>", "<ul>", "<li>", "<b>"];
            let html = |parts: &Vec<usize>| parts.iter().map(|part| PARTS[*part]).collect::<String>();
            let features = |parts| Features::new(&parse(&html(parts), &ParseOptions::default()), &ClusterOptions::default());
            let features: Vec<Features> = pages.iter().map(features).collect();
            let cluster = single_linkage(&features, most);
            // Direct implementation: merge two clusters that have near pages until there are none.
            let mut literal: Vec<usize> = (0..features.len()).collect();
            loop {
                let pairs = (0..features.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                let near = |(i, j): &(usize, usize)| {
                    literal[*i] != literal[*j] && features[*i].distance(&features[*j]) <= most
                };
                let Some((i, j)) = pairs.into_iter().find(near) else { break };
                let (gone, stays) = (literal[i], literal[j]);
                literal.iter_mut().filter(|c| **c == gone).for_each(|c| *c = stays);
            }
            for i in 0..features.len() {
                for j in 0..i {
                    prop_assert_eq!(cluster[i] == cluster[j], literal[i] == literal[j]);
                }
                let mut members = component(&features, i, most);
                members.sort_unstable();
                let same: Vec<usize> = (0..features.len()).filter(|j| cluster[*j] == cluster[i]).collect();
                prop_assert_eq!(members, same);
            }
        }
    }
}
