//! Writes runs, visits, robots rules and put-off domains.

use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError};

/// One request, as it is recorded.
#[derive(Clone, Debug)]
pub struct NewVisit {
    /// The site it was made for.
    pub site_id: Option<i64>,
    /// What was asked for.
    pub url: String,
    /// `robots`, `page` or `sitemap`.
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
    /// Why, when it is not `Fetched`; where it leads, when it is `Redirected`.
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
    /// The server says that it is as it was.
    NotModified,
    /// The server says that it is no more.
    Gone,
}

impl VisitOutcome {
    const ALL: [VisitOutcome; 7] = [
        VisitOutcome::Fetched,
        VisitOutcome::Redirected,
        VisitOutcome::FetchError,
        VisitOutcome::Failed,
        VisitOutcome::Forbidden,
        VisitOutcome::NotModified,
        VisitOutcome::Gone,
    ];

    /// The outcome with this word in the table.
    pub fn from_word(word: &str) -> Option<VisitOutcome> {
        VisitOutcome::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            VisitOutcome::Fetched => "fetched",
            VisitOutcome::Redirected => "redirected",
            VisitOutcome::FetchError => "error",
            VisitOutcome::Failed => "failed",
            VisitOutcome::Forbidden => "forbidden",
            VisitOutcome::NotModified => "not_modified",
            VisitOutcome::Gone => "gone",
        }
    }
}

/// How the work on a site ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteOutcome {
    /// A template was learned.
    Learned,
    /// The stored template still fits.
    Kept,
    /// None could be, for this reason.
    Failed(String),
    /// Its links were followed; no template was looked for.
    Walked,
    /// Nothing of it was due.
    NotDue,
    /// The crawl was stopped before.
    Interrupted,
    /// A redirect led to a site that is worked on under its own name.
    Moved,
}

impl SiteOutcome {
    /// The word in the table, and the reason of a failure.
    pub fn words(&self) -> (&'static str, Option<&str>) {
        match self {
            SiteOutcome::Learned => ("learned", None),
            SiteOutcome::Kept => ("kept", None),
            SiteOutcome::Failed(reason) => ("failed", Some(reason)),
            SiteOutcome::Walked => ("walked", None),
            SiteOutcome::NotDue => ("not_due", None),
            SiteOutcome::Interrupted => ("interrupted", None),
            SiteOutcome::Moved => ("moved", None),
        }
    }
}

/// The run that a crawl works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub id: i64,
    /// Was it begun before and not finished?
    pub resumed: bool,
}

impl Store {
    /// Takes up an unfinished run that began after `since`; an older one is closed, and a new one begun.
    pub fn begin_run(&self, at: i64, since: i64, settings: &str) -> Result<Run, StoreError> {
        let sql =
            "SELECT id, started_at FROM runs WHERE outcome IS NULL OR outcome = 'interrupted' ORDER BY id DESC LIMIT 1";
        let newest = "SELECT max(id) FROM runs";
        let newest: Option<i64> = self.wrap(self.connection.query_row(newest, [], |row| row.get(0)))?;
        let open: Option<(i64, i64)> =
            self.wrap(self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).optional())?;
        if let Some((id, started_at)) = open.filter(|(id, _)| Some(*id) == newest)
            && started_at >= since
        {
            let sql = "UPDATE runs SET outcome = NULL, ended_at = NULL, settings = ?2 WHERE id = ?1";
            self.wrap(self.connection.execute(sql, params![id, settings]))?;
            let sql = "UPDATE sites SET outcome = NULL WHERE run_id = ?1 AND outcome = 'interrupted'";
            self.wrap(self.connection.execute(sql, [id]))?;
            return Ok(Run { id, resumed: true });
        }
        let sql = "UPDATE runs SET outcome = 'abandoned' WHERE outcome IS NULL";
        self.wrap(self.connection.execute(sql, []))?;
        let sql = "INSERT INTO runs (started_at, settings) VALUES (?1, ?2)";
        self.wrap(self.connection.execute(sql, params![at, settings]))?;
        Ok(Run { id: self.connection.last_insert_rowid(), resumed: false })
    }

    /// Ends a run.
    pub fn end_run(&self, run: i64, at: i64, outcome: &str) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET ended_at = ?2, outcome = ?3 WHERE id = ?1";
        self.wrap(self.connection.execute(sql, params![run, at, outcome])).map(drop)
    }

    /// When the last request of any run was sent, Unix milliseconds.
    pub fn last_sent(&self) -> Result<Option<i64>, StoreError> {
        // Visits are written as they end, so the newest thousand hold the last one sent.
        let sql = "SELECT max(sent_at + coalesce(took_ms, 0)) FROM (SELECT * FROM visits ORDER BY id DESC LIMIT 1000)";
        self.wrap(self.connection.query_row(sql, [], |row| row.get(0)))
    }

    /// Records a visit; `page` is the snapshot that it gave.
    pub fn save_visit(
        &self,
        run: i64,
        visit: &NewVisit,
        page: Option<i64>,
        change: Option<&str>,
    ) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO visits (run_id, site_id, url, kind, sent_at, took_ms, status, raw_bytes, outcome, reason, change, page_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
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
            visit.reason,
            change,
            page
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

    /// Records that a politeness key is deferred until a time.
    pub fn save_deferral(&self, name: &str, next_fetch: i64, reason: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO domains (name, next_fetch, reason) VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET next_fetch = ?2, reason = ?3";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        self.wrap(statement.execute(params![name, next_fetch, reason])).map(drop)
    }

    /// Politeness keys that are deferred to a time after `now`. Those whose time has passed are deleted.
    pub fn load_deferrals(&self, now: i64) -> Result<Vec<(String, i64)>, StoreError> {
        self.wrap(self.connection.execute("DELETE FROM domains WHERE next_fetch <= ?1", [now]))?;
        let mut statement = self.wrap(self.connection.prepare("SELECT name, next_fetch FROM domains"))?;
        let rows = self.wrap(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))))?;
        self.wrap(rows.collect())
    }
}
