//! One page: as fetched, its template, its main content, all three in colors; its versions, its metadata.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::frame::{Show, Shown};
use super::layout::{MenuEntry, document, facts, query, site_link};
use super::page_text::shown_text;
use super::site::page_address;
use super::words::{count, minute};
use super::{Inspector, Refusal};
use dehusk_content::Labels;
use dehusk_core::clean::{CleanOptions, KeepText, TemplateMatcher, label_page};
use dehusk_core::metadata::{Fact, Metadata, MetadataInput};
use dehusk_html::{PageUrl, base_url};
use dehusk_html::{Tree, parse_bytes};
use dehusk_settings::Settings;
use dehusk_store::{PageNight, PageRow, Store};
use dehusk_template::template::Template;

/// Versions of a page that can be chosen.
const MOST_VERSIONS: usize = 60;

/// What is asked of a page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) view: View,
    /// Run after which the page is shown; the newest version, if there is none.
    pub(super) run: Option<i64>,
    /// Pictures are fetched by the browser; in the site's design also stylesheets and fonts.
    pub(super) pictures: bool,
}

/// A view of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
    /// The document, in one of five ways.
    Fetched,
    Template,
    /// The template in the design of its site.
    Design,
    Main,
    #[default]
    Overlay,
    /// As fetched, beside the main content.
    Beside,
    Markdown,
    Text,
    Source,
    /// Words that changed since the version before.
    Diff,
}

impl View {
    const ALL: [(View, &'static str, &'static str); 10] = [
        (View::Fetched, "fetched", "As fetched"),
        (View::Template, "template", "Template"),
        (View::Main, "main", "Main content"),
        (View::Overlay, "overlay", "Overlay"),
        (View::Design, "design", "Design"),
        (View::Beside, "beside", "Side by side"),
        (View::Markdown, "markdown", "Markdown"),
        (View::Text, "text", "Text"),
        (View::Source, "source", "HTML source"),
        (View::Diff, "diff", "Changes"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(view, _, _)| *view == self).map_or("overlay", |(_, name, _)| name)
    }

    fn shows(self) -> &'static [Show] {
        match self {
            View::Fetched => &[Show::Fetched],
            View::Template => &[Show::Template],
            View::Design => &[Show::Design],
            View::Main => &[Show::Main],
            View::Overlay => &[Show::Overlay],
            View::Beside => &[Show::Fetched, Show::Main],
            View::Markdown | View::Text | View::Source | View::Diff => &[],
        }
    }
}

/// One page.
#[derive(Serialize)]
pub(super) struct Page {
    schema: u32,
    page: PageRow,
    /// The step that labels it now.
    step: String,
    confidence: f64,
    /// Training pages of its site.
    n_training: usize,
    /// Characters of template, of neither, of main content.
    chars: [usize; 3],
    metadata: Metadata,
    main_text: String,
    before: Option<String>,
    next: Option<String>,
    versions: Vec<PageNight>,
    #[serde(skip)]
    asked: Asked,
    /// What the view shows as text, HTML already where it is a difference.
    #[serde(skip)]
    shown: Option<Markup>,
}

/// A page of the store, parsed and labeled.
pub(super) struct LabeledPage {
    pub(super) tree: Tree,
    pub(super) template: Labels,
    pub(super) main: Labels,
    pub(super) step: &'static str,
    pub(super) n_training: usize,
    pub(super) url: Option<PageUrl>,
}

impl LabeledPage {
    /// Labels a page by a template, or by itself.
    pub(super) fn new(
        tree: Tree,
        template: Option<&Template>,
        url: Option<PageUrl>,
        settings: &Settings,
    ) -> LabeledPage {
        let matcher = template.map(TemplateMatcher::from_template);
        let clean = |keep| {
            let options = CleanOptions { keep, ..settings.core.clean };
            label_page(&tree, None, matcher.as_ref(), &options)
        };
        // By itself a page has main content and a rest; nothing says what of the rest is template.
        let (own, main) = (clean(KeepText::Own), clean(KeepText::Main));
        let n_training = template.map_or(0, |template| template.n_voters);
        let step = own.method.name();
        LabeledPage { template: own.labels, main: main.labels, step, n_training, tree, url }
    }

    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            page: &self.tree,
            template: &self.template,
            main: &self.main,
            n_training: self.n_training,
            step: self.step,
            base: self.url.as_ref().map(|url| base_url(&self.tree, url)),
        }
    }
}

/// The version of a page that is asked for.
fn version(store: &Store, asked: &Asked) -> Result<PageRow, Refusal> {
    let found = match asked.run {
        None => store.find_page(&asked.url)?,
        Some(run) => store.page_versions(&asked.url)?.into_iter().rev().find(|version| version.run <= run),
    };
    found.ok_or_else(|| Refusal::Nothing(format!("{}: no snapshot of it is stored", asked.url)))
}

impl Inspector {
    /// A stored page, labeled with what is known of its site now.
    pub(super) fn labeled(&self, store: &Store, asked: &Asked) -> Result<(PageRow, LabeledPage), Refusal> {
        let row = version(store, asked)?;
        let raw = store.load_raw(&row)?;
        let (tree, _) = parse_bytes(&raw, row.content_type.as_deref(), &self.settings.core.parse);
        let template = store.load_template_with_blocks(&row.host, None, &self.settings.core.parse)?;
        let url = PageUrl::parse(&row.url).ok();
        let labeled = LabeledPage::new(tree, template.as_ref(), url, &self.settings);
        Ok((row, labeled))
    }
}

impl Page {
    pub(super) fn load(inspector: &Inspector, store: &Store, asked: Asked) -> Result<Page, Refusal> {
        let (row, labeled) = inspector.labeled(store, &asked)?;
        let (before, next) = store.pages_beside(&row.host, &row.url)?;
        let mut versions = store.page_history(&row.url)?;
        versions.reverse();
        versions.truncate(MOST_VERSIONS);
        let shown = shown_text(inspector, store, &asked, &row, &labeled)?;
        Ok(Page {
            schema: 1,
            step: labeled.step.to_owned(),
            confidence: labeled.template.confidence,
            n_training: labeled.n_training,
            chars: labeled.shown().chars(),
            metadata: Metadata::read(&MetadataInput {
                read_at: Some(row.fetched_at),
                ..MetadataInput::new(&labeled.tree, labeled.url.as_ref())
            }),
            main_text: labeled.main.text(&labeled.tree),
            before,
            next,
            versions,
            shown,
            asked,
            page: row,
        })
    }

    fn address(&self, url: &str, view: View) -> String {
        let mut pairs = vec![("url", url), ("view", view.name())];
        let run = self.asked.run.map(|run| run.to_string());
        if let Some(run) = run.as_ref().filter(|_| url == self.page.url) {
            pairs.push(("run", run));
        }
        if self.asked.pictures {
            pairs.push(("pictures", "true"));
        }
        format!("/page?{}", query(&pairs))
    }

    pub(super) fn render(&self) -> Markup {
        let row = &self.page;
        let title = self.metadata.title.as_ref().map_or(row.url.as_str(), |fact| fact.value.as_str());
        let body = html! {
            nav.crumbs aria-label="Place" { (site_link(&row.host)) " › " span.url { (row.url) } }
            h1 { (title) }
            div.tools {
                nav.views aria-label="Views" { @for (at, (view, _, title)) in View::ALL.iter().enumerate() {
                    @let key = (at < 4).then(|| (at + 1).to_string());
                    a href=(self.address(&row.url, *view)) aria-current=[(*view == self.asked.view).then_some("page")] data-key=[key.as_deref()] {
                        (title) @if let Some(key) = &key { kbd { (key) } }
                    }
                } }
                nav.steps aria-label="This page, and others of the site" {
                    a href=(format!("/label?{}", query(&[("url", &row.url)]))) { "Label it" }
                    @if let Some(url) = &self.before { a rel="prev" data-key="k" href=(self.address(url, self.asked.view)) { "‹ before" kbd { "k" } } }
                    @if let Some(url) = &self.next { a rel="next" data-key="j" href=(self.address(url, self.asked.view)) { "next ›" kbd { "j" } } }
                }
            }
            (self.shares())
            div.view data-n=(self.asked.view.shows().len()) {
                @for show in self.asked.view.shows() {
                    iframe sandbox="" title=(show.title()) src=(self.frame(*show)) {}
                }
                @if let Some(shown) = &self.shown { (shown) }
            }
            @if !self.asked.view.shows().is_empty() { p.dim {
                @let remote = if self.asked.view == View::Design { "Stylesheets, fonts and pictures" } else { "Pictures" };
                @if self.asked.pictures { (remote) " come from the site: your browser asks it for them. " a href=(self.pictures(false)) { "Leave them out" } }
                @else { (remote) " are left out: nothing is asked of the site. " a href=(self.pictures(true)) { "Load them" } }
                @for show in self.asked.view.shows() { " · " a href=(self.frame(*show)) { (show.title()) " alone, to print" } }
            } }
            div.two {
                section { h2 { "Snapshot" } (self.snapshot()) (self.history()) }
                section { h2 { "Metadata" } (metadata(&self.metadata)) }
            }
        };
        document(title, MenuEntry::Sites, &body)
    }

    fn pictures(&self, shown: bool) -> String {
        let pictures = if shown { "true" } else { "false" };
        format!("/page?{}", query(&[("url", &self.page.url), ("view", self.asked.view.name()), ("pictures", pictures)]))
    }

    fn frame(&self, show: Show) -> String {
        self.address(&self.page.url, View::Overlay).replacen("/page?", "/frame?", 1) + "&show=" + show.name()
    }

    /// The legend, with the share of each kind.
    fn shares(&self) -> Markup {
        let all = self.chars.iter().sum::<usize>().max(1);
        let share = |at: usize| format!("{:.0} %", 100.0 * self.chars[at] as f64 / all as f64);
        html! {
            p.legend {
                span.key data-kind="main" { "main content " (share(2)) } " "
                span.key data-kind="neither" { "neither " (share(1)) } " "
                span.key data-kind="template" { "template " (share(0)) }
                span.dim { " by " code { (self.step) } ", confidence " (format!("{:.2}", self.confidence))
                    @if self.n_training > 0 { ", " (self.n_training) " training pages" } }
            }
        }
    }

    fn snapshot(&self) -> Markup {
        let row = &self.page;
        facts(&[
            (
                "fetched",
                html! { (minute(row.fetched_at)) " UTC, " a href=(format!("/run?id={}", row.run)) { "run " (row.run) } },
            ),
            ("status", html! { (row.status) }),
            ("content type", html! { (row.content_type.as_deref().unwrap_or("not said")) }),
            ("main content", html! { (count(self.main_text.chars().count() as i64)) " characters" }),
            (
                "stored as",
                html! { @match (&row.method, row.confidence) {
                    (Some(method), Some(confidence)) => {
                        "cleaned by " code { (method) } ", confidence " (format!("{confidence:.2}"))
                        @if let Some(kind) = row.kind { ", a page of kind " (kind) }
                    },
                    _ => { "not cleaned" },
                } },
            ),
        ])
    }

    fn history(&self) -> Markup {
        html! {
            h2 { "Nights" }
            ul.nights { @for night in &self.versions { li {
                @let change = change_of(night);
                @if night.is_stored {
                    @let run = night.run.to_string();
                    a href=(format!("/page?{}", query(&[("url", &self.page.url), ("view", self.asked.view.name()), ("run", &run)])))
                        aria-current=[(night.run == self.page.run).then_some("true")] { (minute(night.at)) }
                } @else { (minute(night.at)) }
                " run " (night.run) ", " (change)
            } } }
        }
    }
}

/// What a visit found, in words.
fn change_of(night: &PageNight) -> String {
    let word = match (&night.change, &night.redirect_to) {
        (Some(change), Some(to)) => return format!("{change} to {to}"),
        (None, Some(to)) => return format!("redirected to {to}"),
        (Some(change), None) => change.replace('_', " "),
        (None, None) if night.is_stored => return "stored".to_owned(),
        (None, None) => night.outcome.replace('_', " "),
    };
    match (&night.reason, night.status) {
        (Some(reason), _) => format!("{word} ({reason})"),
        (None, Some(status)) if !night.is_stored && status != 200 => format!("{word} ({status})"),
        (None, _) => word,
    }
}

/// Metadata with their sources.
fn metadata(metadata: &Metadata) -> Markup {
    let one = |fact: &Option<Fact>| fact.iter().cloned().collect::<Vec<_>>();
    let rows = [
        ("title", one(&metadata.title)),
        ("authors", metadata.authors.clone()),
        ("published", one(&metadata.published)),
        ("modified", one(&metadata.modified)),
        ("language", one(&metadata.language)),
        ("site name", one(&metadata.site_name)),
        ("canonical URL", one(&metadata.canonical_url)),
        ("description", one(&metadata.description)),
        ("picture", one(&metadata.image)),
        ("tags", metadata.tags.clone()),
        ("licence", one(&metadata.licence)),
        ("kind", one(&metadata.kind)),
    ];
    let known: Vec<(&str, Markup)> = rows
        .iter()
        .filter(|(_, facts)| !facts.is_empty())
        .map(|(name, facts)| {
            let values = facts.iter().map(|fact| fact.value.as_str()).collect::<Vec<_>>().join(", ");
            let source = facts.first().map_or("", |fact| fact.source.name());
            (*name, html! { (values) " " span.source { (source) } })
        })
        .collect();
    if known.is_empty() {
        html! { p.dim { "The page says nothing about itself." } }
    } else {
        facts(&known)
    }
}

/// An address that a user has typed: a host leads to its site, a URL to its page.
pub(super) fn find(store: &Store, text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    for url in [text.to_owned(), format!("http://{text}"), format!("https://{text}")] {
        if store.find_page(&url)?.is_some() && (text.contains("://") || text.trim_end_matches('/').contains('/')) {
            return Ok(page_address(&url));
        }
    }
    let host = PageUrl::parse(text).map_or_else(|_| text.trim_end_matches('/').to_owned(), |url| url.authority());
    Ok(match store.site(&host)? {
        Some(site) => format!("/site?{}", query(&[("host", &site.host)])),
        None => format!("/sites?{}", query(&[("q", &host)])),
    })
}
