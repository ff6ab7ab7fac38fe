//! A parsed page.

use crate::clean::{CleanOptions, comment_labels};
use crate::facade::Cleaned;
use crate::metadata::Metadata;
use crate::page_rules::PageRules;
use dehusk_content::Labels;
use dehusk_html::{Note, ParseOptions, Tree, normalized, parse, parse_bytes};
use dehusk_html::{PageUrl, UrlError};

/// A parsed page of a site.
///
/// Parsing never fails: bad HTML gives the tree that a browser would build, and what a limit cut off is in
/// [`Page::notes`]. A page is a plain value; it borrows nothing and can be sent to another thread.
#[derive(Clone, Debug)]
pub struct Page {
    pub(super) tree: Tree,
    url: Option<PageUrl>,
    encoding: &'static str,
}

/// The source of a page: text that is decoded already, or bytes as served.
#[derive(Clone, Copy, Debug)]
pub enum Html<'a> {
    /// Decoded text.
    Text(&'a str),
    /// Bytes. Their encoding is found as browsers do: byte order mark, content type, `meta` elements, then a guess.
    Bytes(&'a [u8]),
}

impl<'a> From<&'a str> for Html<'a> {
    fn from(text: &'a str) -> Html<'a> {
        Html::Text(text)
    }
}

impl<'a> From<&'a String> for Html<'a> {
    fn from(text: &'a String) -> Html<'a> {
        Html::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Html<'a> {
    fn from(bytes: &'a [u8]) -> Html<'a> {
        Html::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Html<'a> {
    fn from(bytes: &'a [u8; N]) -> Html<'a> {
        Html::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Html<'a> {
    fn from(bytes: &'a Vec<u8>) -> Html<'a> {
        Html::Bytes(bytes)
    }
}

/// What is known about a page before it is parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOptions {
    /// Limits of the page tree.
    pub limits: ParseOptions,
    /// The `Content-Type` of the page, if a server sent one. It may name the encoding.
    pub content_type: Option<String>,
}

impl Page {
    /// Parses a page: text (`&str`, `&String`) or bytes (`&[u8]`, `&Vec<u8>`), which are borrowed.
    ///
    /// ```
    /// use dehusk_core::{Page, PageOptions};
    ///
    /// let page = Page::parse("<title>Rye</title><p>A grain.", &PageOptions::default());
    /// assert_eq!(page.title().as_deref(), Some("Rye"));
    ///
    /// // Bytes: 0xe9 is an é in ISO 8859-1.
    /// let bytes = b"<meta charset=iso-8859-1><title>Caf\xe9</title>";
    /// assert_eq!(Page::parse(bytes, &PageOptions::default()).title().as_deref(), Some("Café"));
    /// ```
    pub fn parse<'a>(html: impl Into<Html<'a>>, options: &PageOptions) -> Page {
        let (tree, encoding) = match html.into() {
            Html::Text(text) => (parse(text, &options.limits), "UTF-8"),
            Html::Bytes(bytes) => {
                let (tree, charset) = parse_bytes(bytes, options.content_type.as_deref(), &options.limits);
                (tree, charset.name)
            }
        };
        Page { tree, url: None, encoding }
    }

    /// The same page, found at this URL. Pages need no URL. With one, [`SiteModel::add`](crate::SiteModel::add)
    /// replaces an earlier version of the page; [`SiteModel::learn`](crate::SiteModel::learn) keeps all that it is
    /// given.
    ///
    /// # Errors
    ///
    /// [`UrlError`] when the text is not an absolute `http` or `https` URL.
    pub fn with_url(self, url: &str) -> Result<Page, UrlError> {
        Ok(Page { url: Some(PageUrl::parse(url)?), ..self })
    }

    /// The tree of the page.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The URL, if one was given.
    pub fn url(&self) -> Option<&str> {
        self.url.as_ref().map(PageUrl::as_str)
    }

    /// The host of the URL, with its port unless it is the usual one.
    pub fn host(&self) -> Option<String> {
        self.url.as_ref().map(PageUrl::authority)
    }

    /// What robots directives ask for: those of the page's `meta` elements, and of `X-Robots-Tag` headers. `agents` are
    /// the user agents that are meant beside all, `now` is in Unix seconds.
    pub fn rules(&self, headers: &[String], agents: &[String], now: i64) -> PageRules {
        let named = |meta| Some((self.tree.attr(meta, "name")?, self.tree.attr(meta, "content")?));
        PageRules::new(headers, self.tree.all("meta").filter_map(named), agents, now)
    }

    pub(super) fn page_url(&self) -> Option<&PageUrl> {
        self.url.as_ref()
    }

    /// The text of the `title` element, white space collapsed.
    pub fn title(&self) -> Option<String> {
        let title = self.tree.all("title").next()?;
        let texts =
            self.tree.shape.subtree(title).map(dehusk_html::NodeId::new).filter(|node| self.tree.is_text(*node));
        let text = texts.map(|node| self.tree.text(node)).collect::<String>();
        Some(normalized(&text)).filter(|text| !text.is_empty())
    }

    /// What the page says about itself: title, authors, dates, language, licence, each with its source.
    ///
    /// ```
    /// use dehusk_core::{Page, PageOptions};
    ///
    /// let html = "<title>Rye</title><meta property=article:published_time content=2026-11-22T10:00:00Z>";
    /// let metadata = Page::parse(html, &PageOptions::default()).metadata();
    /// assert_eq!(metadata.published.map(|day| day.value).as_deref(), Some("2026-11-22"));
    /// ```
    pub fn metadata(&self) -> Metadata {
        Metadata::new(&self.tree, self.url.as_ref())
    }

    /// The encoding that the page was decoded from, by its WHATWG name.
    pub fn encoding(&self) -> &'static str {
        self.encoding
    }

    /// What limits did to this page.
    pub fn notes(&self) -> &[Note] {
        self.tree.notes()
    }

    /// Number of nodes in the tree: elements, and text that is not all white space.
    pub fn n_nodes(&self) -> usize {
        self.tree.len()
    }

    /// Cleans the page by itself, without knowledge of its site: a small net reads the features of each block and keeps
    /// the main content. A page in which it finds none is kept whole.
    ///
    /// A [`SiteModel`](crate::SiteModel) does this better for every page of a site that it knows.
    ///
    /// ```
    /// use dehusk_core::{Page, PageOptions};
    ///
    /// let html = "<nav><a href=/>Home</a> <a href=/news>News</a></nav><article><p>Rye is a grass, grown as a grain. \
    ///     It is closely related to wheat and barley, and it is used for flour, bread, and beer.</p></article>";
    /// let page = Page::parse(html, &PageOptions::default());
    /// assert!(page.clean().text().starts_with("Rye is a grass"));
    /// ```
    pub fn clean(&self) -> Cleaned<&Page> {
        self.clean_with(&CleanOptions::default())
    }

    /// The same with other options.
    pub fn clean_with(&self, options: &CleanOptions) -> Cleaned<&Page> {
        Cleaned::alone(self, options)
    }

    /// The text of the comments, as far as the page alone shows them.
    pub fn comments(&self, options: &CleanOptions) -> String {
        self.comment_labels(options).text(&self.tree)
    }

    /// Labels by which the comments are the page's own, and all else is not.
    pub fn comment_labels(&self, options: &CleanOptions) -> Labels {
        comment_labels(&self.tree, None, options)
    }

    /// Hash of all that is below the body.
    pub(super) fn content(&self) -> u64 {
        self.tree.body().map_or(0, |body| self.tree.subtree_hashes().full[body.index()])
    }

    /// The number by which a model knows the page: the fingerprint of its URL, or a hash of its content.
    pub fn id(&self) -> u64 {
        match &self.url {
            Some(url) => url.fingerprint(),
            None => self.content(),
        }
    }
}
