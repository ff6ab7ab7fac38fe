//! The fetcher: sends all requests of the program.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::cookie::CookieStore;
use reqwest::header::{
    CONTENT_ENCODING, DATE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    RETRY_AFTER, SET_COOKIE,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::body::{Body, BodyError, Limits, innermost};
use super::caps::Caps;
use super::cookies::Jars;
use super::headers::{all_lines, content_type, lines, location, text, wait_of};
use super::own_headers::OwnHeaders;
use super::plain_words::in_plain_words;
use super::refresh::refresh_target;
use super::resolver::ResolveError;
use super::wire::{WireHeaders, wire};
use super::{ClientError, FetchError, Fetched, Resolver, Response, Wire, body, client};
use crate::politeness::Times;
use crate::robots::MAX_ROBOTS_BYTES;
use crate::sitemap::{MAX_SITEMAP_BYTES, is_announcement};
use dehusk_core::rights::RightsHeaders;
use dehusk_files::codings::codings;
use dehusk_files::media_type;
use dehusk_html::PageUrl;
use dehusk_settings::{Fetch, Settings};
use dehusk_store::lease_gate::LeaseGate;
use dehusk_store::validators::Validators;

/// The kind of resource that is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An HTML page.
    Page,
    /// An HTML page, or a list of URLs: a sitemap, a feed or OPML.
    Seed,
    /// A robots.txt: any type, truncated at its own limit.
    Robots,
    /// A sitemap or a feed: any type, truncated at its own limit.
    Sitemap,
    /// What the scripts of a page ask for: any type, with its header lines.
    Subresource,
}

/// A request to make.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The URL.
    pub url: PageUrl,
    /// What is expected there.
    pub resource: Resource,
    /// Validators of the stored page. If there are any, the server may respond 304.
    pub known: Validators,
    /// Further header lines, such as scripts set.
    pub headers: Vec<(String, String)>,
}

impl FetchRequest {
    /// An unconditional request.
    pub fn new(url: PageUrl, resource: Resource) -> FetchRequest {
        FetchRequest { url, resource, known: Validators::default(), headers: Vec::new() }
    }
}

/// Sends requests within the limits of the settings. All requests go through [`Fetcher::fetch`].
#[derive(Clone)]
pub struct Fetcher {
    client: reqwest::Client,
    resolver: Resolver,
    /// Cookies, where they are kept.
    cookies: Option<Arc<Jars>>,
    own_headers: Arc<OwnHeaders>,
    caps: Caps,
    fetch: Arc<Fetch>,
    stopped: CancellationToken,
    large: Arc<Semaphore>,
    /// Header lines of every request, if exchanges are kept.
    wire: Option<Arc<WireHeaders>>,
    /// Whether requests may be sent now, where that depends on leases.
    gate: Option<LeaseGate>,
}

/// Pause between two questions whether requests may be sent again.
const CLOSED: Duration = Duration::from_millis(100);

/// Bytes read of the body of an error or a redirect, so that its connection can be reused.
const DRAINED: usize = 256 * 1024;

impl Fetcher {
    /// A fetcher with its own client and connections.
    ///
    /// `crawl.memory` bounds the bytes of large bodies in memory at one time. One large body always fits.
    pub fn new(settings: &Settings) -> Result<Fetcher, ClientError> {
        let (fetch, memory) = (&settings.fetch, settings.crawl.memory);
        let resolver = Resolver::new(fetch)?;
        let cookies = Jars::new(settings).map(Arc::new);
        let client = client::build(fetch, &resolver, cookies.clone(), None)?;
        Ok(Fetcher {
            client,
            resolver,
            cookies,
            own_headers: Arc::new(OwnHeaders::new(settings)),
            caps: Caps::new(fetch),
            fetch: Arc::new(fetch.clone()),
            stopped: CancellationToken::new(),
            large: Arc::new(Semaphore::new((memory / 4 / fetch.max_bytes.max(1)).clamp(1, 65_536))),
            wire: None,
            gate: None,
        })
    }

    /// Makes the fetcher send only while leases last. Requests wait until they are renewed.
    pub fn leased_by(mut self, gate: LeaseGate) -> Result<Fetcher, ClientError> {
        self.client = client::build(&self.fetch, &self.resolver, self.cookies.clone(), Some(&gate))?;
        self.gate = Some(gate);
        Ok(self)
    }

    /// Makes the fetcher keep every exchange as it was on the wire.
    pub fn keeping_wire(mut self) -> Result<Fetcher, ClientError> {
        self.wire = Some(Arc::new(WireHeaders::new(&self.fetch)?));
        Ok(self)
    }

    /// Whether requests to this host carry something that is for its own pages only: cookies, or headers of its own.
    pub fn is_known_to(&self, url: &PageUrl) -> bool {
        let has_cookies = || self.cookies.as_ref().is_some_and(|jars| jars.cookies(url.url()).is_some());
        !self.own_headers.of(url.host()).is_empty() || has_cookies()
    }

    /// The resolver, for politeness keys by address.
    pub fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    /// Stops sending. Requests in flight are completed.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// What a future gives, unless sending is stopped before.
    #[cfg(feature = "render")]
    pub(crate) async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.stopped.run_until_cancelled(future).await
    }

    /// Sends one GET request. The caller has checked robots.txt and waited for the politeness delay.
    pub async fn fetch(&self, request: &FetchRequest) -> Fetched {
        let url = &request.url;
        let ready = async {
            let addresses = self.addresses(url).await?;
            let address = addresses.first().map(SocketAddr::ip);
            self.caps.request(address).await;
            while self.gate.as_ref().is_some_and(|gate| !gate.is_open()) {
                tokio::time::sleep(CLOSED).await;
            }
            Ok(address)
        };
        let ready = self.stopped.run_until_cancelled(ready).await;
        let address = match ready.unwrap_or_else(|| Err(FetchError::Stopped { url: url.clone() })) {
            Ok(address) => address,
            Err(error) => return Fetched { times: None, outcome: Err(error), archive_failed: false },
        };
        let sent = Instant::now();
        let mut answered = None;
        // reqwest's own timeout covers reads of the body. This one also covers our decoder.
        let whole = tokio::time::timeout(self.fetch.timeout, self.send(request, address, &mut answered));
        let outcome = whole.await.unwrap_or_else(|_| Err(self.timeout(url)));
        let ended = Instant::now();
        if let Ok(response) = &outcome {
            // Counted afterwards, so that waiting for the byte limit does not make the server look slow.
            let paid = self.caps.bytes(response.raw_bytes);
            self.stopped.run_until_cancelled(paid).await;
        }
        Fetched { times: Some(Times { sent, answered, ended }), outcome, archive_failed: false }
    }

    async fn addresses(&self, url: &PageUrl) -> Result<Vec<SocketAddr>, FetchError> {
        let found = match url.ip_literal() {
            Some(literal) => self.resolver.allowed(vec![SocketAddr::new(literal, url.port())]),
            // The proxy resolves names, and its own rules say what it may reach.
            None if !self.fetch.proxy.is_empty() => Ok(Vec::new()),
            None => self.resolver.resolve(url.host()).await,
        };
        found.map_err(|e| match e {
            ResolveError::Private(address) => FetchError::Refused { url: url.clone(), address },
            ResolveError::Unknown(reason) if is_shortage(&reason) => FetchError::Shortage { url: url.clone(), reason },
            ResolveError::Unknown(reason) => FetchError::Dns { url: url.clone(), host: url.host().to_owned(), reason },
        })
    }

    #[expect(clippy::disallowed_methods, reason = "this is the fetcher")]
    async fn send(
        &self,
        request: &FetchRequest,
        address: Option<IpAddr>,
        answered: &mut Option<Instant>,
    ) -> Result<Response, FetchError> {
        let url = &request.url;
        let conditions = [(IF_NONE_MATCH, &request.known.etag), (IF_MODIFIED_SINCE, &request.known.last_modified)];
        let conditions = conditions.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let mut own = HeaderMap::clone(&self.own_headers.of(url.host()));
        for (name, value) in conditions {
            let Ok(header) = HeaderValue::try_from(value) else { continue };
            own.insert(name, header);
        }
        for (name, value) in &request.headers {
            let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else { continue };
            own.insert(name, value);
        }
        let cookies = || self.cookies.as_ref().and_then(|jars| jars.cookies(url.url()));
        let sent = self.wire.as_ref().map(|usual| usual.request(url, &own, cookies()));
        let answer = self.client.get(url.url().clone()).headers(own).send().await;
        *answered = Some(Instant::now());
        let answer = answer.map_err(|e| self.sort(url, &e))?;
        let headers = answer.headers();
        let mut response = Response {
            content_type: content_type(headers),
            location: location(headers),
            sets_cookie: headers.contains_key(SET_COOKIE),
            retry_after: text(headers, RETRY_AFTER).and_then(|value| wait_of(&value)),
            date: text(headers, DATE).and_then(|value| httpdate::parse_http_date(&value).ok()),
            validators: Validators { etag: text(headers, ETAG), last_modified: text(headers, LAST_MODIFIED) },
            rights: RightsHeaders::new(|name| lines(headers, name)),
            lines: if request.resource == Resource::Subresource { all_lines(headers) } else { Vec::new() },
            ..Response::empty(url.clone(), answer.status().as_u16())
        };
        let listed = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let codings = codings(listed);
        let is_seed = request.resource == Resource::Seed;
        let is_page = (is_seed || request.resource == Resource::Page) && answer.status().is_success();
        let wire = sent.map(|request| wire(request, &answer, address));
        if is_page {
            let content_type = response.content_type.as_deref();
            let may_be = media_type::may_be_html(content_type)
                .or_else(|found| if is_seed && media_type::may_be_list(&found) { Ok(()) } else { Err(found) });
            may_be.map_err(|content_type| FetchError::NotHtml { url: url.clone(), content_type })?;
        }
        let is_success = answer.status().is_success();
        let codings = match codings {
            Ok(codings) => codings,
            Err(encoding) => {
                let (url, reason) = (url.clone(), "too many content codings".to_owned());
                return Err(FetchError::Encoding { url, encoding, reason });
            }
        };
        let encoding = codings.iter().map(|coding| coding.name()).collect::<Vec<_>>().join(", ");
        let read = body::read(answer, codings, &self.limits(request.resource, is_success)).await;
        let body = match read {
            Ok(body) => body,
            // The body of an error response is not needed.
            Err(_) if !is_success => Body { was_cut: true, ..Body::default() },
            Err(e) => return Err(self.body_error(url, &encoding, e)),
        };
        response.raw_bytes = body.raw_bytes;
        response.wire = wire.map(|wire| Box::new(Wire { body: body.raw, was_cut: body.was_cut, ..wire }));
        if is_success {
            response.body = body.decoded;
            response.place = body.place.map(Arc::new);
        }
        response.is_list = is_page && is_seed && is_announcement(&response.body);
        if is_page && !response.is_list {
            response.refresh = refresh_target(&response);
        }
        if is_page && !response.is_list && !response.body.is_empty() {
            let is_html = media_type::is_html(response.content_type.as_deref(), &response.body);
            is_html.map_err(|content_type| FetchError::NotHtml { url: url.clone(), content_type })?;
        }
        Ok(response)
    }

    fn limits(&self, resource: Resource, is_success: bool) -> Limits {
        let (raw, decoded, cut) = match resource {
            _ if !is_success => (DRAINED, DRAINED, true),
            Resource::Page | Resource::Seed | Resource::Subresource => {
                (self.fetch.max_raw_bytes, self.fetch.max_bytes, false)
            }
            Resource::Robots => (MAX_ROBOTS_BYTES, MAX_ROBOTS_BYTES, true),
            Resource::Sitemap => (MAX_SITEMAP_BYTES, MAX_SITEMAP_BYTES, true),
        };
        let (min_rate, keep_raw) = (self.fetch.min_rate, self.wire.is_some());
        Limits { raw, decoded, cut, min_rate, keep_raw, large: Arc::clone(&self.large) }
    }

    fn sort(&self, url: &PageUrl, error: &reqwest::Error) -> FetchError {
        if error.is_timeout() && !error.is_connect() {
            return self.timeout(url);
        }
        let (url, reason) = (url.clone(), in_plain_words(innermost(error)));
        if is_shortage(&reason) { FetchError::Shortage { url, reason } } else { FetchError::Connection { url, reason } }
    }

    fn timeout(&self, url: &PageUrl) -> FetchError {
        FetchError::Timeout { url: url.clone(), seconds: self.fetch.timeout.as_secs() }
    }

    fn body_error(&self, url: &PageUrl, encoding: &str, error: BodyError) -> FetchError {
        let url = url.clone();
        match error {
            BodyError::RawLimit => {
                FetchError::TooLarge { url, limit: self.fetch.max_raw_bytes, setting: "fetch.max_raw_bytes" }
            }
            BodyError::DecodedLimit => {
                FetchError::TooLarge { url, limit: self.fetch.max_bytes, setting: "fetch.max_bytes" }
            }
            BodyError::NoRoom => FetchError::NoRoom { url },
            BodyError::Slow => FetchError::Slow { url, limit: self.fetch.min_rate },
            BodyError::Broken(reason) => FetchError::Broken { url, reason },
            BodyError::Encoding(e) => {
                FetchError::Encoding { url, encoding: encoding.to_owned(), reason: e.to_string() }
            }
        }
    }
}

/// Whether an error of the system is about this machine: no files (EMFILE, ENFILE), memory (ENOMEM) or buffers
/// (ENOBUFS) are left.
fn is_shortage(reason: &str) -> bool {
    const CODES: [u32; 4] = [24, 23, 12, 105];
    let code = reason.rsplit_once("(os error ").and_then(|(_, rest)| rest.strip_suffix(')')?.parse().ok());
    cfg!(target_os = "linux") && code.is_some_and(|code: u32| CODES.contains(&code))
}
