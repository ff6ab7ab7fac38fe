//! Tokens, and what takes them.

use std::borrow::Cow;

use crate::names::{Name, NameTable};

/// A start tag.
pub(crate) struct StartTag<'a> {
    pub(crate) name: Name,
    /// Attributes in source order, each name once.
    pub(crate) attrs: &'a [TagAttr<'a>],
    pub(crate) is_self_closing: bool,
}

/// An attribute of a start tag.
pub(crate) struct TagAttr<'t> {
    pub(crate) name: Name,
    pub(crate) value: Cow<'t, str>,
}

/// A document type.
#[derive(Default)]
pub(crate) struct Doctype {
    pub(crate) name: Option<String>,
    pub(crate) public_id: Option<String>,
    pub(crate) system_id: Option<String>,
    pub(crate) force_quirks: bool,
}

/// What follows a start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
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
pub(crate) trait TokenSink {
    /// The names of the page.
    fn names(&mut self) -> &mut NameTable;
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
