//! Which address shows what.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Form, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use futures_util::Stream;
use maud::Markup;
use serde::Deserialize;

use super::design::design;
use super::frame::{MOST_NODES, Show, sandboxed};
use super::near::Near;
use super::page::Page;
use super::runs::{Run, Runs};
use super::search::Search;
use super::site::Site;
use super::sites::{Sites, csv};
use super::try_it::{Pasted, cleaned, form};
use super::view::{read, shown};
use super::{Inspector, Refusal, api, design, frame, guard, label, memento, page, programs, sites};
use dehusk_html::decode;

/// Bytes of a pasted page, at most.
const MOST_PASTED: usize = 41_000_000;

/// Time between two messages of a live run.
const BEAT: Duration = Duration::from_secs(1);

pub(super) type Shared = State<Arc<Inspector>>;

#[derive(Deserialize)]
struct RunAsked {
    id: i64,
}

#[derive(Deserialize)]
struct SiteAsked {
    host: String,
    #[serde(default)]
    after: String,
}

#[derive(Deserialize)]
struct HostAsked {
    host: String,
}

#[derive(Deserialize)]
struct FindAsked {
    #[serde(default)]
    q: String,
}

#[derive(Deserialize)]
struct FrameAsked {
    #[serde(default)]
    show: Show,
}

/// All routes.
pub(super) fn routes(inspector: Arc<Inspector>) -> Router {
    let for_programs = if inspector.programs.is_some() { programs::routes() } else { Router::new() };
    for_programs
        .route(
            "/",
            get(async |State(i): Shared| {
                let inspector = Arc::clone(&i);
                shown(&i, move |store| Runs::load(&inspector, store), Runs::render).await
            }),
        )
        .route(
            "/run",
            get(async |State(i): Shared, Query(asked): Query<RunAsked>| {
                let inspector = Arc::clone(&i);
                shown(&i, move |store| Run::load(&inspector, store, asked.id), |run| run.render()).await
            }),
        )
        .route("/run/live", get(live))
        .route(
            "/sites",
            get(async |State(i): Shared, Query(asked): Query<sites::Asked>| {
                shown(&i, move |store| Sites::load(store, asked), Sites::render).await
            }),
        )
        .route("/sites.csv", get(sites_csv))
        .route(
            "/site",
            get(async |State(i): Shared, Query(asked): Query<SiteAsked>| {
                let inspector = Arc::clone(&i);
                shown(&i, move |store| Site::load(&inspector, store, &asked.host, &asked.after), Site::render).await
            }),
        )
        .route(
            "/near",
            get(async |State(i): Shared, Query(asked): Query<HostAsked>| {
                let inspector = Arc::clone(&i);
                shown(&i, move |store| Near::load(&inspector, store, &asked.host), Near::render).await
            }),
        )
        .route(
            "/page",
            get(async |State(i): Shared, Query(asked): Query<page::Asked>| {
                let inspector = Arc::clone(&i);
                shown(&i, move |store| Page::load(&inspector, store, asked), Page::render).await
            }),
        )
        .route("/label", get(label_form).post(label_save))
        .route("/frame", get(framed))
        .route("/find", get(find))
        .route("/try", get(async || form()).post(try_it))
        .route(
            "/api/runs",
            get(async |State(i): Shared| {
                api::json({
                    let inspector = Arc::clone(&i);
                    read(&i, move |store| Runs::load(&inspector, store)).await
                })
            }),
        )
        .route(
            "/api/run",
            get(async |State(i): Shared, Query(asked): Query<RunAsked>| {
                let inspector = Arc::clone(&i);
                api::json(
                    read(&i, move |store| Run::load(&inspector, store, asked.id).map(|run| Run::clone(&run))).await,
                )
            }),
        )
        .route(
            "/api/sites",
            get(async |State(i): Shared, Query(asked): Query<sites::Asked>| {
                api::json(read(&i, move |store| Sites::load(store, asked)).await)
            }),
        )
        .route(
            "/api/site",
            get(async |State(i): Shared, Query(asked): Query<SiteAsked>| {
                let inspector = Arc::clone(&i);
                api::json(read(&i, move |store| Site::load(&inspector, store, &asked.host, &asked.after)).await)
            }),
        )
        .route(
            "/api/near",
            get(async |State(i): Shared, Query(asked): Query<HostAsked>| {
                let inspector = Arc::clone(&i);
                api::json(read(&i, move |store| Near::load(&inspector, store, &asked.host)).await)
            }),
        )
        .route(
            "/api/page",
            get(async |State(i): Shared, Query(asked): Query<page::Asked>| {
                let inspector = Arc::clone(&i);
                api::json(read(&i, move |store| Page::load(&inspector, store, asked)).await)
            }),
        )
        .route(
            "/search",
            get(async |State(i): Shared, Query(asked): Query<FindAsked>| {
                let inspector = Arc::clone(&i);
                shown(&i, move |_| Search::load(&inspector, &asked.q), Search::render).await
            }),
        )
        .route(
            "/api/search",
            get(async |State(i): Shared, Query(asked): Query<FindAsked>| {
                let inspector = Arc::clone(&i);
                api::json(read(&i, move |_| Search::load(&inspector, &asked.q)).await)
            }),
        )
        .route("/timemap/link/{*url}", get(memento::timemap))
        .route("/timegate/{*url}", get(memento::timegate))
        .route("/memento/{*url}", get(memento::memento))
        .route("/api/openapi.json", get(async |State(i): Shared| api::json(Ok(api::description(i.programs.is_some())))))
        .route("/metrics", get(metrics))
        .route("/healthz", get(healthz))
        .route("/assets/inspector.css", get(async || asset("text/css", include_str!("assets/inspector.css"))))
        .route("/assets/inspector.js", get(async || asset("text/javascript", include_str!("assets/inspector.js"))))
        .fallback(async || Refusal::Nothing("there is no such page".to_owned()))
        .layer(DefaultBodyLimit::max(MOST_PASTED))
        .layer(middleware::from_fn_with_state(Arc::clone(&inspector), guard::guard))
        .with_state(inspector)
}

async fn framed(
    State(inspector): Shared,
    Query(asked): Query<page::Asked>,
    Query(FrameAsked { show }): Query<FrameAsked>,
) -> Result<Response, Refusal> {
    let pictures = asked.pictures;
    let of = Arc::clone(&inspector);
    let document = read(&inspector, move |store| {
        let (row, labeled) = of.labeled(store, &asked)?;
        let shown = labeled.shown();
        if show != Show::Design {
            return Ok(shown.document(show, pictures));
        }
        let raw = store.load_raw(&row)?;
        let (source, _) = decode(&raw[..raw.len().min(of.settings.core.parse.max_bytes)], row.content_type.as_deref());
        Ok(design(shown.page, shown.template, &source, shown.base.as_ref(), pictures, MOST_NODES))
    });
    let policy = if show == Show::Design { design::policy(pictures) } else { frame::policy(pictures) };
    Ok(sandboxed(document.await?, &policy))
}

async fn find(State(inspector): Shared, Query(asked): Query<FindAsked>) -> Result<Response, Refusal> {
    let to = read(&inspector, move |store| page::find(store, &asked.q)).await?;
    Ok((StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response())
}

async fn try_it(State(inspector): Shared, Form(pasted): Form<Pasted>) -> Result<Response, Refusal> {
    let of = Arc::clone(&inspector);
    let page = read(&inspector, move |store| cleaned(&of, store, &pasted)).await?;
    Ok(([(CONTENT_SECURITY_POLICY, guard::POLICY_AROUND_PAGES)], page).into_response())
}

async fn label_form(State(inspector): Shared, Query(asked): Query<page::Asked>) -> Result<Markup, Refusal> {
    let of = Arc::clone(&inspector);
    read(&inspector, move |store| label::form(&of, store, &asked.url)).await
}

async fn label_save(State(inspector): Shared, Form(sent): Form<label::Sent>) -> Result<Markup, Refusal> {
    let of = Arc::clone(&inspector);
    read(&inspector, move |store| label::save(&of, store, &sent)).await
}

async fn sites_csv(State(inspector): Shared, Query(asked): Query<sites::Asked>) -> Result<Response, Refusal> {
    let text = read(&inspector, move |store| csv(store, &asked)).await?;
    let headers =
        [("content-type", "text/csv; charset=utf-8"), ("content-disposition", "attachment; filename=sites.csv")];
    Ok((headers, text).into_response())
}

async fn metrics(State(inspector): Shared) -> Response {
    let of = Arc::clone(&inspector);
    match read(&inspector, move |store| api::metrics(&of, store)).await {
        Ok(text) => ([("content-type", "text/plain; version=0.0.4")], text).into_response(),
        Err(refusal) => refusal.json(),
    }
}

/// Whether the database can be read.
async fn healthz(State(inspector): Shared) -> Response {
    match read(&inspector, |store| Ok(store.count_sites()?)).await {
        Ok(_) => "ok\n".into_response(),
        Err(refusal) => refusal.json(),
    }
}

/// The page of a run again and again, as long as the run is unfinished (server-sent events).
async fn live(
    State(inspector): Shared,
    Query(asked): Query<RunAsked>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let messages = futures_util::stream::unfold(Some(inspector), move |state| async move {
        let inspector = state?;
        let mut ending = inspector.ending.clone();
        tokio::select! {
            () = tokio::time::sleep(BEAT) => {}
            _ = ending.wait_for(|is_ending| *is_ending) => return None,
        }
        let counts = read(&inspector, move |store| {
            let run = store.find_run(asked.id)?;
            run.ok_or_else(|| Refusal::Nothing(format!("there is no run {}", asked.id)))
        });
        let run = counts.await.ok()?;
        let is_over = run.outcome.is_some();
        let event = Event::default().data(serde_json::to_string(&run).unwrap_or_default());
        Some((Ok(event), if is_over { None } else { Some(inspector) }))
    });
    Sse::new(messages).keep_alive(KeepAlive::default())
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], text).into_response()
}
