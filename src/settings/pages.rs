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
