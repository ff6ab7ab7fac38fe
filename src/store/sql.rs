//! The four ways in which the store speaks to SQLite. Statements are prepared once, and errors name the file.

use rusqlite::{OptionalExtension, Params, Row};

use super::{Store, StoreError};

impl Store {
    /// Runs a statement. Returns the number of rows that it changed.
    pub(super) fn execute(&self, sql: &str, values: impl Params) -> Result<usize, StoreError> {
        self.wrap(self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values)))
    }

    /// The one row that a statement gives.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.wrap(self.connection.prepare_cached(sql).and_then(|mut statement| statement.query_row(values, read)))
    }

    /// The first row that a statement gives, if there is one.
    pub(super) fn find<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let found = |mut statement: rusqlite::CachedStatement<'_>| statement.query_row(values, read).optional();
        self.wrap(self.connection.prepare_cached(sql).and_then(found))
    }

    /// All rows that a statement gives.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let found = |mut statement: rusqlite::CachedStatement<'_>| statement.query_map(values, read)?.collect();
        self.wrap(self.connection.prepare_cached(sql).and_then(found))
    }
}
