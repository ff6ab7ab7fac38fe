//! What the columns of a row read: the page with its metadata and the language of its text.

use std::borrow::Cow;

use super::columns::SOURCES;
use super::record::{About, RecordSource};
use crate::clean::LabeledPage;
use crate::language::{TextLanguage, language_of};
use crate::metadata::{Fact, Metadata, MetadataInput};
use crate::page_markdown::write_titled;
use crate::posts::{Post, posts};
use crate::rights::{Rights, RightsHeaders, page_statements};
use dehusk_html::{PageUrl, Tree};
use dehusk_render::write_own_html;

/// A page, and what is found out about it for its row.
pub(super) struct RowFacts<'a> {
    source: &'a RecordSource<'a>,
    pub(super) labeled: &'a LabeledPage,
    pub(super) about: &'a About,
    pub(super) metadata: Metadata,
    pub(super) rights: Cow<'a, Rights>,
    pub(super) language: Option<TextLanguage>,
}

impl<'a> RowFacts<'a> {
    pub(super) fn new(source: &'a RecordSource<'a>, text: &str) -> RowFacts<'a> {
        let RecordSource { tree, labeled, about, .. } = *source;
        let metadata = Metadata::read(&input(source));
        let declared = metadata.language.as_ref().map(|tag| tag.value.as_str());
        let language = language_of(&without_code(tree, labeled, text), declared, source.language);
        let rights = match &about.rights {
            Some(rights) => Cow::Borrowed(rights),
            None => Cow::Owned(Rights::new(page_statements(&RightsHeaders::default(), tree, &[]))),
        };
        RowFacts { source, labeled, about, metadata, rights, language }
    }

    pub(super) fn tree(&self) -> &Tree {
        self.source.tree
    }

    pub(super) fn url(&self) -> Option<&PageUrl> {
        self.about.url.as_ref()
    }

    /// The host of the site; without one, that of the URL.
    pub(super) fn host(&self) -> Option<String> {
        self.about.host.clone().or_else(|| self.url().map(PageUrl::authority))
    }

    /// The site whose template labeled the page, with the version of the template.
    pub(super) fn model(&self) -> Option<&(String, Option<i64>)> {
        self.about.model.as_ref()
    }

    pub(super) fn markdown(&self) -> String {
        let title = || self.metadata.title.as_ref().map(|title| title.value.clone());
        write_titled(&input(self.source), title, self.source.markdown, self.labeled.labels.is_own())
    }

    /// The posts of the page, if they are asked for.
    pub(super) fn posts(&self) -> Vec<Post> {
        let RecordSource { labeled, comments, optional, markdown, .. } = *self.source;
        if !optional.posts {
            return Vec::new();
        }
        let is_comment = |node| comments.is_some_and(|comments| !comments.is_template(node));
        posts(&input(self.source), markdown, |node| !labeled.labels.is_template(node) || is_comment(node))
    }

    /// The text of the comments, if they are asked for.
    pub(super) fn comments(&self) -> Option<String> {
        self.source.comments.map(|labels| labels.text(self.source.tree))
    }

    pub(super) fn html(&self) -> Option<String> {
        let tree = self.source.tree;
        self.source.optional.html.then(|| write_own_html(tree, self.url(), self.labeled.labels.is_own()))
    }

    /// Where each value of [`SOURCES`] comes from.
    pub(super) fn sources(&self) -> [Option<&'static str>; SOURCES.len()] {
        let metadata = &self.metadata;
        let one = |fact: &Option<Fact>| fact.as_ref().map(|fact| fact.source.name());
        let first = |facts: &[Fact]| facts.first().map(|fact| fact.source.name());
        [
            one(&metadata.title),
            first(&metadata.authors),
            one(&metadata.published),
            one(&metadata.modified),
            one(&metadata.language),
            one(&metadata.site_name),
            one(&metadata.canonical_url),
            one(&metadata.description),
            one(&metadata.image),
            first(&metadata.tags),
            one(&metadata.licence),
            one(&metadata.kind),
        ]
    }
}

fn input<'a>(source: &RecordSource<'a>) -> MetadataInput<'a> {
    let RecordSource { tree, about, .. } = *source;
    let (url, site) = (about.url.as_ref(), about.site.as_deref());
    MetadataInput { tree, url, site, read_at: about.fetched_at.or(about.read_at) }
}

/// The text of a page without its listings, whose words are of no language; the whole text where there is no other.
fn without_code<'t>(tree: &Tree, labeled: &LabeledPage, text: &'t str) -> Cow<'t, str> {
    if tree.all("pre").next().is_none() {
        return Cow::Borrowed(text);
    }
    let mut labels = labeled.labels.clone();
    for listing in tree.all("pre") {
        labels.is_template[tree.shape.subtree(listing)].fill(true);
    }
    let rest = labels.text(tree);
    if rest.contains(char::is_alphabetic) { Cow::Owned(rest) } else { Cow::Borrowed(text) }
}
