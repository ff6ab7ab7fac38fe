//! An html5ever tree sink that builds a [`RawTree`].

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, ExpandedName, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};
use rustc_hash::FxHashMap;

use crate::ParseOptions;
use crate::hash::LONG_VALUE;
use crate::names::Name;
use crate::raw_tree::{Bytes, DOCUMENT, Kind, NONE, RawAttr, RawTree};

/// The builder's handle of a node. It includes the name, so that reading the name needs no borrow of the tree.
#[derive(Clone)]
pub(super) struct Handle {
    id: u32,
    ns: Namespace,
    local: LocalName,
}

pub(super) struct Sink {
    tree: RefCell<Tree>,
    /// Depth of the last added element, or of the parent of the last closed one.
    pub(super) open_depth: Cell<u32>,
}

struct Tree {
    raw: RawTree,
    names: FxHashMap<LocalName, Name>,
    /// Long values that elements share, by address: they are kept, so that no other value gets their address.
    long_values: FxHashMap<usize, (StrTendril, Bytes)>,
}

impl Sink {
    pub(super) fn new(bytes: usize, limits: &ParseOptions) -> Sink {
        let raw = RawTree::new(bytes, limits);
        let tree = Tree { raw, names: FxHashMap::default(), long_values: FxHashMap::default() };
        Sink { tree: RefCell::new(tree), open_depth: Cell::new(0) }
    }

    fn is_element(&self, child: &NodeOrText<Handle>) -> bool {
        match child {
            NodeOrText::AppendNode(node) => self.tree.borrow().raw.nodes[node.id as usize].kind == Kind::Element,
            NodeOrText::AppendText(_) => false,
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.tree.borrow().raw.nodes.len()
    }
}

impl Tree {
    fn name(&mut self, name: &LocalName) -> Name {
        match self.names.get(name) {
            Some(known) => *known,
            None => {
                let number = self.raw.names.intern(name);
                self.names.insert(name.clone(), number);
                number
            }
        }
    }

    fn attr(&mut self, attr: Attribute) -> RawAttr {
        let name = match &attr.name.prefix {
            // `xmlns` has an empty one.
            Some(prefix) if !prefix.is_empty() => self.raw.names.intern(&format!("{prefix}:{}", attr.name.local)),
            _ => self.name(&attr.name.local),
        };
        let value = if attr.value.len() < LONG_VALUE {
            self.raw.store(&attr.value)
        } else {
            let address = attr.value.as_ptr() as usize;
            let known = self.long_values.get(&address).filter(|known| known.0.len() == attr.value.len());
            match known.map(|known| known.1) {
                Some(bytes) => bytes,
                None => {
                    let bytes = self.raw.store(&attr.value);
                    self.long_values.insert(address, (attr.value, bytes));
                    bytes
                }
            }
        };
        RawAttr { name, value }
    }

    fn insert(&mut self, parent: u32, child: NodeOrText<Handle>, next: u32) -> u32 {
        match child {
            NodeOrText::AppendNode(handle) => self.raw.link(parent, handle.id, next),
            NodeOrText::AppendText(text) => self.raw.link_text(parent, &text, next),
        }
        self.raw.node(parent).depth + 1
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = RawTree;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> RawTree {
        self.tree.into_inner().raw
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: DOCUMENT, ns: ns!(), local: local_name!("") }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        ExpandedName { ns: &target.ns, local: &target.local }
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> Handle {
        let mut tree = self.tree.borrow_mut();
        let number = tree.name(&name.local);
        let id = tree.raw.add_element(number);
        let room = tree.raw.attribute_room();
        for attr in attrs.into_iter().take(room) {
            let RawAttr { name, value } = tree.attr(attr);
            tree.raw.add_attribute(id, name, value);
        }
        Handle { id, ns: name.ns, local: name.local }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        let id = self.tree.borrow_mut().raw.add_comment(&text);
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
        let has_parent = self.tree.borrow().raw.nodes[element.id as usize].parent != NONE;
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let mut tree = self.tree.borrow_mut();
        let parent = tree.raw.node(sibling.id).parent;
        if parent != NONE {
            let opens = matches!(&child, NodeOrText::AppendNode(node) if tree.raw.node(node.id).kind == Kind::Element);
            let depth = tree.insert(parent, child, sibling.id);
            if opens {
                self.open_depth.set(depth);
            }
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &Handle) {
        let depth = self.tree.borrow().raw.nodes[node.id as usize].depth;
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
        let attrs: Vec<RawAttr> = attrs.into_iter().map(|attr| tree.attr(attr)).collect();
        tree.raw.add_missing_attributes(target.id, &attrs);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().raw.unlink(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        self.tree.borrow_mut().raw.move_children(node.id, new_parent.id);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        let tree = self.tree.borrow();
        handle.ns == ns!(mathml) && tree.raw.holds_html(handle.id)
    }
}
