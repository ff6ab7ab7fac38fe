//! Headers that `[[site]]` tables add to the requests of some hosts.

use std::sync::Arc;

use dehusk_settings::{ByHost, Settings};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::ClientError;

/// Headers by host, beside those of all hosts.
#[derive(Debug)]
pub(super) struct OwnHeaders(ByHost<Arc<HeaderMap>>);

impl OwnHeaders {
    /// The headers of all `[[site]]` tables.
    pub(super) fn new(settings: &Settings) -> OwnHeaders {
        let n_usual = settings.fetch.headers.len();
        // Settings with invalid headers are rejected earlier.
        let make = move |settings: &Settings| {
            let own = settings.fetch.headers.get(n_usual..).unwrap_or_default();
            Arc::new(header_map(own).unwrap_or_default())
        };
        OwnHeaders(ByHost::new(settings, make))
    }

    /// Those of a host.
    pub(super) fn of(&self, host: &str) -> Arc<HeaderMap> {
        self.0.of(host)
    }
}

/// Headers for the client. Of two with one name the later one counts.
pub(super) fn header_map(lines: &[(String, String)]) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let wrong = || ClientError::Header(format!("{name}: {value}"));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        headers.insert(name, HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?);
    }
    Ok(headers)
}
