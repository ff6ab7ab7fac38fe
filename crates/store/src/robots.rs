//! Reads and writes robots.txt files as they were answered.

use super::read::bare_host;
use super::sql::{Row, SqlResult, params};
use super::{Store, StoreError};
use crate::validators::Validators;

/// A robots.txt as it was answered.
#[derive(Clone, Debug)]
pub struct StoredRobots {
    /// Whose.
    pub origin: String,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// HTTP status; `None` when it could not be reached.
    pub status: Option<u16>,
    /// Body.
    pub body: Vec<u8>,
    /// What the next request for it may be conditional on. Empty where it was redirected.
    pub validators: Validators,
    /// The files of the origin about rights, as JSON; `None` where they were not asked for.
    pub rights_files: Option<String>,
}

impl Store {
    /// Records what a robots.txt answered.
    pub fn save_robots(&self, robots: &StoredRobots) -> Result<(), StoreError> {
        let StoredRobots { origin, fetched_at, status, body, validators, rights_files } = robots;
        let sql = "INSERT INTO robots (origin, fetched_at, status, body, etag, last_modified, rights_files)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (origin) DO UPDATE
            SET fetched_at = ?2, status = ?3, body = ?4, etag = ?5, last_modified = ?6, rights_files = ?7";
        let row =
            params![origin, *fetched_at, *status, body, &validators.etag, &validators.last_modified, rights_files];
        self.execute(sql, row).map(drop)
    }

    /// Marks the site whose key page is of this origin as one that forbids every path, or as none. Its pages then count
    /// as such that ask for noindex.
    pub fn mark_closed(&self, origin: &str, forbids_all: bool) -> Result<(), StoreError> {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        let sql = "UPDATE sites SET closed = ?1 WHERE host IN (?2, 'www.' || ?2) AND closed <> ?1
                AND substr(key_url, 1, length(?3) + 1) = ?3 || '/'";
        self.execute(sql, params![forbids_all, bare_host(host), origin]).map(drop)
    }

    /// Hosts of sites whose robots.txt forbids every path.
    pub fn closed_hosts(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT host FROM sites WHERE closed ORDER BY host", params![], |row| row.get(0))
    }

    /// The robots.txt files of a host, with and without `www.`, as a crawl needs them.
    pub(super) fn load_robots(&self, host: &str) -> Result<Vec<StoredRobots>, StoreError> {
        let sql = "SELECT origin, fetched_at, status, body, etag, last_modified, rights_files FROM robots
            WHERE origin IN ('http://' || ?1, 'https://' || ?1, 'http://www.' || ?1, 'https://www.' || ?1)";
        self.rows(sql, params![host.strip_prefix("www.").unwrap_or(host)], robots)
    }

    /// The robots.txt files of a host that were answered.
    pub fn robots_of(&self, host: &str) -> Result<Vec<StoredRobots>, StoreError> {
        let sql = "SELECT origin, fetched_at, status, body, etag, last_modified, rights_files FROM robots
            WHERE origin IN ('http://' || ?1, 'https://' || ?1) ORDER BY origin";
        self.rows(sql, params![host], robots)
    }
}

fn robots(row: &Row<'_>) -> SqlResult<StoredRobots> {
    Ok(StoredRobots {
        origin: row.get(0)?,
        fetched_at: row.get(1)?,
        status: row.get(2)?,
        body: row.get(3)?,
        validators: Validators { etag: row.get(4)?, last_modified: row.get(5)? },
        rights_files: row.get(6)?,
    })
}
