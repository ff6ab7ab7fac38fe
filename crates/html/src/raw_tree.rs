//! The tree of a page while it is built.
//!
//! The builder moves nodes during error recovery (foster parenting, the adoption agency algorithm). Nodes are therefore
//! numbered in order of creation and linked as siblings first; `flatten.rs` renumbers them in preorder. Texts and
//! attribute values are appended to one buffer. A text node is a chain of spans of the buffer: the builder may append
//! to two text nodes alternately, and moving their bytes each time would be quadratic.

use super::names::{Name, NameTable};
use super::{ParseOptions, ScriptKind};

/// Marks a missing node or span.
pub(super) const NONE: u32 = u32::MAX;

/// The document, the parent of `html`.
pub(super) const DOCUMENT: u32 = 0;

/// A span of the buffer.
pub(super) type Bytes = (u32, u32);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Element,
    Text,
    Comment,
}

#[derive(Clone, Copy)]
pub(super) struct Raw {
    pub(super) kind: Kind,
    pub(super) parent: u32,
    pub(super) first: u32,
    last: u32,
    pub(super) prev: u32,
    pub(super) next: u32,
    /// Elements: range in `attrs`. Text: first and last span in `spans`. Comments: their [`CommentMark`].
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) depth: u32,
    pub(super) name: Name,
}

/// A comment in which React notes where a part of a page begins or ends that is sent later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommentMark {
    Begin = 1,
    End = 2,
}

#[derive(Clone, Copy)]
pub(super) struct RawAttr {
    pub(super) name: Name,
    pub(super) value: Bytes,
}

pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) next: u32,
}

/// The tree as built, before renumbering.
pub(super) struct RawTree {
    pub(super) nodes: Vec<Raw>,
    pub(super) attrs: Vec<RawAttr>,
    pub(super) spans: Vec<Span>,
    pub(super) text: String,
    pub(super) names: NameTable,
    /// The `template` elements, in the order of their creation.
    pub(super) templates: Vec<u32>,
    max_attributes: usize,
    /// Limit on the attributes of all elements together. Error recovery clones open formatting elements with their
    /// attributes, so without this limit a short page could create any number of them.
    attribute_budget: usize,
}

impl RawTree {
    /// The document of a page of so many bytes.
    pub(super) fn new(bytes: usize, limits: &ParseOptions) -> RawTree {
        let mut tree = RawTree {
            nodes: Vec::with_capacity(bytes / 24 + 8),
            attrs: Vec::with_capacity(bytes / 48),
            spans: Vec::with_capacity(bytes / 96),
            text: String::with_capacity(bytes / 2),
            names: NameTable::new(),
            templates: Vec::new(),
            max_attributes: limits.max_attributes,
            attribute_budget: limits.max_nodes,
        };
        tree.add(Kind::Document, Name::NONE);
        tree
    }

    #[inline(always)]
    pub(super) fn add(&mut self, kind: Kind, name: Name) -> u32 {
        let id = self.nodes.len() as u32;
        self.nodes.push(Raw {
            kind,
            parent: NONE,
            first: NONE,
            last: NONE,
            prev: NONE,
            next: NONE,
            from: NONE,
            to: NONE,
            depth: 0,
            name,
        });
        id
    }

    /// Adds an element without attributes.
    #[inline(always)]
    pub(super) fn add_element(&mut self, name: Name) -> u32 {
        let id = self.add(Kind::Element, name);
        let from = self.attrs.len() as u32;
        let node = self.node(id);
        (node.from, node.to) = (from, from);
        if name == Name::TEMPLATE {
            self.templates.push(id);
        }
        id
    }

    /// Adds a comment. Of its text, only the marks of boundaries are kept.
    pub(super) fn add_comment(&mut self, text: &str) -> u32 {
        let id = self.add(Kind::Comment, Name::NONE);
        self.node(id).from = match text {
            "$" | "$?" | "$!" | "$~" => CommentMark::Begin as u32,
            "/$" => CommentMark::End as u32,
            _ => NONE,
        };
        id
    }

    /// Which end of a boundary a comment is.
    pub(super) fn comment_mark(&self, node: u32) -> Option<CommentMark> {
        let Raw { kind, from, .. } = self.nodes[node as usize];
        let marks = [CommentMark::Begin, CommentMark::End];
        marks.into_iter().find(|mark| kind == Kind::Comment && from == *mark as u32)
    }

    /// How many attributes the last element may still get.
    #[inline(always)]
    pub(super) fn attribute_room(&self) -> usize {
        self.max_attributes.min(self.attribute_budget.saturating_sub(self.attrs.len()))
    }

    /// Gives the last element a further attribute.
    #[inline(always)]
    pub(super) fn add_attribute(&mut self, element: u32, name: Name, value: Bytes) {
        self.attrs.push(RawAttr { name, value });
        self.node(element).to = self.attrs.len() as u32;
    }

    /// Gives an element those of these attributes whose names it does not have. Only for `html` and `body`. The limit
    /// bounds the number of copied attributes.
    pub(super) fn add_missing_attributes(&mut self, element: u32, new: &[RawAttr]) {
        let old = self.attributes(element);
        let room = self.max_attributes.saturating_sub(old.len());
        let is_new = |attr: &&RawAttr| !old.clone().any(|at| self.attrs[at].name == attr.name);
        let new: Vec<RawAttr> = new.iter().filter(is_new).take(room).copied().collect();
        if new.is_empty() {
            return;
        }
        let from = self.attrs.len() as u32;
        self.attrs.extend_from_within(old);
        self.attrs.extend(new);
        let to = self.attrs.len() as u32;
        let node = self.node(element);
        (node.from, node.to) = (from, to);
    }

    /// Places of an element's attributes.
    pub(super) fn attributes(&self, element: u32) -> std::ops::Range<usize> {
        let node = &self.nodes[element as usize];
        match node.kind {
            Kind::Element => node.from as usize..node.to as usize,
            _ => 0..0,
        }
    }

    /// Appends to the buffer.
    #[inline(always)]
    pub(super) fn store(&mut self, text: &str) -> Bytes {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        (start, self.text.len() as u32)
    }

    pub(super) fn slice(&self, (start, end): Bytes) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn node(&mut self, id: u32) -> &mut Raw {
        &mut self.nodes[id as usize]
    }

    #[inline(always)]
    pub(super) fn unlink(&mut self, id: u32) {
        let Raw { parent, prev, next, .. } = *self.node(id);
        if parent == NONE {
            return;
        }
        match prev {
            NONE => self.node(parent).first = next,
            _ => self.node(prev).next = next,
        }
        match next {
            NONE => self.node(parent).last = prev,
            _ => self.node(next).prev = prev,
        }
        let node = self.node(id);
        (node.parent, node.prev, node.next) = (NONE, NONE, NONE);
    }

    /// Makes a node a child of `parent`, before `next` (`NONE`: as the last child).
    #[inline(always)]
    pub(super) fn link(&mut self, parent: u32, id: u32, next: u32) {
        self.unlink(id);
        let prev = if next == NONE { self.node(parent).last } else { self.node(next).prev };
        let depth = self.node(parent).depth + 1;
        let node = self.node(id);
        (node.parent, node.prev, node.next, node.depth) = (parent, prev, next, depth);
        match prev {
            NONE => self.node(parent).first = id,
            _ => self.node(prev).next = id,
        }
        match next {
            NONE => self.node(parent).last = id,
            _ => self.node(next).prev = id,
        }
    }

    /// Makes all children of `from` the last children of `to`.
    pub(super) fn move_children(&mut self, from: u32, to: u32) {
        while self.node(from).first != NONE {
            let child = self.node(from).first;
            self.link(to, child, NONE);
        }
    }

    /// What a script element holds, if it is data. `buffer` is that of the tree.
    pub(super) fn script_kind(&self, script: u32, buffer: &str) -> Option<ScriptKind> {
        let kind = self.attrs[self.attributes(script)].iter().find(|attr| attr.name == Name::TYPE)?;
        let kind = buffer.get(kind.value.0 as usize..kind.value.1 as usize)?.trim().to_ascii_lowercase();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/ld+json" => Some(ScriptKind::JsonLd),
            "application/rsl+xml" => Some(ScriptKind::Rsl),
            "math/tex" if kind.contains("display") => Some(ScriptKind::DisplayTex),
            "math/tex" => Some(ScriptKind::Tex),
            _ => None,
        }
    }

    /// Whether a MathML `annotation-xml` element says that it holds HTML.
    pub(super) fn holds_html(&self, annotation: u32) -> bool {
        self.attrs[self.attributes(annotation)].iter().any(|attr| {
            let value = self.slice(attr.value);
            attr.name == Name::ENCODING
                && (value.eq_ignore_ascii_case("text/html") || value.eq_ignore_ascii_case("application/xhtml+xml"))
        })
    }

    /// Adds text before `next`, appending to the preceding text node if there is one. Scripts and styles are dropped
    /// later with their contents, so their text is not copied, unless it is data.
    #[inline(always)]
    pub(super) fn link_text(&mut self, parent: u32, text: &str, next: u32) {
        match self.nodes[parent as usize].name {
            Name::STYLE => return,
            Name::SCRIPT if self.script_kind(parent, &self.text).is_none() => return,
            _ => {}
        }
        let before = if next == NONE { self.node(parent).last } else { self.node(next).prev };
        let (start, end) = self.store(text);
        if before != NONE && self.node(before).kind == Kind::Text {
            let tail = self.node(before).to as usize;
            if self.spans[tail].end == start {
                self.spans[tail].end = end;
                return;
            }
            let span = self.spans.len() as u32;
            self.spans.push(Span { start, end, next: NONE });
            self.spans[tail].next = span;
            self.node(before).to = span;
            return;
        }
        let span = self.spans.len() as u32;
        self.spans.push(Span { start, end, next: NONE });
        let id = self.add(Kind::Text, Name::NONE);
        let node = self.node(id);
        (node.from, node.to) = (span, span);
        self.link(parent, id, next);
    }
}
