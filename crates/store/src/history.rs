//! What each run brought.

use super::read::bare_host;
use super::sql::{Row, params};
use dehusk_html::PageUrl;
use serde::{Deserialize, Serialize};

use super::{PageRow, Store, StoreError};

/// A run and its counts. Those of a run that has ended are kept as they were then, whatever is deleted since.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Pages that redirect to another URL by now.
    pub moved: i64,
    /// Pages that robots.txt forbids by now.
    pub blocked: i64,
    /// Pages that were gone, moved, blocked or failed, and are there again.
    pub returned: i64,
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

/// A visit to a page.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct PageNight {
    /// Run.
    pub run: i64,
    /// Unix milliseconds.
    pub at: i64,
    /// The address it had then.
    pub url: String,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// What came of the request: a word of [`crate::VisitOutcome`].
    pub outcome: String,
    /// Why it gave no page.
    pub reason: Option<String>,
    /// Where it was redirected to.
    pub redirect_to: Option<String>,
    /// `new`, `changed`, `same_text`, `recleaned`, `unchanged`, `gone`, `moved`, `blocked`, `failed` or `returned`;
    /// `None`: a first snapshot that is not cleaned, or no news.
    pub change: Option<String>,
    /// Whether the run stored a snapshot.
    pub is_stored: bool,
}

impl Store {
    /// Each visit to a page and to the addresses that it had before, the oldest first.
    pub fn page_history(&self, url: &str) -> Result<Vec<PageNight>, StoreError> {
        let mut nights = self.visits_of(url)?;
        for former in self.former_urls(url)? {
            nights.extend(self.visits_of(&former)?);
        }
        nights.sort_by_key(|night| (night.at, night.run));
        Ok(nights)
    }

    /// All stored versions of a page, at the addresses that it had before, too, the oldest first.
    pub fn versions_of_history(&self, url: &str) -> Result<Vec<PageRow>, StoreError> {
        let mut versions = self.page_versions(url)?;
        for former in self.former_urls(url)? {
            versions.extend(self.page_versions(&former)?);
        }
        versions.sort_by_key(|version| version.fetched_at);
        Ok(versions)
    }

    fn visits_of(&self, url: &str) -> Result<Vec<PageNight>, StoreError> {
        // A state is told with the last visit of its run.
        let sql = "SELECT v.run_id, coalesce(v.sent_at, r.started_at), v.status, v.outcome, v.reason, v.redirect_to,
                coalesce(p.change, v.change, CASE WHEN v.outcome = 'redirected' THEN
                    (SELECT t.state FROM states t WHERE t.url = ?1 AND t.run_id = v.run_id AND t.state = 'moved') END),
                p.id IS NOT NULL
            FROM (SELECT site_id FROM pages WHERE url = ?1
                UNION SELECT id AS site_id FROM sites WHERE host IN (?2, 'www.' || ?2)) AS own CROSS JOIN runs r CROSS JOIN visits v
                LEFT JOIN pages p ON p.id = v.page_id AND p.run_id = v.run_id AND p.url = ?1
            WHERE v.run_id = r.id AND v.site_id = own.site_id AND v.url = ?1 AND v.kind = 'page'
            UNION ALL
            SELECT p.run_id, p.fetched_at, p.status, 'fetched', NULL, NULL, p.change, TRUE FROM pages p
            WHERE p.url = ?1 AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.run_id = p.run_id AND v.site_id = p.site_id
                AND v.url = ?1 AND v.page_id = p.id)
            UNION ALL
            -- A site that has moved was not asked for its pages.
            SELECT t.run_id, t.at, NULL, 'redirected', NULL, t.moved_to, t.state, FALSE FROM states t
            WHERE t.url = ?1 AND t.state = 'moved' AND NOT EXISTS (SELECT 1 FROM visits v
                WHERE v.run_id = t.run_id AND v.site_id = t.site_id AND v.url = ?1)";
        // A page that was never stored has visits of its host's site only.
        let host = PageUrl::parse(url).map_or_else(|_| String::new(), |url| bare_host(&url.authority()));
        self.rows(sql, params![url, host], |row| {
            Ok(PageNight {
                run: row.get(0)?,
                at: row.get(1)?,
                url: url.to_owned(),
                status: row.get(2)?,
                outcome: row.get(3)?,
                reason: row.get(4)?,
                redirect_to: row.get(5)?,
                change: row.get(6)?,
                is_stored: row.get(7)?,
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
        let sql = "SELECT counts FROM runs WHERE id = ?1";
        let kept: Option<Option<String>> = self.find(sql, params![run], |row| row.get(0))?;
        match kept.flatten().and_then(|kept| serde_json::from_str(&kept).ok()) {
            Some(kept) => Ok(Some(kept)),
            None => self.count_run(run),
        }
    }

    /// Keeps the counts of a run that has ended.
    pub(super) fn keep_counts(&self, run: i64) -> Result<(), StoreError> {
        let Some(counts) = self.count_run(run)? else { return Ok(()) };
        let counts = serde_json::json!(counts).to_string();
        self.execute("UPDATE runs SET counts = ?2 WHERE id = ?1", params![run, counts]).map(drop)
    }

    fn count_run(&self, run: i64) -> Result<Option<RunRow>, StoreError> {
        let sql = "SELECT r.id, r.started_at, r.ended_at, r.outcome,
            count(v.sent_at), count(*) FILTER (WHERE v.change = 'unchanged'),
            count(*) FILTER (WHERE v.kind = 'page' AND v.outcome IN ('failed', 'error')),
            count(*) FILTER (WHERE v.outcome = 'forbidden')
            FROM runs r LEFT JOIN visits v ON v.run_id = r.id WHERE r.id = ?1 GROUP BY r.id";
        let row = |row: &Row<'_>| {
            Ok(RunRow {
                id: row.get(0)?,
                started_at: row.get(1)?,
                ended_at: row.get(2)?,
                outcome: row.get(3)?,
                requests: row.get(4)?,
                unchanged: row.get(5)?,
                failed: row.get(6)?,
                forbidden: row.get(7)?,
                gone: 0,
                moved: 0,
                blocked: 0,
                returned: 0,
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
        let sql = "SELECT count(*) FILTER (WHERE state = 'gone'), count(*) FILTER (WHERE state = 'moved'),
            count(*) FILTER (WHERE state = 'blocked'), count(*) FILTER (WHERE state = 'alive')
            FROM states WHERE run_id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        (found.gone, found.moved, found.blocked, found.returned) = self.row(sql, params![run], row)?;
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
}
