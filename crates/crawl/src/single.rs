//! One page, fetched as politely as a crawl would: robots.txt first, a delay between requests, redirects hop by hop.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::jobs::resolve_key;
use crate::fetch::{ClientError, FetchError, FetchRequest, Fetcher, Resource, Response, page_target, redirect_target};
use crate::politeness::PolitenessKey;
use crate::politeness::{LatencyEstimate, Pace};
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::reason::{Reason, ReasonCode};

/// Why a single page could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SingleError {
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The request failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// robots.txt forbids it.
    #[error("{url}: {reason}")]
    Forbidden {
        /// What was asked for.
        url: PageUrl,
        /// Why.
        reason: String,
    },
    /// The server answers with an error.
    #[error("{url}: answers {status}")]
    Status {
        /// What was asked for.
        url: PageUrl,
        /// HTTP status.
        status: u16,
    },
    /// Too many redirects.
    #[error("{url}: more than {limit} redirects (fetch.max_redirects)")]
    Redirects {
        /// What was asked for.
        url: PageUrl,
        /// The limit.
        limit: usize,
    },
}

/// Fetches pages one after the other; remembers rules and times between them.
pub struct Single<'s> {
    settings: &'s Settings,
    gate: Fetcher,
    rules: FxHashMap<String, Robots>,
    next_fetch: FxHashMap<PolitenessKey, (Instant, LatencyEstimate)>,
}

impl<'s> Single<'s> {
    /// A fetcher with its own connections.
    pub fn new(settings: &'s Settings) -> Result<Single<'s>, ClientError> {
        Ok(Single {
            settings,
            gate: Fetcher::new(settings)?,
            rules: FxHashMap::default(),
            next_fetch: FxHashMap::default(),
        })
    }

    /// Fetches one page.
    pub async fn fetch(&mut self, url: &PageUrl) -> Result<Response, SingleError> {
        let mut at = url.clone();
        for _ in 0..=self.settings.fetch.max_redirects {
            let origin = at.origin();
            if !self.rules.contains_key(&origin) {
                let robots = self.fetch_robots(&at).await;
                self.rules.insert(origin.clone(), robots);
            }
            if let Some(robots) = self.rules.get(&origin).filter(|robots| !robots.allows(&at)) {
                let reason = robots.unreachable().map_or_else(|| "robots.txt forbids it".to_owned(), Reason::to_string);
                return Err(SingleError::Forbidden { url: at, reason });
            }
            let response = self.polite(&at, Resource::Page).await?;
            match page_target(&response) {
                Some(target) => at = target,
                None if (200..300).contains(&response.status) => return Ok(response),
                None => return Err(SingleError::Status { url: at, status: response.status }),
            }
        }
        Err(SingleError::Redirects { url: url.clone(), limit: self.settings.fetch.max_redirects })
    }

    async fn fetch_robots(&mut self, page: &PageUrl) -> Robots {
        let agents = &self.settings.agents();
        let unreachable = |code, text: &str| Robots::new(RobotsAnswer::Unreachable(code, text), agents);
        let Some(mut at) = page.join("/robots.txt") else {
            return unreachable(ReasonCode::RobotsUnavailable, "");
        };
        let mut hops = 0;
        loop {
            let response = match self.polite(&at, Resource::Robots).await {
                Ok(response) => response,
                Err(error) => return unreachable(error.code(), &error.reason()),
            };
            match redirect_target(&response) {
                Some(target) if hops < MAX_ROBOTS_REDIRECTS => {
                    hops += 1;
                    at = target;
                }
                _ => return Robots::new(RobotsAnswer::Status(response.status, &response.body), agents),
            }
        }
    }

    /// One request when its domain is due.
    async fn polite(&mut self, url: &PageUrl, wanted: Resource) -> Result<Response, FetchError> {
        let domain = resolve_key(self.gate.resolver(), url, self.settings.politeness.key).await;
        // The rules may have come after the last request of the domain, so the delay is looked up only now.
        let own = self.rules.get(&url.origin()).and_then(Robots::delay).unwrap_or_default();
        let politeness = &self.settings.of_host(url.host()).politeness;
        let own = own.min(politeness.max_crawl_delay);
        let mut ways = LatencyEstimate::default();
        if let Some((due, last)) = self.next_fetch.get(&domain) {
            let extra = own.saturating_sub(politeness.delay);
            ways = *last;
            tokio::time::sleep_until((*due + extra).into()).await;
        }
        let fetched = self.gate.fetch(&FetchRequest::new(url.clone(), wanted)).await;
        if let Some(times) = fetched.times {
            let due = Pace::new(politeness).next_fetch(times, &mut ways, std::time::Duration::ZERO, 1);
            self.next_fetch.insert(domain, (due, ways));
        }
        fetched.outcome
    }
}
