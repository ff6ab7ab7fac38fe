//! The expression that chooses rows.

use super::ExportError;
use dehusk_core::calendar::iso_day;
use dehusk_core::corpus::{ColumnValue as Value, Record, columns};
use dehusk_store::{FilterValue, RowFilter};

/// An expression of SQL over the columns; without one all rows are kept.
pub(super) struct Filter(Option<(String, RowFilter)>);

impl Filter {
    pub(super) fn new(expression: Option<&str>) -> Result<Filter, ExportError> {
        let names: Vec<&str> = columns().iter().map(|column| column.name).collect();
        let Some(expression) = expression else { return Ok(Filter(None)) };
        let wrong = |reason| ExportError::Filter { expression: expression.to_owned(), reason };
        let filter = RowFilter::new(expression, &names).map_err(wrong)?;
        Ok(Filter(Some((expression.to_owned(), filter))))
    }

    pub(super) fn keeps(&self, record: &Record) -> Result<bool, ExportError> {
        let Some((expression, filter)) = &self.0 else { return Ok(true) };
        let values: Vec<FilterValue<'_>> = record.values.iter().map(filter_value).collect();
        let wrong = |reason| ExportError::Filter { expression: expression.clone(), reason };
        filter.keeps(&values).map_err(wrong)
    }
}

fn filter_value(value: &Value) -> FilterValue<'_> {
    match value {
        Value::Text(Some(text)) => FilterValue::Text(text.into()),
        Value::Day(Some(day)) => FilterValue::Text(iso_day(*day).into()),
        Value::Sources(_) => FilterValue::Text(value.to_json().to_string().into()),
        Value::Whole(Some(number)) | Value::Time(Some(number)) => FilterValue::Whole(*number),
        Value::Real(Some(number)) => FilterValue::Real(*number),
        Value::Texts(texts) if !texts.is_empty() => FilterValue::Texts(texts),
        _ => FilterValue::Null,
    }
}
