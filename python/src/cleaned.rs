//! `dehusk.Cleaned`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use dehusk_core::corpus::{About, OptionalColumns, Record};
use dehusk_core::{CleanOptions, Cleaned, Labels, MarkdownImages, MarkdownLinks, MarkdownOptions, Page, SiteModel};

use crate::options::Output;
use crate::page::PyPage;
use crate::row::{metadata_dict, post_dict, row_dict};

/// A page without its template. What is asked for is written when it is asked for.
#[pyclass(frozen, name = "Cleaned", module = "dehusk")]
pub(crate) struct PyCleaned {
    cleaned: Cleaned<Arc<Page>>,
    page: Arc<Page>,
    model: Option<Arc<SiteModel>>,
    options: CleanOptions,
}

impl PyCleaned {
    /// Cleans a page with a model, or alone.
    pub(crate) fn new(page: Arc<Page>, model: Option<Arc<SiteModel>>, options: &CleanOptions) -> PyCleaned {
        let cleaned = match &model {
            Some(model) => model.clean_with(Arc::clone(&page), options),
            None => Cleaned::alone(Arc::clone(&page), options),
        };
        PyCleaned { cleaned, page, model, options: *options }
    }

    /// A page that another method has labeled.
    pub(crate) fn of_labels(page: Arc<Page>, cleaned: Cleaned<Arc<Page>>, options: &CleanOptions) -> PyCleaned {
        PyCleaned { cleaned, page, model: None, options: *options }
    }

    pub(crate) fn without(self, element: &str) -> PyCleaned {
        PyCleaned { cleaned: self.cleaned.without(element), ..self }
    }

    fn comments_text(&self) -> String {
        match &self.model {
            Some(model) => model.comments(&self.page, &self.options),
            None => self.page.comments(&self.options),
        }
    }

    fn comment_labels(&self) -> Labels {
        match &self.model {
            Some(model) => model.comment_labels(&self.page, &self.options),
            None => self.page.comment_labels(&self.options),
        }
    }

    /// The row of the page. Its model is that of the page's host, in this version.
    pub(crate) fn record(
        &self,
        about: About,
        version: Option<i64>,
        optional: OptionalColumns,
        markdown: &MarkdownOptions,
    ) -> Record {
        let comments = optional.comments.then(|| self.comment_labels());
        let host = about.host.clone().or_else(|| self.page.host());
        let model = host.filter(|_| self.cleaned.is_by_model()).map(|host| (host, version));
        self.cleaned.record(&About { model, ..about }, comments.as_ref(), optional, markdown)
    }

    pub(crate) fn written(&self, output: Output, markdown: &MarkdownOptions) -> String {
        match output {
            Output::Text => self.cleaned.text(),
            Output::Markdown => self.cleaned.markdown(markdown),
            Output::Html => self.cleaned.html(),
            Output::Json => {
                let about = About::default();
                format!("{}\n", self.record(about, None, OptionalColumns::default(), markdown).to_json())
            }
        }
    }
}

/// Links and pictures of Markdown.
pub(crate) fn markdown_options(links: bool, images: bool) -> MarkdownOptions {
    MarkdownOptions {
        links: if links { MarkdownLinks::Inline } else { MarkdownLinks::Drop },
        images: if images { MarkdownImages::Keep } else { MarkdownImages::Drop },
    }
}

#[pymethods]
impl PyCleaned {
    /// The page.
    #[getter]
    fn page(&self) -> PyPage {
        PyPage { page: Arc::clone(&self.page) }
    }

    /// The page's own text: a line for each block.
    #[getter]
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| self.cleaned.text())
    }

    /// The page without its template, as Markdown.
    #[getter]
    fn markdown(&self, py: Python<'_>) -> String {
        py.detach(|| self.cleaned.markdown(&MarkdownOptions::default()))
    }

    /// The page without its template, as HTML that is safe to open.
    #[getter]
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| self.cleaned.html())
    }

    /// The text of the comments.
    #[getter]
    fn comments(&self, py: Python<'_>) -> String {
        py.detach(|| self.comments_text())
    }

    /// The posts of the page: of a thread, answers, and comments where they are kept. A list of dicts with author,
    /// published, text and markdown; empty for a page of fewer than two.
    #[getter]
    fn posts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let posts = py.detach(|| self.cleaned.posts(&MarkdownOptions::default()));
        posts.iter().map(|post| post_dict(py, post)).collect()
    }

    /// What the page says about itself, as `Page.metadata`.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = py.detach(|| self.page.metadata());
        metadata_dict(py, &metadata)
    }

    /// Whether each node of the page is template, in document order; `Page.n_nodes` of them.
    #[getter]
    fn labels(&self) -> Vec<bool> {
        self.cleaned.labels().to_vec()
    }

    /// How much the step trusts its labels, from 0 to 1.
    #[getter]
    fn confidence(&self) -> f64 {
        self.cleaned.confidence()
    }

    /// The kind of the page among those of its site, from 1; None where the page shows nothing of the site.
    #[getter]
    fn kind(&self) -> Option<usize> {
        self.cleaned.kind()
    }

    /// The step that labeled the page: "site_model", "df", "alone" or "plain".
    #[getter]
    fn step(&self) -> &'static str {
        self.cleaned.step().name()
    }

    /// The page as a row of a corpus: a dict of all columns (`dehusk.columns()`), as `dehusk export` writes it.
    ///
    /// Args:
    ///     html: Whether the column html is filled.
    ///     comments: Whether the column comments is filled.
    ///     posts: Whether the column posts is filled.
    #[pyo3(signature = (*, html = false, comments = false, posts = false))]
    fn row<'py>(&self, py: Python<'py>, html: bool, comments: bool, posts: bool) -> PyResult<Bound<'py, PyDict>> {
        let optional = OptionalColumns { html, comments, posts };
        let record = py.detach(|| self.record(About::default(), None, optional, &MarkdownOptions::default()));
        row_dict(py, &record)
    }

    fn __repr__(&self) -> String {
        let url = self.page.url().unwrap_or("no url");
        format!(
            "<dehusk.Cleaned {url}, by {}, confidence {:.3}>",
            self.cleaned.step().name(),
            self.cleaned.confidence()
        )
    }
}
