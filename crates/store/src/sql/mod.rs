//! How the store speaks to a database: four functions, which run the same statements on SQLite and on PostgreSQL.
//!
//! Statements are written with SQLite's numbered parameters (`?1`) in the part of SQL that both understand. Where the
//! two differ, `dialect.rs` has the words. Statements are prepared once a connection, and errors name the database.

mod dialect;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
mod sqlite;
mod value;

use super::{Store, StoreError};

#[cfg(feature = "postgres")]
pub(crate) use postgres::PostgresConnection;
pub(crate) use row::Row;
pub(crate) use sqlite::SqliteConnection;
pub(crate) use value::{Value, params};

/// An open connection.
pub(crate) enum Connection {
    Sqlite(SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresConnection>),
}

/// Why a statement failed.
#[derive(Debug)]
pub(crate) enum SqlError {
    Sqlite(rusqlite::Error),
    #[cfg(feature = "postgres")]
    Postgres(tokio_postgres::Error),
    /// The server has not answered in time.
    #[cfg(feature = "postgres")]
    Unanswered,
    /// A value is not what it should be.
    Value(String),
}

/// What a statement gives.
pub(crate) type SqlResult<T> = Result<T, SqlError>;

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> SqlError {
        SqlError::Sqlite(error)
    }
}

impl Store {
    /// Runs a statement. Returns the number of rows that it changed.
    pub(super) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize, StoreError> {
        self.wrap(match &self.connection {
            Connection::Sqlite(connection) => connection.execute(sql, values),
            #[cfg(feature = "postgres")]
            Connection::Postgres(connection) => connection.execute(sql, values),
        })
    }

    /// The one row that a statement gives.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> Result<T, StoreError> {
        let none = || SqlError::Value(format!("no row for `{sql}`"));
        self.find(sql, values, read)?.map_or_else(|| self.wrap(Err(none())), Ok)
    }

    /// The first row that a statement gives, if there is one.
    pub(super) fn find<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.rows_upto(1, sql, values, read)?.pop())
    }

    /// All rows that a statement gives.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.rows_upto(usize::MAX, sql, values, read)
    }

    fn rows_upto<T>(
        &self,
        most: usize,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.wrap(match &self.connection {
            Connection::Sqlite(connection) => connection.rows(most, sql, values, read),
            #[cfg(feature = "postgres")]
            Connection::Postgres(connection) => connection.rows(most, sql, values, read),
        })
    }

    /// Runs statements without parameters and results.
    pub(super) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.wrap(match &self.connection {
            Connection::Sqlite(connection) => connection.batch(sql),
            #[cfg(feature = "postgres")]
            Connection::Postgres(connection) => connection.batch(sql),
        })
    }

    /// Begins a transaction that writes. Waits while another program holds a file.
    pub(super) fn begin_writing(&self) -> Result<(), StoreError> {
        loop {
            match self.batch(self.connection.begin_writing()) {
                Err(StoreError::Sqlite { reason, .. })
                    if reason.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) =>
                {
                    tracing::warn!("{}: another program is writing to it, waiting", self.path.display());
                }
                outcome => return outcome,
            }
        }
    }

    /// Runs something in a transaction, which an error undoes.
    pub(super) fn in_transaction<T>(&self, run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.batch("BEGIN")?;
        let outcome = run().and_then(|done| self.batch("COMMIT").map(|()| done));
        if outcome.is_err() {
            // Fails only when there is no transaction any more.
            let _ = self.batch("ROLLBACK");
        }
        outcome
    }
}
