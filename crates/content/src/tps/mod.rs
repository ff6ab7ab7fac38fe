//! The main region of a page, found by its tag path sequence (Velloso and Dorneles 2013).
//!
//! A page becomes a sequence of symbols, one per element. A symbol represents a path of tags with their styles
//! (`sequence.rs`). If no symbol before a position occurs after it, the sequence is split there and the larger side is
//! kept (`region.rs`), or all sides that are large enough (`list.rs`).

mod list;
mod options;
mod region;
mod sequence;
mod text;

pub use list::region_list;
pub use options::{TpsGap, TpsKeep, TpsOptions, TpsSearch};
pub use region::main_region;
pub use sequence::Sequence;

use crate::Labels;
use std::ops::Range;

use dehusk_html::{NodeId, Tree};
use text::TextOutsideLinks;

/// Labels the nodes outside of the main region as template, as [`main_part`] does.
pub fn by_tag_paths(tree: &Tree, how: &TpsOptions) -> Labels {
    main_part(tree, how).0
}

/// What of a page is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its main region, or the regions of the list.
    Region,
    /// The rest of the page, without the region.
    Rest,
}

impl Part {
    /// `region` or `rest`.
    pub fn name(self) -> &'static str {
        match self {
            Part::Region => "region",
            Part::Rest => "rest",
        }
    }
}

/// Labels the nodes outside of the main region as template: Algorithm 6 with the pruning of the tree. The confidence is
/// the share of the text outside of links that is kept.
///
/// Algorithm 6 does not define when the rest is the content instead of the region. With `papers.tps.complement`, the
/// rest is kept if it has more text outside of links. This departs from the paper; `papers.tps.complement = false` is
/// the paper's behavior. A narrower rule, only where the region is mostly links, is worse on all six sets (words F1
/// .614 .640 .673 .508 .543 .663 where half of its text is in links, .670 .697 .763 .564 .576 .702 without the limit).
pub fn main_part(tree: &Tree, how: &TpsOptions) -> (Labels, Part) {
    let sequence = Sequence::new(tree);
    let text = TextOutsideLinks::new(tree);
    let of_region =
        |region: &Range<usize>| sequence.nodes[region.clone()].iter().map(|node| text.of_element(*node)).sum();
    let regions = match how.keep {
        TpsKeep::Main => vec![main_region(&sequence.symbols, how)],
        TpsKeep::List => with_text(region_list(&sequence.symbols, how), of_region),
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
    let (kept, rest) = text.kept_and_rest(&is_out);
    let is_rest = how.complement && rest > kept;
    if is_rest {
        counted.clone().for_each(|node| is_out[node] = !is_out[node]);
    }
    // Ancestors of kept nodes are kept.
    for node in counted.clone().skip(1).rev() {
        if !is_out[node] {
            is_out[tree.shape.parent[node] as usize] = false;
        }
    }
    (0..tree.len()).for_each(|node| is_out[node] &= counted.contains(&node));
    let kept = if is_rest { rest } else { kept };
    let confidence = if kept == 0 { 0.0 } else { kept as f64 / text.sum() as f64 };
    (Labels::new(is_out).with_confidence(confidence), if is_rest { Part::Rest } else { Part::Region })
}

/// The regions with at least a quarter of the text outside of links that the one with the most has. Menus and footers
/// are regions, too, and the paper has no rule that tells them from records. Words F1 of all regions and of these, on
/// six sets of pages: .674 .706 .762 .570 .584 .715 and .690 .732 .786 .607 .605 .780.
fn with_text(regions: Vec<Range<usize>>, text: impl Fn(&Range<usize>) -> usize) -> Vec<Range<usize>> {
    let most = regions.iter().map(&text).max().unwrap_or(0);
    regions.into_iter().filter(|region| 4 * text(region) >= most).collect()
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

    #[test]
    fn a_list_of_regions_has_no_menu_and_no_footer() {
        let list = |class: &str, n: usize, item: fn(usize) -> String| {
            let items: String = (0..n).map(item).collect();
            format!("<ul class={class}>{items}</ul>")
        };
        let link = |n: usize| format!("<li class=m><a href=/{n}>Lamps of kind {n}</a></li>");
        let record = |n: usize| format!("<li class=r><a href=/p{n}>Lamp {n}</a><i>{n},50 kr</i></li>");
        let foot = |n: usize| format!("<li class=f><a href=/f{n}>Terms {n}</a></li>");
        let page = list("menu", 25, link) + &list("records", 20, record) + &list("foot", 15, foot);
        let found = kept(&page, &TpsOptions::default());
        assert!(found.contains("Lamp 0|0,50 kr") && found.contains("Lamp 19|19,50 kr"), "{found}");
        assert!(!found.contains("Lamps of kind") && !found.contains("Terms"), "{found}");
    }

    #[test]
    fn the_part_and_its_share_of_the_text_are_told() {
        let records: String = (0..20).map(|n| format!("<li><a href=/{n}>record {n}</a></li>")).collect();
        let tree = parse(&format!("<p>An article, as long as this.</p><ul>{records}</ul>"), &ParseOptions::default());
        let how = TpsOptions::default();
        let (labels, part) = main_part(&tree, &how);
        assert_eq!((part, labels.confidence), (Part::Rest, 1.0));
        let (labels, part) = main_part(&tree, &TpsOptions { complement: false, ..how });
        assert_eq!((part, labels.confidence), (Part::Region, 0.0), "the region is links only");
    }
}
