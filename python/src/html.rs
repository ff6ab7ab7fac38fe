//! HTML that comes from Python: `str`, `bytes`, or a `Page`.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyFloat, PySet, PyString};

use dehusk_core::{Page, PageOptions};

use crate::page::PyPage;

/// HTML that is held for as long as it is read, without a copy. It can be read by any thread.
pub(crate) enum PyHtml {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
    Page(Arc<Page>),
}

impl<'py> FromPyObject<'_, 'py> for PyHtml {
    type Error = PyErr;

    fn extract(html: Borrowed<'_, 'py, PyAny>) -> PyResult<PyHtml> {
        if html.is_instance_of::<PyString>() {
            if let Ok(text) = html.extract() {
                return Ok(PyHtml::Text(text));
            }
            // Lone surrogates, which no encoding has, are replaced.
            let bytes = html.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
            return Ok(PyHtml::Text(bytes.call_method1("decode", ("utf-16-le", "replace"))?.extract()?));
        }
        if html.is_instance_of::<PyBytes>() {
            return Ok(PyHtml::Bytes(html.extract()?));
        }
        if let Ok(page) = html.cast::<PyPage>() {
            return Ok(PyHtml::Page(Arc::clone(&page.get().page)));
        }
        if let Ok(bytes) = html.extract::<PyBackedBytes>() {
            return Ok(PyHtml::Bytes(bytes));
        }
        let name = html.get_type().name().map_or_else(|_| "another type".to_owned(), |name| name.to_string());
        Err(PyTypeError::new_err(format!("html must be str, bytes or Page, not {name}")))
    }
}

/// A page that may be missing: None, or NaN, which stands for None in a column of pandas.
pub(crate) struct MaybeHtml(pub(crate) Option<PyHtml>);

impl<'py> FromPyObject<'_, 'py> for MaybeHtml {
    type Error = PyErr;

    fn extract(html: Borrowed<'_, 'py, PyAny>) -> PyResult<MaybeHtml> {
        let is_nan = || html.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan());
        if html.is_none() || is_nan() { Ok(MaybeHtml(None)) } else { html.extract().map(|html| MaybeHtml(Some(html))) }
    }
}

/// First bytes of files that are often taken for pages, and are read as empty ones: PDF, gzip, ZIP, PNG, JPEG, GIF.
const OTHERS: [&[u8]; 6] = [b"%PDF-", b"\x1f\x8b", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8"];

/// The pages of any iterable but text and bytes, whose items are no pages.
pub(crate) fn pages_of<T>(pages: &Bound<'_, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    if pages.is_instance_of::<PyString>() || pages.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("pages must be a list or another iterable of pages, not one page"));
    }
    if pages.is_instance_of::<PyDict>() || pages.is_instance_of::<PySet>() {
        return Err(PyTypeError::new_err("pages must be in order: a list or another iterable, not a dict or a set"));
    }
    let page = |(at, page): (usize, PyResult<Bound<'_, PyAny>>)| {
        let page: PyResult<T> = page?.extract();
        page.map_err(|e| {
            if e.is_instance_of::<PyTypeError>(pages.py()) {
                PyTypeError::new_err(format!("pages[{at}]: {}", e.value(pages.py())))
            } else {
                PyValueError::new_err(format!("pages[{at}]: {}", e.value(pages.py())))
            }
        })
    };
    pages.try_iter()?.enumerate().map(page).collect()
}

impl PyHtml {
    /// The page, found at `url` if there is one.
    pub(crate) fn page(&self, url: Option<&str>, content_type: Option<&str>) -> PyResult<Arc<Page>> {
        let options = PageOptions { content_type: content_type.map(str::to_owned), ..PageOptions::default() };
        let page = match self {
            PyHtml::Page(_) if content_type.is_some() => {
                return Err(PyValueError::new_err("content_type: a Page is decoded already"));
            }
            PyHtml::Page(page) if url.is_none() => return Ok(Arc::clone(page)),
            PyHtml::Page(page) => Page::clone(page),
            PyHtml::Text(text) => Page::parse(&**text, &options),
            PyHtml::Bytes(bytes) if OTHERS.iter().any(|begin| bytes.starts_with(begin)) => Page::parse("", &options),
            PyHtml::Bytes(bytes) => Page::parse(&**bytes, &options),
        };
        match url {
            Some(url) => page.with_url(url).map(Arc::new).map_err(|e| PyValueError::new_err(e.to_string())),
            None => Ok(Arc::new(page)),
        }
    }
}
