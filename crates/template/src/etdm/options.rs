//! Options of the tree mapping and its votes.

use serde::{Deserialize, Serialize};

use crate::equality_weights::EqualityWeights;

/// Exact top-down mapping and its votes (thesis, sections 3.3 and 3.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "EtdmOptions::thesis2014")]
pub struct EtdmOptions {
    /// Votes required for a template node (t in the thesis); 0 = a majority of the voters.
    pub min_votes: usize,
    /// A page that maps to this share of the key page is nearly its copy, and would vote for what is its own: it raises
    /// the votes that are required by one (HybEx; the thesis has no such rule). 0 = no page does.
    pub near_complete: f64,
    /// Weights and default scores of the equality probability.
    pub weights: EqualityWeights,
    /// Which parts of an attribute are compared.
    pub attr_mode: AttrMode,
    /// How child lists are mapped.
    pub child_map: ChildMap,
    /// Whether the mapping of children preserves their order.
    pub keep_order: bool,
    /// When two text nodes match.
    pub text: NodeText,
    /// Whether class tokens that look generated are left out of the comparison.
    pub ignore_generated: bool,
    /// Child lists whose product of lengths is larger are first anchored on unique equal nodes.
    pub large_pairs: usize,
    /// Minimum confidence: share of the template that a page must contain for the template to be applied.
    pub min_confidence: f64,
}

/// Which parts of an attribute are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttrMode {
    /// Name and value.
    NameValue,
    /// Name only (thesis, definition 3.2.1).
    Name,
}

/// How the children of two mapped nodes are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildMap {
    /// Best pair first (thesis, definition 3.3.1).
    Greedy,
    /// The heaviest order-preserving matching.
    Dp,
}

/// When two text nodes match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeText {
    /// If their words are equal.
    Equal,
    /// By structure, as elements do (the thesis).
    Structural,
}

impl EtdmOptions {
    /// The parameters of the thesis.
    pub fn thesis2014() -> EtdmOptions {
        EtdmOptions {
            min_votes: 2,
            near_complete: 0.0,
            weights: EqualityWeights::THESIS2014,
            attr_mode: AttrMode::Name,
            child_map: ChildMap::Greedy,
            keep_order: true,
            text: NodeText::Structural,
            ignore_generated: false,
            large_pairs: 250_000,
            min_confidence: 0.15,
        }
    }

    /// The parameters of the authors' later tool HybEx.
    pub fn hybex2020() -> EtdmOptions {
        EtdmOptions {
            weights: EqualityWeights {
                class: 0.1,
                attributes: 0.0,
                children: 0.5,
                position: 0.4,
                no_class: 1.0,
                no_attributes: 0.75,
                no_children: 1.0,
                threshold: 0.9,
                threshold_inclusive: true,
                exact_wins: true,
            },
            near_complete: NEAR_COMPLETE,
            attr_mode: AttrMode::NameValue,
            keep_order: false,
            ..EtdmOptions::thesis2014()
        }
    }
}

/// Share of the key page from which on HybEx takes a page for its copy; there it is the whole page.
const NEAR_COMPLETE: f64 = 0.98;

/// The best parameters on the dev sites (docs/lab/2026-11-26-preset-votes-sweep.md). They differ from the thesis in six
/// points: the majority decides, copies of the key page raise the majority, values of attributes are compared, class
/// tokens that look generated are ignored, texts must be equal, and the threshold is lower.
impl Default for EtdmOptions {
    fn default() -> EtdmOptions {
        EtdmOptions {
            min_votes: 0,
            near_complete: NEAR_COMPLETE,
            attr_mode: AttrMode::NameValue,
            weights: EqualityWeights { threshold: 0.45, ..EqualityWeights::THESIS2014 },
            text: NodeText::Equal,
            ignore_generated: true,
            ..EtdmOptions::thesis2014()
        }
    }
}
