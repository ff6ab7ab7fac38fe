//! The blocks of a page: runs of text that a reader sees as one paragraph, item, cell or line.
//!
//! A block is a maximal run of text nodes that is not cut by the start or end of an element that is not inline, or by
//! two `br` without text between them.

use std::ops::Range;

use super::tags::{Is, Tags};
use dehusk_html::{NodeId, Tree, unicode_runs};

/// A block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The nearest element around it that is not inline.
    pub(super) container: usize,
    /// Its text nodes, in [`Blocks::nodes`].
    pub(super) nodes: Range<usize>,
    /// Its text, in [`Blocks::text`]: white space collapsed.
    pub(super) text: Range<usize>,
}

/// The text nodes of each block of a page, in document order.
pub fn text_blocks(tree: &Tree) -> Vec<Vec<NodeId>> {
    let blocks = Blocks::new(tree, &Tags::new(tree));
    blocks.list.iter().map(|block| blocks.nodes_of(block).collect()).collect()
}

/// The blocks of a page in document order.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub(super) list: Vec<Block>,
    pub(super) nodes: Vec<u32>,
    pub(super) text: String,
    /// Whether a node of the tree is an element that is not inline.
    pub(super) is_holder: Vec<bool>,
}

impl Blocks {
    pub(super) fn new(tree: &Tree, tags: &Tags<'_>) -> Blocks {
        let mut blocks = Blocks { is_holder: vec![false; tree.len()], ..Blocks::default() };
        let counted = tree.counted();
        let mut open: Vec<usize> = Vec::new();
        let (mut is_open, mut breaks) = (false, 0);
        for node in counted.clone() {
            while open.last().is_some_and(|holder| tree.shape.subtree(NodeId::new(*holder)).end <= node) {
                open.pop();
                is_open = false;
            }
            let id = NodeId::new(node);
            if is_open && tree.has_space(id) {
                blocks.blank();
            }
            if tree.is_text(id) {
                if !is_open {
                    blocks.begin(open.last().copied().unwrap_or(counted.start));
                    is_open = true;
                }
                blocks.push(node, tree.text(id));
                breaks = 0;
                continue;
            }
            let tag = tags.tag(id);
            if node > counted.start && tag.is_inline {
                if tag.is == Is::Br {
                    breaks += 1;
                    is_open &= breaks < 2;
                    if is_open {
                        blocks.blank();
                    }
                }
                continue;
            }
            (is_open, breaks) = (false, 0);
            blocks.is_holder[node] = true;
            open.push(node);
        }
        blocks.list.iter_mut().for_each(|block| {
            let text = &blocks.text[block.text.clone()];
            block.text.end -= text.len() - text.trim_end_matches(' ').len();
        });
        blocks
    }

    fn begin(&mut self, container: usize) {
        let (nodes, text) = (self.nodes.len(), self.text.len());
        self.list.push(Block { container, nodes: nodes..nodes, text: text..text });
    }

    /// A blank at the end of the last block, unless there is one.
    fn blank(&mut self) {
        if let Some(block) = self.list.last_mut()
            && !block.text.is_empty()
            && !self.text.ends_with(' ')
        {
            self.text.push(' ');
            block.text.end += 1;
        }
    }

    fn push(&mut self, node: usize, text: &str) {
        self.nodes.push(node as u32);
        if text.starts_with(char::is_whitespace) {
            self.blank();
        }
        for (at, run) in unicode_runs(text).enumerate() {
            if at > 0 {
                self.text.push(' ');
            }
            self.text.push_str(run);
        }
        if let Some(block) = self.list.last_mut() {
            (block.nodes.end, block.text.end) = (self.nodes.len(), self.text.len());
        }
        if text.ends_with(char::is_whitespace) {
            self.blank();
        }
    }

    /// The text of a block.
    pub(super) fn text_of(&self, block: &Block) -> &str {
        &self.text[block.text.clone()]
    }

    /// The text nodes of a block, in order.
    pub(super) fn nodes_of(&self, block: &Block) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes[block.nodes.clone()].iter().map(|node| NodeId::new(*node as usize))
    }

    /// The first text node of a block.
    pub(super) fn first_node(&self, block: &Block) -> usize {
        self.nodes.get(block.nodes.start).map_or(0, |node| *node as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    fn texts(html: &str) -> Vec<String> {
        let tree = parse(html, &ParseOptions::default());
        let blocks = Blocks::new(&tree, &Tags::new(&tree));
        blocks.list.iter().map(|block| blocks.text_of(block).to_owned()).collect()
    }

    #[test]
    fn blocks_end_where_a_reader_sees_a_line_end() {
        let page =
            "<div>loose <b>bold</b><i> and</i>\n italic<p>one<br>two<br><br>three <ul><li>four<li><a href=x>five</a>,
            six</ul>seven</div>eight <x-y>nine</x-y> ten";
        let expected =
            ["loose bold and italic", "one two", "three", "four", "five, six", "seven", "eight", "nine", "ten"];
        assert_eq!(texts(page), expected);
        assert_eq!(texts(""), Vec::<String>::new());
        assert_eq!(texts("<p> a<b> </b>b</p>"), ["a b"]);
    }
}
