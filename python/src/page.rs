//! `dehusk.Page`.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use dehusk_core::Page;
use dehusk_html::PageUrl;

use crate::cleaned::PyCleaned;
use crate::html::PyHtml;
use crate::options::clean_options;
use crate::row::metadata_dict;

/// A parsed page of a site.
///
/// Parsing never fails: bad HTML gives the tree that a browser would build. Bytes are decoded as browsers do, by byte
/// order mark, content type, meta elements, then a guess.
///
/// Args:
///     html: The page as str or bytes.
///     url: Its address. With one, links become absolute, and a later version replaces an earlier one in a model.
///     content_type: The Content-Type header, which may name the encoding of bytes.
///
/// Raises:
///     ValueError: url is not an absolute http or https URL.
#[pyclass(frozen, name = "Page", module = "dehusk")]
pub(crate) struct PyPage {
    pub(crate) page: Arc<Page>,
}

/// The user agent that robots directives may name, unless others are named.
pub(crate) fn our_agent() -> Vec<String> {
    vec!["dehusk".to_owned()]
}

/// Whether robots directives keep a page out of collections today.
pub(crate) fn is_noindex(page: &Page, robots_tags: &[String], agents: &[String]) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
    page.rules(robots_tags, agents, now).noindex
}

/// The host of a URL, with its port unless it is the usual one: the name of the site in a corpus. None where the text
/// is not an absolute http or https URL.
#[pyfunction]
pub(crate) fn host(url: &str) -> Option<String> {
    PageUrl::parse(url).ok().map(|url| url.authority())
}

#[pymethods]
impl PyPage {
    #[new]
    #[pyo3(signature = (html, url = None, *, content_type = None))]
    fn new(py: Python<'_>, html: PyHtml, url: Option<&str>, content_type: Option<&str>) -> PyResult<PyPage> {
        Ok(PyPage { page: py.detach(|| html.page(url, content_type))? })
    }

    /// The address, normalized, if one was given.
    #[getter]
    fn url(&self) -> Option<&str> {
        self.page.url()
    }

    /// The text of the title element.
    #[getter]
    fn title(&self) -> Option<String> {
        self.page.title()
    }

    /// The encoding that the page was decoded from, by its WHATWG name.
    #[getter]
    fn encoding(&self) -> &'static str {
        self.page.encoding()
    }

    /// Number of nodes of the tree: elements, and text that is not all white space.
    #[getter]
    fn n_nodes(&self) -> usize {
        self.page.n_nodes()
    }

    /// What limits did to the page, such as bytes that were cut off.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.page.notes().iter().map(|note| format!("{note:?}")).collect()
    }

    /// What the page says about itself: title, authors, dates, and where each value comes from.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = py.detach(|| self.page.metadata());
        metadata_dict(py, &metadata)
    }

    /// Whether the owner of the page wants it in no collection: robots directives of its meta elements and of
    /// X-Robots-Tag headers.
    ///
    /// Args:
    ///     robots_tags: Values of the X-Robots-Tag headers.
    ///     agents: User agents that directives may name; dehusk, if it is None.
    #[pyo3(signature = (robots_tags = None, *, agents = None))]
    fn is_noindex(&self, robots_tags: Option<Vec<String>>, agents: Option<Vec<String>>) -> bool {
        is_noindex(&self.page, &robots_tags.unwrap_or_default(), &agents.unwrap_or_else(our_agent))
    }

    /// Cleans the page by itself, without knowledge of its site: the main content.
    ///
    /// Args:
    ///     keep: "own" or "main", which are one for a page alone, or "main+comments" and other kinds of the rest.
    ///     favor: "precision", "balanced" or "recall".
    #[pyo3(signature = (*, keep = "own", favor = "balanced"))]
    fn clean(&self, py: Python<'_>, keep: &str, favor: &str) -> PyResult<PyCleaned> {
        let options = clean_options(keep, favor)?;
        Ok(py.detach(|| PyCleaned::new(Arc::clone(&self.page), None, &options)))
    }

    fn __repr__(&self) -> String {
        let url = self.page.url().unwrap_or("no url");
        format!("<dehusk.Page {url}, {} nodes>", self.page.n_nodes())
    }
}
