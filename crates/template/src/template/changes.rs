//! Blocks that were added or removed between two versions of a template.

use rustc_hash::FxHashMap;

use super::node::TemplateNode;
use super::stored::Template;
use dehusk_html::{hash_str, mix};

/// A subtree that only one of two templates has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Block {
    /// Whether the block was added (is only in the later template) or removed.
    pub came: bool,
    /// Its ancestors, from the body down.
    pub above: Vec<String>,
    /// Its first node.
    pub node: String,
    /// The beginning of its text.
    pub text: String,
    /// Number of its template nodes.
    pub n_nodes: usize,
}

/// Maximum number of characters of a block's text that are shown.
const SAMPLE: usize = 80;

/// The blocks that differ: first the removed ones, then the added ones, each in document order.
pub fn changes(before: &Template, after: &Template) -> Vec<Block> {
    let (old, new) = (Paths::new(before), Paths::new(after));
    let mut blocks = old.not_in(&new, before, false);
    blocks.extend(new.not_in(&old, after, true));
    blocks
}

/// Hash of each node and its ancestors. Positions are ignored: a menu that has moved down is the same menu.
struct Paths(Vec<u64>);

impl Paths {
    fn new(template: &Template) -> Paths {
        let mut paths: Vec<u64> = Vec::with_capacity(template.nodes.len());
        for node in &template.nodes {
            let above = paths.get(node.parent as usize).copied().unwrap_or(0);
            // All bodies are equal: a changed class of the body must not make all nodes below it differ.
            let own = if paths.is_empty() { 0 } else { hash_str(&name(node)) };
            paths.push(mix(above, own));
        }
        Paths(paths)
    }

    /// Blocks of `template` that the other template has fewer copies of.
    fn not_in(&self, other: &Paths, template: &Template, came: bool) -> Vec<Block> {
        let mut left: FxHashMap<u64, usize> = FxHashMap::default();
        for path in &other.0 {
            *left.entry(*path).or_default() += 1;
        }
        let mut block_of: Vec<Option<usize>> = vec![None; self.0.len()];
        let mut blocks: Vec<Block> = Vec::new();
        for (at, path) in self.0.iter().enumerate() {
            if let Some(n) = left.get_mut(path).filter(|n| **n > 0) {
                *n -= 1;
                continue;
            }
            let node = &template.nodes[at];
            let parent = if at == 0 { None } else { block_of[node.parent as usize] };
            let block = parent.unwrap_or_else(|| {
                blocks.push(Block {
                    came,
                    above: above(template, at),
                    node: name(node),
                    text: String::new(),
                    n_nodes: 0,
                });
                blocks.len() - 1
            });
            block_of[at] = Some(block);
            let Block { n_nodes, text, .. } = &mut blocks[block];
            *n_nodes += usize::from(!node.own);
            if node.tag == "#text" && text.chars().count() < SAMPLE {
                text.push_str(if text.is_empty() { "" } else { " " });
                text.push_str(&node.sample);
                *text = text.chars().take(SAMPLE).collect();
            }
        }
        blocks.retain(|block| block.n_nodes > 0);
        blocks
    }
}

fn above(template: &Template, node: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = node;
    while at != 0 {
        at = template.nodes[at].parent as usize;
        names.push(name(&template.nodes[at]));
    }
    names.reverse();
    names
}

fn name(node: &TemplateNode) -> String {
    if node.tag == "#text" {
        return format!("\"{}\"", node.sample.chars().filter(|c| !c.is_control()).collect::<String>());
    }
    let id = if node.id.is_empty() { String::new() } else { format!("#{}", node.id) };
    let classes: String = node.classes.iter().map(|class| format!(".{class}")).collect();
    format!("{}{id}{classes}", node.tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etdm::vote;
    use crate::etdm::{EtdmOptions, NodeText};
    use crate::learn_options::LearnOptions;
    use crate::template::Provenance;
    use dehusk_html::ParseOptions;
    use dehusk_html::{Tree, parse};

    fn template(layout: &str) -> Template {
        let page = |own: &str| -> Tree { parse(&layout.replace('*', own), &ParseOptions::default()) };
        let learn = EtdmOptions { text: NodeText::Equal, ..EtdmOptions::thesis2014() };
        let (key, voters) = (page("<p>one</p>"), [page("<p>two</p>"), page("<p>three</p>")]);
        let votes = vote(&key, &voters.iter().collect::<Vec<_>>(), &learn);
        Template::from_votes(
            &key,
            Provenance::default(),
            &votes,
            &LearnOptions { etdm: learn, ..LearnOptions::default() },
        )
    }

    #[test]
    fn blocks_that_came_and_went_are_named() {
        let before =
            template("<nav class=top><a href=/>Home</a><a href=/n>News</a></nav><main>*</main><footer>Old</footer>");
        let after = template(
            "<aside id=ad><b>Buy</b> this</aside><main>*</main>\
             <nav class=top><a href=/>Home</a><a href=/n>News</a><a href=/s>Shop</a></nav>",
        );
        let found: Vec<(bool, String, String, usize)> =
            changes(&before, &after).into_iter().map(|b| (b.came, b.node, b.text, b.n_nodes)).collect();
        let block = |came, node: &str, text: &str, n| (came, node.to_owned(), text.to_owned(), n);
        assert!(found.contains(&block(false, "footer", "Old", 2)), "{found:?}");
        assert!(found.contains(&block(true, "aside#ad", "Buy this", 4)), "{found:?}");
        assert!(found.iter().any(|(came, _, text, _)| *came && text == "Shop"), "{found:?}");
        assert!(found.iter().all(|(_, _, text, _)| text != "Home" && text != "News"), "{found:?}");
        assert!(changes(&before, &before).is_empty());
    }
}
