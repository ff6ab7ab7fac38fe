//! Renumbers the builder's tree in preorder and computes the compared fields.
//!
//! A top-down pass lays out the kept nodes, and a bottom-up pass adds sizes and hashes. Both are linear in the page and
//! not recursive. Error recovery can give thousands of elements the same long attribute (the adoption agency algorithm
//! clones open formatting elements), so long values are identified by their place, and hashed and stored once.

use rustc_hash::FxHashMap;

use super::names::Name;
use super::raw_tree::{Bytes, DOCUMENT, Kind, NONE, Raw, RawAttr, RawTree};
use super::shape::{LONG_VALUE, SetBuilder, SetId, Sets, hash_long_pair, hash_pair, hash_str};
use super::space::{is_blank, runs};
use super::text::normalize_into;
use super::{Attr, DataScript, NodeId, Noscript, Note, Shape, Tree};
use crate::dom::KeepNodes;

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
    sets: SetBuilder,
    /// The numbers of names in the tree, by their numbers in the page; `NONE` if it is not in the tree yet.
    name_ids: Vec<u32>,
    name_hash: Vec<u64>,
    /// Hashes of long attribute values, by their place, and the sets of long lists of classes.
    long_values: FxHashMap<Bytes, u64>,
    long_classes: FxHashMap<Bytes, (SetId, SetId)>,
    /// Sets of class tokens by hash of the attribute text. Most pages repeat a few class attributes.
    class_values: FxHashMap<u64, (SetId, SetId)>,
    members: Vec<u64>,
    attr_names: Vec<u64>,
    scratch: String,
}

impl Layout {
    fn new(mut raw: RawTree, keep: KeepNodes, scripting: bool) -> Layout {
        let buffer = std::mem::take(&mut raw.text);
        let (n, raw_names) = (raw.nodes.len(), raw.names.len());
        let tree = Tree {
            shape: Shape::with_capacity(n),
            names: Vec::new(),
            tag: Vec::with_capacity(n),
            attr_from: Vec::with_capacity(n + 1),
            attrs: Vec::with_capacity(raw.attrs.len()),
            text: Vec::with_capacity(n),
            space: Vec::with_capacity(n),
            buffer,
            body: None,
            noscripts: Vec::new(),
            data_scripts: Vec::new(),
            notes: Vec::new(),
        };
        Layout {
            raw,
            keep,
            scripting,
            tree,
            sets: SetBuilder::default(),
            name_ids: vec![NONE; raw_names],
            name_hash: Vec::new(),
            long_values: FxHashMap::default(),
            long_classes: FxHashMap::default(),
            class_values: FxHashMap::default(),
            members: Vec::new(),
            attr_names: Vec::new(),
            scratch: String::new(),
        }
    }

    fn name(&mut self, name: Name) -> u32 {
        let known = self.name_ids[name.number()];
        if known != NONE {
            return known;
        }
        let text: Box<str> = self.raw.names.text(name).into();
        let id = self.new_name(text);
        self.name_ids[name.number()] = id;
        id
    }

    fn new_name(&mut self, text: Box<str>) -> u32 {
        self.name_hash.push(hash_str(&text));
        self.tree.names.push(text);
        self.tree.names.len() as u32 - 1
    }

    /// Preorder walk without a stack, over the sibling and parent links.
    fn walk(&mut self) {
        let text_name = self.new_name("#text".into());
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
                        self.push_text(span, text_name, parent, space);
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
        shape.text.push(0);
        shape.id.push(0);
        shape.classes.push(Sets::EMPTY);
        shape.stable_classes.push(Sets::EMPTY);
        shape.attrs.push(Sets::EMPTY);
        shape.attr_names.push(Sets::EMPTY);
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

    fn push_text(&mut self, span: (u32, u32), name: u32, parent: u32, space: (u32, u32)) {
        let id = self.push(name, parent, space) as usize;
        self.tree.text.push(span);
        let text = self.tree.slice(span);
        let hash = match runs(text).next() {
            Some(run) if run.len() == text.len() => hash_str(text),
            _ => {
                self.scratch.clear();
                normalize_into(text, &mut self.scratch);
                hash_str(&self.scratch)
            }
        };
        self.tree.shape.text[id] = hash;
    }

    fn push_element(&mut self, at: u32, parent: u32, space: (u32, u32)) -> u32 {
        let Raw { name, from, to, .. } = self.raw.nodes[at as usize];
        let number = self.name(name);
        let id = self.push(number, parent, space);
        self.tree.text.push((0, 0));
        if name == Name::BODY && self.tree.body.is_none() && parent == 0 && id != 0 {
            self.tree.body = Some(NodeId::new(id as usize));
        }
        if from != to {
            self.push_attrs(id as usize, from as usize..to as usize);
        }
        id
    }

    fn push_attrs(&mut self, id: usize, range: std::ops::Range<usize>) {
        self.members.clear();
        self.attr_names.clear();
        for at in range {
            let RawAttr { name, value } = self.raw.attrs[at];
            let number = self.name(name);
            self.tree.attrs.push(Attr { name: number, value });
            match name {
                Name::CLASS => {
                    let (all, stable) = self.class_sets(value);
                    self.tree.shape.classes[id] = all;
                    self.tree.shape.stable_classes[id] = stable;
                }
                Name::ID => {
                    let value = self.tree.slice(value).trim();
                    self.tree.shape.id[id] = if value.is_empty() { 0 } else { hash_str(value) };
                }
                _ => {
                    let name_hash = self.name_hash[number as usize];
                    let hash = self.attribute_hash(name_hash, value);
                    self.members.push(hash);
                    self.attr_names.push(name_hash);
                }
            }
        }
        self.tree.shape.attrs[id] = self.sets.intern(&mut self.members);
        self.tree.shape.attr_names[id] = self.sets.intern(&mut self.attr_names);
    }

    fn attribute_hash(&mut self, name_hash: u64, value: Bytes) -> u64 {
        let text = self.tree.slice(value);
        if text.len() < LONG_VALUE {
            return hash_pair(name_hash, text);
        }
        let hash = *self.long_values.entry(value).or_insert_with(|| hash_str(text));
        hash_long_pair(name_hash, hash)
    }

    fn class_sets(&mut self, value: Bytes) -> (SetId, SetId) {
        let known = if value.1 - value.0 >= LONG_VALUE as u32 { self.long_classes.get(&value) } else { None };
        if let Some(known) = known {
            return *known;
        }
        let text = self.tree.slice(value);
        let hash = hash_str(text);
        if let Some(known) = self.class_values.get(&hash) {
            return *known;
        }
        let mut all: Vec<u64> = text.split_ascii_whitespace().map(hash_str).collect();
        let mut stable: Vec<u64> =
            text.split_ascii_whitespace().filter(|token| !looks_generated(token)).map(hash_str).collect();
        let sets = (self.sets.intern(&mut all), self.sets.intern(&mut stable));
        self.class_values.insert(hash, sets);
        if value.1 - value.0 >= LONG_VALUE as u32 {
            self.long_classes.insert(value, sets);
        }
        sets
    }

    fn finish(mut self) -> Tree {
        self.tree.attr_from.push(self.tree.attrs.len() as u32);
        self.tree.shape.sets = self.sets.sets;
        self.tree
    }
}

/// Whether a class token looks generated: eight hexadecimal digits in a row, or three digits at the end.
pub(crate) fn looks_generated(token: &str) -> bool {
    let bytes = token.as_bytes();
    let tail = bytes.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let mut run = 0;
    tail >= 3
        || bytes.iter().any(|b| {
            run = if b.is_ascii_hexdigit() { run + 1 } else { 0 };
            run >= 8
        })
}

#[cfg(test)]
mod tests {
    use super::looks_generated;

    #[test]
    fn generated_tokens() {
        for token in ["view-dom-id-9f8a7b6c5d", "post-1234", "node-100"] {
            assert!(looks_generated(token), "{token}");
        }
        for token in ["col-12", "h2", "facade", "nav-item", "deadbee"] {
            assert!(!looks_generated(token), "{token}");
        }
    }
}
