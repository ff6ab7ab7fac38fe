//! Tokens, and what takes them.

use std::borrow::Cow;

use crate::dom::names::{Name, Names};

/// A start tag.
pub(in crate::dom) struct StartTag<'a> {
    pub(in crate::dom) name: Name,
    /// Attributes in source order, each name once.
    pub(in crate::dom) attrs: &'a [TagAttr<'a>],
    pub(in crate::dom) is_self_closing: bool,
}

/// An attribute of a start tag.
pub(in crate::dom) struct TagAttr<'t> {
    pub(in crate::dom) name: Name,
    pub(in crate::dom) value: Cow<'t, str>,
}

/// A document type.
#[derive(Default)]
pub(in crate::dom) struct Doctype {
    pub(in crate::dom) name: Option<String>,
    pub(in crate::dom) public_id: Option<String>,
    pub(in crate::dom) system_id: Option<String>,
    pub(in crate::dom) force_quirks: bool,
}

/// What follows a start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dom) enum Content {
    /// Text and tags.
    Markup,
    /// Text up to the end tag, with character references.
    WithReferences,
    /// Text up to the end tag.
    Plain,
    /// A script.
    Script,
    /// Text up to the end of the page.
    Plaintext,
}

/// Takes the tokens of a page.
pub(in crate::dom) trait TokenSink {
    /// The names of the page.
    fn names(&mut self) -> &mut Names;
    /// Takes a start tag. Returns what follows it.
    fn start_tag(&mut self, tag: &StartTag<'_>) -> Content;
    /// Takes an end tag.
    fn end_tag(&mut self, name: Name);
    /// Takes a part of a text, which is not empty.
    fn text(&mut self, text: &str);
    /// Takes a NUL in a text.
    fn nul(&mut self);
    /// Takes a comment.
    fn comment(&mut self, text: &str);
    /// Takes a document type.
    fn doctype(&mut self, doctype: &Doctype);
    /// Takes the end of the page.
    fn end(&mut self);
    /// Whether the open element is none of HTML, so that CDATA sections are read.
    fn is_foreign(&self) -> bool;
    /// Whether no further token changes anything.
    fn is_full(&self) -> bool;
}
