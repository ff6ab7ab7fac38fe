//! What only the pages of a site together say: the part of the title that is on all of them is the name of the site,
//! and what stands in one place of each page is the date, or the byline.

use rustc_hash::FxHashMap;

use super::constants::Constants;
use super::date::find_date;
use super::found::{Fact, Source, fact};
use super::names::{is_name, person};
use super::title::{split_title, title_element};
use super::{Metadata, MetadataInput, elements::is_of_another};
use dehusk_html::{NodeId, PageUrl, Tree, ancestors, hash_str, looks_generated, mix};

/// Share of the pages that must agree.
pub(super) const LEAST_SHARE: f64 = 0.6;

/// Fewest pages that say anything about their site.
pub(super) const FEWEST_PAGES: usize = 3;

/// Characters of a text above which it is neither a date nor a byline.
const MOST_CHARS: usize = 120;

/// What the pages of a site have in common in their metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteMetadata {
    name: Option<String>,
    /// Places of the date and of the byline: hashes of the elements around them.
    date_place: Option<u64>,
    author_place: Option<u64>,
    /// Values that most pages state, and that are not of one page.
    pub(super) constants: Constants,
}

impl SiteMetadata {
    /// Learns from pages of one site, each with its address.
    pub fn learn(pages: &[(Tree, Option<PageUrl>)]) -> SiteMetadata {
        if pages.len() < FEWEST_PAGES {
            return SiteMetadata::default();
        }
        let constants = Constants::of(pages);
        let so_far = SiteMetadata { constants, ..SiteMetadata::default() };
        let read = |(tree, url): &'_ (Tree, Option<PageUrl>)| {
            Metadata::read(&MetadataInput { tree, url: url.as_ref(), site: Some(&so_far), read_at: None })
        };
        let read: Vec<Metadata> = pages.iter().map(read).collect();
        let pages: Vec<(&Tree, &Metadata)> = pages.iter().map(|(tree, _)| tree).zip(&read).collect();
        let is_date = |metadata: &Metadata, text: &str| {
            let day = metadata.published.as_ref().filter(|day| day.source < Source::Url);
            day.is_some_and(|day| find_date(text).is_some_and(|date| date.to_string() == day.value))
        };
        let is_author = |metadata: &Metadata, text: &str| {
            let name = metadata.authors.first().filter(|author| author.source < Source::Text);
            name.is_some_and(|name| person(text).eq_ignore_ascii_case(&name.value))
        };
        SiteMetadata {
            name: site_name(&pages),
            date_place: common_place(&pages, is_date),
            author_place: common_place(&pages, is_author),
            constants: so_far.constants,
        }
    }

    /// Adds to the metadata of a page what the site says.
    pub(super) fn complete(&self, tree: &Tree, metadata: &mut Metadata) {
        if let Some(name) = &self.name {
            metadata.site_name.get_or_insert_with(|| fact(name, Source::Site));
            if let Some(title) = &mut metadata.title
                && let Some(rest) =
                    split_title(&title.value).into_iter().find(|(part, _)| part == name).map(|(_, rest)| rest)
            {
                title.value = rest;
            }
        }
        // A text or an address is a guess; the place where the site puts its date is not.
        if let Some(place) =
            self.date_place.filter(|_| metadata.published.as_ref().is_none_or(|d| d.source >= Source::Url))
        {
            let date = at_place(tree, place).find_map(find_date);
            if let Some(date) = date {
                metadata.published = Some(fact(&date.to_string(), Source::Site));
            }
        }
        let is_guess = metadata.authors.first().is_none_or(|author| author.source >= Source::Text);
        if let Some(place) = self.author_place.filter(|_| is_guess) {
            let name = at_place(tree, place).map(person).find(|name| is_name(name));
            if let Some(name) = name {
                metadata.authors = vec![Fact { value: name, source: Source::Site }];
            }
        }
    }
}

/// The first or last part of the title that most pages share.
fn site_name(pages: &[(&Tree, &Metadata)]) -> Option<String> {
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    for (tree, _) in pages {
        let mut parts: Vec<String> =
            title_element(tree).map(|title| split_title(&title)).into_iter().flatten().map(|(part, _)| part).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.into_iter().for_each(|part| *counts.entry(part).or_default() += 1);
    }
    let needed = (pages.len() as f64 * LEAST_SHARE).ceil() as usize;
    let common = counts.into_iter().filter(|(_, n)| *n >= needed.max(FEWEST_PAGES));
    common.max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0))).map(|(part, _)| part)
}

/// The place at which the text of most pages that know their value is that value.
fn common_place(pages: &[(&Tree, &Metadata)], is_value: impl Fn(&Metadata, &str) -> bool) -> Option<u64> {
    let mut counts: FxHashMap<u64, usize> = FxHashMap::default();
    let mut n_known = 0;
    for (tree, metadata) in pages {
        let mut places: Vec<u64> =
            short_texts(tree).filter(|(_, text)| is_value(metadata, text)).map(|(node, _)| place(tree, node)).collect();
        places.sort_unstable();
        places.dedup();
        n_known += usize::from(!places.is_empty());
        places.into_iter().for_each(|place| *counts.entry(place).or_default() += 1);
    }
    let (place, n) = counts.into_iter().max_by_key(|(place, n)| (*n, *place))?;
    (n >= 2 && n as f64 >= n_known as f64 * LEAST_SHARE).then_some(place)
}

fn short_texts(tree: &Tree) -> impl Iterator<Item = (NodeId, &str)> {
    let texts = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node));
    texts.map(|node| (node, tree.text(node))).filter(|(_, text)| text.len() <= MOST_CHARS)
}

fn at_place(tree: &Tree, at: u64) -> impl Iterator<Item = &str> {
    short_texts(tree)
        .filter(move |(node, _)| place(tree, *node) == at && !is_of_another(tree, *node))
        .map(|(_, text)| text)
}

/// The four elements around a text, by name and class.
fn place(tree: &Tree, text: NodeId) -> u64 {
    let element = |hash: u64, node: NodeId| {
        let classes = tree.attr(node, "class").unwrap_or_default().split_ascii_whitespace();
        let stable = classes.filter(|token| !looks_generated(token)).fold(0, |sum: u64, token| sum ^ hash_str(token));
        mix(mix(hash, hash_str(tree.name(node))), stable)
    };
    ancestors(tree, text).take(4).fold(0, element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::found::plain;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn a_site_says_its_name_and_where_dates_and_bylines_are() {
        let page = |n: usize, says_so: bool| {
            let meta = format!("<meta name=author content='Ann {n}x'><meta name=date content=2024-01-0{n}>");
            let html = format!(
                "<head><title>Rye {n} | Grains</title>{}<body><h1>Other</h1><p>On 5 May 2001 it rained.</p>\
                 <div class=top><span class=x1>Ann {n}x</span><em class=d>{n} January 2024</em></div>",
                if says_so { &*meta } else { "" }
            );
            parse(&html, &ParseOptions::default())
        };
        let pages: Vec<(Tree, Option<PageUrl>)> = (1..5).map(|n| (page(n, true), None)).collect();
        let site = SiteMetadata::learn(&pages);
        let new = page(7, false);
        let metadata = Metadata::read(&MetadataInput { tree: &new, url: None, site: Some(&site), read_at: None });
        let value = |fact: &Option<Fact>| fact.as_ref().map(|fact| (plain(&fact.value), fact.source)).unwrap();
        assert_eq!(value(&metadata.site_name), ("Grains".to_owned(), Source::Site));
        assert_eq!(value(&metadata.title).0, "Rye 7");
        assert_eq!(value(&metadata.published), ("2024-01-07".to_owned(), Source::Site));
        assert_eq!(metadata.authors[0], fact("Ann 7x", Source::Site));
        assert_eq!(SiteMetadata::learn(&[]), SiteMetadata::default());
    }
}
