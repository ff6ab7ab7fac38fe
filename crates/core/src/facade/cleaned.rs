//! A page without its template.

use crate::clean::LabeledPage;
use crate::facade::Page;
use crate::forms::MarkdownOptions;
use crate::labels::Labels;
use crate::method::Method;

/// A page whose nodes are labeled: template, or the page's own.
#[derive(Clone, Debug)]
pub struct Cleaned<'p> {
    page: &'p Page,
    labels: Labels,
    step: Method,
}

impl<'p> Cleaned<'p> {
    pub(super) fn new(page: &'p Page, labeled: LabeledPage) -> Cleaned<'p> {
        Cleaned { page, labels: labeled.labels, step: labeled.method }
    }

    /// The page's own text: one line a block, no line for template.
    pub fn text(&self) -> String {
        self.labels.text(&self.page.tree)
    }

    /// The page without its template, as HTML. An element stays when something below it is the page's own.
    ///
    /// The result is safe to open: scripts, handlers, frames, forms and styles are not written, and a content security
    /// policy forbids them. Links and pictures are absolute where the page has a URL or a `base` element.
    pub fn html(&self) -> String {
        self.labels.html(&self.page.tree, self.page.page_url())
    }

    /// The page without its template, as Markdown: headings, lists, tables, code, quotes, links, pictures, footnotes
    /// and formulas. Links and pictures are absolute where the page has a URL or a `base` element.
    pub fn markdown(&self, options: &MarkdownOptions) -> String {
        self.labels.markdown(&self.page.tree, self.page.page_url(), options)
    }

    /// Whether each node of the page is template, in document order; [`Page::n_nodes`] of them.
    pub fn labels(&self) -> &[bool] {
        &self.labels.is_template
    }

    /// How much the step trusts its labels, from 0 to 1. Of the site model: the share of the template that the page
    /// shows. Of document frequency: the share of the page's texts that other pages have. Of the page alone: the mean
    /// probability of what is kept.
    pub fn confidence(&self) -> f64 {
        self.labels.confidence
    }

    /// The step that labeled the page: [`Method::SiteModel`]; [`Method::Df`] when the page resembles no training page;
    /// [`Method::Alone`] when it shows nothing of its site; [`Method::Plain`] when it is kept whole.
    pub fn step(&self) -> Method {
        self.step
    }
}
