//! `dehusk.clean_arrow`: a batch of pages to a batch of rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyRecordBatch, PyTable};

use dehusk_core::corpus::{About, OptionalColumns, Record};
use dehusk_core::rights::{Rights, RightsHeaders, page_statements};
use dehusk_core::{CleanOptions, MarkdownOptions, Page, PageOptions, SiteModel};
use dehusk_html::PageUrl;

use super::input::Input;
use super::output::{arrow_schema, batch, needs_pyarrow};
use crate::batch::Threads;
use crate::cleaned::PyCleaned;
use crate::options::{clean_options, unknown};
use crate::page::{is_noindex, our_agent};
use crate::site_model::PySiteModel;

/// How the rows of a batch are cleaned.
struct Cleaning {
    model: Option<Arc<SiteModel>>,
    models: HashMap<String, Arc<SiteModel>>,
    options: CleanOptions,
    optional: OptionalColumns,
    /// Whether pages that ask for noindex are left out.
    hides_noindex: bool,
    agents: Vec<String>,
}

impl Cleaning {
    /// The row of a page; none where it is left out.
    fn row(&self, input: &Input, row: usize) -> Option<Record> {
        let about = input.about(row);
        let text = |column: &Option<super::input::Texts>| Some(column.as_ref()?.text(row)?.to_owned());
        let options = PageOptions { content_type: text(&input.content_type), ..PageOptions::default() };
        let page = match input.html.html(row) {
            Some(html) => Page::parse(html, &options),
            None => Page::parse("", &options),
        };
        let tags: Vec<String> =
            text(&input.robots_tags).iter().flat_map(|tags| tags.lines().map(str::to_owned)).collect();
        if self.hides_noindex && is_noindex(&page, &tags, &self.agents) {
            return None;
        }
        let headers = RightsHeaders::new(|name| if name == "x-robots-tag" { tags.clone() } else { Vec::new() });
        let rights = Rights::new(page_statements(&headers, page.tree(), &self.agents));
        let host = about.url.as_ref().map(PageUrl::authority).or_else(|| about.host.clone());
        let model = host.as_ref().and_then(|host| self.models.get(host)).or(self.model.as_ref()).cloned();
        let page = match &about.url {
            Some(url) => page.with_url(url.as_str()).ok()?,
            None => page,
        };
        let cleaned = PyCleaned::new(Arc::new(page), model, &self.options);
        let version = input.model_version(row);
        Some(cleaned.record(
            About { rights: Some(rights), ..about },
            version,
            self.optional,
            &MarkdownOptions::default(),
        ))
    }

    fn clean(
        &self,
        py: Python<'_>,
        pages: &RecordBatch,
        names: (&str, &str),
        threads: Option<i64>,
    ) -> PyResult<RecordBatch> {
        let input = Input::new(pages, names.0, names.1)?;
        let rows: Vec<usize> = (0..pages.num_rows()).collect();
        let threads = Threads::new(threads, rows.len())?;
        let records = threads.map(py, &rows, |row| self.row(&input, *row))?;
        let records: Vec<Record> = records.into_iter().flatten().collect();
        py.detach(|| batch(&records))
    }
}

/// A batch, a table, or a stream of batches.
pub(crate) struct Pages(AnyRecordBatch);

impl<'py> FromPyObject<'_, 'py> for Pages {
    type Error = PyErr;

    /// A LazyFrame of polars is collected.
    fn extract(pages: Borrowed<'_, 'py, PyAny>) -> PyResult<Pages> {
        if pages.hasattr("collect_schema")? && pages.hasattr("collect")? {
            return Ok(Pages(pages.call_method0("collect")?.extract()?));
        }
        pages.extract().map(Pages)
    }
}

/// Cleans a batch of pages: a RecordBatch gives a RecordBatch of rows, a Table or another stream a Table.
///
/// Pages are read where they lie, and rows are handed over without a copy. The rows have the schema of
/// `dehusk export` (`dehusk.schema()`). The columns host, fetched_at, status, run, digest, warc, warc_record_id and
/// model_version are taken over, where the input has them; content_type and robots_tags (the X-Robots-Tag headers, one
/// a line) are obeyed. A page that is null gives an empty row, and a URL that cannot be read is none.
///
/// Args:
///     pages: A pyarrow.RecordBatch, a pyarrow.Table, or anything with the Arrow PyCapsule interface.
///     model: The model of their site; without one, each page is cleaned alone.
///     models: Models by host, for pages of many sites. The host is that of the URL; without one, that
///         of the column host.
///     html: Column of pages: string or binary.
///     url: Column of addresses, if there is one.
///     with_html: Whether the column html of the rows is filled.
///     comments: Whether the column comments is filled.
///     posts: Whether the column posts is filled.
///     noindex: "show", or "hide": pages whose owners want them in no collection are left out.
///     agents: User agents that robots directives may name; dehusk, if it is None.
///     keep: As in SiteModel.clean.
///     favor: As in SiteModel.clean.
///     threads: Number of threads; as many as there are cores, if it is None.
///
/// Raises:
///     ValueError: A column is missing or of another type, or a column of the rows would have more than 2 GB.
///     ImportError: pyarrow is not installed.
#[pyfunction]
#[pyo3(signature = (
    pages, model = None, *, models = None, html = "html", url = "url", with_html = false, comments = false,
    posts = false, noindex = "show", agents = None, keep = "own", favor = "balanced", threads = None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn clean_arrow<'py>(
    py: Python<'py>,
    pages: Pages,
    model: Option<&PySiteModel>,
    models: Option<HashMap<String, Py<PySiteModel>>>,
    html: &str,
    url: &str,
    with_html: bool,
    comments: bool,
    posts: bool,
    noindex: &str,
    agents: Option<Vec<String>>,
    keep: &str,
    favor: &str,
    threads: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    needs_pyarrow(py)?;
    let hides_noindex = match noindex {
        "show" => false,
        "hide" => true,
        _ => return Err(unknown("noindex", noindex, "expected show or hide")),
    };
    Threads::new(threads, 0)?;
    let cleaning = Cleaning {
        model: model.map(PySiteModel::shared),
        models: models.into_iter().flatten().map(|(host, model)| (host, model.get().shared())).collect(),
        options: clean_options(keep, favor)?,
        optional: OptionalColumns { html: with_html, comments, posts },
        hides_noindex,
        agents: agents.unwrap_or_else(our_agent),
    };
    match pages.0 {
        AnyRecordBatch::RecordBatch(pages) => {
            PyRecordBatch::new(cleaning.clean(py, pages.as_ref(), (html, url), threads)?).into_pyarrow(py)
        }
        AnyRecordBatch::Stream(pages) => {
            let (mut rows, pages) = (Vec::new(), pages.into_reader()?);
            // A stream without a batch has columns, too.
            Input::new(&RecordBatch::new_empty(pages.schema()), html, url)?;
            for pages in pages {
                let pages = pages.map_err(|e| PyValueError::new_err(e.to_string()))?;
                rows.push(cleaning.clean(py, &pages, (html, url), threads)?);
            }
            PyTable::try_new(rows, arrow_schema())?.into_pyarrow(py)
        }
    }
}
