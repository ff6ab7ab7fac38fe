//! Why a database could not be used, and what to do about it.

use std::path::PathBuf;

/// Why the database could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite's own error: disk full, locked, no permission.
    #[error("{path}: {reason}{}", advice(reason))]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// SQLite's reason.
        reason: rusqlite::Error,
    },
    /// PostgreSQL's own error, or the network's.
    #[cfg(feature = "postgres")]
    #[error("{path}: {}", super::postgres::advice(reason))]
    Postgres {
        /// Address of the server, without the password.
        path: PathBuf,
        /// The driver's reason.
        reason: Box<tokio_postgres::Error>,
    },
    /// The server has not answered in time.
    #[error("{path}: no answer in time")]
    Unanswered {
        /// Address of the server, without the password.
        path: PathBuf,
    },
    /// The address of a server is wrong.
    #[error("{path}: {reason}; write postgres://user:password@host:5432/database")]
    Address {
        /// The address, without the password.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// This program was built without the driver.
    #[error("this program was built without PostgreSQL; build it with `cargo build --release --features postgres`")]
    NoDriver,
    /// The work of this process was handed to others, because it was not heard of for too long.
    #[error("{path}: this worker was not heard of for longer than store.lease; its sites were given to others")]
    LeaseLost {
        /// Address of the server, without the password.
        path: PathBuf,
    },
    /// Crawls at work lease hosts by another key.
    #[error(
        "{path}: politeness.key is {own}, but the crawls at work on this database have {theirs}; use theirs, or wait"
    )]
    OtherKey {
        /// Address of the server, without the password.
        path: PathBuf,
        /// Ours.
        own: String,
        /// Theirs.
        theirs: String,
    },
    /// What only a file can do.
    #[error("{path}: {what} is for files; {instead}")]
    FilesOnly {
        /// Address of the server, without the password.
        path: PathBuf,
        /// What was wanted.
        what: &'static str,
        /// What does it on a server.
        instead: &'static str,
    },
    /// Written by a later version.
    #[error(
        "{path}: written by another version of dehusk (schema {found}, here {known}); update dehusk, or name another \
         file with --db"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Not one of ours.
    #[error("{path}: not a dehusk database")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// No such file.
    #[error("{path}: no such database; `dehusk crawl` makes one, --db names another")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Another crawl runs on it.
    #[error("{path}: another crawl is running on this database{holder}; wait for it, or name another file with --db")]
    Locked {
        /// The database file.
        path: PathBuf,
        /// Who, as far as is known.
        holder: String,
    },
    /// A file that would be overwritten.
    #[error("{path}: exists already; name another file")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is no unfinished run.
    #[error(
        "{path}: no interrupted run to resume; `dehusk runs list` shows all, `dehusk crawl` without --resume begins one"
    )]
    NothingToResume {
        /// The database file.
        path: PathBuf,
    },
    /// The lock file beside it cannot be made.
    #[error("{path}: {reason}; check the folder and its permissions, or name another file with --db")]
    NoLock {
        /// The lock file.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// The thread that writes it cannot be started.
    #[error("cannot start the thread that writes the database: {0}")]
    NoThread(std::io::Error),
    /// The name of a file cannot be given to the database.
    #[error("{path}: the name is not UTF-8")]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// A stored value cannot be read back.
    #[error("{path}: damaged {what}: {reason}")]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// Which value.
        what: String,
        /// Why.
        reason: String,
    },
}

/// What to do about an error that has a usual cause.
fn advice(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => "; free some space, then run again: what was committed is safe",
        Some(rusqlite::ErrorCode::SystemIoFailure) => {
            "; the disk may be full or failing: see to it, then run again: what was committed is safe"
        }
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "; another program is writing to it"
        }
        Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen) => {
            "; check the folder and its permissions, or name another file with --db"
        }
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            "; move the file away and take a copy (`dehusk backup` makes them), or save what can be read: \
             `sqlite3 FILE .recover | sqlite3 NEW`"
        }
        _ => "",
    }
}
