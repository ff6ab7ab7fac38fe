//! A page as an HTML document that opens by itself, runs nothing and loads nothing but its pictures.

use super::addresses::Addresses;
use super::images::{NoscriptImages, is_pixel, lazy_set, lazy_source};
use super::markdown::is_block;
use super::policy::{Value, Written, attribute, element, is_plain_link, is_plain_meta, is_void};
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, StyledBlocks, Tree, Unshown, WrittenAs, keeps_space};

/// The first lines of a head. The policy holds for browsers: no script, style, frame, form or font.
const HEAD: &str = "<meta charset=\"utf-8\">\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src http: https: data:; \
    media-src http: https:; base-uri 'none'; form-action 'none'\">\
    <meta name=\"referrer\" content=\"no-referrer\">";

/// The part of a page that `is_own` selects, as HTML, with the elements that hold it. An element that is not selected
/// is left out when nothing below it is; otherwise it stays, as structure. Everything else is as in [`write_html`].
pub fn write_own_html(tree: &Tree, url: Option<&PageUrl>, is_own: impl Fn(NodeId) -> bool) -> String {
    let mut kept: Vec<bool> = tree.nodes().map(is_own).collect();
    for node in (1..tree.len()).rev() {
        if kept[node] {
            kept[tree.shape.parent[node] as usize] = true;
        }
    }
    // A line ends where it ends, whatever is selected.
    for line_end in tree.all("br") {
        kept[line_end.index()] |= kept[tree.shape.parent[line_end.index()] as usize];
    }
    write_html(tree, url, |node| kept[node.index()])
}

/// A page as HTML with only the nodes that `keeps` selects.
///
/// Kept nodes below a dropped element move up to their nearest kept ancestor. A dropped node between two kept ones
/// leaves a blank. Only harmless elements and attributes are written: no script, handler, frame, form or style. An
/// element that cannot be written leaves its content. Links and pictures are absolute where `url`, the address of the
/// page, or its `base` element is known. Attributes that error recovery has given to many elements are written until
/// they exceed twice the size of the page and 1 MB. The text of the result is the text of the kept nodes.
pub fn write_html(tree: &Tree, url: Option<&PageUrl>, keeps: impl Fn(NodeId) -> bool) -> String {
    let mut writer = Writer {
        tree,
        addresses: Addresses::new(tree, url),
        images: NoscriptImages::new(tree),
        blocks: StyledBlocks::new(tree),
        written: vec![None; tree.names().count()],
        out: String::from("<!DOCTYPE html>\n"),
        open: Vec::new(),
    };
    let unshown = Unshown::new(tree, WrittenAs::Html);
    let counted = tree.counted();
    let (mut pre_until, mut skip_until, mut was_dropped) = (0, 0, false);
    for node in tree.nodes() {
        let index = node.index();
        let in_body = counted.contains(&index);
        if index > counted.start {
            writer.noscript_images(index, &keeps);
        }
        writer.close_until(index);
        let is_kept = if in_body {
            index == counted.start
                || (keeps(node) && index >= skip_until && !(tree.is_text(node) && unshown.holds(node)))
        } else {
            is_kept_in_head(tree, node)
        };
        if index < pre_until {
            writer.out.push_str(tree.space(node));
        } else if !tree.space(node).is_empty() || (was_dropped && is_kept) {
            writer.push_blank();
        }
        if !is_kept {
            was_dropped |= in_body;
            continue;
        }
        was_dropped = false;
        if tree.is_text(node) {
            escape(tree.text(node), false, &mut writer.out);
            continue;
        }
        let name = tree.name(node);
        if !in_body || index == counted.start {
            writer.head_element(node, name);
        } else if !writer.body_element(node, name) {
            skip_until = tree.shape.subtree(node).end;
            continue;
        }
        if keeps_space(name) {
            pre_until = pre_until.max(tree.shape.subtree(node).end);
            // Parsers drop one line break after the start tag.
            let next = (index + 1 < pre_until).then(|| NodeId::new(index + 1));
            if next.is_some_and(|n| tree.text(n).starts_with('\n') || tree.space(n).starts_with('\n')) {
                writer.out.push('\n');
            }
        }
    }
    writer.noscript_images(tree.len(), &keeps);
    writer.close_until(usize::MAX);
    writer.out.push('\n');
    writer.out
}

struct Writer<'t> {
    tree: &'t Tree,
    addresses: Addresses,
    images: NoscriptImages,
    blocks: StyledBlocks,
    /// How elements are written, by the number of their name, once that is known.
    written: Vec<Option<Written>>,
    out: String,
    open: Vec<OpenElement>,
}

/// An element that is written and not closed yet.
#[derive(Clone, Copy)]
struct OpenElement {
    node: usize,
    end: usize,
    closing: Closing,
}

#[derive(Clone, Copy)]
enum Closing {
    Tag(&'static str),
    Blank,
    Line,
}

impl Writer<'_> {
    fn push_blank(&mut self) {
        if !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    /// Closes the elements that end before this node.
    fn close_until(&mut self, index: usize) {
        self.close_inside(0, index);
    }

    /// The same for those below `parent` only.
    fn close_inside(&mut self, parent: usize, index: usize) {
        while let Some(OpenElement { node, end, closing }) = self.open.last().copied() {
            if end > index || (node <= parent && parent > 0) {
                return;
            }
            match closing {
                Closing::Tag(name) => {
                    self.out.push_str("</");
                    self.out.push_str(name);
                    self.out.push('>');
                    if matches!(name, "head" | "body") {
                        self.out.push('\n');
                    }
                }
                Closing::Blank => self.push_blank(),
                Closing::Line => self.out.push_str("<br>"),
            }
            self.open.pop();
        }
    }

    fn open(&mut self, node: NodeId, closing: Closing) {
        self.open.push(OpenElement { node: node.index(), end: self.tree.shape.subtree(node).end, closing });
    }

    /// Writes the start tag of `html`, `head` and `body`, and of the plain elements of a head.
    fn head_element(&mut self, node: NodeId, name: &str) {
        let written = match name {
            "html" => "html",
            "head" => "head",
            "body" => "body",
            "title" => "title",
            "meta" => "meta",
            _ => "link",
        };
        self.out.push('<');
        self.out.push_str(written);
        for (name, value) in self.tree.attrs(node) {
            match (written, name) {
                (_, "id" | "class" | "lang" | "dir") | ("meta", "name" | "property" | "itemprop" | "content") => {
                    self.attribute(name, value);
                }
                ("link", "rel" | "hreflang" | "type" | "title") => self.attribute(name, value),
                ("link", "href") => {
                    if let Some(href) = self.addresses.link(value) {
                        self.attribute(name, &href);
                    }
                }
                _ => {}
            }
        }
        self.out.push('>');
        match written {
            "html" => self.out.push('\n'),
            "head" => self.out.push_str(HEAD),
            _ => {}
        }
        if !is_void(written) {
            self.open(node, Closing::Tag(written));
        }
    }

    /// Writes the start tag of an element of the body. Returns whether its content is written.
    fn body_element(&mut self, node: NodeId, name: &str) -> bool {
        let written = *self.written[self.tree.name_number(node)].get_or_insert_with(|| element(name));
        // Styles are not written.
        if !is_block(name) && self.blocks.has(self.tree, node) {
            self.out.push_str("<br>");
            self.open(node, Closing::Line);
        }
        match written {
            Written::As("img") if is_pixel(self.tree, node) => {
                self.push_blank();
                return false;
            }
            Written::As(written) => {
                self.start_tag(node, written);
                // An image of AMP holds what stands for it.
                if written == "img" {
                    return false;
                }
                if !is_void(written) {
                    self.open(node, Closing::Tag(written));
                }
            }
            Written::Content => {}
            Written::Apart => {
                self.push_blank();
                self.open(node, Closing::Blank);
            }
            Written::Lines => {
                self.out.push_str("<br>");
                self.open(node, Closing::Line);
            }
            Written::Nothing => {
                if name == "input" && self.is_check_box(node) {
                    let checked = if self.tree.attr(node, "checked").is_some() { " checked" } else { "" };
                    self.out.push_str(&format!("<input type=\"checkbox\" disabled{checked}>"));
                } else {
                    self.push_blank();
                }
                return false;
            }
        }
        true
    }

    fn is_check_box(&self, node: NodeId) -> bool {
        self.tree.attr(node, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
    }

    fn start_tag(&mut self, node: NodeId, written: &'static str) {
        self.out.push('<');
        self.out.push_str(written);
        for (name, value) in self.tree.attrs(node) {
            match attribute(written, name) {
                Some(Value::Text) if self.addresses.may_write(value) => self.attribute(name, value),
                Some(Value::Link) => {
                    if let Some(href) = self.addresses.link(value) {
                        self.attribute(name, &href);
                    }
                }
                Some(Value::Text | Value::Media | Value::MediaSet) | None => {}
            }
        }
        if matches!(written, "img" | "source" | "audio" | "video") {
            let src = lazy_source(self.tree, node, &self.images).and_then(|src| self.addresses.media(&src));
            if let Some(src) = src {
                self.attribute("src", &src);
            }
        }
        if matches!(written, "img" | "source")
            && let Some(set) = lazy_set(self.tree, node).and_then(|set| self.addresses.media_set(set))
        {
            self.attribute("srcset", &set);
        }
        if matches!(written, "audio" | "video") {
            self.out.push_str(" controls preload=\"none\"");
        }
        self.out.push('>');
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape(value, true, &mut self.out);
        self.out.push('"');
    }

    /// Writes pictures that only a `noscript` right before this place holds.
    fn noscript_images(&mut self, index: usize, keeps: impl Fn(NodeId) -> bool) {
        if self.images.is_empty() {
            return;
        }
        let here = self.images.alone(self.tree, index).filter(|(parent, ..)| keeps(*parent));
        let here = here.filter_map(|(parent, src, alt)| Some((parent, self.addresses.media(src)?, alt.to_owned())));
        for (parent, src, alt) in here.collect::<Vec<_>>() {
            self.close_inside(parent.index(), index);
            self.out.push_str("<img");
            self.attribute("src", &src);
            self.attribute("alt", &alt);
            self.out.push('>');
        }
    }
}

fn is_kept_in_head(tree: &Tree, node: NodeId) -> bool {
    let element = if tree.is_text(node) { NodeId::new(tree.shape.parent[node.index()] as usize) } else { node };
    match tree.name(element) {
        "html" | "head" | "title" => true,
        "meta" => is_plain_meta(&mut tree.attrs(element)),
        "link" => tree.attr(element, "rel").is_some_and(is_plain_link),
        _ => false,
    }
}

/// Writes text with the characters escaped that mean markup.
pub(super) fn escape(text: &str, in_attribute: bool, out: &mut String) {
    let bytes = text.as_bytes();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        at += plain_length(&bytes[at..]);
        // One step is read byte by byte, then whole steps are tried again.
        let until = (at + STEP).min(bytes.len());
        while at < until {
            let (written, n) = match bytes[at] {
                b'&' => ("&amp;", 1),
                b'"' if in_attribute => ("&quot;", 1),
                b'<' => ("&lt;", 1),
                b'>' => ("&gt;", 1),
                0xc2 if text[at..].starts_with('\u{a0}') => ("&nbsp;", 2),
                _ => {
                    at += 1;
                    continue;
                }
            };
            out.push_str(&text[from..at]);
            out.push_str(written);
            at += n;
            from = at;
        }
    }
    out.push_str(&text[from..]);
}

/// Number of bytes that [`plain_length`] tests at once.
const STEP: usize = 16;

/// Number of bytes at the beginning of a text that are written as they are, in whole steps. The comparisons have no
/// branches, so that they are compiled to vector instructions.
fn plain_length(bytes: &[u8]) -> usize {
    let is_special =
        |byte: &u8| (*byte == b'&') | (*byte == b'"') | (*byte == b'<') | (*byte == b'>') | (*byte == 0xc2);
    let steps = bytes.chunks_exact(STEP);
    STEP * steps.take_while(|step| !step.iter().fold(false, |is, byte| is | is_special(byte))).count()
}

#[cfg(test)]
mod tests;
