//! `dehusk.clean_batch`, and the threads for it.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use dehusk_core::MarkdownOptions;

use crate::cleaned::PyCleaned;
use crate::html::{MaybeHtml, pages_of};
use crate::options::{Output, clean_options};
use crate::site_model::PySiteModel;

/// Items that are worked on between two looks for signals, such as Ctrl-C.
const CHUNK: usize = 256;

/// Threads of one call. They are made for it: threads that outlive a call do not survive a fork, which is how
/// `multiprocessing` starts processes.
pub(crate) struct Threads(Option<rayon::ThreadPool>);

impl Threads {
    /// This many threads; as many as there are cores, if none is named.
    pub(crate) fn new(threads: Option<i64>, n_items: usize) -> PyResult<Threads> {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match threads {
            Some(..=0) => return Err(PyValueError::new_err("threads must be at least 1")),
            threads => threads.map_or_else(all, |n| n as usize).min(n_items).min(CHUNK),
        };
        if threads <= 1 {
            return Ok(Threads(None));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map(|pool| Threads(Some(pool))).map_err(|e| PyValueError::new_err(format!("threads: {e}")))
    }

    /// Maps all items in order, without the GIL. Ctrl-C ends it.
    pub(crate) fn map<T: Sync, R: Send>(
        &self,
        py: Python<'_>,
        items: &[T],
        f: impl Fn(&T) -> R + Sync + Send,
    ) -> PyResult<Vec<R>> {
        let mut results = Vec::with_capacity(items.len());
        for chunk in items.chunks(CHUNK) {
            py.check_signals()?;
            results.append(&mut py.detach(|| match &self.0 {
                Some(pool) => pool.install(|| chunk.par_iter().map(&f).collect()),
                None => chunk.iter().map(&f).collect(),
            }));
        }
        Ok(results)
    }
}

/// Cleans many pages on all cores, in order.
///
/// Args:
///     pages: Page, str or bytes. Make a Page to give the address of a page. None and NaN give None.
///     model: The model of their site; without one, each page is cleaned alone.
///     output: None gives Cleaned. "text", "markdown", "html" and "json" give str, which takes less memory.
///     keep: As in SiteModel.clean.
///     favor: As in SiteModel.clean.
///     threads: Number of threads; as many as there are cores, if it is None.
#[pyfunction]
#[pyo3(signature = (pages, model = None, *, output = None, keep = "own", favor = "balanced", threads = None))]
pub(crate) fn clean_batch(
    py: Python<'_>,
    pages: &Bound<'_, PyAny>,
    model: Option<&PySiteModel>,
    output: Option<&str>,
    keep: &str,
    favor: &str,
    threads: Option<i64>,
) -> PyResult<Vec<Py<PyAny>>> {
    let options = clean_options(keep, favor)?;
    let pages: Vec<MaybeHtml> = pages_of(pages)?;
    let output = output.map(|name| Output::named("output", name)).transpose()?;
    let model = model.map(PySiteModel::shared);
    let threads = Threads::new(threads, pages.len())?;
    let clean = |html: &MaybeHtml| {
        let page = html.0.as_ref().map(|html| html.page(None, None)).transpose()?;
        Ok::<_, PyErr>(page.map(|page| PyCleaned::new(page, model.clone(), &options)))
    };
    match output {
        None => {
            let cleaned = threads.map(py, &pages, clean)?;
            cleaned.into_iter().map(|cleaned| cleaned?.into_py_any(py)).collect()
        }
        Some(output) => {
            let markdown = MarkdownOptions::default();
            let write =
                |html: &MaybeHtml| Ok::<_, PyErr>(clean(html)?.map(|cleaned| cleaned.written(output, &markdown)));
            let written = threads.map(py, &pages, write)?;
            written.into_iter().map(|text| text?.into_py_any(py)).collect()
        }
    }
}
