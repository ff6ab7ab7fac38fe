//! What is written down about a request.

use super::Clock;
use super::request::Request;
use crate::fetch::Fetched;
use dehusk_core::rights::Rights;
use dehusk_store::reason::bounded;
use dehusk_store::{NewVisit, VisitOutcome};

/// A request that was sent, or could not be.
pub(super) fn visit_of(request: &Request, fetched: &Fetched, clock: Clock) -> NewVisit {
    let (outcome, reason) = match &fetched.outcome {
        Ok(response) if (300..400).contains(&response.status) => (VisitOutcome::Redirected, None),
        Ok(response) if (200..300).contains(&response.status) => (VisitOutcome::Fetched, None),
        Ok(response) if response.status == 429 || response.status >= 500 => (VisitOutcome::FetchError, None),
        Ok(_) => (VisitOutcome::Failed, None),
        Err(error) if error.is_transient() => (VisitOutcome::FetchError, Some(error.reason())),
        Err(error) => (VisitOutcome::Failed, Some(error.reason())),
    };
    let response = fetched.outcome.as_ref().ok();
    NewVisit {
        sent_at: fetched.times.map(|times| clock.at(times.sent)),
        took_ms: fetched.times.map(|times| times.ended.saturating_duration_since(times.sent).as_millis() as i64),
        status: response.map(|r| r.status),
        raw_bytes: response.map(|r| r.raw_bytes),
        redirect_to: response.filter(|_| outcome == VisitOutcome::Redirected).and_then(|r| r.location.clone()),
        ..unsent_visit(request, outcome, reason)
    }
}

/// A request that was not sent.
pub(super) fn unsent_visit(request: &Request, outcome: VisitOutcome, reason: Option<String>) -> NewVisit {
    NewVisit {
        site_id: request.kind.site(),
        url: request.url.to_string(),
        kind: request.kind.name(),
        sent_at: None,
        took_ms: None,
        status: None,
        raw_bytes: None,
        outcome,
        reason: reason.map(bounded),
        redirect_to: None,
        rights: Rights::new(request.rights.iter().cloned()),
    }
}
