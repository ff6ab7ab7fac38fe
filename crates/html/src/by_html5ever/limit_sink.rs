//! A token sink between html5ever's tokenizer and its tree builder. It enforces the depth and node limits of a page.

use std::cell::{Cell, RefCell};

use html5ever::LocalName;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::TreeBuilder;

use super::sink::{Handle, Sink};
use crate::ParseOptions;
use crate::depth_limit::DepthLimit;
use crate::names::Name;

pub(super) struct LimitSink {
    pub(super) builder: TreeBuilder<Handle, Sink>,
    depth: RefCell<DepthLimit<LocalName>>,
    max_nodes: usize,
    scripting: bool,
    /// Whether the next tag ends a text.
    in_text: Cell<bool>,
    full: Cell<bool>,
}

impl LimitSink {
    pub(super) fn new(builder: TreeBuilder<Handle, Sink>, limits: &ParseOptions, scripting: bool) -> LimitSink {
        LimitSink {
            builder,
            depth: RefCell::new(DepthLimit::new(limits.max_depth)),
            max_nodes: limits.max_nodes,
            scripting,
            in_text: Cell::new(false),
            full: Cell::new(false),
        }
    }

    /// Whether no further token changes anything.
    pub(super) fn is_full(&self) -> bool {
        self.full.get()
    }

    /// Elements that were replaced by their children.
    pub(super) fn n_dissolved(&self) -> usize {
        self.depth.borrow().n_dissolved
    }

    fn drops(&self, tag: &Tag) -> bool {
        let mut depth = self.depth.borrow_mut();
        match tag.kind {
            TagKind::StartTag => {
                let open_depth = self.builder.sink.open_depth.get();
                let is_foreign = self.builder.adjusted_current_node_present_but_not_in_html_namespace();
                let is_raw_text = Name::known(&tag.name).is_some_and(Name::is_raw_text);
                let reads_text = is_raw_text && !is_foreign && (self.scripting || &*tag.name != "noscript");
                depth.drops_start(&tag.name, open_depth, reads_text, tag.self_closing)
            }
            TagKind::EndTag => !self.in_text.replace(false) && depth.drops_end(&tag.name),
        }
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
        let result = self.builder.process_token(token, line);
        self.in_text.set(self.in_text.get() || matches!(result, TokenSinkResult::RawData(_)));
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
