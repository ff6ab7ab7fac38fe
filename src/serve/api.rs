//! The API: what the views show, as JSON; its description; figures for monitoring.

use std::fmt::Write as _;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Inspector, Refusal, programs};
use dehusk_store::Store;

/// What a view has loaded, as JSON.
pub(super) fn json<T: Serialize>(loaded: Result<T, Refusal>) -> Response {
    match loaded.map(|loaded| serde_json::to_string(&loaded)) {
        Ok(Ok(body)) => ([("content-type", "application/json")], body).into_response(),
        Ok(Err(e)) => {
            tracing::error!("an answer cannot be written as JSON: {e}");
            Refusal::Failed.json()
        }
        Err(refusal) => refusal.json(),
    }
}

/// An error as JSON.
pub(super) fn error(status: StatusCode, text: &str) -> Response {
    (status, [("content-type", "application/json")], json!({"schema": 1, "error": text}).to_string()).into_response()
}

/// A call: its path, what it gives, and its parameters with what they are.
pub(super) struct Call {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) what: &'static str,
    pub(super) parameters: &'static [(&'static str, &'static str)],
}

const fn view(path: &'static str, what: &'static str, parameters: &'static [(&'static str, &'static str)]) -> Call {
    Call { method: "get", path, what, parameters }
}

const CALLS: [Call; 7] = [
    view("/api/runs", "The newest runs and their counts", &[]),
    view("/api/run", "One run: failures, rate over time, gaps between requests", &[("id", "Number of the run")]),
    view(
        "/api/sites",
        "A part of the sites; `next` is the query of the next part",
        &[
            ("q", "Part of the host"),
            ("outcome", "Outcome, such as learned"),
            ("sort", "host or updated"),
            ("at", "As given in `next`"),
            ("after", "As given in `next`"),
        ],
    ),
    view(
        "/api/site",
        "One site: versions of its template, pages, robots.txt, settings of its last run",
        &[("host", "Host"), ("after", "As given in `next`")],
    ),
    view("/api/near", "Groups of pages of a site that say nearly the same", &[("host", "Host")]),
    view("/api/search", "Pages with all words of a query, the best first", &[("q", "Words")]),
    view(
        "/api/page",
        "One page: labels, main text, metadata, versions",
        &[("url", "URL"), ("run", "Run after which it is shown")],
    ),
];

/// The description of the API (OpenAPI 3.1), with the calls of programs where they are answered.
pub(super) fn description(for_programs: bool) -> Value {
    let answers = json!({
        "200": {"description": "Found", "content": {"application/json": {"schema": {"type": "object"}}}},
        "400": {"description": "A parameter is missing or wrong"},
        "404": {"description": "There is no such thing; `error` says what there is"},
        "503": {"description": "The database cannot be read"},
    });
    let more = if for_programs { &programs::CALLS[..] } else { &[] };
    let paths: serde_json::Map<String, Value> = CALLS
        .iter()
        .chain(more)
        .map(|call| {
            let parameters: Vec<Value> =
                call.parameters.iter().map(|of| parameter(call, of)).chain(of_path(call)).collect();
            let mut about = json!({"summary": call.what, "parameters": parameters, "responses": answers});
            if call.path.starts_with("/v1") {
                about["responses"]["403"] = json!({"description": "The owner of the page does not want it"});
                about["responses"]["413"] = json!({"description": "The page is larger than 41 MB"});
                about["responses"]["429"] = json!({"description": "Too many requests are at work"});
                about["responses"]["502"] = json!({"description": "The server of the page gave none"});
            }
            if call.path == "/v1/clean" {
                about["requestBody"] =
                    json!({"required": true, "content": {"text/html": {"schema": {"type": "string"}}}});
            }
            (call.path.to_owned(), json!({call.method: about}))
        })
        .collect();
    let info = json!({"title": "dehusk inspector", "version": env!("CARGO_PKG_VERSION")});
    json!({"openapi": "3.1.0", "info": info, "paths": paths})
}

fn parameter(call: &Call, (name, what): &(&str, &str)) -> Value {
    let is_key = matches!(*name, "id" | "host" | "url") && !matches!(call.path, "/v1/clean" | "/v1/changes");
    let kind = match *name {
        "id" | "run" | "at" | "since" | "limit" => "integer",
        "alone" => "boolean",
        _ => "string",
    };
    json!({"name": name, "in": "query", "required": is_key, "description": what, "schema": {"type": kind}})
}

/// The parameters within a path: `{host}`.
fn of_path(call: &Call) -> Option<Value> {
    let (_, rest) = call.path.split_once('{')?;
    let (name, _) = rest.split_once('}')?;
    Some(json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
}

/// Figures in the text format of Prometheus.
pub(super) fn metrics(inspector: &Inspector, store: &Store) -> Result<String, Refusal> {
    let mut out =
        "# HELP dehusk_stored_sites Sites in the database by outcome.\n# TYPE dehusk_stored_sites gauge\n".to_owned();
    for (outcome, n) in store.count_sites()? {
        let _ = writeln!(out, "dehusk_stored_sites{{outcome=\"{outcome}\"}} {n}");
    }
    let bytes = store.used_bytes()?;
    let _ = write!(
        out,
        "# HELP dehusk_database_bytes Bytes of the database that hold something.\n# TYPE dehusk_database_bytes gauge\n\
         dehusk_database_bytes {bytes}\n"
    );
    if let Some(run) = inspector.ended.newest(store, 1)?.first() {
        let running = i32::from(run.outcome.is_none());
        for (name, help, n) in [
            ("last_run", "Number of the newest run.", run.id),
            ("last_run_unfinished", "Whether it is at work, or was killed.", i64::from(running)),
            ("last_run_requests", "Its requests.", run.requests),
            ("last_run_pages_new", "Its new pages.", run.new),
            ("last_run_pages_changed", "Its changed pages.", run.changed),
            ("last_run_requests_failed", "Its failed requests.", run.failed),
        ] {
            let _ = write!(out, "# HELP dehusk_{name} {help}\n# TYPE dehusk_{name} gauge\ndehusk_{name} {n}\n");
        }
    }
    Ok(out)
}
