//! Tables and their versions.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::StoreError;

/// One script a version; a file of version n needs those from n on. Never edit one that was released.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql")];

/// Marks a file as ours.
const APPLICATION_ID: i64 = 0x6465_6875;

/// Why a file is not opened.
pub(super) enum Refusal {
    Newer(i64),
    Foreign,
}

impl Refusal {
    pub(super) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Refusal::Newer(found) => StoreError::Newer { path, found, known: MIGRATIONS.len() as i64 },
            Refusal::Foreign => StoreError::Foreign { path },
        }
    }
}

/// Is this a file that this program can read as it is?
pub(super) fn check(connection: &Connection) -> rusqlite::Result<Result<(), Refusal>> {
    let (id, version) = marks(connection)?;
    if let Err(refusal) = refuse(id, version) {
        return Ok(Err(refusal));
    }
    Ok(Ok(()))
}

fn refuse(id: i64, version: i64) -> Result<(), Refusal> {
    match version {
        _ if id != APPLICATION_ID => Err(Refusal::Foreign),
        version if version > MIGRATIONS.len() as i64 => Err(Refusal::Newer(version)),
        _ => Ok(()),
    }
}

/// Is this a file that may be brought to the newest version? Asked of one state of the file: another program may make
/// the tables at the same time.
pub(super) fn may_migrate(connection: &Connection) -> rusqlite::Result<Result<(), Refusal>> {
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let answer = may_migrate_now(&snapshot)?;
    snapshot.commit()?;
    Ok(answer)
}

fn may_migrate_now(connection: &Transaction<'_>) -> rusqlite::Result<Result<(), Refusal>> {
    let (id, version) = marks(connection)?;
    let is_empty: bool =
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    Ok(if is_empty { Ok(()) } else { refuse(id, version) })
}

/// Whether a file is ours and of the newest version.
pub(super) fn is_newest(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(marks(connection)? == (APPLICATION_ID, MIGRATIONS.len() as i64))
}

/// Brings a file to the newest version, in one transaction: of two that begin at once, the second finds it done.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<Result<(), Refusal>> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if let Err(refusal) = may_migrate_now(&transaction)? {
        return Ok(Err(refusal));
    }
    let (_, version) = marks(&transaction)?;
    for (at, script) in MIGRATIONS.iter().enumerate().skip(version as usize) {
        let marks = format!("PRAGMA user_version = {}; PRAGMA application_id = {APPLICATION_ID};", at + 1);
        transaction.execute_batch(&format!("{script}; {marks}"))?;
    }
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Ok(Ok(()))
}

fn marks(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((pragma("application_id")?, pragma("user_version")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn two_first_starts_at_once_make_one_file() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("new.db");
            let barrier = std::sync::Barrier::new(3);
            std::thread::scope(|scope| {
                let start = || {
                    barrier.wait();
                    Store::create(&path, 3).map(drop)
                };
                let starts: Vec<_> = (0..3).map(|_| scope.spawn(start)).collect();
                for start in starts {
                    start.join().unwrap().unwrap();
                }
            });
        }
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("newer.sqlite");
        drop(Store::create(&path, 3).unwrap());
        let newer = MIGRATIONS.len() as i64 + 1;
        Connection::open(&path).unwrap().pragma_update(None, "user_version", newer).unwrap();
        let error = Store::open(&path).map(|_| ()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found, .. } if found == newer), "{error}");
    }
}
