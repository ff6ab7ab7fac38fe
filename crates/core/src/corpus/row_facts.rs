//! What the columns of a row read: the page with its metadata and the language of its text.

use serde_json::{Map, Value as Json};

use super::record::{About, RecordSource, rounded};
use crate::clean::LabeledPage;
use crate::language::detect_language;
use crate::metadata::{Fact, Metadata};
use dehusk_html::PageUrl;
use dehusk_render::{write_markdown, write_own_html};

/// A page, and what is found out about it for its row.
pub(super) struct RowFacts<'a> {
    source: &'a RecordSource<'a>,
    pub(super) labeled: &'a LabeledPage,
    pub(super) about: &'a About,
    pub(super) comments: Option<&'a str>,
    pub(super) metadata: Metadata,
    /// ISO 639 code of the language of the text, with the confidence from 0 to 1.
    detected: Option<(String, f64)>,
}

impl<'a> RowFacts<'a> {
    pub(super) fn new(source: &'a RecordSource<'a>, text: &str) -> RowFacts<'a> {
        let RecordSource { tree, labeled, about, comments, .. } = *source;
        let mut metadata = Metadata::new(tree, about.url.as_ref());
        if let Some(site) = &about.site {
            site.complete(tree, &mut metadata);
        }
        RowFacts { source, labeled, about, comments, metadata, detected: detect_language(text) }
    }

    pub(super) fn url(&self) -> Option<&PageUrl> {
        self.about.url.as_ref()
    }

    /// The host of the site; without one, that of the URL.
    pub(super) fn host(&self) -> Option<String> {
        self.about.host.clone().or_else(|| self.url().map(PageUrl::authority))
    }

    /// The detected language, else the declared one without its region.
    pub(super) fn language(&self) -> Option<String> {
        let declared = || {
            let tag = &self.metadata.language.as_ref()?.value;
            Some(tag.split('-').next().unwrap_or_default().to_owned())
        };
        self.detected.as_ref().map(|(code, _)| code.clone()).or_else(declared)
    }

    pub(super) fn language_confidence(&self) -> Option<f64> {
        self.detected.as_ref().map(|(_, confidence)| rounded(*confidence))
    }

    /// The site whose template labeled the page, with the version of the template.
    pub(super) fn model(&self) -> Option<&(String, Option<i64>)> {
        self.about.model.as_ref()
    }

    pub(super) fn markdown(&self) -> String {
        let RecordSource { tree, markdown, .. } = self.source;
        write_markdown(tree, self.url(), markdown, self.labeled.labels.is_own())
    }

    pub(super) fn html(&self) -> Option<String> {
        let tree = self.source.tree;
        self.source.optional.html.then(|| write_own_html(tree, self.url(), self.labeled.labels.is_own()))
    }

    /// Where each value comes from: an object of names.
    pub(super) fn sources(&self) -> String {
        let metadata = &self.metadata;
        let one = |fact: &Option<Fact>| fact.as_ref().map(|fact| fact.source.name());
        let first = |facts: &[Fact]| facts.first().map(|fact| fact.source.name());
        let all = [
            ("title", one(&metadata.title)),
            ("authors", first(&metadata.authors)),
            ("published", one(&metadata.published)),
            ("modified", one(&metadata.modified)),
            ("declared_language", one(&metadata.language)),
            ("site_name", one(&metadata.site_name)),
            ("canonical_url", one(&metadata.canonical_url)),
            ("description", one(&metadata.description)),
            ("image", one(&metadata.image)),
            ("tags", first(&metadata.tags)),
            ("licence", one(&metadata.licence)),
            ("page_kind", one(&metadata.kind)),
        ];
        let known = all.into_iter().filter_map(|(name, source)| Some((name.to_owned(), Json::from(source?))));
        Json::Object(known.collect::<Map<_, _>>()).to_string()
    }
}
