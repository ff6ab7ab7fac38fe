//! The stored templates as `dehusk clean` uses them: each one is read and prepared once for all pages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context, anyhow};

use super::documents::SourceError;
use dehusk_content::Labels;
use dehusk_core::clean::{CleanOptions, KeepText, LabeledPage, TemplateMatcher, label_page};
use dehusk_corpus::registry::Registry;
use dehusk_html::{PageUrl, base_url};
use dehusk_html::{ParseOptions, Tree};
use dehusk_settings::Settings;
use dehusk_store::Store;
use dehusk_template::method::Method;
use dehusk_template::template::Template;

/// Minimum share of a template that a page must show if its site is unknown. Pages of the template's own site sometimes
/// show less, pages of other sites never show so much.
const UNNAMED_MIN: f64 = 0.5;

/// Maximum number of named templates that are kept. When it is reached, all are dropped.
const MOST_KEPT: usize = 1024;

/// Where templates are read from.
enum Source {
    Store(Mutex<Store>),
    Registry(Registry),
}

pub(super) struct StoredTemplates {
    source: Source,
    /// How stored training pages are parsed to compute their blocks; `None` where main content is not asked for.
    for_blocks: Option<ParseOptions>,
    /// The newest template of each host that a page named. `None`: the host has none.
    by_host: Mutex<HashMap<String, Option<Arc<TemplateMatcher>>>>,
    /// The newest template of every host, for pages of an unknown site.
    all: OnceLock<Vec<(String, Arc<TemplateMatcher>)>>,
}

/// A page and what is known of its site.
pub(super) struct StoredPage<'a> {
    /// File or URL, for messages.
    pub(super) name: &'a str,
    pub(super) tree: &'a Tree,
    /// Host of its URL.
    pub(super) host: Option<String>,
}

/// What cleans a page.
#[derive(Clone)]
pub(super) enum Choice {
    /// The template of its site.
    Site(String, Arc<TemplateMatcher>),
    /// The template that fits best, by these labels.
    Fitting(String, Arc<TemplateMatcher>, Labels),
    /// Nothing is known of its site.
    Alone,
}

impl StoredTemplates {
    pub(super) fn new(store: Store, settings: &Settings) -> StoredTemplates {
        let for_blocks = (settings.core.clean.keep != KeepText::Own).then_some(settings.core.parse);
        let source = Source::Store(Mutex::new(store));
        StoredTemplates { source, for_blocks, by_host: Mutex::default(), all: OnceLock::new() }
    }

    /// The templates of a registry. A page of an unknown site is cleaned by itself.
    pub(super) fn of_registry(registry: Registry) -> StoredTemplates {
        let (source, all) = (Source::Registry(registry), OnceLock::new());
        StoredTemplates { source, for_blocks: None, by_host: Mutex::default(), all }
    }

    /// The template of a site that a user has named.
    pub(super) fn named(&self, host: &str) -> anyhow::Result<Choice> {
        let matcher = self.matcher(host)?.ok_or_else(|| {
            anyhow!("no stored template of {host}; `dehusk crawl http://{host}/` learns one, --alone cleans without")
        })?;
        Ok(Choice::Site(host.to_owned(), matcher))
    }

    /// What cleans a page: the template of the host of its URL or of its canonical link. A page of unknown origin gets
    /// the one that fits best.
    pub(super) fn choose(&self, page: &StoredPage<'_>) -> anyhow::Result<Choice> {
        for host in [page.host.clone(), canonical_host(page.tree)].into_iter().flatten() {
            if let Some(matcher) = self.matcher(&host)? {
                return Ok(Choice::Site(host, matcher));
            }
        }
        if page.host.is_some() { Ok(Choice::Alone) } else { self.fitting(page.tree) }
    }

    fn matcher(&self, host: &str) -> anyhow::Result<Option<Arc<TemplateMatcher>>> {
        if let Some(known) = locked(&self.by_host).get(host) {
            return Ok(known.clone());
        }
        let template = self.template(host)?;
        let matcher = template.map(|template| Arc::new(TemplateMatcher::from_template(&template)));
        let mut by_host = locked(&self.by_host);
        if by_host.len() >= MOST_KEPT {
            by_host.clear();
        }
        by_host.insert(host.to_owned(), matcher.clone());
        Ok(matcher)
    }

    fn template(&self, host: &str) -> anyhow::Result<Option<Template>> {
        let store = match &self.source {
            Source::Store(store) => store,
            Source::Registry(registry) => {
                // Without its registry no page can be cleaned as it was asked for.
                let found = registry.newest(host, None).with_context(|| registry.name().to_owned());
                let found = found.map_err(SourceError)?;
                return Ok(found.map(|(_, template)| template));
            }
        };
        Ok(match &self.for_blocks {
            // The lock on the store is released before the blocks are computed.
            Some(options) => {
                let found = locked(store).load_template_with_bodies(host, None)?;
                found.map(|found| found.with_blocks(options))
            }
            None => locked(store).load_template(host, None)?,
        })
    }

    /// The template that fits a page of an unknown site best.
    fn fitting(&self, page: &Tree) -> anyhow::Result<Choice> {
        let labeled = self.all()?.iter().map(|(host, matcher)| (host, matcher, matcher.label(page)));
        let mut fitting: Vec<_> = labeled.filter(|(_, _, labels)| labels.confidence >= UNNAMED_MIN).collect();
        let greatest = fitting.iter().map(|(_, _, labels)| labels.confidence).fold(0.0, f64::max);
        fitting.retain(|(_, _, labels)| labels.confidence >= greatest);
        // Sites of one generator show all of each other's layout; the texts tell them apart.
        let shared_text = |matcher: &TemplateMatcher| matcher.training_set().map_or(0.0, |set| set.shared_text(page));
        let best = if fitting.len() > 1 {
            let with_shares = fitting.into_iter().map(|found| (shared_text(found.1), found));
            with_shares.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, found)| found)
        } else {
            fitting.pop()
        };
        let Some((host, matcher, labels)) = best else { return Ok(Choice::Alone) };
        let with_blocks = self.for_blocks.map_or(Ok(None), |_| self.matcher(host))?;
        Ok(Choice::Fitting(host.clone(), with_blocks.unwrap_or_else(|| Arc::clone(matcher)), labels))
    }

    fn all(&self) -> anyhow::Result<&[(String, Arc<TemplateMatcher>)]> {
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let matcher = |template: Template| (template.host.clone(), Arc::new(TemplateMatcher::from_template(&template)));
        let all = match &self.source {
            Source::Store(store) => locked(store).load_newest_templates()?.into_iter().map(matcher).collect(),
            Source::Registry(_) => Vec::new(),
        };
        Ok(self.all.get_or_init(|| all))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Choice {
    /// Labels a page. With the template that was used, and its host.
    pub(super) fn label(
        &self,
        page: &StoredPage<'_>,
        how: &CleanOptions,
    ) -> (Option<(&str, &TemplateMatcher)>, LabeledPage) {
        let alone = || (None, label_page(page.tree, None, None, how));
        match self {
            Choice::Site(host, matcher) => {
                let labeled = label_page(page.tree, None, Some(matcher), how);
                if labeled.by_template {
                    return (Some((host, matcher)), labeled);
                }
                tracing::warn!("{}: shows nothing of the template of {host}; cleaned without it", page.name);
                if labeled.method == Method::Plain { alone() } else { (Some((host, matcher)), labeled) }
            }
            Choice::Fitting(host, matcher, labels) => {
                (Some((host, matcher)), label_page(page.tree, Some(labels.clone()), Some(matcher), how))
            }
            Choice::Alone => alone(),
        }
    }
}

/// The host of the canonical link of a page.
fn canonical_host(tree: &Tree) -> Option<String> {
    let nowhere = PageUrl::parse("http://invalid./").ok()?;
    let link = tree.nodes().find(|n| {
        tree.name(*n) == "link"
            && tree
                .attr(*n, "rel")
                .is_some_and(|rel| rel.split_ascii_whitespace().any(|r| r.eq_ignore_ascii_case("canonical")))
    })?;
    let url = base_url(tree, &nowhere).join(tree.attr(link, "href")?)?;
    (url.host() != nowhere.host()).then(|| url.authority())
}
