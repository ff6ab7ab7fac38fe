//! The tree of one page: what is where, and what is the same.
//!
//! Nodes are numbered in preorder, so the subtree of `n` is the interval `n .. n + size(n)` and "is an ancestor"
//! is an interval test. All of a node's fields stand in parallel vectors. A tree is a plain value: it borrows
//! nothing, can be sent to another thread, and its [`NodeId`]s are valid only in itself.
//!
//! Parsing never fails. Bad HTML gives the tree that a browser would build; what a limit cut off is a [`Note`].
//!
//! Invariants, each with a test: a child's number is above its parent's; the sizes of the children of `n` add up
//! to `size(n) - 1`; `position` counts kept siblings from 1; equal subtrees have equal hashes.

mod attribute_limit;
mod charset;
mod flatten;
mod html;
mod limit_sink;
mod options;
mod parse;
mod scan;
mod shape;
mod sink;
#[cfg(test)]
pub(crate) mod test_pages;
mod text;
mod walk;

pub use charset::{Charset, decode};
pub use html::write_html;
pub use options::{KeepNodes, ParseOptions};
pub use parse::{parse, parse_bytes};
pub use scan::{Scanned, scan_links};
pub use shape::{NodeId, SetId, Sets, Shape};
pub use text::{normalized, text_digest, write_text};
pub use walk::{ancestors, children};

pub(crate) use flatten::looks_generated;
pub(crate) use shape::{LONG_VALUE, SetBuilder, hash_long_pair, hash_pair, hash_str, mix};
pub(crate) use text::normalized_chars;

/// A parsed page.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What is compared between pages.
    pub shape: Shape,
    /// Distinct tag and attribute names, by local number.
    names: Vec<Box<str>>,
    tag: Vec<u32>,
    /// Range of each node in `attrs`.
    attr_from: Vec<u32>,
    attrs: Vec<Attr>,
    /// Text of a text node, empty for elements: a span of `buffer`.
    text: Vec<(u32, u32)>,
    /// White space before each node that is part of no kept text: a span of `buffer`.
    space: Vec<(u32, u32)>,
    buffer: String,
    body: Option<NodeId>,
    notes: Vec<Note>,
}

#[derive(Clone, Copy, Debug)]
struct Attr {
    name: u32,
    value: (u32, u32),
}

/// What a limit did to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Decoded bytes beyond `page.max_bytes` were cut off.
    BytesCut(usize),
    /// Parsing stopped at `page.max_nodes`.
    NodesCut,
    /// So many elements below `page.max_depth` were dissolved into their parents.
    Dissolved(usize),
    /// So many tags had more than `page.max_attributes`; the surplus was cut off.
    AttributesCut(usize),
    /// The bytes were not valid in their charset and hold replacement characters.
    Undecodable,
    /// The page has no body (a frameset).
    NoBody,
}

impl Tree {
    /// Number of nodes, the head included.
    pub fn len(&self) -> usize {
        self.tag.len()
    }

    /// Has the page no node at all?
    pub fn is_empty(&self) -> bool {
        self.tag.is_empty()
    }

    /// The body, which every labelling and mapping begins with.
    pub fn body(&self) -> Option<NodeId> {
        self.body
    }

    /// Nodes of the body's subtree: the counted nodes of the corpus labels.
    pub fn counted(&self) -> std::ops::Range<usize> {
        match self.body {
            Some(body) => self.shape.subtree(body),
            None => 0..0,
        }
    }

    /// Tag name; `#text` for text, `#comment` for comments.
    pub fn name(&self, node: NodeId) -> &str {
        &self.names[self.tag[node.index()] as usize]
    }

    /// Is this a text node?
    pub fn is_text(&self, node: NodeId) -> bool {
        self.shape.is_text(node)
    }

    /// Text of a text node as written (entities resolved); empty for elements.
    pub fn text(&self, node: NodeId) -> &str {
        self.slice(self.text[node.index()])
    }

    /// White space before this node that is part of no kept text.
    pub fn space(&self, node: NodeId) -> &str {
        self.slice(self.space[node.index()])
    }

    /// Attributes in source order, `class` and `id` included.
    pub fn attrs(&self, node: NodeId) -> impl Iterator<Item = (&str, &str)> {
        let from = self.attr_from[node.index()] as usize;
        let to = self.attr_from[node.index() + 1] as usize;
        self.attrs[from..to].iter().map(|attr| (&*self.names[attr.name as usize], self.slice(attr.value)))
    }

    /// Value of one attribute.
    pub fn attr(&self, node: NodeId, name: &str) -> Option<&str> {
        self.attrs(node).find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// What limits did to this page.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// All nodes in document order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.len()).map(NodeId::new)
    }

    /// The elements of this name, in document order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = NodeId> + '_ {
        let known = self.names.iter().position(|n| &**n == name).map(|at| at as u32);
        let tags = if known.is_some() { &self.tag[..] } else { &[] };
        tags.iter().enumerate().filter(move |(_, tag)| Some(**tag) == known).map(|(at, _)| NodeId::new(at))
    }

    fn slice(&self, (start, end): (u32, u32)) -> &str {
        self.buffer.get(start as usize..end as usize).unwrap_or_default()
    }
}
