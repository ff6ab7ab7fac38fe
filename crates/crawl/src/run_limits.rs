//! What ends a run before its time: its budget, or a shortage of this machine.

use std::time::Duration;

use dehusk_settings::Budget;
use dehusk_store::reason::{Reason, ReasonCode};

use super::stats::Stats;

/// The limits of a run.
pub(super) struct RunLimits {
    budget: Budget,
    /// Requests in a row without an answer.
    n_unanswered: usize,
    /// The budget that is used up.
    used_up: Option<Reason>,
    /// What this machine is short of.
    shortage: Option<String>,
}

impl RunLimits {
    pub(super) fn new(budget: Budget) -> RunLimits {
        RunLimits { budget, n_unanswered: 0, used_up: None, shortage: None }
    }

    /// A request that was sent has ended.
    pub(super) fn count_request(&mut self, is_answered: bool) {
        self.n_unanswered = if is_answered { 0 } else { self.n_unanswered + 1 };
    }

    /// Notes what this machine is short of. Returns whether it is the first.
    pub(super) fn note_shortage(&mut self, reason: String) -> bool {
        let is_first = self.shortage.is_none();
        self.shortage.get_or_insert(reason);
        is_first
    }

    pub(super) fn shortage(&mut self) -> Option<String> {
        self.shortage.take()
    }

    /// The budget that is used up, if one is.
    pub(super) fn used_up(&self) -> Option<&Reason> {
        self.used_up.as_ref()
    }

    /// Looks whether a budget is used up.
    pub(super) fn check(&mut self, stats: &Stats, elapsed: Duration) -> Option<&Reason> {
        self.used_up = self.exceeded(stats, elapsed);
        self.used_up.as_ref()
    }

    fn exceeded(&self, stats: &Stats, elapsed: Duration) -> Option<Reason> {
        let Budget { max_requests, max_failures, max_bytes, max_seconds } = self.budget;
        let reason = |code, key: &str, limit: String| Some(Reason::new(code, format!("crawl.{key} = {limit}")));
        if max_requests > 0 && stats.requests >= max_requests {
            return reason(ReasonCode::MaxRequests, "max_requests", max_requests.to_string());
        }
        if max_failures > 0 && self.n_unanswered >= max_failures {
            return reason(ReasonCode::MaxFailures, "max_failures", max_failures.to_string());
        }
        if max_bytes > 0 && stats.bytes >= max_bytes as u64 {
            return reason(ReasonCode::MaxBytes, "max_bytes", max_bytes.to_string());
        }
        if !max_seconds.is_zero() && elapsed >= max_seconds {
            return reason(ReasonCode::MaxSeconds, "max_seconds", max_seconds.as_secs_f64().to_string());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_ends_the_run_and_zero_is_no_limit() {
        let second = Duration::from_secs(1);
        let none = Budget { max_requests: 0, max_failures: 0, max_bytes: 0, max_seconds: Duration::ZERO };
        let stats = Stats { requests: 5, bytes: 700, ..Stats::default() };
        let code = |budget: Budget, n_unanswered: usize| {
            let mut limits = RunLimits::new(budget);
            limits.count_request(false);
            limits.count_request(true);
            (0..n_unanswered).for_each(|_| limits.count_request(false));
            limits.check(&stats, 3 * second).map(|reason| reason.code)
        };
        assert_eq!(code(none, 9), None);
        for (budget, n_unanswered, expected) in [
            (Budget { max_requests: 5, ..none }, 0, Some(ReasonCode::MaxRequests)),
            (Budget { max_requests: 6, ..none }, 0, None),
            (Budget { max_failures: 2, ..none }, 2, Some(ReasonCode::MaxFailures)),
            (Budget { max_failures: 2, ..none }, 1, None),
            (Budget { max_bytes: 700, ..none }, 0, Some(ReasonCode::MaxBytes)),
            (Budget { max_bytes: 701, ..none }, 0, None),
            (Budget { max_seconds: 3 * second, ..none }, 0, Some(ReasonCode::MaxSeconds)),
            (Budget { max_seconds: 4 * second, ..none }, 0, None),
        ] {
            assert_eq!(code(budget, n_unanswered), expected);
        }
    }

    #[test]
    fn the_first_shortage_is_told() {
        let mut limits = RunLimits::new(Budget::default());
        assert!(limits.note_shortage("no file handles".to_owned()) && !limits.note_shortage("no ports".to_owned()));
        assert_eq!(limits.shortage().as_deref(), Some("no file handles"));
    }
}
