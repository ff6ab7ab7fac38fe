//! Parses the bytes or text of a page into its tree.

use super::charset::{Charset, decode};
use super::flatten::flatten;
use super::options::ParserKind;
use super::raw_tree::RawTree;
use super::tokenizer::normalized_newlines;
use super::{KeepNodes, Note, ParseOptions, Tree, builder, by_html5ever, data_text, noscript, template_content};

/// Upper bound of `page.max_bytes`, so that spans fit into 32 bits.
const MOST_BYTES: usize = 1 << 30;

/// Decodes and parses a page as served. Never fails.
pub fn parse_bytes(bytes: &[u8], content_type: Option<&str>, options: &ParseOptions) -> (Tree, Charset) {
    let cut = bytes.len().min(options.max_bytes);
    let (text, charset) = decode(&bytes[..cut], content_type);
    let mut tree = parse(&text, options);
    tree.charset = charset.name;
    tree.declared_charset = charset.declared;
    if cut < bytes.len() {
        tree.notes.push(Note::BytesCut(bytes.len() - cut));
    }
    if charset.had_errors {
        tree.notes.push(Note::Undecodable);
    }
    (tree, charset)
}

/// Parses a decoded page as a browser with scripting does: the content of `noscript` is one raw text, so that no
/// element in it can swallow what follows. Where the page has no other text, that content is parsed as markup, or the
/// text that its data holds. Never fails.
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
    if options.keep == KeepNodes::Counted
        && let Some(markup) = data_text::markup(&kept, &tree)
    {
        notes.push(Note::DataTextKept);
        return build(&format!("{kept}{markup}"), options, true, notes);
    }
    tree
}

/// A tree as built, and which limits it hit.
pub(super) struct Built {
    pub(super) tree: RawTree,
    /// Tags with more attributes than are kept.
    pub(super) n_cut: usize,
    /// Whether parsing stopped at the node limit.
    pub(super) is_full: bool,
    /// Elements that were replaced by their children.
    pub(super) n_dissolved: usize,
}

/// Builds the tree of a page that is within the limits. Without scripting, `noscript` is an element like any other.
fn build(page: &str, options: &ParseOptions, scripting: bool, mut notes: Vec<Note>) -> Tree {
    let built = match options.parser {
        ParserKind::Dehusk => builder::build(page, options, scripting),
        ParserKind::Html5ever => by_html5ever::build(page, options, scripting),
    };
    if built.n_cut > 0 {
        notes.push(Note::AttributesCut(built.n_cut));
    }
    if built.is_full {
        notes.push(Note::NodesCut);
    }
    if built.n_dissolved > 0 {
        notes.push(Note::Dissolved(built.n_dissolved));
    }
    let mut raw = built.tree;
    if options.keep == KeepNodes::Counted {
        template_content::place(&mut raw, options.max_depth);
    }
    flatten(raw, options.keep, scripting, notes)
}

/// The longest prefix of at most `most` bytes that ends at a character boundary.
pub(super) fn cut_at(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
