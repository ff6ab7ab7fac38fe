//! Why a request has no answer, as a page and as JSON.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;

use super::layout::{MenuEntry, document};
use dehusk_store::StoreError;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// There is no such thing.
    #[error("{0}")]
    Nothing(String),
    /// The request says something that cannot be.
    #[error("{0}")]
    Wrong(String),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read or written.
    #[error("{0}")]
    Unwritten(String),
    /// Its owner does not want it.
    #[error("{0}")]
    Forbidden(String),
    /// A server elsewhere gave no page.
    #[error("{0}")]
    Upstream(String),
    /// Too many requests wait.
    #[error("too many requests are at work; ask again in a second")]
    Busy,
    /// A view has failed.
    #[error("this view failed; the log of the program says why")]
    Failed,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Refusal::Nothing(_) => StatusCode::NOT_FOUND,
            Refusal::Wrong(_) => StatusCode::BAD_REQUEST,
            Refusal::Forbidden(_) => StatusCode::FORBIDDEN,
            Refusal::Upstream(_) => StatusCode::BAD_GATEWAY,
            Refusal::Busy => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Store(_) | Refusal::Unwritten(_) => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The refusal of a call of the API.
    pub(super) fn json(&self) -> Response {
        let body = serde_json::json!({"schema": 1, "error": self.to_string()});
        (self.status(), [("content-type", "application/json")], body.to_string()).into_response()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = html! {
            section.empty {
                h1 { (self.status().canonical_reason().unwrap_or("Error")) }
                p { (self.to_string()) }
                p { a href="/" { "All runs" } " · " a href="/sites" { "All sites" } }
            }
        };
        (self.status(), document("Not shown", MenuEntry::Elsewhere, &body)).into_response()
    }
}
