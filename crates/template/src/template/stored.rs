//! The template of a site as a plain value, and its stored form.

use serde::{Deserialize, Serialize};

use super::node::TemplateNode;
use crate::etdm::Votes;
use crate::learn_options::LearnOptions;
use crate::method::Method;
use crate::serialized::{json_of, message_pack_of};
use crate::site_model::{StoredError, StoredTrainingSet, TrainingSet};
use dehusk_content::{Labels, TaughtPages};
use dehusk_html::PageUrl;
use dehusk_html::{ComparedTree, Fields, LooseFields, NodeId, SetBuilder, Shape, Tree, hash_str, looks_generated};

/// Version of the stored form. Any other one is refused with an error.
pub const SCHEMA: u32 = 3;

/// The nodes that the pages of a site have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// The [`SCHEMA`] that it was written with.
    pub schema: u32,
    /// Method that learned it.
    pub method: Method,
    /// Host of the site; empty if the pages have no URLs.
    pub host: String,
    /// URL of the key page; empty if the pages have no URLs.
    pub key_url: String,
    /// URLs of the training pages.
    pub voters: Vec<String>,
    /// URLs of the feeds that the key page names. A crawl reads them also on a night without a new key page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<String>,
    /// Pages loaded besides the key page.
    pub loads: usize,
    /// Training pages that were wanted (n in the thesis).
    pub n_wanted: usize,
    /// Training pages that were found (m).
    pub n_voters: usize,
    /// Votes required for a template node (t'); 0 if the site model decides the labels.
    pub min_votes: usize,
    /// Counted nodes of the key page.
    pub key_nodes: usize,
    /// Whether a child list was too long for the exact mapping.
    pub approximate: bool,
    /// Largest share of another page's template that the key page contained when the template was learned, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_coverage: Option<f64>,
    /// The training pages that link to each other, and their votes, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdigraph: Option<SubdigraphVotes>,
    /// Parameters used to learn and to apply it.
    pub learn: LearnOptions,
    /// The template tree in preorder; the first node is the body.
    pub nodes: Vec<TemplateNode>,
    /// The training pages that label other pages in place of `nodes` (`label.by = "site_model"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_set: Option<StoredTrainingSet>,
}

/// The largest complete subdigraph among the training pages (thesis, section 2.2) and its votes on the key page
/// (section 3.4). Each node of the template has its own number of votes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubdigraphVotes {
    /// Its members, as numbers of [`Template::voters`].
    pub members: Vec<usize>,
    /// Votes that make a node template.
    pub min_votes: usize,
    /// Nodes of the key page that have them.
    pub n_template: usize,
    /// Those of them that are template in [`Template::nodes`], too.
    pub n_agreed: usize,
}

/// Where the pages of a template come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provenance<'a> {
    /// URL of the key page, if it has one.
    pub key_url: Option<&'a PageUrl>,
    /// URLs of the training pages.
    pub voters: &'a [PageUrl],
    /// Pages loaded besides the key page.
    pub loads: usize,
}

/// Why a stored template was refused.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Not JSON of the expected form.
    #[error("not a template: {0}")]
    Form(serde_json::Error),
    /// Not MessagePack of the expected form.
    #[error("not a template: {0}")]
    Bytes(rmp_serde::decode::Error),
    /// Written by an unknown version.
    #[error(
        "template of schema {found}, where this program reads {SCHEMA}: learn the site again or, if it is newer, please \
         update dehusk"
    )]
    Schema {
        /// The version found.
        found: u32,
    },
    /// A node has an invalid parent: in preorder it must be the previous node or one of its ancestors.
    #[error("damaged template: node {node} has parent {parent}")]
    Parent {
        /// The node's number.
        node: usize,
        /// Its parent.
        parent: u32,
    },
    /// A node has an invalid position: positions of siblings must ascend and be at most their number.
    #[error("damaged template: node {node} has position {position}")]
    Position {
        /// The node's number.
        node: usize,
        /// Its position.
        position: u32,
    },
    /// A training page is damaged.
    #[error("damaged template: {0}")]
    TrainingPage(StoredError),
}

impl Template {
    /// What somebody has said about the blocks of some pages of the site.
    pub fn taught(&self) -> TaughtPages {
        self.training_set.as_ref().map_or_else(TaughtPages::default, |set| set.taught.clone())
    }

    /// Replaces what was said about the blocks of some pages. Returns whether it can be kept: only the site model knows
    /// blocks.
    pub fn teach(&mut self, taught: TaughtPages) -> bool {
        let set = self.training_set.as_mut().filter(|_| self.method == Method::SiteModel);
        set.map(|set| set.taught = taught).is_some()
    }

    /// The template of the key page according to votes.
    pub fn from_votes(key: &Tree, from: Provenance<'_>, votes: &Votes, learn: &LearnOptions) -> Template {
        Template {
            n_voters: votes.n_voters,
            min_votes: votes.min_votes,
            approximate: votes.approximate,
            ..Template::outline(key, from, &votes.labels(key), learn)
        }
    }

    /// The template of the key page according to a training set, with that set.
    pub fn from_training_set(
        key: &Tree,
        from: Provenance<'_>,
        labels: &Labels,
        set: &TrainingSet,
        learn: &LearnOptions,
    ) -> Template {
        Template {
            method: Method::SiteModel,
            n_voters: from.voters.len(),
            key_coverage: from.key_url.map(|url| set.key_coverage(url.fingerprint(), key)),
            training_set: Some(set.store()),
            ..Template::outline(key, from, labels, learn)
        }
    }

    /// The same with the votes of the members of the complete subdigraph among the training pages. `labels` are those
    /// of the key page.
    #[must_use]
    pub fn with_votes(mut self, key: &Tree, labels: &Labels, members: Vec<usize>, votes: &Votes) -> Template {
        let is_voted: Vec<usize> = key.counted().filter(|node| votes.is_template(*node)).collect();
        let n_agreed = is_voted.iter().filter(|node| labels.is_template[**node]).count();
        let (min_votes, n_template) = (votes.min_votes, is_voted.len());
        self.subdigraph = Some(SubdigraphVotes { members, min_votes, n_template, n_agreed });
        for (node, at) in self.nodes.iter_mut().zip(outline_nodes(key, &labels.is_template)) {
            node.subdigraph_votes = votes.votes[at];
        }
        self
    }

    /// Whether the key page shares so little with its training pages that the site should be relearned soon. This
    /// happens if the pages were fetched during a redesign.
    pub fn is_provisional(&self) -> bool {
        const MIN_COVERAGE: f64 = 0.05;
        self.key_coverage.is_some_and(|coverage| coverage < MIN_COVERAGE)
    }

    fn outline(key: &Tree, from: Provenance<'_>, labels: &Labels, learn: &LearnOptions) -> Template {
        let (is_template, votes) = (&labels.is_template, &labels.support);
        let mut number = vec![0_u32; key.len()];
        let mut nodes = Vec::new();
        for index in outline_nodes(key, is_template) {
            number[index] = nodes.len() as u32;
            let parent = number[key.shape.parent[index] as usize];
            let node = TemplateNode::new(key, NodeId::new(index), parent, votes[index]);
            nodes.push(TemplateNode { own: !is_template[index], ..node });
        }
        Template {
            schema: SCHEMA,
            method: Method::Etdm,
            host: from.key_url.map(PageUrl::authority).unwrap_or_default(),
            key_url: from.key_url.map(PageUrl::to_string).unwrap_or_default(),
            feeds: Vec::new(),
            voters: from.voters.iter().map(PageUrl::to_string).collect(),
            loads: from.loads,
            n_wanted: learn.search.n,
            n_voters: 0,
            min_votes: 0,
            key_coverage: None,
            subdigraph: None,
            key_nodes: key.counted().len(),
            approximate: false,
            learn: learn.clone(),
            nodes,
            training_set: None,
        }
    }

    /// Reads the exported form.
    ///
    /// # Errors
    ///
    /// [`TemplateError`] when the text is not a template, is of a later version, or is damaged.
    pub fn from_json(text: &[u8]) -> Result<Template, TemplateError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        serde_json::from_slice::<Template>(text)
            .map_err(|e| match serde_json::from_slice(text) {
                Ok(Version { schema }) if schema != SCHEMA => TemplateError::Schema { found: schema },
                _ => TemplateError::Form(e),
            })?
            .checked()
    }

    fn checked(self) -> Result<Template, TemplateError> {
        if self.schema != SCHEMA {
            return Err(TemplateError::Schema { found: self.schema });
        }
        self.check_nodes()?;
        self.training_set.as_ref().map_or(Ok(()), StoredTrainingSet::check).map_err(TemplateError::TrainingPage)?;
        Ok(self)
    }

    fn check_nodes(&self) -> Result<(), TemplateError> {
        // In preorder, a node's parent is the previous node or one of its ancestors.
        let mut path: Vec<usize> = vec![0];
        let mut last_child = vec![0; self.nodes.len()];
        for (node, TemplateNode { parent, position, .. }) in self.nodes.iter().enumerate() {
            match path.iter().rposition(|open| *open == *parent as usize) {
                Some(at) => path.truncate(at + 1),
                None => return Err(TemplateError::Parent { node, parent: *parent }),
            }
            if node > 0 {
                path.push(node);
                // Positions of siblings ascend and are at most their number.
                let above = *parent as usize;
                if *position <= last_child[above] || *position > self.nodes[above].n_children {
                    return Err(TemplateError::Position { node, position: *position });
                }
                last_child[above] = *position;
            }
        }
        Ok(())
    }

    /// The exported form.
    pub fn to_json(&self) -> Vec<u8> {
        json_of(self)
    }

    /// Reads the form of the store, MessagePack.
    ///
    /// # Errors
    ///
    /// As [`Template::from_json`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Template, TemplateError> {
        rmp_serde::from_slice::<Template>(bytes).map_err(TemplateError::Bytes)?.checked()
    }

    /// The form of the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        message_pack_of(self)
    }

    /// Template nodes of the key page.
    pub fn n_nodes(&self) -> usize {
        self.nodes.iter().filter(|node| !node.own).count()
    }

    /// Template text nodes of the key page.
    pub fn n_texts(&self) -> usize {
        self.nodes.iter().filter(|node| !node.own && node.tag == "#text").count()
    }

    /// The training pages, ready to label pages.
    pub fn training_set(&self) -> Option<TrainingSet> {
        self.training_set.as_ref().map(|stored| stored.load(&self.learn.site_model))
    }

    /// The tree to map to pages. Names are hashed as in the tree of a page; positions are those of the key page.
    pub fn tree(&self) -> ComparedTree {
        let (mut shape, mut fields, mut loose) = (Shape::default(), Fields::default(), LooseFields::default());
        let (mut sets, mut loose_sets) = (SetBuilder::default(), SetBuilder::default());
        for node in &self.nodes {
            let depth = shape.depth.get(node.parent as usize).map_or(0, |d: &u16| d.saturating_add(1));
            shape.depth.push(depth);
            shape.tag.push(hash_str(&node.tag));
            shape.parent.push(node.parent);
            shape.position.push(node.position);
            shape.n_children.push(node.n_children);
            fields.id.push(if node.id.is_empty() { 0 } else { hash_str(&node.id) });
            let hashes = |keeps: fn(&str) -> bool| -> Vec<u64> {
                node.classes.iter().filter(|c| keeps(c)).map(|c| hash_str(c)).collect()
            };
            fields.classes.push(sets.intern(&mut hashes(|_| true)));
            loose.classes.push(loose_sets.intern(&mut hashes(|c| !looks_generated(c))));
            let mut pairs: Vec<u64> = node.attrs.iter().map(|(name, value)| value.hash(hash_str(name))).collect();
            fields.attrs.push(sets.intern(&mut pairs));
            let mut names: Vec<u64> = node.attrs.iter().map(|(name, _)| hash_str(name)).collect();
            loose.attrs.push(loose_sets.intern(&mut names));
            fields.text.push(node.text_hash());
        }
        (fields.sets, loose.sets) = (sets.sets, loose_sets.sets);
        ComparedTree::new(shape, fields, loose)
    }
}

/// The template nodes of a key page and the elements around them.
fn outline_nodes(key: &Tree, is_template: &[bool]) -> impl Iterator<Item = usize> {
    let mut holds_template = is_template.to_vec();
    for node in key.counted().rev().filter(|n| *n > key.counted().start) {
        holds_template[key.shape.parent[node] as usize] |= holds_template[node];
    }
    key.counted().filter(move |node| holds_template[*node])
}
