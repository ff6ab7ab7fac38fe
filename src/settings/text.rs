//! Parameters of TEXT clustering.

/// How pages are put together by their paths (Kim and Shim 2011).
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Which of the three.
    pub method: TextMethod,
    /// Places of a signature.
    pub signature: usize,
    /// Pages that an essential path is in at least; 1 = the paper.
    pub min_support: u32,
    /// Share of the pages above which a path does not decide what is essential; 1 = the paper.
    pub universal: f64,
    /// Clusters with the same rank at a place that are looked at.
    pub bucket: usize,
}

/// How the pair to be merged is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextMethod {
    /// By the cost of all pairs.
    Mdl,
    /// By the estimated cost of all pairs.
    Hash,
    /// By the estimated cost of the pairs that share the most.
    Max,
}
