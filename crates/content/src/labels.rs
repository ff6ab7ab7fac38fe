//! Which nodes of a page are template: the one result of every method.

use dehusk_html::{NodeId, Tree, normalized, text_digest, write_text};

/// Which nodes of a page are template.
///
/// Labels belong to the tree they were made for. Every method that takes a tree expects that one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Whether a node is template, by node number; false outside the body.
    pub is_template: Vec<bool>,
    /// Training pages that have the node, by node number; empty for methods that count none.
    pub support: Vec<u16>,
    /// How much the method trusts the labels, from 0 to 1. Each method says what it measures.
    pub confidence: f64,
    /// Number of the URL of the training page whose template the page shows most of, where a site model has labeled it.
    pub nearest: Option<u64>,
}

impl Labels {
    /// Labels without confidence and support.
    pub fn new(is_template: Vec<bool>) -> Labels {
        Labels { is_template, ..Labels::default() }
    }

    /// Nothing on the page is template.
    pub fn none(page: &Tree) -> Labels {
        Labels::new(vec![false; page.len()])
    }

    /// The same labels with another confidence.
    pub fn with_confidence(self, confidence: f64) -> Labels {
        Labels { confidence, ..self }
    }

    /// Labels of the counted nodes as labels of all nodes of their tree.
    pub fn shifted(self, tree: &Tree) -> Labels {
        let counted = tree.counted();
        let (is_template, support) = (vec![false; tree.len()], vec![0; tree.len()]);
        let mut all = Labels { is_template, support, confidence: self.confidence, nearest: self.nearest };
        all.is_template[counted.clone()].copy_from_slice(&self.is_template);
        all.support[counted].copy_from_slice(&self.support);
        all
    }

    /// Whether a node is template; false for a node outside the labeled tree.
    pub fn is_template(&self, node: NodeId) -> bool {
        self.is_template.get(node.index()).copied().unwrap_or(false)
    }

    /// The page's own text, for readers: one line a block.
    pub fn text(&self, page: &Tree) -> String {
        write_text(page, |node| !self.is_template(node))
    }

    /// The page's own text nodes, joined by blanks: the form of the gold standards, which know no inline elements.
    pub fn text_nodes(&self, page: &Tree) -> String {
        let own = page.counted().map(NodeId::new).filter(|node| page.is_text(*node) && !self.is_template(*node));
        own.map(|node| normalized(page.text(node))).collect::<Vec<_>>().join(" ")
    }

    /// Digest of the page's own text.
    pub fn text_digest(&self, page: &Tree) -> u64 {
        text_digest(page, |node| !self.is_template(node))
    }

    /// Whether a node is the page's own, for what writes the page.
    pub fn is_own(&self) -> impl Fn(NodeId) -> bool + '_ {
        |node| !self.is_template(node)
    }

    /// Run lengths of the labels of the counted nodes: `T3N2` is three template nodes and two others.
    pub fn run_lengths(&self, page: &Tree) -> String {
        let labels: Vec<bool> = page.counted().map(|node| self.is_template(NodeId::new(node))).collect();
        labels.chunk_by(|a, b| a == b).map(|run| format!("{}{}", if run[0] { 'T' } else { 'N' }, run.len())).collect()
    }
}
