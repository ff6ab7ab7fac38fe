//! Fetches one URL and returns a [`Response`]. Every request of the program goes through [`Fetcher::fetch`].
//!
//! The fetcher checks the address after DNS, waits for the rate limits, records the time of sending, and keeps the
//! limits on time and bytes, raw and decoded. It follows no redirects: the crawl does, so that each hop obeys
//! robots.txt and the politeness delay. The politeness queues decide when a request is sent.

mod address;
mod body;
mod caps;
mod client;
mod cookies;
mod fetcher;
mod gate;
mod headers;
mod own_headers;
mod plain_words;
mod post;
mod redirect;
mod refresh;
mod resolver;
mod wire;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::OwnedSemaphorePermit;

pub use client::Authorities;
pub use fetcher::{FetchRequest, Fetcher, Resource};
pub use post::post;
pub use redirect::{page_target, redirect_target};
pub use resolver::Resolver;

use crate::politeness::Times;
use dehusk_core::rights::RightsHeaders;
use dehusk_html::PageUrl;
use dehusk_store::reason::ReasonCode;
use dehusk_store::validators::Validators;

/// A response within the limits.
#[derive(Clone, Debug)]
pub struct Response {
    /// The URL that was requested.
    pub url: PageUrl,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// `Location` as sent.
    pub location: Option<String>,
    /// Whether it sets a cookie.
    pub sets_cookie: bool,
    /// `Retry-After`, seconds or date, as time from now.
    pub retry_after: Option<Duration>,
    /// `Date`: when it was sent, by the clock of the server.
    pub date: Option<SystemTime>,
    /// `ETag` and `Last-Modified`.
    pub validators: Validators,
    /// All header lines, of what scripts have asked for.
    pub lines: Vec<(String, String)>,
    /// Headers in which the owner says what the page may be used for.
    pub rights: RightsHeaders,
    /// Decoded body; empty unless the status is a success.
    pub body: Vec<u8>,
    /// Whether the body is a list of URLs: a sitemap, a feed or OPML, where a seed was requested.
    pub is_list: bool,
    /// Where the page leads without a click.
    pub refresh: Option<PageUrl>,
    /// Bytes of the body as sent.
    pub raw_bytes: usize,
    /// The exchange as it was on the wire, if the fetcher keeps it.
    pub wire: Option<Box<Wire>>,
    /// `WARC-Record-ID` of the record of this response, if the exchange was archived.
    pub warc_record: Option<String>,
    /// Memory permit of a large body, released when the last copy is dropped.
    pub place: Option<Arc<OwnedSemaphorePermit>>,
}

impl Response {
    /// A response of this status without headers and body.
    pub fn empty(url: PageUrl, status: u16) -> Response {
        Response {
            url,
            status,
            content_type: None,
            location: None,
            sets_cookie: false,
            retry_after: None,
            date: None,
            validators: Validators::default(),
            lines: Vec::new(),
            rights: RightsHeaders::default(),
            body: Vec::new(),
            is_list: false,
            refresh: None,
            raw_bytes: 0,
            wire: None,
            warc_record: None,
            place: None,
        }
    }
}

/// A request and its response as they were on the wire, except for chunking.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Request line and header lines.
    pub request: String,
    /// Status line and header lines.
    pub response: Vec<u8>,
    /// The body as sent, still compressed.
    pub body: Vec<u8>,
    /// Whether the body was truncated at a limit.
    pub was_cut: bool,
    /// The server's address.
    pub address: Option<IpAddr>,
    /// `h2`, `http/1.1` or `http/1.0`.
    pub protocol: &'static str,
}

/// The result of one request.
#[derive(Debug)]
pub struct Fetched {
    /// Times of the request; `None` when nothing was sent.
    pub times: Option<Times>,
    /// The response, or why there is none.
    pub outcome: Result<Response, FetchError>,
    /// Whether writing the exchange to the archive failed.
    pub archive_failed: bool,
}

impl Fetched {
    /// The result of a request whose task ended without one, which is a bug.
    pub fn broken(url: &PageUrl, times: Times) -> Fetched {
        let reason = "internal error, please report it".to_owned();
        Fetched {
            times: Some(times),
            outcome: Err(FetchError::Broken { url: url.clone(), reason }),
            archive_failed: false,
        }
    }
}

/// Why a request failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum FetchError {
    /// The name has no address.
    #[error("{url}: the host name cannot be resolved ({reason})")]
    Dns {
        /// The requested URL.
        url: PageUrl,
        /// The host name.
        host: String,
        /// The resolver's reason.
        reason: String,
    },
    /// The address belongs to this machine or a private network.
    #[error(
        "{url}: {address} is an address of this machine or of a private network (--set fetch.allow_private=true allows it)"
    )]
    Refused {
        /// The requested URL.
        url: PageUrl,
        /// The first address found.
        address: IpAddr,
    },
    /// The connection failed or broke.
    #[error("{url}: {reason}")]
    Connection {
        /// The requested URL.
        url: PageUrl,
        /// The innermost reason.
        reason: String,
    },
    /// The server has answered, but its answer has no end.
    #[error("{url}: the answer broke off ({reason})")]
    Broken {
        /// The requested URL.
        url: PageUrl,
        /// The innermost reason.
        reason: String,
    },
    /// The response was not complete in time.
    #[error("{url}: no whole answer within {seconds} s (fetch.timeout)")]
    Timeout {
        /// The requested URL.
        url: PageUrl,
        /// The limit.
        seconds: u64,
    },
    /// The body is too long.
    #[error("{url}: the body is longer than {limit} bytes ({setting})")]
    TooLarge {
        /// The requested URL.
        url: PageUrl,
        /// The limit.
        limit: usize,
        /// Name of the limit's setting.
        setting: &'static str,
    },
    /// This machine has no room for a connection: no files, ports or buffers are left.
    #[error("{url}: this machine is short of something ({reason})")]
    Shortage {
        /// The requested URL.
        url: PageUrl,
        /// The system's reason.
        reason: String,
    },
    /// Too many large bodies are in memory already.
    #[error("{url}: no room for a large body (crawl.memory)")]
    NoRoom {
        /// The requested URL.
        url: PageUrl,
    },
    /// The body arrives too slowly.
    #[error("{url}: fewer than {limit} bytes a second (fetch.min_rate)")]
    Slow {
        /// The requested URL.
        url: PageUrl,
        /// The limit.
        limit: usize,
    },
    /// The body is not HTML.
    #[error("{url}: {content_type} is not HTML")]
    NotHtml {
        /// The requested URL.
        url: PageUrl,
        /// The type as sent, or as detected from the body.
        content_type: String,
    },
    /// The crawl was stopped before the request was sent.
    #[error("{url}: not sent, the crawl was stopped")]
    Stopped {
        /// The URL that was not requested.
        url: PageUrl,
    },
    /// The body cannot be decompressed.
    #[error("{url}: broken {encoding} body ({reason})")]
    Encoding {
        /// The requested URL.
        url: PageUrl,
        /// `Content-Encoding` as sent.
        encoding: String,
        /// The decoder's reason.
        reason: String,
    },
}

impl FetchError {
    /// The error without the URL that it begins with.
    pub fn reason(&self) -> String {
        let text = self.to_string();
        text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest).to_owned()
    }

    /// What kind of failure it is.
    pub fn code(&self) -> ReasonCode {
        match self {
            FetchError::Dns { .. } => ReasonCode::Dns,
            FetchError::Refused { .. } => ReasonCode::PrivateAddress,
            FetchError::Connection { .. } | FetchError::Broken { .. } | FetchError::Stopped { .. } => {
                ReasonCode::Connection
            }
            FetchError::Timeout { .. } | FetchError::Slow { .. } => ReasonCode::Timeout,
            FetchError::TooLarge { .. } => ReasonCode::TooLarge,
            FetchError::NoRoom { .. } => ReasonCode::Memory,
            FetchError::Shortage { .. } => ReasonCode::Internal,
            FetchError::NotHtml { .. } => ReasonCode::NotHtml,
            FetchError::Encoding { .. } => ReasonCode::Encoding,
        }
    }

    /// Whether the server did not respond at all, so that the whole host may be down.
    pub fn is_connection(&self) -> bool {
        matches!(self, FetchError::Connection { .. } | FetchError::Timeout { .. } | FetchError::Dns { .. })
    }

    /// Whether the same request may succeed a little later.
    pub fn is_transient(&self) -> bool {
        self.is_connection() || matches!(self, FetchError::NoRoom { .. } | FetchError::Broken { .. })
    }
}

/// Why the HTTP client could not be built.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// TLS or HTTP set-up failed.
    #[error("cannot set up the HTTP client: {0}")]
    SetUp(String),
    /// `fetch.ca_file` cannot be used.
    #[error("fetch.ca_file: {file}: {reason}; expected certificates in PEM form")]
    Authorities {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// `fetch.proxy` is not a valid proxy URL.
    #[error("fetch.proxy: `{0}`: {1}")]
    Proxy(String, String),
    /// An entry of `fetch.headers` is malformed.
    #[error("fetch.headers: `{0}`: expected \"Name: value\"")]
    Header(String),
    /// An entry of `fetch.resolve` is malformed.
    #[error("fetch.resolve: `{0}`: expected NAME=ADDRESS[:PORT], such as *.shop.test=127.0.0.1:8080")]
    Resolve(String),
    /// What was to be posted could not be.
    #[error("{0}: {1}")]
    Post(String, String),
}
