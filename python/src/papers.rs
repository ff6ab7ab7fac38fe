//! `dehusk.papers`: the published methods.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use dehusk_core::{Cleaned, Page};
use dehusk_html::{PageUrl, Tree};
use dehusk_papers::method_table::{METHODS, MethodEntry, Model};
use dehusk_papers::records::{records_by_mdr, records_by_tps};
use dehusk_settings::Settings;
use dehusk_template::cluster::{ClusterBy, Features, single_linkage};
use dehusk_template::text_mdl::{Essential, Paths, TextMethod, cluster as cluster_by_paths};

use crate::cleaned::PyCleaned;
use crate::html::{PyHtml, pages_of};
use crate::options::unknown;

/// Settings by the names of crawl.toml.
fn settings_of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Settings> {
    let mut sets = Vec::new();
    for (key, value) in given.iter().flat_map(|given| given.iter()) {
        // TOML writes true and false in small letters.
        let value = if value.is_instance_of::<PyBool>() {
            value.str()?.to_string().to_lowercase()
        } else {
            value.str()?.to_string()
        };
        sets.push(format!("{}={value}", key.str()?));
    }
    Settings::load(None, &sets).map_err(|e| PyValueError::new_err(e.to_string().replace("--set", "settings")))
}

fn entry(name: &str) -> PyResult<&'static MethodEntry> {
    METHODS.iter().find(|entry| entry.method.name() == name).ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|entry| entry.method.name()).collect();
        unknown("method", name, &format!("expected one of {}", names.join(", ")))
    })
}

/// A method, ready to clean pages: one of the papers, a baseline, or one of dehusk's own.
///
/// Args:
///     name: Its name, as `dehusk clean --method` takes it.
///     pages: Pages of the site to learn from, the key page first, for the methods that need them.
///     settings: Settings by the names of crawl.toml, such as {"papers.tps.complement": False}.
///
/// Raises:
///     ValueError: The method or a setting is not known, it needs pages and has none, or the pages share nothing.
#[pyclass(frozen, name = "Method", module = "dehusk.papers")]
pub(crate) struct PyMethod {
    entry: &'static MethodEntry,
    model: Option<Model>,
    settings: Settings,
}

#[pymethods]
impl PyMethod {
    #[new]
    #[pyo3(signature = (name, pages = None, *, settings = None))]
    fn new(
        py: Python<'_>,
        name: &str,
        pages: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyMethod> {
        let (entry, settings) = (entry(name)?, settings_of(settings)?);
        let pages = pages.map_or_else(|| Ok(Vec::new()), pages_of::<PyHtml>)?;
        if entry.is_site_method() == pages.is_empty() {
            let expected =
                if pages.is_empty() { "learns from pages of the site" } else { "takes no pages to learn from" };
            return Err(PyValueError::new_err(format!("method {name} {expected}")));
        }
        let model = py.detach(|| {
            let pages = pages.iter().map(|html| html.page(None, None)).collect::<PyResult<Vec<Arc<Page>>>>()?;
            let trees: Vec<&Tree> = pages.iter().map(|page| page.tree()).collect();
            Ok::<_, PyErr>(entry.learn(&trees, &settings.core, &settings.papers))
        })?;
        if entry.is_site_method() && model.is_none() {
            return Err(PyValueError::new_err(format!("method {name}: the pages are too few, or share nothing")));
        }
        Ok(PyMethod { entry, model, settings })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        self.entry.method.name()
    }

    /// Where it was published.
    #[getter]
    fn paper(&self) -> &'static str {
        self.entry.paper
    }

    /// Cleans a page: Page, str or bytes.
    #[pyo3(signature = (html, url = None, *, content_type = None))]
    fn clean(
        &self,
        py: Python<'_>,
        html: PyHtml,
        url: Option<&str>,
        content_type: Option<&str>,
    ) -> PyResult<PyCleaned> {
        py.detach(|| {
            let page = html.page(url, content_type)?;
            let (model, settings) = (self.model.as_ref(), &self.settings);
            let labeled = self.entry.label(page.tree(), model, &settings.core, &settings.papers);
            let cleaned = Cleaned::labeled(Arc::clone(&page), labeled);
            Ok(PyCleaned::of_labels(page, cleaned, &settings.core.clean))
        })
    }

    fn __repr__(&self) -> String {
        format!("<dehusk.papers.Method {}>", self.name())
    }
}

/// All methods: name, paper, one line, and whether it learns from pages of the site.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str, &'static str, bool)> {
    METHODS.iter().map(|entry| (entry.method.name(), entry.paper, entry.summary, entry.is_site_method())).collect()
}

/// The data records of a page, such as the entries of a list: a list of dicts with region, record and fields.
///
/// Args:
///     html: The page.
///     url: Its address, with which links become absolute.
///     method: "mdr" (Liu 2003), or "tps" (Velloso and Dorneles 2013): those in the main region of the page.
///     settings: Settings by the names of crawl.toml.
#[pyfunction]
#[pyo3(signature = (html, url = None, *, method = "tps", settings = None))]
pub(crate) fn records<'py>(
    py: Python<'py>,
    html: PyHtml,
    url: Option<&str>,
    method: &str,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let settings = settings_of(settings)?;
    let by_tps = match method {
        "tps" => true,
        "mdr" => false,
        _ => return Err(unknown("method", method, "expected tps or mdr")),
    };
    let found = py.detach(|| {
        let page = html.page(url, None)?;
        let url = page.url().and_then(|url| PageUrl::parse(url).ok());
        let how = &settings.core.clean.tps;
        Ok::<_, PyErr>(if by_tps {
            records_by_tps(page.tree(), url.as_ref(), how)
        } else {
            records_by_mdr(page.tree(), url.as_ref())
        })
    })?;
    let record = |(number, record): (usize, dehusk_papers::records::PageRecord)| {
        let fields = PyDict::new(py);
        for (column, value) in record.fields {
            fields.set_item(column, value)?;
        }
        let row = PyDict::new(py);
        row.set_item("region", record.region)?;
        row.set_item("record", number)?;
        row.set_item("fields", fields)?;
        Ok(row)
    };
    found.into_iter().enumerate().map(record).collect()
}

/// Groups pages of any sites by template. Returns the number of the cluster of each page.
///
/// Args:
///     pages: Pages: Page, str or bytes.
///     method: "max", "hash" or "mdl" (Kim and Shim 2011); "cp", "cps" or "ctss" (Gottron 2008).
///     settings: Settings by the names of crawl.toml.
#[pyfunction]
#[pyo3(signature = (pages, *, method = "max", settings = None))]
pub(crate) fn cluster(
    py: Python<'_>,
    pages: &Bound<'_, PyAny>,
    method: &str,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<usize>> {
    let (pages, mut settings) = (pages_of::<PyHtml>(pages)?, settings_of(settings)?);
    let by_layout = match method {
        "max" | "hash" | "mdl" => {
            settings.core.learn.text.method = match method {
                "max" => TextMethod::Max,
                "hash" => TextMethod::Hash,
                _ => TextMethod::Mdl,
            };
            false
        }
        "cp" | "cps" | "ctss" => {
            settings.papers.cluster.by = match method {
                "cp" => ClusterBy::Cp,
                "cps" => ClusterBy::Cps,
                _ => ClusterBy::Ctss,
            };
            true
        }
        _ => return Err(unknown("method", method, "expected max, hash, mdl, cp, cps or ctss")),
    };
    py.detach(|| {
        let pages = pages.iter().map(|html| html.page(None, None));
        if by_layout {
            let features = pages.map(|page| Ok(Features::new(page?.tree(), &settings.papers.cluster)));
            return Ok(single_linkage(
                &features.collect::<PyResult<Vec<_>>>()?,
                settings.papers.cluster.max_distance(),
            ));
        }
        let paths = pages.map(|page| Ok(Paths::new(page?.tree()))).collect::<PyResult<Vec<_>>>()?;
        Ok(cluster_by_paths(&Essential::find_all(&paths, &settings.core.learn.text).0, &settings.core.learn.text)
            .of_pages())
    })
}
