//! The tree construction: from tokens to a [`RawTree`].
//!
//! Source: WHATWG HTML, section 13.2.6; each insertion mode is a function. Names are numbers with properties
//! ([`Is`]), open elements are copied, and attribute values are stored once, in the buffer of the tree. Documents are
//! parsed, never fragments, and scripts are not run.
//!
//! html5ever's tree builder is the oracle of the tests. So this one does as html5ever where that differs from the
//! standard: foreign elements are never special, an item of a list is looked for among HTML elements only, foreign
//! content is not left for an `annotation-xml` that holds HTML, and `selectedcontent` is not filled.

mod after;
mod body;
mod foreign;
mod formatting;
mod head;
mod insert;
mod open;
mod quirks;
mod table;
#[cfg(test)]
mod tests;

use super::ParseOptions;
use super::depth_limit::DepthLimit;
use super::names::{Is, Name, NameTable};
use super::parse::Built;
use super::raw_tree::RawTree;
use super::tokenizer::{Content, Doctype, StartTag, TokenSink, tokenize};
use formatting::Entry;
use open::OpenElement;

/// Builds the tree of a page. Without scripting, `noscript` is an element like any other.
pub(super) fn build(page: &str, options: &ParseOptions, scripting: bool) -> Built {
    let builder = Builder::new(page.len(), options, scripting);
    let (builder, n_cut) = tokenize(page, builder, options.max_attributes);
    Built { n_cut, is_full: builder.is_full, n_dissolved: builder.depth.n_dissolved, tree: builder.tree }
}

/// The insertion modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    InHeadNoscript,
    AfterHead,
    InBody,
    Text,
    InTable,
    InTableText,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    InTemplate,
    AfterBody,
    InFrameset,
    AfterFrameset,
    AfterAfterBody,
    AfterAfterFrameset,
}

impl Mode {
    /// Whether white space is treated otherwise than other text.
    fn parts_space(self) -> bool {
        use Mode::*;
        !matches!(self, InBody | Text | InTable | InTableText | InCaption | InTableBody | InRow | InCell | InTemplate)
    }
}

/// A token as the insertion modes see it.
#[derive(Clone, Copy)]
enum Token<'a> {
    Start(&'a StartTag<'a>),
    End(Name),
    /// In modes that part white space: either all or none of it is white space.
    Text(&'a str),
    Nul,
    Comment(&'a str),
    Eof,
}

/// What an insertion mode did with a token.
enum Step {
    Done,
    /// It is to be processed again, in the mode that was set.
    Again,
    /// Done, and what follows is of this kind.
    Then(Content),
}

struct Builder {
    tree: RawTree,
    mode: Mode,
    /// The mode to go back to after text.
    original: Mode,
    template_modes: Vec<Mode>,
    /// The stack of open elements, `html` first.
    open: Vec<OpenElement>,
    /// The list of active formatting elements.
    formatting: Vec<Entry>,
    head: Option<OpenElement>,
    form: Option<u32>,
    /// Text in a table, which is put before it unless it is blank.
    table_text: String,
    frameset_ok: bool,
    /// Whether a line feed that comes next is dropped.
    ignore_lf: bool,
    /// Whether misplaced content is put before the table ("foster parenting").
    fostering: bool,
    quirks: bool,
    scripting: bool,
    depth: DepthLimit<Name>,
    /// Depth of the last added element, or of the parent of the last one that was closed alone.
    open_depth: u32,
    max_nodes: usize,
    is_full: bool,
}

impl Builder {
    fn new(bytes: usize, options: &ParseOptions, scripting: bool) -> Builder {
        Builder {
            tree: RawTree::new(bytes, options),
            mode: Mode::Initial,
            original: Mode::Initial,
            template_modes: Vec::new(),
            open: Vec::with_capacity(64),
            formatting: Vec::new(),
            head: None,
            form: None,
            table_text: String::new(),
            frameset_ok: true,
            ignore_lf: false,
            fostering: false,
            quirks: false,
            scripting,
            depth: DepthLimit::new(options.max_depth),
            open_depth: 0,
            max_nodes: options.max_nodes,
            is_full: false,
        }
    }

    /// Whether there is room for what a token may add.
    #[inline(always)]
    fn has_room(&mut self) -> bool {
        self.is_full = self.is_full || self.tree.nodes.len() >= self.max_nodes;
        !self.is_full
    }

    #[inline(always)]
    fn process(&mut self, token: Token<'_>) -> Content {
        loop {
            let step = if self.mode == Mode::InBody && !self.current().is_foreign() {
                self.in_body(token)
            } else {
                self.in_other(token)
            };
            match step {
                Step::Done => return Content::Markup,
                Step::Again => {}
                Step::Then(content) => return content,
            }
        }
    }

    /// Processes a token by the rules of foreign content or of the mode. Most tokens do not come here: those among the
    /// HTML elements of the body.
    #[inline(never)]
    fn in_other(&mut self, token: Token<'_>) -> Step {
        if self.is_foreign_for(token) { self.in_foreign(token) } else { self.step(self.mode, token) }
    }

    /// Processes a token by the rules of a mode.
    fn step(&mut self, mode: Mode, token: Token<'_>) -> Step {
        match mode {
            Mode::Initial => self.initial(token),
            Mode::BeforeHtml => self.before_html(token),
            Mode::BeforeHead => self.before_head(token),
            Mode::InHead => self.in_head(token),
            Mode::InHeadNoscript => self.in_head_noscript(token),
            Mode::AfterHead => self.after_head(token),
            Mode::InBody => self.in_body(token),
            Mode::Text => self.in_text(token),
            Mode::InTable => self.in_table(token),
            Mode::InTableText => self.in_table_text(token),
            Mode::InCaption => self.in_caption(token),
            Mode::InColumnGroup => self.in_column_group(token),
            Mode::InTableBody => self.in_table_body(token),
            Mode::InRow => self.in_row(token),
            Mode::InCell => self.in_cell(token),
            Mode::InTemplate => self.in_template(token),
            Mode::AfterBody => self.after_body(token),
            Mode::InFrameset => self.in_frameset(token),
            Mode::AfterFrameset => self.after_frameset(token),
            Mode::AfterAfterBody => self.after_after_body(token),
            Mode::AfterAfterFrameset => self.after_after_frameset(token),
        }
    }

    /// Sets the mode and has the token processed again.
    fn again_in(&mut self, mode: Mode) -> Step {
        self.mode = mode;
        Step::Again
    }

    /// Inserts an element whose content is text.
    fn insert_with_text(&mut self, tag: &StartTag<'_>, content: Content) -> Step {
        self.insert(tag);
        self.original = self.mode;
        self.mode = Mode::Text;
        Step::Then(content)
    }

    fn in_text(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) => self.append_text(text),
            Token::Eof => {
                self.pop();
                self.again_in(self.original)
            }
            Token::End(_) => {
                self.pop();
                self.mode = self.original;
                Step::Done
            }
            Token::Start(_) | Token::Nul | Token::Comment(_) => Step::Done,
        }
    }
}

impl TokenSink for Builder {
    fn names(&mut self) -> &mut NameTable {
        &mut self.tree.names
    }

    fn start_tag(&mut self, tag: &StartTag<'_>) -> Content {
        let is_dropped = !self.has_room() || {
            let is_raw_text = tag.name.is_raw_text() && !self.current().is_foreign();
            let reads_text = is_raw_text && (tag.name != Name::NOSCRIPT || self.scripting);
            self.depth.drops_start(&tag.name, self.open_depth, reads_text, tag.is_self_closing)
        };
        if is_dropped {
            return Content::Markup;
        }
        self.ignore_lf = false;
        self.process(Token::Start(tag))
    }

    fn end_tag(&mut self, name: Name) {
        // The end tag of a text belongs to the element that was opened last.
        if self.has_room() && (self.mode == Mode::Text || !self.depth.drops_end(&name)) {
            self.ignore_lf = false;
            self.process(Token::End(name));
        }
    }

    fn text(&mut self, text: &str) {
        if !self.has_room() {
            return;
        }
        let ignores_lf = std::mem::take(&mut self.ignore_lf);
        let mut rest = if ignores_lf { text.strip_prefix('\n').unwrap_or(text) } else { text };
        while !rest.is_empty() {
            let mut piece = rest;
            if self.mode.parts_space() && !self.is_foreign_for(Token::Text(rest)) {
                let is_space = rest.starts_with(|c: char| c.is_ascii_whitespace());
                let ends = |c: char| c.is_ascii_whitespace() != is_space;
                piece = &rest[..rest.find(ends).unwrap_or(rest.len())];
            }
            self.process(Token::Text(piece));
            rest = &rest[piece.len()..];
        }
    }

    fn nul(&mut self) {
        if self.has_room() {
            self.ignore_lf = false;
            self.process(Token::Nul);
        }
    }

    fn comment(&mut self, text: &str) {
        if self.has_room() {
            self.ignore_lf = false;
            self.process(Token::Comment(text));
        }
    }

    fn doctype(&mut self, doctype: &Doctype) {
        if self.has_room() {
            self.ignore_lf = false;
            if self.mode == Mode::Initial {
                self.quirks = quirks::is_quirky(doctype);
                self.mode = Mode::BeforeHtml;
            }
        }
    }

    fn end(&mut self) {
        // A page that was cut off ends, too: it has a body.
        if self.is_full || self.has_room() {
            self.process(Token::Eof);
        }
    }

    fn is_foreign(&self) -> bool {
        self.current().is_foreign()
    }

    fn is_full(&self) -> bool {
        self.is_full
    }
}

/// Whether a text is white space of HTML.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
