//! One polite request to a [`Response`]. Every request of the program passes [`Fetcher::fetch`].
//!
//! The gate checks the address after DNS, waits for the caps, stamps the moment of sending, and keeps the limits on
//! time and bytes, raw and decoded. It follows no redirect: the crawl does, so that each hop asks robots.txt and
//! waits its turn. When to call it is not decided here: that is the frontier's.

mod address;
mod body;
mod client;
mod cookies;
mod fetcher;
mod redirect;
mod resolver;
mod sniff;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

pub use fetcher::{FetchRequest, Fetcher, Resource};
pub use redirect::redirect_target;
pub use resolver::Resolver;
pub use sniff::is_html;

use crate::politeness::Times;
use crate::validators::Validators;
use dehusk_core::internals::page_url::PageUrl;

/// An answer within the limits.
#[derive(Clone, Debug)]
pub struct Response {
    /// The URL that answered.
    pub url: PageUrl,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// `Location` as sent.
    pub location: Option<String>,
    /// `Retry-After`, seconds or date, as time from now.
    pub retry_after: Option<Duration>,
    /// `ETag` and `Last-Modified`.
    pub validators: Validators,
    /// `X-Robots-Tag` lines.
    pub robots_tags: Vec<String>,
    /// Decoded body; empty for what is no success.
    pub body: Vec<u8>,
    /// Bytes of the body as sent.
    pub raw_bytes: usize,
    /// The exchange as it went over the wire, where the gate keeps it.
    pub wire: Option<Box<Wire>>,
    /// The place of a large body among those in memory; given back when the last copy is dropped.
    pub place: Option<Arc<OwnedSemaphorePermit>>,
}

impl Response {
    /// An answer of this status with nothing in it.
    pub fn empty(url: PageUrl, status: u16) -> Response {
        Response {
            url,
            status,
            content_type: None,
            location: None,
            retry_after: None,
            validators: Validators::default(),
            robots_tags: Vec::new(),
            body: Vec::new(),
            raw_bytes: 0,
            wire: None,
            place: None,
        }
    }
}

/// A request and its answer as they went over the wire, but for chunking.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Request line and header lines.
    pub request: String,
    /// Status line and header lines.
    pub response: Vec<u8>,
    /// The body as sent, still compressed.
    pub body: Vec<u8>,
    /// Was the body cut at a limit?
    pub was_cut: bool,
    /// The server's address.
    pub address: Option<IpAddr>,
    /// `h2`, `http/1.1` or `http/1.0`.
    pub protocol: &'static str,
}

/// The end of one request.
#[derive(Debug)]
pub struct Fetched {
    /// Moments of the request; `None` when nothing was sent.
    pub times: Option<Times>,
    /// What came of it.
    pub outcome: Result<Response, FetchError>,
    /// Could it not be written into the archive that was asked for?
    pub archive_failed: bool,
}

impl Fetched {
    /// A request whose task ended without an answer: a defect of ours.
    pub fn broken(url: &PageUrl) -> Fetched {
        let reason = "internal error, please report it".to_owned();
        Fetched {
            times: None,
            outcome: Err(FetchError::Connection { url: url.clone(), reason }),
            archive_failed: false,
        }
    }
}

/// Why a request gave no page.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum FetchError {
    /// The name has no address.
    #[error("{url}: {host} cannot be resolved ({reason})")]
    Dns {
        /// What was asked for.
        url: PageUrl,
        /// The name.
        host: String,
        /// The resolver's reason.
        reason: String,
    },
    /// The address belongs to this machine or a private network.
    #[error(
        "{url}: {address} is an address of this machine or of a private network (set fetch.allow_private to allow)"
    )]
    Refused {
        /// What was asked for.
        url: PageUrl,
        /// The first address found.
        address: IpAddr,
    },
    /// No connection, or it broke.
    #[error("{url}: {reason}")]
    Connection {
        /// What was asked for.
        url: PageUrl,
        /// The innermost reason.
        reason: String,
    },
    /// No whole answer in time.
    #[error("{url}: no whole answer within {seconds} s (fetch.timeout)")]
    Timeout {
        /// What was asked for.
        url: PageUrl,
        /// The limit.
        seconds: u64,
    },
    /// The body is too long.
    #[error("{url}: the body is longer than {limit} bytes ({setting})")]
    TooLarge {
        /// What was asked for.
        url: PageUrl,
        /// The limit.
        limit: usize,
        /// Name of the limit's setting.
        setting: &'static str,
    },
    /// Too many large bodies are in memory already.
    #[error("{url}: no room for a large body (crawl.memory)")]
    NoRoom {
        /// What was asked for.
        url: PageUrl,
    },
    /// The body comes too slowly.
    #[error("{url}: fewer than {limit} bytes a second (fetch.min_rate)")]
    Slow {
        /// What was asked for.
        url: PageUrl,
        /// The limit.
        limit: usize,
    },
    /// The body is no HTML.
    #[error("{url}: {content_type} is not HTML")]
    NotHtml {
        /// What was asked for.
        url: PageUrl,
        /// As sent.
        content_type: String,
    },
    /// The crawl was stopped before it was sent.
    #[error("{url}: not sent, the crawl was stopped")]
    Stopped {
        /// What was to be asked for.
        url: PageUrl,
    },
    /// The body cannot be decompressed.
    #[error("{url}: broken {encoding} body ({reason})")]
    Encoding {
        /// What was asked for.
        url: PageUrl,
        /// `Content-Encoding` as sent.
        encoding: String,
        /// The decoder's reason.
        reason: String,
    },
}

impl FetchError {
    /// Has the server not answered at all, so that its whole domain may be down?
    pub fn is_connection(&self) -> bool {
        matches!(self, FetchError::Connection { .. } | FetchError::Timeout { .. } | FetchError::Dns { .. })
    }

    /// May the same request succeed a little later?
    pub fn is_transient(&self) -> bool {
        self.is_connection() || matches!(self, FetchError::NoRoom { .. })
    }
}

/// Why the client could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// TLS or HTTP set-up failed.
    #[error("cannot set up the HTTP client: {0}")]
    SetUp(String),
    /// `fetch.proxy` is no proxy.
    #[error("fetch.proxy: `{0}`: {1}")]
    Proxy(String, String),
    /// An entry of `fetch.headers` is malformed.
    #[error("fetch.headers: `{0}`: expected \"Name: value\"")]
    Header(String),
    /// An entry of `fetch.resolve` is malformed.
    #[error("fetch.resolve: `{0}`: expected NAME=ADDRESS[:PORT], such as *.shop.test=127.0.0.1:8080")]
    Resolve(String),
}
