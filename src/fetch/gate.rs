//! The gate that every request passes.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use governor::clock::DefaultClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use tokio_util::sync::CancellationToken;

use super::body::{BodyError, Limits, innermost};
use super::resolver::ResolveError;
use super::{ClientError, FetchError, Fetched, Resolver, Response, body, client};
use crate::frontier::Times;
use crate::page::PageUrl;
use crate::robots::MAX_ROBOTS_BYTES;
use crate::settings::Fetch;

/// What kind of answer is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// An HTML page.
    Page,
    /// A robots.txt: any type, cut at its own limit.
    Robots,
}

type Direct = RateLimiter<NotKeyed, InMemoryState, DefaultClock, NoOpMiddleware>;
type ByAddress = RateLimiter<IpAddr, DefaultKeyedStateStore<IpAddr>, DefaultClock, NoOpMiddleware>;

/// Caps over all domains (governor). The spacing of one domain is the frontier's: a token bucket answers "not now"
/// only after a URL was taken.
#[derive(Clone, Default)]
struct Caps {
    requests: Option<Arc<Direct>>,
    bytes: Option<Arc<Direct>>,
    by_address: Option<Arc<ByAddress>>,
}

/// Addresses after which the per-address state is thinned out.
const MOST_ADDRESSES: usize = 50_000;

impl Caps {
    fn new(fetch: &Fetch) -> Caps {
        let quota = |n: u32| NonZeroU32::new(n).map(Quota::per_second);
        // A burst of one spreads requests evenly.
        let even = |n: u32| quota(n).map(|q| q.allow_burst(NonZeroU32::MIN));
        Caps {
            requests: even(fetch.requests_per_second).map(|q| Arc::new(RateLimiter::direct(q))),
            bytes: quota(fetch.bytes_per_second).map(|q| Arc::new(RateLimiter::direct(q))),
            by_address: even(fetch.requests_per_second_per_address).map(|q| Arc::new(RateLimiter::dashmap(q))),
        }
    }

    async fn request(&self, address: Option<IpAddr>) {
        if let (Some(limiter), Some(address)) = (&self.by_address, address) {
            if limiter.len() > MOST_ADDRESSES {
                limiter.retain_recent();
            }
            limiter.until_key_ready(&address).await;
        }
        if let Some(limiter) = &self.requests {
            limiter.until_ready().await;
        }
    }

    /// Waits until this many bytes may have been read.
    async fn bytes(&self, n: usize) {
        let Some(limiter) = &self.bytes else { return };
        let mut left = u32::try_from(n).unwrap_or(u32::MAX);
        while let Some(wanted) = NonZeroU32::new(left) {
            match limiter.until_n_ready(wanted).await {
                Ok(()) => return,
                // More than a second's worth at once: ask for it in parts.
                Err(governor::InsufficientCapacity(most)) => {
                    let part = NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN);
                    let _ = limiter.until_n_ready(part).await;
                    left = left.saturating_sub(part.get());
                }
            }
        }
    }
}

/// All requests go through here.
#[derive(Clone)]
pub struct Gate {
    client: reqwest::Client,
    resolver: Resolver,
    caps: Caps,
    fetch: Arc<Fetch>,
    stopped: CancellationToken,
}

impl Gate {
    /// A gate with its own client and connections.
    pub fn new(fetch: &Fetch) -> Result<Gate, ClientError> {
        let resolver = Resolver::new(fetch)?;
        let client = client::build(fetch, &resolver)?;
        Ok(Gate {
            client,
            resolver,
            caps: Caps::new(fetch),
            fetch: Arc::new(fetch.clone()),
            stopped: CancellationToken::new(),
        })
    }

    /// The resolver, for politeness by address.
    pub fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    /// Nothing is sent from now on; what is out comes home.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// Sends one GET request. The caller has asked robots.txt and waited for its turn.
    pub async fn fetch(&self, url: &PageUrl, wanted: Wanted) -> Fetched {
        let ready = async {
            let addresses = self.addresses(url).await?;
            self.caps.request(addresses.first().map(SocketAddr::ip)).await;
            Ok(())
        };
        let ready = self.stopped.run_until_cancelled(ready).await;
        if let Err(error) = ready.unwrap_or_else(|| Err(FetchError::Stopped { url: url.clone() })) {
            return Fetched { times: None, outcome: Err(error) };
        }
        let sent = Instant::now();
        let mut answered = None;
        // reqwest's own timeout ends reads of the body; this one also bounds our decoder.
        let whole = tokio::time::timeout(self.fetch.timeout, self.send(url, wanted, &mut answered));
        let outcome = whole.await.unwrap_or_else(|_| Err(self.timeout(url)));
        let ended = Instant::now();
        if let Ok(response) = &outcome {
            // Paid for afterwards, so that waiting for others' bytes is not taken for a slow server.
            let paid = self.caps.bytes(response.raw_bytes);
            self.stopped.run_until_cancelled(paid).await;
        }
        Fetched { times: Some(Times { sent, answered, ended }), outcome }
    }

    async fn addresses(&self, url: &PageUrl) -> Result<Vec<SocketAddr>, FetchError> {
        let found = match url.ip_literal() {
            Some(literal) => self.resolver.allowed(vec![SocketAddr::new(literal, url.port())]),
            None => self.resolver.resolve(url.host()).await,
        };
        found.map_err(|e| match e {
            ResolveError::Private(address) => FetchError::Refused { url: url.clone(), address },
            ResolveError::Unknown(reason) => FetchError::Dns { url: url.clone(), host: url.host().to_owned(), reason },
        })
    }

    #[expect(clippy::disallowed_methods, reason = "this is the gate")]
    async fn send(
        &self,
        url: &PageUrl,
        wanted: Wanted,
        answered: &mut Option<Instant>,
    ) -> Result<Response, FetchError> {
        let answer = self.client.get(url.url().clone()).send().await;
        *answered = Some(Instant::now());
        let answer = answer.map_err(|e| self.sort(url, &e))?;
        let headers = answer.headers();
        let mut response = Response {
            url: url.clone(),
            status: answer.status().as_u16(),
            content_type: text(headers, CONTENT_TYPE),
            location: text(headers, LOCATION),
            retry_after: text(headers, RETRY_AFTER).and_then(|s| s.trim().parse().ok()),
            body: Vec::new(),
            raw_bytes: 0,
        };
        let encoding = text(headers, CONTENT_ENCODING).unwrap_or_default().trim().to_ascii_lowercase();
        if !answer.status().is_success() {
            return Ok(response);
        }
        let limits = match wanted {
            Wanted::Page => {
                check_type(url, response.content_type.as_deref())?;
                Limits { raw: self.fetch.max_raw_bytes, decoded: self.fetch.max_bytes, cut: false }
            }
            Wanted::Robots => Limits { raw: usize::MAX, decoded: MAX_ROBOTS_BYTES, cut: true },
        };
        let read = body::read(answer, &encoding, &limits).await;
        let (body, raw_bytes) = read.map_err(|e| self.body_error(url, e))?;
        (response.body, response.raw_bytes) = (body, raw_bytes);
        if wanted == Wanted::Page && response.content_type.is_none() && !looks_like_html(&response.body) {
            return Err(FetchError::NotHtml { url: url.clone(), content_type: "an answer without a type".to_owned() });
        }
        Ok(response)
    }

    fn sort(&self, url: &PageUrl, error: &reqwest::Error) -> FetchError {
        if error.is_timeout() && !error.is_connect() {
            return self.timeout(url);
        }
        FetchError::Connection { url: url.clone(), reason: innermost(error) }
    }

    fn timeout(&self, url: &PageUrl) -> FetchError {
        FetchError::Timeout { url: url.clone(), seconds: self.fetch.timeout.as_secs() }
    }

    fn body_error(&self, url: &PageUrl, error: BodyError) -> FetchError {
        let url = url.clone();
        match error {
            BodyError::RawLimit => {
                FetchError::TooLarge { url, limit: self.fetch.max_raw_bytes, setting: "fetch.max_raw_bytes" }
            }
            BodyError::DecodedLimit => {
                FetchError::TooLarge { url, limit: self.fetch.max_bytes, setting: "fetch.max_bytes" }
            }
            BodyError::Connection(e) => FetchError::Connection { url, reason: e.to_string() },
            BodyError::Encoding(encoding, e) => FetchError::Encoding { url, encoding, reason: e.to_string() },
        }
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn check_type(url: &PageUrl, content_type: Option<&str>) -> Result<(), FetchError> {
    let Some(content_type) = content_type else { return Ok(()) };
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "" | "text/html" | "application/xhtml+xml" => Ok(()),
        _ => Err(FetchError::NotHtml { url: url.clone(), content_type: essence }),
    }
}

/// Without a declared type, a body is taken for HTML when it begins like markup.
fn looks_like_html(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    body.trim_ascii_start().first() == Some(&b'<')
}
