//! The tree by html5ever's tokenizer and tree builder: the oracle of the tests, and `page.parser = "html5ever"`.

mod attribute_limit;
mod limit_sink;
mod sink;

use std::borrow::Cow;
use std::ops::Range;

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{TokenizerResult, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::ParseOptions;
use super::parse::{Built, cut_at};
use attribute_limit::surplus_attributes;
use limit_sink::LimitSink;
use sink::Sink;

/// Size of the pieces fed to the tokenizer. Pieces beyond the node limit are never read.
const PIECE: usize = 64 * 1024;

/// Builds the tree of a page.
pub(super) fn build(page: &str, options: &ParseOptions, scripting: bool) -> Built {
    let sink = Sink::new(page.len(), options);
    let opts = TreeBuilderOpts { scripting_enabled: scripting, ..TreeBuilderOpts::default() };
    let limit = LimitSink::new(TreeBuilder::new(sink, opts), options, scripting);
    let surplus = surplus_attributes(page, options.max_attributes);
    let kept = without(page, &surplus);
    let tokenizer = Tokenizer::new(limit, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = &*kept;
    while !rest.is_empty() && !tokenizer.sink.is_full() {
        let piece = cut_at(rest, PIECE);
        rest = &rest[piece.len()..];
        input.push_back(StrTendril::from_slice(piece));
        // A script element or a charset declaration makes the tokenizer return early; neither concerns us.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    }
    tokenizer.end();
    let limit = tokenizer.sink;
    Built {
        n_cut: surplus.len(),
        is_full: limit.is_full(),
        n_dissolved: limit.n_dissolved(),
        tree: limit.builder.sink.finish(),
    }
}

/// The text with these ranges removed.
fn without<'t>(text: &'t str, ranges: &[Range<usize>]) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        kept.push_str(&text[from..range.start]);
        from = range.end;
    }
    Cow::Owned(kept + &text[from..])
}
