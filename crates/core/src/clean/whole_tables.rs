//! Keeps tables of data whole.
//!
//! The page model judges each cell for itself, and drops short ones between cells that it keeps. A table without some
//! of its cells says something else.

use dehusk_content::Labels;
use dehusk_html::{NodeId, Tree};

/// Share of the characters of a table that are kept, from which on all are.
///
/// Left out by site over six sets, words F1 of `main` is .9479 without this and .9480 with it; of 3,661 pages 55 have a
/// table of which some cells only were kept.
const LEAST_SHARE: f64 = 0.5;

/// Keeps all texts of a table of data of which most are kept, but for those that are `known` to be template.
pub(super) fn keep_tables_whole(page: &Tree, mut labels: Labels, known: Option<&Labels>) -> Labels {
    let is_own = |node: NodeId| known.is_none_or(|known| !known.is_template(node));
    for table in page.all("table").filter(|table| page.counted().contains(&table.index()) && is_data(page, *table)) {
        let texts = || page.shape.subtree(table).map(NodeId::new).filter(|node| page.is_text(*node) && is_own(*node));
        let chars = |node: NodeId| page.text(node).chars().filter(|c| !c.is_whitespace()).count();
        let all: usize = texts().map(chars).sum();
        let kept: usize = texts().filter(|text| !labels.is_template(*text)).map(chars).sum();
        if kept == all || (kept as f64) < LEAST_SHARE * all as f64 {
            continue;
        }
        for text in texts().collect::<Vec<_>>() {
            let mut node = text.index();
            while node >= table.index() && labels.is_template[node] {
                labels.is_template[node] = false;
                node = page.shape.parent[node] as usize;
            }
        }
    }
    labels
}

/// Whether a table holds data: it has a head and two rows, and nothing in it that lays a page out.
fn is_data(page: &Tree, table: NodeId) -> bool {
    let (mut has_head, mut n_rows) = (false, 0);
    for node in page.shape.subtree(table).skip(1).map(NodeId::new) {
        match page.name(node) {
            "table" | "form" | "h1" | "h2" => return false,
            "th" => has_head = true,
            "tr" => n_rows += 1,
            _ => {}
        }
    }
    has_head && n_rows > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn a_table_with_most_of_its_cells_has_all() {
        let html = "<table><tr><th>Rye</th><td>a winter grain</td></tr><tr><th>Oats</th><td>5</td></tr></table>";
        let kept = |html: &str, dropped: &[&str]| {
            let tree = parse(html, &ParseOptions::default());
            let mut labels = Labels::none(&tree);
            for node in tree.counted().map(NodeId::new).filter(|node| dropped.contains(&tree.text(*node))) {
                labels.is_template[node.index()] = true;
            }
            keep_tables_whole(&tree, labels, None).text_nodes(&tree)
        };
        assert_eq!(kept(html, &["5"]), "Rye a winter grain Oats 5");
        assert_eq!(kept(html, &["a winter grain", "Oats"]), "Rye 5", "most of it is dropped");
        assert_eq!(kept(&html.replace("th>", "td>"), &["5"]), "Rye a winter grain Oats", "a table without a head");
        assert_eq!(kept(&html.replace("<td>5", "<td><form>5"), &["5"]), "Rye a winter grain Oats");
    }
}
