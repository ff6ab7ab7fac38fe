//! Options of the search for the training pages of a site.

use serde::{Deserialize, Serialize};

/// Options of the search for the training pages of a site (thesis, section 2.2.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "SearchOptions::thesis2014")]
pub struct SearchOptions {
    /// How training pages are chosen.
    pub mode: SubdigraphMode,
    /// Size of the complete subdigraph in mode `Complete`; number of training pages in mode `First`.
    pub n: usize,
    /// Maximum number of pages loaded for one site.
    pub max_loads: usize,
    /// Maximum number of requests for one site, including failed ones.
    pub max_requests: usize,
    /// The search ends after this many consecutive pages that change at most 1 % of the key page labels; 0 = never.
    pub stop_after: usize,
    /// Share of tag paths that a page must have in common with the key page (Gottron 2008, CP). Another link is tried
    /// for a page with less, and it is used only if there is none. 0 = every page, as in the thesis.
    pub min_similarity: f64,
}

/// Which pages are training pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubdigraphMode {
    /// Pages that all link to each other (thesis, Algorithm 2).
    Complete,
    /// The first usable pages in link order.
    First,
}

impl SearchOptions {
    /// The parameters of the thesis.
    pub fn thesis2014() -> SearchOptions {
        SearchOptions {
            mode: SubdigraphMode::Complete,
            n: 3,
            max_loads: 24,
            max_requests: 48,
            stop_after: 0,
            min_similarity: 0.0,
        }
    }
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { mode: SubdigraphMode::First, n: 8, max_loads: 8, ..SearchOptions::thesis2014() }
    }
}
