//! Counters of a crawl and its summary.

use std::time::Duration;

use serde::Serialize;

use crate::store::SiteEnd;

/// How far a crawl is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Sites asked for, without repeats.
    pub sites: usize,
    /// Seeds left out because their host came before.
    pub repeated_seeds: usize,
    /// Sites with a template.
    pub learned: usize,
    /// Sites without.
    pub failed: usize,
    /// Sites stopped in the middle.
    pub interrupted: usize,
    /// Sites being worked on.
    pub active: usize,
    /// Requests sent, robots.txt included.
    pub requests: usize,
    /// Pages fetched.
    pub pages: usize,
    /// Body bytes received, as sent.
    pub bytes: u64,
    /// Requests that gave no page.
    pub errors: usize,
    /// Pages that robots.txt forbids.
    pub forbidden: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Requests that are out.
    pub in_flight: usize,
}

/// How one site ended.
#[derive(Clone, Debug, Serialize)]
pub struct SiteSummary {
    /// Host.
    pub host: String,
    /// `learned`, `failed` or `interrupted`.
    pub outcome: &'static str,
    /// Why it failed.
    pub reason: Option<String>,
    /// Pages fetched.
    pub pages: usize,
    /// Requests sent for it.
    pub requests: usize,
    /// Links of the key page.
    pub links: usize,
    /// Pages loaded for the template.
    pub loads: usize,
    /// Pages that voted.
    pub voters: usize,
    /// Template nodes.
    pub template_nodes: usize,
    /// Nodes of the key page.
    pub key_nodes: usize,
    /// Pages that the template fits.
    pub cleaned: usize,
    /// From the first request to the last.
    pub seconds: f64,
}

/// What a crawl tells while it runs.
pub enum Progress<'a> {
    /// Something changed.
    Tick(&'a Stats),
    /// A site ended.
    Site(&'a SiteSummary, &'a Stats),
}

/// The whole crawl.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Counters.
    pub stats: Stats,
    /// Was it stopped?
    pub was_interrupted: bool,
    /// Wall time.
    pub seconds: f64,
}

impl Stats {
    /// Sites that ended.
    pub fn ended(&self) -> usize {
        self.learned + self.failed + self.interrupted
    }

    pub(super) fn count_end(&mut self, end: &SiteEnd) {
        match end {
            SiteEnd::Learned => self.learned += 1,
            SiteEnd::Failed(_) => self.failed += 1,
            SiteEnd::Interrupted => self.interrupted += 1,
        }
    }
}

impl SiteSummary {
    pub(super) fn new(host: &str, end: &SiteEnd, took: Duration) -> SiteSummary {
        let (outcome, reason) = match end {
            SiteEnd::Learned => ("learned", None),
            SiteEnd::Failed(reason) => ("failed", Some(reason.clone())),
            SiteEnd::Interrupted => ("interrupted", None),
        };
        SiteSummary {
            host: host.to_owned(),
            outcome,
            reason,
            pages: 0,
            requests: 0,
            links: 0,
            loads: 0,
            voters: 0,
            template_nodes: 0,
            key_nodes: 0,
            cleaned: 0,
            seconds: took.as_secs_f64(),
        }
    }
}
