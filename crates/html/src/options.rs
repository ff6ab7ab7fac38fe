//! Limits of the page tree.

use serde::Serialize;

/// Limits of the page tree, and which nodes it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ParseOptions {
    /// Maximum number of bytes of a page that are parsed. The rest is cut off.
    pub max_bytes: usize,
    /// Number of nodes after which parsing stops.
    pub max_nodes: usize,
    /// Depth below which elements are replaced by their children.
    pub max_depth: u16,
    /// Attributes kept for one element.
    pub max_attributes: usize,
    /// Which nodes are kept.
    pub keep: KeepNodes,
    /// What makes a tree of the text.
    pub parser: ParserKind,
}

/// What makes a tree of the text of a page. The tree is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ParserKind {
    /// The tokenizer and the tree builder of this crate.
    Dehusk,
    /// Those of html5ever, which are slower: the oracle of the tests.
    Html5ever,
}

/// Which nodes of a page its tree keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepNodes {
    /// Elements, and text that is not all white space. Scripts and styles are left out.
    Counted,
    /// As `Counted`, with comments and blank text nodes.
    Browser,
}

impl Default for ParseOptions {
    fn default() -> ParseOptions {
        ParseOptions {
            max_bytes: 40_000_000,
            max_nodes: 1_000_000,
            max_depth: 512,
            max_attributes: 1000,
            keep: KeepNodes::Counted,
            parser: ParserKind::Dehusk,
        }
    }
}
