//! The row of a labeled page.

use serde_json::{Value as Json, json};
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

use self::ColumnValue as Value;
use super::columns::{Column, ColumnKind, SOURCES, columns};
use super::row_facts::RowFacts;
use super::text_options::TextOptions;
use crate::calendar::{day_number, iso_8601, iso_day};
use crate::clean::LabeledPage;
use crate::language::LanguageModel;
use crate::metadata::{Fact, SiteMetadata};
use crate::pii::{self, Found, Pii};
use crate::posts::Post;
use crate::quality::{QUALITY_SIGNALS, Quality};
use crate::rights::{Rights, Use};
use dehusk_content::Labels;
use dehusk_html::{PageUrl, Tree};
use dehusk_render::MarkdownOptions;

/// The value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue {
    /// Text, or nothing.
    Text(Option<String>),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of posts.
    Posts(Vec<Post>),
    /// A whole number, or nothing.
    Whole(Option<i64>),
    /// A number, or nothing.
    Real(Option<f64>),
    /// True or false, or nothing.
    Truth(Option<bool>),
    /// Unix milliseconds, or nothing.
    Time(Option<i64>),
    /// Days since 1970, or nothing.
    Day(Option<i64>),
    /// The source of each of [`SOURCES`], or nothing.
    Sources([Option<&'static str>; SOURCES.len()]),
}

/// Columns whose personal data is masked.
const PROSE: [&str; 5] = ["title", "description", "markdown", "html", "comments"];

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
    /// Unix milliseconds at which it is read, where it is unknown when it was fetched. No day of its row is later.
    pub read_at: Option<i64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Run.
    pub run: Option<i64>,
    /// What became of it since.
    pub state: Option<String>,
    /// SHA-256 of the body.
    pub digest: Option<String>,
    /// Folder of the archive.
    pub warc: Option<String>,
    /// `WARC-Record-ID` of its record there.
    pub warc_record: Option<String>,
    /// Whether it is what its scripts have built.
    pub rendered: Option<bool>,
    /// Why the end of its body is missing.
    pub truncated: Option<String>,
    /// File that it was read from.
    pub source: Option<String>,
    /// How its source names it.
    pub source_id: Option<String>,
    /// Fields of the input that are passed through, as a JSON object.
    pub input: Option<String>,
    /// Site and version of the template.
    pub model: Option<(String, Option<i64>)>,
    /// Kind of the page among those of its site, from 0.
    pub template_kind: Option<usize>,
    /// What its owner says about its use; `None`: what the page itself says.
    pub rights: Option<Rights>,
    /// What the pages of the site have in common in their metadata.
    pub site: Option<std::sync::Arc<SiteMetadata>>,
}

/// The columns that are left empty unless they are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct OptionalColumns {
    /// `html`.
    pub html: bool,
    /// `comments`.
    pub comments: bool,
    /// `posts`.
    pub posts: bool,
}

/// A labeled page with all that its row is made from.
#[derive(Clone, Copy, Debug)]
pub struct RecordSource<'a> {
    /// The page.
    pub tree: &'a Tree,
    /// Its labels.
    pub labeled: &'a LabeledPage,
    /// What is known beside its tree.
    pub about: &'a About,
    /// Labels by which its comments are its own, and all else is not.
    pub comments: Option<&'a Labels>,
    /// Which of the optional columns are filled.
    pub optional: OptionalColumns,
    /// How Markdown is written.
    pub markdown: &'a MarkdownOptions,
    /// What tells the language in place of the built-in detector.
    pub language: Option<&'a dyn LanguageModel>,
    /// What is counted and looked for in its text.
    pub texts: TextOptions<'a>,
}

impl ColumnValue {
    pub(super) fn text(text: Option<String>) -> ColumnValue {
        Value::Text(text)
    }

    pub(super) fn fact(fact: &Option<Fact>) -> ColumnValue {
        Value::Text(fact.as_ref().map(|fact| fact.value.clone()))
    }

    pub(super) fn verdict(rights: &Rights, of: Use) -> ColumnValue {
        Value::Text(rights.verdict(of).map(|verdict| verdict.name().to_owned()))
    }

    pub(super) fn day(fact: &Option<Fact>) -> ColumnValue {
        Value::Day(fact.as_ref().and_then(|fact| day_number(&fact.value)))
    }

    pub(super) fn facts(facts: &[Fact]) -> ColumnValue {
        Value::Texts(facts.iter().map(|fact| fact.value.clone()).collect())
    }

    /// The value of a column that is not known.
    fn unknown(kind: ColumnKind) -> ColumnValue {
        match kind {
            ColumnKind::Text => Value::Text(None),
            ColumnKind::Texts => Value::Texts(Vec::new()),
            ColumnKind::Posts => Value::Posts(Vec::new()),
            ColumnKind::Whole => Value::Whole(None),
            ColumnKind::Real => Value::Real(None),
            ColumnKind::Truth => Value::Truth(None),
            ColumnKind::Time => Value::Time(None),
            ColumnKind::Day => Value::Day(None),
            ColumnKind::Sources => Value::Sources([None; SOURCES.len()]),
        }
    }

    /// The value in JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Text(text) => Json::from(text.as_deref()),
            Value::Texts(texts) => Json::from(texts.as_slice()),
            Value::Posts(posts) => posts.iter().map(post_json).collect(),
            Value::Whole(number) => Json::from(*number),
            Value::Real(number) => Json::from(*number),
            Value::Truth(truth) => Json::from(*truth),
            Value::Time(at) => Json::from(at.map(iso_8601)),
            Value::Day(day) => Json::from(day.map(iso_day)),
            Value::Sources(names) => SOURCES.into_iter().zip(*names).map(|(of, name)| (of, Json::from(name))).collect(),
        }
    }
}

impl Record {
    /// The row of a labeled page.
    pub fn new(source: &RecordSource<'_>) -> Record {
        let mut text = source.labeled.labels.text(source.tree);
        let row = RowFacts::new(source, &text);
        let value = |column: &Column| column.value.map_or_else(|| Value::unknown(column.kind), |value| value(&row));
        let mut record = Record { values: columns().iter().map(value).collect() };
        if source.texts.pii == Some(Pii::Mask) {
            let found = pii::find(&text);
            let pieces: Vec<(&'static str, &str)> =
                found.iter().map(|found| (found.kind, &text[found.range.clone()])).collect();
            record.mask(&pieces);
            text = pii::masked(&text, &found);
            record.set_kinds(&found);
        }
        record.replace_text(&text, source.texts);
        record
    }

    /// Masks personal data in all columns of prose: what is found there, and these pieces of the text.
    fn mask(&mut self, pieces: &[(&'static str, &str)]) {
        let mask = |text: &mut String| *text = pii::masked(text, &pii::find(text));
        for (column, value) in columns().iter().zip(&mut self.values) {
            match value {
                Value::Text(Some(text)) if PROSE.contains(&column.name) => {
                    if !pieces.is_empty() && matches!(column.name, "markdown" | "html") {
                        *text = pii::masked_within(text, pieces, column.name == "html");
                    }
                    mask(text);
                }
                Value::Posts(posts) => posts.iter_mut().for_each(|post| {
                    mask(&mut post.text);
                    mask(&mut post.markdown);
                }),
                _ => {}
            }
        }
    }

    /// Sets the text, and all columns that are counted from it.
    pub fn replace_text(&mut self, text: &str, options: TextOptions<'_>) {
        if options.pii == Some(Pii::Mark) {
            self.set("pii", Value::Texts(marks(text, &pii::find(text))));
        }
        let n_tokens = options.tokens.and_then(|tokens| tokens.count(text));
        self.set("n_tokens", Value::Whole(n_tokens.map(|n| n as i64)));
        let words: Vec<&str> = text.unicode_words().collect();
        self.set("text", Value::Text(Some(text.to_owned())));
        self.set("n_chars", Value::Whole(Some(text.chars().count() as i64)));
        self.set("n_words", Value::Whole(Some(words.len() as i64)));
        self.set("n_tokens_estimate", Value::Whole(Some(text.len().div_ceil(4) as i64)));
        self.set("text_digest", Value::Text(Some(text_digest(&words))));
        for (name, value) in QUALITY_SIGNALS.iter().zip(Quality::new(text).values) {
            self.set(name, Value::Real(Some(value)));
        }
    }

    /// The row as one JSON object, in the order of the columns. Every row has every column: readers take the schema
    /// from the first rows.
    pub fn to_json(&self) -> String {
        let fields = columns()
            .iter()
            .zip(&self.values)
            .map(|(Column { name, .. }, value)| format!("\"{name}\":{}", value.to_json()));
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

    fn set_kinds(&mut self, found: &[Found]) {
        let mut kinds: Vec<String> = found.iter().map(|found| found.kind.to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        self.set("pii", Value::Texts(kinds));
    }

    fn set(&mut self, name: &str, value: Value) {
        if let Some(at) = columns().iter().position(|column| column.name == name) {
            self.values[at] = value;
        }
    }
}

/// Each piece as its kind and its characters in the text: `email:120-137`.
fn marks(text: &str, found: &[Found]) -> Vec<String> {
    let (mut at, mut n_chars) = (0, 0);
    let mut chars_to = |byte: usize| {
        n_chars += text[at..byte].chars().count();
        at = byte;
        n_chars
    };
    let mark = |Found { kind, range }: &Found| {
        let begin = chars_to(range.start);
        format!("{kind}:{begin}-{}", chars_to(range.end))
    };
    found.iter().map(mark).collect()
}

fn post_json(post: &Post) -> Json {
    let Post { author, published, text, markdown } = post;
    json!({"author": author, "published": published, "text": text, "markdown": markdown})
}

/// A number with three decimals.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn text_digest(words: &[&str]) -> String {
    format!("{:016x}", xxh3_64(words.join(" ").to_lowercase().as_bytes()))
}
