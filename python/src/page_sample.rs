//! `dehusk.PageSample`.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use dehusk_core::{LearnError, Page, PageOptions, SiteModel};
use dehusk_html::PageUrl;
use dehusk_template::site_model::PageSample;

use crate::site_model::PySiteModel;

/// A page of a sample.
#[derive(Clone)]
struct Sampled {
    url: String,
    body: Vec<u8>,
    content_type: Option<String>,
}

// The default of the signature below.
const _: () = assert!(PageSample::<Sampled>::SIZE == 9);

/// A bounded sample of the pages of one site, to learn its model from.
///
/// It keeps the pages whose URLs have the least hashes. So it does not depend on the order of the pages, a site of any
/// size needs no more memory than a small one, and samples of parts can be merged.
///
/// Args:
///     size: Most pages that are kept.
#[pyclass(frozen, name = "PageSample", module = "dehusk")]
pub(crate) struct PyPageSample {
    sample: Mutex<PageSample<Sampled>>,
}

impl PyPageSample {
    fn locked(&self) -> MutexGuard<'_, PageSample<Sampled>> {
        self.sample.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyPageSample {
    #[new]
    #[pyo3(signature = (size = 9))]
    fn new(size: usize) -> PyPageSample {
        PyPageSample { sample: Mutex::new(PageSample::new(size)) }
    }

    /// Offers a page. Returns whether it is kept.
    ///
    /// Raises:
    ///     ValueError: url is not an absolute http or https URL.
    #[pyo3(signature = (html, url, *, content_type = None))]
    fn add(&self, html: &Bound<'_, PyAny>, url: &str, content_type: Option<&str>) -> PyResult<bool> {
        let id = PageUrl::parse(url).map_err(|e| PyValueError::new_err(e.to_string()))?.fingerprint();
        let is_text = html.is_instance_of::<pyo3::types::PyString>();
        let body: pyo3::pybacked::PyBackedBytes =
            if is_text { html.call_method1("encode", ("utf-8",))?.extract()? } else { html.extract()? };
        let content_type = if is_text { Some("text/html; charset=utf-8") } else { content_type };
        let sampled = || {
            let content_type = content_type.map(str::to_owned);
            Ok::<_, Infallible>(Sampled { url: url.to_owned(), body: body.to_vec(), content_type })
        };
        let Ok(is_kept) = self.locked().insert(id, &body, sampled);
        Ok(is_kept)
    }

    /// Adds the pages of another sample.
    fn merge(&self, other: &PyPageSample) {
        let other = other.locked().clone();
        self.locked().merge(other);
    }

    /// The pages: a list of (html as bytes, url, content_type).
    fn pages<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, String, Option<String>)> {
        let pages: Vec<Sampled> = self.locked().iter().map(|(_, page)| page.clone()).collect();
        pages.into_iter().map(|page| (PyBytes::new(py, &page.body), page.url, page.content_type)).collect()
    }

    /// The model of the site, or None where its pages are fewer than two or have nothing in common.
    fn learn(&self, py: Python<'_>) -> PyResult<Option<PySiteModel>> {
        let sample = self.locked().clone();
        let learned = py.detach(|| {
            let pages = sample.iter().map(|(_, sampled)| {
                let options = PageOptions { content_type: sampled.content_type.clone(), ..PageOptions::default() };
                Page::parse(&sampled.body, &options).with_url(&sampled.url)
            });
            let pages = pages.collect::<Result<Vec<_>, _>>().map_err(|e| PyValueError::new_err(e.to_string()))?;
            Ok::<Result<_, LearnError>, PyErr>(SiteModel::learn(&pages))
        })?;
        Ok(learned.ok().map(PySiteModel::new))
    }

    fn __len__(&self) -> usize {
        self.locked().iter().count()
    }

    fn __repr__(&self) -> String {
        format!("<dehusk.PageSample of {} pages>", self.__len__())
    }
}
