//! Rows that a statement gives, and the types of their columns.

#[cfg(feature = "postgres")]
use super::SqlError;
use super::SqlResult;

/// A row of either database.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    #[cfg(feature = "postgres")]
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The value of a column, by its number from 0.
    pub(crate) fn get<T: Column>(&self, column: usize) -> SqlResult<T> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
            #[cfg(feature = "postgres")]
            Row::Postgres(row) => T::of_postgres(row, column),
        }
    }
}

/// A type of values.
pub(crate) trait Column: rusqlite::types::FromSql {
    #[cfg(feature = "postgres")]
    fn of_postgres(row: &tokio_postgres::Row, column: usize) -> SqlResult<Self> {
        let null = || SqlError::Value(format!("column {column} is NULL"));
        Self::found(row, column)?.ok_or_else(null)
    }

    /// The value; `None` for NULL.
    #[cfg(feature = "postgres")]
    fn found(row: &tokio_postgres::Row, column: usize) -> SqlResult<Option<Self>>;
}

impl<T: Column> Column for Option<T> {
    #[cfg(feature = "postgres")]
    fn of_postgres(row: &tokio_postgres::Row, column: usize) -> SqlResult<Self> {
        T::found(row, column)
    }

    #[cfg(feature = "postgres")]
    fn found(row: &tokio_postgres::Row, column: usize) -> SqlResult<Option<Self>> {
        T::found(row, column).map(Some)
    }
}

macro_rules! columns {
    ($($of:ty as $stored:ty: $read:expr),+ $(,)?) => {$(
        impl Column for $of {
            #[cfg(feature = "postgres")]
            fn found(row: &tokio_postgres::Row, column: usize) -> SqlResult<Option<Self>> {
                let stored: Option<$stored> = row.try_get(column).map_err(SqlError::Postgres)?;
                let read: fn($stored) -> Option<$of> = $read;
                let wrong = || SqlError::Value(format!("column {column} is out of range"));
                stored.map(|stored| read(stored).ok_or_else(wrong)).transpose()
            }
        }
    )+};
}

columns! {
    i64 as super::postgres::Whole: |stored| Some(stored.0),
    u32 as super::postgres::Whole: |stored| stored.0.try_into().ok(),
    u16 as super::postgres::Whole: |stored| stored.0.try_into().ok(),
    bool as super::postgres::Whole: |stored| Some(stored.0 != 0),
    f64 as f64: Some,
    String as String: Some,
    Vec<u8> as Vec<u8>: Some,
}
