//! Weights of the equality probability of two nodes.

use serde::{Deserialize, Serialize};

/// Weights of the equality probability (thesis, definition 3.2.2).
///
/// | symbol | field |
/// |---|---|
/// | wc, wp, wa, wch | `class`, `position`, `attributes`, `children` |
/// | Pnc, Pna, Pnch | `no_class`, `no_attributes`, `no_children` |
/// | Pt | `threshold` |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "EqualityWeights::thesis2014")]
pub struct EqualityWeights {
    /// Weight of the class overlap.
    pub class: f64,
    /// Weight of the attribute overlap.
    pub attributes: f64,
    /// Weight of the ratio of child counts.
    pub children: f64,
    /// Weight of the position.
    pub position: f64,
    /// Class overlap of two nodes without classes.
    pub no_class: f64,
    /// Attribute overlap of two nodes without attributes.
    pub no_attributes: f64,
    /// Child ratio of two nodes without children.
    pub no_children: f64,
    /// Two nodes can be mapped when their probability is above this.
    pub threshold: f64,
    /// Whether a probability equal to the threshold is enough.
    pub threshold_inclusive: bool,
    /// Whether equal classes and equal attributes give probability 1 (HybEx's shortcut).
    pub exact_wins: bool,
}

impl EqualityWeights {
    /// The weights of the thesis (section 5.2.3).
    pub const THESIS2014: EqualityWeights = EqualityWeights {
        class: 0.5,
        attributes: 0.2,
        children: 0.1,
        position: 0.2,
        no_class: 0.99,
        no_attributes: 0.25,
        no_children: 1.0,
        threshold: 0.70,
        threshold_inclusive: false,
        exact_wins: false,
    };

    fn thesis2014() -> EqualityWeights {
        EqualityWeights::THESIS2014
    }
}
