//! The list of active formatting elements, and the adoption agency algorithm for tags that are nested wrongly.

use super::open::{SCOPE, Space};
use super::{Builder, Is, Name, OpenElement};
use crate::hash::{hash_str, mix};
use crate::raw_tree::Kind;
use crate::tokenizer::StartTag;

/// An entry of the list.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// The beginning of a table cell, an object and the like, which formatting does not reach into.
    Marker,
    Element(Formatting),
}

/// A formatting element.
#[derive(Clone, Copy)]
pub(super) struct Formatting {
    id: u32,
    name: Name,
    /// Its attributes in the tree: those of the first element, of which the others are copies.
    attrs: (u32, u32),
    /// A number for many attributes, in any order; 0 for a few.
    number: u64,
}

/// Rounds of the algorithm, and elements between the two blocks that keep their place in the list.
const MOST_ROUNDS: usize = 8;
const MOST_INNER: usize = 3;

/// Equal elements in the list.
const MOST_EQUAL: usize = 3;

/// Attributes that are compared with those of every element in the list. More are compared by a number first.
const FEW: usize = 8;

impl Builder {
    /// The formatting elements after the last marker, the last one first, with their places.
    fn formatting_after_marker(&self) -> impl Iterator<Item = (usize, &Formatting)> {
        self.formatting.iter().enumerate().rev().map_while(|(place, entry)| match entry {
            Entry::Marker => None,
            Entry::Element(element) => Some((place, element)),
        })
    }

    fn place_in_list(&self, id: u32) -> Option<usize> {
        let is_it = |entry: &Entry| matches!(entry, Entry::Element(element) if element.id == id);
        self.formatting.iter().position(is_it)
    }

    /// Inserts a formatting element and adds it to the list, in which three equal ones are enough.
    pub(super) fn insert_formatting(&mut self, tag: &StartTag<'_>) {
        let number = number_of(tag);
        let alike = self.formatting_after_marker().filter(|(_, element)| element.number == number);
        let equal = alike.filter(|(_, element)| self.equals(element, tag));
        let (n_equal, first) = equal.fold((0, 0), |(n, _), (place, _)| (n + 1, place));
        if n_equal >= MOST_EQUAL {
            self.formatting.remove(first);
        }
        let element = self.insert(tag);
        let attrs = self.tree.attributes(element.id);
        let attrs = (attrs.start as u32, attrs.end as u32);
        self.formatting.push(Entry::Element(Formatting { id: element.id, name: tag.name, attrs, number }));
    }

    /// Whether an element has the name and the attributes of this tag, in any order.
    fn equals(&self, element: &Formatting, tag: &StartTag<'_>) -> bool {
        let attrs = &self.tree.attrs[element.attrs.0 as usize..element.attrs.1 as usize];
        if element.name != tag.name || attrs.len() != tag.attrs.len() {
            return false;
        }
        let mut ours: Vec<(usize, &str)> = Vec::new();
        let mut theirs: Vec<(usize, &str)> = Vec::new();
        for (attr, other) in attrs.iter().zip(tag.attrs) {
            let value = self.tree.slice(attr.value);
            if attr.name != other.name || value != other.value {
                ours.push((attr.name.number(), value));
                theirs.push((other.name.number(), &other.value));
            }
        }
        ours.sort_unstable();
        theirs.sort_unstable();
        ours == theirs
    }

    /// A further element with the name and the attributes of a formatting element.
    fn create_again(&mut self, element: &Formatting) -> OpenElement {
        let id = self.tree.add(Kind::Element, element.name);
        let (start, end) = (element.attrs.0 as usize, element.attrs.1 as usize);
        let end = end.min(start + self.tree.attribute_room());
        let from = self.tree.attrs.len() as u32;
        self.tree.attrs.extend_from_within(start..end);
        let to = self.tree.attrs.len() as u32;
        let node = self.tree.node(id);
        (node.from, node.to) = (from, to);
        OpenElement::new(id, element.name, Space::Html)
    }

    fn is_marker_or_open(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Marker => true,
            Entry::Element(element) => self.place_in_stack(element.id).is_some(),
        }
    }

    /// Reconstructs the active formatting elements: opens those again that a block has closed.
    #[inline(always)]
    pub(super) fn reconstruct_formatting(&mut self) {
        let is_done = self.formatting.last().is_none_or(|last| self.is_marker_or_open(last));
        if !is_done {
            self.open_formatting_again();
        }
    }

    #[inline(never)]
    fn open_formatting_again(&mut self) {
        let last_open = self.formatting.iter().rposition(|entry| self.is_marker_or_open(entry));
        for place in last_open.map_or(0, |last| last + 1)..self.formatting.len() {
            let Entry::Element(element) = self.formatting[place] else { continue };
            let again = self.create_again(&element);
            self.insert_into(self.current(), again.id);
            self.open.push(again);
            self.formatting[place] = Entry::Element(Formatting { id: again.id, ..element });
        }
    }

    pub(super) fn clear_formatting_to_marker(&mut self) {
        while let Some(Entry::Element(_)) = self.formatting.pop() {}
    }

    /// Before a link: closes the open one, since links do not nest.
    pub(super) fn end_open_link(&mut self) {
        let open = self.formatting_after_marker().find(|(_, element)| element.name == Name::A);
        let Some(id) = open.map(|(_, element)| element.id) else { return };
        self.adopt(Name::A);
        if let Some(place) = self.place_in_list(id) {
            self.formatting.remove(place);
        }
        self.close(id);
    }

    /// The adoption agency algorithm for the end tag of a formatting element.
    pub(super) fn adopt(&mut self, subject: Name) {
        let current = self.current();
        if current.is_html(subject) && self.place_in_list(current.id).is_none() {
            return self.pop();
        }
        for _ in 0..MOST_ROUNDS {
            let found = self.formatting_after_marker().find(|(_, element)| element.name == subject);
            let Some((place, element)) = found.map(|(place, element)| (place, *element)) else {
                return self.end_other(subject);
            };
            let Some(in_stack) = self.place_in_stack(element.id) else {
                self.formatting.remove(place);
                return;
            };
            if !self.in_scope_where(SCOPE, |open| open.id == element.id) {
                return;
            }
            let block = self.open[in_stack..].iter().position(|open| open.is.any(Is::SPECIAL));
            let Some(block) = block.map(|n| in_stack + n) else {
                self.open.truncate(in_stack);
                self.formatting.remove(place);
                return;
            };
            self.adopt_block(element, in_stack, block);
        }
    }

    /// One round: moves the furthest block out of the formatting element, and the formatting into the block.
    fn adopt_block(&mut self, element: Formatting, in_stack: usize, block_place: usize) {
        let ancestor = self.open[in_stack.saturating_sub(1)];
        let block = self.open[block_place];
        let mut last = block.id;
        // The element after which the new one is put into the list.
        let mut after = None;
        let mut at = block_place;
        for n_inner in 1.. {
            at -= 1;
            let node = self.open[at];
            if node.id == element.id {
                break;
            }
            let mut in_list = self.place_in_list(node.id);
            if n_inner > MOST_INNER
                && let Some(place) = in_list.take()
            {
                self.formatting.remove(place);
            }
            let Some((place, Entry::Element(inner))) = in_list.map(|place| (place, self.formatting[place])) else {
                self.open.remove(at);
                continue;
            };
            let again = self.create_again(&inner);
            self.open[at] = again;
            self.formatting[place] = Entry::Element(Formatting { id: again.id, ..inner });
            if last == block.id {
                after = Some(again.id);
            }
            self.append(again.id, last);
            last = again.id;
        }
        self.tree.unlink(last);
        self.insert_into(ancestor, last);
        let again = self.create_again(&element);
        self.tree.move_children(block.id, again.id);
        self.append(block.id, again.id);
        self.replace_in_list(&element, again.id, after);
        self.close(element.id);
        let place = self.place_in_stack(block.id).map_or(self.open.len(), |place| place + 1);
        self.open.insert(place, again);
    }

    /// Puts a new element into the list: after this one, or in place of the one that it is a copy of.
    fn replace_in_list(&mut self, old: &Formatting, new: u32, after: Option<u32>) {
        let entry = Entry::Element(Formatting { id: new, ..*old });
        let Some(place) = self.place_in_list(old.id) else { return };
        match after.and_then(|id| self.place_in_list(id)) {
            None => self.formatting[place] = entry,
            Some(before) => {
                self.formatting.insert(before + 1, entry);
                self.formatting.remove(if place > before { place + 1 } else { place });
            }
        }
    }
}

fn number_of(tag: &StartTag<'_>) -> u64 {
    if tag.attrs.len() <= FEW {
        return 0;
    }
    let numbers = tag.attrs.iter().map(|attr| mix(hash_str(&attr.value), attr.name.number() as u64));
    numbers.fold(0, u64::wrapping_add)
}
