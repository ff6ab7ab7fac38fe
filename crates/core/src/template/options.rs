//! How two trees are mapped, and how many votes make a node template.

use serde::{Deserialize, Serialize};

use crate::equality_weights::EqualityWeights;

/// Exact top-down mapping and its votes (thesis, sections 2.4 and 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "EtdmOptions::thesis2014")]
pub struct EtdmOptions {
    /// Votes that make a node template (t in the thesis); 0 = the majority of the voters.
    pub min_votes: usize,
    /// Weights and default scores of the equality probability.
    pub weights: EqualityWeights,
    /// What is compared of an attribute.
    pub attr_mode: AttrMode,
    /// How child lists are mapped.
    pub child_map: ChildMap,
    /// Whether mapped children keep the order of their lists.
    pub keep_order: bool,
    /// When two text nodes match.
    pub text: NodeText,
    /// Whether class tokens and ids that look generated are left out of the comparison.
    pub ignore_generated: bool,
    /// Child lists whose product of lengths is larger are anchored on unique equal nodes first.
    pub large_pairs: usize,
    /// Share of a template that a page must show for the template to be applied.
    pub min_confidence: f64,
}

/// What is compared of an attribute.
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
    /// When their words are the same.
    Equal,
    /// By position, as elements do (the thesis).
    Structural,
}

impl EtdmOptions {
    /// The parameters of the thesis.
    pub fn thesis2014() -> EtdmOptions {
        EtdmOptions {
            min_votes: 2,
            weights: EqualityWeights::THESIS,
            attr_mode: AttrMode::NameValue,
            child_map: ChildMap::Greedy,
            keep_order: true,
            text: NodeText::Structural,
            ignore_generated: false,
            large_pairs: 250_000,
            min_confidence: 0.15,
        }
    }

    /// The later tuning in the authors' HybEx.
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
            keep_order: false,
            ..EtdmOptions::thesis2014()
        }
    }
}

/// Measured best on the dev sites (docs/measurements.md). Differs from the thesis in four points: the majority decides,
/// names that look generated are left out, the words of a text node must be equal, and the threshold is lower.
impl Default for EtdmOptions {
    fn default() -> EtdmOptions {
        EtdmOptions {
            min_votes: 0,
            weights: EqualityWeights { threshold: 0.45, ..EqualityWeights::THESIS },
            text: NodeText::Equal,
            ignore_generated: true,
            ..EtdmOptions::thesis2014()
        }
    }
}
