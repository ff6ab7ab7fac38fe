//! SQLite: runs, sites, templates, pages, visits.
//!
//! One thread owns the writing connection ([`Writer`]); what is sent to it is written in transactions of a fraction
//! of a second, so a crash loses at most that and never tears a row. Reading commands open their own connection.
//! The schema carries a version; an older file is brought forward, a newer one refused with a sentence.

mod schema;
mod runs;
mod sites;
mod sql;
mod collections;
mod strings;
mod urls;
mod pages;
mod templates;
mod writer;
mod backend;
mod bodies;
mod corpus;
mod duplicate_groups;
mod feed;
mod row_filter;
#[cfg(test)]
mod contract;
mod maintenance;
mod model;
mod sqlite_backend;
mod read;
mod recleaning;
mod history;

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use dehusk_core::internals::page_url::PageUrl;
use rusqlite::{Connection, OpenFlags};

pub use backend::{Backend, Counted};
pub use corpus::CorpusQuery;
pub use duplicate_groups::{DuplicateGroups, Group};
pub use feed::FeedRow;
pub use history::{PageNight, RunRow, RunSize, UrlChange};
pub use maintenance::{Forgotten, Pruned};
pub use model::{
    Cleaned, LearnedWrite, NewPage, NextUrlsQuery, PageWrite, Query, RecleanedPage, Reply, SeenWrite, StalePage, Write,
};
pub use pages::{Snapshot, digest, pack, unpack};
pub use read::{PageRow, TemplateRow};
pub use row_filter::{FilterValue, RowFilter};
pub use runs::{NewVisit, Run, RunChoice, RunRequest, SiteOutcome, VisitOutcome};
pub use sites::{PastVisit, Queued, SiteWork, StoredRobots};
pub use sqlite_backend::SqliteBackend;
pub use strings::StringsRow;
pub use urls::{KnownUrl, NewUrl};
pub use writer::{Changes, Writer, WriterError};

/// Number of a site in the database.
pub type SiteId = i64;

/// An open database.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    zstd_level: i32,
    /// Held while a crawl runs.
    lock: std::cell::OnceCell<std::fs::File>,
}

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
    /// Written by a later version.
    #[error("{path}: schema {found} is newer than this program's {known}; please update dehusk")]
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

impl Store {
    /// Opens a database for writing; makes it when there is none.
    pub fn create(path: &Path, zstd_level: i32) -> Result<Store, StoreError> {
        let store = Store::connect(path, OpenFlags::default(), zstd_level)?;
        store.wrap(schema::migrate(&store.connection))?.map_err(|refusal| refusal.at(path))?;
        Ok(store)
    }

    /// Opens an existing database for reading. No permission to write is needed.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let store = Store::open_to_edit(path);
        // A reader of a file with a log beside it makes a shared index, where it may.
        match store {
            Err(StoreError::Sqlite { reason, .. }) if may_not_write(&reason) => Store::open_read_only(path),
            store => store,
        }
    }

    /// Opens an existing database for reading and writing.
    pub fn open_to_edit(path: &Path) -> Result<Store, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        Store::connect(path, flags, 3)?.checked()
    }

    /// Opens a database in a folder or on a volume that cannot be written.
    fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        match Store::connect(path, flags, 3).and_then(Store::checked) {
            Err(StoreError::Sqlite { reason, .. }) if may_not_write(&reason) => {}
            store => return store,
        }
        // No shared index can be made. Without a log the file is all there is.
        let log = PathBuf::from(format!("{}-wal", path.display()));
        if log.metadata().is_ok_and(|log| log.len() > 0) {
            tracing::warn!(
                "{}: read without its log {}, which needs write permission: what the last crawl wrote may be missing",
                path.display(),
                log.display()
            );
        }
        let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let escaped: String = absolute.to_string_lossy().chars().map(escaped_in_uri).collect();
        let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
        let connection = connection.map_err(|reason| StoreError::Sqlite { path: path.to_owned(), reason })?;
        Store { connection, path: path.to_owned(), zstd_level: 3, lock: std::cell::OnceCell::new() }.checked()
    }

    fn checked(self) -> Result<Store, StoreError> {
        self.wrap(schema::check(&self.connection))?.map_err(|refusal| refusal.at(&self.path))?;
        Ok(self)
    }

    /// Copies the database to a new file, in one state, also while a crawl writes it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] when there is such a file, [`StoreError::Sqlite`] when it cannot be written.
    pub fn back_up(&self, to: &Path) -> Result<(), StoreError> {
        if to.exists() {
            return Err(StoreError::Exists { path: to.to_owned() });
        }
        let copied = self.connection.execute("VACUUM INTO ?1", [to.to_string_lossy()]);
        copied.map(drop).map_err(|reason| StoreError::Sqlite { path: to.to_owned(), reason })
    }

    /// Keeps other crawls off this database until it is closed, or its program ends in whatever way.
    pub fn lock(&self) -> Result<(), StoreError> {
        let path = PathBuf::from(format!("{}.lock", self.path.display()));
        let no_lock = |reason| StoreError::NoLock { path: path.clone(), reason };
        let mut file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(no_lock)?;
        if file.try_lock().is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().parse::<u32>().map_or_else(|_| String::new(), |pid| format!(" (process {pid})"));
            return Err(StoreError::Locked { path: self.path.clone(), holder });
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(no_lock)?;
        // A store is locked once; a second lock is the same one.
        let _ = self.lock.set(file);
        Ok(())
    }

    fn connect(path: &Path, flags: OpenFlags, zstd_level: i32) -> Result<Store, StoreError> {
        let open = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(std::time::Duration::from_secs(10))?;
            connection.execute_batch(
                "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384;
                    PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
            )?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => {
                let lock = std::cell::OnceCell::new();
                Ok(Store { connection, path: path.to_owned(), zstd_level, lock })
            }
            Err(reason) => Err(StoreError::Sqlite { path: path.to_owned(), reason }),
        }
    }

    /// Names the file in an error of SQLite.
    fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|reason| StoreError::Sqlite { path: self.path.clone(), reason })
    }

    fn damaged(&self, what: impl Into<String>, reason: &dyn std::fmt::Display) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into(), reason: reason.to_string() }
    }

    fn compress(&self, bytes: &[u8]) -> Vec<u8> {
        pack(bytes, self.zstd_level)
    }

    fn decompress(&self, what: &str, bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        unpack(bytes).map_err(|e| self.damaged(what, &e))
    }
}

/// A URL in a row. One that does not parse was written by something else than this program.
fn url_at(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<PageUrl> {
    let text: String = row.get(column)?;
    let damaged = |e| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(e));
    PageUrl::parse(&text).map_err(damaged)
}

/// Now, Unix milliseconds.
fn unix_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// Whether an error is one of permissions.
fn may_not_write(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(error.sqlite_error_code(), Some(ReadOnly | CannotOpen | PermissionDenied))
}

/// Characters that mean something in a `file:` URI.
fn escaped_in_uri(c: char) -> String {
    match c {
        '%' => "%25".to_owned(),
        '?' => "%3f".to_owned(),
        '#' => "%23".to_owned(),
        c => c.to_string(),
    }
}

/// What to do about an error that has a usual cause.
fn advice(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => "; free some space, then run again: what was committed is safe",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_without_permission_to_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a #%?.db");
        let store = Store::create(&path, 3).unwrap();
        store.begin_run(&RunRequest::default()).unwrap();
        let copy = dir.path().join("copy.db");
        store.back_up(&copy).unwrap();
        assert!(matches!(store.back_up(&copy), Err(StoreError::Exists { .. })));
        drop(store);
        for path in [&path, &copy] {
            assert_eq!(Store::open_read_only(path).unwrap().list_runs(9).unwrap().len(), 1);
        }
        // As on a volume that cannot be written: no shared index, the file alone.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let escaped: String = path.to_string_lossy().chars().map(escaped_in_uri).collect();
        let uri = format!("file:{escaped}?immutable=1");
        let connection = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).unwrap();
        assert_eq!(connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)), Ok(1));
    }

    #[test]
    fn a_newer_or_foreign_file_is_refused_and_a_missing_one_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        drop(Store::create(&path, 3).unwrap());
        drop(Store::create(&path, 3).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Store::create(&path, 3), Err(StoreError::Newer { found: 99, .. })));
        assert!(matches!(Store::open(&path), Err(StoreError::Newer { .. })));
        assert!(matches!(Store::open(&dir.path().join("none.db")), Err(StoreError::Missing { .. })));
        let other = dir.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        assert!(matches!(Store::create(&other, 3), Err(StoreError::Foreign { .. })));
        std::fs::write(dir.path().join("text.db"), "this is no database at all, but text").unwrap();
        assert!(Store::create(&dir.path().join("text.db"), 3).is_err());
        assert!(Store::create(&dir.path().join("no/such/folder.db"), 3).err().unwrap().to_string().contains("--db"));
    }
}
