//! Rows as a record batch in the schema of `dehusk export`.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, StructBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PySchema;

use dehusk_core::Post;
use dehusk_core::corpus::{ColumnKind, ColumnValue, Record, SOURCES, columns};

/// Bytes that a column of texts can hold.
const MOST_BYTES: usize = i32::MAX as usize;

fn element() -> Field {
    Field::new("element", DataType::Utf8, false)
}

/// The values of a post, and whether one can be missing.
const POST: [(&str, bool); 4] = [("author", true), ("published", true), ("text", false), ("markdown", false)];

fn post_fields() -> Fields {
    POST.iter().map(|(name, is_optional)| Field::new(*name, DataType::Utf8, *is_optional)).collect()
}

fn source_fields() -> Fields {
    SOURCES.into_iter().map(|name| Field::new(name, DataType::Utf8, true)).collect()
}

fn post_element() -> Field {
    Field::new("element", DataType::Struct(post_fields()), false)
}

/// The schema of an export.
pub(super) fn arrow_schema() -> SchemaRef {
    let field = |column: &dehusk_core::corpus::Column| match column.kind {
        ColumnKind::Text => Field::new(column.name, DataType::Utf8, true),
        ColumnKind::Texts => Field::new(column.name, DataType::List(Arc::new(element())), false),
        ColumnKind::Posts => Field::new(column.name, DataType::List(Arc::new(post_element())), false),
        ColumnKind::Whole => Field::new(column.name, DataType::Int64, true),
        ColumnKind::Day => Field::new(column.name, DataType::Date32, true),
        ColumnKind::Sources => Field::new(column.name, DataType::Struct(source_fields()), false),
        ColumnKind::Real => Field::new(column.name, DataType::Float64, true),
        ColumnKind::Truth => Field::new(column.name, DataType::Boolean, true),
        ColumnKind::Time => {
            Field::new(column.name, DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), true)
        }
    };
    Arc::new(Schema::new(columns().iter().map(field).collect::<Vec<_>>()))
}

/// The rows as a batch.
pub(super) fn batch(records: &[Record]) -> PyResult<RecordBatch> {
    let array = |(at, column): (usize, &dehusk_core::corpus::Column)| {
        let values = || records.iter().map(|record| &record.values[at]);
        if values().map(length).sum::<usize>() > MOST_BYTES {
            let what = format!("the column {} would have more than 2 GB; split the batch", column.name);
            return Err(PyValueError::new_err(what));
        }
        Ok(array(column.kind, values()))
    };
    let arrays: Vec<ArrayRef> = columns().iter().enumerate().map(array).collect::<PyResult<_>>()?;
    RecordBatch::try_new(arrow_schema(), arrays).map_err(|e: ArrowError| PyValueError::new_err(e.to_string()))
}

fn length(value: &ColumnValue) -> usize {
    match value {
        ColumnValue::Text(text) => text.as_ref().map_or(0, String::len),
        ColumnValue::Texts(texts) => texts.iter().map(String::len).sum(),
        ColumnValue::Posts(posts) => posts.iter().map(|post| post.text.len() + post.markdown.len()).sum(),
        ColumnValue::Sources(names) => names.iter().flatten().map(|name| name.len()).sum(),
        ColumnValue::Truth(_) => 1,
        ColumnValue::Whole(_) | ColumnValue::Real(_) | ColumnValue::Time(_) | ColumnValue::Day(_) => 8,
    }
}

fn array<'r>(kind: ColumnKind, values: impl Iterator<Item = &'r ColumnValue>) -> ArrayRef {
    let whole = |value: &ColumnValue| match value {
        ColumnValue::Whole(number) | ColumnValue::Time(number) => *number,
        _ => None,
    };
    match kind {
        ColumnKind::Text => {
            let mut texts = StringBuilder::new();
            values.for_each(|value| match value {
                ColumnValue::Text(text) => texts.append_option(text.as_deref()),
                _ => texts.append_null(),
            });
            Arc::new(texts.finish())
        }
        ColumnKind::Texts => {
            let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element());
            values.for_each(|value| {
                if let ColumnValue::Texts(texts) = value {
                    texts.iter().for_each(|text| lists.values().append_value(text));
                }
                lists.append(true);
            });
            Arc::new(lists.finish())
        }
        ColumnKind::Posts => {
            let post = StructBuilder::from_fields(post_fields(), 0);
            let mut lists = ListBuilder::new(post).with_field(post_element());
            values.for_each(|value| {
                if let ColumnValue::Posts(posts) = value {
                    posts.iter().for_each(|post| append_post(lists.values(), post));
                }
                lists.append(true);
            });
            Arc::new(lists.finish())
        }
        ColumnKind::Day => {
            let mut days = Date32Builder::new();
            values.for_each(|value| match value {
                ColumnValue::Day(day) => days.append_option(day.map(|day| day as i32)),
                _ => days.append_null(),
            });
            Arc::new(days.finish())
        }
        ColumnKind::Sources => {
            let mut all = StructBuilder::from_fields(source_fields(), 0);
            values.for_each(|value| {
                let ColumnValue::Sources(names) = value else { return };
                for (at, name) in names.iter().enumerate() {
                    if let Some(texts) = all.field_builder::<StringBuilder>(at) {
                        texts.append_option(*name);
                    }
                }
                all.append(true);
            });
            Arc::new(all.finish())
        }
        ColumnKind::Whole => {
            let mut numbers = Int64Builder::new();
            values.for_each(|value| numbers.append_option(whole(value)));
            Arc::new(numbers.finish())
        }
        ColumnKind::Real => {
            let mut numbers = Float64Builder::new();
            values.for_each(|value| match value {
                ColumnValue::Real(number) => numbers.append_option(*number),
                _ => numbers.append_null(),
            });
            Arc::new(numbers.finish())
        }
        ColumnKind::Truth => {
            let mut truths = BooleanBuilder::new();
            values.for_each(|value| match value {
                ColumnValue::Truth(truth) => truths.append_option(*truth),
                _ => truths.append_null(),
            });
            Arc::new(truths.finish())
        }
        ColumnKind::Time => {
            let mut moments = TimestampMillisecondBuilder::new();
            values.for_each(|value| moments.append_option(whole(value)));
            Arc::new(moments.finish().with_timezone("UTC"))
        }
    }
}

fn append_post(posts: &mut StructBuilder, post: &Post) {
    let values = [post.author.as_deref(), post.published.as_deref(), Some(&*post.text), Some(&*post.markdown)];
    for (at, value) in values.into_iter().enumerate() {
        if let Some(texts) = posts.field_builder::<StringBuilder>(at) {
            texts.append_option(value);
        }
    }
    posts.append(true);
}

/// Says how pyarrow is installed where it is not.
pub(super) fn needs_pyarrow(py: Python<'_>) -> PyResult<()> {
    let missing =
        |_| PyImportError::new_err("pyarrow is not installed: pip install 'dehusk[arrow]', or pip install pyarrow");
    py.import("pyarrow").map(drop).map_err(missing)
}

/// The Arrow schema of rows, as a pyarrow.Schema: that of `dehusk export --format parquet`.
#[pyfunction]
pub(crate) fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    needs_pyarrow(py)?;
    PySchema::new(arrow_schema()).into_pyarrow(py)
}
