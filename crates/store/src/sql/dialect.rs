//! Where SQLite and PostgreSQL have different words for the same.

use super::Connection;

impl Connection {
    /// A condition: the text `value` is one of those of the parameter `list`, a JSON array of texts.
    pub(crate) fn is_among(&self, value: &str, list: &str) -> String {
        match self {
            Connection::Sqlite(_) => format!("{value} IN (SELECT value FROM json_each({list}))"),
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => {
                format!("{value} IN (SELECT json_array_elements_text(CAST({list} AS JSON)))")
            }
        }
    }

    /// Begins a transaction that writes.
    pub(crate) fn begin_writing(&self) -> &'static str {
        match self {
            Connection::Sqlite(_) => "BEGIN IMMEDIATE",
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => "BEGIN",
        }
    }

    /// A condition: crawls are at work on a row of `runs`. A file has one crawl at a time.
    pub(crate) fn is_worked_on(&self) -> &'static str {
        match self {
            Connection::Sqlite(_) => "FALSE",
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => "EXISTS (SELECT 1 FROM workers WHERE run_id = runs.id AND ended_at IS NULL)",
        }
    }

    /// A query for the bytes that hold something.
    pub(crate) fn used_bytes(&self) -> &'static str {
        match self {
            Connection::Sqlite(_) => {
                "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count,
                pragma_page_size"
            }
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => "SELECT pg_database_size(current_database())",
        }
    }

    /// A condition: the text in a column contains that of a parameter.
    pub(crate) fn contains(&self, column: &str, parameter: &str) -> String {
        match self {
            Connection::Sqlite(_) => format!("instr({column}, {parameter}) > 0"),
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => format!("strpos({column}, {parameter}) > 0"),
        }
    }

    /// A query whether there is a table of this name.
    pub(crate) fn has_table(&self) -> &'static str {
        match self {
            Connection::Sqlite(_) => "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)",
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => "SELECT to_regclass(?1) IS NOT NULL",
        }
    }
}
