//! One page, fetched as politely as a crawl would: robots.txt first, a delay between requests, redirects hop by hop.

use std::time::Duration;

use crate::fetch::{ClientError, FetchError, Gate, Response, Wanted, redirect_target};
use crate::page::PageUrl;
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use crate::settings::Settings;

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
        reason: &'static str,
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

/// Fetches one page.
pub async fn fetch_single(url: &PageUrl, settings: &Settings) -> Result<Response, SingleError> {
    let gate = Gate::new(&settings.fetch)?;
    let mut at = url.clone();
    let mut rules: Option<(String, Robots)> = None;
    for _ in 0..=settings.fetch.max_redirects {
        let origin = at.origin();
        if rules.as_ref().is_none_or(|(known, _)| *known != origin) {
            let robots = fetch_robots(&gate, &at, settings).await;
            rules = Some((origin, robots));
        }
        let Some((_, robots)) = &rules else { continue };
        if !robots.allows(&at) {
            let reason = robots.unreachable().unwrap_or("robots.txt forbids it");
            return Err(SingleError::Forbidden { url: at, reason });
        }
        let delay = robots.delay().unwrap_or(Duration::ZERO).min(settings.politeness.max_crawl_delay);
        tokio::time::sleep(settings.politeness.delay.max(delay)).await;
        let response = gate.fetch(&at, Wanted::Page).await.outcome?;
        match redirect_target(&response) {
            Some(target) => at = target,
            None if (200..300).contains(&response.status) => return Ok(response),
            None => return Err(SingleError::Status { url: at, status: response.status }),
        }
    }
    Err(SingleError::Redirects { url: url.clone(), limit: settings.fetch.max_redirects })
}

async fn fetch_robots(gate: &Gate, page: &PageUrl, settings: &Settings) -> Robots {
    let agent = &settings.fetch.user_agent;
    let Some(mut at) = page.join("/robots.txt") else { return Robots::of(RobotsAnswer::Unreachable, agent) };
    let mut hops = 0;
    loop {
        let Ok(response) = gate.fetch(&at, Wanted::Robots).await.outcome else {
            return Robots::of(RobotsAnswer::Unreachable, agent);
        };
        match redirect_target(&response) {
            Some(target) if hops < MAX_ROBOTS_REDIRECTS => {
                hops += 1;
                at = target;
                tokio::time::sleep(settings.politeness.delay).await;
            }
            _ => return Robots::of(RobotsAnswer::Status(response.status, &response.body), agent),
        }
    }
}
