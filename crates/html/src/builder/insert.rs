//! Where nodes are inserted.

use super::open::Space;
use super::{Builder, Is, Name, OpenElement, Step};
use crate::raw_tree::{DOCUMENT, NONE, RawAttr};
use crate::tokenizer::{StartTag, TagAttr};

/// Where a node is inserted: before the child `next` of its parent, or after all children (`NONE`).
#[derive(Clone, Copy)]
struct InsertionPlace {
    parent: u32,
    next: u32,
}

impl InsertionPlace {
    fn last_in(parent: u32) -> InsertionPlace {
        InsertionPlace { parent, next: NONE }
    }
}

impl Builder {
    /// The appropriate place for inserting a node into `target`.
    #[inline(always)]
    fn place_in(&self, target: OpenElement) -> InsertionPlace {
        if !self.fostering || !target.is.any(Is::FOSTERS) {
            return InsertionPlace::last_in(target.id);
        }
        let outer = self.open.iter().rposition(|open| open.is_html(Name::TEMPLATE) || open.is_html(Name::TABLE));
        let Some(outer) = outer else {
            return InsertionPlace::last_in(self.open.first().map_or(DOCUMENT, |html| html.id));
        };
        let table = self.open[outer];
        let parent = self.tree.nodes[table.id as usize].parent;
        match self.open[..outer].last() {
            _ if table.name == Name::TEMPLATE => InsertionPlace::last_in(table.id),
            Some(before) if parent == NONE => InsertionPlace::last_in(before.id),
            _ => InsertionPlace { parent, next: table.id },
        }
    }

    #[inline(always)]
    fn link_element(&mut self, id: u32, place: InsertionPlace) {
        self.tree.link(place.parent, id, place.next);
        self.open_depth = self.tree.node(place.parent).depth + 1;
    }

    /// Makes an element the last child of another.
    #[inline(always)]
    pub(super) fn append(&mut self, parent: u32, id: u32) {
        self.link_element(id, InsertionPlace::last_in(parent));
    }

    /// Inserts an element into `target`, or before its table.
    #[inline(always)]
    pub(super) fn insert_into(&mut self, target: OpenElement, id: u32) {
        self.link_element(id, self.place_in(target));
    }

    #[inline(always)]
    pub(super) fn append_text(&mut self, text: &str) -> Step {
        let place = self.place_in(self.current());
        self.tree.link_text(place.parent, text, place.next);
        Step::Done
    }

    pub(super) fn append_comment(&mut self, text: &str) -> Step {
        let comment = self.tree.add_comment(text);
        let place = self.place_in(self.current());
        self.tree.link(place.parent, comment, place.next);
        Step::Done
    }

    pub(super) fn append_comment_to(&mut self, parent: u32, text: &str) -> Step {
        let comment = self.tree.add_comment(text);
        self.tree.link(parent, comment, NONE);
        Step::Done
    }

    #[inline(always)]
    fn create(&mut self, name: Name, attrs: &[TagAttr<'_>], space: Space) -> OpenElement {
        let id = self.tree.add_element(name);
        for attr in &attrs[..attrs.len().min(self.tree.attribute_room())] {
            let name = match space {
                Space::Html => attr.name,
                _ => self.foreign_attribute(attr.name, space),
            };
            let value = self.tree.store(&attr.value);
            self.tree.add_attribute(id, name, value);
        }
        OpenElement::new(id, name, space)
    }

    /// Creates and inserts an element that is not opened.
    #[inline(always)]
    pub(super) fn insert_closed(&mut self, name: Name, attrs: &[TagAttr<'_>], space: Space) -> OpenElement {
        let element = self.create(name, attrs, space);
        self.insert_into(self.current(), element.id);
        element
    }

    /// Inserts an HTML element and opens it.
    #[inline(always)]
    pub(super) fn insert(&mut self, tag: &StartTag<'_>) -> OpenElement {
        let element = self.insert_closed(tag.name, tag.attrs, Space::Html);
        self.open.push(element);
        element
    }

    /// Inserts an HTML element without content.
    pub(super) fn insert_void(&mut self, tag: &StartTag<'_>) -> Step {
        self.insert_closed(tag.name, tag.attrs, Space::Html);
        Step::Done
    }

    /// Inserts an HTML element that the page has no tag for.
    pub(super) fn insert_implied(&mut self, name: Name) -> OpenElement {
        self.insert(&StartTag { name, attrs: &[], is_self_closing: false })
    }

    /// Creates the element `html`.
    pub(super) fn create_root(&mut self, attrs: &[TagAttr<'_>]) {
        let root = self.create(Name::HTML, attrs, Space::Html);
        self.open.push(root);
        self.append(DOCUMENT, root.id);
    }

    /// Gives an element the attributes of a further tag for it.
    pub(super) fn add_missing_attributes(&mut self, element: u32, tag: &StartTag<'_>) {
        let mut stored = |attr: &TagAttr<'_>| RawAttr { name: attr.name, value: self.tree.store(&attr.value) };
        let attrs: Vec<RawAttr> = tag.attrs.iter().map(&mut stored).collect();
        self.tree.add_missing_attributes(element, &attrs);
    }
}
