//! What main content is like when a few pages of a site are labeled, as with `dehusk teach`: the gold is the teacher.

use dehusk_content::{JudgedPage, PageBlocks, TaughtPages, TaughtSlots, pages_to_teach};
use dehusk_html::Tree;

/// A page that can be labeled: the number of its URL, its tree, and the gold label of each counted node.
pub(super) type Labeled<'a> = (u64, Tree, &'a [u8]);

/// The labels of the `n` pages that say most, and which pages these are.
pub(super) fn taught_by_gold(pages: &[Labeled<'_>], n: usize) -> (TaughtPages, Vec<usize>) {
    let blocks: Vec<PageBlocks> = pages.iter().map(|(_, tree, _)| PageBlocks::new(&JudgedPage::new(tree))).collect();
    let chosen = pages_to_teach(&blocks, &TaughtSlots::default(), n);
    let mut taught = TaughtPages::default();
    for at in &chosen {
        let (url, tree, gold) = &pages[*at];
        let judged = JudgedPage::new(tree);
        let labels: Vec<Option<bool>> = judged.blocks().iter().map(|block| is_main(tree, &block.nodes, gold)).collect();
        taught.set(*url, &judged, &labels);
    }
    (taught, chosen)
}

/// Whether most of the letters of a block are main content; `None` where the gold counts other nodes.
fn is_main(tree: &Tree, nodes: &[dehusk_html::NodeId], gold: &[u8]) -> Option<bool> {
    let (mut main, mut all) = (0, 0);
    for node in nodes {
        let label = gold.get(node.index() - tree.counted().start)?;
        let letters = tree.text(*node).chars().filter(|c| !c.is_whitespace()).count();
        (main, all) = (main + if *label == b'C' { letters } else { 0 }, all + letters);
    }
    Some(2 * main > all)
}
