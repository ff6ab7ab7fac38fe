//! Parquet files, packed with zstd: one row group for each few megabytes, so that memory does not grow with the file.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::sink::{Raw, Sink};
use dehusk_core::Post;
use dehusk_core::corpus::{ColumnKind as Kind, ColumnValue as Value, Record, SCHEMA, SOURCES, columns};

/// Bytes of rows that are kept until they are written as a row group.
const GROUP_BYTES: u64 = 32_000_000;

/// Rows of a row group.
const GROUP_ROWS: usize = 20_000;

/// The values of a post, and whether one can be missing.
const POST: [(&str, bool); 4] = [("author", true), ("published", true), ("text", false), ("markdown", false)];

pub(super) struct Parquet {
    out: SerializedFileWriter<File>,
    rows: Vec<Record>,
    pending: u64,
    size: u64,
}

impl Parquet {
    pub(super) fn create(path: &Path) -> io::Result<Parquet> {
        let level = ZstdLevel::try_new(6).map_err(error)?;
        let version = KeyValue::new("dehusk.schema".to_owned(), SCHEMA.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(format!("dehusk {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let fields = columns().iter().map(|column| field(column.name, column.kind)).collect::<Result<Vec<_>, _>>();
        let schema = Type::group_type_builder("schema").with_fields(fields.map_err(error)?).build().map_err(error)?;
        let out = SerializedFileWriter::new(File::create(path)?, Arc::new(schema), Arc::new(properties));
        Ok(Parquet { out: out.map_err(error)?, rows: Vec::new(), pending: 0, size: 0 })
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        self.pending = 0;
        let mut group = self.out.next_row_group().map_err(error)?;
        for (at, column) in columns().iter().enumerate() {
            for leaf in 0..n_leaves(column.kind) {
                let out = group.next_column().map_err(error)?;
                let Some(out) = out else { return Err(io::Error::other("the Parquet schema has too few columns")) };
                write_leaf(out, leaf, rows.iter().map(|row| &row.values[at])).map_err(error)?;
            }
        }
        group.close().map_err(error).map(drop)
    }
}

impl Sink for Parquet {
    fn push(&mut self, record: &Record, _: &Raw) -> io::Result<()> {
        let bytes: usize = record.values.iter().map(length).sum();
        self.size += bytes as u64;
        self.pending += bytes as u64;
        self.rows.push(record.clone());
        if self.pending >= GROUP_BYTES || self.rows.len() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.write_group()?;
        self.out.finish().map_err(error)?;
        self.out.inner().sync_all()
    }
}

fn error(e: ParquetError) -> io::Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        e => io::Error::other(e),
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.as_ref().map_or(0, String::len) + 1,
        Value::Texts(texts) => texts.iter().map(|text| text.len() + 1).sum(),
        Value::Posts(posts) => posts.iter().map(|post| post.text.len() + post.markdown.len() + 16).sum(),
        Value::Sources(names) => names.iter().flatten().map(|name| name.len()).sum(),
        Value::Truth(_) => 1,
        Value::Whole(_) | Value::Real(_) | Value::Time(_) | Value::Day(_) => 8,
    }
}

fn field(name: &str, kind: Kind) -> Result<Arc<Type>, ParquetError> {
    let primitive = |name: &str, physical, logical, repetition| {
        let builder = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        builder.with_repetition(repetition).build().map(Arc::new)
    };
    let optional = Repetition::OPTIONAL;
    let moment = LogicalType::timestamp(true, TimeUnit::MILLIS);
    match kind {
        Kind::Text => primitive(name, Physical::BYTE_ARRAY, Some(LogicalType::String), optional),
        Kind::Whole => primitive(name, Physical::INT64, None, optional),
        Kind::Real => primitive(name, Physical::DOUBLE, None, optional),
        Kind::Truth => primitive(name, Physical::BOOLEAN, None, optional),
        Kind::Time => primitive(name, Physical::INT64, Some(moment), optional),
        Kind::Day => primitive(name, Physical::INT32, Some(LogicalType::Date), optional),
        Kind::Sources => {
            let text =
                |name: &str| primitive(name, Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL);
            let names = SOURCES.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
            let group = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
            group.with_fields(names).build().map(Arc::new)
        }
        Kind::Texts => {
            let element = primitive("element", Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)?;
            list(name, element)
        }
        Kind::Posts => {
            let text = |(name, is_optional): (&str, bool)| {
                let repetition = if is_optional { optional } else { Repetition::REQUIRED };
                primitive(name, Physical::BYTE_ARRAY, Some(LogicalType::String), repetition)
            };
            let values = POST.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
            let element = Type::group_type_builder("element").with_repetition(Repetition::REQUIRED);
            list(name, Arc::new(element.with_fields(values).build()?))
        }
    }
}

/// A list in three levels, as the format describes it.
fn list(name: &str, element: Arc<Type>) -> Result<Arc<Type>, ParquetError> {
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(vec![element]);
    let group = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
    group.with_logical_type(Some(LogicalType::List)).with_fields(vec![Arc::new(list.build()?)]).build().map(Arc::new)
}

/// The columns of the file that hold a column of rows.
fn n_leaves(kind: Kind) -> usize {
    match kind {
        Kind::Posts => POST.len(),
        Kind::Sources => SOURCES.len(),
        _ => 1,
    }
}

/// A value of a post, by its place in [`POST`].
fn value_of_post(post: &Post, at: usize) -> Option<&str> {
    [post.author.as_deref(), post.published.as_deref(), Some(post.text.as_str()), Some(post.markdown.as_str())][at]
}

/// Writes a column of the file.
fn write_leaf<'r>(
    mut column: SerializedColumnWriter<'_>,
    leaf: usize,
    values: impl Iterator<Item = &'r Value>,
) -> Result<(), ParquetError> {
    let mut texts = Vec::new();
    let mut wholes = Vec::new();
    let mut days = Vec::new();
    let (mut reals, mut truths) = (Vec::new(), Vec::new());
    let (mut levels, mut repeats) = (Vec::new(), Vec::new());
    for value in values {
        let bytes = |text: &str| ByteArray::from(text.as_bytes().to_vec());
        match value {
            Value::Text(text) => {
                levels.push(i16::from(text.is_some()));
                texts.extend(text.as_deref().map(bytes));
            }
            Value::Texts(list) => {
                levels.push(i16::from(!list.is_empty()));
                levels.extend(list.iter().skip(1).map(|_| 1));
                repeats.push(0);
                repeats.extend(list.iter().skip(1).map(|_| 1));
                texts.extend(list.iter().map(|text| bytes(text)));
            }
            Value::Posts(posts) => {
                if posts.is_empty() {
                    levels.push(0);
                    repeats.push(0);
                }
                for (at, post) in posts.iter().enumerate() {
                    let text = value_of_post(post, leaf);
                    let is_optional = POST[leaf].1;
                    levels.push(1 + i16::from(is_optional && text.is_some()));
                    repeats.push(i16::from(at > 0));
                    texts.extend(text.map(bytes));
                }
            }
            Value::Whole(number) | Value::Time(number) => {
                levels.push(i16::from(number.is_some()));
                wholes.extend(*number);
            }
            Value::Day(day) => {
                levels.push(i16::from(day.is_some()));
                days.extend(day.map(|day| day as i32));
            }
            Value::Sources(names) => {
                levels.push(i16::from(names[leaf].is_some()));
                texts.extend(names[leaf].map(bytes));
            }
            Value::Real(number) => {
                levels.push(i16::from(number.is_some()));
                reals.extend(*number);
            }
            Value::Truth(truth) => {
                levels.push(i16::from(truth.is_some()));
                truths.extend(*truth);
            }
        }
    }
    let repeats = (!repeats.is_empty()).then_some(repeats.as_slice());
    match column.untyped() {
        ColumnWriter::ByteArrayColumnWriter(out) => out.write_batch(&texts, Some(&levels), repeats)?,
        ColumnWriter::BoolColumnWriter(out) => out.write_batch(&truths, Some(&levels), None)?,
        ColumnWriter::Int32ColumnWriter(out) => out.write_batch(&days, Some(&levels), None)?,
        ColumnWriter::Int64ColumnWriter(out) => out.write_batch(&wholes, Some(&levels), None)?,
        ColumnWriter::DoubleColumnWriter(out) => out.write_batch(&reals, Some(&levels), None)?,
        _ => return Err(ParquetError::General("a column of another type".to_owned())),
    };
    column.close()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    fn record(posts: Vec<Post>) -> Record {
        let value = |kind| match kind {
            Kind::Text => Value::Text(None),
            Kind::Texts => Value::Texts(Vec::new()),
            Kind::Posts => Value::Posts(posts.clone()),
            Kind::Whole => Value::Whole(None),
            Kind::Real => Value::Real(None),
            Kind::Truth => Value::Truth(None),
            Kind::Time => Value::Time(None),
            Kind::Day => Value::Day(None),
            Kind::Sources => Value::Sources([None; SOURCES.len()]),
        };
        Record { values: columns().iter().map(|column| value(column.kind)).collect() }
    }

    #[test]
    fn posts_are_read_back() {
        let post = |author: Option<&str>, text: &str| Post {
            author: author.map(str::to_owned),
            published: None,
            text: text.to_owned(),
            markdown: String::new(),
        };
        let rows =
            [Vec::new(), vec![post(Some("Ann"), "Rye"), post(None, "Oats")], vec![post(None, "Corn")], Vec::new()];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.parquet");
        let mut file = Parquet::create(&path).unwrap();
        file.rows = rows.iter().cloned().map(record).collect();
        Box::new(file).finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let text = |field: &Field| match field {
            Field::Str(text) => text.clone(),
            Field::Null => "-".to_owned(),
            other => panic!("{other:?}"),
        };
        let posts = |row: parquet::record::Row| {
            let list = row.get_column_iter().find(|(name, _)| *name == "posts").map(|(_, field)| field.clone());
            let Some(Field::ListInternal(list)) = list else { panic!("{list:?}") };
            let elements = list.elements().iter().map(|element| match element {
                Field::Group(post) => {
                    post.get_column_iter().map(|(_, field)| text(field)).collect::<Vec<_>>().join("|")
                }
                other => panic!("{other:?}"),
            });
            elements.collect::<Vec<_>>()
        };
        let read: Vec<Vec<String>> = reader.get_row_iter(None).unwrap().map(|row| posts(row.unwrap())).collect();
        assert_eq!(
            read,
            [vec![], vec!["Ann|-|Rye|".to_owned(), "-|-|Oats|".to_owned()], vec!["-|-|Corn|".to_owned()], vec![]]
        );
    }
}
