//! MDR, mining data records (Liu, Grossman and Zhai 2003): lists of similar neighbors.
//!
//! Neighboring children of a node, in groups of one to ten, are a data region if the tag strings of adjacent groups
//! differ by less than 0.3 of their mean length. Each group is a record. Of the regions of a node, the one that covers
//! the most children is used, and no regions are searched below it. This version is written from descriptions in later
//! papers. Tag strings of more than 2,000 tags are similar only if they are equal.

use dehusk_content::Labels;
use std::ops::Range;

use super::dsc::with_elements;
use super::edit::edit_distance;
use dehusk_html::{NodeId, Tree};

/// Largest number of children in a generalized node.
const MOST_NODES: usize = 10;
/// Normalized edit distance below which neighbors are similar.
const LIKE: f64 = 0.3;
/// Smallest number of levels below a node whose children are compared: three levels with its own.
const LEAST_DEPTH: u16 = 2;
/// Length of the longest tag string that is compared by edit distance.
const LONGEST: usize = 2_000;

/// A record: the subtrees of neighboring children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRecord {
    /// Range of its node numbers.
    pub nodes: Range<usize>,
    /// Number of its data region on the page, from 0.
    pub region: usize,
}

/// The records of a page in document order. Nodes marked in `is_out` are skipped, for pages that were pruned.
pub fn data_records(tree: &Tree, is_out: &[bool]) -> Vec<DataRecord> {
    let counted = tree.counted();
    let n = tree.len();
    let keeps = |node: usize| !is_out.get(node).copied().unwrap_or(false) && !tree.is_text(NodeId::new(node));
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut height = vec![0_u16; n];
    for node in counted.clone().skip(1).rev().filter(|node| keeps(*node)) {
        let above = tree.shape.parent[node] as usize;
        children[above].push(node);
        height[above] = height[above].max(height[node].saturating_add(1));
    }
    let (mut records, mut n_regions) = (Vec::new(), 0);
    let mut open: Vec<usize> = tree.body().map(NodeId::index).into_iter().filter(|body| keeps(*body)).collect();
    while let Some(node) = open.pop() {
        let list = &mut children[node];
        list.reverse();
        let found = if height[node] < LEAST_DEPTH { None } else { region(tree, list) };
        let Some((width, region)) = found else {
            open.extend(list.iter());
            continue;
        };
        for record in list[region.clone()].chunks(width) {
            let (first, last) = (record[0], record[record.len() - 1]);
            let nodes = first..tree.shape.subtree(NodeId::new(last)).end;
            records.push(DataRecord { nodes, region: n_regions });
        }
        n_regions += 1;
        open.extend(list[..region.start].iter().chain(&list[region.end..]));
    }
    records.sort_unstable_by_key(|record| record.nodes.start);
    records
}

/// The region that covers the most of these children: the width of its generalized nodes, and its range among the
/// children.
fn region(tree: &Tree, children: &[usize]) -> Option<(usize, Range<usize>)> {
    let mut best: Option<(usize, Range<usize>)> = None;
    for width in 1..=MOST_NODES.min(children.len() / 2) {
        for offset in 0..width {
            let mut start = offset;
            let mut at = offset;
            while at + 2 * width <= children.len() + width {
                let goes_on = at + 2 * width <= children.len()
                    && are_like(tree, &children[at..at + width], &children[at + width..at + 2 * width]);
                if !goes_on {
                    let region = start..at + width;
                    let is_more = best.as_ref().is_none_or(|(_, best)| region.len() > best.len());
                    if region.len() >= 2 * width && is_more {
                        best = Some((width, region));
                    }
                    start = at + width;
                }
                at += width;
            }
        }
    }
    best
}

fn are_like(tree: &Tree, a: &[usize], b: &[usize]) -> bool {
    let hashes = &tree.subtree_hashes().tags;
    let equal = a.iter().zip(b).all(|(a, b)| hashes[*a] == hashes[*b]);
    if equal {
        return true;
    }
    let sizes = |list: &[usize]| list.iter().map(|node| tree.shape.size[*node] as usize).sum::<usize>();
    if sizes(a).max(sizes(b)) > 2 * LONGEST {
        return false;
    }
    let tags = |list: &[usize]| {
        let nodes = list.iter().flat_map(|node| tree.shape.subtree(NodeId::new(*node)));
        nodes.filter(|node| !tree.is_text(NodeId::new(*node))).map(|node| tree.shape.tag[node]).collect::<Vec<u64>>()
    };
    let (a, b) = (tags(a), tags(b));
    if a.len().max(b.len()) > LONGEST {
        return false;
    }
    let most = LIKE * (a.len() + b.len()) as f64 / 2.0;
    // The distance must be below `most`, not equal to it.
    edit_distance(&a, &b, most as usize).is_some_and(|distance| (distance as f64) < most)
}

/// Labels the nodes outside of all records as template. Elements that contain text of a record are kept. A page without
/// records is kept whole.
pub fn by_records(tree: &Tree) -> Labels {
    let records = data_records(tree, &[]);
    let mut is_out = vec![!records.is_empty(); tree.len()];
    records.into_iter().for_each(|record| is_out[record.nodes].fill(false));
    let counted = tree.counted();
    (0..tree.len()).for_each(|node| is_out[node] &= counted.contains(&node));
    Labels::new(if is_out.iter().any(|is| *is) { with_elements(tree, is_out) } else { is_out })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn page(html: &str) -> Tree {
        parse(html, &ParseOptions::default())
    }

    #[test]
    fn rows_are_records_and_so_are_pairs_of_rows() {
        let row = |n: usize| format!("<li><b>record {n}</b><i><u>price</u></i></li>");
        let rows: String = (0..6).map(row).collect();
        let tree = page(&format!("<h1>Shop</h1><div><ul>{rows}</ul></div><p>foot</p>"));
        let records = data_records(&tree, &vec![false; tree.len()]);
        assert_eq!(records.len(), 6, "{records:?}");
        let is_out = by_records(&tree);
        let kept: Vec<&str> = tree
            .counted()
            .map(NodeId::new)
            .filter(|n| tree.is_text(*n) && !is_out.is_template(*n))
            .map(|n| tree.text(n))
            .collect();
        assert!(kept.contains(&"record 5") && !kept.contains(&"Shop"), "{kept:?}");
        let pair = |n: usize| {
            format!("<dt><b><a href=/>name {n}</a></b></dt><dd><p>what it is</p><table><tr><td>1<td>2</table></dd>")
        };
        let pairs: String = (0..5).map(pair).collect();
        let tree = page(&format!("<dl>{pairs}</dl>"));
        assert_eq!(data_records(&tree, &vec![false; tree.len()]).len(), 5);
        assert!(data_records(&page("<p>a"), &[]).is_empty());
        assert!(!by_records(&page("<p>a")).is_template.contains(&true));
    }
}
