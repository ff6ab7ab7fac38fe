//! Databases that are a file: opened, made, copied, kept for one crawl at a time.

use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::sql::{self, SqliteConnection};
use super::{Store, StoreError, schema};
use dehusk_files::private_file;

impl Store {
    pub(super) fn create_file(path: &Path, zstd_level: i32) -> Result<Store, StoreError> {
        // The pages of strangers and the keys of a crawl are for its owner. SQLite gives the log the same permissions.
        if let Err(reason) = private_file().create(true).truncate(false).open(path)
            && !path.exists()
        {
            tracing::debug!("{}: {reason}", path.display());
        }
        let connection = connect(path, OpenFlags::default())?;
        let failed = |reason| failed(path, reason);
        if !schema::is_newest(&connection).map_err(failed)? {
            // A newer or a foreign file is named as such, also where it is locked.
            schema::may_migrate(&connection).map_err(failed)?.map_err(|refusal| refusal.at(path))?;
            let _others_wait = lock(path, Patience::Short)?;
            schema::migrate(&connection).map_err(failed)?.map_err(|refusal| refusal.at(path))?;
        }
        Ok(Store::on(sql::Connection::Sqlite(SqliteConnection(connection)), path, zstd_level))
    }

    pub(super) fn open_file(path: &Path) -> Result<Store, StoreError> {
        let store = Store::open_file_to_edit(path);
        // A reader of a file with a log beside it makes a shared index, where it may.
        match store {
            Err(StoreError::Sqlite { reason, .. }) if may_not_write(&reason) => Store::open_read_only(path),
            store => store,
        }
    }

    pub(super) fn open_file_to_edit(path: &Path) -> Result<Store, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        connect(path, flags).and_then(|connection| Store::checked(connection, path))
    }

    /// Opens a database in a folder or on a volume that cannot be written.
    fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        match connect(path, flags).and_then(|connection| Store::checked(connection, path)) {
            Err(StoreError::Sqlite { reason, .. }) if may_not_write(&reason) => {}
            store => return store,
        }
        // No shared index can be made. Without a log the file is all there is.
        let log = beside(path, "-wal");
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
        Store::checked(connection.map_err(|reason| failed(path, reason))?, path)
    }

    fn checked(connection: Connection, path: &Path) -> Result<Store, StoreError> {
        let checked = schema::check(&connection).map_err(|reason| failed(path, reason))?;
        checked.map_err(|refusal| refusal.at(path))?;
        Ok(Store::on(sql::Connection::Sqlite(SqliteConnection(connection)), path, 3))
    }

    /// The driver's own connection, for what only a file has. Nothing for a database on a server.
    pub(super) fn file(&self) -> Option<&Connection> {
        match &self.connection {
            sql::Connection::Sqlite(connection) => Some(&connection.0),
            #[cfg(feature = "postgres")]
            sql::Connection::Postgres(_) => None,
        }
    }

    #[cfg(test)]
    pub(super) fn sqlite(&self) -> &Connection {
        self.file().unwrap()
    }

    /// Keeps other crawls off a file until it is closed, or its program ends in whatever way.
    pub(super) fn lock_file(&self) -> Result<(), StoreError> {
        // A store is locked once; a second lock is the same one.
        let _ = self.lock.set(lock(&self.path, Patience::Moment)?);
        Ok(())
    }
}

/// How long a lock is waited for.
#[derive(Clone, Copy, PartialEq)]
enum Patience {
    /// A child that another thread of the holder has forked holds the lock, too, until it runs its program.
    Moment,
    /// As long as a migration of a small file takes.
    Short,
}

/// Locks a database until the file that is returned is closed, or the program ends in whatever way.
fn lock(path: &Path, patience: Patience) -> Result<File, StoreError> {
    let name = beside(path, ".lock");
    let no_lock = |reason| StoreError::NoLock { path: name.clone(), reason };
    let mut file = private_file().read(true).create(true).truncate(false).open(&name).map_err(no_lock)?;
    let tries = if patience == Patience::Short { 40 } else { 5 };
    for left in (0..tries).rev() {
        if file.try_lock().is_ok() {
            let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
            return written.map(|()| file).map_err(no_lock);
        }
        if left > 0 {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    let holder = holder.trim().parse::<u32>().map_or_else(|_| String::new(), |pid| format!(" (process {pid})"));
    Err(StoreError::Locked { path: path.to_owned(), holder })
}

/// The name of a file with something behind it.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.execute_batch(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -4096;
                PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
        )?;
        // A crawl has some forty statements.
        connection.set_prepared_statement_cache_capacity(128);
        // Prepared statements are not planned again for each value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    };
    open().map_err(|reason| failed(path, reason))
}

fn failed(path: &Path, reason: rusqlite::Error) -> StoreError {
    StoreError::Sqlite { path: path.to_owned(), reason }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunRequest;

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
    #[cfg(unix)]
    fn a_new_file_is_for_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.db");
        let store = Store::create(&path, 3).unwrap();
        store.lock_file().unwrap();
        store.begin_run(&RunRequest::default()).unwrap();
        store.back_up(&dir.path().join("copy.db")).unwrap();
        let mut n = 0;
        for file in std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", file.file_name());
            n += 1;
        }
        assert!(n >= 3, "database, lock, copy");
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
