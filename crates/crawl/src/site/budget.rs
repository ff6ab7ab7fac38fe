//! What a site may spend in a run, and what it has spent.

use std::time::Duration;

use super::{Command, Context, SiteCrawl, SiteLearner, TrainingMemory, Work};
use dehusk_settings::Budget;
use dehusk_store::reason::{Reason, ReasonCode};

/// What a site has spent. Requests are counted by the site itself, for its summary.
#[derive(Default)]
pub(super) struct Spent {
    pub(super) bytes: usize,
    /// Requests in a row that gave no page.
    pub(super) failures: usize,
    /// Unix milliseconds.
    pub(super) since: i64,
    /// The budget that has ended the site before its time.
    pub(super) limit: Option<Reason>,
}

impl SiteCrawl {
    /// The budget that is used up, if one is.
    pub(crate) fn exhausted(&self, cx: &Context<'_>) -> Option<Reason> {
        let Budget { max_requests, max_failures, max_bytes, max_seconds } = cx.tools.settings.crawl.site;
        let took = Duration::from_millis(cx.now.saturating_sub(self.spent.since).max(0) as u64);
        let reason = |code, key: &str, limit: String| Some(Reason::new(code, format!("crawl.site.{key} = {limit}")));
        if max_requests > 0 && self.n_requests >= max_requests {
            return reason(ReasonCode::SiteMaxRequests, "max_requests", max_requests.to_string());
        }
        if max_failures > 0 && self.spent.failures >= max_failures {
            return reason(ReasonCode::SiteMaxFailures, "max_failures", max_failures.to_string());
        }
        if max_bytes > 0 && self.spent.bytes >= max_bytes {
            return reason(ReasonCode::SiteMaxBytes, "max_bytes", max_bytes.to_string());
        }
        if !max_seconds.is_zero() && took >= max_seconds {
            return reason(ReasonCode::SiteMaxSeconds, "max_seconds", max_seconds.as_secs_f64().to_string());
        }
        None
    }

    /// Learns the site from the training pages that are there.
    pub(super) fn stop_learning(&mut self, learner: Box<SiteLearner>, limit: Reason, out: &mut Vec<Command>) {
        self.spent.limit = Some(limit);
        self.compute(Work::Learn(learner, None, TrainingMemory { is_short: false, is_last: true }), out);
    }
}
