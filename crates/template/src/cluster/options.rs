//! How pages are clustered by layout.

use serde::{Deserialize, Serialize};

/// How the pages of a mixed collection are clustered by layout (Gottron 2008, sections 4 and 5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterOptions {
    /// Features that are compared.
    pub by: ClusterBy,
    /// Number of tag names in a shingle.
    pub shingle: usize,
    /// Largest distance of two pages that are linked; 0 = the paper's threshold for these features.
    pub distance: f64,
}

/// What a page is reduced to before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterBy {
    /// Tag paths from the root to the leaves.
    Cp,
    /// Shingles of the tag paths from the root to the leaves.
    Cps,
    /// Shingles of the tag sequence.
    Ctss,
}

/// How the method `gottron` finds the training set of a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GottronOptions {
    /// Number of linked pages that are considered; 0 = all (the paper), up to the largest search.
    pub candidates: usize,
    /// How the considered pages are clustered.
    pub cluster: ClusterOptions,
}

impl ClusterOptions {
    /// The distance in effect: the setting, or the paper's threshold.
    pub fn max_distance(&self) -> f64 {
        match self.by {
            _ if self.distance > 0.0 => self.distance,
            ClusterBy::Cp => 0.7,
            ClusterBy::Cps => 0.6,
            ClusterBy::Ctss => 0.85,
        }
    }
}

impl Default for ClusterOptions {
    fn default() -> ClusterOptions {
        ClusterOptions { by: ClusterBy::Cps, shingle: 4, distance: 0.3 }
    }
}

impl Default for GottronOptions {
    fn default() -> GottronOptions {
        GottronOptions { candidates: 0, cluster: ClusterOptions { by: ClusterBy::Cp, shingle: 4, distance: 0.0 } }
    }
}
