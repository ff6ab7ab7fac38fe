//! Posts JSON to an address that the user has named.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::redirect::Policy;

use super::ClientError;
use super::body::innermost;
use super::client::tls;
use dehusk_settings::Fetch;

/// Posts JSON, and returns the status of the answer. Unlike those of a crawl, the address may be of a private network:
/// the user has named it. No redirect is followed, and of `fetch` only the user agent and the authorities are used.
///
/// # Errors
///
/// [`ClientError`] if the client cannot be set up, or the request cannot be sent.
pub async fn post(
    url: &str,
    json: String,
    headers: &[(&'static str, String)],
    timeout: Duration,
    fetch: &Fetch,
) -> Result<u16, ClientError> {
    let set_up = |e: reqwest::Error| ClientError::SetUp(innermost(&e));
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(fetch)?)
        .user_agent(&fetch.user_agent)
        .redirect(Policy::none())
        .timeout(timeout)
        .build()
        .map_err(set_up)?;
    let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(json);
    for (name, value) in headers {
        let value = HeaderValue::try_from(value.as_str()).map_err(|_| ClientError::Header((*name).to_owned()))?;
        request = request.header(HeaderName::from_static(name), value);
    }
    let sent = request.send().await;
    sent.map(|answer| answer.status().as_u16()).map_err(|e| ClientError::Post(url.to_owned(), innermost(&e)))
}
