//! A connection to SQLite.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params_from_iter};

use super::{Row, SqlResult, Value};

/// A connection to a file.
pub(crate) struct SqliteConnection(pub(crate) rusqlite::Connection);

impl SqliteConnection {
    pub(super) fn execute(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize> {
        Ok(self.0.prepare_cached(sql)?.execute(params_from_iter(values))?)
    }

    pub(super) fn rows<T>(
        &self,
        most: usize,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while found.len() < most
            && let Some(row) = rows.next()?
        {
            found.push(read(&Row::Sqlite(row))?);
        }
        Ok(found)
    }

    pub(super) fn batch(&self, sql: &str) -> SqlResult<()> {
        Ok(self.0.execute_batch(sql)?)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Whole(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Truth(truth) => ValueRef::Integer(i64::from(*truth)),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            #[cfg(feature = "postgres")]
            Value::Wholes(_) | Value::Texts(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no lists".into()));
            }
        }))
    }
}
