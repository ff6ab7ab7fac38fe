//! Rows and metadata as Python dicts.

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use dehusk_core::calendar::{iso_8601, iso_day};
use dehusk_core::corpus::{ColumnValue, Record, SOURCES, columns as all_columns};
use dehusk_core::{Fact, Metadata, Post};

/// A row as a dict of its columns. Times and days are ISO 8601, as in JSON.
pub(crate) fn row_dict<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (column, value) in all_columns().iter().zip(&record.values) {
        match value {
            ColumnValue::Text(text) => dict.set_item(column.name, text)?,
            ColumnValue::Texts(texts) => dict.set_item(column.name, texts)?,
            ColumnValue::Posts(posts) => {
                let posts = posts.iter().map(|post| post_dict(py, post)).collect::<PyResult<Vec<_>>>()?;
                dict.set_item(column.name, posts)?;
            }
            ColumnValue::Whole(number) => dict.set_item(column.name, number)?,
            ColumnValue::Real(number) => dict.set_item(column.name, number)?,
            ColumnValue::Truth(truth) => dict.set_item(column.name, truth)?,
            ColumnValue::Time(at) => dict.set_item(column.name, at.map(iso_8601))?,
            ColumnValue::Day(day) => dict.set_item(column.name, day.map(iso_day))?,
            ColumnValue::Sources(names) => {
                dict.set_item(column.name, SOURCES.into_iter().zip(*names).into_py_dict(py)?)?
            }
        }
    }
    Ok(dict)
}

/// A post as a dict.
pub(crate) fn post_dict<'py>(py: Python<'py>, post: &Post) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("author", &post.author)?;
    dict.set_item("published", &post.published)?;
    dict.set_item("text", &post.text)?;
    dict.set_item("markdown", &post.markdown)?;
    Ok(dict)
}

/// Metadata as a dict. `sources` is a dict that says where each value comes from.
pub(crate) fn metadata_dict<'py>(py: Python<'py>, metadata: &Metadata) -> PyResult<Bound<'py, PyDict>> {
    let (dict, sources) = (PyDict::new(py), PyDict::new(py));
    let one = |name: &str, fact: &Option<Fact>| {
        if let Some(fact) = fact {
            sources.set_item(name, fact.source.name())?;
        }
        dict.set_item(name, fact.as_ref().map(|fact| &fact.value))
    };
    one("title", &metadata.title)?;
    one("published", &metadata.published)?;
    one("modified", &metadata.modified)?;
    one("language", &metadata.language)?;
    one("site_name", &metadata.site_name)?;
    one("canonical_url", &metadata.canonical_url)?;
    one("description", &metadata.description)?;
    one("image", &metadata.image)?;
    one("licence", &metadata.licence)?;
    one("page_kind", &metadata.kind)?;
    for (name, facts) in [("authors", &metadata.authors), ("tags", &metadata.tags)] {
        if let Some(fact) = facts.first() {
            sources.set_item(name, fact.source.name())?;
        }
        dict.set_item(name, facts.iter().map(|fact| &fact.value).collect::<Vec<_>>())?;
    }
    dict.set_item("sources", sources)?;
    Ok(dict)
}

/// The columns of a row, in order: name, type and meaning. Types are text, texts, posts, whole, real,
/// time, day and sources.
#[pyfunction]
pub(crate) fn columns() -> Vec<(&'static str, &'static str, &'static str)> {
    all_columns().iter().map(|column| (column.name, column.kind.name(), column.doc)).collect()
}
