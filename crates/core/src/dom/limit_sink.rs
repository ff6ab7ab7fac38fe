//! A token sink between the tokenizer and html5ever's tree builder. It enforces the depth and node limits of a page.
//!
//! The builder searches its stack of open elements for many tags, so a page of a million nested elements would take
//! quadratic time before any limit on the finished tree could apply. This sink drops start tags below the depth limit,
//! and their end tags. The contents of a dropped element are kept at the limit depth. Browsers do the same at depth
//! 512. After the node limit every token is dropped.
//!
//! The builder does not report what an end tag closed, so the depth is known only when an element is added. After an
//! end tag one start tag passes as a probe. A probe that lands n levels too deep delays the next probe by n end
//! tags, so stray end tags cannot increase the depth.

use std::cell::{Cell, RefCell};

use html5ever::LocalName;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::TreeBuilder;
use rustc_hash::FxHashMap;

use super::sink::{Handle, Sink};
use super::tokenizer::PageSink;

pub(super) struct LimitSink {
    pub(super) builder: TreeBuilder<Handle, Sink>,
    max_depth: u32,
    max_nodes: usize,
    /// End tags to wait for before a start tag may probe the depth again.
    wait: Cell<u32>,
    /// Number of dropped start tags that are not yet closed, by name.
    dissolved: RefCell<FxHashMap<LocalName, u32>>,
    pub(super) n_dissolved: Cell<usize>,
    full: Cell<bool>,
}

impl LimitSink {
    pub(super) fn new(builder: TreeBuilder<Handle, Sink>, max_depth: u16, max_nodes: usize) -> LimitSink {
        LimitSink {
            builder,
            max_depth: u32::from(max_depth),
            max_nodes,
            wait: Cell::new(1),
            dissolved: RefCell::default(),
            n_dissolved: Cell::new(0),
            full: Cell::new(false),
        }
    }

    fn drops(&self, tag: &Tag) -> bool {
        match tag.kind {
            TagKind::StartTag => {
                let too_deep = self.builder.sink.open_depth.get().saturating_sub(self.max_depth);
                // Raw text elements must reach the builder, which switches the tokenizer's state for them.
                if too_deep == 0 || is_raw_text(&tag.name) {
                    return false;
                }
                if self.wait.get() == 0 {
                    self.wait.set(too_deep + 1);
                    return false;
                }
                self.n_dissolved.set(self.n_dissolved.get() + 1);
                if !tag.self_closing {
                    *self.dissolved.borrow_mut().entry(tag.name.clone()).or_default() += 1;
                }
                true
            }
            TagKind::EndTag => {
                if let Some(open) = self.dissolved.borrow_mut().get_mut(&tag.name)
                    && *open > 0
                {
                    *open -= 1;
                    return true;
                }
                self.wait.set(self.wait.get().saturating_sub(1));
                false
            }
        }
    }
}

fn is_raw_text(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "textarea"
            | "title"
            | "xmp"
            | "iframe"
            | "noembed"
            | "noframes"
            | "noscript"
            | "plaintext"
    )
}

impl PageSink for LimitSink {
    fn is_full(&self) -> bool {
        self.full.get()
    }
}

impl TokenSink for LimitSink {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if self.full.get() {
            if !matches!(token, Token::EOFToken) {
                return TokenSinkResult::Continue;
            }
        } else if self.builder.sink.n_nodes() >= self.max_nodes {
            self.full.set(true);
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token
            && self.drops(tag)
        {
            return TokenSinkResult::Continue;
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
