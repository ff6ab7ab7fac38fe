//! Parses the bytes or text of a page into its tree.

use std::borrow::Cow;
use std::ops::Range;

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::attribute_limit::surplus_attributes;
use super::charset::{Charset, decode};
use super::flatten::flatten;
use super::limit_sink::LimitSink;
use super::options::TokenizerKind;
use super::sink::Sink;
use super::tokenizer::{PageSink, normalized_newlines, tokenize};
use super::{Note, ParseOptions, Tree, noscript};

/// Size of the pieces fed to html5ever's tokenizer. Pieces beyond the node limit are never read.
const PIECE: usize = 64 * 1024;

/// Upper bound of `page.max_bytes`, so that spans fit into 32 bits.
const MOST_BYTES: usize = 1 << 30;

/// Decodes and parses a page as served. Never fails.
pub fn parse_bytes(bytes: &[u8], content_type: Option<&str>, options: &ParseOptions) -> (Tree, Charset) {
    let cut = bytes.len().min(options.max_bytes);
    let (text, charset) = decode(&bytes[..cut], content_type);
    let mut tree = parse(&text, options);
    if cut < bytes.len() {
        tree.notes.push(Note::BytesCut(bytes.len() - cut));
    }
    if charset.had_errors {
        tree.notes.push(Note::Undecodable);
    }
    (tree, charset)
}

/// Parses a decoded page as a browser with scripting does: the content of `noscript` is one raw text, so that no
/// element in it can swallow what follows. Where the page has no other text, that content is parsed as markup. Never
/// fails.
pub fn parse(html: &str, options: &ParseOptions) -> Tree {
    let mut notes = Vec::new();
    let kept = cut_at(html, options.max_bytes.min(MOST_BYTES));
    if kept.len() < html.len() {
        notes.push(Note::BytesCut(html.len() - kept.len()));
    }
    let kept = normalized_newlines(kept);
    let tree = build(&kept, options, true, notes.clone());
    if noscript::is_page_text(&tree) {
        notes.push(Note::NoscriptKept);
        return build(&kept, options, false, notes);
    }
    tree
}

/// Builds the tree of a page that is within the limits. Without scripting, `noscript` is an element like any other.
fn build(kept: &str, options: &ParseOptions, scripting: bool, mut notes: Vec<Note>) -> Tree {
    let sink = Sink::new(kept.len(), options);
    let opts = TreeBuilderOpts { scripting_enabled: scripting, ..TreeBuilderOpts::default() };
    let limit = LimitSink::new(TreeBuilder::new(sink, opts), options.max_depth, options.max_nodes);
    let (limit, n_cut) = match options.tokenizer {
        TokenizerKind::Dehusk => tokenize(kept, limit, options.max_attributes),
        TokenizerKind::Html5ever => tokenize_by_html5ever(kept, limit, options.max_attributes),
    };
    if n_cut > 0 {
        notes.push(Note::AttributesCut(n_cut));
    }
    if limit.is_full() {
        notes.push(Note::NodesCut);
    }
    if limit.n_dissolved.get() > 0 {
        notes.push(Note::Dissolved(limit.n_dissolved.get()));
    }
    let raw = html5ever::interface::TreeSink::finish(limit.builder.sink);
    flatten(raw, options.keep, scripting, notes)
}

/// Does what [`tokenize`] does.
fn tokenize_by_html5ever(kept: &str, limit: LimitSink, max_attributes: usize) -> (LimitSink, usize) {
    let surplus = surplus_attributes(kept, max_attributes);
    let kept = without(kept, &surplus);
    let tokenizer = Tokenizer::new(limit, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = &*kept;
    while !rest.is_empty() && !tokenizer.sink.is_full() {
        let piece = cut_at(rest, PIECE);
        rest = &rest[piece.len()..];
        input.push_back(StrTendril::from_slice(piece));
        // A script element or a charset declaration makes the tokenizer return early; neither concerns us.
        while !matches!(tokenizer.feed(&input), html5ever::interface::TokenizerResult::Done) {}
    }
    tokenizer.end();
    (tokenizer.sink, surplus.len())
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

/// The longest prefix of at most `most` bytes that ends at a character boundary.
fn cut_at(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
