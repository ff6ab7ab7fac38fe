//! Columns of a record batch, read where they lie.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use dehusk_core::Html;
use dehusk_core::corpus::About;
use dehusk_html::PageUrl;

fn not_text(name: &str, found: &DataType) -> PyErr {
    PyValueError::new_err(format!("column {name} has type {found}; expected string or binary"))
}

/// A column of texts or bytes.
pub(super) struct Texts(ArrayRef);

impl Texts {
    /// The column of this name, if the batch has it.
    pub(super) fn new(batch: &RecordBatch, name: &str) -> PyResult<Option<Texts>> {
        let Some(column) = batch.column_by_name(name) else { return Ok(None) };
        match column.data_type() {
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView => Ok(Some(Texts(ArrayRef::clone(column)))),
            DataType::Dictionary(_, _) | DataType::Null => {
                // Text stays text: as bytes it would be decoded once more.
                let values = match column.data_type() {
                    DataType::Dictionary(_, values) if values.is_string() || values.is_binary() => values.as_ref(),
                    DataType::Null => &DataType::Binary,
                    other => return Err(not_text(name, other)),
                };
                let cast = arrow_cast::cast(column, values);
                cast.map(|column| Some(Texts(column))).map_err(|e| PyValueError::new_err(format!("column {name}: {e}")))
            }
            other => Err(not_text(name, other)),
        }
    }

    /// The value of a row.
    pub(super) fn html(&self, row: usize) -> Option<Html<'_>> {
        if self.0.is_null(row) {
            return None;
        }
        Some(match self.0.data_type() {
            DataType::Utf8 => Html::Text(self.0.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Html::Text(self.0.as_string::<i64>().value(row)),
            DataType::Utf8View => Html::Text(self.0.as_string_view().value(row)),
            DataType::LargeBinary => Html::Bytes(self.0.as_binary::<i64>().value(row)),
            DataType::BinaryView => Html::Bytes(self.0.as_binary_view().value(row)),
            _ => Html::Bytes(self.0.as_binary::<i32>().value(row)),
        })
    }

    /// The value of a row as text; bytes that are not UTF-8 are none.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        match self.html(row)? {
            Html::Text(text) => Some(text),
            Html::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        }
    }
}

/// A column of whole numbers or moments, as 64 bits.
struct Wholes(ArrayRef);

impl Wholes {
    fn new(batch: &RecordBatch, name: &str, kind: &DataType) -> PyResult<Option<Wholes>> {
        let Some(column) = batch.column_by_name(name) else { return Ok(None) };
        let is_moment = matches!(kind, DataType::Timestamp(_, _));
        let found = column.data_type();
        let fits = if is_moment { found.is_temporal() || found.is_string() } else { found.is_integer() };
        if !fits && !found.is_null() {
            let expected = if is_moment { "a timestamp" } else { "whole numbers" };
            return Err(PyValueError::new_err(format!("column {name} has type {found}; expected {expected}")));
        }
        // A value that does not fit is an error, not null.
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let cast = cast_with_options(column, kind, &strict);
        cast.map(|column| Some(Wholes(column))).map_err(|e| PyValueError::new_err(format!("column {name}: {e}")))
    }

    fn get(&self, row: usize) -> Option<i64> {
        if self.0.is_null(row) {
            return None;
        }
        match self.0.data_type() {
            DataType::Timestamp(_, _) => Some(self.0.as_primitive::<TimestampMillisecondType>().value(row)),
            _ => Some(self.0.as_primitive::<Int64Type>().value(row)),
        }
    }
}

/// The columns of the input.
pub(super) struct Input {
    pub(super) html: Texts,
    pub(super) content_type: Option<Texts>,
    pub(super) robots_tags: Option<Texts>,
    url: Option<Texts>,
    host: Option<Texts>,
    digest: Option<Texts>,
    warc: Option<Texts>,
    warc_record: Option<Texts>,
    fetched_at: Option<Wholes>,
    status: Option<Wholes>,
    run: Option<Wholes>,
    state: Option<Texts>,
    model_version: Option<Wholes>,
}

impl Input {
    pub(super) fn new(batch: &RecordBatch, html: &str, url: &str) -> PyResult<Input> {
        let texts = |name| Texts::new(batch, name);
        let wholes = |name| Wholes::new(batch, name, &DataType::Int64);
        let missing = || {
            let names: Vec<&str> = batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
            PyValueError::new_err(format!("no column {html:?}; the batch has {}", names.join(", ")))
        };
        Ok(Input {
            html: texts(html)?.ok_or_else(missing)?,
            content_type: texts("content_type")?,
            robots_tags: texts("robots_tags")?,
            url: texts(url)?,
            host: texts("host")?,
            digest: texts("digest")?,
            warc: texts("warc")?,
            warc_record: texts("warc_record_id")?,
            fetched_at: Wholes::new(
                batch,
                "fetched_at",
                &DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            )?,
            status: wholes("status")?,
            run: wholes("run")?,
            state: texts("state")?,
            model_version: wholes("model_version")?,
        })
    }

    /// What is known of the page of a row. A URL that cannot be read is none.
    pub(super) fn about(&self, row: usize) -> About {
        let text = |column: &Option<Texts>| column.as_ref().and_then(|column| Some(column.text(row)?.to_owned()));
        let whole = |column: &Option<Wholes>| column.as_ref().and_then(|column| column.get(row));
        About {
            url: self.url.as_ref().and_then(|column| PageUrl::parse(column.text(row)?).ok()),
            host: text(&self.host),
            fetched_at: whole(&self.fetched_at),
            status: whole(&self.status).and_then(|status| u16::try_from(status).ok()),
            run: whole(&self.run),
            state: text(&self.state),
            digest: text(&self.digest),
            warc: text(&self.warc),
            warc_record: text(&self.warc_record),
            ..About::default()
        }
    }

    /// The version of the model of a row.
    pub(super) fn model_version(&self, row: usize) -> Option<i64> {
        self.model_version.as_ref().and_then(|column| column.get(row))
    }
}
