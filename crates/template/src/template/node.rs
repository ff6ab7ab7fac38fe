//! A node of a stored template.

use serde::{Deserialize, Serialize};

use dehusk_html::{LONG_VALUE, NodeId, Tree, hash_long_pair, hash_pair, hash_str, normalized};

/// Maximum number of characters of a text node that are kept for display.
const SAMPLE_CHARS: usize = 120;

/// A node of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateNode {
    /// Number of the parent; the body is its own parent.
    #[serde(rename = "p")]
    pub parent: u32,
    /// Tag name, `#text` for text.
    #[serde(rename = "n")]
    pub tag: String,
    /// The id; empty = none.
    #[serde(rename = "i", default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Class tokens.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Other attributes. A long value is stored as its hash.
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub attrs: Vec<(String, Value)>,
    /// Position among its siblings in the key page, from 1.
    #[serde(rename = "k")]
    pub position: u32,
    /// Children in the key page.
    #[serde(rename = "s", default, skip_serializing_if = "is_zero")]
    pub n_children: u32,
    /// Number of votes, or of training pages that have the node.
    #[serde(rename = "v")]
    pub votes: u16,
    /// Votes of the members of the complete subdigraph; exact where they make the node template.
    #[serde(rename = "e", default, skip_serializing_if = "is_zero")]
    pub subdigraph_votes: u16,
    /// Whether the node is not a template node itself and is kept only as the ancestor of one.
    #[serde(rename = "o", default, skip_serializing_if = "is_zero")]
    pub own: bool,
    /// Beginning of the normalized text.
    #[serde(rename = "t", default, skip_serializing_if = "String::is_empty")]
    pub sample: String,
    /// Hash of the whole normalized text, if the sample does not contain all of it; otherwise 0.
    #[serde(rename = "h", default, skip_serializing_if = "is_zero")]
    pub text_hash: u64,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// As written in the page.
    Text(String),
    /// Hash of a long value.
    Hash(u64),
}

/// Length in bytes above which a value is stored as its hash. Otherwise inline images would fill the store.
const LONGEST_VALUE: usize = 256;

fn is_zero<T: Default + PartialEq>(n: &T) -> bool {
    *n == T::default()
}

impl TemplateNode {
    pub(super) fn new(key: &Tree, node: NodeId, parent: u32, votes: u16) -> TemplateNode {
        let text = normalized(key.text(node));
        let sample: String = text.chars().take(SAMPLE_CHARS).collect();
        let is_cut = sample.len() < text.len() || (key.is_text(node) && sample.is_empty());
        TemplateNode {
            parent,
            tag: key.name(node).to_owned(),
            id: key.attr(node, "id").unwrap_or_default().trim().to_owned(),
            classes: key.attr(node, "class").unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect(),
            attrs: key
                .attrs(node)
                .filter(|(name, _)| !matches!(*name, "id" | "class"))
                .map(|(name, value)| (name.to_owned(), Value::new(value)))
                .collect(),
            position: key.shape.position[node.index()],
            n_children: key.shape.n_children[node.index()],
            votes,
            subdigraph_votes: 0,
            own: false,
            text_hash: if is_cut { hash_str(&text) } else { 0 },
            sample,
        }
    }

    pub(super) fn text_hash(&self) -> u64 {
        match (self.tag.as_str(), self.text_hash) {
            ("#text", 0) => hash_str(&self.sample),
            ("#text", hash) => hash,
            _ => 0,
        }
    }
}

impl Value {
    fn new(value: &str) -> Value {
        if value.len() <= LONGEST_VALUE { Value::Text(value.to_owned()) } else { Value::Hash(hash_str(value)) }
    }

    pub(super) fn hash(&self, name: u64) -> u64 {
        const { assert!(LONGEST_VALUE >= LONG_VALUE, "a value kept as its hash was hashed as a long one") };
        match self {
            Value::Text(text) => hash_pair(name, text),
            Value::Hash(hash) => hash_long_pair(name, *hash),
        }
    }
}
