//! After a restart: what this run has fetched already is taken from the store, not from the network.

use super::event::{Event, Kind, Request};
use super::scheduler::{End, Scheduler};
use super::site::Phase;
use super::work::{Came, Work};
use crate::fetch::Response;
use crate::store::{Job, PastVisit, SiteId, SiteOutcome, Snapshot, WriterError};
use dehusk_core::internals::page_url::PageUrl;

impl Scheduler<'_> {
    /// What this run did with a URL before the restart.
    pub(super) fn recalled(&self, site: Option<SiteId>, url: &PageUrl) -> Option<PastVisit> {
        self.sites.get(&site?)?.past.get(url.as_str()).cloned()
    }

    /// Goes on with a request from what is remembered of it.
    pub(super) async fn replay(&mut self, mut request: Request, mut past: PastVisit) -> Result<(), WriterError> {
        let Some(site) = request.kind.site() else { return Ok(()) };
        loop {
            match (past.outcome.as_str(), past.page) {
                ("fetched", Some(page)) => {
                    let url = request.url.clone();
                    let event = move |snapshot| Event::Replayed { site, url, snapshot };
                    return self.ask(|reply| Job::Snapshot(page, reply), event).await;
                }
                ("redirected", _) => {
                    let target = past.reason.as_deref().and_then(|target| request.url.join(target));
                    let Some(target) = target.filter(|_| request.hops <= self.tools.settings.fetch.max_redirects)
                    else {
                        break;
                    };
                    request = request.led_to(target.clone());
                    match self.recalled(Some(site), &target) {
                        Some(next) => past = next,
                        None => break,
                    }
                }
                ("not_modified", _) => {
                    if let Some(state) = self.sites.get_mut(&site) {
                        state.n_unchanged = state.n_unchanged.saturating_sub(1);
                    }
                    return self.unchanged(request).await;
                }
                ("failed" | "gone" | "forbidden", _) => return self.nothing(site, past.reason).await,
                // An error may have passed.
                _ => break,
            }
        }
        self.push(request, End::Front);
        Ok(())
    }

    async fn nothing(&mut self, site: SiteId, reason: Option<String>) -> Result<(), WriterError> {
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        match state.take_phase() {
            Phase::Learning(learner) => {
                self.compute(site, Work::Tell(learner, None, false));
                Ok(())
            }
            Phase::Walking(walk) => self.walk(site, walk).await,
            _ => self.end_site(site, SiteOutcome::Failed(reason.unwrap_or_else(|| "no page".to_owned()))).await,
        }
    }

    pub(super) async fn replayed(
        &mut self,
        site: SiteId,
        url: PageUrl,
        snapshot: Option<Snapshot>,
    ) -> Result<(), WriterError> {
        let request = Request::new(url.clone(), Kind::Page { site });
        if self.stopping {
            return self.abandon(vec![request]).await;
        }
        let Some(snapshot) = snapshot else {
            self.push(request, End::Back);
            return Ok(());
        };
        let response = Response {
            content_type: snapshot.content_type,
            body: snapshot.body,
            ..Response::empty(PageUrl::parse(&snapshot.url).unwrap_or(url), snapshot.status)
        };
        let came = Came {
            request,
            response,
            fetched_at: snapshot.fetched_at,
            visit: None,
            noindex: snapshot.noindex,
            nofollow: snapshot.nofollow,
        };
        self.page_came(came).await
    }
}
