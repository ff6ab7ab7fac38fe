//! Keeps code and prose whole: a paragraph, a heading, a cell, an item or a block of code is kept or left out as one,
//! never a part of its words.
//!
//! Labels are decided by node, and lines that many pages share (an import, "Tags:") look like template inside a block
//! that is the page's own. In the gold standards a fixed word goes with its block, too.

use dehusk_content::Labels;
use dehusk_html::{NodeId, Tree};

/// Least share of a block's characters that is the page's own, with which the whole block is.
const LEAST_OWN: f64 = 0.2;

/// Gives every text of a block the label of the block.
pub(super) fn keep_blocks_whole(page: &Tree, mut labels: Labels) -> Labels {
    let shape = &page.shape;
    let counted = page.counted();
    let names: Vec<Name> = page.names().map(Name::from_name).collect();
    let name = |node: NodeId| &names[page.name_number(node)];
    let has_block = blocks_below(page, &names);
    let mut at = counted.start;
    while at < counted.end {
        let node = NodeId::new(at);
        let has_block = has_block[at] && !name(node).is_code;
        if page.is_text(node) || !name(node).is_whole || has_block {
            at += 1;
            continue;
        }
        let block = shape.subtree(node);
        let texts = || block.clone().map(NodeId::new).filter(|node| page.is_text(*node));
        let is_split = texts().any(|text| labels.is_template(text)) && texts().any(|text| !labels.is_template(text));
        if is_split {
            let (own, all) = own_and_all(page, texts(), &labels);
            if own > 0 && own < all {
                let is_template = (own as f64) < LEAST_OWN * all as f64;
                labels.is_template[block.clone()].fill(is_template);
            }
        }
        at = block.end;
    }
    labels
}

/// Characters of these texts that are the page's own, and all, without white space.
fn own_and_all(page: &Tree, texts: impl Iterator<Item = NodeId>, labels: &Labels) -> (usize, usize) {
    let (mut own, mut all) = (0, 0);
    for text in texts {
        let chars = page.text(text).chars().filter(|c| !c.is_whitespace()).count();
        all += chars;
        own += if labels.is_template(text) { 0 } else { chars };
    }
    (own, all)
}

/// What the name of an element says.
struct Name {
    is_code: bool,
    is_whole: bool,
    is_block: bool,
}

impl Name {
    fn from_name(name: &str) -> Name {
        Name { is_code: is_code(name), is_whole: is_whole(name), is_block: is_block(name) }
    }
}

/// Elements that are one block whatever is in them: a listing may mark its lines by `div`.
fn is_code(name: &str) -> bool {
    matches!(name, "pre" | "code")
}

/// Elements whose words belong together.
fn is_whole(name: &str) -> bool {
    matches!(
        name,
        "pre"
            | "code"
            | "p"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "td"
            | "th"
            | "li"
            | "dt"
            | "dd"
            | "figcaption"
            | "caption"
            | "blockquote"
    )
}

/// Whether there is a block below each node.
fn blocks_below(page: &Tree, names: &[Name]) -> Vec<bool> {
    let mut has_block = vec![false; page.len()];
    for node in (1..page.len()).rev() {
        let parent = page.shape.parent[node] as usize;
        has_block[parent] |= has_block[node] || names[page.name_number(NodeId::new(node))].is_block;
    }
    has_block
}

/// Elements that begin a line of their own. `code` is the only whole one that does not.
fn is_block(name: &str) -> bool {
    (is_whole(name) && name != "code")
        || matches!(
            name,
            "address"
                | "article"
                | "aside"
                | "center"
                | "details"
                | "dialog"
                | "dir"
                | "div"
                | "dl"
                | "fieldset"
                | "figure"
                | "footer"
                | "form"
                | "header"
                | "hgroup"
                | "hr"
                | "main"
                | "menu"
                | "nav"
                | "ol"
                | "section"
                | "summary"
                | "table"
                | "tbody"
                | "tfoot"
                | "thead"
                | "tr"
                | "ul"
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    fn kept(html: &str, is_template: impl Fn(&str) -> bool) -> String {
        let page = parse(html, &ParseOptions::default());
        let labels = page.nodes().map(|node| page.is_text(node) && is_template(page.text(node).trim())).collect();
        keep_blocks_whole(&page, Labels::new(labels)).text(&page)
    }

    #[test]
    fn a_block_is_kept_or_left_out_as_one() {
        let code = "<pre><b>import</b> <i>numpy</i> <b>as</b> <i>np</i></pre>";
        assert_eq!(kept(code, |text| ["import", "as"].contains(&text)), "import numpy as np\n");
        let lines = "<pre><div class=line><b>import</b></div><div class=line><i>numpy</i></div></pre>";
        assert_eq!(kept(lines, |text| text == "import"), "import\nnumpy\n", "a listing with an element a line");
        let item = "<ul><li>Tags: <a>rye</a></li><li>Home</li></ul>";
        assert_eq!(kept(item, |text| text != "rye"), "Tags: rye\n");
        let footer = "<p>Some rights reserved, all the others are not, whoever asks <i>7</i></p>";
        assert_eq!(kept(footer, |text| text != "7"), "");
        let nested = "<li>Menu<ul><li>One<li>Two</ul></li>";
        assert_eq!(kept(nested, |text| text == "Menu" || text == "One"), "Two\n", "a block with blocks is no unit");
    }
}
