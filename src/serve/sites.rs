//! The table of sites, in parts.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::chart::sparkline;
use super::layout::{MenuEntry, document, query, site_link};
use super::words::{count, minute};
use dehusk_store::{SiteListing, SiteQuery, Store};

/// Sites of one part of the table.
const PART: usize = 100;
/// Sites that are read at once for a file.
const BATCH: usize = 1000;

/// What is asked of the table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// Part of the host.
    q: String,
    /// Outcome.
    outcome: String,
    /// `host`, or `updated`.
    sort: String,
    /// The last site of the part before: when it was worked on, and its host.
    at: Option<i64>,
    after: String,
}

/// A part of the table.
#[derive(Serialize)]
pub(super) struct Sites {
    schema: u32,
    sites: Vec<SiteListing>,
    outcomes: Vec<(String, i64)>,
    /// The query of the next part, if there is one.
    next: Option<String>,
    #[serde(skip)]
    asked: Asked,
}

impl Asked {
    fn store_query(&self, limit: usize) -> SiteQuery {
        SiteQuery {
            text: self.q.trim().to_owned(),
            outcome: Some(self.outcome.clone()).filter(|outcome| !outcome.is_empty()),
            newest_first: self.sort == "updated",
            after: self.at.map(|at| (at, self.after.clone())),
            limit,
        }
    }

    fn with_sort(&self, sort: &str) -> String {
        format!("/sites?{}", query(&[("q", &self.q), ("outcome", &self.outcome), ("sort", sort)]))
    }

    fn with_outcome(&self, outcome: &str) -> String {
        format!("/sites?{}", query(&[("q", &self.q), ("outcome", outcome), ("sort", &self.sort)]))
    }
}

impl Sites {
    pub(super) fn load(store: &Store, asked: Asked) -> Result<Sites, Refusal> {
        let mut sites = store.sites(&asked.store_query(PART + 1))?;
        let has_more = sites.len() > PART;
        sites.truncate(PART);
        let next = sites.last().filter(|_| has_more).map(|last| {
            let at = last.updated_at.to_string();
            query(&[
                ("q", &asked.q),
                ("outcome", &asked.outcome),
                ("sort", &asked.sort),
                ("at", &at),
                ("after", &last.host),
            ])
        });
        Ok(Sites { schema: 1, sites, outcomes: store.count_sites()?, next, asked })
    }

    pub(super) fn render(&self) -> Markup {
        let asked = &self.asked;
        let is_first = asked.at.is_none();
        let sorted = |by: &str| {
            ((asked.sort == "updated") == (by == "updated")).then_some(if by == "updated" {
                "descending"
            } else {
                "ascending"
            })
        };
        let csv =
            format!("/sites.csv?{}", query(&[("q", &asked.q), ("outcome", &asked.outcome), ("sort", &asked.sort)]));
        let body = html! {
            h1 { "Sites" }
            form.filters action="/sites" {
                label { "Host contains " input name="q" type="search" value=(asked.q); }
                label { "Outcome " select name="outcome" {
                    option value="" { "any" }
                    @for (outcome, n) in &self.outcomes {
                        option value=(outcome) selected[*outcome == asked.outcome] { (outcome.replace('_', " ")) " (" (count(*n)) ")" }
                    }
                } }
                input type="hidden" name="sort" value=(asked.sort);
                button { "Filter" }
                a href=(csv) { "CSV" }
            }
            @if self.sites.is_empty() {
                section.empty {
                    @if is_first && asked.q.is_empty() && asked.outcome.is_empty() {
                        p { "No site was crawled into this database yet." } pre { "dehusk crawl https://your.site/" }
                    } @else { p { "No site is like that." } p { a href="/sites" { "All sites" } } }
                }
            } @else {
                div.scroll tabindex="0" { table {
                    thead { tr {
                        th aria-sort=[sorted("host")] { a href=(asked.with_sort("host")) { "site" } }
                        th { "outcome" } th.n { "pages" } th.n { "template" } th { "learned (UTC)" } th { "confidence" }
                        th aria-sort=[sorted("updated")] { a href=(asked.with_sort("updated")) { "worked on (UTC)" } }
                    } }
                    tbody { @for site in &self.sites { (self.row(site)) } }
                } }
                nav.parts aria-label="Parts of the table" {
                    @if !is_first { a href=(asked.with_sort(&asked.sort)) { "First part" } }
                    @if let Some(next) = &self.next { a rel="next" href=(format!("/sites?{next}")) { "Next " (PART) } }
                }
            }
        };
        document("Sites", MenuEntry::Sites, &body)
    }

    fn row(&self, site: &SiteListing) -> Markup {
        let outcome = site.outcome.as_deref().unwrap_or("waiting");
        let confidence: Vec<f64> = site.confidence.iter().map(|(_, confidence)| *confidence).collect();
        html! { tr {
            td { (site_link(&site.host)) }
            td title=[site.reason.as_deref()] {
                a.pill data-outcome=(outcome) href=(self.asked.with_outcome(outcome)) { (outcome.replace('_', " ")) }
            }
            td.n { (count(site.pages)) }
            td.n { @if let Some(version) = site.version { "v" (version) } }
            td { @if let Some(at) = site.learned_at { (minute(at)) } }
            td { (sparkline(&confidence)) @if let Some(last) = confidence.last() { " " (format!("{last:.2}")) } }
            td { (minute(site.updated_at)) }
        } }
    }
}

/// All sites that are asked for, as CSV (RFC 4180).
pub(super) fn csv(store: &Store, asked: &Asked) -> Result<String, Refusal> {
    let mut out = "host,outcome,reason,pages,template_version,learned_at,confidence,updated_at\r\n".to_owned();
    let mut part = asked.store_query(BATCH);
    loop {
        let sites = store.sites(&part)?;
        let Some(last) = sites.last() else { return Ok(out) };
        part.after = Some((last.updated_at, last.host.clone()));
        for site in &sites {
            let whole = |n: Option<i64>| n.map_or_else(String::new, |n| n.to_string());
            let confidence = site.confidence.last().map_or_else(String::new, |(_, c)| format!("{c:.3}"));
            let cells = [
                site.host.clone(),
                site.outcome.clone().unwrap_or_else(|| "waiting".to_owned()),
                site.reason.clone().unwrap_or_default(),
                site.pages.to_string(),
                whole(site.version),
                whole(site.learned_at),
                confidence,
                site.updated_at.to_string(),
            ];
            out += &cells.map(|cell| quoted(&cell)).join(",");
            out += "\r\n";
        }
    }
}

/// A cell. One that a spreadsheet would take for a formula begins with a quotation mark.
fn quoted(cell: &str) -> String {
    let cell = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formula_is_made() {
        assert_eq!((quoted("a.org"), quoted("a \"b\", c")), ("a.org".into(), "\"a \"\"b\"\", c\"".into()));
        assert_eq!(quoted("=cmd()"), "'=cmd()");
    }
}
