//! The row of a labeled page.

use serde_json::{Map, Value as Json};
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

use self::ColumnValue as Value;
use super::columns::{Column, SCHEMA, columns};
use crate::calendar::iso_8601;
use crate::clean::LabeledPage;
use crate::language::detect_language;
use crate::metadata::{Fact, Metadata, SiteMetadata};
use crate::quality::{QUALITY_SIGNALS, Quality};
use dehusk_html::PageUrl;
use dehusk_html::Tree;
use dehusk_render::{MarkdownOptions, write_markdown, write_own_html};

/// The value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue {
    /// Text, or nothing.
    Text(Option<String>),
    /// A list of texts.
    Texts(Vec<String>),
    /// A whole number, or nothing.
    Whole(Option<i64>),
    /// A number, or nothing.
    Real(Option<f64>),
    /// Unix milliseconds, or nothing.
    Time(Option<i64>),
}

/// One row, a value for each of [`columns`].
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The values, in the order of the columns.
    pub values: Vec<Value>,
}

/// What is known of a page beside its tree.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its address.
    pub url: Option<PageUrl>,
    /// Host of its site.
    pub host: Option<String>,
    /// Unix milliseconds.
    pub fetched_at: Option<i64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Run.
    pub run: Option<i64>,
    /// SHA-256 of the body.
    pub digest: Option<String>,
    /// Folder of the archive.
    pub warc: Option<String>,
    /// `WARC-Record-ID` of its record there.
    pub warc_record: Option<String>,
    /// Site and version of the template.
    pub model: Option<(String, Option<i64>)>,
    /// Kind of the page among those of its site, from 0.
    pub template_kind: Option<usize>,
    /// What the pages of the site have in common in their metadata.
    pub site: Option<std::sync::Arc<SiteMetadata>>,
}

/// Optional columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Optional {
    /// `html`.
    pub html: bool,
    /// `comments`.
    pub comments: bool,
}

impl Record {
    /// The row of a labeled page.
    pub fn of(
        tree: &Tree,
        labeled: &LabeledPage,
        about: &About,
        comments: Option<String>,
        optional: Optional,
        markdown: &MarkdownOptions,
    ) -> Record {
        let url = about.url.as_ref();
        let mut metadata = Metadata::of(tree, url);
        if let Some(site) = &about.site {
            site.complete(tree, &mut metadata);
        }
        let text = labeled.labels.text(tree);
        let detected = detect_language(&text);
        let declared = metadata.language.as_ref().map(|language| language.value.clone());
        let short_code = |tag: &String| tag.split('-').next().unwrap_or_default().to_owned();
        let language = detected.as_ref().map(|(code, _)| code.clone()).or_else(|| declared.as_ref().map(short_code));
        let sources = sources(&metadata);
        let value = |fact: Option<Fact>| Value::Text(fact.map(|fact| fact.value));
        let values_of = |facts: Vec<Fact>| Value::Texts(facts.into_iter().map(|fact| fact.value).collect());
        let (model, version) = about.model.clone().map_or((None, None), |(host, version)| (Some(host), version));
        let mut values = vec![
            Value::Text(url.map(|url| url.as_str().to_owned())),
            value(metadata.canonical_url),
            Value::Text(about.host.clone().or_else(|| url.map(PageUrl::authority))),
            Value::Time(about.fetched_at),
            Value::Whole(about.status.map(i64::from)),
            Value::Whole(about.run),
            Value::Text(language),
            Value::Real(detected.map(|(_, confidence)| rounded(confidence))),
            Value::Text(declared),
            value(metadata.title),
            values_of(metadata.authors),
            value(metadata.published),
            value(metadata.modified),
            value(metadata.site_name),
            value(metadata.description),
            value(metadata.image),
            values_of(metadata.tags),
            value(metadata.licence),
            value(metadata.kind),
            Value::Text(Some(sources)),
            Value::Text(None),
            Value::Text(Some(write_markdown(tree, url, markdown, labeled.labels.is_own()))),
            Value::Text(optional.html.then(|| write_own_html(tree, url, labeled.labels.is_own()))),
            Value::Text(comments),
            Value::Whole(None),
            Value::Whole(None),
            Value::Whole(None),
            Value::Text(about.digest.clone()),
            Value::Text(None),
            Value::Text(model),
            Value::Whole(version),
            Value::Whole(about.template_kind.map(|kind| kind as i64 + 1)),
            Value::Text(Some(labeled.method.name().to_owned())),
            Value::Real(Some(rounded(labeled.labels.confidence))),
            Value::Text(about.warc.clone()),
            Value::Text(about.warc_record.clone()),
            Value::Text(None),
            Value::Text(None),
            Value::Real(None),
            Value::Real(None),
            Value::Whole(Some(i64::from(SCHEMA))),
        ];
        values.extend(QUALITY_SIGNALS.map(|_| Value::Real(None)));
        let mut record = Record { values };
        record.replace_text(&text);
        record
    }

    /// Sets the text, and all columns that are counted from it.
    pub fn replace_text(&mut self, text: &str) {
        let words: Vec<&str> = text.unicode_words().collect();
        self.set("text", Value::Text(Some(text.to_owned())));
        self.set("n_chars", Value::Whole(Some(text.chars().count() as i64)));
        self.set("n_words", Value::Whole(Some(words.len() as i64)));
        self.set("n_tokens_estimate", Value::Whole(Some(text.len().div_ceil(4) as i64)));
        self.set("text_digest", Value::Text(Some(text_digest(&words))));
        for (name, value) in QUALITY_SIGNALS.iter().zip(Quality::of(text).values) {
            self.set(name, Value::Real(Some(value)));
        }
    }

    /// The row as one JSON object, in the order of the columns. Every row has every column: readers take the schema
    /// from the first rows.
    pub fn to_json(&self) -> String {
        let fields = columns().iter().zip(&self.values).map(|(Column { name, .. }, value)| {
            let json = match value {
                Value::Text(text) => Json::from(text.as_deref()),
                Value::Texts(texts) => Json::from(texts.as_slice()),
                Value::Whole(number) => Json::from(*number),
                Value::Real(number) => Json::from(*number),
                Value::Time(at) => Json::from(at.map(iso_8601)),
            };
            format!("\"{name}\":{json}")
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }

    /// The text of a column.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => text.as_deref(),
            _ => None,
        }
    }

    /// The value of a column.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(columns().iter().position(|column| column.name == name)?)
    }

    /// Sets a column of text.
    pub fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, Value::Text(Some(text.to_owned())));
    }

    /// Sets a column of numbers.
    pub fn set_real(&mut self, name: &str, number: f64) {
        self.set(name, Value::Real(Some(rounded(number))));
    }

    fn set(&mut self, name: &str, value: Value) {
        if let Some(at) = columns().iter().position(|column| column.name == name) {
            self.values[at] = value;
        }
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn text_digest(words: &[&str]) -> String {
    format!("{:016x}", xxh3_64(words.join(" ").to_lowercase().as_bytes()))
}

/// Where each value comes from: an object of names.
fn sources(metadata: &Metadata) -> String {
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
