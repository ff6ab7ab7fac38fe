//! Values as the sources give them, and which of them is taken.

use serde::{Deserialize, Serialize};

use super::MOST_VALUES;
use super::date::find_date;
use dehusk_html::normalized;

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

/// The most trusted date, as a day.
pub(super) fn first_date(facts: &[Fact]) -> Option<Fact> {
    let mut dates = in_order(facts).into_iter().map(|fact| (find_date(&fact.value), fact.source));
    dates.find_map(|(date, source)| Some(Fact { value: date?.to_string(), source }))
}

/// The day of publication. A moment in UTC can be the day before or after the one at the place where the page was
/// written, which its address, or the text that readers see, has.
pub(super) fn day_of_publication(facts: &[Fact]) -> Option<Fact> {
    let stated = in_order(facts).into_iter().find_map(|fact| find_date(&fact.value).map(|date| (fact, date)));
    let (fact, day) = stated?;
    let is_utc = |fact: &Fact| ["Z", "+00:00", "+0000", "GMT"].iter().any(|end| fact.value.trim().ends_with(end));
    let is_local = |other: &Fact| other.source == Source::Url || (is_utc(fact) && !is_utc(other));
    let mut near =
        facts.iter().filter(|other| is_local(other)).filter_map(|other| Some((find_date(&other.value)?, other)));
    let local = near.find(|(date, _)| date.is_next_to(day));
    let (day, source) = local.map_or((day, fact.source), |(date, other)| (date, other.source));
    Some(Fact { value: day.to_string(), source })
}

/// The most trusted source first; within a source, the order of the page.
fn in_order(facts: &[Fact]) -> Vec<&Fact> {
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

/// The names of the most trusted source that has any.
pub(super) fn names(facts: &[Fact]) -> Vec<Fact> {
    let mut sources: Vec<Source> = facts.iter().map(|fact| fact.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let of = |source: Source| {
        let mut names: Vec<Fact> = Vec::new();
        for fact in facts.iter().filter(|fact| fact.source == source) {
            let name = person(&fact.value);
            let is_new = !names.iter().any(|known| known.value.eq_ignore_ascii_case(&name));
            if is_new && is_name(&name) && names.len() < MOST_VALUES {
                names.push(Fact { value: name, source });
            }
        }
        names
    };
    sources.into_iter().map(of).find(|names| !names.is_empty()).unwrap_or_default()
}

/// A name without what introduces it.
pub(super) fn person(text: &str) -> String {
    let text = plain(text);
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '|' | ',' | ':' | '-' | '•' | '·' | '@'));
    const INTRODUCTIONS: [&str; 14] = [
        "by ",
        "by: ",
        "by:",
        "written by ",
        "posted by ",
        "author: ",
        "author ",
        "von ",
        "par ",
        "por ",
        "di ",
        "da ",
        "door ",
        "text: ",
    ];
    let lower = text.to_lowercase();
    let longest = INTRODUCTIONS.iter().filter(|start| lower.starts_with(**start)).map(|start| start.len()).max();
    let text = longest.and_then(|n| text.get(n..)).unwrap_or(text);
    text.trim().to_owned()
}

pub(super) fn is_name(name: &str) -> bool {
    let n_words = name.split_whitespace().count();
    name.chars().count() >= 2
        && name.chars().count() <= 80
        && (1..=8).contains(&n_words)
        && name.contains(char::is_alphabetic)
        && !name.contains("://")
        && !name.contains('<')
        && find_date(name).is_none()
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

/// Text without white space at its ends, without markup that an attribute has taken in, and without characters that
/// are not shown.
pub(super) fn plain(text: &str) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let entities = if shown.contains('&') && shown.contains(';') {
        shown.replace("&amp;", "&").replace("&quot;", "\"").replace("&#39;", "'").replace("&#039;", "'")
    } else {
        shown
    };
    normalized(&entities)
}
