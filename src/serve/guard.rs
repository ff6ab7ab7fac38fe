//! Which requests are answered, and what browsers are told.
//!
//! A page of the web may make a browser ask this server. So the `Host` must be one of ours (a foreign name that leads
//! here is refused: DNS rebinding), a POST must come from our own pages, and beyond the loopback address a token is
//! needed, which a cookie keeps for the site itself only.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, ORIGIN,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Access, Inspector};

/// Name of the cookie.
const COOKIE_NAME: &str = "dehusk_token";

/// What our own pages may do. Crawled pages have a policy of their own, see `frame.rs`.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The same for a page with a crawled one in a `srcdoc`, which has the policy of the page around it. Its own sandbox
/// forbids scripts.
pub(super) const POLICY_AROUND_PAGES: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; \
    img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Refuses what is not ours, and adds the headers of all answers.
pub(super) async fn guard(State(inspector): State<Arc<Inspector>>, request: Request, next: Next) -> Response {
    let mut response = match refused(&inspector.access, request.method(), request.uri(), request.headers()) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // With `no-referrer` browsers would send a POST of our own pages with `Origin: null`.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Why a request is not answered; `None` for one that is.
fn refused(access: &Access, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST).unwrap_or_default();
    if !access.is_named(host) {
        let text = format!("this inspector is not called {host:?}; dehusk serve --name NAME allows a name\n");
        return Some((StatusCode::MISDIRECTED_REQUEST, text).into_response());
    }
    if method != Method::GET && method != Method::HEAD {
        let is_own_origin = |origin: &str| origin.split_once("://").is_some_and(|(_, of)| of == host);
        let is_same_site = matches!(text(HeaderName::from_static("sec-fetch-site")), None | Some("same-origin"));
        if !is_same_site || !text(ORIGIN).is_none_or(is_own_origin) {
            return Some((StatusCode::FORBIDDEN, "only pages of the inspector may send this\n").into_response());
        }
    }
    let token = access.token.as_deref()?;
    if cookie(text(COOKIE).unwrap_or_default()).is_some_and(|shown| is_same(shown, token)) {
        return None;
    }
    let bearer = text(HeaderName::from_static("authorization")).and_then(|value| value.strip_prefix("Bearer "));
    if bearer.is_some_and(|shown| is_same(shown, token)) {
        return None;
    }
    Some(first_call(uri, token))
}

/// The first call of a browser shows the token in the address; from then on a cookie has it.
fn first_call(uri: &Uri, token: &str) -> Response {
    let shown = uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token="));
    if !shown.is_some_and(|shown| is_same(shown, token)) {
        let text = "the token is missing: open the address that `dehusk serve` has printed\n";
        return (StatusCode::UNAUTHORIZED, text).into_response();
    }
    let cookie = format!("{COOKIE_NAME}={token}; Path=/; HttpOnly; SameSite=Strict");
    let to = if uri.path().starts_with("//") { "/" } else { uri.path() };
    (StatusCode::SEE_OTHER, [(LOCATION, to.to_owned()), (SET_COOKIE, cookie)]).into_response()
}

fn cookie(all: &str) -> Option<&str> {
    all.split(';').find_map(|one| one.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

/// Compares in a time that does not say where two texts differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

impl Access {
    /// Whether a `Host` header names this server.
    fn is_named(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => (name, port.parse().unwrap_or(0)),
            _ => (host, 80),
        };
        let own = self.address.ip().to_string();
        let is_name = |known: &str| name.eq_ignore_ascii_case(known);
        let is_address = is_name(&own) || name == format!("[{own}]");
        // A proxy in front may listen at another port.
        self.names.iter().any(|known| is_name(known))
            || (port == self.address.port()
                && (is_address || (self.address.ip().is_loopback() && is_name("localhost"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(token: Option<&str>) -> Access {
        let token = token.map(str::to_owned);
        Access { address: ([127, 0, 0, 1], 7777).into(), names: vec!["crawl.example.org".to_owned()], token }
    }

    fn status(access: &Access, method: Method, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        refused(access, &method, &uri.parse().unwrap(), &map).map_or(200, |response| response.status().as_u16())
    }

    #[test]
    fn a_foreign_name_that_leads_here_is_refused() {
        let get = |host: &str| status(&access(None), Method::GET, "/", &[("host", host)]);
        for host in ["127.0.0.1:7777", "localhost:7777", "LOCALHOST:7777", "crawl.example.org", "crawl.example.org:443"]
        {
            assert_eq!(get(host), 200, "{host}");
        }
        for host in
            ["evil.example", "evil.example:7777", "127.0.0.1:80", "localhost", "", "[::1]:7777", "127.0.0.1:7777x"]
        {
            assert_eq!(get(host), 421, "{host}");
        }
    }

    #[test]
    fn only_our_own_pages_may_send() {
        let host = ("host", "localhost:7777");
        let post = |headers: &[(&str, &str)]| status(&access(None), Method::POST, "/try", headers);
        assert_eq!(post(&[host, ("origin", "http://localhost:7777"), ("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(post(&[host, ("origin", "http://evil.example")]), 403);
        assert_eq!(post(&[host, ("origin", "null")]), 403);
        assert_eq!(post(&[host, ("sec-fetch-site", "cross-site")]), 403);
    }

    #[test]
    fn a_token_is_shown_once_and_kept_in_a_cookie() {
        let guarded = access(Some("secret"));
        let get =
            |uri: &str, more: (&str, &str)| status(&guarded, Method::GET, uri, &[("host", "localhost:7777"), more]);
        assert_eq!(get("/sites", ("accept", "*/*")), 401);
        assert_eq!(get("/sites?token=wrong!", ("accept", "*/*")), 401);
        assert_eq!(get("/sites?token=secret", ("accept", "*/*")), 303);
        assert_eq!(get("/sites", ("cookie", "a=b; dehusk_token=secret")), 200);
        assert_eq!(get("/sites", ("cookie", "dehusk_token=secre")), 401);
        assert_eq!(get("/api/sites", ("authorization", "Bearer secret")), 200);
    }
}
