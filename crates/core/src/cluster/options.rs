//! How pages are clustered by layout.

/// How the pages of a mixed collection are clustered by layout (Gottron 2008, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterOptions {
    /// Features that are compared.
    pub by: ClusterBy,
    /// Tag names in a shingle.
    pub shingle: usize,
    /// Largest distance of two pages of one cluster; 0 = the paper's threshold for these features.
    pub distance: f64,
}

/// What a page is reduced to before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterBy {
    /// Tag paths from the root to the leaves.
    Cp,
    /// Shingles of these paths.
    Cps,
    /// Shingles of the tag sequence.
    Ctss,
}

/// How the method `gottron` finds the training set of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GottronOptions {
    /// Linked pages that are considered.
    pub candidates: usize,
    /// How the training set is clustered out of them.
    pub cluster: ClusterOptions,
}

impl ClusterOptions {
    /// The distance in force.
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
        GottronOptions { candidates: 40, cluster: ClusterOptions { by: ClusterBy::Cp, shingle: 4, distance: 0.0 } }
    }
}
