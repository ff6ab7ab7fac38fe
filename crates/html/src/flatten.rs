//! Renumbers the builder's tree in preorder.
//!
//! A top-down pass lays out the kept nodes, and a bottom-up pass adds the sizes. Both are linear in the page and not
//! recursive.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::hash::hash_str;
use super::names::Name;
use super::raw_tree::{DOCUMENT, Kind, NONE, Raw, RawAttr, RawTree};
use super::space::is_blank;
use super::{Attr, DataScript, NodeId, Noscript, Note, Shape, TEXT, Tree};
use crate::KeepNodes;

/// With scripting, the raw text of a `noscript` is kept beside the nodes; without, a `noscript` is a node.
pub(super) fn flatten(raw: RawTree, keep: KeepNodes, scripting: bool, mut notes: Vec<Note>) -> Tree {
    let mut layout = Layout::new(raw, keep, scripting);
    layout.walk();
    let mut tree = layout.finish();
    tree.shape.sum_up();
    if tree.body.is_none() {
        notes.push(Note::NoBody);
    }
    tree.notes = notes;
    tree
}

struct Layout {
    raw: RawTree,
    keep: KeepNodes,
    scripting: bool,
    tree: Tree,
    /// The numbers of names in the tree, by their numbers in the page; `NONE` if it is not in the tree yet.
    name_ids: Vec<u32>,
    name_hash: Vec<u64>,
}

impl Layout {
    fn new(mut raw: RawTree, keep: KeepNodes, scripting: bool) -> Layout {
        let buffer = std::mem::take(&mut raw.text);
        let (n, raw_names) = (raw.nodes.len(), raw.names.len());
        let tree = Tree {
            shape: Shape::with_capacity(n),
            texts: OnceLock::new(),
            fields: OnceLock::new(),
            loose_fields: OnceLock::new(),
            subtree_hashes: OnceLock::new(),
            names: Vec::new(),
            tag: Vec::with_capacity(n),
            attr_from: Vec::with_capacity(n + 1),
            attrs: Vec::with_capacity(raw.attrs.len()),
            text: Vec::with_capacity(n),
            space: Vec::with_capacity(n),
            buffer,
            body: None,
            charset: "UTF-8",
            declared_charset: None,
            noscripts: Vec::new(),
            data_scripts: Vec::new(),
            notes: Vec::new(),
        };
        Layout { raw, keep, scripting, tree, name_ids: vec![NONE; raw_names], name_hash: Vec::new() }
    }

    #[inline(always)]
    fn name(&mut self, name: Name) -> u32 {
        let known = self.name_ids[name.number()];
        if known != NONE {
            return known;
        }
        let text = self.raw.names.shared_text(name);
        let id = self.new_name(text);
        self.name_ids[name.number()] = id;
        id
    }

    fn new_name(&mut self, text: Cow<'static, str>) -> u32 {
        self.name_hash.push(hash_str(&text));
        self.tree.names.push(text);
        self.tree.names.len() as u32 - 1
    }

    /// Preorder walk without a stack, over the sibling and parent links.
    fn walk(&mut self) {
        self.new_name("#text".into());
        let comment_name = self.new_name("#comment".into());
        let mut at = self.raw.nodes[DOCUMENT as usize].first;
        let mut parent = 0; // number in the new tree
        let mut space = (0, 0);
        while at != NONE {
            let Raw { kind, first, .. } = self.raw.nodes[at as usize];
            let mut down = false;
            match kind {
                Kind::Element if self.is_dropped(at) => self.keep_aside(at, parent),
                Kind::Element => {
                    let id = self.push_element(at, parent, space);
                    if first != NONE {
                        parent = id;
                        down = true;
                    }
                    space = (0, 0);
                }
                Kind::Text => {
                    let span = self.join_spans(at);
                    if self.keep == KeepNodes::Counted && is_blank(self.tree.slice(span)) {
                        space = span;
                    } else {
                        self.push_text(span, parent, space);
                        space = (0, 0);
                    }
                }
                // A comment outside `html` would be a second root.
                Kind::Comment if self.keep == KeepNodes::Browser && self.raw.nodes[at as usize].parent != DOCUMENT => {
                    self.push(comment_name, parent, space);
                    self.tree.text.push((0, 0));
                }
                Kind::Comment | Kind::Document => {}
            }
            if down {
                at = first;
                continue;
            }
            while self.raw.nodes[at as usize].next == NONE {
                at = self.raw.nodes[at as usize].parent;
                if at == DOCUMENT || at == NONE {
                    return;
                }
                parent = self.tree.shape.parent[parent as usize];
            }
            at = self.raw.nodes[at as usize].next;
        }
    }

    #[inline(always)]
    fn is_dropped(&self, at: u32) -> bool {
        match self.raw.nodes[at as usize].name {
            Name::SCRIPT | Name::STYLE | Name::TEMPLATE => true,
            Name::NOSCRIPT => self.scripting,
            _ => false,
        }
    }

    /// Remembers the raw text of a dropped `noscript`, or of a script that holds data, and its place.
    fn keep_aside(&mut self, at: u32, parent: u32) {
        let Raw { first, .. } = self.raw.nodes[at as usize];
        if first == NONE || self.raw.nodes[first as usize].kind != Kind::Text {
            return;
        }
        let before = self.tree.tag.len() as u32;
        match self.raw.nodes[at as usize].name {
            Name::NOSCRIPT => {
                let markup = self.join_spans(first);
                self.tree.noscripts.push(Noscript { parent, before, markup });
            }
            Name::SCRIPT => {
                if let Some(kind) = self.raw.script_kind(at, &self.tree.buffer) {
                    let text = self.join_spans(first);
                    self.tree.data_scripts.push(DataScript { kind, parent, before, text });
                }
            }
            _ => {}
        }
    }

    /// The text of a node as one span. Chained spans are copied to the end of the buffer.
    #[inline(always)]
    fn join_spans(&mut self, at: u32) -> (u32, u32) {
        let first = &self.raw.spans[self.raw.nodes[at as usize].from as usize];
        if first.next == NONE {
            return (first.start, first.end);
        }
        let start = self.tree.buffer.len() as u32;
        let mut span = self.raw.nodes[at as usize].from;
        while span != NONE {
            let part = &self.raw.spans[span as usize];
            self.tree.buffer.extend_from_within(part.start as usize..part.end as usize);
            span = part.next;
        }
        (start, self.tree.buffer.len() as u32)
    }

    /// Adds the fields that all nodes have; the caller adds the text span.
    #[inline(always)]
    fn push(&mut self, name: u32, parent: u32, space: (u32, u32)) -> u32 {
        let tree = &mut self.tree;
        let shape = &mut tree.shape;
        let id = tree.tag.len() as u32;
        tree.tag.push(name);
        tree.space.push(space);
        tree.attr_from.push(tree.attrs.len() as u32);
        shape.tag.push(self.name_hash[name as usize]);
        shape.parent.push(parent);
        shape.n_children.push(0);
        if id == 0 {
            shape.depth.push(0);
            shape.position.push(1);
        } else {
            shape.depth.push(shape.depth[parent as usize].saturating_add(1));
            shape.n_children[parent as usize] += 1;
            shape.position.push(shape.n_children[parent as usize]);
        }
        id
    }

    #[inline(always)]
    fn push_text(&mut self, span: (u32, u32), parent: u32, space: (u32, u32)) {
        self.push(TEXT, parent, space);
        self.tree.text.push(span);
    }

    #[inline(always)]
    fn push_element(&mut self, at: u32, parent: u32, space: (u32, u32)) -> u32 {
        let Raw { name, from, to, .. } = self.raw.nodes[at as usize];
        let number = self.name(name);
        let id = self.push(number, parent, space);
        self.tree.text.push((0, 0));
        if name == Name::BODY && self.tree.body.is_none() && parent == 0 && id != 0 {
            self.tree.body = Some(NodeId::new(id as usize));
        }
        for at in from as usize..to as usize {
            let RawAttr { name, value } = self.raw.attrs[at];
            let name = self.name(name);
            self.tree.attrs.push(Attr { name, value });
        }
        id
    }

    fn finish(mut self) -> Tree {
        self.tree.attr_from.push(self.tree.attrs.len() as u32);
        self.tree
    }
}
