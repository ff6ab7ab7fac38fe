//! The main menu of a page: the block of links to all parts of the site.

use super::Outlink;
use dehusk_html::{NodeId, Tree, normalized_chars};

/// For each link, whether it is in the main menu. All are false if the page has no block of links.
///
/// A block of links is an element with at least three links and little other text. Of nested blocks only the outermost
/// counts. The menu is the block with the highest score: its number of links, weighted up near the top of the page and
/// for blocks marked as navigation. The thesis leaves this to future work (Alarte 2014, chapter 8).
pub(super) fn menu(tree: &Tree, links: &[Outlink]) -> Vec<bool> {
    let found = best_block(tree, links).map_or(0..0, |block| tree.shape.subtree(block));
    links.iter().map(|link| found.contains(&link.node.index())).collect()
}

fn best_block(tree: &Tree, links: &[Outlink]) -> Option<NodeId> {
    const FEW: usize = 3;
    const MANY: usize = 30;
    const SHARE: f64 = 0.8;
    let body = tree.body()?;
    // Prefix sums of characters and link characters. A subtree is an interval, so its counts are two lookups.
    let n = tree.len();
    let (mut chars, mut in_links) = (vec![0; n + 1], vec![0; n + 1]);
    let mut link_ends = 0;
    for node in 0..n {
        let at = NodeId::new(node);
        if tree.name(at) == "a" {
            link_ends = link_ends.max(tree.shape.subtree(at).end);
        }
        let here = if tree.is_text(at) { normalized_chars(tree.text(at)) } else { 0 };
        chars[node + 1] = chars[node] + here;
        in_links[node + 1] = in_links[node] + if node < link_ends { here } else { 0 };
    }
    let mut nodes: Vec<usize> = links.iter().map(|link| link.node.index()).collect();
    nodes.sort_unstable();
    let counted = tree.shape.subtree(body);
    let all = (chars[counted.end] - chars[counted.start]).max(1) as f64;
    let (mut best, mut node): (Option<(f64, NodeId)>, usize) = (None, counted.start + 1);
    while node < counted.end {
        let block = tree.shape.subtree(NodeId::new(node));
        let held = nodes.partition_point(|at| *at < block.end) - nodes.partition_point(|at| *at < block.start);
        let text = chars[block.end] - chars[block.start];
        let linked = in_links[block.end] - in_links[block.start];
        if held < FEW || (linked as f64) < SHARE * text as f64 {
            node += 1;
            continue;
        }
        let place = (chars[block.start] - chars[counted.start]) as f64 / all;
        let at = NodeId::new(node);
        let is_named = tree.name(at) == "nav" || tree.attr(at, "role") == Some("navigation");
        let says_so = is_named || dehusk_html::ancestors(tree, at).any(|above| tree.name(above) == "nav");
        let score = held.min(MANY) as f64 * (1.5 - place) * if says_so { 2.0 } else { 1.0 };
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, at));
        }
        node = block.end;
    }
    best.map(|(_, block)| block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::outlinks;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;
    use dehusk_html::{PageUrl, SameSite, Site};

    #[test]
    fn the_block_of_links_at_the_head_is_the_menu() {
        let html = "<p>Words with <a href=/w>one link</a> and <a href=/x>another</a> and <a href=/y>a third</a> in them</p>\
            <ul><li><a href=/a>A part</a><li><a href=/b>B part</a><li><a href=/c>C part</a></ul>\
            <p>More words of the page, so that the other list stands far from its head.</p>\
            <ol><li><a href=/1>One</a><li><a href=/2>Two</a><li><a href=/3>Three</a></ol>";
        let tree = parse(html, &ParseOptions::default());
        let key = PageUrl::parse("http://s.com/key").unwrap();
        let links = outlinks(&tree, &key, &Site::new(&key, SameSite::Host), 100);
        let paths: Vec<&str> =
            links.iter().zip(menu(&tree, &links)).filter(|(_, is)| *is).map(|(link, _)| link.url.path()).collect();
        assert_eq!(paths, ["/a", "/b", "/c"]);
        let none = parse("<p>no <a href=/a>links</a> to speak of", &ParseOptions::default());
        let links = outlinks(&none, &key, &Site::new(&key, SameSite::Host), 100);
        assert_eq!(menu(&none, &links), [false]);
    }
}
