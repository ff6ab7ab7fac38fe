//! The training set of a page: the pages it links to that share its layout (Gottron 2008, sections 3 to 5).

use rustc_hash::FxHashSet;

use super::features::Features;
use super::linkage::component;
use crate::cluster::ClusterOptions;
use dehusk_html::{NodeId, Tree};

/// Pages of the smallest training set, the page itself among them.
pub const MIN_CLUSTER: usize = 3;

/// Jaccard index of the texts above which a page is another version of the initial page. With such a page in the
/// training set, content would count as template.
const SAME: f64 = 0.9;

/// The pages of the cluster that contains the first page, which comes first. Pages with nearly the same texts as the
/// first page are dropped; the paper has no such rule.
pub fn training_set(pages: &[&Tree], how: &ClusterOptions) -> Vec<usize> {
    let Some(initial) = pages.first().map(|tree| texts(tree)) else { return Vec::new() };
    let features: Vec<Features> = pages.iter().map(|tree| Features::new(tree, how)).collect();
    let mut members = component(&features, 0, how.max_distance());
    members.retain(|page| *page == 0 || likeness(&initial, &texts(pages[*page])) <= SAME);
    members
}

fn texts(tree: &Tree) -> FxHashSet<u64> {
    let hashes = &tree.subtree_hashes().full;
    tree.counted().filter(|node| tree.is_text(NodeId::new(*node))).map(|node| hashes[node]).collect()
}

/// Jaccard index.
fn likeness(a: &FxHashSet<u64>, b: &FxHashSet<u64>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterBy;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    #[test]
    fn other_layouts_and_other_versions_stay_out() {
        let article = |own: &str| format!("<nav><a>home</a></nav><main><h1>{own}</h1><p>{own} text</p></main>");
        let table = "<table><tr><th>a<td>b</table><form><input></form>";
        let html = [article("one"), article("two"), table.to_owned(), article("one"), article("three")];
        let pages = html.each_ref().map(|html| parse(html, &ParseOptions::default()));
        let how = ClusterOptions { by: ClusterBy::Cp, distance: 0.0, ..ClusterOptions::default() };
        assert_eq!(training_set(&pages.each_ref(), &how), [0, 1, 4]);
        assert!(training_set(&[], &how).is_empty());
    }
}
