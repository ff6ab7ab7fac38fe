//! A page as a sequence of tag path symbols.

use rustc_hash::FxHashMap;

use dehusk_html::{NodeId, Tree, hash_str, mix};

/// The elements of a body in document order, each with a symbol for its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Symbols, numbered from 1 in the order of their first appearance.
    pub symbols: Vec<u32>,
    /// The element at each position of `symbols`.
    pub nodes: Vec<NodeId>,
}

impl Sequence {
    /// The sequence of a page. A path consists of tags with their `class` and `style` as written. Each symbol is
    /// derived from that of the parent, so no path is stored and the work is linear in the page.
    pub fn new(tree: &Tree) -> Sequence {
        let counted = tree.counted();
        let mut sequence = Sequence::default();
        let mut known: FxHashMap<(u32, u64), u32> = FxHashMap::default();
        let mut symbol_of = vec![0; tree.len()];
        for node in counted.clone() {
            let at = NodeId::new(node);
            if tree.is_text(at) || tree.name(at).starts_with('#') {
                continue;
            }
            let above = if node == counted.start { 0 } else { symbol_of[tree.shape.parent[node] as usize] };
            let style = |name: &str| tree.attr(at, name).map_or(0, hash_str);
            let own = mix(mix(tree.shape.tag[node], style("class")), style("style"));
            let next = known.len() as u32 + 1;
            symbol_of[node] = *known.entry((above, own)).or_insert(next);
            sequence.symbols.push(symbol_of[node]);
            sequence.nodes.push(at);
        }
        sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    #[test]
    fn the_sequence_of_figure_2() {
        let row = "<tr><td></td><td></td></tr>";
        let of = |html: &str| Sequence::new(&parse(html, &ParseOptions::default())).symbols;
        // The parser inserts a tbody between table and tr.
        assert_eq!(of(&format!("<table>{row}{row}</table>")), [1, 2, 3, 4, 5, 5, 4, 5, 5]);
        assert_eq!(of("<p>a<p class=x>b<p class=x>c<p style=x>d"), [1, 2, 3, 3, 4], "styles tell paths apart");
        assert_eq!(of("<p><b>a</b></p><div><b>c</b></div>"), [1, 2, 3, 4, 5], "so do the paths above");
        assert!(of("<frameset>").is_empty());
    }
}
