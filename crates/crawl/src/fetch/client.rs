//! Builds the HTTP client.

use std::sync::Arc;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::body::innermost;
use super::cookies::Jars;
use super::gate::GateLayer;
use super::own_headers::header_map;
use super::{ClientError, Resolver};
use dehusk_settings::Fetch;
use dehusk_store::lease_gate::LeaseGate;

/// A client that follows no redirects, decodes no bodies, keeps one idle connection per host and uses our resolver.
///
/// rustls with ring is set up here and not in `main`, because tests do not run `main`.
pub(super) fn build(
    fetch: &Fetch,
    resolver: &Resolver,
    cookies: Option<Arc<Jars>>,
    gate: Option<&LeaseGate>,
) -> Result<reqwest::Client, ClientError> {
    let set_up = |e: &dyn std::error::Error| ClientError::SetUp(e.to_string());
    let mut tls = tls(fetch)?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(&fetch.user_agent)
        .default_headers(headers(fetch)?)
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        // As browsers read heads: folded lines, lines that are no header, blanks before a colon, hundreds of lines.
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_max_headers(MOST_HEADERS)
        .http2_max_header_list_size(MOST_HEADER_BYTES)
        .connect_timeout(fetch.connect_timeout)
        .timeout(fetch.timeout)
        .pool_max_idle_per_host(1)
        .pool_idle_timeout(IDLE)
        .dns_resolver(Arc::new(resolver.clone()));
    let builder = match cookies {
        Some(jars) => builder.cookie_provider(jars),
        None => builder,
    };
    let builder = match gate {
        Some(gate) => builder.connector_layer(GateLayer(gate.clone())),
        None => builder,
    };
    let builder = match fetch.proxy.as_str() {
        "" => builder.no_proxy(),
        url => builder.proxy(reqwest::Proxy::all(url).map_err(|e| ClientError::Proxy(url.to_owned(), innermost(&e)))?),
    };
    builder.build().map_err(|e| set_up(&e))
}

/// TLS with the authorities that are trusted.
pub(super) fn tls(fetch: &Fetch) -> Result<rustls::ClientConfig, ClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = roots(&fetch.ca_file)?;
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| ClientError::SetUp(e.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The authorities that are trusted: the built-in ones, those of the system or of `SSL_CERT_FILE`, those of
/// `fetch.ca_file`.
fn roots(ca_file: &str) -> Result<rustls::RootCertStore, ClientError> {
    let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    // What the system has that cannot be read is of no use to anyone.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if !ca_file.is_empty() {
        roots.add_parsable_certificates(own_authorities(ca_file)?);
    }
    Ok(roots)
}

/// The certificates of `fetch.ca_file`.
fn own_authorities(ca_file: &str) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let wrong = |reason: String| ClientError::Authorities { file: ca_file.to_owned(), reason };
    let found = CertificateDer::pem_file_iter(ca_file).map_err(|e| wrong(e.to_string()))?;
    let found = found.collect::<Result<Vec<_>, _>>().map_err(|e| wrong(e.to_string()))?;
    match rustls::RootCertStore::empty().add_parsable_certificates(found.iter().cloned()) {
        (0, _) => Err(wrong("no certificate in it".to_owned())),
        _ => Ok(found),
    }
}

/// Numbers of the certificates of authorities that are trusted, by where they come from.
#[derive(Clone, Copy, Debug)]
pub struct Authorities {
    /// In the program.
    pub built_in: usize,
    /// Of the system, or of `SSL_CERT_FILE`.
    pub system: usize,
    /// Of `fetch.ca_file`.
    pub own: usize,
}

impl Authorities {
    /// Counts them.
    ///
    /// # Errors
    ///
    /// [`ClientError::Authorities`] when `fetch.ca_file` cannot be used.
    pub fn count(fetch: &Fetch) -> Result<Authorities, ClientError> {
        let own = if fetch.ca_file.is_empty() { 0 } else { own_authorities(&fetch.ca_file)?.len() };
        let system = rustls_native_certs::load_native_certs().certs.len();
        Ok(Authorities { built_in: webpki_roots::TLS_SERVER_ROOTS.len(), system, own })
    }
}

/// Header lines of a response. The client bounds their bytes.
const MOST_HEADERS: usize = 4096;

/// Bytes of the header lines of a response by HTTP/2.
const MOST_HEADER_BYTES: u32 = 256 << 10;

/// How long an idle connection is kept for the next page of its host. Longer than any usual delay.
const IDLE: std::time::Duration = std::time::Duration::from_secs(10);

/// Headers of every request.
pub(super) fn headers(fetch: &Fetch) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static("text/html,application/xhtml+xml;q=0.9,*/*;q=0.1")),
        (ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate")),
        (ACCEPT_LANGUAGE, HeaderValue::from_static("*")),
    ]);
    headers.extend(header_map(&fetch.headers)?);
    Ok(headers)
}
