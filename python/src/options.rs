//! What Python asks for, by the names of crawl.toml.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use dehusk_core::{CleanOptions, Favor, KeepText};

/// A value that is not known.
pub(crate) fn unknown(name: &str, value: &str, expected: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: {value:?} is not known; {expected}"))
}

fn favor(value: &str) -> PyResult<Favor> {
    match value {
        "precision" => Ok(Favor::Precision),
        "balanced" => Ok(Favor::Balanced),
        "recall" => Ok(Favor::Recall),
        _ => Err(unknown("favor", value, "expected precision, balanced or recall")),
    }
}

/// What is kept of a page: the keys `clean.keep` and `clean.favor`.
pub(crate) fn clean_options(keep: &str, favor_name: &str) -> PyResult<CleanOptions> {
    let keep: KeepText = keep.parse().map_err(|expected: String| unknown("keep", keep, &expected))?;
    Ok(CleanOptions { keep, favor: favor(favor_name)?, ..CleanOptions::default() })
}

/// A form in which a cleaned page is written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Output {
    Text,
    Markdown,
    Html,
    Json,
}

impl Output {
    /// The output of a name that was given as this argument.
    pub(crate) fn named(argument: &str, name: &str) -> PyResult<Output> {
        match name {
            // trafilatura's name.
            "text" | "txt" => Ok(Output::Text),
            "markdown" => Ok(Output::Markdown),
            "html" => Ok(Output::Html),
            "json" => Ok(Output::Json),
            _ => Err(unknown(argument, name, "expected text, markdown, html or json")),
        }
    }
}
