//! The main region of a page, found by its tag path sequence (Velloso and Dorneles 2013).
//!
//! A page becomes a sequence of symbols, one per element. A symbol represents a path of tags with their styles
//! (`sequence.rs`). If no symbol before a position occurs after it, the sequence is split there and the larger side is
//! kept (`region.rs`), or all sides that are large enough (`list.rs`).

mod list;
mod options;
mod region;
mod sequence;

pub use list::region_list;
pub use options::{TpsGap, TpsKeep, TpsOptions, TpsSearch};
pub use region::main_region;
pub use sequence::Sequence;

use dehusk_content::Labels;
use dehusk_html::{NodeId, Tree, normalized_chars};

/// Labels the nodes outside of the main region as template: Algorithm 6 with the pruning of the tree.
///
/// Algorithm 6 does not define when the rest is the content instead of the region. With `papers.tps.complement`, the
/// rest is kept if it has more text outside of links. This departs from the paper; `papers.tps.complement = false` is
/// the paper's behavior.
pub fn by_tag_paths(tree: &Tree, how: &TpsOptions) -> Labels {
    let sequence = Sequence::new(tree);
    let regions = match how.keep {
        TpsKeep::Main => vec![main_region(&sequence.symbols, how)],
        TpsKeep::List => region_list(&sequence.symbols, how),
    };
    let counted = tree.counted();
    let mut is_out = vec![true; tree.len()];
    for region in regions {
        sequence.nodes[region].iter().for_each(|node| is_out[node.index()] = false);
    }
    // A text node is labeled like its element.
    for node in counted.clone().filter(|node| tree.is_text(NodeId::new(*node))) {
        is_out[node] = is_out[tree.shape.parent[node] as usize];
    }
    if how.complement && text_outside_links(tree, &is_out, true) > text_outside_links(tree, &is_out, false) {
        counted.clone().for_each(|node| is_out[node] = !is_out[node]);
    }
    // Ancestors of kept nodes are kept.
    for node in counted.clone().skip(1).rev() {
        if !is_out[node] {
            is_out[tree.shape.parent[node] as usize] = false;
        }
    }
    (0..tree.len()).for_each(|node| is_out[node] &= counted.contains(&node));
    Labels::new(is_out)
}

/// Number of characters outside of links in the nodes whose `is_out` equals `side`.
fn text_outside_links(tree: &Tree, is_out: &[bool], side: bool) -> usize {
    let (mut sum, mut link_ends) = (0, 0);
    for node in tree.counted() {
        let at = NodeId::new(node);
        if tree.name(at) == "a" {
            link_ends = link_ends.max(tree.shape.subtree(at).end);
        } else if tree.is_text(at) && node >= link_ends && is_out[node] == side {
            sum += normalized_chars(tree.text(at));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn kept(html: &str, how: &TpsOptions) -> String {
        let tree = parse(html, &ParseOptions::default());
        let is_out = by_tag_paths(&tree, how);
        let kept = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node) && !is_out.is_template(*node));
        kept.map(|node| tree.text(node).to_owned()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn the_list_of_records_is_the_region_and_its_complement_the_article() {
        let how = TpsOptions::default();
        let records: String = (0..20).map(|n| format!("<li><b>record {n}</b><i>of many</i></li>")).collect();
        let page = |article: &str| format!("<h1>Title</h1><p>{article}</p><ul>{records}</ul><address>foot</address>");
        let found = kept(&page("short"), &how);
        assert!(found.starts_with("record 0|of many") && found.ends_with("record 19|of many"), "{found}");
        let links = records.replace("<b>", "<a href=/>").replace("</b>", "</a>").replace("of many", "");
        let page = page("An article that says far more than the list of links below it.").replace(&records, &links);
        assert!(kept(&page, &TpsOptions { complement: true, ..how }).contains("An article"), "{page}");
        assert!(!kept(&page, &TpsOptions { complement: false, ..how }).contains("An article"), "the paper's own");
        assert_eq!(kept("", &how), "");
    }
}
