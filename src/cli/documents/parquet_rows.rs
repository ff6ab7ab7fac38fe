//! Parquet files: one document a row.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use serde_json::{Map, Value, json};

use dehusk_html::decode;

use super::lines::Fields;

/// Rows whose pages are in memory at a time.
const BATCH: usize = 16;

/// The rows of a file, each as the fields that a document is read from and those that are asked for.
pub(super) struct ParquetRows {
    rows: RowIter<'static>,
    is_over: bool,
}

impl ParquetRows {
    pub(super) fn open(file: File, fields: Fields<'_>) -> anyhow::Result<ParquetRows> {
        let reader = caught(|| Ok(SerializedFileReader::new(file)?))?;
        let schema = reader.metadata().file_metadata().schema();
        // A column with a structure of its own is read only where it is passed through.
        let is_read = |column: &Arc<Type>| {
            let is_passed = fields.pass.iter().any(|asked| asked == column.name());
            is_passed || column.is_primitive() && fields.all().any(|known| known == column.name())
        };
        let read: Vec<Arc<Type>> = schema.get_fields().iter().filter(|column| is_read(column)).cloned().collect();
        let names: Vec<&str> = schema.get_fields().iter().map(|column| column.name()).collect();
        let has_document = |column: &Arc<Type>| fields.of_document().any(|name| name == column.name());
        anyhow::ensure!(
            read.iter().any(has_document),
            "no column html or text; --fields html=NAME names one of: {}",
            names.join(", ")
        );
        let projection = Type::group_type_builder(schema.name()).with_fields(read).build()?;
        let rows = caught(|| Ok(RowIter::from_file_into(Box::new(reader)).project(Some(projection))?))?;
        Ok(ParquetRows { rows: rows.with_batch_size(BATCH), is_over: false })
    }
}

/// Damage that the library meets with a panic is an error of the file.
fn caught<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(anyhow!("a damaged Parquet file")))
}

impl Iterator for ParquetRows {
    type Item = anyhow::Result<Map<String, Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let row = caught(|| self.rows.next().transpose().context("a damaged Parquet file"));
        let row = row.transpose()?;
        self.is_over = row.is_err();
        let fields = |(name, field): (&String, &Field)| (name.clone(), value(field));
        Some(row.map(|row| row.get_column_iter().map(fields).collect()))
    }
}

/// A field as JSON. Bytes are text in an encoding that they name.
fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => json!(value),
        Field::Byte(value) => json!(value),
        Field::Short(value) => json!(value),
        Field::Int(value) => json!(value),
        Field::Long(value) => json!(value),
        Field::UByte(value) => json!(value),
        Field::UShort(value) => json!(value),
        Field::UInt(value) => json!(value),
        Field::ULong(value) => json!(value),
        Field::Float(value) => json!(value),
        Field::Double(value) => json!(value),
        Field::Str(text) => json!(text),
        Field::Bytes(bytes) => json!(decode(bytes.data(), None).0),
        Field::Group(row) => row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect(),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        // Dates, times and decimals as they are printed.
        other => json!(other.to_string()),
    }
}
