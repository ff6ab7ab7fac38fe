//! Writes runs, sites and visits.

use rusqlite::params;

use super::{Store, StoreError};

/// One request, as it is recorded.
#[derive(Clone, Debug)]
pub struct NewVisit {
    /// The site it was made for.
    pub site_id: Option<i64>,
    /// What was asked for.
    pub url: String,
    /// `robots` or `page`.
    pub kind: &'static str,
    /// When it was sent, Unix milliseconds; `None` when nothing was.
    pub sent_at: Option<i64>,
    /// How long it took, milliseconds.
    pub took_ms: Option<i64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Body bytes as sent.
    pub raw_bytes: Option<usize>,
    /// What came of it.
    pub outcome: VisitOutcome,
    /// Why, when it is not `Fetched`.
    pub reason: Option<String>,
}

/// What came of a visit (after StormCrawler's status).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOutcome {
    /// A page or robots.txt within the limits.
    Fetched,
    /// It leads elsewhere.
    Redirected,
    /// No usable answer now; it may be asked for again.
    FetchError,
    /// No usable answer, and none is expected.
    Failed,
    /// robots.txt forbids it; nothing was sent.
    Forbidden,
}

impl VisitOutcome {
    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            VisitOutcome::Fetched => "fetched",
            VisitOutcome::Redirected => "redirected",
            VisitOutcome::FetchError => "error",
            VisitOutcome::Failed => "failed",
            VisitOutcome::Forbidden => "forbidden",
        }
    }
}

/// How the work on a site ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteEnd {
    /// A template was learned.
    Learned,
    /// None could be, for this reason.
    Failed(String),
    /// The crawl was stopped before.
    Interrupted,
}

impl SiteEnd {
    fn words(&self) -> (&'static str, Option<&str>) {
        match self {
            SiteEnd::Learned => ("learned", None),
            SiteEnd::Failed(reason) => ("failed", Some(reason)),
            SiteEnd::Interrupted => ("interrupted", None),
        }
    }
}

impl Store {
    /// Begins a run.
    pub fn begin_run(&self, at: i64, settings: &str) -> Result<i64, StoreError> {
        self.wrap(
            self.connection.execute("INSERT INTO runs (started_at, settings) VALUES (?1, ?2)", params![at, settings]),
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Ends a run.
    pub fn end_run(&self, run: i64, at: i64, outcome: &str) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET ended_at = ?2, outcome = ?3 WHERE id = ?1";
        self.wrap(self.connection.execute(sql, params![run, at, outcome])).map(drop)
    }

    /// The number of a site, made when it is new.
    pub fn begin_site(&self, run: i64, host: &str, key_url: &str, at: i64) -> Result<i64, StoreError> {
        let sql = "INSERT INTO sites (host, key_url, run_id, updated_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (host) DO UPDATE SET key_url = ?2, run_id = ?3, updated_at = ?4, outcome = NULL, reason = NULL
            RETURNING id";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        self.wrap(statement.query_row(params![host, key_url, run, at], |row| row.get(0)))
    }

    /// Gives a site of this run the host that its key page was found on. Where that host is a site already, what
    /// this run fetched moves over to it.
    pub fn rename_site(&self, run: i64, site: i64, host: &str, key_url: &str, at: i64) -> Result<i64, StoreError> {
        let found = self.begin_site(run, host, key_url, at)?;
        if found != site {
            for table in ["pages", "visits"] {
                let sql = format!("UPDATE {table} SET site_id = ?2 WHERE run_id = ?1 AND site_id = ?3");
                self.wrap(self.connection.execute(&sql, params![run, found, site]))?;
            }
            let sql = "UPDATE sites SET outcome = 'moved', reason = ?2, updated_at = ?3 WHERE id = ?1";
            self.wrap(self.connection.execute(sql, params![site, format!("leads to {key_url}"), at]))?;
        }
        Ok(found)
    }

    /// Records how the work on a site ended.
    pub fn end_site(&self, site: i64, end: &SiteEnd, at: i64) -> Result<(), StoreError> {
        let (outcome, reason) = end.words();
        let sql = "UPDATE sites SET outcome = ?2, reason = ?3, updated_at = ?4 WHERE id = ?1";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        self.wrap(statement.execute(params![site, outcome, reason, at])).map(drop)
    }

    /// Records a visit.
    pub fn save_visit(&self, run: i64, visit: &NewVisit) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO visits (run_id, site_id, url, kind, sent_at, took_ms, status, raw_bytes, outcome, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = params![
            run,
            visit.site_id,
            visit.url,
            visit.kind,
            visit.sent_at,
            visit.took_ms,
            visit.status,
            visit.raw_bytes.map(|n| n as i64),
            visit.outcome.as_str(),
            visit.reason
        ];
        self.wrap(statement.execute(row)).map(drop)
    }

    /// Records what a robots.txt answered.
    pub fn save_robots(&self, origin: &str, at: i64, status: Option<u16>, body: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO robots (origin, fetched_at, status, body) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (origin) DO UPDATE SET fetched_at = ?2, status = ?3, body = ?4";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        self.wrap(statement.execute(params![origin, at, status, body])).map(drop)
    }
}
