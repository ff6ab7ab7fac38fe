//! How the training pages of a site are searched for.

use serde::{Deserialize, Serialize};

/// How the training pages of a site are searched for (thesis, section 2.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "SearchOptions::thesis2014")]
pub struct SearchOptions {
    /// How training pages are chosen.
    pub mode: SubdigraphMode,
    /// Size of the complete subdigraph, or number of training pages without one.
    pub n: usize,
    /// Most pages loaded for one site.
    pub max_loads: usize,
    /// Most requests for one site, failed ones included.
    pub max_requests: usize,
    /// The search ends when so many pages in a row changed at most 1 % of the labels of the key page; 0 = never.
    pub stop_after: usize,
}

/// Which pages are training pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubdigraphMode {
    /// Pages that all link to each other (thesis, Algorithm 2).
    Complete,
    /// The first usable ones in link order.
    First,
}

impl SearchOptions {
    /// The parameters of the thesis.
    pub fn thesis2014() -> SearchOptions {
        SearchOptions { mode: SubdigraphMode::Complete, n: 3, max_loads: 24, max_requests: 48, stop_after: 0 }
    }
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { mode: SubdigraphMode::First, n: 8, max_loads: 8, ..SearchOptions::thesis2014() }
    }
}
