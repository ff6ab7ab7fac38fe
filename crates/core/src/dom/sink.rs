//! An html5ever tree sink over plain vectors.
//!
//! The tree builder moves nodes during error recovery (foster parenting, the adoption agency algorithm). Nodes are
//! therefore numbered in order of creation and linked as siblings first; `flatten.rs` renumbers them in preorder. Text
//! is appended to one buffer. A text node is a chain of spans of the buffer: the builder may append to two text nodes
//! alternately, and moving their bytes each time would be quadratic.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use crate::dom::{ParseOptions, ScriptKind};
use html5ever::interface::{ElementFlags, ExpandedName, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, expanded_name, local_name, ns};

/// Marks a missing node or span.
pub(super) const NONE: u32 = u32::MAX;

/// The builder's handle of a node. It includes the name, so that reading the name needs no borrow of the tree.
#[derive(Clone)]
pub(super) struct Handle {
    pub(super) id: u32,
    ns: Namespace,
    local: LocalName,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Element,
    Text,
    Comment,
}

pub(super) struct Raw {
    pub(super) kind: Kind,
    pub(super) parent: u32,
    pub(super) first: u32,
    last: u32,
    prev: u32,
    pub(super) next: u32,
    /// Elements: range in `attrs`. Text: first and last span in `spans`.
    pub(super) from: u32,
    pub(super) to: u32,
    depth: u32,
    pub(super) name: LocalName,
}

pub(super) struct RawAttr {
    pub(super) name: QualName,
    pub(super) value: StrTendril,
}

pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) next: u32,
}

/// The tree as built, before renumbering.
#[derive(Default)]
pub(super) struct RawTree {
    pub(super) nodes: Vec<Raw>,
    pub(super) attrs: Vec<RawAttr>,
    pub(super) spans: Vec<Span>,
    pub(super) text: String,
}

pub(super) struct Sink {
    tree: RefCell<RawTree>,
    /// Depth of the last added element, or of the parent of the last closed one. `limit_sink.rs` limits it.
    pub(super) open_depth: Cell<u32>,
    max_attributes: usize,
    /// Limit on the attributes of all elements together. Error recovery clones open formatting elements with their
    /// attributes, so without this limit a short page could create any number of them.
    attribute_budget: usize,
}

impl Sink {
    pub(super) fn new(bytes: usize, limits: &ParseOptions) -> Sink {
        let mut tree = RawTree {
            nodes: Vec::with_capacity(bytes / 24 + 8),
            text: String::with_capacity(bytes / 2),
            ..RawTree::default()
        };
        tree.add(Kind::Document, local_name!(""));
        Sink {
            tree: RefCell::new(tree),
            open_depth: Cell::new(0),
            max_attributes: limits.max_attributes,
            attribute_budget: limits.max_nodes,
        }
    }

    fn is_element(&self, child: &NodeOrText<Handle>) -> bool {
        match child {
            NodeOrText::AppendNode(node) => self.tree.borrow().nodes[node.id as usize].kind == Kind::Element,
            NodeOrText::AppendText(_) => false,
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.tree.borrow().nodes.len()
    }
}

impl RawTree {
    fn add(&mut self, kind: Kind, name: LocalName) -> u32 {
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

    fn node(&mut self, id: u32) -> &mut Raw {
        &mut self.nodes[id as usize]
    }

    fn unlink(&mut self, id: u32) {
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
    fn link(&mut self, parent: u32, id: u32, next: u32) {
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

    /// What a script element holds, if it is data.
    pub(super) fn script_kind(&self, script: u32) -> Option<ScriptKind> {
        let Raw { from, to, .. } = self.nodes[script as usize];
        let attrs = if from == to { &[] } else { &self.attrs[from as usize..to as usize] };
        let kind = attrs.iter().find(|attr| &*attr.name.local == "type")?;
        let kind = kind.value.trim().to_ascii_lowercase();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/ld+json" => Some(ScriptKind::JsonLd),
            "math/tex" if kind.contains("display") => Some(ScriptKind::DisplayTex),
            "math/tex" => Some(ScriptKind::Tex),
            _ => None,
        }
    }

    /// Adds text before `next`, appending to the preceding text node if there is one. Scripts and styles are dropped
    /// later with their contents, so their text is not copied, unless it is data.
    fn link_text(&mut self, parent: u32, text: &str, next: u32) {
        match &*self.nodes[parent as usize].name {
            "style" => return,
            "script" if self.script_kind(parent).is_none() => return,
            _ => {}
        }
        let before = if next == NONE { self.node(parent).last } else { self.node(next).prev };
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let end = self.text.len() as u32;
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
        let id = self.add(Kind::Text, local_name!(""));
        let node = self.node(id);
        (node.from, node.to) = (span, span);
        self.link(parent, id, next);
    }

    fn insert(&mut self, parent: u32, child: NodeOrText<Handle>, next: u32) -> u32 {
        match child {
            NodeOrText::AppendNode(handle) => self.link(parent, handle.id, next),
            NodeOrText::AppendText(text) => self.link_text(parent, &text, next),
        }
        self.node(parent).depth + 1
    }

    fn add_attrs(&mut self, attrs: Vec<Attribute>) -> (u32, u32) {
        let from = self.attrs.len() as u32;
        self.attrs.extend(attrs.into_iter().map(|a| RawAttr { name: a.name, value: a.value }));
        (from, self.attrs.len() as u32)
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = RawTree;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> RawTree {
        self.tree.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: 0, ns: ns!(), local: local_name!("") }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        ExpandedName { ns: &target.ns, local: &target.local }
    }

    fn create_element(&self, name: QualName, mut attrs: Vec<Attribute>, _: ElementFlags) -> Handle {
        let mut tree = self.tree.borrow_mut();
        let id = tree.add(Kind::Element, name.local.clone());
        let left = self.attribute_budget.saturating_sub(tree.attrs.len());
        attrs.truncate(self.max_attributes.min(left));
        let (from, to) = tree.add_attrs(attrs);
        let node = tree.node(id);
        (node.from, node.to) = (from, to);
        Handle { id, ns: name.ns, local: name.local }
    }

    fn create_comment(&self, _text: StrTendril) -> Handle {
        let id = self.tree.borrow_mut().add(Kind::Comment, local_name!(""));
        Handle { id, ns: ns!(), local: local_name!("") }
    }

    fn create_pi(&self, target: StrTendril, _content: StrTendril) -> Handle {
        self.create_comment(target)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let opens = self.is_element(&child);
        let depth = self.tree.borrow_mut().insert(parent.id, child, NONE);
        if opens {
            self.open_depth.set(depth);
        }
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        let has_parent = self.tree.borrow().nodes[element.id as usize].parent != NONE;
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let mut tree = self.tree.borrow_mut();
        let parent = tree.node(sibling.id).parent;
        if parent != NONE {
            let opens = matches!(&child, NodeOrText::AppendNode(node) if tree.node(node.id).kind == Kind::Element);
            let depth = tree.insert(parent, child, sibling.id);
            if opens {
                self.open_depth.set(depth);
            }
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &Handle) {
        let depth = self.tree.borrow().nodes[node.id as usize].depth;
        self.open_depth.set(depth.saturating_sub(1));
    }

    /// The element itself: templates are dropped later with their contents, so no separate node is needed.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        let node = tree.node(target.id);
        let (from, to) = (node.from as usize, node.to as usize);
        if node.kind != Kind::Element || to - from >= self.max_attributes {
            return;
        }
        let room = self.max_attributes - (to - from);
        let new: Vec<Attribute> = attrs
            .into_iter()
            .filter(|a| !tree.attrs[from..to].iter().any(|old| old.name == a.name))
            .take(room)
            .collect();
        if new.is_empty() {
            return;
        }
        // This is called only for `html` and `body`, and the limit bounds the number of copied attributes.
        let old: Vec<Attribute> =
            tree.attrs[from..to].iter().map(|a| Attribute { name: a.name.clone(), value: a.value.clone() }).collect();
        let (from, _) = tree.add_attrs(old);
        let (_, to) = tree.add_attrs(new);
        let node = tree.node(target.id);
        (node.from, node.to) = (from, to);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().unlink(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut tree = self.tree.borrow_mut();
        while tree.node(node.id).first != NONE {
            let child = tree.node(node.id).first;
            tree.link(new_parent.id, child, NONE);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        let tree = self.tree.borrow();
        let node = &tree.nodes[handle.id as usize];
        node.kind == Kind::Element
            && handle.ns == ns!(mathml)
            && tree.attrs[node.from as usize..node.to as usize].iter().any(|a| {
                a.name.expanded() == expanded_name!("", "encoding")
                    && (a.value.eq_ignore_ascii_case("text/html")
                        || a.value.eq_ignore_ascii_case("application/xhtml+xml"))
            })
    }
}
