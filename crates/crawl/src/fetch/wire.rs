//! The heads of an exchange as they were on the wire, for archives.
//!
//! Names of headers are in lower case: requests are sent so, and the HTTP library does not keep how a server wrote
//! them. The body is kept without chunking, so `Transfer-Encoding` is called `X-Orig-Transfer-Encoding`.

use std::net::IpAddr;

use dehusk_html::PageUrl;
use dehusk_settings::Fetch;
use hyper::ext::ReasonPhrase;
use reqwest::header::{ACCEPT, COOKIE, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING, USER_AGENT};

use super::{ClientError, Wire, client};

/// Headers of every request, in the order in which they are sent.
pub(super) struct WireHeaders(Vec<(HeaderName, HeaderValue)>);

impl WireHeaders {
    /// The headers of these settings.
    pub(super) fn new(fetch: &Fetch) -> Result<WireHeaders, ClientError> {
        let agent = HeaderValue::try_from(&fetch.user_agent);
        let agent = agent.map_err(|_| ClientError::Header(format!("{USER_AGENT}: {}", fetch.user_agent)))?;
        let mut usual = client::headers(fetch)?;
        usual.entry(USER_AGENT).or_insert(agent);
        let mut headers: Vec<_> = usual.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        // The client has these two of its own, whose values ours replace.
        headers.sort_by_key(|(name, _)| if *name == ACCEPT { 0 } else { 1 + usize::from(*name != USER_AGENT) });
        Ok(WireHeaders(headers))
    }

    /// Request line and header lines. `own` are the headers of this request, which come first.
    pub(super) fn request(&self, url: &PageUrl, own: &HeaderMap, cookies: Option<HeaderValue>) -> String {
        let target = &url.url()[url::Position::BeforePath..url::Position::AfterQuery];
        let host = &url.url()[url::Position::BeforeHost..url::Position::BeforePath];
        let usual = self.0.iter().filter(|(name, _)| !own.contains_key(name)).map(|(name, value)| (name, value));
        let cookies = cookies.as_ref().filter(|_| !own.contains_key(COOKIE)).map(|value| (&COOKIE, value));
        let mut head = format!("GET {target} HTTP/1.1\r\n");
        for (name, value) in own.iter().chain(usual).chain(cookies) {
            head += &format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
        }
        head + &format!("host: {host}\r\n")
    }
}

/// The heads of an exchange in the form of HTTP/1, whatever its version.
pub(super) fn wire(request: String, answer: &reqwest::Response, address: Option<IpAddr>) -> Wire {
    let (protocol, version) = match answer.version() {
        reqwest::Version::HTTP_2 => ("h2", "HTTP/1.1"),
        reqwest::Version::HTTP_10 => ("http/1.0", "HTTP/1.0"),
        _ => ("http/1.1", "HTTP/1.1"),
    };
    let status = answer.status();
    let usual = status.canonical_reason().unwrap_or_default().as_bytes();
    let reason = answer.extensions().get::<ReasonPhrase>().map_or(usual, ReasonPhrase::as_bytes);
    let mut response = format!("{version} {} ", status.as_u16()).into_bytes();
    response.extend_from_slice(reason);
    response.extend_from_slice(b"\r\n");
    for (name, value) in answer.headers() {
        let name = if *name == TRANSFER_ENCODING { "x-orig-transfer-encoding" } else { name.as_str() };
        response.extend_from_slice(name.as_bytes());
        response.extend_from_slice(b": ");
        response.extend_from_slice(value.as_bytes());
        response.extend_from_slice(b"\r\n");
    }
    Wire {
        request,
        response,
        body: Vec::new(),
        was_cut: false,
        address: answer.remote_addr().map(|remote| remote.ip()).or(address),
        protocol,
    }
}
