//! What stands in a line: words, links, pictures, code and formulas.

use super::{Builder, Context, Flow};
use crate::images::{alt_text, is_image, is_pixel, lazy_source};
use crate::markdown::block::{Block, Link, Marks, Piece};
use crate::markdown::formulas::split_formulas;
use crate::markdown::is_block;
use crate::markdown::options::MarkdownImages;
use dehusk_html::{NodeId, is_shown, is_space, sign_of_image};

/// Bytes of the address of a film. Frames of advertisements have addresses of a thousand and more, with all that is
/// known of the reader: of 4,113 frames on pages with gold, 47 are longer, and 2 of these are films.
const LONGEST_FILM: usize = 500;

/// Titles of frames of advertisements, in small letters: 59 of the same 4,113 frames have one of them.
const AD_LABELS: [&str; 8] = [
    "advertisement",
    "advertising",
    "3rd party ad content",
    "anzeige",
    "werbung",
    "publicité",
    "publicidad",
    "реклама",
];

impl Builder<'_> {
    pub(super) fn text(&self, text: &str, flow: &mut Flow, context: Context) {
        if context.is_code {
            push_words(text, flow, Piece::Code, context.marks);
            return;
        }
        for (part, tex) in split_formulas(text) {
            match tex {
                None => push_words(part, flow, Piece::Text, context.marks),
                Some(true) => flow.block(Block::Formula(part.trim().to_owned())),
                Some(false) => flow.push(Piece::Formula(part.trim().to_owned()), context.marks),
            }
        }
    }

    /// All text below a node, without its blocks.
    pub(super) fn flat_text(&self, node: NodeId, flow: &mut Flow, context: Context) {
        for at in self.tree.shape.subtree(node) {
            if self.shows[at] && self.tree.is_text(NodeId::new(at)) {
                flow.blank();
                self.text(self.tree.text(NodeId::new(at)), flow, context);
            }
        }
    }

    pub(super) fn formula(&self, tex: String, is_display: bool, flow: &mut Flow, context: Context) {
        if is_display { flow.block(Block::Formula(tex)) } else { flow.push(Piece::Formula(tex), context.marks) }
    }

    pub(super) fn image(&self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        let alt = one_line(alt_text(tree, node, &self.images));
        if let Some(tex) = self.formulas.of_image(tree, node, &alt) {
            if let Some(tex) = tex {
                flow.push(Piece::Formula(tex), context.marks);
            }
            return;
        }
        if is_pixel(tree, node) {
            flow.blank();
            return;
        }
        if let Some(sign) = sign_of_image(tree, node) {
            return push_words(sign, flow, Piece::Text, context.marks);
        }
        let src = lazy_source(tree, node, &self.images);
        // Some programs write the address in place of the text.
        let alt = if src.as_deref() == Some(&*alt) { String::new() } else { alt };
        let src = src.and_then(|src| self.addresses.media(&src));
        self.push_image(src, alt, flow, context);
    }

    fn push_image(&self, src: Option<String>, alt: String, flow: &mut Flow, context: Context) {
        // A picture within the page is bytes, not text.
        let src = src.filter(|src| !src.starts_with("data:"));
        match (self.options.images, src) {
            (MarkdownImages::Keep, Some(src)) => flow.push(Piece::Image { src, alt }, context.marks),
            (MarkdownImages::Alt, _) if !alt.is_empty() => {
                flow.blank();
                push_words(&alt, flow, Piece::Text, context.marks);
                flow.blank();
            }
            _ => flow.blank(),
        }
    }

    /// A film, a sound, or a frame that has a title or may fill the screen: a link to it. A frame whose address holds
    /// more than an address of a page does, or that says so, is an advertisement.
    pub(super) fn film(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        let title = one_line(tree.attr(node, "title").or_else(|| tree.attr(node, "aria-label")).unwrap_or_default());
        let is_film = tree.name(node) != "iframe" || !title.is_empty() || tree.attr(node, "allowfullscreen").is_some();
        let own =
            ["src", "data-src"].iter().find_map(|name| tree.attr(node, name)).filter(|src| !src.trim().is_empty());
        let inside = || {
            let sources = tree.shape.subtree(node).map(NodeId::new).filter(|at| tree.name(*at) == "source");
            sources.filter_map(|source| tree.attr(source, "src")).next()
        };
        let target = own.or_else(inside).and_then(|src| self.addresses.link(src));
        flow.blank();
        let is_ad = |target: &str| target.len() > LONGEST_FILM || AD_LABELS.contains(&title.to_lowercase().as_str());
        let target = target.filter(|target| tree.name(node) != "iframe" || !is_ad(target));
        let Some(target) = target.filter(|_| is_film && context.marks.link == 0) else { return };
        let text =
            if title.is_empty() { target.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&target) } else { &title };
        let text = text.to_owned();
        self.links.push(Link { href: target });
        let marks = Marks { link: self.links.len() as u32, ..context.marks };
        push_words(&text, flow, Piece::Text, marks);
        flow.blank();
    }

    /// Pictures that only a `noscript` before node `at` holds.
    pub(super) fn lone_images(&self, at: usize, parent: NodeId, flow: &mut Flow, context: Context) {
        for (of, src, alt) in self.images.alone(self.tree, at) {
            if of == parent && self.shows[parent.index()] {
                self.push_image(self.addresses.media(src), one_line(alt), flow, context);
            }
        }
    }

    pub(super) fn link(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        if let Some(number) = self.footnotes.reference(node) {
            flow.push(Piece::FootnoteRef(number), Marks::default());
            return;
        }
        let href = self.tree.attr(node, "href").map(str::trim).filter(|href| !href.is_empty());
        let shows_words = || {
            let nodes = self.tree.shape.subtree(node).map(NodeId::new).filter(|at| self.shows[at.index()]);
            let mut nodes = nodes.skip(1);
            nodes.any(|at| is_image(self.tree.name(at)) || self.tree.text(at).contains(char::is_alphanumeric))
        };
        // A sign that leads to its own heading, or back from a note.
        if href.is_some_and(|href| href.starts_with('#')) && (self.footnotes.is_back_link(node) || !shows_words()) {
            flow.blank();
            return;
        }
        let is_here = href == Some("#") || (context.is_heading && href.is_some_and(|href| href.starts_with('#')));
        let target = href.and_then(|href| self.addresses.link(href)).filter(|_| context.marks.link == 0 && !is_here);
        let Some(target) = target else { return self.children(node, flow, context) };
        let target = match (target.starts_with('#'), self.url) {
            (true, Some(url)) if self.addresses.may_add(url.as_str().len()) => format!("{}{target}", url.as_str()),
            _ => target,
        };
        self.links.push(Link { href: target });
        let marks = Marks { link: self.links.len() as u32, ..context.marks };
        self.children(node, flow, Context { marks, ..context });
    }

    pub(super) fn code(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        let inside = || tree.shape.subtree(node).skip(1).map(NodeId::new);
        if inside().any(|at| matches!(tree.name(at), "a" | "img" | "pre") || is_block(tree.name(at))) {
            return self.children(node, flow, Context { is_code: true, ..context });
        }
        if inside().any(|at| tree.name(at) == "br") && self.is_alone(node) {
            return self.code_block(node, flow);
        }
        let mut text = String::new();
        for at in inside() {
            text.push_str(tree.space(at));
            match tree.is_text(at) {
                true if self.shows[at.index()] => text.push_str(tree.text(at)),
                _ if tree.name(at) == "br" => text.push(' '),
                _ => {}
            }
        }
        let code = one_line(&text);
        if text.starts_with(is_space) {
            flow.blank();
        }
        if !code.is_empty() {
            flow.push(Piece::Code(code), context.marks);
        }
        if text.ends_with(is_space) {
            flow.blank();
        }
    }
}

impl Builder<'_> {
    /// Whether an element is all that its paragraph shows.
    fn is_alone(&self, node: NodeId) -> bool {
        let parent = NodeId::new(self.tree.shape.parent[node.index()] as usize);
        let own = self.tree.shape.subtree(node);
        let mut others = self.tree.shape.subtree(parent).skip(1).filter(|at| !own.contains(at));
        is_block(self.tree.name(parent)) && !others.any(|at| self.shows[at])
    }
}

/// Words with blanks between them, and around them where the text has white space.
fn push_words(text: &str, flow: &mut Flow, piece: fn(String) -> Piece, marks: Marks) {
    let line = one_line(text);
    if text.starts_with(is_space) || line.is_empty() {
        flow.blank();
    }
    if line.is_empty() {
        return;
    }
    flow.push(piece(line), marks);
    if text.ends_with(is_space) {
        flow.blank();
    }
}

/// A text with its white space collapsed, without characters that are not shown.
fn one_line(text: &str) -> String {
    let line = dehusk_html::normalized(text);
    if line.chars().all(is_shown) {
        return line;
    }
    dehusk_html::normalized(&line.chars().filter(|c| is_shown(*c)).collect::<String>())
}
