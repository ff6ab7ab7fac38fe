//! How the main region of a tag path sequence is searched for.

use serde::Serialize;

/// The search for the main region of a tag path sequence (Velloso and Dorneles 2013, Algorithm 3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TpsOptions {
    /// Which difference between the two sides of a cut is compared with the margin.
    pub gap: TpsGap,
    /// Which cut of a threshold is tried.
    pub search: TpsSearch,
    /// Difference between the sides, as a share of both, above which the larger one is kept.
    pub split_margin: f64,
    /// Whether the rest is kept when it has more text outside of links.
    pub complement: bool,
    /// Which regions are kept.
    pub keep: TpsKeep,
    /// Smallest share of the page that a region of the list must contain.
    pub min_region: f64,
    /// Number of cuts after which the search stops.
    pub max_splits: usize,
}

/// Which regions of a page are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TpsKeep {
    /// Only the main region, as in the paper.
    Main,
    /// All regions that are large enough and have text.
    List,
}

/// Which difference between the two sides of a cut is compared with the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TpsGap {
    /// |n - 2i| / n.
    Abs,
    /// (n - 2i) / n, as printed in the paper. It never keeps the left side.
    Paper,
}

/// Which cut of a threshold is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TpsSearch {
    /// The first one, as in the paper.
    First,
    /// The one with the most unequal sides.
    Best,
}

impl Default for TpsOptions {
    fn default() -> TpsOptions {
        TpsOptions {
            gap: TpsGap::Abs,
            search: TpsSearch::First,
            split_margin: 0.2,
            complement: true,
            keep: TpsKeep::List,
            min_region: 0.1,
            max_splits: 200,
        }
    }
}
