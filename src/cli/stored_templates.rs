//! The stored templates as `dehusk clean` uses them: each one is read and prepared once for all pages.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::anyhow;

use crate::store::{Store, StoreError};
use dehusk_core::internals::clean::{CleanOptions, LabeledPage, TemplateMatcher, label_page};
use dehusk_core::internals::dom::Tree;
use dehusk_core::internals::links::base_url;
use dehusk_core::internals::method::Method;
use dehusk_core::internals::page_url::PageUrl;

/// Minimum share of a template that a page must show if its site is unknown. Pages of the template's own site sometimes
/// show less, pages of other sites never show so much.
const UNNAMED_MIN: f64 = 0.5;

/// Maximum number of named templates that are kept. When it is reached, all are dropped.
const MOST_KEPT: usize = 1024;

pub(super) struct StoredTemplates {
    store: Store,
    /// The newest template of each host that a page named. `None`: the host has none.
    by_host: RefCell<HashMap<String, Option<Rc<TemplateMatcher>>>>,
    /// The newest template of every host, for pages of an unknown site.
    all: OnceCell<Vec<(String, TemplateMatcher)>>,
}

/// A page and what is known of its site.
pub(super) struct StoredPage<'a> {
    /// File or URL, for messages.
    pub(super) name: &'a str,
    pub(super) tree: &'a Tree,
    pub(super) host: Option<String>,
}

impl StoredTemplates {
    pub(super) fn of(store: Store) -> StoredTemplates {
        StoredTemplates { store, by_host: RefCell::default(), all: OnceCell::new() }
    }

    /// The host of the template that was used, and the labeled page.
    pub(super) fn label(&self, page: &StoredPage<'_>, how: &CleanOptions) -> anyhow::Result<(String, LabeledPage)> {
        if let Some(host) = &page.host {
            let matcher = self.matcher(host)?.ok_or_else(|| {
                anyhow!(
                    "{}: no stored template of {host}; `dehusk crawl http://{host}/` learns one, --alone cleans without",
                    page.name
                )
            })?;
            return fitting(page, host, &matcher, how);
        }
        if let Some(host) = canonical_host(page.tree)
            && let Some(matcher) = self.matcher(&host)?
        {
            return fitting(page, &host, &matcher, how);
        }
        let labeled = self.all()?.iter().map(|(host, matcher)| (host, matcher, matcher.label(page.tree)));
        match labeled.max_by(|a, b| a.2.confidence.total_cmp(&b.2.confidence)) {
            Some((host, matcher, labels)) if labels.confidence >= UNNAMED_MIN => {
                Ok((host.clone(), label_page(page.tree, Some(labels), Some(matcher), how)))
            }
            _ => Err(anyhow!("{}: no stored template fits; --site names one, --alone cleans without", page.name)),
        }
    }

    fn matcher(&self, host: &str) -> Result<Option<Rc<TemplateMatcher>>, StoreError> {
        if let Some(known) = self.by_host.borrow().get(host) {
            return Ok(known.clone());
        }
        let template = self.store.load_template(host, None)?;
        let matcher = template.map(|template| Rc::new(TemplateMatcher::from_template(&template)));
        let mut by_host = self.by_host.borrow_mut();
        if by_host.len() >= MOST_KEPT {
            by_host.clear();
        }
        by_host.insert(host.to_owned(), matcher.clone());
        Ok(matcher)
    }

    fn all(&self) -> Result<&[(String, TemplateMatcher)], StoreError> {
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let templates = self.store.load_newest_templates()?.into_iter();
        let all =
            templates.map(|template| (template.host.clone(), TemplateMatcher::from_template(&template))).collect();
        Ok(self.all.get_or_init(|| all))
    }
}

fn fitting(
    page: &StoredPage<'_>,
    host: &str,
    matcher: &TemplateMatcher,
    how: &CleanOptions,
) -> anyhow::Result<(String, LabeledPage)> {
    let labeled = label_page(page.tree, None, Some(matcher), how);
    if labeled.method == Method::Plain {
        return Err(anyhow!(
            "{}: the template of {host} does not fit (confidence {:.2}, minimum {}); it may be another kind of page, or the site was redesigned",
            page.name,
            labeled.labels.confidence,
            matcher.min_confidence(how)
        ));
    }
    if !labeled.by_template {
        tracing::warn!(
            "{}: shows nothing of the template of {host}; cleaned without it ({})",
            page.name,
            labeled.method
        );
    }
    Ok((host.to_owned(), labeled))
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
