//! Parquet files: one document a row.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use serde_json::{Map, Value, json};

use dehusk_html::decode;

use super::lines::{FieldName, Fields};

/// Rows whose pages are in memory at a time.
const BATCH: usize = 16;

/// The rows of a file, each as the fields that a document is read from and those that are asked for. Of a damaged row
/// group each row that is lost is an error.
pub(super) struct ParquetRows {
    reader: SerializedFileReader<File>,
    projection: SchemaDescPtr,
    /// The next row group.
    group: usize,
    rows: Option<ReaderIter>,
    /// Rows of the group that are to come.
    n_left: i64,
    /// Those that are lost, and not told yet.
    n_lost: i64,
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
        let named = fields.named.iter().map(FieldName::name).chain(fields.pass.iter().map(String::as_str));
        if let Some(missing) = named.into_iter().find(|name| !names.contains(name)) {
            return Err(anyhow!("no column {missing}; there are: {}", names.join(", ")));
        }
        let has_document = |column: &Arc<Type>| fields.of_document().any(|name| name == column.name());
        anyhow::ensure!(
            read.iter().any(has_document),
            "no column html or text of plain values; --fields html=NAME names one of: {}",
            names.join(", ")
        );
        let projection = Type::group_type_builder(schema.name()).with_fields(read).build()?;
        let projection = Arc::new(SchemaDescriptor::new(Arc::new(projection)));
        Ok(ParquetRows { reader, projection, group: 0, rows: None, n_left: 0, n_lost: 0 })
    }

    /// The next row, over the ends of row groups.
    fn next_row(&mut self) -> anyhow::Result<Option<Row>> {
        loop {
            if let Some(rows) = &mut self.rows {
                let row = caught(|| rows.next().transpose().context("a damaged Parquet file"))?;
                if row.is_some() {
                    return Ok(row);
                }
            }
            if self.group == self.reader.num_row_groups() {
                return Ok(None);
            }
            self.n_left = self.reader.metadata().row_group(self.group).num_rows();
            self.group += 1;
            let (reader, group, projection) = (&self.reader, self.group - 1, Arc::clone(&self.projection));
            self.rows = None;
            let rows = caught(|| {
                Ok(TreeBuilder::new().with_batch_size(BATCH).as_iter(projection, &*reader.get_row_group(group)?)?)
            });
            self.rows = Some(rows.context("a damaged Parquet file")?);
        }
    }
}

/// Damage that the library meets with a panic is an error of the file.
fn caught<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(anyhow!("a damaged Parquet file")))
}

impl Iterator for ParquetRows {
    type Item = anyhow::Result<Map<String, Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.n_lost > 0 {
            self.n_lost -= 1;
            return Some(Err(anyhow!("its row group is damaged")));
        }
        match self.next_row() {
            Ok(row) => {
                self.n_left -= 1;
                let fields = |(name, field): (&String, &Field)| (name.clone(), value(field));
                row.map(|row| Ok(row.get_column_iter().map(fields).collect()))
            }
            Err(error) => {
                // The rest of the group is lost, and the next one may be whole.
                self.rows = None;
                self.n_lost = self.n_left.saturating_sub(1);
                Some(Err(error))
            }
        }
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
