//! The figures of an evaluation.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use dehusk_template::method::Method;

use super::{Cost, Learning};
use dehusk_papers::scores::{NodeCounts, Score, WordScore};

/// Figures of one site.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SiteRow {
    /// Site.
    pub site: String,
    /// How its template was learned.
    pub learning: Learning,
    /// Node score of the key page.
    pub key: Option<Score>,
    /// What that score is made of.
    pub key_counts: Option<NodeCounts>,
    /// Labels of the key page.
    pub key_labels: String,
    /// Node scores of all labeled pages.
    #[serde(skip)]
    pub nodes: Vec<Score>,
    /// Main-content scores of the pages that have main-content gold.
    #[serde(skip)]
    pub words: Vec<WordScore>,
    /// Number of pages whose node count differs from that of the gold.
    pub other_node_count: usize,
    /// Elapsed time.
    #[serde(skip)]
    pub cost: Cost,
}

/// Figures of a corpus.
#[derive(Clone, Debug)]
pub struct Report {
    /// Method.
    pub method: Method,
    /// One row per site.
    pub sites: Vec<SiteRow>,
    /// Clustering of a mixed collection, for site methods.
    pub clusters: Option<Clusters>,
}

/// A clustering, measured against the sites of its pages.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Clusters {
    /// Number of clusters.
    pub n: usize,
    /// Number of clusters of one page.
    pub alone: usize,
    /// Rand index against the sites.
    pub rand: f64,
    /// Dunn index of the sites.
    pub dunn: Option<f64>,
    /// Time for features and linkage.
    #[serde(skip)]
    pub took: Duration,
}

impl SiteRow {
    /// Mean node score of the labeled pages.
    pub fn node_mean(&self) -> Score {
        Score::mean(&self.nodes)
    }

    /// Mean main-content score.
    pub fn word_mean(&self) -> Score {
        let scores: Vec<Score> = self.words.iter().map(|w| w.bag).collect();
        Score::mean(&scores)
    }
}

impl Report {
    pub(super) fn new(method: Method) -> Report {
        Report { method, sites: Vec::new(), clusters: None }
    }

    /// Node score of the key pages: mean over the sites whose key page has the nodes of its gold.
    pub fn key(&self) -> Score {
        let scores: Vec<Score> = self.sites.iter().filter_map(|s| s.key).collect();
        Score::mean(&scores)
    }

    /// Node score of all labeled pages: mean over the pages of a site, then over the sites that have such pages.
    pub fn nodes(&self) -> Score {
        let scores: Vec<Score> = self.sites.iter().filter(|s| !s.nodes.is_empty()).map(SiteRow::node_mean).collect();
        Score::mean(&scores)
    }

    /// Multiset word score: mean over pages.
    pub fn bag(&self) -> Score {
        let scores: Vec<Score> = self.sites.iter().flat_map(|s| &s.words).map(|w| w.bag).collect();
        Score::mean(&scores)
    }

    /// Common-subsequence word score: mean over pages.
    pub fn lcs(&self) -> Score {
        let scores: Vec<Score> = self.sites.iter().flat_map(|s| &s.words).map(|w| w.lcs).collect();
        Score::mean(&scores)
    }

    /// Number of sites. With each page as the key page in turn, a site has many rows.
    pub fn n_sites(&self) -> usize {
        self.sites.iter().map(|s| &s.site).collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Number of pages with main-content gold.
    pub fn n_word_pages(&self) -> usize {
        self.sites.iter().map(|s| s.words.len()).sum()
    }

    /// Number of labeled pages with node gold.
    pub fn n_node_pages(&self) -> usize {
        self.sites.iter().map(|s| s.nodes.len()).sum()
    }

    /// Mean of a figure over sites.
    pub fn site_mean(&self, figure: impl Fn(&SiteRow) -> f64) -> f64 {
        // The sum of nothing is -0.
        (0.0 + self.sites.iter().map(figure).sum::<f64>()) / self.sites.len().max(1) as f64
    }

    /// Median and maximum of a figure over sites.
    pub fn median_and_worst(&self, figure: impl Fn(&SiteRow) -> f64) -> (f64, f64) {
        let mut all: Vec<f64> = self.sites.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        let median = all.get(all.len() / 2).copied().unwrap_or_default();
        (median, all.last().copied().unwrap_or_default())
    }

    /// Mean time to clean a page in milliseconds, parsing included.
    pub fn clean_ms(&self) -> f64 {
        let n: usize = self.sites.iter().map(|s| s.cost.n_cleaned).sum();
        let total: f64 = self.sites.iter().map(|s| s.cost.clean.as_secs_f64()).sum();
        total * 1000.0 / n.max(1) as f64
    }

    /// Mean time to label a parsed page in milliseconds.
    pub fn label_ms(&self) -> f64 {
        let n: usize = self.sites.iter().map(|s| s.cost.n_cleaned).sum();
        let total: f64 = self.sites.iter().map(|s| s.cost.label.as_secs_f64()).sum();
        total * 1000.0 / n.max(1) as f64
    }

    /// The report as JSON. Keys are never removed; new ones may be added.
    pub fn to_json(&self) -> Value {
        let (learn_median, learn_worst) = self.median_and_worst(|s| s.cost.learn.as_secs_f64() * 1000.0);
        let sites: Vec<Value> = self
            .sites
            .iter()
            .map(|s| {
                json!({
                    "site": s.site, "learning": s.learning, "key": s.key, "key_counts": s.key_counts, "key_labels": s.key_labels,
                    "nodes": s.node_mean(), "bag": s.word_mean(), "pages": s.nodes.len(),
                    "other_node_count": s.other_node_count,
                    "learn_ms": s.cost.learn.as_secs_f64() * 1000.0, "vote_ms": s.cost.vote.as_secs_f64() * 1000.0,
                })
            })
            .collect();
        json!({
            "schema": 1, "method": self.method, "n_sites": self.n_sites(),
            "key": self.sites.iter().any(|s| s.key.is_some()).then(|| self.key()),
            "nodes": (self.n_node_pages() > 0).then(|| self.nodes()), "node_pages": self.n_node_pages(),
            "bag": (self.n_word_pages() > 0).then(|| self.bag()), "lcs": (self.n_word_pages() > 0).then(|| self.lcs()),
            "word_pages": self.n_word_pages(),
            "loads": self.site_mean(|s| s.learning.loads as f64),
            "requests": self.site_mean(|s| s.learning.requests as f64),
            "learn_ms_median": learn_median, "learn_ms_worst": learn_worst, "clean_ms": self.clean_ms(), "label_ms": self.label_ms(),
            "clusters": self.clusters, "sites": sites,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_whose_gold_counts_other_nodes_is_in_no_mean_of_nodes() {
        let half = Score { precision: 0.5, recall: 0.5, f1: 0.5 };
        let scored = SiteRow { key: Some(half), nodes: vec![half, half], ..SiteRow::default() };
        let other = SiteRow { other_node_count: 2, ..SiteRow::default() };
        let report = Report { sites: vec![scored, other], ..Report::new(Method::SiteModel) };
        assert_eq!((report.key(), report.nodes()), (half, half));
        let nothing = Report::new(Method::SiteModel);
        assert_eq!(nothing.key().f1, 0.0);
    }
}
