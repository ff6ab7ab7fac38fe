//! Work on a site beside its requests: what CPU threads are given and give back, how it ends, what is recorded.

use std::sync::Arc;

use super::event::{Event, Kind, Request};
use super::scheduler::{End, Scheduler};
use super::site::{Advance, Harvest, Work, advance};
use super::stats::{Progress, SiteSummary};
use crate::fetch::Fetched;
use crate::frontier::Times;
use crate::store::{Job, NewVisit, SiteEnd, SiteNumber, VisitOutcome, WriterError};

impl Scheduler<'_> {
    /// Hands work on a site to a CPU thread.
    pub(super) fn compute(&mut self, site: SiteNumber, work: Work) {
        self.n_out += 1;
        let (events, settings) = (self.events.clone(), Arc::clone(&self.settings));
        self.pool.spawn(move || {
            let advance = advance(work, &settings);
            let _ = events.blocking_send(Event::Advanced { site, advance });
        });
    }

    pub(super) async fn advanced(&mut self, site: SiteNumber, advance: Advance) -> Result<(), WriterError> {
        match advance {
            Advance::Ask(..) if self.stopping => self.end_site(site, SiteEnd::Interrupted, None).await,
            Advance::Ask(learner, url) => {
                if let Some(state) = self.sites.get_mut(&site) {
                    state.site.get_or_insert_with(|| learner.site().clone());
                    state.learner = Some(learner);
                    self.push(Request::new(url, Kind::Page { site }), End::Back);
                }
                Ok(())
            }
            Advance::Done(harvest) => {
                let end = match (&harvest.template, harvest.n_links) {
                    (Some(_), _) => SiteEnd::Learned,
                    (None, 0) => SiteEnd::Failed("the key page has no links to pages of its site".to_owned()),
                    (None, n) => {
                        SiteEnd::Failed(format!("none of {n} links gave a page that shares anything with the key page"))
                    }
                };
                self.end_site(site, end, Some(harvest)).await
            }
            Advance::Broken(reason) => self.end_site(site, SiteEnd::Failed(reason), None).await,
        }
    }

    pub(super) async fn end_site(
        &mut self,
        site: SiteNumber,
        end: SiteEnd,
        harvest: Option<Box<Harvest>>,
    ) -> Result<(), WriterError> {
        let Some(state) = self.sites.remove(&site) else { return Ok(()) };
        for origin in &state.origins {
            // Sites of one host name can share an origin through redirects.
            if !self.sites.values().any(|other| other.origins.contains(origin)) {
                self.origins.forget(origin);
            }
        }
        let host = harvest.as_ref().map_or_else(|| state.seed.authority(), |h| h.host.clone());
        let mut summary = SiteSummary::new(&host, &end, state.begun.elapsed());
        (summary.pages, summary.requests) = (state.n_pages, state.n_requests);
        self.stats.count_end(&end);
        let (mut template, mut cleaned, mut found) = (None, Vec::new(), None);
        if let Some(harvest) = harvest {
            if harvest.host != state.seed.authority() {
                found = Some((harvest.host.clone(), harvest.key_url.clone()));
            }
            (summary.links, summary.loads) = (harvest.n_links, harvest.loads);
            summary.cleaned = harvest.cleaned.iter().filter(|page| page.by_template).count();
            if let Some(t) = &harvest.template {
                (summary.voters, summary.template_nodes, summary.key_nodes) = (t.m, t.nodes.len(), t.key_nodes);
            }
            (template, cleaned) = (harvest.template.map(Box::new), harvest.cleaned);
        }
        let at = self.clock.unix_ms();
        self.writer.send(Job::SiteEnded { site, found, end, template, cleaned, at }).await?;
        (self.watch)(Progress::Site(&summary, &self.stats));
        Ok(())
    }

    pub(super) async fn abandon(&mut self, requests: Vec<Request>) -> Result<(), WriterError> {
        for site in requests.iter().filter_map(|request| request.kind.site()) {
            self.end_site(site, SiteEnd::Interrupted, None).await?;
        }
        Ok(())
    }

    pub(super) async fn record(&self, request: &Request, times: Times, fetched: &Fetched) -> Result<(), WriterError> {
        let (outcome, reason) = match &fetched.outcome {
            Ok(response) if (300..400).contains(&response.status) => {
                (VisitOutcome::Redirected, response.location.clone())
            }
            Ok(response) if (200..300).contains(&response.status) => (VisitOutcome::Fetched, None),
            Ok(response) if response.status == 429 || response.status >= 500 => (VisitOutcome::FetchError, None),
            Ok(_) => (VisitOutcome::Failed, None),
            Err(error) if error.is_transient() => (VisitOutcome::FetchError, Some(error.to_string())),
            Err(error) => (VisitOutcome::Failed, Some(error.to_string())),
        };
        let response = fetched.outcome.as_ref().ok();
        let visit = NewVisit {
            sent_at: Some(self.clock.at(times.sent)),
            took_ms: Some(times.ended.saturating_duration_since(times.sent).as_millis() as i64),
            status: response.map(|r| r.status),
            raw_bytes: response.map(|r| r.raw_bytes),
            ..visit(request, outcome, reason)
        };
        self.writer.send(Job::Visit(request.kind.site(), visit)).await
    }

    pub(super) async fn record_unsent(
        &self,
        request: &Request,
        outcome: VisitOutcome,
        reason: String,
    ) -> Result<(), WriterError> {
        self.writer.send(Job::Visit(request.kind.site(), visit(request, outcome, Some(reason)))).await
    }
}

fn visit(request: &Request, outcome: VisitOutcome, reason: Option<String>) -> NewVisit {
    NewVisit {
        site_id: None,
        url: request.url.to_string(),
        kind: match request.kind {
            Kind::Robots { .. } => "robots",
            Kind::Page { .. } => "page",
        },
        sent_at: None,
        took_ms: None,
        status: None,
        raw_bytes: None,
        outcome,
        reason,
    }
}
