//! The template of a site as a plain value, and its written form.

use serde::{Deserialize, Serialize};

use super::etdm::Votes;
use crate::dom::{
    LONG_VALUE, NodeId, SetBuilder, Shape, Tree, hash_long_pair, hash_pair, hash_str, looks_generated, normalized,
};
use crate::page::PageUrl;
use crate::settings::Learn;
use crate::witness::{Family, Labels, StoredError, StoredFamily};

/// Version of the written form. An older one is read or refused with a sentence, never misread.
pub const SCHEMA: u32 = 2;

/// Version of templates without witnesses, which older readers know too.
const VOTES_SCHEMA: u32 = 1;

/// Characters of a text node that are kept for a reader.
const SAMPLE_CHARS: usize = 120;

/// What the pages of a site have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// [`SCHEMA`] when it was written.
    pub schema: u32,
    /// Method that learned it.
    pub method: String,
    /// Host of the site.
    pub host: String,
    /// The key page.
    pub key_url: String,
    /// The pages that voted.
    pub voters: Vec<String>,
    /// Pages loaded beside the key page.
    pub loads: usize,
    /// Pages that should have voted: n.
    pub n: usize,
    /// Pages that voted: m.
    pub m: usize,
    /// Votes that made a node template: t'.
    pub t: usize,
    /// Counted nodes of the key page.
    pub key_nodes: usize,
    /// Was a child list too long for the exact mapping?
    pub approximate: bool,
    /// Share of another witness' template that the key page showed when it was learned, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<f64>,
    /// Parameters that it was learned with and is applied with.
    pub learn: Learn,
    /// The template tree in preorder; the first node is the body.
    pub nodes: Vec<TemplateNode>,
    /// The pages that label others, where they do and not `nodes` (`label.by = "witness"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witnesses: Option<StoredFamily>,
}

/// A node of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateNode {
    /// Number of the parent; the body is its own.
    #[serde(rename = "p")]
    pub parent: u32,
    /// Tag name, `#text` for text.
    #[serde(rename = "n")]
    pub tag: String,
    /// The id, empty = none.
    #[serde(rename = "i", default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Class tokens.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Other attributes; a value too long to keep is written as its hash.
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub attrs: Vec<(String, Value)>,
    /// Position among the siblings of the key page, from 1.
    #[serde(rename = "k")]
    pub position: u32,
    /// Children in the key page.
    #[serde(rename = "s", default, skip_serializing_if = "is_zero")]
    pub n_children: u32,
    /// Votes; witnesses that have the node.
    #[serde(rename = "v")]
    pub votes: u16,
    /// Is it the page's own, and here only because template stands below it?
    #[serde(rename = "o", default, skip_serializing_if = "is_zero")]
    pub own: bool,
    /// Beginning of the normalised text.
    #[serde(rename = "t", default, skip_serializing_if = "String::is_empty")]
    pub sample: String,
    /// Hash of the whole normalised text, where the sample does not hold all of it.
    #[serde(rename = "h", default, skip_serializing_if = "is_zero")]
    pub text_hash: u64,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// As written in the page.
    Text(String),
    /// Hash of a long one.
    Hash(u64),
}

/// Values longer than this are kept as their hash: inline images would fill the store.
const LONGEST_VALUE: usize = 256;

fn is_zero<T: Default + PartialEq>(n: &T) -> bool {
    *n == T::default()
}

/// Why a written template was refused.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Not JSON of the expected form.
    #[error("not a template: {0}")]
    Form(serde_json::Error),
    /// Written by a version that is not known here.
    #[error("template schema {found} is not known; this version reads up to {SCHEMA}, please update dehusk")]
    Schema {
        /// The version found.
        found: u32,
    },
    /// A node names a parent that does not stand before it.
    #[error("damaged template: node {node} has parent {parent}")]
    Parent {
        /// The node's number.
        node: usize,
        /// The parent it names.
        parent: u32,
    },
    /// A node stands at a place that its siblings do not leave it.
    #[error("damaged template: node {node} has position {position}")]
    Position {
        /// The node's number.
        node: usize,
        /// The position it names.
        position: u32,
    },
    /// A witness is damaged.
    #[error("damaged template: {0}")]
    Witness(StoredError),
}

impl Template {
    /// The template that `votes` made of the key page.
    pub fn of(key: &Tree, url: &PageUrl, voters: &[PageUrl], loads: usize, votes: &Votes, learn: &Learn) -> Template {
        let is_template: Vec<bool> =
            (0..key.len()).map(|n| key.counted().contains(&n) && votes.is_template(n)).collect();
        Template {
            m: votes.m,
            t: votes.t,
            approximate: votes.approximate,
            ..Template::outline(key, url, voters, loads, (&is_template, &votes.votes), learn)
        }
    }

    /// The template that the witnesses found on the key page, with them.
    pub fn witnessed(
        key: &Tree,
        url: &PageUrl,
        voters: &[PageUrl],
        loads: usize,
        labels: &Labels,
        family: &Family,
        learn: &Learn,
    ) -> Template {
        Template {
            schema: SCHEMA,
            method: "witness".to_owned(),
            m: voters.len(),
            t: 0,
            standing: Some(family.standing(url.fingerprint(), key)),
            witnesses: Some(family.store()),
            ..Template::outline(key, url, voters, loads, (&labels.is_template, &labels.support), learn)
        }
    }

    /// Does the key page share so little with its witnesses that another night may bring better ones? So it is when it was
    /// fetched in the midst of a redesign.
    pub fn is_provisional(&self) -> bool {
        const HARDLY: f64 = 0.05;
        self.standing.is_some_and(|standing| standing < HARDLY)
    }

    fn outline(
        key: &Tree,
        url: &PageUrl,
        voters: &[PageUrl],
        loads: usize,
        (is_template, votes): (&[bool], &[u16]),
        learn: &Learn,
    ) -> Template {
        let mut holds_template = is_template.to_vec();
        for node in key.counted().rev().filter(|n| *n > key.counted().start) {
            holds_template[key.shape.parent[node] as usize] |= holds_template[node];
        }
        let mut number = vec![0_u32; key.len()];
        let mut nodes = Vec::new();
        for index in key.counted().filter(|n| holds_template[*n]) {
            number[index] = nodes.len() as u32;
            let parent = number[key.shape.parent[index] as usize];
            let node = TemplateNode::of(key, NodeId::new(index), parent, votes[index]);
            nodes.push(TemplateNode { own: !is_template[index], ..node });
        }
        Template {
            schema: VOTES_SCHEMA,
            method: "etdm".to_owned(),
            host: url.authority(),
            key_url: url.to_string(),
            voters: voters.iter().map(PageUrl::to_string).collect(),
            loads,
            n: learn.n,
            m: 0,
            t: 0,
            standing: None,
            key_nodes: key.counted().len(),
            approximate: false,
            learn: learn.clone(),
            nodes,
            witnesses: None,
        }
    }

    /// Reads the written form.
    pub fn from_json(text: &[u8]) -> Result<Template, TemplateError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let Version { schema } = serde_json::from_slice(text).map_err(TemplateError::Form)?;
        if !(VOTES_SCHEMA..=SCHEMA).contains(&schema) {
            return Err(TemplateError::Schema { found: schema });
        }
        let template: Template = serde_json::from_slice(text).map_err(TemplateError::Form)?;
        // In preorder a node's parent is the node before it or an ancestor of that one.
        let mut path: Vec<usize> = vec![0];
        let mut last_child = vec![0; template.nodes.len()];
        for (node, TemplateNode { parent, position, .. }) in template.nodes.iter().enumerate() {
            match path.iter().rposition(|open| *open == *parent as usize) {
                Some(at) => path.truncate(at + 1),
                None => return Err(TemplateError::Parent { node, parent: *parent }),
            }
            if node > 0 {
                path.push(node);
                // Places among siblings ascend and lie within their number.
                let above = *parent as usize;
                if *position <= last_child[above] || *position > template.nodes[above].n_children {
                    return Err(TemplateError::Position { node, position: *position });
                }
                last_child[above] = *position;
            }
        }
        template.witnesses.as_ref().map_or(Ok(()), StoredFamily::check).map_err(TemplateError::Witness)?;
        Ok(template)
    }

    /// The written form.
    pub fn to_json(&self) -> Vec<u8> {
        // A plain value of strings and numbers always serialises.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Template nodes of the key page.
    pub fn n_nodes(&self) -> usize {
        self.nodes.iter().filter(|node| !node.own).count()
    }

    /// Text nodes among them.
    pub fn n_texts(&self) -> usize {
        self.nodes.iter().filter(|node| !node.own && node.tag == "#text").count()
    }

    /// The witnesses, ready to label pages.
    pub fn family(&self) -> Option<Family> {
        self.witnesses.as_ref().map(|stored| stored.load(&self.learn))
    }

    /// The part that is mapped to pages: names hashed as in a tree's shape, places those of the key page.
    pub fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        let mut sets = SetBuilder::default();
        for node in &self.nodes {
            let depth = shape.depth.get(node.parent as usize).map_or(0, |d: &u16| d.saturating_add(1));
            shape.depth.push(depth);
            shape.tag.push(hash_str(&node.tag));
            shape.parent.push(node.parent);
            shape.position.push(node.position);
            shape.n_children.push(node.n_children);
            shape.id.push(if node.id.is_empty() { 0 } else { hash_str(&node.id) });
            let hashes = |keeps: fn(&str) -> bool| -> Vec<u64> {
                node.classes.iter().filter(|c| keeps(c)).map(|c| hash_str(c)).collect()
            };
            shape.classes.push(sets.intern(&mut hashes(|_| true)));
            shape.stable_classes.push(sets.intern(&mut hashes(|c| !looks_generated(c))));
            let mut pairs: Vec<u64> = node.attrs.iter().map(|(name, value)| value.hash(hash_str(name))).collect();
            shape.attrs.push(sets.intern(&mut pairs));
            let mut names: Vec<u64> = node.attrs.iter().map(|(name, _)| hash_str(name)).collect();
            shape.attr_names.push(sets.intern(&mut names));
            shape.text.push(node.text());
        }
        shape.sets = sets.sets;
        shape.sum_up();
        shape
    }
}

impl TemplateNode {
    fn of(key: &Tree, node: NodeId, parent: u32, votes: u16) -> TemplateNode {
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
                .map(|(name, value)| (name.to_owned(), Value::of(value)))
                .collect(),
            position: key.shape.position[node.index()],
            n_children: key.shape.n_children[node.index()],
            votes,
            own: false,
            text_hash: if is_cut { hash_str(&text) } else { 0 },
            sample,
        }
    }

    fn text(&self) -> u64 {
        match (self.tag.as_str(), self.text_hash) {
            ("#text", 0) => hash_str(&self.sample),
            ("#text", hash) => hash,
            _ => 0,
        }
    }
}

impl Value {
    fn of(value: &str) -> Value {
        if value.len() <= LONGEST_VALUE { Value::Text(value.to_owned()) } else { Value::Hash(hash_str(value)) }
    }

    fn hash(&self, name: u64) -> u64 {
        const { assert!(LONGEST_VALUE >= LONG_VALUE, "a value kept as its hash was hashed as a long one") };
        match self {
            Value::Text(text) => hash_pair(name, text),
            Value::Hash(hash) => hash_long_pair(name, *hash),
        }
    }
}
