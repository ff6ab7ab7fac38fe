//! What each run brought.

use super::sql::{Row, SqlError, params};
use serde::Serialize;

use super::{Store, StoreError};

/// A run and its counts.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// Number.
    pub id: i64,
    /// Unix milliseconds.
    pub started_at: i64,
    /// Unix milliseconds; `None` while it runs, or when it was killed.
    pub ended_at: Option<i64>,
    /// `finished`, `interrupted`, `abandoned`; `None` while it runs, or when it was killed.
    pub outcome: Option<String>,
    /// Requests sent.
    pub requests: i64,
    /// Pages never seen before.
    pub new: i64,
    /// Pages whose text differs.
    pub changed: i64,
    /// Pages of which something else differs.
    pub same_text: i64,
    /// Pages whose text differs because the model of their site does.
    pub recleaned: i64,
    /// Pages that are as they were.
    pub unchanged: i64,
    /// Pages that are no more.
    pub gone: i64,
    /// Requests that failed.
    pub failed: i64,
    /// URLs that robots.txt forbids.
    pub forbidden: i64,
    /// Templates learned.
    pub templates: i64,
}

/// How much room a run takes.
#[derive(Clone, Copy, Debug, Default, Serialize, PartialEq, Eq)]
pub struct RunSize {
    /// Bytes of its bodies, packed.
    pub bodies: i64,
    /// Bytes of its cleaned pages, packed.
    pub cleaned: i64,
    /// Bytes of the whole database that hold something.
    pub database: i64,
}

/// A page that two runs see differently.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct UrlChange {
    /// `new`, `changed`, `same_text`, `recleaned` or `gone`.
    pub change: String,
    /// Host.
    pub host: String,
    /// The page.
    pub url: String,
    /// Run that found it so.
    pub run: i64,
}

/// What a run found of one page.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct PageNight {
    /// Run.
    pub run: i64,
    /// Unix milliseconds.
    pub at: i64,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// `new`, `changed`, `same_text`, `recleaned`, `unchanged`, `gone`; `None`: a first snapshot that is not cleaned.
    pub change: Option<String>,
    /// Whether the run stored a snapshot.
    pub is_stored: bool,
}

impl Store {
    /// What each run found of a page, the oldest first.
    pub fn page_history(&self, url: &str) -> Result<Vec<PageNight>, StoreError> {
        let sql = "SELECT run_id, fetched_at AS at, status, change, 1 FROM pages WHERE url = ?1
            AND site_id IN (SELECT DISTINCT site_id FROM pages WHERE url = ?1)
            UNION ALL
            SELECT v.run_id, coalesce(v.sent_at, 0), v.status, v.change, 0
            FROM (SELECT DISTINCT site_id FROM pages WHERE url = ?1) AS own CROSS JOIN runs r
                CROSS JOIN visits v
            WHERE v.run_id = r.id AND v.site_id = own.site_id AND v.url = ?1 AND v.change IN ('unchanged', 'gone')
            ORDER BY at, run_id";
        self.rows(sql, params![url], |row| {
            Ok(PageNight {
                run: row.get(0)?,
                at: row.get(1)?,
                status: row.get(2)?,
                change: row.get(3)?,
                is_stored: row.get(4)?,
            })
        })
    }

    /// Runs, the newest first.
    pub fn list_runs(&self, most: usize) -> Result<Vec<RunRow>, StoreError> {
        let ids = self.newest_runs(most)?;
        ids.into_iter().filter_map(|(id, _)| self.find_run(id).transpose()).collect()
    }

    /// Numbers of runs, the newest first, and when each ended, Unix milliseconds.
    pub fn newest_runs(&self, most: usize) -> Result<Vec<(i64, Option<i64>)>, StoreError> {
        let sql = "SELECT id, ended_at FROM runs ORDER BY id DESC LIMIT ?1";
        self.rows(sql, params![most as i64], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// When a run ended, Unix milliseconds; `None` if it is at work, was killed, or is not known.
    pub fn run_ended(&self, run: i64) -> Result<Option<i64>, StoreError> {
        Ok(self.find("SELECT ended_at FROM runs WHERE id = ?1", params![run], |row| row.get(0))?.flatten())
    }

    /// One run.
    pub fn find_run(&self, run: i64) -> Result<Option<RunRow>, StoreError> {
        let sql = "SELECT r.id, r.started_at, r.ended_at, r.outcome,
            count(v.sent_at), count(*) FILTER (WHERE v.change = 'unchanged'), count(*) FILTER (WHERE v.change = 'gone'),
            count(*) FILTER (WHERE v.kind = 'page' AND v.outcome IN ('failed', 'error')),
            count(*) FILTER (WHERE v.outcome = 'forbidden')
            FROM runs r LEFT JOIN visits v ON v.run_id = r.id WHERE r.id = ?1 GROUP BY r.id";
        let row = |row: &Row<'_>| {
            let count = |at: usize| Ok::<i64, SqlError>(row.get::<Option<i64>>(at)?.unwrap_or(0));
            Ok(RunRow {
                id: row.get(0)?,
                started_at: row.get(1)?,
                ended_at: row.get(2)?,
                outcome: row.get(3)?,
                requests: count(4)?,
                unchanged: count(5)?,
                gone: count(6)?,
                failed: count(7)?,
                forbidden: count(8)?,
                new: 0,
                changed: 0,
                same_text: 0,
                recleaned: 0,
                templates: 0,
            })
        };
        let Some(mut found) = self.find(sql, params![run], row)? else {
            return Ok(None);
        };
        let sql = "SELECT count(*) FILTER (WHERE change = 'new' OR (change IS NULL AND cleaned_id IS NULL)),
            count(*) FILTER (WHERE change = 'changed'), count(*) FILTER (WHERE change = 'same_text'),
            count(*) FILTER (WHERE change = 'recleaned'), (SELECT count(*) FROM templates WHERE run_id = ?1)
            FROM pages WHERE run_id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
        (found.new, found.changed, found.same_text, found.recleaned, found.templates) =
            self.row(sql, params![run], row)?;
        Ok(Some(found))
    }

    /// How much room a run takes.
    pub fn run_size(&self, run: i64) -> Result<RunSize, StoreError> {
        let sql = "SELECT coalesce(sum(length(raw)), 0), coalesce(sum(length(cleaned)), 0) FROM page_bodies WHERE run_id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (bodies, cleaned) = self.row(sql, params![run], row)?;
        Ok(RunSize { bodies, cleaned, database: self.used_bytes()? })
    }

    /// How sites ended in a run, by outcome: those that no later run has worked on.
    pub fn site_outcomes(&self, run: i64) -> Result<Vec<(String, i64)>, StoreError> {
        let sql =
            "SELECT coalesce(outcome, 'waiting'), count(*) FROM sites WHERE run_id = ?1 GROUP BY 1 ORDER BY 2 DESC";
        self.rows(sql, params![run], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Pages that differ between the ends of two runs: the last word on each after run `from`, up to run `to`.
    pub fn diff_runs(&self, from: i64, to: i64) -> Result<Vec<UrlChange>, StoreError> {
        let sql = "SELECT change, host, url, run_id FROM (
            SELECT change, host, url, run_id, row_number() OVER (PARTITION BY url ORDER BY at DESC) AS place FROM (
                SELECT p.change, s.host, p.url, p.run_id, p.fetched_at AS at FROM pages p JOIN sites s ON s.id = p.site_id
                    WHERE p.run_id > ?1 AND p.run_id <= ?2 AND p.change IS NOT NULL
                UNION ALL
                SELECT v.change, s.host, v.url, v.run_id, v.sent_at FROM visits v JOIN sites s ON s.id = v.site_id
                    WHERE v.run_id > ?1 AND v.run_id <= ?2 AND v.change = 'gone') AS found) AS ordered
            WHERE place = 1 ORDER BY host, url";
        self.rows(sql, params![from, to], |row| {
            Ok(UrlChange { change: row.get(0)?, host: row.get(1)?, url: row.get(2)?, run: row.get(3)? })
        })
    }
}
