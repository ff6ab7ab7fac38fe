//! A crawled page in a document of its own: no script, no request, nothing of the inspector.
//!
//! The markup is written by `safe_html`, so that nothing of the page's is left that could run. The policy of the answer
//! forbids scripts and requests once more, and its `sandbox` gives it an origin that is nobody's, so that a page that
//! gets past both still cannot reach the inspector.

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use dehusk_content::Labels;
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, Tree};
use serde::{Deserialize, Serialize};

use crate::safe_html::{Marking, safe_html};

/// Nodes of a page that are shown.
pub(super) const MOST_NODES: usize = 60_000;

const STYLE: &str = include_str!("assets/frame.css");

/// What is shown of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Show {
    /// As fetched.
    Fetched,
    /// The template only.
    Template,
    /// The template only, in the design of its site.
    Design,
    /// The main content only.
    Main,
    /// All of it, in three colors.
    #[default]
    Overlay,
}

impl Show {
    pub(super) fn name(self) -> &'static str {
        match self {
            Show::Fetched => "fetched",
            Show::Template => "template",
            Show::Design => "design",
            Show::Main => "main",
            Show::Overlay => "overlay",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Show::Fetched => "As fetched",
            Show::Template => "Template only",
            Show::Design => "Template in the site's design",
            Show::Main => "Main content only",
            Show::Overlay => "Overlay",
        }
    }
}

/// A labeled page.
pub(super) struct Shown<'a> {
    pub(super) page: &'a Tree,
    /// What is template.
    pub(super) template: &'a Labels,
    /// What is not main content.
    pub(super) main: &'a Labels,
    /// Training pages of its site.
    pub(super) n_training: usize,
    /// The step that labeled it.
    pub(super) step: &'a str,
    pub(super) base: Option<PageUrl>,
}

/// The kinds of nodes, by number.
const KINDS: [&str; 3] = ["template", "neither", "main"];

impl Shown<'_> {
    /// The kind of each node.
    pub(super) fn kinds(&self) -> Vec<u8> {
        let kind = |node: NodeId| match (self.template.is_template(node), self.main.is_template(node)) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        self.page.nodes().map(kind).collect()
    }

    /// Characters of the text of each kind.
    pub(super) fn chars(&self) -> [usize; 3] {
        let kinds = self.kinds();
        let mut chars = [0; 3];
        for node in self.page.counted().map(NodeId::new).filter(|node| self.page.is_text(*node)) {
            chars[usize::from(kinds[node.index()])] += self.page.text(node).trim().chars().count();
        }
        chars
    }

    /// The document.
    pub(super) fn document(&self, show: Show, has_pictures: bool) -> String {
        let kinds = self.kinds();
        let evidence = |node: NodeId| self.evidence(node, kinds[node.index()]);
        let nothing = |_: NodeId| String::new();
        let marking = Marking {
            kinds: &kinds,
            names: &KINDS,
            title: if show == Show::Overlay { &evidence } else { &nothing },
            base: self.base.as_ref(),
            links: false,
            pictures: has_pictures,
            max_nodes: MOST_NODES,
        };
        let is_cut = self.page.counted().len() > MOST_NODES;
        let body = safe_html(self.page, &marking);
        let cut = if is_cut { "<p class=\"cut\">The rest of this very long page is not shown.</p>" } else { "" };
        format!(
            "<!DOCTYPE html><html lang=\"und\"><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Page</title><style>{STYLE}</style></head>\
             <body class=\"{}\"><main>{body}</main>{cut}</body></html>",
            show.name()
        )
    }

    fn evidence(&self, node: NodeId, kind: u8) -> String {
        let support = self.template.support.get(node.index()).copied().unwrap_or(0);
        let kind = match kind {
            0 => "template",
            1 => "neither template nor main content",
            _ => "main content",
        };
        match self.n_training {
            0 => format!("{kind} · {}: no page of the site is known", self.step),
            n => format!("{kind} · {}: on {support} of {n} training pages", self.step),
        }
    }
}

/// The policy of a document that `safe_html` has written.
pub(super) fn policy(has_pictures: bool) -> String {
    let pictures = if has_pictures { "img-src http: https: data:" } else { "img-src data:" };
    format!(
        "default-src 'none'; {pictures}; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'self'; sandbox"
    )
}

/// A document as an answer, with its policy.
pub(super) fn sandboxed(html: String, policy: &str) -> Response {
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, policy)];
    (headers, html).into_response()
}
