//! The DOM tree of one web page, with hashes for comparing nodes between pages.
//!
//! [`parse_bytes`] detects the charset and parses; [`parse`] takes text. A [`Tree`] answers for names, attributes and
//! texts; [`Tree::compared`] gives what two pages are compared by. [`PageUrl`] is the address of a page, [`Site`] the
//! addresses of one site. Nothing here knows of templates or of main content.
//!
//! ```
//! use dehusk_html::{PageUrl, ParseOptions, base_url, parse_bytes};
//!
//! let page = "<title>Rye</title><nav><a href=\"/oats\">Oats</a></nav><p>A grass.";
//! let (tree, _) = parse_bytes(page.as_bytes(), Some("text/html; charset=utf-8"), &ParseOptions::default());
//! let link = tree.all("a").next().unwrap();
//! let url = PageUrl::parse("http://example.org/rye")?;
//! let target = base_url(&tree, &url).join(tree.attr(link, "href").unwrap());
//! assert_eq!(target.unwrap().as_str(), "http://example.org/oats");
//! let text = tree.nodes().last().unwrap();
//! assert_eq!((tree.text(text), tree.name(tree.body().unwrap())), ("A grass.", "body"));
//! # Ok::<(), dehusk_html::UrlError>(())
//! ```
//!
//! Nodes are numbered in preorder, so the subtree of `n` is the interval `n .. n + size(n)`, and testing for an
//! ancestor is an interval test. The node fields are parallel vectors. A tree is a plain value: it borrows nothing and
//! can be sent to another thread. A [`NodeId`] is valid only in its own tree.
//!
//! Parsing never fails. Malformed HTML gives the tree that a browser would build. Each limit hit is a [`Note`].
//!
//! Invariants, each with a test: a child's number is greater than its parent's; the sizes of the children of `n` add up
//! to `size(n) - 1`; `position` counts kept siblings from 1; equal subtrees have equal hashes.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod builder;
mod by_html5ever;
mod by_place;
mod by_value;
mod charset;
mod compared;
mod data_text;
mod depth_limit;
mod fields;
mod flatten;
mod hash;
mod names;
mod noscript;
mod options;
mod page_url;
mod parse;
mod raw_tree;
mod scan;
mod sets;
mod shape;
mod space;
mod styled_blocks;
mod template_content;
mod text;
mod texts;
mod tokenizer;
mod unshown;
mod walk;

use std::borrow::Cow;
use std::sync::OnceLock;

pub use charset::{Charset, decode};
pub use compared::{Compared, ComparedTree, SubtreeHashes};
pub use fields::{Fields, LooseFields};
pub use options::{KeepNodes, ParseOptions, ParserKind};
pub use page_url::{PageUrl, SameSite, Site, UrlError, base_url, join};
pub use parse::{parse, parse_bytes};
pub use scan::refresh_target;
pub use scan::{Scanned, scan_canonical, scan_links, scan_metas};
pub use sets::{SetId, Sets};
pub use shape::{NodeId, Shape};
pub use text::{TextWriter, normalized, text_digest, write_text};
pub use tokenizer::decode_references;
pub use walk::{ancestors, children};

// For the crates that compare, judge and write trees; no interface for users.
pub use by_place::PlaceMemo;
pub use by_value::ValueMemo;
pub use fields::{AttributeNames, looks_generated};
pub use hash::{LONG_VALUE, ValueHashes, hash_long_pair, hash_pair, hash_str, mix};
pub use sets::{SetBuilder, hash_of as hash_of_set};
pub use space::{is_space, unicode_runs};
pub use styled_blocks::StyledBlocks;
pub use text::{has_parentheses, is_shown, keeps_space, normalized_chars, sign_of_image};
pub use texts::Texts;
pub use unshown::{Unshown, WrittenAs};

/// A parsed page.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The names and places of the nodes.
    pub shape: Shape,
    /// What is compared between pages, read when it is asked for.
    texts: OnceLock<Texts>,
    fields: OnceLock<Fields>,
    loose_fields: OnceLock<LooseFields>,
    subtree_hashes: OnceLock<SubtreeHashes>,
    /// Distinct tag and attribute names, by their number in this tree.
    names: Vec<Cow<'static, str>>,
    tag: Vec<u32>,
    /// Range of each node in `attrs`.
    attr_from: Vec<u32>,
    attrs: Vec<Attr>,
    /// Text of a text node, empty for elements: a span of `buffer`.
    text: Vec<(u32, u32)>,
    /// White space before each node that belongs to no kept text node: a span of `buffer`.
    space: Vec<(u32, u32)>,
    buffer: String,
    body: Option<NodeId>,
    /// Name of the charset that the page was decoded with.
    charset: &'static str,
    declared_charset: Option<&'static str>,
    noscripts: Vec<Noscript>,
    data_scripts: Vec<DataScript>,
    notes: Vec<Note>,
}

/// A `noscript` element, which is no node of the tree.
#[derive(Clone, Copy, Debug)]
struct Noscript {
    /// The node that it is a child of.
    parent: u32,
    /// Number of the next node in document order.
    before: u32,
    /// Its content as written: a span of `buffer`.
    markup: (u32, u32),
}

/// A `script` element that holds data, which is no node of the tree.
#[derive(Clone, Copy, Debug)]
struct DataScript {
    kind: ScriptKind,
    /// The node that it is a child of.
    parent: u32,
    /// Number of the next node in document order.
    before: u32,
    /// Its content: a span of `buffer`.
    text: (u32, u32),
}

/// What a script holds that runs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// JSON-LD.
    JsonLd,
    /// A licence of Really Simple Licensing (`application/rsl+xml`).
    Rsl,
    /// A formula in a line, as TeX (MathJax 2).
    Tex,
    /// A formula on lines of its own.
    DisplayTex,
}

#[derive(Clone, Copy, Debug)]
struct Attr {
    name: u32,
    value: (u32, u32),
}

/// A limit or defect that changed the tree of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Number of bytes beyond [`ParseOptions::max_bytes`], which were cut off.
    BytesCut(usize),
    /// Parsing stopped at [`ParseOptions::max_nodes`].
    NodesCut,
    /// Number of elements below [`ParseOptions::max_depth`], which were replaced by their children.
    Dissolved(usize),
    /// Number of tags with more than [`ParseOptions::max_attributes`], whose surplus was cut off.
    AttributesCut(usize),
    /// Some bytes were invalid in the charset of the page and became replacement characters.
    Undecodable,
    /// The page has no body (a frameset).
    NoBody,
    /// The only text of the page is inside `noscript`; it was parsed as part of the page.
    NoscriptKept,
    /// The page shows less than half of the text that its data holds (JSON-LD, the state of a framework). That text was
    /// added to its body.
    DataTextKept,
}

/// The number of the name of text nodes in every tree.
const TEXT: u32 = 0;

impl Tree {
    /// The texts as they are compared between pages.
    pub fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| Texts::new(self))
    }

    /// The fields that are compared between pages.
    pub fn fields(&self) -> &Fields {
        self.fields.get_or_init(|| Fields::new(self))
    }

    /// The hashes of the subtrees.
    pub fn subtree_hashes(&self) -> &SubtreeHashes {
        self.subtree_hashes.get_or_init(|| SubtreeHashes::new(&self.shape, self.fields()))
    }

    /// The tree as it is mapped to others.
    pub fn compared(&self) -> Compared<'_> {
        Compared {
            shape: &self.shape,
            fields: self.fields(),
            loose: self.loose_fields.get_or_init(|| LooseFields::new(self)),
            hashes: self.subtree_hashes(),
        }
    }

    /// Number of nodes, the head included.
    pub fn len(&self) -> usize {
        self.tag.len()
    }

    /// Bytes of its texts and of the values of its attributes.
    pub fn n_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Whether the page has no nodes.
    pub fn is_empty(&self) -> bool {
        self.tag.is_empty()
    }

    /// The body, the root of every labeling and mapping.
    pub fn body(&self) -> Option<NodeId> {
        self.body
    }

    /// Name of the charset that the page was decoded with, in which the queries of its links are written.
    pub fn charset(&self) -> &'static str {
        self.charset
    }

    /// Name of the charset that the page or its server declares, which may be another.
    pub fn declared_charset(&self) -> Option<&'static str> {
        self.declared_charset
    }

    /// Nodes of the body's subtree. The corpus labels count exactly these nodes.
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

    /// The distinct names of the page.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The number of a node's name among [`Tree::names`].
    pub fn name_number(&self, node: NodeId) -> usize {
        self.tag[node.index()] as usize
    }

    /// Whether this is a text node.
    pub fn is_text(&self, node: NodeId) -> bool {
        self.tag[node.index()] == TEXT
    }

    /// Text of a text node as written (entities resolved); empty for elements.
    pub fn text(&self, node: NodeId) -> &str {
        self.slice(self.text[node.index()])
    }

    /// White space before this node that belongs to no kept text node.
    pub fn space(&self, node: NodeId) -> &str {
        self.slice(self.space[node.index()])
    }

    /// Whether there is such white space.
    pub fn has_space(&self, node: NodeId) -> bool {
        let (start, end) = self.space[node.index()];
        start < end
    }

    /// Attributes in source order, `class` and `id` included.
    pub fn attrs(&self, node: NodeId) -> impl Iterator<Item = (&str, &str)> {
        let attrs = self.own_attrs(node.index()).iter();
        attrs.map(|attr| (&*self.names[attr.name as usize], self.slice(attr.value)))
    }

    /// The same with the number of each name among [`Tree::names`].
    pub fn numbered_attrs(&self, node: NodeId) -> impl Iterator<Item = (usize, &str)> {
        self.own_attrs(node.index()).iter().map(|attr| (attr.name as usize, self.slice(attr.value)))
    }

    fn own_attrs(&self, node: usize) -> &[Attr] {
        &self.attrs[self.attr_from[node] as usize..self.attr_from[node + 1] as usize]
    }

    /// Value of one attribute.
    pub fn attr(&self, node: NodeId, name: &str) -> Option<&str> {
        self.attrs(node).find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The `noscript` elements of the body: the parent of each, the number of the next node, and the content.
    pub fn noscripts(&self) -> impl Iterator<Item = (NodeId, usize, &str)> {
        let body = self.counted();
        let inside = self.noscripts.iter().filter(move |noscript| body.contains(&(noscript.parent as usize)));
        inside.map(|n| (NodeId::new(n.parent as usize), n.before as usize, self.slice(n.markup)))
    }

    /// The scripts that hold data: kind, parent, number of the next node, and content.
    pub fn data_scripts(&self) -> impl Iterator<Item = (ScriptKind, NodeId, usize, &str)> {
        let scripts = self.data_scripts.iter();
        scripts.map(|s| (s.kind, NodeId::new(s.parent as usize), s.before as usize, self.slice(s.text)))
    }

    /// The limits and defects that changed this tree.
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
        // Most spans of white space are empty. Their places in the buffer are not read.
        if start == end {
            return "";
        }
        self.buffer.get(start as usize..end as usize).unwrap_or_default()
    }
}
