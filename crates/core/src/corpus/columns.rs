//! The columns of a corpus: one table from which JSON lines, Parquet and the documentation derive.

use std::sync::LazyLock;

use self::ColumnKind as Kind;
use super::record::{ColumnValue as Value, rounded};
use super::row_facts::RowFacts;
use crate::quality::QUALITY_SIGNALS;
use crate::rights::Use;

/// Version of the schema. It rises when a column changes its meaning or goes; a new column does not raise it.
pub const SCHEMA: u32 = 3;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of posts, each with `author`, `published`, `text` and `markdown`.
    Posts,
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// True or false.
    Truth,
    /// A moment: Unix milliseconds, ISO 8601 in JSON.
    Time,
    /// A day: days since 1970, such as 2026-11-22 in JSON.
    Day,
    /// A structure of texts with the names of [`SOURCES`].
    Sources,
}

/// The columns of metadata whose sources are told.
pub const SOURCES: [&str; 12] = [
    "title",
    "authors",
    "published",
    "modified",
    "declared_language",
    "site_name",
    "canonical_url",
    "description",
    "image",
    "tags",
    "licence",
    "page_kind",
];

impl ColumnKind {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Texts => "texts",
            Kind::Posts => "posts",
            Kind::Whole => "whole",
            Kind::Real => "real",
            Kind::Truth => "truth",
            Kind::Time => "time",
            Kind::Day => "day",
            Kind::Sources => "sources",
        }
    }
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// What it means.
    pub doc: &'static str,
    /// Its value for a page; `None` where it is set later.
    pub(super) value: Option<fn(&RowFacts<'_>) -> Value>,
}

const fn column(name: &'static str, kind: ColumnKind, value: fn(&RowFacts<'_>) -> Value, doc: &'static str) -> Column {
    Column { name, kind, doc, value: Some(value) }
}

/// A column that is counted from the text, or that other pages decide.
const fn set_later(name: &'static str, kind: ColumnKind, doc: &'static str) -> Column {
    Column { name, kind, doc, value: None }
}

/// The columns in order, before those of quality.
const OWN: [Column; 59] = [
    column(
        "url",
        Kind::Text,
        |row| Value::text(row.url().map(|url| url.as_str().to_owned())),
        "Address of the page, after redirects.",
    ),
    column(
        "canonical_url",
        Kind::Text,
        |row| Value::fact(&row.metadata.canonical_url),
        "Address that the page names as its own.",
    ),
    column("host", Kind::Text, |row| Value::text(row.host()), "Host of the site."),
    column("fetched_at", Kind::Time, |row| Value::Time(row.about.fetched_at), "When it was fetched."),
    column("status", Kind::Whole, |row| Value::Whole(row.about.status.map(i64::from)), "HTTP status."),
    column("run", Kind::Whole, |row| Value::Whole(row.about.run), "Run that fetched it."),
    column(
        "state",
        Kind::Text,
        |row| Value::text(row.about.state.clone()),
        "What became of it since: alive, gone, moved, blocked (by robots.txt), or failed (at the last visit).",
    ),
    column(
        "language",
        Kind::Text,
        |row| Value::text(row.language.as_ref().map(|language| language.code.clone())),
        "Language of the text as an ISO 639 code: detected (by export.language_model, if there is one), else declared. \
         Empty: unknown.",
    ),
    column(
        "language_script",
        Kind::Text,
        |row| Value::text(row.language.as_ref().map(|language| language.with_script().to_owned())),
        "The same as an ISO 639-3 code with its script: eng_Latn, cmn_Hani.",
    ),
    column(
        "language_confidence",
        Kind::Real,
        |row| Value::Real(row.language.as_ref().and_then(|language| language.confidence).map(rounded)),
        "How sure the detection is, from 0 to 1. Empty: declared or unknown.",
    ),
    column(
        "declared_language",
        Kind::Text,
        |row| Value::fact(&row.metadata.language),
        "Language that the page declares, as a BCP 47 tag.",
    ),
    column("title", Kind::Text, |row| Value::fact(&row.metadata.title), "Title, without the name of the site."),
    column("authors", Kind::Texts, |row| Value::facts(&row.metadata.authors), "Names of the authors."),
    column("published", Kind::Day, |row| Value::day(&row.metadata.published), "Day of publication, as in 2026-11-22."),
    column("modified", Kind::Day, |row| Value::day(&row.metadata.modified), "Day of the last change."),
    column("site_name", Kind::Text, |row| Value::fact(&row.metadata.site_name), "Name of the site."),
    column("description", Kind::Text, |row| Value::fact(&row.metadata.description), "Description that the page gives."),
    column("image", Kind::Text, |row| Value::fact(&row.metadata.image), "Address of the main picture."),
    column("tags", Kind::Texts, |row| Value::facts(&row.metadata.tags), "Tags and keywords."),
    column("licence", Kind::Text, |row| Value::fact(&row.metadata.licence), "Address of the licence."),
    column(
        "rights_search",
        Kind::Text,
        |row| Value::verdict(&row.rights, Use::Search),
        "Whether its owner wants it to be found by search: allow, deny. Empty: unknown.",
    ),
    column(
        "rights_input",
        Kind::Text,
        |row| Value::verdict(&row.rights, Use::Input),
        "Whether its owner wants it to be given to a model that writes an answer: allow, deny. Empty: unknown.",
    ),
    column(
        "rights_train",
        Kind::Text,
        |row| Value::verdict(&row.rights, Use::Train),
        "Whether its owner wants models to be trained on it: allow, deny. Empty: unknown.",
    ),
    column(
        "rights",
        Kind::Texts,
        |row| Value::Texts(row.rights.lines()),
        "What its owner says about its use, each with form, place and words; docs/rights.md.",
    ),
    column(
        "rights_conflicts",
        Kind::Texts,
        |row| Value::Texts(row.rights.conflicts().into_iter().map(|of| of.name().to_owned()).collect()),
        "Uses that one of these statements allows and another denies; they count as denied.",
    ),
    column("robots_tag", Kind::Texts, |row| Value::Texts(row.rights.robots_tags()), "X-Robots-Tag headers, as sent."),
    column(
        "page_kind",
        Kind::Text,
        |row| Value::fact(&row.metadata.kind),
        "Kind of page, as it names it: a type of schema.org or OpenGraph.",
    ),
    column(
        "sources",
        Kind::Sources,
        |row| Value::Sources(row.sources()),
        "Where each value of the metadata comes from.",
    ),
    set_later("text", Kind::Text, "Text without template."),
    column("markdown", Kind::Text, |row| Value::text(Some(row.markdown())), "The same as Markdown."),
    column("html", Kind::Text, |row| Value::text(row.html()), "The same as HTML; with --html."),
    column("comments", Kind::Text, |row| Value::text(row.comments()), "Text of the comments; with --comments."),
    column(
        "posts",
        Kind::Posts,
        |row| Value::Posts(row.posts()),
        "Posts of a thread, answers, and comments where they are asked for, each with author, published, text and \
         markdown; with --posts.",
    ),
    set_later("n_chars", Kind::Whole, "Characters of the text."),
    set_later("n_words", Kind::Whole, "Words of the text, by Unicode UAX 29. A Chinese or Japanese character is one."),
    set_later(
        "n_tokens_estimate",
        Kind::Whole,
        "A fourth of the bytes of the text, rounded up: about the tokens of a language model.",
    ),
    set_later("n_tokens", Kind::Whole, "Tokens of the text by the tokenizer of export.tokenizer, if there is one."),
    set_later(
        "pii",
        Kind::Texts,
        "Personal data in the text, with --pii mark: kind and characters of each piece, such as email:120-137. With --pii \
         mask the kinds that were masked. Kinds are email, ip, phone and iban.",
    ),
    column(
        "charset",
        Kind::Text,
        |row| Value::text(Some(row.tree().charset().to_owned())),
        "Charset that the body was decoded with, by its WHATWG name.",
    ),
    column(
        "charset_declared",
        Kind::Text,
        |row| Value::text(row.tree().declared_charset().map(str::to_owned)),
        "Charset that the header or the page declares: not followed where that is UTF-8 and the bytes are not.",
    ),
    column(
        "digest",
        Kind::Text,
        |row| Value::text(row.about.digest.clone()),
        "SHA-256 of the body as fetched. Empty for pages that `dehusk clean` reads.",
    ),
    set_later(
        "text_digest",
        Kind::Text,
        "XXH3 (64 bits) of the words of the text in lower case. Equal: the same words.",
    ),
    column(
        "model",
        Kind::Text,
        |row| Value::text(row.model().map(|(host, _)| host.clone())),
        "Site whose template cleaned the page. Empty: cleaned by itself.",
    ),
    column(
        "model_version",
        Kind::Whole,
        |row| Value::Whole(row.model().and_then(|(_, version)| *version)),
        "Version of that template.",
    ),
    column(
        "template_kind",
        Kind::Whole,
        |row| Value::Whole(row.about.template_kind.map(|kind| kind as i64 + 1)),
        "Kind of the page among those of its site, from 1: `dehusk templates kinds`.",
    ),
    column(
        "step",
        Kind::Text,
        |row| Value::text(Some(row.labeled.method.name().to_owned())),
        "Step that labeled the page: site_model or etdm (all that is not template), df (without the texts that its site \
         repeats), alone (main content by the page alone), plain (everything).",
    ),
    column(
        "confidence",
        Kind::Real,
        |row| Value::Real(Some(rounded(row.labeled.labels.confidence))),
        "From 0 to 1, by step: share of the template that the page shows (site_model, etdm); share of its texts that \
         other pages have (df); mean probability of what is kept (alone); 0 (plain).",
    ),
    column(
        "warc",
        Kind::Text,
        |row| Value::text(row.about.warc.clone()),
        "Folder of the archive that holds the exchange.",
    ),
    column(
        "warc_record_id",
        Kind::Text,
        |row| Value::text(row.about.warc_record.clone()),
        "WARC-Record-ID of its record there.",
    ),
    column(
        "rendered",
        Kind::Truth,
        |row| Value::Truth(row.about.rendered),
        "Whether the page is what its scripts have built in a browser (fetch.render). Empty: unknown.",
    ),
    column(
        "truncated",
        Kind::Text,
        |row| Value::text(row.about.truncated.clone()),
        "Why the end of the page is missing: length, time or disconnect by its archive, coding (its compression is \
         damaged), page.max_bytes or page.max_nodes.",
    ),
    column(
        "source",
        Kind::Text,
        |row| Value::text(row.about.source.clone()),
        "File that it was read from, by `dehusk clean`.",
    ),
    column(
        "source_id",
        Kind::Text,
        |row| Value::text(row.about.source_id.clone()),
        "How its source names it: `id` of its JSON line, else the address or the file.",
    ),
    column(
        "input",
        Kind::Text,
        |row| Value::text(row.about.input.clone()),
        "Fields of its JSON line that `dehusk clean --pass` names, as a JSON object.",
    ),
    set_later(
        "duplicate_of",
        Kind::Text,
        "Address of the page of this export with the same text_digest that is kept. It may be the page's own address, where a source has that twice.",
    ),
    set_later(
        "near_duplicate_of",
        Kind::Text,
        "Address of the kept page with nearly, but not exactly, the same text; with --near-duplicates.",
    ),
    set_later(
        "repeated_in_site",
        Kind::Real,
        "Share of the words in paragraphs that an earlier page of the site has; with --paragraphs.",
    ),
    set_later(
        "repeated_elsewhere",
        Kind::Real,
        "Share of the words in paragraphs that only earlier pages of other sites have; with --paragraphs.",
    ),
    column("schema", Kind::Whole, |_| Value::Whole(Some(i64::from(SCHEMA))), "Version of this schema."),
];

/// All columns, in order.
pub fn columns() -> &'static [Column] {
    static ALL: LazyLock<Vec<Column>> = LazyLock::new(|| {
        let quality = QUALITY_SIGNALS.map(|name| set_later(name, Kind::Real, "A signal of quality; docs/columns.md."));
        OWN.into_iter().chain(quality).collect()
    });
    &ALL
}
