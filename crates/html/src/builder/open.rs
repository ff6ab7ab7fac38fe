//! The stack of open elements.

use super::{Builder, Is, Mode, Name};
use crate::raw_tree::DOCUMENT;

/// An open element.
#[derive(Clone, Copy)]
pub(super) struct OpenElement {
    pub(super) id: u32,
    pub(super) name: Name,
    pub(super) space: Space,
    pub(super) is: Is,
}

/// Namespaces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Html,
    MathMl,
    Svg,
}

/// What ends the default scope.
pub(super) const SCOPE: Is = Is::SCOPE;
/// What ends the scope of a list item.
pub(super) const LIST_SCOPE: Is = Is::SCOPE.or(Is::LIST);
/// What ends the scope of a button.
pub(super) const BUTTON_SCOPE: Is = Is::SCOPE.or(Is::BUTTON);

impl OpenElement {
    pub(super) fn new(id: u32, name: Name, space: Space) -> OpenElement {
        let is = match (space, name) {
            (Space::Html, _) => name.is(),
            (Space::MathMl, Name::MI | Name::MO | Name::MN | Name::MS | Name::MTEXT) => SCOPE.or(Is::TEXT_POINT),
            (Space::Svg, Name::FOREIGN_OBJECT | Name::DESC | Name::TITLE) => SCOPE.or(Is::HTML_POINT),
            _ => Is::NOTHING,
        };
        OpenElement { id, name, space, is }
    }

    /// Whether this is an HTML element of this name.
    pub(super) fn is_html(&self, name: Name) -> bool {
        self.name == name && self.space == Space::Html
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.space != Space::Html
    }
}

impl Builder {
    /// The open element that was opened last; the document if there is none.
    #[inline(always)]
    pub(super) fn current(&self) -> OpenElement {
        self.open.last().copied().unwrap_or(OpenElement::new(DOCUMENT, Name::NONE, Space::Html))
    }

    pub(super) fn current_is(&self, name: Name) -> bool {
        self.current().is_html(name)
    }

    /// Closes the current element.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        if let Some(closed) = self.open.pop() {
            self.note_closed(closed.id);
        }
    }

    fn note_closed(&mut self, id: u32) {
        self.open_depth = self.tree.node(id).depth.saturating_sub(1);
    }

    /// Takes an element out of the stack, wherever it is.
    pub(super) fn close(&mut self, id: u32) {
        if let Some(place) = self.place_in_stack(id) {
            self.open.remove(place);
            self.note_closed(id);
        }
    }

    pub(super) fn place_in_stack(&self, id: u32) -> Option<usize> {
        self.open.iter().rposition(|open| open.id == id)
    }

    pub(super) fn has_open(&self, name: Name) -> bool {
        self.open.iter().any(|open| open.is_html(name))
    }

    /// Whether an element that `wanted` accepts is in scope: open, with no element that ends the scope opened after it.
    #[inline(always)]
    pub(super) fn in_scope_where(&self, ends: Is, wanted: impl Fn(&OpenElement) -> bool) -> bool {
        let found = self.open.iter().rev().find(|open| wanted(open) || open.is.any(ends));
        found.is_some_and(wanted)
    }

    pub(super) fn in_scope(&self, ends: Is, name: Name) -> bool {
        self.in_scope_where(ends, |open| open.is_html(name))
    }

    pub(super) fn in_table_scope(&self, name: Name) -> bool {
        self.in_scope(Is::TABLE_SCOPE, name)
    }

    /// Closes elements until the current one has one of these properties.
    pub(super) fn pop_to(&mut self, is: Is) {
        let kept = self.open.iter().rposition(|open| open.is.any(is)).map_or(0, |place| place + 1);
        self.open.truncate(kept);
    }

    /// Closes elements up to the last one that `wanted` accepts, and this one.
    pub(super) fn pop_through_where(&mut self, wanted: impl Fn(&OpenElement) -> bool) {
        let kept = self.open.iter().rposition(wanted).unwrap_or(0);
        self.open.truncate(kept);
    }

    pub(super) fn pop_through(&mut self, name: Name) {
        self.pop_through_where(|open| open.is_html(name));
    }

    /// Closes elements whose end tags are implied, but none of this name.
    pub(super) fn imply_ends_except(&mut self, except: Name) {
        while self.current().is.any(Is::IMPLIED) && self.current().name != except {
            self.pop();
        }
    }

    pub(super) fn imply_ends(&mut self) {
        self.imply_ends_except(Name::NONE);
    }

    pub(super) fn imply_all_ends(&mut self) {
        while self.current().is.any(Is::IMPLIED.or(Is::TABLE_PART)) {
            self.pop();
        }
    }

    /// Closes implied ends, then everything through an element of this name.
    pub(super) fn close_through(&mut self, name: Name) {
        self.imply_ends_except(name);
        self.pop_through(name);
    }

    pub(super) fn close_p_in_button_scope(&mut self) {
        if self.in_scope(BUTTON_SCOPE, Name::P) {
            self.close_through(Name::P);
        }
    }

    /// Resets the insertion mode appropriately.
    pub(super) fn reset_mode(&mut self) {
        self.mode = self.mode_of_stack();
    }

    fn mode_of_stack(&self) -> Mode {
        for (place, open) in self.open.iter().enumerate().rev().filter(|(_, open)| !open.is_foreign()) {
            match open.name {
                Name::TD | Name::TH if place > 0 => return Mode::InCell,
                Name::TR => return Mode::InRow,
                Name::TBODY | Name::THEAD | Name::TFOOT => return Mode::InTableBody,
                Name::CAPTION => return Mode::InCaption,
                Name::COLGROUP => return Mode::InColumnGroup,
                Name::TABLE => return Mode::InTable,
                Name::TEMPLATE => return self.template_modes.last().copied().unwrap_or(Mode::InBody),
                Name::HEAD if place > 0 => return Mode::InHead,
                Name::BODY => return Mode::InBody,
                Name::FRAMESET => return Mode::InFrameset,
                Name::HTML if self.head.is_none() => return Mode::BeforeHead,
                Name::HTML => return Mode::AfterHead,
                _ => {}
            }
        }
        Mode::InBody
    }
}
