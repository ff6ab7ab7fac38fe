//! What is kept of training pages, and when their nodes are mapped.

use serde::{Deserialize, Serialize};

/// What is kept of training pages, and when their nodes are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SiteModelOptions {
    /// Nodes whose subtrees differ are mapped when their equality probability is above this.
    pub threshold: f64,
    /// Nodes kept of a training page.
    pub max_nodes: usize,
    /// Children kept of one node of a training page, six of seven from the beginning of their list.
    pub max_children: usize,
    /// Child lists with more pairs are mapped by node signature, in linear time.
    pub max_pairs: usize,
    /// Names of one page that are remembered until a second page has them.
    pub max_names: usize,
    /// Pages kept beside the training pages of the search.
    pub extra_pages: usize,
    /// Document frequency: share of the training set, the page itself among it, above which a text is template.
    pub frequent_share: f64,
    /// Whether the blocks of a page, by which main content is chosen, are made when it becomes a training page. A
    /// program that keeps the bodies of pages can make them later. Without them, the page alone decides.
    #[serde(skip)]
    pub blocks_at_once: bool,
}

impl Default for SiteModelOptions {
    fn default() -> SiteModelOptions {
        SiteModelOptions {
            threshold: 0.35,
            max_nodes: 20_000,
            max_children: 350,
            max_pairs: 4096,
            max_names: 50_000,
            extra_pages: 8,
            frequent_share: 1.0 / 3.0,
            blocks_at_once: true,
        }
    }
}
