//! The database: runs, sites, templates, pages, visits. A SQLite file, or with the feature `postgres` a database on a
//! PostgreSQL server that many crawls share.
//!
//! One thread owns the writing connection of a crawl ([`Writer`]); what is sent to it is written in transactions of a
//! fraction of a second, so a crash loses at most that and never tears a row. Reading commands open their own
//! connection. The schema carries a version; an older file is brought forward, a newer one refused with a sentence.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod schema;
pub mod lease_gate;
pub mod politeness_key;
pub mod reason;
pub mod revisit;
mod rights;
mod robots;
mod runs;
pub mod seed;
mod seeds;
mod changing_parts;
mod site_runs;
mod queueing;
mod site_moves;
mod sites;
mod sql;
mod states;
mod clock;
mod collections;
mod strings;
mod urls;
pub mod validators;
mod packing;
mod pages;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
mod no_postgres;
mod templates;
mod training_bodies;
mod writer;
mod backend;
mod bodies;
mod corpus;
mod diff;
mod duplicate_groups;
mod error;
mod feed;
mod forget;
mod row_filter;
#[cfg(test)]
mod contract;
mod maintenance;
mod model;
mod sqlite;
mod run_backend;
mod read;
mod recleaning;
mod history;
mod inspect;
mod interrupt;
mod search;

use std::path::{Path, PathBuf};

use dehusk_html::PageUrl;

use sql::{Connection, Row, SqlError, SqlResult};

use dehusk_files::private_file;
use dehusk_settings::PolitenessScope;

pub use backend::{Backend, Counted};
pub use corpus::CorpusQuery;
pub use diff::UrlChange;
pub use duplicate_groups::{DuplicateGroups, Group};
pub use error::StoreError;
pub use feed::FeedRow;
pub use forget::{Forgotten, host_hash, is_kept_out};
pub use history::{PageNight, RunRow, RunSize};
pub use inspect::{GapCount, RequestFailures, RequestRate, SiteListing, SiteQuery};
pub use interrupt::Interrupt;
pub use maintenance::Pruned;
pub use model::{
    Cleaned, ConfirmedPage, Doubt, HostLease, HostRelease, LabeledBy, LastText, LearnedWrite, NewPage, NextUrlsQuery,
    PageWrite, Query, RecleanedPage, Reply, SeenWrite, StalePage, StalePages, WorkerRow, Write,
};
#[cfg(not(feature = "postgres"))]
pub use no_postgres::start_backend;
pub use packing::{Packer, digest, pack, unpack};
pub use pages::{PackedPage, Snapshot};
#[cfg(feature = "postgres")]
pub use postgres::start_backend;
#[cfg(all(test, feature = "postgres"))]
use postgres::{Session, SharedBackend};
pub use queueing::Queued;
pub use read::{PageRow, TemplateRow};
pub use rights::RightsOfRun;
pub use robots::StoredRobots;
pub use row_filter::{FilterValue, RowFilter};
pub use run_backend::RunBackend;
pub use runs::{NewVisit, Run, RunChoice, RunRequest, SiteOutcome, VisitOutcome};
pub use search::{Hit, IndexedPage, SearchIndex, search_file};
pub use seeds::SeedRow;
pub use site_runs::{SiteNight, StatusCount};
pub use sites::{PastVisit, SiteWork};
pub use states::TurnedPage;
pub use strings::{StringsRow, feeds_source};
pub use training_bodies::TemplateWithBodies;
pub use urls::{KnownUrl, NewUrl};
pub use writer::{Changes, Writer, WriterError};

/// Number of a site in the database.
pub type SiteId = i64;

/// An open database.
pub struct Store {
    connection: Connection,
    /// The file, or the address of the server.
    path: PathBuf,
    zstd_level: i32,
    /// Held while a crawl runs.
    lock: std::cell::OnceCell<std::fs::File>,
    /// What hosts of a shared store are leased by.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code))]
    politeness_key: PolitenessScope,
}

impl Store {
    /// Opens a database for writing; makes it when there is none. `place` is a file, or the address of a PostgreSQL
    /// server (`postgres://user:password@host/database`).
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it cannot be made, is of a later version or not one of ours.
    pub fn create(place: &Path, zstd_level: i32) -> Result<Store, StoreError> {
        match address(place) {
            Some(address) => Store::create_on_server(address, zstd_level),
            None => Store::create_file(place, zstd_level),
        }
    }

    /// Opens an existing database for reading. No permission to write is needed.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when there is none, or it cannot be read.
    pub fn open(place: &Path) -> Result<Store, StoreError> {
        match address(place) {
            Some(address) => Store::open_on_server(address),
            None => Store::open_file(place),
        }
    }

    /// Opens an existing database for reading and writing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when there is none, or it cannot be used.
    pub fn open_to_edit(place: &Path) -> Result<Store, StoreError> {
        match address(place) {
            Some(address) => Store::open_on_server(address),
            None => Store::open_file_to_edit(place),
        }
    }

    /// Keeps other crawls off this database until it is closed, or its program ends in whatever way. Crawls share a
    /// database on a server.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] when another crawl runs.
    pub fn lock(&self) -> Result<(), StoreError> {
        if self.is_shared() { Ok(()) } else { self.lock_file() }
    }

    /// Whether several crawls may work on this database at once.
    pub fn is_shared(&self) -> bool {
        !matches!(self.connection, Connection::Sqlite(_))
    }

    /// Copies the database to a new file, in one state, also while a crawl writes it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] when there is such a file, [`StoreError::FilesOnly`] for a database on a server.
    pub fn back_up(&self, to: &Path) -> Result<(), StoreError> {
        let (what, instead) = ("a copy", "use `pg_dump --format=custom`");
        let no_file = || StoreError::FilesOnly { path: self.path.clone(), what, instead };
        let file = self.file().ok_or_else(no_file)?;
        let name = to.to_str().ok_or_else(|| StoreError::Name { path: to.to_owned() })?;
        // SQLite writes into an empty file, which only its owner reads.
        match private_file().create_new(true).open(to) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists { path: to.to_owned() });
            }
            // What is wrong with the place SQLite says.
            made => drop(made),
        }
        let copied = file.execute("VACUUM INTO ?1", [name]);
        copied.map(drop).map_err(|reason| {
            let _ = std::fs::remove_file(to);
            StoreError::Sqlite { path: to.to_owned(), reason }
        })
    }

    fn on(connection: Connection, path: &Path, zstd_level: i32) -> Store {
        let (path, lock) = (path.to_owned(), std::cell::OnceCell::new());
        Store { connection, path, zstd_level, lock, politeness_key: PolitenessScope::Domain }
    }

    /// The same store for a crawl that leases hosts by this key.
    pub fn leasing_by(self, politeness_key: PolitenessScope) -> Store {
        Store { politeness_key, ..self }
    }

    /// Names the database in an error of its driver.
    fn wrap<T>(&self, result: SqlResult<T>) -> Result<T, StoreError> {
        result.map_err(|error| match error {
            SqlError::Sqlite(reason) => StoreError::Sqlite { path: self.path.clone(), reason },
            #[cfg(feature = "postgres")]
            SqlError::Postgres(reason) => postgres::failed(&self.path, reason),
            #[cfg(feature = "postgres")]
            SqlError::Unanswered => StoreError::Unanswered { path: self.path.clone() },
            SqlError::Value(reason) => self.damaged("row", &reason),
        })
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

/// Whether there may be a database at a place: there is such a file, or it is the address of a server.
pub fn may_exist(place: &str) -> bool {
    address(Path::new(place)).is_some() || Path::new(place).is_file()
}

/// A place as it may be shown: an address without its password.
pub fn shown(place: &str) -> String {
    match url::Url::parse(place) {
        _ if address(Path::new(place)).is_none() => place.to_owned(),
        Ok(mut url) => {
            if url.password().is_some() {
                // Fails only for addresses that can have no password.
                let _ = url.set_password(Some("***"));
            }
            let pairs = url.query_pairs().into_owned().filter(|(name, _)| name != "password");
            let query: Vec<(String, String)> = pairs.collect();
            url.set_query(None);
            if !query.is_empty() {
                url.query_pairs_mut().extend_pairs(query);
            }
            url.to_string()
        }
        Err(_) => "postgres://...".to_owned(),
    }
}

/// The address of a server, where a place is one.
fn address(place: &Path) -> Option<&str> {
    let text = place.to_str()?;
    (text.starts_with("postgres://") || text.starts_with("postgresql://")).then_some(text)
}

/// A URL in a row. One that does not parse was written by something else than this program.
fn url_at(row: &Row<'_>, column: usize) -> SqlResult<PageUrl> {
    let text: String = row.get(column)?;
    PageUrl::parse(&text).map_err(|e| SqlError::Value(format!("URL {text}: {e}")))
}

/// Now, Unix milliseconds.
pub fn unix_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}
