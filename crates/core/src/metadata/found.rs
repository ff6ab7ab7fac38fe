//! Values as the sources give them, and which of them is taken.

use serde::{Deserialize, Serialize};

use super::date::{Date, DateForms, find_dates};
use super::{MOST_VALUES, MetadataInput};
use dehusk_html::{NodeId, Tree, decode_references, normalized};

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fact {
    /// The value.
    pub value: String,
    /// Where it comes from.
    pub source: Source,
}

/// Where a value comes from, in the order of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A script of JSON-LD.
    JsonLd,
    /// Microdata or RDFa attributes of the body.
    Microdata,
    /// OpenGraph.
    OpenGraph,
    /// Dublin Core.
    DublinCore,
    /// Another `meta` element.
    Meta,
    /// A `link` element, or an attribute of `html`.
    Link,
    /// A `time` element.
    Time,
    /// The address of the page.
    Url,
    /// The text of the page.
    Text,
    /// What the pages of the site have in common.
    Site,
    /// Computed from the cleaned text.
    Detected,
}

impl Source {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Source::JsonLd => "json_ld",
            Source::Microdata => "microdata",
            Source::OpenGraph => "open_graph",
            Source::DublinCore => "dublin_core",
            Source::Meta => "meta",
            Source::Link => "link",
            Source::Time => "time",
            Source::Url => "url",
            Source::Text => "text",
            Source::Site => "site",
            Source::Detected => "detected",
        }
    }
}

/// The values of each field, in the order in which the sources were read.
#[derive(Debug, Default)]
pub(super) struct FoundFacts {
    pub(super) titles: Vec<Fact>,
    pub(super) authors: Vec<Fact>,
    /// Names of organisations that are no authors where a person is one.
    pub(super) organizations: Vec<Fact>,
    pub(super) published: Vec<Fact>,
    pub(super) modified: Vec<Fact>,
    pub(super) languages: Vec<Fact>,
    pub(super) site_names: Vec<Fact>,
    pub(super) canonical: Vec<Fact>,
    pub(super) descriptions: Vec<Fact>,
    pub(super) images: Vec<Fact>,
    pub(super) tags: Vec<Fact>,
    pub(super) licences: Vec<Fact>,
    pub(super) kinds: Vec<Fact>,
}

/// A value of a source.
pub(super) fn fact(value: &str, source: Source) -> Fact {
    Fact { value: value.to_owned(), source }
}

/// The most trusted value with text in it, white space collapsed.
pub(super) fn first(facts: &[Fact], most_chars: usize) -> Option<Fact> {
    let mut clean = in_order(facts).into_iter().map(|fact| Fact { value: plain(&fact.value), source: fact.source });
    clean.find(|fact| fact.value.contains(char::is_alphanumeric) && fact.value.chars().count() <= most_chars)
}

/// The language of the document element where it has one: others may be of the program that made the page.
pub(super) fn first_of_document(facts: &[Fact]) -> Option<Fact> {
    let of_document = facts.iter().find(|fact| fact.source == Source::Link && !fact.value.trim().is_empty());
    of_document.cloned().or_else(|| first(facts, 35))
}

/// What decides how the dates of a page are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DateReader {
    pub(super) forms: DateForms,
    /// No page is published after this day.
    pub(super) latest: Option<Date>,
}

impl DateReader {
    pub(super) fn new(page: &MetadataInput<'_>, found: &FoundFacts) -> DateReader {
        let language = first_of_document(&found.languages).and_then(language).map(|language| language.value);
        DateReader::of_language(page, language.as_deref())
    }

    /// For a page in the language that its document element names.
    pub(crate) fn of_document(page: &MetadataInput<'_>) -> DateReader {
        let tag = page.tree.all("html").next().and_then(|root| page.tree.attr(root, "lang"));
        DateReader::of_language(page, tag)
    }

    fn of_language(page: &MetadataInput<'_>, language: Option<&str>) -> DateReader {
        let is = |tag: &str| language.is_some_and(|language| language.eq_ignore_ascii_case(tag));
        let forms = DateForms {
            month_first: is("en-US") && !has_day_first(page.tree),
            solar_hijri: language.is_some_and(|language| language.starts_with("fa")),
        };
        DateReader { forms, latest: page.latest() }
    }

    /// The first day that a text names.
    pub(crate) fn read(&self, text: &str) -> Option<Date> {
        find_dates(text, self.forms).map(|(date, _)| date).next().filter(|date| self.is_past(*date))
    }

    /// All days that a text names, each with the byte at which it begins.
    pub(super) fn all(&self, text: &str) -> Vec<(Date, usize)> {
        find_dates(text, self.forms).filter(|(date, _)| self.is_past(*date)).collect()
    }

    fn is_past(&self, date: Date) -> bool {
        self.latest.is_none_or(|latest| date <= latest || date.is_next_to(latest))
    }

    /// The most trusted date, as a day.
    pub(super) fn first(&self, facts: &[Fact]) -> Option<Fact> {
        let mut dates = in_order(facts).into_iter().map(|fact| (self.read(&fact.value), fact.source));
        dates.find_map(|(date, source)| Some(Fact { value: date?.to_string(), source }))
    }

    /// The day of publication. A moment in UTC can be the day before or after the one at the place where the page was
    /// written, which its address, or the text that readers see, has. A text that has the day itself confirms it.
    ///
    /// A statement that equals that of the last change, to the second, is taken for it where there is another one.
    pub(super) fn day_of_publication(&self, published: &[Fact], modified: &[Fact]) -> Option<Fact> {
        let is_of_change = |fact: &Fact| fact.value.contains(':') && modified.iter().any(|m| m.value == fact.value);
        let stated = |is_taken: &dyn Fn(&Fact) -> bool| {
            let facts = in_order(published).into_iter().filter(|fact| is_taken(fact));
            facts.into_iter().find_map(|fact| self.read(&fact.value).map(|date| (fact, date)))
        };
        let stated_else = stated(&|fact| !is_of_change(fact) && fact.source < Source::Link);
        let (fact, day) = stated_else.or_else(|| stated(&|_| true))?;
        let is_utc = |fact: &Fact| ["Z", "+00:00", "+0000", "GMT"].iter().any(|end| fact.value.trim().ends_with(end));
        let is_local = |other: &Fact| other.source == Source::Url || (is_utc(fact) && !is_utc(other));
        let local = published.iter().filter(|other| is_local(other));
        let near: Vec<(Date, &Fact)> = local
            .filter_map(|other| Some((self.read(&other.value)?, other)))
            .filter(|(date, _)| date.is_next_to(day))
            .collect();
        let of_address = near.iter().find(|(_, other)| other.source == Source::Url);
        let local = of_address.or_else(|| near.iter().find(|(date, _)| *date == day)).or_else(|| near.first());
        let (day, source) = local.map_or((day, fact.source), |(date, other)| (*date, other.source));
        Some(Fact { value: day.to_string(), source })
    }
}

/// Texts of a page that are looked at for the order of day and month.
const MOST_TEXTS: usize = 2000;

/// Whether the page has a day such as 31/12/2024, where the month cannot be first.
fn has_day_first(tree: &Tree) -> bool {
    let texts = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node)).take(MOST_TEXTS);
    texts.map(|node| tree.text(node)).filter(|text| text.matches('/').nth(1).is_some()).any(|text| {
        let numbers: Vec<&str> = text.split(|c: char| !c.is_ascii_digit() && c != '/').collect();
        numbers.iter().any(|number| match number.split('/').collect::<Vec<_>>()[..] {
            [day, month, year] => {
                let value = |digits: &str| digits.parse::<u8>().ok();
                year.len() == 4 && value(day).is_some_and(|day| (13..=31).contains(&day)) && value(month).is_some()
            }
            _ => false,
        })
    })
}

/// The most trusted source first; within a source, the order of the page.
pub(super) fn in_order(facts: &[Fact]) -> Vec<&Fact> {
    let mut sorted: Vec<&Fact> = facts.iter().collect();
    sorted.sort_by_key(|fact| fact.source);
    sorted
}

/// All values of the most trusted source, each once.
pub(super) fn values(facts: &[Fact]) -> Vec<Fact> {
    let Some(source) = facts.iter().map(|fact| fact.source).min() else { return Vec::new() };
    let of_source = facts.iter().filter(|fact| fact.source == source);
    let mut values: Vec<Fact> = Vec::new();
    for part in of_source.flat_map(|fact| fact.value.split([',', ';', '\u{3001}'])) {
        let value = plain(part);
        let is_new = !values.iter().any(|known| known.value.eq_ignore_ascii_case(&value));
        if value.contains(char::is_alphanumeric) && value.chars().count() <= 80 && is_new {
            values.push(Fact { value, source });
        }
    }
    if values.len() <= MOST_VALUES { values } else { Vec::new() }
}

/// A language as a tag: `en_US` becomes `en-US`. What is no tag is dropped.
pub(super) fn language(fact: Fact) -> Option<Fact> {
    let tag = fact.value.split([',', ';']).next().unwrap_or_default().trim().replace('_', "-");
    let first = tag.split('-').next().unwrap_or_default();
    let is_tag = (2..=3).contains(&first.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    (is_tag && first.bytes().all(|b| b.is_ascii_alphabetic())).then(|| {
        let rest = &tag[first.len()..];
        Fact { value: format!("{}{rest}", first.to_ascii_lowercase()), source: fact.source }
    })
}

/// Text without white space at its ends, and without characters that are not shown.
///
/// Values of attributes and of scripts often have character references that were written twice: what is left of them
/// after the page was read is decoded once.
pub(super) fn plain(text: &str) -> String {
    let decoded = decode_references(text);
    let shown: String = decoded.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    normalized(&shown)
}

/// Text of the page itself, in which a reference that is left is meant.
pub(super) fn shown(text: &str) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    normalized(&shown)
}
