//! A document as it was read: a page or a text, and what its source says of it.

use std::sync::Arc;

use dehusk_core::rights::RightsHeaders;
use dehusk_files::warc::Archived;
use dehusk_html::{PageUrl, ParseOptions, Tree, decode, parse, parse_bytes};

/// A document as it was read.
#[derive(Default)]
pub(in crate::cli) struct FoundDocument {
    /// File, URL, or `id` of a JSON line.
    pub(in crate::cli) name: String,
    pub(in crate::cli) is_page: bool,
    /// Where it was found, if that is known.
    pub(in crate::cli) url: Option<PageUrl>,
    /// The headers in which its owner says what it may be used for.
    pub(in crate::cli) rights: RightsHeaders,
    /// What its archive says of it; nothing, if it is from no archive.
    pub(in crate::cli) archived: Archived,
    /// Whether it is one of many in its source, so that nobody has named it.
    pub(in crate::cli) is_one_of_many: bool,
    /// The file that it was read from.
    pub(in crate::cli) source: Option<Arc<str>>,
    /// Fields of its JSON line that are passed through, as an object.
    pub(in crate::cli) input: Option<String>,
    /// Why an archive's record gives no page, where such records are asked for.
    pub(in crate::cli) left_out: Option<&'static str>,
    pub(super) body: Body,
    /// Its known group, if there is one.
    pub(in crate::cli) gold: Option<String>,
}

/// What was read of it.
pub(super) enum Body {
    Bytes(Vec<u8>, Option<String>),
    Text(String),
}

impl Default for Body {
    fn default() -> Body {
        Body::Text(String::new())
    }
}

impl FoundDocument {
    /// A document that was read from elsewhere, such as a database.
    pub(in crate::cli) fn new(
        name: String,
        is_page: bool,
        bytes: Vec<u8>,
        content_type: Option<String>,
    ) -> FoundDocument {
        FoundDocument {
            url: PageUrl::parse(&name).ok(),
            name,
            is_page,
            body: Body::Bytes(bytes, content_type),
            ..FoundDocument::default()
        }
    }

    /// The page's tree.
    pub(in crate::cli) fn tree(&self, limits: &ParseOptions) -> Tree {
        match &self.body {
            Body::Bytes(bytes, content_type) => parse_bytes(bytes, content_type.as_deref(), limits).0,
            Body::Text(text) => parse(text, limits),
        }
    }

    /// Its bytes, and the type that they came with.
    pub(in crate::cli) fn bytes(&self) -> (&[u8], Option<String>) {
        match &self.body {
            Body::Bytes(bytes, content_type) => (bytes, content_type.clone()),
            Body::Text(text) => (text.as_bytes(), Some("text/html; charset=utf-8".to_owned())),
        }
    }

    /// Its length in bytes.
    pub(in crate::cli) fn n_bytes(&self) -> usize {
        match &self.body {
            Body::Bytes(bytes, _) => bytes.len(),
            Body::Text(text) => text.len(),
        }
    }

    /// Its decoded text, including any HTML markup.
    pub(in crate::cli) fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.body {
            Body::Bytes(bytes, content_type) => decode(bytes, content_type.as_deref()).0,
            Body::Text(text) => text.as_str().into(),
        }
    }
}
