//! Search over cleaned texts.

use maud::{Markup, html};
use serde::Serialize;

use super::layout::{MenuEntry, document, query, site_link};
use super::site::page_address;
use super::words::count;
use super::{Inspector, Refusal};
use dehusk_store::{Hit, SearchIndex};

/// Pages that are shown.
const MOST_HITS: usize = 50;

/// What was found.
#[derive(Serialize)]
pub(super) struct Search {
    schema: u32,
    q: String,
    /// Pages in the index; `None` when there is none.
    pages: Option<i64>,
    hits: Vec<Hit>,
}

impl Search {
    pub(super) fn load(inspector: &Inspector, q: &str) -> Result<Search, Refusal> {
        let index = inspector.index_file.as_deref().map_or(Ok(None), SearchIndex::open)?;
        let Some(index) = index else {
            return Ok(Search { schema: 1, q: q.to_owned(), pages: None, hits: Vec::new() });
        };
        Ok(Search { schema: 1, q: q.to_owned(), pages: Some(index.n_pages()?), hits: index.find(q, MOST_HITS)? })
    }

    pub(super) fn render(&self) -> Markup {
        let body = html! {
            h1 { "Search" }
            form.filters action="/search" {
                label { "Words " input name="q" type="search" value=(self.q); }
                button { "Search" }
                @if let Some(n) = self.pages { span.dim { (count(n)) " pages are indexed" } }
            }
            @match self.pages {
                None => section.empty { p { "There is no index of the texts yet." } pre { "dehusk index" } },
                Some(_) if self.hits.is_empty() && !self.q.trim().is_empty() => section.empty {
                    p { "No page has these words. Pages stored since the last " code { "dehusk index" } " are not in it. "
                        a href=(format!("/sites?{}", query(&[("q", &self.q)]))) { "Look for a host of this name" } }
                },
                Some(_) => ol.hits { @for hit in &self.hits { li {
                    a href=(page_address(&hit.url)) { (hit.title) } " " span.dim { (site_link(&hit.host)) }
                    p { @for (at, part) in hit.snippet.iter().enumerate() {
                        @if at % 2 == 1 { mark { (part) } } @else { (part) }
                    } }
                } } },
            }
        };
        document("Search", MenuEntry::Search, &body)
    }
}
