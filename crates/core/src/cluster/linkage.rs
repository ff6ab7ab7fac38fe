//! Single linkage cut at a distance: two pages are in one cluster if a chain of near pages connects them.

use super::features::Features;

/// The cluster number of each page. Clusters are numbered in the order of their first pages. Cutting the dendrogram at
/// `most` gives the connected components of the graph that links pages at most that far apart, so no dendrogram is
/// built.
pub fn single_linkage(pages: &[Features], most: f64) -> Vec<usize> {
    let mut cluster = vec![usize::MAX; pages.len()];
    let mut n = 0;
    for start in 0..pages.len() {
        if cluster[start] == usize::MAX {
            reach(pages, start, most, |page| cluster[page] == usize::MAX)
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
    reach(pages, start, most, |_| true)
}

fn reach(pages: &[Features], start: usize, most: f64, is_free: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut left: Vec<usize> = (0..pages.len()).filter(|page| *page != start && is_free(*page)).collect();
    let mut reached = vec![start];
    let mut at = 0;
    while at < reached.len() {
        let page = &pages[reached[at]];
        left.retain(|other| {
            let is_near = page.within(&pages[*other], most);
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
    use crate::dom::ParseOptions;
    use crate::dom::parse;

    proptest! {
        #[test]
        fn clusters_are_the_components_of_near_pages(
            pages in proptest::collection::vec(proptest::collection::vec(0..6_usize, 0..12), 0..14), most in 0.0..1.0_f64,
        ) {
            const PARTS: [&str; 6] = ["<div>", "</div>", "<p>", "<ul>", "<li>", "<b>"];
            let html = |parts: &Vec<usize>| parts.iter().map(|part| PARTS[*part]).collect::<String>();
            let features = |parts| Features::of(&parse(&html(parts), &ParseOptions::default()), &ClusterOptions::default());
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
