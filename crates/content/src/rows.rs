//! What the training program reads of a page.

use super::class_words::{ClassWords, class_words};
use super::features::{Facts, N_FEATURES};
use dehusk_html::Tree;

/// The blocks of a page with their features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentRows {
    /// The features, row by row, [`N_FEATURES`] for each block.
    pub features: Vec<f32>,
    /// The blocks, in document order.
    pub blocks: Vec<ContentRow>,
}

/// A block beside its features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentRow {
    /// Its text, white space collapsed.
    pub text: String,
    /// Its text nodes, by number in the tree.
    pub nodes: Vec<u32>,
    /// Hash of its place in the site's layout.
    pub slot: u64,
    /// Hash of the names above it.
    pub tag_path: u64,
    /// Hash of its text with digits as 0.
    pub pattern: u64,
    /// Hashed sub-words of the names near it.
    pub near: Vec<u32>,
    /// Hashed sub-words of the names far from it.
    pub far: Vec<u32>,
}

/// The blocks of a page with their features. The two features of class names are 0.
pub fn content_rows(tree: &Tree) -> ContentRows {
    let facts = Facts::new(tree);
    let mut features = Vec::with_capacity(facts.len() * N_FEATURES);
    facts.for_each_row(&ClassWords::default(), |row| features.extend_from_slice(row));
    let classes = class_words(&facts);
    let row = |(at, (near, far)): (usize, (Vec<u32>, Vec<u32>))| {
        let block = &facts.blocks.list[at];
        ContentRow {
            text: facts.blocks.text_of(block).to_owned(),
            nodes: facts.blocks.nodes_of(block).map(|node| node.index() as u32).collect(),
            slot: facts.slot(at),
            tag_path: facts.elements.list[block.container].tag_path,
            pattern: facts.measures.list[at].pattern,
            near,
            far,
        }
    };
    let blocks: Vec<ContentRow> = classes.into_iter().enumerate().map(row).collect();
    debug_assert_eq!(features.len(), blocks.len() * N_FEATURES);
    ContentRows { features, blocks }
}
