//! One page, fetched as politely as a crawl would: robots.txt first, a delay between requests, redirects hop by hop.

use std::time::{Duration, Instant, SystemTime};

use rustc_hash::FxHashMap;

use super::jobs::resolve_key;
use crate::fetch::{ClientError, FetchError, FetchRequest, Fetcher, Resource, Response, page_target, redirect_target};
use crate::politeness::PolitenessKey;
use crate::politeness::{LatencyEstimate, Pace};
use crate::rights_files::{RightsFile, RightsFiles, addresses};
use crate::robots::{MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer};
use crate::robots_cache::{denied, denied_by};
use dehusk_core::rights::{Rights, Statement, page_statements};
use dehusk_html::{PageUrl, parse_bytes};
use dehusk_settings::Settings;
use dehusk_store::reason::ReasonCode;

/// Why a single page could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SingleError {
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The request failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// robots.txt forbids it, or its owner denies what it is for.
    #[error("{url}: {reason}")]
    Forbidden {
        /// What was asked for.
        url: PageUrl,
        /// Why.
        reason: String,
    },
    /// robots.txt could not be had.
    #[error("{url}: {reason}")]
    NoRules {
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

/// What a request led to.
pub enum Hop {
    /// A page, and what its site says about its use.
    Page(Box<Response>, Vec<Statement>),
    /// Another address.
    To(PageUrl),
}

/// What is said about an address that may be requested.
pub struct Allowed {
    /// What its site says about the use of its pages.
    pub said: Vec<Statement>,
    /// `Crawl-delay` of its robots.txt.
    pub delay: Option<Duration>,
}

/// Fetches pages one after the other; remembers rules and times between them.
pub struct Single {
    settings: Settings,
    gate: Fetcher,
    /// Rules by origin, and until when they hold.
    rules: FxHashMap<String, (Robots, Instant)>,
    next_fetch: FxHashMap<PolitenessKey, (Instant, LatencyEstimate)>,
    server_time: Option<SystemTime>,
}

impl Single {
    /// A fetcher with its own connections.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when the HTTP client cannot be made.
    pub fn new(settings: &Settings) -> Result<Single, ClientError> {
        Ok(Single::with_fetcher(Fetcher::new(settings)?, settings))
    }

    /// The same over the connections of another one.
    pub fn with_fetcher(gate: Fetcher, settings: &Settings) -> Single {
        let settings = settings.clone();
        Single { settings, gate, rules: FxHashMap::default(), next_fetch: FxHashMap::default(), server_time: None }
    }

    /// What time it was by the clock of the server that answered last (`Date`).
    pub fn server_time(&self) -> Option<SystemTime> {
        self.server_time
    }

    /// Fetches one page, and follows redirects.
    ///
    /// # Errors
    ///
    /// [`SingleError`] when it cannot be had.
    pub async fn fetch(&mut self, url: &PageUrl) -> Result<Response, SingleError> {
        let mut at = url.clone();
        for _ in 0..=self.settings.fetch.max_redirects {
            match self.hop(&at).await? {
                Hop::Page(response, _) => return Ok(*response),
                Hop::To(target) => at = target,
            }
        }
        Err(SingleError::Redirects { url: url.clone(), limit: self.settings.fetch.max_redirects })
    }

    /// Requests one address, after the robots.txt of its origin.
    ///
    /// # Errors
    ///
    /// [`SingleError`] when it cannot be had.
    pub async fn hop(&mut self, at: &PageUrl) -> Result<Hop, SingleError> {
        let said = self.may_request(at).await?.said;
        let response = self.polite(at, Resource::Page).await?;
        match page_target(&response) {
            Some(target) => Ok(Hop::To(target)),
            None if (200..300).contains(&response.status) => {
                self.check_page(at, &response, &said)?;
                Ok(Hop::Page(Box::new(response), said))
            }
            None => Err(SingleError::Status { url: at.clone(), status: response.status }),
        }
    }

    /// Whether an address may be requested, by the robots.txt of its origin and, with `crawl.purpose`, by its owner.
    /// The address itself is not requested.
    ///
    /// # Errors
    ///
    /// [`SingleError::Forbidden`] when it may not, [`SingleError::NoRules`] when there is no telling.
    pub async fn may_request(&mut self, at: &PageUrl) -> Result<Allowed, SingleError> {
        let robots = self.rules_of(at).await;
        if let Some(reason) = robots.unreachable() {
            return Err(SingleError::NoRules { url: at.clone(), reason: reason.to_string() });
        }
        let (allows, said, delay) = (robots.allows(at), robots.statements(at), robots.delay());
        let denial = self.settings.crawl.purpose.and_then(|of| denied_by(of, &said)).map(|reason| reason.text);
        match if allows { denial } else { Some("robots.txt forbids it".to_owned()) } {
            Some(reason) => Err(SingleError::Forbidden { url: at.clone(), reason }),
            None => Ok(Allowed { said, delay }),
        }
    }

    /// The rules of the origin of an address, requested where none that hold are known.
    async fn rules_of(&mut self, at: &PageUrl) -> &Robots {
        let origin = at.origin();
        if self.rules.get(&origin).is_none_or(|(_, until)| *until < Instant::now()) {
            let mut robots = self.fetch_robots(at).await;
            if self.settings.crawl.purpose.is_some() {
                robots = self.with_rights_files(&origin, robots).await;
            }
            let politeness = &self.settings.politeness;
            let ttl = match robots.unreachable() {
                Some(_) => politeness.robots_ttl.min(politeness.max_back_off),
                None => politeness.robots_ttl,
            };
            self.rules.insert(origin.clone(), (robots, Instant::now() + ttl));
        }
        &self.rules[&origin].0
    }

    /// Whether a page says itself, or its headers say, that its owner denies the purpose.
    fn check_page(&self, at: &PageUrl, response: &Response, said: &[Statement]) -> Result<(), SingleError> {
        let Some(purpose) = self.settings.crawl.purpose else { return Ok(()) };
        let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &self.settings.core.parse);
        let of_page = page_statements(&response.rights, &tree, &self.settings.agents());
        let rights = Rights::new(said.iter().cloned().chain(of_page));
        match rights.denial(purpose) {
            Some(by) => Err(SingleError::Forbidden { url: at.clone(), reason: denied(purpose, by).text }),
            None => Ok(()),
        }
    }

    /// The rules with what the other files of the origin say.
    async fn with_rights_files(&mut self, origin: &str, robots: Robots) -> Robots {
        let mut read = Vec::new();
        if robots.unreachable().is_none() && !robots.forbids_all() {
            for (kind, url) in addresses(origin, &robots) {
                let response = self.polite(&url, Resource::Robots).await.ok();
                read.push(RightsFile::new(kind, &url, response.as_ref()));
            }
        }
        robots.with_files(RightsFiles::new(&read, &self.settings.agents()))
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
        let own = self.rules.get(&url.origin()).and_then(|(robots, _)| robots.delay()).unwrap_or_default();
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
            let due = Pace::new(politeness).next_fetch(times, &mut ways, Duration::ZERO, 1);
            self.next_fetch.insert(domain, (due, ways));
        }
        if let Ok(response) = &fetched.outcome {
            self.server_time = response.date;
        }
        fetched.outcome
    }
}
