//! Parameters of clustering by structure and of cleaning.

/// How the pages of a pile are put together by layout (Gottron 2008, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// Features that are compared.
    pub by: ClusterBy,
    /// Names in a shingle.
    pub shingle: usize,
    /// Pages at most so far apart are together; 0 = the paper's for these features.
    pub distance: f64,
}

/// How the method `gottron` finds the training set of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gottron {
    /// Linked pages that it is taken from.
    pub candidates: usize,
    /// What its pages have in common.
    pub cluster: Cluster,
}

/// What a page is reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterBy {
    /// Tag paths from the root to the leaves.
    Cp,
    /// Shingles of these paths.
    Cps,
    /// Shingles of the tag sequence.
    Ctss,
}

impl Cluster {
    /// The distance that is meant.
    pub fn most(&self) -> f64 {
        match self.by {
            _ if self.distance > 0.0 => self.distance,
            ClusterBy::Cp => 0.7,
            ClusterBy::Cps => 0.6,
            ClusterBy::Ctss => 0.85,
        }
    }
}

impl Default for Cluster {
    fn default() -> Cluster {
        super::Settings::default().cluster
    }
}

/// What is kept of a page, and how far its site is trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clean {
    /// What is kept.
    pub keep: KeepText,
    /// Share of the template below which a page is strange to its witnesses.
    pub doubt: f64,
    /// What labels a page of whose site nothing is known.
    pub alone: Alone,
    /// How the method `tps` finds the main region.
    pub tps: Tps,
}

/// The search for the main region of a tag path sequence (Velloso and Dorneles 2013, Algorithm 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tps {
    /// When one side of a cut is enough larger than the other.
    pub gap: TpsGap,
    /// Which cut of a threshold is tried.
    pub search: TpsSearch,
    /// Difference of the sides, as a share of both, above which the larger one is kept.
    pub split_margin: f64,
    /// Is the rest kept when it has more text outside of links?
    pub complement: bool,
    /// Which regions are kept.
    pub keep: TpsKeep,
    /// Share of the page that a region of the list holds at least.
    pub least_region: f64,
    /// Cuts after which the search ends.
    pub max_splits: usize,
}

/// Which regions of a page are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpsKeep {
    /// The main one: the paper.
    Main,
    /// All that are large enough.
    List,
}

/// What is compared with the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpsGap {
    /// |n - 2i| / n.
    Abs,
    /// (n - 2i) / n, as printed: a left side is never kept.
    Paper,
}

/// Which cut of a threshold is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpsSearch {
    /// The first: the paper.
    First,
    /// The one with the most unequal sides.
    Best,
}

/// What is kept of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepText {
    /// All that is no template.
    Own,
    /// Of that, the main text.
    Main,
}

/// What labels a page by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// Length, links, prose and place of its blocks.
    Density,
    /// Nothing: the whole page is kept.
    Plain,
}

impl Default for Clean {
    fn default() -> Clean {
        super::Settings::default().clean
    }
}
