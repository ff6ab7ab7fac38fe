//! Counters of a crawl and its summary.

use std::collections::BTreeMap;
use std::time::Duration;

use dehusk_template::template::Template;
use serde::Serialize;

use dehusk_store::reason::ReasonCode;
use dehusk_store::revisit::Change;
use dehusk_store::{Changes, SiteOutcome};

/// How far a crawl is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Sites asked for, without repeats.
    pub sites: usize,
    /// Seeds that were named before.
    pub repeated_seeds: usize,
    /// Seeds of those sites beside their key pages.
    pub queued: usize,
    /// Sites that an earlier part of the run had ended.
    pub ended_before: usize,
    /// Those of them that failed.
    pub failed_before: usize,
    /// Sites with a new template.
    pub learned: usize,
    /// Those of them whose stored template did not fit any more; a restart forgets which.
    pub redesigned: usize,
    /// Sites whose stored template still fits.
    pub kept: usize,
    /// Sites whose links were followed, without a template.
    pub walked: usize,
    /// Sites of which nothing was due.
    pub not_due: usize,
    /// Sites whose pages show no template; each page was cleaned by itself.
    pub no_template: usize,
    /// Sites without.
    pub failed: usize,
    /// Sites stopped in the middle.
    pub interrupted: usize,
    /// Sites whose redirect led to a site that is worked on under its own name.
    pub moved: usize,
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
    /// Answers that look like no pages of their site, by the code of the reason. None is stored over a page.
    pub withheld: BTreeMap<&'static str, usize>,
    /// Pages that were rendered in a browser.
    pub rendered: usize,
    /// Pages that robots.txt forbids.
    pub forbidden: usize,
    /// Pages not asked for because robots.txt could not be had, or asks for too long a delay.
    pub without_rules: usize,
    /// Requests sent again after a failure.
    pub retries: usize,
    /// Times a domain was put off after 429, 503 or a failed connection.
    pub back_offs: usize,
    /// Domains left alone after too many failed connections.
    pub parked: usize,
    /// Links not followed, by reason.
    pub refused: BTreeMap<&'static str, usize>,
    /// Pages never seen before.
    pub new: usize,
    /// Known pages whose text differs.
    pub changed: usize,
    /// Known pages of which something else differs.
    pub same_text: usize,
    /// Known pages whose text differs because the model of their site does.
    pub recleaned: usize,
    /// Known pages that are as they were.
    pub unchanged: usize,
    /// Known pages that are no more.
    pub gone: usize,
    /// Known pages that redirect to another URL by now.
    pub pages_moved: usize,
    /// Known pages that robots.txt forbids by now.
    pub blocked: usize,
    /// Known pages that could not be had, and could before.
    pub pages_failed: usize,
    /// Pages that were gone, moved, blocked or failed, and are there again.
    pub returned: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Requests that are out.
    pub in_flight: usize,
    /// Bytes of pages and trees in memory, roughly.
    pub held_bytes: usize,
}

/// How one site ended.
#[derive(Clone, Debug, Serialize)]
pub struct SiteSummary {
    /// Host.
    pub host: String,
    /// `learned`, `kept`, `not_due`, `no_template`, `failed` or `interrupted`.
    pub outcome: &'static str,
    /// Why it failed.
    pub reason: Option<String>,
    /// Code of that reason.
    pub reason_code: Option<ReasonCode>,
    /// The budget that ended it before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<ReasonCode>,
    /// Share of the stored template that the key page showed, where that was too little to keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_template_coverage: Option<f64>,
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
    /// Number of the run.
    pub run: i64,
    /// Was it begun before and taken up again?
    pub was_resumed: bool,
    /// Counters.
    pub stats: Stats,
    /// Was it stopped by a signal?
    pub was_interrupted: bool,
    /// The budget that ended the run before its time; the same command resumes it.
    pub limit: Option<ReasonCode>,
    /// Wall time.
    pub seconds: f64,
}

impl Stats {
    /// Sites that ended.
    pub fn ended(&self) -> usize {
        self.ended_before
            + self.learned
            + self.kept
            + self.walked
            + self.not_due
            + self.no_template
            + self.failed
            + self.interrupted
            + self.moved
    }

    /// Known pages that were not there.
    pub fn away(&self) -> usize {
        self.gone + self.pages_moved + self.blocked + self.pages_failed
    }

    pub(super) fn read_changes(&mut self, changes: &Changes) {
        self.new = changes.count(Change::New);
        self.changed = changes.count(Change::Changed);
        self.same_text = changes.count(Change::SameText);
        self.recleaned = changes.count(Change::Recleaned);
        self.unchanged = changes.count(Change::Unchanged);
        self.gone = changes.count(Change::Gone);
        self.pages_moved = changes.count(Change::Moved);
        self.blocked = changes.count(Change::Blocked);
        self.pages_failed = changes.count(Change::Failed);
        self.returned = changes.count(Change::Returned);
    }

    pub(super) fn count_outcome(&mut self, outcome: &SiteOutcome) {
        match outcome {
            SiteOutcome::Learned => self.learned += 1,
            SiteOutcome::Kept => self.kept += 1,
            SiteOutcome::Walked => self.walked += 1,
            SiteOutcome::NotDue => self.not_due += 1,
            SiteOutcome::NoTemplate(_) => self.no_template += 1,
            SiteOutcome::Failed(_) => self.failed += 1,
            SiteOutcome::Interrupted => self.interrupted += 1,
            SiteOutcome::Moved => self.moved += 1,
        }
    }
}

impl SiteSummary {
    pub(super) fn new(host: &str) -> SiteSummary {
        SiteSummary {
            host: host.to_owned(),
            outcome: "interrupted",
            reason: None,
            reason_code: None,
            limit: None,
            old_template_coverage: None,
            pages: 0,
            requests: 0,
            links: 0,
            loads: 0,
            voters: 0,
            template_nodes: 0,
            key_nodes: 0,
            cleaned: 0,
            seconds: 0.0,
        }
    }

    pub(super) fn set_template(&mut self, template: &Template) {
        self.voters = template.n_voters;
        self.template_nodes = template.n_nodes();
        self.key_nodes = template.key_nodes;
    }

    pub(super) fn end(&mut self, outcome: &SiteOutcome, took: Duration) {
        let (outcome, reason) = outcome.words();
        self.outcome = outcome;
        self.reason = reason.map(|reason| reason.text.clone());
        self.reason_code = reason.map(|reason| reason.code);
        self.seconds = took.as_secs_f64();
    }
}
