//! Databases on a PostgreSQL server, which any number of crawls share.
//!
//! `schema.sql` has the tables; the statements are those of a SQLite file (`sql/`). What crawls that share a database
//! need beside that is here: sessions of workers, leases of hosts, transactions that survive a lost connection.

mod address;
mod backend;
mod hosts;
mod seeds;
mod session;
#[cfg(test)]
mod tests;
mod workers;

use std::path::Path;
use std::time::Duration;

use super::sql::{Connection, PostgresConnection, params};
use super::{Backend, Run, RunBackend, Store, StoreError};
use crate::lease_gate::WorkerSession;
use dehusk_settings::Settings;

pub(crate) use backend::SharedBackend;
pub(crate) use session::Session;

pub(crate) use address::{Address, advice, failed};

/// The back end of a crawl over a store, with the session of its worker where others share it.
///
/// # Errors
///
/// [`StoreError`] when the server cannot be reached.
pub fn start_backend(
    store: Store,
    run: Run,
    settings: &Settings,
) -> Result<(Box<dyn Backend>, Option<WorkerSession>), StoreError> {
    let inner = RunBackend::new(store, run, settings);
    let Some(server) = inner.store().server() else { return Ok((Box::new(inner), None)) };
    let session = Session::begin(inner.store(), server, run.id, settings.store.lease, settings.politeness.delay)?;
    inner.store().unlock_runs()?;
    let worker_session = session.worker_session();
    tracing::info!("worker {} of run {}", worker_session.worker, run.id);
    Ok((Box::new(SharedBackend::new(inner, session)), Some(worker_session)))
}

/// The tables.
const TABLES: &str = include_str!("schema.sql");

/// Their version.
const VERSION: i64 = 1;

/// Numbers of the advisory locks of a database.
enum Lock {
    /// Held while the tables are made.
    Schema = 0x6465_6801,
    /// Held while a run is begun and its seeds are read.
    Run = 0x6465_6802,
    /// Shared by transactions that store pages; a reader that needs to know that none is open takes it alone.
    Pages = 0x6465_6803,
    /// Held while old versions of pages are deleted.
    Prune = 0x6465_6804,
}

impl Store {
    pub(super) fn create_on_server(address: &str, zstd_level: i32) -> Result<Store, StoreError> {
        let store = Store::connect_to_server(address, zstd_level)?;
        store.in_transaction(|| {
            store.batch(&format!("SELECT pg_advisory_xact_lock({})", Lock::Schema as i64))?;
            if store.server_version()?.is_none() { store.batch(TABLES) } else { Ok(()) }
        })?;
        store.checked_on_server()
    }

    pub(super) fn open_on_server(address: &str) -> Result<Store, StoreError> {
        Store::connect_to_server(address, 3)?.checked_on_server()
    }

    fn connect_to_server(address: &str, zstd_level: i32) -> Result<Store, StoreError> {
        Store::connect_to_server_at(&Address::parse(address)?, zstd_level)
    }

    fn connect_to_server_at(address: &Address, zstd_level: i32) -> Result<Store, StoreError> {
        let connection = Connection::Postgres(Box::new(PostgresConnection::open(address)?));
        Ok(Store::on(connection, Path::new(address.shown()), zstd_level))
    }

    fn checked_on_server(self) -> Result<Store, StoreError> {
        let path = self.path.clone();
        match self.server_version()? {
            None => Err(StoreError::Missing { path }),
            Some(found) if found > VERSION => Err(StoreError::Newer { path, found, known: VERSION }),
            Some(_) => Ok(self),
        }
    }

    fn server_version(&self) -> Result<Option<i64>, StoreError> {
        if !self.row("SELECT to_regclass('dehusk') IS NOT NULL", params![], |row| row.get(0))? {
            return Ok(None);
        }
        self.find("SELECT version FROM dehusk", params![], |row| row.get(0))
    }

    /// The connection to the server.
    pub(super) fn server(&self) -> Option<&PostgresConnection> {
        match &self.connection {
            Connection::Postgres(connection) => Some(connection),
            Connection::Sqlite(_) => None,
        }
    }

    /// Keeps other crawls from beginning a run, until the crawl is registered. Declares silent workers lost, so that
    /// their run counts as interrupted.
    pub fn lock_runs(&self, delay: Duration) -> Result<(), StoreError> {
        if self.is_shared() {
            let lock = Lock::Run as i64;
            if !self.row("SELECT pg_try_advisory_lock(?1)", params![lock], |row| row.get::<bool>(0))? {
                tracing::info!("another worker begins a run and reads its seeds; waiting for that");
                self.batch(&format!("SELECT pg_advisory_lock({lock})"))?;
            }
            self.reap(delay)?;
            self.agree_on_key()?;
        }
        Ok(())
    }

    /// All crawls at work on a database lease hosts by the same key.
    fn agree_on_key(&self) -> Result<(), StoreError> {
        let own = self.politeness_key.name();
        let sql = "SELECT politeness_key FROM dehusk WHERE politeness_key <> ?1
            AND EXISTS (SELECT 1 FROM workers WHERE ended_at IS NULL)";
        if let Some(theirs) = self.find::<String>(sql, params![own], |row| row.get(0))? {
            let path = self.path.clone();
            return Err(StoreError::OtherKey { path, own: own.to_owned(), theirs });
        }
        self.execute("UPDATE dehusk SET politeness_key = ?1", params![own]).map(drop)
    }

    fn unlock_runs(&self) -> Result<(), StoreError> {
        self.batch(&format!("SELECT pg_advisory_unlock({})", Lock::Run as i64))
    }

    /// Lets other crawls wait that are about to delete old versions.
    pub(super) fn lock_pruning(&self) -> Result<(), StoreError> {
        if self.is_shared() {
            self.batch(&format!("SELECT pg_advisory_xact_lock({})", Lock::Prune as i64))
        } else {
            Ok(())
        }
    }

    /// Waits until no transaction is open that stores pages, so that none can commit a page with a smaller number than
    /// one that is read now.
    pub(super) fn wait_for_pages(&self) -> Result<(), StoreError> {
        if self.server().is_none() {
            return Ok(());
        }
        let lock = Lock::Pages as i64;
        self.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({lock}); COMMIT"))
    }
}
