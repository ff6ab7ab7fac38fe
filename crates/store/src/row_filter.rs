//! Filters rows by an expression of SQL.

use std::borrow::Cow;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ToSql, params_from_iter};

/// A value of a row, for a [`RowFilter`].
#[derive(Clone, Debug)]
pub enum FilterValue<'a> {
    /// Nothing.
    Null,
    /// Text.
    Text(Cow<'a, str>),
    /// A list, which is a text with commas between its values.
    Texts(&'a [String]),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
}

/// An expression of SQL over the columns of a row: `n_words >= 50 AND language IN ('en', 'de')`.
pub struct RowFilter {
    connection: Connection,
    sql: String,
}

impl RowFilter {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// What is wrong with it, by SQLite.
    pub fn new(expression: &str, columns: &[&str]) -> Result<RowFilter, String> {
        let connection = Connection::open_in_memory().map_err(|e| e.to_string())?;
        // Otherwise a name that is no column, in double quotes, is a text, and passes every row.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false).map_err(|e| e.to_string())?;
        let named: Vec<String> =
            columns.iter().enumerate().map(|(at, name)| format!("?{} AS {name}", at + 1)).collect();
        let sql = format!("SELECT COALESCE(({expression}\n), 0) FROM (SELECT {})", named.join(", "));
        connection.prepare(&sql).map_err(|e| reason(&e))?;
        Ok(RowFilter { connection, sql })
    }

    /// Whether the expression is true for a row. Nothing is as good as false.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression for this row, by SQLite.
    pub fn keeps(&self, values: &[FilterValue<'_>]) -> Result<bool, String> {
        let mut statement = self.connection.prepare_cached(&self.sql).map_err(|e| reason(&e))?;
        let bound: Vec<Box<dyn ToSql + '_>> = values
            .iter()
            .map(|value| -> Box<dyn ToSql + '_> {
                match value {
                    FilterValue::Null => Box::new(None::<i64>),
                    FilterValue::Text(text) => Box::new(text.as_ref()),
                    FilterValue::Texts(texts) => Box::new(texts.join(", ")),
                    FilterValue::Whole(number) => Box::new(*number),
                    FilterValue::Real(number) => Box::new(*number),
                }
            })
            .collect();
        statement.query_row(params_from_iter(bound), |row| row.get(0)).map_err(|e| reason(&e))
    }
}

/// What SQLite says of the expression, without the statement that it is part of.
fn reason(error: &rusqlite::Error) -> String {
    let message = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    };
    message.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_filtered_by_expressions() {
        let filter =
            RowFilter::new("n_words >= 5 AND language IN ('en', 'de') -- why", &["n_words", "language"]).unwrap();
        let keeps = |n, language| filter.keeps(&[FilterValue::Whole(n), language]).unwrap();
        assert!(keeps(5, FilterValue::Text("en".into())));
        assert!(
            !keeps(4, FilterValue::Text("en".into()))
                && !keeps(9, FilterValue::Text("fr".into()))
                && !keeps(9, FilterValue::Null)
        );
        let lists = RowFilter::new("authors LIKE '%Grace%'", &["authors"]).unwrap();
        let authors = ["Ada".to_owned(), "Grace".to_owned()];
        assert!(lists.keeps(&[FilterValue::Texts(&authors)]).unwrap());
        assert!(!lists.keeps(&[FilterValue::Texts(&authors[..1])]).unwrap());
        for (wrong, says) in [("n_wrds > 1", "n_wrds"), ("n_words >", "syntax"), ("1) FROM (SELECT 2", "")] {
            let error = RowFilter::new(wrong, &["n_words", "language"]).map(drop).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
