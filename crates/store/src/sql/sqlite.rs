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
        // Outside of a transaction, what a statement writes is committed by its last step. If it is not stepped to its
        // end, the error of that commit is lost, and with it the row.
        let is_written = !statement.readonly();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while (found.len() < most || is_written)
            && let Some(row) = rows.next()?
        {
            if found.len() < most {
                found.push(read(&Row::Sqlite(row))?);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_not_committed_is_an_error() {
        let connection = SqliteConnection(rusqlite::Connection::open_in_memory().unwrap());
        connection
            .batch(
                "PRAGMA foreign_keys = ON; CREATE TABLE sites (id INTEGER PRIMARY KEY);
                CREATE TABLE pages (site INTEGER REFERENCES sites DEFERRABLE INITIALLY DEFERRED);",
            )
            .unwrap();
        let first = |sql: &str| connection.rows(1, sql, &[], |row| row.get::<i64>(0));
        // The first step gives the row; the second one commits, which the missing site prevents.
        let refused = first("INSERT INTO pages VALUES (5) RETURNING site").unwrap_err();
        assert!(format!("{refused:?}").contains("FOREIGN KEY"), "{refused:?}");
        assert_eq!(first("INSERT INTO sites VALUES (5) RETURNING id").unwrap(), [5]);
        assert_eq!(first("SELECT id FROM sites UNION ALL SELECT 6").unwrap(), [5], "no more rows than were asked for");
    }
}
