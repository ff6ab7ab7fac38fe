//! The walk over the kept nodes of a page that finds its blocks and runs.

mod block_links;
mod buttons;
mod flat;
mod flow;
mod lines;
mod lists;
mod tables;

use std::ops::Range;

use block_links::link_once;
use flat::flat_runs;
use flow::Flow;
use rustc_hash::FxHashMap;

use super::block::{Block, Document, Link, Marks, Piece, Run};
use super::code::{code_block, is_code_lines};
use super::footnotes::Footnotes;
use super::formulas::Formulas;
use super::inline::tidied;
use super::is_block;
use super::options::MarkdownOptions;
use super::table::{MOST_SPANNED, Table, read_table};
use crate::addresses::Addresses;
use crate::images::{NoscriptImages, is_image};
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, StyledBlocks, Tree, Unshown, WrittenAs, ancestors, children, has_parentheses};

/// Depth of elements below which blocks are read as text.
const DEEPEST: usize = 200;

/// Whether a node of this name shows something by itself. An element without content shows nothing.
fn is_content(name: &str) -> bool {
    is_image(name) || is_film(name) || matches!(name, "#text" | "br" | "hr" | "input")
}

/// Classes of elements that quote another post: SMF, phpBB 2, MyBB, vBulletin, FluxBB and their kin.
const QUOTES: [&str; 7] =
    ["quote", "quotecontent", "bbcode_quote", "quotebody", "quote_body", "quote-content", "quotemain"];

/// Classes of the titles of notes: docutils, Material for MkDocs, GitHub.
const TITLES: [&str; 3] = ["admonition-title", "markdown-alert-title", "admonition-heading"];

/// Whether an element has one of these classes.
fn has_class(tree: &Tree, node: NodeId, names: &[&str]) -> bool {
    tree.attr(node, "class").is_some_and(|classes| classes.split_ascii_whitespace().any(|name| names.contains(&name)))
}

/// Whether an element of this name shows a film or a sound, which Markdown can only link to.
fn is_film(name: &str) -> bool {
    matches!(name, "video" | "audio" | "iframe")
}

pub(super) struct Builder<'t> {
    tree: &'t Tree,
    url: Option<&'t PageUrl>,
    options: &'t MarkdownOptions,
    addresses: Addresses,
    images: NoscriptImages,
    footnotes: Footnotes,
    formulas: Formulas,
    blocks: StyledBlocks,
    /// Whether a node is kept, or something below it is.
    shows: Vec<bool>,
    /// Cells that spans may still add.
    spanned: usize,
    links: Vec<Link>,
    /// What stands above the content of an element.
    pub(super) above: FxHashMap<NodeId, Vec<String>>,
}

/// What the elements around a node say about it.
#[derive(Clone, Copy, Default)]
struct Context {
    marks: Marks,
    depth: usize,
    is_code: bool,
    /// Whether it is in a heading, a term or a summary: buttons are part of the text, links within the page are not.
    is_heading: bool,
}

/// Whether runs have a letter or a digit, or anything that is no text.
fn has_words(runs: &[Run]) -> bool {
    runs.iter().any(|run| match &run.piece {
        Piece::Text(text) => text.contains(char::is_alphanumeric),
        Piece::Space | Piece::Break => false,
        _ => true,
    })
}

impl<'t> Builder<'t> {
    /// For the nodes that `keeps` selects.
    pub(super) fn new(
        tree: &'t Tree,
        url: Option<&'t PageUrl>,
        options: &'t MarkdownOptions,
        keeps: &dyn Fn(NodeId) -> bool,
    ) -> Builder<'t> {
        let unshown = Unshown::new(tree, WrittenAs::Markdown);
        let is_shown = |node: NodeId| {
            let name = tree.name(node);
            is_content(name) && keeps(node) && (is_film(name) || !unshown.holds(node))
        };
        let mut shows: Vec<bool> = tree.nodes().map(is_shown).collect();
        for node in (1..tree.len()).rev() {
            if shows[node] {
                shows[tree.shape.parent[node] as usize] = true;
            }
        }
        // A line ends where it ends, whatever the labels say of the element.
        for line_end in tree.all("br") {
            shows[line_end.index()] |= shows[tree.shape.parent[line_end.index()] as usize];
        }
        Builder {
            tree,
            url,
            options,
            addresses: Addresses::new(tree, url),
            images: NoscriptImages::new(tree),
            footnotes: Footnotes::new(tree, |node| shows[node.index()]),
            formulas: Formulas::new(tree),
            blocks: StyledBlocks::new(tree),
            shows,
            spanned: MOST_SPANNED,
            links: Vec::new(),
            above: FxHashMap::default(),
        }
    }

    pub(super) fn body(&self) -> Option<NodeId> {
        self.tree.body()
    }

    /// The blocks of an element.
    pub(super) fn document(&mut self, element: NodeId) -> Document {
        let mut flow = Flow::default();
        self.children(element, &mut flow, Context::default());
        let mut blocks = flow.finish();
        link_once(&mut blocks);
        Document { blocks, links: std::mem::take(&mut self.links) }
    }

    /// The blocks of an element without some ranges of nodes in it.
    pub(super) fn document_without(&mut self, element: NodeId, without: &[Range<usize>]) -> Document {
        let kept: Vec<Vec<bool>> = without.iter().map(|range| self.shows[range.clone()].to_vec()).collect();
        without.iter().for_each(|range| self.shows[range.clone()].fill(false));
        let document = self.document(element);
        for (range, kept) in without.iter().zip(kept).rev() {
            self.shows[range.clone()].copy_from_slice(&kept);
        }
        document
    }

    fn children(&mut self, parent: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        if let Some(facts) = self.above.get(&parent) {
            flow.above(facts);
        }
        let end = tree.shape.subtree(parent).end;
        let mut at = parent.index() + 1;
        while at < end {
            let node = NodeId::new(at);
            self.lone_images(at, parent, flow, context);
            self.scripts(at, parent, flow, context);
            if !tree.space(node).is_empty() {
                flow.blank();
            }
            if self.shows[at] {
                self.node(node, flow, context)
            } else {
                self.left_out(node, flow)
            }
            at = tree.shape.subtree(node).end;
        }
        self.lone_images(end, parent, flow, context);
        self.scripts(end, parent, flow, context);
    }

    /// Formulas of scripts before node `at`.
    fn scripts(&self, at: usize, parent: NodeId, flow: &mut Flow, context: Context) {
        for (tex, is_display) in self.formulas.before(at, parent).filter(|_| self.shows[parent.index()]) {
            self.formula(tex, is_display, flow, context);
        }
    }

    /// A node that is left out still separates what is around it.
    fn left_out(&mut self, node: NodeId, flow: &mut Flow) {
        let tree = self.tree;
        let is_shown_alone = |name: &str| {
            matches!(name, "br" | "img" | "input" | "svg" | "video" | "audio" | "object" | "canvas" | "iframe" | "math")
        };
        let separates = |node: NodeId| tree.is_text(node) || is_shown_alone(tree.name(node));
        if is_block(tree.name(node)) {
            flow.end_paragraph();
        } else if tree.shape.subtree(node).any(|at| separates(NodeId::new(at))) {
            flow.blank();
        }
    }

    fn node(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        if tree.is_text(node) {
            self.text(tree.text(node), flow, context);
            return;
        }
        if let Some(number) = self.footnotes.note(node) {
            let mut blocks = self.inner_blocks(node, Context { depth: context.depth + 1, ..Context::default() });
            // The brackets around its number.
            if blocks.len() > 1 && matches!(&blocks[0], Block::Paragraph(runs) if !has_words(runs)) {
                blocks.remove(0);
            }
            flow.block(Block::Footnote(number, blocks));
            return;
        }
        if self.formulas.is_rendering(node) {
            return;
        }
        if let Some((tex, is_display)) = self.formulas.at(node) {
            self.formula(tex.clone(), is_display, flow, context);
            return;
        }
        let deeper = Context { depth: context.depth + 1, ..context };
        if deeper.depth > DEEPEST {
            self.flat_text(node, flow, context);
        } else if !is_block(tree.name(node)) && self.blocks.has(tree, node) {
            flow.end_paragraph();
            self.element(node, flow, context, deeper);
            flow.end_paragraph();
        } else {
            self.element(node, flow, context, deeper);
        }
    }

    fn element(&mut self, node: NodeId, flow: &mut Flow, context: Context, deeper: Context) {
        let tree = self.tree;
        match tree.name(node) {
            "br" if context.is_code => flow.blank(),
            "br" => flow.break_line(),
            "hr" => flow.block(Block::Rule),
            name if is_image(name) => self.image(node, flow, context),
            "a" => self.link(node, flow, deeper),
            "b" | "strong" => self.marked(node, flow, deeper, |marks| marks.strong = true),
            "i" | "em" => self.marked(node, flow, deeper, |marks| marks.emphasis = true),
            "s" | "del" | "strike" => self.marked(node, flow, deeper, |marks| marks.deleted = true),
            "sup" => self.marked(node, flow, deeper, |marks| marks.superscript = true),
            "sub" => self.marked(node, flow, deeper, |marks| marks.subscript = true),
            "code" | "tt" | "kbd" | "samp" => self.code(node, flow, deeper),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(node, flow, deeper),
            "pre" | "listing" | "xmp" | "plaintext" => self.code_block(node, flow),
            "blockquote" => {
                let blocks = self.inner_blocks(node, deeper);
                flow.block(Block::Quote(blocks));
            }
            "ul" | "ol" | "menu" | "dir" => self.list(node, flow, deeper),
            "li" => self.lone_item(node, flow, deeper),
            "dl" => self.terms(node, flow, deeper),
            "table" => self.table(node, flow, deeper),
            "q" => {
                flow.push(Piece::Text("\u{201c}".to_owned()), deeper.marks);
                self.children(node, flow, deeper);
                flow.runs.pop_if(|run| run.piece == Piece::Space);
                flow.push(Piece::Text("\u{201d}".to_owned()), deeper.marks);
            }
            "rt" if !has_parentheses(tree, node) => {
                flow.push(Piece::Text("(".to_owned()), deeper.marks);
                self.children(node, flow, deeper);
                flow.push(Piece::Text(")".to_owned()), deeper.marks);
            }
            "video" | "audio" | "iframe" => self.film(node, flow, context),
            "cite" if self.is_attribution(node) => {
                flow.end_paragraph();
                self.children(node, flow, deeper);
                flow.end_paragraph();
            }
            "div" if is_code_lines(tree, node) => self.code_block(node, flow),
            "div" | "section" if has_class(tree, node, &QUOTES) => {
                let blocks = self.inner_blocks(node, deeper);
                flow.block(Block::Quote(blocks));
            }
            "summary" => self.strong_line(node, flow, deeper),
            "p" | "div" if has_class(tree, node, &TITLES) => self.strong_line(node, flow, deeper),
            "select" | "option" | "optgroup" | "datalist" | "textarea" | "input" => flow.blank(),
            "button" if !context.is_heading && !buttons::is_heading(tree, node) => flow.blank(),
            "button" if !context.is_heading => self.strong_line(node, flow, deeper),
            name if is_block(name) => {
                flow.end_paragraph();
                self.children(node, flow, deeper);
                flow.end_paragraph();
            }
            "td" | "th" | "button" | "svg" | "title" | "desc" | "text" | "object" | "canvas" => {
                flow.blank();
                self.children(node, flow, deeper);
                flow.blank();
            }
            _ => self.children(node, flow, deeper),
        }
    }

    /// Whether a `cite` stands beside the quote that it is about, not in its text: right in it, or before its words.
    fn is_attribution(&self, cite: NodeId) -> bool {
        let tree = self.tree;
        let mut above = ancestors(tree, cite);
        let Some(parent) = above.next() else { return false };
        let is_quoted = |node: Option<NodeId>| node.is_some_and(|node| tree.name(node) == "blockquote");
        match tree.name(parent) {
            "blockquote" => true,
            "div" => is_quoted(above.next()),
            "p" => {
                let ends_line = || tree.shape.subtree(cite).any(|at| tree.text(NodeId::new(at)).trim().ends_with(':'));
                is_quoted(above.next()) && children(tree, parent).next() == Some(cite) && ends_line()
            }
            _ => false,
        }
    }

    /// The heading of a text that it shows and hides.
    fn strong_line(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let marks = Marks { strong: true, ..context.marks };
        flow.end_paragraph();
        self.children(node, flow, Context { marks, is_heading: true, ..context });
        flow.end_paragraph();
    }

    fn marked(&mut self, node: NodeId, flow: &mut Flow, context: Context, set: fn(&mut Marks)) {
        let mut marks = context.marks;
        set(&mut marks);
        self.children(node, flow, Context { marks, ..context });
    }

    fn inner_blocks(&mut self, node: NodeId, context: Context) -> Vec<Block> {
        let mut flow = Flow::default();
        self.children(node, &mut flow, context);
        flow.finish()
    }

    fn code_block(&mut self, node: NodeId, flow: &mut Flow) {
        let shows = &self.shows;
        let (language, text) = code_block(self.tree, node, |node| shows[node.index()]);
        // A table in it that numbers the lines.
        let table = self.tree.shape.subtree(node).map(NodeId::new).find(|at| self.tree.name(*at) == "table");
        let text = match table.map(|table| read_table(self.tree, table, |row| shows[row.index()], &mut self.spanned)) {
            Some(Table::Code(cell)) => code_block(self.tree, cell, |node| shows[node.index()]).1,
            _ => text,
        };
        if !text.trim().is_empty() {
            flow.block(Block::Code { language, text });
        }
    }

    fn heading(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let level = self.tree.name(node).as_bytes()[1] - b'0';
        let blocks = self.inner_blocks(node, Context { is_heading: true, ..context });
        let runs = tidied(flat_runs(blocks, Piece::Space));
        let has_words = runs.iter().any(|run| !matches!(run.piece, Piece::Image { .. } | Piece::Space | Piece::Break));
        if has_words {
            flow.block(Block::Heading(level, runs));
        } else if runs.is_empty() {
            flow.end_paragraph();
        } else {
            // A picture in place of a heading stays a picture.
            flow.block(Block::Paragraph(runs));
        }
    }
}
