//! One site: its model, the history of its template, its pages, its robots.txt.

use maud::{Markup, html};
use serde::Serialize;

use super::chart::sparkline;
use super::in_force::InForce;
use super::layout::{MenuEntry, document, facts, query};
use super::words::{count, minute};
use super::{Inspector, Refusal};
use crate::outline::write_outline;
use dehusk_crawl::robots::Robots as Rules;
use dehusk_store::{PageRow, SiteListing, Store, TemplateRow};
use dehusk_template::template::{Block, Template, changes};

/// Pages of one part of the list.
const PART: usize = 100;
/// Versions of a template that are compared.
const MOST_VERSIONS: usize = 12;
/// Blocks of a difference that are listed.
const MOST_BLOCKS: usize = 60;
/// Bytes of an outline that are shown.
const MOST_OUTLINE: usize = 60_000;
/// Bytes of a robots.txt that are shown.
const MOST_ROBOTS: usize = 20_000;

/// One site.
#[derive(Serialize)]
pub(super) struct Site {
    schema: u32,
    site: SiteListing,
    versions: Vec<Version>,
    /// Training pages and nodes of the newest version, as `dehusk templates show` prints them.
    outline: Option<String>,
    robots: Vec<Robots>,
    /// `None` where its run stored no settings.
    in_force: Option<InForce>,
    pages: Vec<PageRow>,
    /// The URL behind which the next part of the pages begins, if there is one.
    next: Option<String>,
}

/// A version of the template, and what changed since the one before.
#[derive(Serialize)]
struct Version {
    template: TemplateRow,
    /// `None` for the first version, and where it is not compared.
    changes: Option<Vec<Block>>,
}

#[derive(Serialize)]
struct Robots {
    origin: String,
    fetched_at: i64,
    status: Option<u16>,
    text: String,
}

impl Site {
    pub(super) fn load(inspector: &Inspector, store: &Store, host: &str, after: &str) -> Result<Site, Refusal> {
        let Some(site) = store.site(host)? else {
            let near = store.near_hosts(host)?;
            let hint = if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) };
            return Err(Refusal::Nothing(format!("no site {host} in this database{hint}")));
        };
        let mut pages = store.pages_after(&site.host, after, PART + 1)?;
        let has_more = pages.len() > PART;
        pages.truncate(PART);
        let next = pages.last().filter(|_| has_more).map(|page| page.url.clone());
        let stored = store.robots_of(&site.host)?;
        let agents = inspector.settings.agents();
        let delays = stored.iter().filter_map(|robots| Rules::parse(&robots.body, &agents).delay());
        let crawl_delay = delays.max().map(|delay| delay.as_secs_f64());
        let settings = site.run.map(|run| store.run_settings(run)).transpose()?.flatten();
        let settings = settings.and_then(|json| serde_json::from_str(&json).ok());
        let in_force = settings.map(|settings| InForce::new(&settings, crawl_delay));
        let robots = stored.into_iter().map(|robots| {
            let body = &robots.body[..robots.body.len().min(MOST_ROBOTS)];
            let text = String::from_utf8_lossy(body).into_owned();
            Robots { origin: robots.origin, fetched_at: robots.fetched_at, status: robots.status, text }
        });
        let ((versions, outline), robots) = (versions(store, &site.host)?, robots.collect());
        Ok(Site { schema: 1, versions, outline, robots, in_force, pages, next, site })
    }

    pub(super) fn render(&self) -> Markup {
        let site = &self.site;
        let confidence: Vec<f64> = site.confidence.iter().map(|(_, confidence)| *confidence).collect();
        let outcome = site.outcome.as_deref().unwrap_or("waiting");
        let body = html! {
            h1 { (site.host) " " span.pill data-outcome=(outcome) { (outcome.replace('_', " ")) } }
            @if let Some(reason) = &site.reason { p.lead { (reason) } }
            (facts(&[
                ("key page", html! { a href=(page_address(&site.key_url)) { (site.key_url) } }),
                ("pages", html! { (count(site.pages)) }),
                ("worked on", html! { (minute(site.updated_at)) " UTC" @if let Some(run) = site.run { ", " a href=(format!("/run?id={run}")) { "run " (run) } } }),
                ("confidence", html! { (sparkline(&confidence)) @if let Some(last) = confidence.last() { " " (format!("{last:.2}")) } @else { span.dim { "no page was cleaned" } } }),
            ]))
            h2 { "Template" }
            (self.history())
            h2 { "Pages" }
            p { a href=(format!("/near?{}", query(&[("host", &site.host)]))) { "Pages that say nearly the same" } }
            (self.page_table())
            h2 { "Settings in force" }
            @match &self.in_force { Some(in_force) => (in_force.render()), None => p.dim { "Its last run stored none." } }
            h2 { "robots.txt" }
            @if self.robots.is_empty() { p.dim { "None is stored." } }
            @for robots in &self.robots {
                details {
                    summary { (robots.origin) ", " (minute(robots.fetched_at)) " UTC, "
                        @match robots.status { Some(status) => { "status " (status) }, None => "no answer" } }
                    pre { (robots.text) }
                }
            }
        };
        document(&site.host, MenuEntry::Sites, &body)
    }

    fn history(&self) -> Markup {
        html! {
            @if self.versions.is_empty() {
                section.empty { p { "No template is stored: its pages are cleaned one by one." } }
            } @else {
                div.scroll tabindex="0" { table {
                    thead { tr { th { "version" } th { "learned (UTC)" } th { "method" } th.n { "nodes" } th.n { "training pages" } th.n { "loads" } th { "changed" } } }
                    tbody { @for version in &self.versions { tr {
                        td { "v" (version.template.version) } td { (minute(version.template.learned_at)) }
                        td { (version.template.method) } td.n { (count(version.template.n_nodes)) }
                        td.n { (version.template.m) } td.n { (version.template.loads) }
                        td { @if let Some(blocks) = &version.changes { (difference(blocks)) } }
                    } } }
                } }
                @if let Some(outline) = &self.outline {
                    details { summary { "Training pages and outline of the newest version" } pre.source tabindex="0" { (outline) } }
                }
            }
        }
    }

    fn page_table(&self) -> Markup {
        html! {
            @if self.pages.is_empty() {
                section.empty { p { "No page is stored." } }
            } @else {
                div.scroll tabindex="0" { table {
                    thead { tr { th { "page" } th { "fetched (UTC)" } th.n { "status" } th { "state" } th { "method" } th.n { "confidence" } th.n { "kind" } } }
                    tbody { @for page in &self.pages { tr {
                        td.url { a href=(page_address(&page.url)) { (page.url) } }
                        td { (minute(page.fetched_at)) } td.n { (page.status) } td { (page.state) }
                        td { (page.method.as_deref().unwrap_or("")) }
                        td.n { @if let Some(confidence) = page.confidence { (format!("{confidence:.2}")) } }
                        td.n { @if let Some(kind) = page.kind { (kind) } }
                    } } }
                } }
                nav.parts aria-label="Parts of the list" {
                    @if let Some(next) = &self.next {
                        a rel="next" href=(format!("/site?{}", query(&[("host", &self.site.host), ("after", next)]))) { "Next " (PART) }
                    }
                }
            }
        }
    }
}

/// The address of the page of a page.
pub(super) fn page_address(url: &str) -> String {
    format!("/page?{}", query(&[("url", url)]))
}

/// The versions of a template, the newest first, and the outline of that one.
fn versions(store: &Store, host: &str) -> Result<(Vec<Version>, Option<String>), Refusal> {
    let rows: Vec<TemplateRow> =
        store.list_templates(Some(host), true)?.into_iter().filter(|row| row.host == host).collect();
    let templates = rows.iter().take(MOST_VERSIONS).map(|row| store.load_template(host, Some(row.version)));
    // A version that cannot be read is not compared.
    let templates: Vec<_> = templates.map(|template| template.ok().flatten()).collect();
    let of = |at: usize| templates.get(at).and_then(Option::as_ref);
    let compared = |at: usize| of(at + 1).zip(of(at)).map(|(before, after)| changes(before, after));
    let outline = of(0).map(outline);
    Ok((
        rows.into_iter().enumerate().map(|(at, template)| Version { template, changes: compared(at) }).collect(),
        outline,
    ))
}

/// The outline of a template, cut where it is long.
fn outline(template: &Template) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = write_outline(template, false, &mut bytes);
    let is_cut = bytes.len() > MOST_OUTLINE;
    bytes.truncate(MOST_OUTLINE);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        text.push_str("\n… `dehusk templates show` prints all of it");
    }
    text
}

/// The blocks that came and went.
fn difference(blocks: &[Block]) -> Markup {
    let n = |came: bool| blocks.iter().filter(|block| block.came == came).count();
    html! {
        @if blocks.is_empty() { span.dim { "nothing" } } @else {
            details {
                summary { (n(false)) " went, " (n(true)) " came" }
                ul.blocks { @for block in blocks.iter().take(MOST_BLOCKS) {
                    li data-came=(block.came) {
                        (if block.came { "+ " } else { "− " }) code { (block.node) } " " (block.n_nodes) " nodes "
                        @if !block.text.is_empty() { q { (block.text) } }
                    }
                } }
            }
        }
    }
}
