//! What chooses rows: an expression, and the rights of owners.

use super::ExportError;
use dehusk_core::calendar::iso_day;
use dehusk_core::corpus::{ColumnValue as Value, Record, columns};
use dehusk_core::rights::{Use, Verdict};
use dehusk_store::{FilterValue, RowFilter};

/// Which rows are kept.
pub(super) struct Filter {
    /// A use that owners must not deny.
    rights: Option<Use>,
    /// An expression of SQL over the columns that must be true.
    expression: Option<(String, RowFilter)>,
}

impl Filter {
    pub(super) fn new(expression: Option<&str>, rights: Option<Use>) -> Result<Filter, ExportError> {
        let names: Vec<&str> = columns().iter().map(|column| column.name).collect();
        let Some(expression) = expression else { return Ok(Filter { rights, expression: None }) };
        let wrong = |reason| ExportError::Filter { expression: expression.to_owned(), reason };
        let filter = RowFilter::new(expression, &names).map_err(wrong)?;
        Ok(Filter { rights, expression: Some((expression.to_owned(), filter)) })
    }

    /// Why a row is left out; `None`: it is kept.
    pub(super) fn refusal(&self, record: &Record) -> Result<Option<&'static str>, ExportError> {
        let denied = |of: Use| record.text(&format!("rights_{}", of.name())) == Some(Verdict::Deny.name());
        if self.rights.is_some_and(denied) {
            return Ok(Some("rights"));
        }
        let Some((expression, filter)) = &self.expression else { return Ok(None) };
        let values: Vec<FilterValue<'_>> = record.values.iter().map(filter_value).collect();
        let wrong = |reason| ExportError::Filter { expression: expression.clone(), reason };
        Ok((!filter.keeps(&values).map_err(wrong)?).then_some("where"))
    }
}

fn filter_value(value: &Value) -> FilterValue<'_> {
    match value {
        Value::Text(Some(text)) => FilterValue::Text(text.into()),
        Value::Day(Some(day)) => FilterValue::Text(iso_day(*day).into()),
        Value::Sources(_) => FilterValue::Text(value.to_json().to_string().into()),
        Value::Whole(Some(number)) | Value::Time(Some(number)) => FilterValue::Whole(*number),
        Value::Real(Some(number)) => FilterValue::Real(*number),
        Value::Truth(Some(truth)) => FilterValue::Whole(i64::from(*truth)),
        Value::Texts(texts) if !texts.is_empty() => FilterValue::Texts(texts),
        _ => FilterValue::Null,
    }
}
