//! `dehusk.SiteModel`.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyType};

use dehusk_core::{ModelError, SiteModel};

use crate::batch::Threads;
use crate::cleaned::PyCleaned;
use crate::html::{PyHtml, pages_of};
use crate::options::clean_options;

/// What the pages of a site have in common.
///
/// A model is learned from two or more pages of one site, six to nine of different kinds are enough. It holds hashes
/// and none of the words, about 10 KB for each page. It can be pickled, and used by any number of threads.
#[pyclass(frozen, name = "SiteModel", module = "dehusk")]
pub(crate) struct PySiteModel {
    model: RwLock<Arc<SiteModel>>,
    /// Held while a page is added.
    adding: Mutex<()>,
}

impl PySiteModel {
    pub(crate) fn new(model: SiteModel) -> PySiteModel {
        PySiteModel { model: RwLock::new(Arc::new(model)), adding: Mutex::new(()) }
    }

    /// The model as it is now.
    pub(crate) fn shared(&self) -> Arc<SiteModel> {
        Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl PySiteModel {
    /// Learns from pages of one site: Page, str or bytes. Their order does not matter.
    ///
    /// Raises:
    ///     ValueError: There are fewer than two different pages, or they have nothing in common.
    #[classmethod]
    fn learn(_: &Bound<'_, PyType>, py: Python<'_>, pages: &Bound<'_, PyAny>) -> PyResult<PySiteModel> {
        let pages: Vec<PyHtml> = pages_of(pages)?;
        let pages = Threads::new(None, pages.len())?.map(py, &pages, |html| html.page(None, None))?;
        let learned = py.detach(|| {
            let pages = pages.into_iter().collect::<PyResult<Vec<_>>>()?;
            SiteModel::learn(&pages).map_err(|e| PyValueError::new_err(e.to_string()))
        });
        learned.map(PySiteModel::new)
    }

    /// Adds a page of the site. Returns whether it is kept: beside the pages that the model was learned from, a bounded
    /// sample is kept, which does not depend on the order. A page with the URL of a known page replaces it.
    #[pyo3(signature = (html, url = None))]
    fn add(&self, py: Python<'_>, html: PyHtml, url: Option<&str>) -> PyResult<bool> {
        py.detach(|| {
            let page = html.page(url, None)?;
            // The model is only locked to be replaced: who reads it never waits for a page.
            let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
            let mut model = self.shared();
            let is_kept = Arc::make_mut(&mut model).add(&page);
            *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
            Ok(is_kept)
        })
    }

    /// The model that knows the pages of both. The order of merging does not matter, and the result is bounded.
    /// ValueError for models that were learned with different options.
    fn merge(&self, py: Python<'_>, other: &PySiteModel) -> PyResult<PySiteModel> {
        let merged = py.detach(|| self.shared().merge(&other.shared()));
        merged.map(PySiteModel::new).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// Cleans a page of the site: Page, str or bytes.
    ///
    /// The first step that fits labels the page: the model; the document frequency of its texts, when it resembles no
    /// page of the model; the page alone, when it shows nothing of the site. `Cleaned.step` says which.
    ///
    /// Args:
    ///     html: The page.
    ///     url: Its address, for text and bytes.
    ///     keep: "own", everything that is not template; "main", the main content; or "main+comments" and other kinds.
    ///     favor: "precision", "balanced" or "recall"; of main content.
    #[pyo3(signature = (html, url = None, *, content_type = None, keep = "own", favor = "balanced"))]
    fn clean(
        &self,
        py: Python<'_>,
        html: PyHtml,
        url: Option<&str>,
        content_type: Option<&str>,
        keep: &str,
        favor: &str,
    ) -> PyResult<PyCleaned> {
        let options = clean_options(keep, favor)?;
        py.detach(|| Ok(PyCleaned::new(html.page(url, content_type)?, Some(self.shared()), &options)))
    }

    /// Number of pages that the model keeps.
    #[getter]
    fn n_pages(&self) -> usize {
        self.shared().n_pages()
    }

    /// The model as bytes, with a version and a checksum. Equal models give equal bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.shared().to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Reads what `to_bytes` has written.
    ///
    /// Raises:
    ///     ValueError: The bytes are not a model, of a later version, or damaged.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, py: Python<'_>, data: PyBackedBytes) -> PyResult<PySiteModel> {
        let read = py.detach(|| SiteModel::from_bytes(&data));
        read.map(PySiteModel::new).map_err(|e: ModelError| PyValueError::new_err(e.to_string()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()),)))
    }

    fn __eq__(&self, py: Python<'_>, other: &PySiteModel) -> bool {
        py.detach(|| self.shared().to_bytes() == other.shared().to_bytes())
    }

    fn __repr__(&self) -> String {
        format!("<dehusk.SiteModel of {} pages>", self.shared().n_pages())
    }
}
