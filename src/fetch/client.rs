//! Builds the one HTTP client.

use std::sync::Arc;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;

use super::{ClientError, Resolver};
use crate::settings::Fetch;

/// A client that follows nothing, decodes nothing, keeps one idle connection a host and asks our resolver.
///
/// rustls with ring is installed here rather than in `main`, which no test runs.
pub(super) fn build(fetch: &Fetch, resolver: &Resolver) -> Result<reqwest::Client, ClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let set_up = |e: &dyn std::error::Error| ClientError::SetUp(e.to_string());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| set_up(&e))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(&fetch.user_agent)
        .default_headers(headers())
        .redirect(Policy::none())
        .referer(false)
        .no_proxy()
        .retry(reqwest::retry::never())
        .connect_timeout(fetch.connect_timeout)
        .timeout(fetch.timeout)
        .pool_max_idle_per_host(1)
        .dns_resolver(Arc::new(resolver.clone()))
        .build()
        .map_err(|e| set_up(&e))
}

fn headers() -> HeaderMap {
    HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static("text/html,application/xhtml+xml;q=0.9,*/*;q=0.1")),
        (ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate")),
        (ACCEPT_LANGUAGE, HeaderValue::from_static("*")),
    ])
}
