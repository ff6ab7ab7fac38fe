//! The columns of a corpus: one table from which JSON lines, Parquet and the documentation derive.

use std::sync::LazyLock;

use self::ColumnKind as Kind;
use crate::quality::QUALITY_SIGNALS;

/// Version of the schema. It rises when a column changes its meaning or goes; a new column does not raise it.
pub const SCHEMA: u32 = 1;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// A moment: Unix milliseconds, ISO 8601 in JSON.
    Time,
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// What it means.
    pub doc: &'static str,
}

const fn column(name: &'static str, kind: ColumnKind, doc: &'static str) -> Column {
    Column { name, kind, doc }
}

/// The columns in order, before those of quality.
const OWN: [Column; 41] = [
    column("url", Kind::Text, "Address of the page, after redirects."),
    column("canonical_url", Kind::Text, "Address that the page names as its own."),
    column("host", Kind::Text, "Host of the site."),
    column("fetched_at", Kind::Time, "When it was fetched."),
    column("status", Kind::Whole, "HTTP status."),
    column("run", Kind::Whole, "Run that fetched it."),
    column("language", Kind::Text, "Language of the text as an ISO 639 code: detected, else declared. Empty: unknown."),
    column("language_confidence", Kind::Real, "How sure the detection is, from 0 to 1. Empty: declared or unknown."),
    column("declared_language", Kind::Text, "Language that the page declares, as a BCP 47 tag."),
    column("title", Kind::Text, "Title, without the name of the site."),
    column("authors", Kind::Texts, "Names of the authors."),
    column("published", Kind::Text, "Day of publication, as in 2026-11-22."),
    column("modified", Kind::Text, "Day of the last change."),
    column("site_name", Kind::Text, "Name of the site."),
    column("description", Kind::Text, "Description that the page gives."),
    column("image", Kind::Text, "Address of the main picture."),
    column("tags", Kind::Texts, "Tags and keywords."),
    column("licence", Kind::Text, "Address of the licence."),
    column("page_kind", Kind::Text, "Kind of page, as it names it: a type of schema.org or OpenGraph."),
    column("sources", Kind::Text, "Where each value of the metadata comes from, as a JSON object."),
    column("text", Kind::Text, "Text without template."),
    column("markdown", Kind::Text, "The same as Markdown."),
    column("html", Kind::Text, "The same as HTML; with --html."),
    column("comments", Kind::Text, "Text of the comments; with --comments."),
    column("n_chars", Kind::Whole, "Characters of the text."),
    column("n_words", Kind::Whole, "Words of the text, by Unicode UAX 29. A Chinese or Japanese character is one."),
    column(
        "n_tokens_estimate",
        Kind::Whole,
        "A fourth of the bytes of the text: about the tokens of a language model.",
    ),
    column("digest", Kind::Text, "SHA-256 of the body as fetched."),
    column("text_digest", Kind::Text, "XXH3 (64 bits) of the words of the text in lower case. Equal: the same words."),
    column("model", Kind::Text, "Site whose template cleaned the page. Empty: cleaned by itself."),
    column("model_version", Kind::Whole, "Version of that template."),
    column("template_kind", Kind::Whole, "Kind of the page among those of its site, from 1: `dehusk templates kinds`."),
    column("step", Kind::Text, "Method that labeled the page."),
    column("confidence", Kind::Real, "How much it trusts its labels, from 0 to 1."),
    column("warc", Kind::Text, "Folder of the archive that holds the exchange."),
    column("warc_record_id", Kind::Text, "WARC-Record-ID of its record there."),
    column("duplicate_of", Kind::Text, "Address of the page of this export with the same text_digest that is kept."),
    column(
        "near_duplicate_of",
        Kind::Text,
        "Address of the kept page with nearly, but not exactly, the same text; with --near-duplicates.",
    ),
    column(
        "repeated_in_site",
        Kind::Real,
        "Share of the words in paragraphs that an earlier page of the site has; with --paragraphs.",
    ),
    column(
        "repeated_elsewhere",
        Kind::Real,
        "Share of the words in paragraphs that only earlier pages of other sites have; with --paragraphs.",
    ),
    column("schema", Kind::Whole, "Version of this schema."),
];

/// All columns, in order.
pub fn columns() -> &'static [Column] {
    static ALL: LazyLock<Vec<Column>> = LazyLock::new(|| {
        let quality = QUALITY_SIGNALS.map(|name| column(name, Kind::Real, "A signal of quality; docs/corpora.md."));
        OWN.into_iter().chain(quality).collect()
    });
    &ALL
}
