//! A page without its template.

use std::ops::Deref;

use crate::clean::{CleanOptions, LabeledPage, label_page};
use crate::corpus::{About, OptionalColumns, Record, RecordSource, TextOptions};
use crate::facade::Page;
use crate::metadata::MetadataInput;
use crate::page_markdown::write_page_markdown;
use crate::posts::{Post, posts};
use dehusk_content::Labels;
use dehusk_render::{MarkdownOptions, write_own_html};
use dehusk_template::method::Method;

/// A page whose nodes are labeled: template, or the page's own.
///
/// `P` is how the page is held: `&Page`, or `Arc<Page>` where the result outlives the place that made it.
#[derive(Clone, Debug)]
pub struct Cleaned<P> {
    page: P,
    labeled: LabeledPage,
    kind: Option<usize>,
}

impl<P: Deref<Target = Page>> Cleaned<P> {
    pub(super) fn by_model(page: P, labeled: LabeledPage, kind: Option<usize>) -> Cleaned<P> {
        Cleaned { page, labeled, kind }
    }

    /// Cleans a page by itself, as [`Page::clean`] does.
    pub fn alone(page: P, options: &CleanOptions) -> Cleaned<P> {
        let labeled = label_page(&page.tree, None, None, options);
        Cleaned { page, labeled, kind: None }
    }

    /// A page with labels that another method has found.
    pub fn labeled(page: P, labeled: LabeledPage) -> Cleaned<P> {
        Cleaned { page, labeled, kind: None }
    }

    /// The page.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// The page's own text: one line a block, no line for template.
    pub fn text(&self) -> String {
        self.labeled.labels.text(&self.page.tree)
    }

    /// The page without its template, as HTML. An element stays when something below it is the page's own.
    ///
    /// The result is safe to open: scripts, handlers, frames, forms and styles are not written, and a content security
    /// policy forbids them. Links and pictures are absolute where the page has a URL or a `base` element.
    pub fn html(&self) -> String {
        write_own_html(&self.page.tree, self.page.page_url(), self.labeled.labels.is_own())
    }

    /// The page without its template, as Markdown: headings, lists, tables, code, quotes, links, pictures, footnotes
    /// and formulas. Links and pictures are absolute where the page has a URL or a `base` element. The title of the
    /// page comes first, and each post of a thread begins with its author and day.
    pub fn markdown(&self, options: &MarkdownOptions) -> String {
        write_page_markdown(&self.page.tree, self.page.page_url(), options, self.labeled.labels.is_own())
    }

    /// The posts of the page: of a thread, answers to a question, and comments where they are kept.
    pub fn posts(&self, options: &MarkdownOptions) -> Vec<Post> {
        let page = MetadataInput::new(&self.page.tree, self.page.page_url());
        posts(&page, options, self.labeled.labels.is_own())
    }

    /// The page as a row of a corpus. The URL is that of the page, if it has one. `comments` are its comments
    /// ([`Page::comment_labels`]), where they are asked for.
    ///
    /// ```
    /// use dehusk_core::corpus::{About, OptionalColumns};
    /// use dehusk_core::{MarkdownOptions, Page, PageOptions};
    ///
    /// let page = Page::parse("<title>Rye</title><p>A grain.", &PageOptions::default());
    /// let row = page.clean().record(&About::default(), None, OptionalColumns::default(), &MarkdownOptions::default());
    /// assert_eq!((row.text("title"), row.text("text")), (Some("Rye"), Some("A grain.\n")));
    /// ```
    pub fn record(
        &self,
        about: &About,
        comments: Option<&Labels>,
        optional: OptionalColumns,
        markdown: &MarkdownOptions,
    ) -> Record {
        let url = self.page.page_url().cloned().or_else(|| about.url.clone());
        let about = About { url, template_kind: self.kind, ..about.clone() };
        let tree = &self.page.tree;
        Record::new(&RecordSource {
            tree,
            labeled: &self.labeled,
            about: &about,
            comments,
            optional,
            markdown,
            language: None,
            texts: TextOptions::default(),
        })
    }

    /// The same without the elements of a name, such as `table`.
    #[must_use]
    pub fn without(mut self, element: &str) -> Cleaned<P> {
        for node in self.page.tree.all(element) {
            self.labeled.labels.is_template[self.page.tree.shape.subtree(node)].fill(true);
        }
        self
    }

    /// Whether each node of the page is template, in document order; [`Page::n_nodes`] of them.
    pub fn labels(&self) -> &[bool] {
        &self.labeled.labels.is_template
    }

    /// How much the step trusts its labels, from 0 to 1. Of the site model: the share of the template that the page
    /// shows. Of document frequency: the share of the page's texts that other pages have. Of the page alone: the mean
    /// probability of what is kept.
    pub fn confidence(&self) -> f64 {
        self.labeled.labels.confidence
    }

    /// The step that labeled the page: [`Method::SiteModel`]; [`Method::Df`] when the page resembles no training page;
    /// [`Method::Alone`] when it shows nothing of its site; [`Method::Plain`] when it is kept whole.
    pub fn step(&self) -> Method {
        self.labeled.method
    }

    /// The kind of the page among those of its site, from 1, the one with the most training pages first; `None` where
    /// the page shows nothing of the site. A site of a shop and a blog has two kinds of pages.
    pub fn kind(&self) -> Option<usize> {
        self.kind.map(|kind| kind + 1)
    }

    /// Whether the model of the site labeled the page.
    pub fn is_by_model(&self) -> bool {
        self.labeled.by_template
    }
}
