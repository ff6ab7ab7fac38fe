//! Stored versions of pages by the Memento protocol (RFC 7089): a list of them, the one of a time, and each as fetched.
//!
//! `/timemap/link/URL` lists the versions, `/timegate/URL` leads to the one that was there at the time of the header
//! `Accept-Datetime` (the newest, without that header), `/memento/YYYYMMDDHHMMSS/URL` is one. A version is sent as it
//! was fetched, under a policy that runs nothing of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, LINK, LOCATION, VARY};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use dehusk_core::calendar::digits;
use dehusk_html::PageUrl;
use dehusk_store::{PageRow, Store};

use super::Refusal;
use super::routes::Shared;
use super::view::read;

const TIMEMAP: &str = "/timemap/link/";
const TIMEGATE: &str = "/timegate/";
const MEMENTO: &str = "/memento/";

const MEMENTO_DATETIME: HeaderName = HeaderName::from_static("memento-datetime");

/// What a page of an archive may do: nothing.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; \
                      frame-ancestors 'self'; sandbox";

/// A page with all its versions, the oldest first.
struct Versions {
    url: String,
    rows: Vec<PageRow>,
    /// Address of this server.
    base: String,
}

impl Versions {
    fn load(store: &Store, url: &str, base: String) -> Result<Versions, Refusal> {
        let parsed = PageUrl::parse(url).map_err(|e| Refusal::Wrong(format!("{url}: {e}")))?;
        let rows = store.page_versions(parsed.as_str())?;
        if rows.is_empty() {
            return Err(Refusal::Nothing(format!("no version of {parsed} is stored")));
        }
        Ok(Versions { url: parsed.to_string(), rows, base })
    }

    /// The version that was there at a time; before the first one, the first.
    fn at(&self, unix_ms: i64) -> &PageRow {
        self.rows.iter().rev().find(|row| row.fetched_at <= unix_ms).unwrap_or(&self.rows[0])
    }

    fn address(&self, row: &PageRow) -> String {
        format!("{}{MEMENTO}{}/{}", self.base, digits(row.fetched_at), self.url)
    }

    /// Links to the page, the time gate and the list, as every answer has them.
    fn links(&self) -> String {
        let Versions { url, base, .. } = self;
        format!(
            "<{url}>; rel=\"original\", <{base}{TIMEGATE}{url}>; rel=\"timegate\", \
             <{base}{TIMEMAP}{url}>; rel=\"timemap\"; type=\"application/link-format\""
        )
    }

    fn link_to(&self, at: usize) -> String {
        let row = &self.rows[at];
        let rel = match (at == 0, at + 1 == self.rows.len()) {
            (true, true) => "first last memento",
            (true, false) => "first memento",
            (false, true) => "last memento",
            (false, false) => "memento",
        };
        format!("<{}>; rel=\"{rel}\"; datetime=\"{}\"", self.address(row), http_date(row.fetched_at))
    }

    fn timemap(&self) -> String {
        let Versions { url, base, rows } = self;
        let (from, until) = (http_date(rows[0].fetched_at), http_date(rows[rows.len() - 1].fetched_at));
        let head = format!(
            "<{url}>; rel=\"original\",\n<{base}{TIMEGATE}{url}>; rel=\"timegate\",\n\
             <{base}{TIMEMAP}{url}>; rel=\"self\"; type=\"application/link-format\"; from=\"{from}\"; until=\"{until}\""
        );
        (0..rows.len()).fold(head, |list, at| format!("{list},\n{}", self.link_to(at))) + "\n"
    }
}

fn http_date(unix_ms: i64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(unix_ms.max(0) as u64))
}

/// Unix milliseconds of the last moment of a second.
fn end_of_second(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64 * 1000 + 999)
}

/// What follows a prefix in an address, with its query.
fn rest<'a>(uri: &'a Uri, prefix: &str) -> &'a str {
    uri.path_and_query().map_or("", |path| path.as_str()).strip_prefix(prefix).unwrap_or_default()
}

fn base_of(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    format!("http://{host}")
}

/// The list of all versions.
pub(super) async fn timemap(State(inspector): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    let (url, base) = (rest(&uri, TIMEMAP).to_owned(), base_of(&headers));
    let list = read(&inspector, move |store| Ok(Versions::load(store, &url, base)?.timemap())).await?;
    Ok(([(CONTENT_TYPE, "application/link-format")], list).into_response())
}

/// Leads to the version of a time.
pub(super) async fn timegate(State(inspector): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    let (url, base) = (rest(&uri, TIMEGATE).to_owned(), base_of(&headers));
    let asked = headers.get("accept-datetime").map(|time| time.to_str().unwrap_or_default().to_owned());
    let time = match asked {
        None => i64::MAX,
        Some(asked) => {
            let wrong = |_| Refusal::Wrong(format!("Accept-Datetime: {asked}: expected a date as in HTTP headers"));
            end_of_second(httpdate::parse_http_date(&asked).map_err(wrong)?)
        }
    };
    let (to, links) = read(&inspector, move |store| {
        let versions = Versions::load(store, &url, base)?;
        Ok((versions.address(versions.at(time)), versions.links()))
    })
    .await?;
    let headers = [(LOCATION, to), (VARY, "accept-datetime".to_owned()), (LINK, links)];
    Ok((StatusCode::FOUND, headers).into_response())
}

/// A version as it was fetched.
pub(super) async fn memento(State(inspector): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    let base = base_of(&headers);
    let Some((time, url)) = rest(&uri, MEMENTO).split_once('/').map(|(time, url)| (time.to_owned(), url.to_owned()))
    else {
        return Err(Refusal::Wrong("expected /memento/YYYYMMDDHHMMSS/URL".to_owned()));
    };
    let (body, headers) = read(&inspector, move |store| {
        let versions = Versions::load(store, &url, base)?;
        let row = versions.rows.iter().find(|row| digits(row.fetched_at) == time);
        let row = row.ok_or_else(|| Refusal::Nothing(format!("no version of {url} is of {time}")))?;
        let kind = row.content_type.clone().unwrap_or_else(|| "text/html".to_owned());
        let headers = [
            (CONTENT_TYPE, kind),
            (MEMENTO_DATETIME, http_date(row.fetched_at)),
            (LINK, versions.links()),
            (CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        ];
        Ok((store.load_raw(row)?, headers))
    })
    .await?;
    Ok((headers, body).into_response())
}
