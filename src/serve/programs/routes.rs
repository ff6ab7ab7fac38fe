//! `/v1`: what programs ask for, over HTTP.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures_util::Stream;
use serde::Deserialize;
use serde_json::Value;

use super::{Form, Given, Wanted, changes, cleaned, difference, extracted, read_page};
use crate::serve::api::{self, Call};
use crate::serve::routes::Shared;
use crate::serve::search::Search;
use crate::serve::view::read;
use crate::serve::{Inspector, Refusal};
use dehusk_core::rights::RightsHeaders;
use dehusk_html::PageUrl;

/// Time between two looks for changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Changes of an answer where no number is given.
const USUAL_CHANGES: usize = 100;

/// The calls.
#[rustfmt::skip]
pub(in crate::serve) const CALLS: [Call; 7] = [
    Call {
        method: "post", path: "/v1/clean", what: "A page without its template. The body is the page",
        parameters: &[
            ("url", "Address of the page; its host names the site"),
            ("form", "markdown, text, html or row (the columns of an export)"),
            ("site", "Host whose template is used"),
            ("alone", "true: no template is used"),
        ],
    },
    Call {
        method: "post", path: "/v1/extract",
        what: "A page of the web without its template: fetched where robots.txt allows it, when its host is due",
        parameters: &[("url", "Address"), ("form", "As for /v1/clean"), ("alone", "true: no template is used")],
    },
    Call {
        method: "get", path: "/v1/page", what: "A stored page without its template",
        parameters: &[("url", "Address"), ("form", "As for /v1/clean"), ("run", "Run after which it is given")],
    },
    Call {
        method: "get", path: "/v1/diff", what: "The lines that differ between a stored page and its version before",
        parameters: &[("url", "Address")],
    },
    Call {
        method: "get", path: "/v1/sites/{host}/model",
        what: "The newest template of a site, as `dehusk templates export` writes it", parameters: &[],
    },
    Call {
        method: "get", path: "/v1/search", what: "Pages with all words of a query, the best first; needs `dehusk index`",
        parameters: &[("q", "Words")],
    },
    Call {
        method: "get", path: "/v1/changes",
        what: "Pages that are new, changed, gone, moved or back; with `Accept: text/event-stream` as they come",
        parameters: &[
            ("since", "Number of the last change that is known: `next` of an answer"),
            ("limit", "Changes at most"), ("host", "Only of this site"),
        ],
    },
];

/// The routes of the calls.
pub(in crate::serve) fn routes() -> Router<Arc<Inspector>> {
    Router::new()
        .route("/v1/clean", post(clean))
        .route("/v1/extract", post(extract))
        .route("/v1/page", get(page))
        .route("/v1/diff", get(diff))
        .route("/v1/sites/{host}/model", get(model))
        .route("/v1/search", get(search))
        .route("/v1/changes", get(changed))
        .route(
            "/v1/{*rest}",
            any(async || Refusal::Nothing("there is no such call; see /api/openapi.json".to_owned()).json()),
        )
        .method_not_allowed_fallback(async || api::error(StatusCode::METHOD_NOT_ALLOWED, "the call has another method"))
}

#[derive(Deserialize)]
struct CleanAsked {
    url: Option<String>,
    #[serde(default)]
    form: Form,
    site: Option<String>,
    #[serde(default)]
    alone: bool,
}

#[derive(Deserialize)]
struct PageAsked {
    url: String,
    #[serde(default)]
    form: Form,
    run: Option<i64>,
}

#[derive(Deserialize)]
struct OnePage {
    url: String,
}

#[derive(Deserialize)]
struct Words {
    q: String,
}

#[derive(Clone, Deserialize)]
struct ChangesAsked {
    #[serde(default)]
    since: i64,
    limit: Option<usize>,
    host: Option<String>,
}

/// The parameters of a call, or what is wrong with them.
type Asked<T> = Result<Query<T>, QueryRejection>;

/// The parameters, or the answer that says what is wrong with them.
#[expect(clippy::result_large_err, reason = "the answer is sent at once")]
fn known<T>(asked: Asked<T>) -> Result<T, Response> {
    asked.map(|Query(asked)| asked).map_err(|e| Refusal::Wrong(e.body_text()).json())
}

async fn clean(
    State(inspector): Shared,
    asked: Asked<CleanAsked>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let asked = match known(asked) {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    let body = match body {
        Ok(body) => body,
        Err(e) => return api::error(e.status(), "the body cannot be read; a page of more than 41 MB is refused"),
    };
    let url = match asked.url.as_deref().map(PageUrl::parse).transpose() {
        Ok(url) => url,
        Err(e) => return Refusal::Wrong(e.to_string()).json(),
    };
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // What `curl --data-binary` says of any body.
    let content_type = content_type.filter(|kind| !kind.starts_with("application/x-www-form-urlencoded"));
    let given = Given {
        body: body.into(),
        content_type: content_type.map(str::to_owned),
        url,
        site: asked.site,
        alone: asked.alone,
        headers: RightsHeaders::default(),
        said: Vec::new(),
        fetched_at: None,
    };
    let of = Arc::clone(&inspector);
    let Some(programs) = &inspector.programs else { return Refusal::Failed.json() };
    api::json(programs.work(move || of.readers.with(|store| cleaned(&of, store, given, asked.form))).await)
}

async fn extract(State(inspector): Shared, wanted: Asked<Wanted>) -> Response {
    match known(wanted) {
        Ok(wanted) => api::json(extracted(&inspector, wanted).await),
        Err(refusal) => refusal,
    }
}

async fn page(State(inspector): Shared, asked: Asked<PageAsked>) -> Response {
    let asked = match known(asked) {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    let of = Arc::clone(&inspector);
    api::json(read(&inspector, move |store| read_page(&of, store, &asked.url, asked.run, asked.form)).await)
}

async fn diff(State(inspector): Shared, of: Asked<OnePage>) -> Response {
    let of = match known(of) {
        Ok(of) => of,
        Err(refusal) => return refusal,
    };
    let inspector_of = Arc::clone(&inspector);
    api::json(read(&inspector, move |store| difference(&inspector_of, store, &of.url)).await)
}

async fn model(State(inspector): Shared, Path(host): Path<String>) -> Response {
    let options = inspector.settings.core.parse;
    let found = read(&inspector, move |store| {
        let template = store.load_template_with_blocks(&host, None, &options)?;
        template.ok_or_else(|| Refusal::Nothing(format!("no template of {host} is stored")))
    });
    match found.await {
        Ok(template) => ([(CONTENT_TYPE, "application/json")], template.to_json()).into_response(),
        Err(refusal) => refusal.json(),
    }
}

async fn search(State(inspector): Shared, words: Asked<Words>) -> Response {
    let words = match known(words) {
        Ok(words) => words,
        Err(refusal) => return refusal,
    };
    let of = Arc::clone(&inspector);
    api::json(read(&inspector, move |_| Search::load(&of, &words.q)).await)
}

async fn changed(State(inspector): Shared, asked: Asked<ChangesAsked>, headers: HeaderMap) -> Response {
    let mut asked = match known(asked) {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    // A browser that connects again names the last event that it had.
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    asked.since = asked.since.max(last.unwrap_or(0));
    let wants_events = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if wants_events.contains("text/event-stream") {
        return events(inspector, asked).into_response();
    }
    api::json(next_changes(&inspector, asked).await)
}

async fn next_changes(inspector: &Arc<Inspector>, asked: ChangesAsked) -> Result<Value, Refusal> {
    let of = Arc::clone(inspector);
    let limit = asked.limit.unwrap_or(USUAL_CHANGES);
    read(inspector, move |store| changes(&of, store, (asked.since, limit), asked.host.as_deref())).await
}

/// Changes as they come, each answer with some as one event, whose id is the number to go on with.
fn events(inspector: Arc<Inspector>, asked: ChangesAsked) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let messages = futures_util::stream::unfold((inspector, asked), |(inspector, mut asked)| async move {
        let mut ending = inspector.ending.clone();
        loop {
            let found = next_changes(&inspector, asked.clone()).await.ok()?;
            let next = found["next"].as_i64().unwrap_or(asked.since);
            let has_some = found["changes"].as_array().is_some_and(|changes| !changes.is_empty());
            let is_old = std::mem::replace(&mut asked.since, next) == next;
            if has_some {
                let event = Event::default().id(next.to_string()).event("changes").data(found.to_string());
                return Some((Ok(event), (inspector, asked)));
            }
            if is_old {
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    _ = ending.wait_for(|is_ending| *is_ending) => return None,
                }
            }
        }
    });
    Sse::new(messages).keep_alive(KeepAlive::default())
}
