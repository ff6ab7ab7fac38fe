//! What a page says about itself: title, authors, dates, language, licence, each with its source.
//!
//! Every source fills a list of values, in the order of trust: JSON-LD, microdata and RDFa, OpenGraph, Dublin Core,
//! other `meta` elements, `link` elements, `time` elements, the URL, and the text of the page. The first value that can
//! be read is taken.

mod constants;
mod date;
mod elements;
mod found;
mod head;
mod json_ld;
mod json_repair;
mod labels;
mod names;
mod page_text;
mod site;
mod title;

pub use date::find_date;
pub use found::{Fact, Source};
pub use site::SiteMetadata;

use serde::Serialize;

use crate::posts::opening;
pub(crate) use date::{Date, month};
use dehusk_html::Tree;
use dehusk_html::{PageUrl, base_url};
pub(crate) use found::DateReader;
use found::FoundFacts;
pub(crate) use names::person;
use title::ShownTitles;

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// Title, without the name of the site.
    pub title: Option<Fact>,
    /// Names of the authors, in the order of the page.
    pub authors: Vec<Fact>,
    /// Day of publication, `2026-11-22`.
    pub published: Option<Fact>,
    /// Day of the last change.
    pub modified: Option<Fact>,
    /// Language that the page declares, as a BCP 47 tag.
    pub language: Option<Fact>,
    /// Name of the site.
    pub site_name: Option<Fact>,
    /// The address that the page names as its own.
    pub canonical_url: Option<Fact>,
    /// Description, in a sentence or two.
    pub description: Option<Fact>,
    /// Address of the main picture.
    pub image: Option<Fact>,
    /// Tags and keywords.
    pub tags: Vec<Fact>,
    /// Address of the licence.
    pub licence: Option<Fact>,
    /// Kind of page, as the page names it: a type of schema.org, or of OpenGraph.
    pub kind: Option<Fact>,
}

/// Most authors and tags of a page; a list that is longer is none.
const MOST_VALUES: usize = 64;

/// A page, and what is known of it beside its tree.
#[derive(Clone, Copy, Debug)]
pub struct MetadataInput<'a> {
    /// The page.
    pub tree: &'a Tree,
    /// Its address.
    pub url: Option<&'a PageUrl>,
    /// What the pages of its site have in common.
    pub site: Option<&'a SiteMetadata>,
    /// When it was fetched or read, in Unix milliseconds: nothing on it was published later.
    pub read_at: Option<i64>,
}

impl<'a> MetadataInput<'a> {
    /// A page of which only its address is known.
    pub fn new(tree: &'a Tree, url: Option<&'a PageUrl>) -> MetadataInput<'a> {
        MetadataInput { tree, url, site: None, read_at: None }
    }

    /// The day after which nothing on it was published.
    fn latest(&self) -> Option<Date> {
        Date::of_ms(self.read_at?)
    }
}

impl Metadata {
    /// Reads the metadata of a page. `url` is its address, if known.
    pub fn new(tree: &Tree, url: Option<&PageUrl>) -> Metadata {
        Metadata::read(&MetadataInput::new(tree, url))
    }

    /// Reads the metadata of a page, with all that is known of it.
    pub fn read(page: &MetadataInput<'_>) -> Metadata {
        let MetadataInput { tree, url, site, .. } = *page;
        let found = found_facts(page);
        let dates = DateReader::new(page, &found);
        let base = url.map(|url| base_url(tree, url));
        let address = |fact: Option<Fact>| fact.and_then(|fact| absolute(fact, base.as_ref()));
        let site_name = found::first(&found.site_names, 100);
        let published = dates.day_of_publication(&found.published, &found.modified);
        let modified = dates.first(&found.modified);
        // A page is not changed before it is published.
        let modified = modified.filter(|day| published.as_ref().is_none_or(|first| first.value <= day.value));
        let mut metadata = Metadata {
            title: ShownTitles::new(tree).choose(&found, site_name.as_ref()),
            authors: names::authors(&found),
            // In markup, the change is also the publication where no other is stated, as hAtom has it. The words of a
            // text say which one they mean.
            published: published.or_else(|| modified.clone().filter(|day| day.source < Source::Text)),
            modified,
            language: found::first_of_document(&found.languages).and_then(found::language),
            site_name,
            canonical_url: address(found::first(&found.canonical, 2000)),
            description: found::first(&found.descriptions, 5000),
            image: address(found::first(&found.images, 2000)),
            tags: found::values(&found.tags),
            licence: address(found::first(&found.licences, 2000)),
            kind: found::first(&found.kinds, 60),
        };
        metadata.take_opening(page);
        if let Some(site) = site {
            site.complete(tree, &mut metadata);
        }
        metadata
    }

    /// Where the text alone says who wrote a page and when, a thread is by the author of its first post, of that day.
    fn take_opening(&mut self, page: &MetadataInput<'_>) {
        let is_guess = |fact: Option<&Fact>| fact.is_none_or(|fact| fact.source >= Source::Time);
        let (guesses_day, guesses_author) = (is_guess(self.published.as_ref()), is_guess(self.authors.first()));
        if !guesses_day && !guesses_author {
            return;
        }
        let Some((author, day)) = opening(page) else { return };
        if let Some(day) = day.filter(|_| guesses_day) {
            self.published = Some(found::fact(&day, Source::Text));
            self.modified = self.modified.take().filter(|changed| changed.value >= day);
        }
        if let Some(author) = author.filter(|_| guesses_author) {
            self.authors = vec![found::fact(&author, Source::Text)];
        }
    }
}

/// What all sources say, without what the site says on each of its pages.
fn found_facts(page: &MetadataInput<'_>) -> FoundFacts {
    let MetadataInput { tree, url, site, .. } = *page;
    let mut found = FoundFacts::default();
    let titles = ShownTitles::new(tree);
    json_ld::read(tree, url, &titles, &mut found);
    elements::read_properties(tree, &mut found);
    head::read(tree, &mut found);
    elements::read_links(tree, &mut found);
    elements::read_home_links(tree, url, &titles, &mut found);
    elements::read_times(tree, &mut found);
    let dates = DateReader::new(page, &found);
    page_text::read(tree, url, &dates, &mut found);
    if let Some(site) = site {
        site.constants.remove_from(&mut found, url);
    }
    found
}

/// An address made absolute. One that is no address of a page is dropped.
fn absolute(fact: Fact, base: Option<&PageUrl>) -> Option<Fact> {
    let url = match base {
        Some(base) => base.url().join(&fact.value).ok()?,
        None => url::Url::parse(&fact.value).ok()?,
    };
    matches!(url.scheme(), "http" | "https").then(|| Fact { value: url.into(), ..fact })
}

#[cfg(test)]
mod tests;
