//! How each site ended in each run: which fail for the first time, for how many nights, and which work again.

use serde::Serialize;

use super::sql::{Row, SqlResult, params};
use super::{SiteId, Store, StoreError};

/// A site that failed in a run, or in the one before it that worked on the site.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct SiteNight {
    /// Host.
    pub host: String,
    /// How it ended.
    pub outcome: String,
    /// Why it failed, or has no template.
    pub reason: Option<String>,
    /// Code of that reason.
    pub reason_code: Option<String>,
    /// How it ended before.
    pub before: Option<String>,
    /// Runs in a row that it failed in, this one included.
    pub n_failed: i64,
}

/// Requests of a site that were answered with a status that gives no page.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct StatusCount {
    /// Host.
    pub host: String,
    /// HTTP status.
    pub status: u16,
    /// Number of requests.
    pub n: i64,
    /// One of the URLs.
    pub example: String,
}

impl Store {
    /// Keeps how a site has ended in its run. A site of which nothing was due, or that was stopped, says nothing.
    pub(super) fn keep_site_outcome(&self, site: SiteId) -> Result<(), StoreError> {
        let sql = "INSERT INTO site_runs (site_id, run_id, outcome, reason, reason_code)
            SELECT id, run_id, outcome, reason, reason_code FROM sites WHERE id = ?1 AND run_id IS NOT NULL
                AND outcome IN ('learned', 'kept', 'no_template', 'walked', 'failed', 'moved')
            ON CONFLICT (site_id, run_id) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason,
                reason_code = excluded.reason_code";
        self.execute(sql, params![site]).map(drop)
    }

    /// Sites that failed in a run, or failed before and work again, by host.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn failing_sites(&self, run: i64) -> Result<Vec<SiteNight>, StoreError> {
        let sql = "SELECT * FROM (SELECT s.host, n.outcome, n.reason, n.reason_code,
                (SELECT o.outcome FROM site_runs o WHERE o.site_id = n.site_id AND o.run_id < ?1
                    ORDER BY o.run_id DESC LIMIT 1) AS before,
                (SELECT count(*) FROM site_runs o WHERE o.site_id = n.site_id AND o.run_id <= ?1 AND o.run_id >
                    coalesce((SELECT max(w.run_id) FROM site_runs w WHERE w.site_id = n.site_id AND w.run_id <= ?1
                        AND w.outcome <> 'failed'), 0)) AS n_failed
            FROM site_runs n JOIN sites s ON s.id = n.site_id WHERE n.run_id = ?1) AS nights
            WHERE outcome = 'failed' OR before = 'failed' ORDER BY host";
        self.rows(sql, params![run], |row: &Row<'_>| -> SqlResult<SiteNight> {
            Ok(SiteNight {
                host: row.get(0)?,
                outcome: row.get(1)?,
                reason: row.get(2)?,
                reason_code: row.get(3)?,
                before: row.get(4)?,
                n_failed: row.get(5)?,
            })
        })
    }

    /// Statuses of a run that give no page, by site; robots.txt files are left out. The most frequent ones first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn statuses_of_sites(&self, run: i64, limit: usize) -> Result<Vec<StatusCount>, StoreError> {
        let sql = "SELECT s.host, v.status, count(*), min(v.url) FROM visits v JOIN sites s ON s.id = v.site_id
            WHERE v.run_id = ?1 AND v.status >= 400 AND v.kind <> 'robots'
            GROUP BY s.host, v.status ORDER BY 3 DESC, 1, 2 LIMIT ?2";
        self.rows(sql, params![run, limit as i64], |row| {
            Ok(StatusCount { host: row.get(0)?, status: row.get(1)?, n: row.get(2)?, example: row.get(3)? })
        })
    }

    /// Why the last request of a run for a page of a host gave none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn last_reason(&self, run: i64, host: &str, url: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT v.reason FROM visits v JOIN sites s ON s.id = v.site_id
            WHERE s.host = ?2 AND v.run_id = ?1 AND v.url = ?3 AND v.kind = 'page' ORDER BY v.id DESC LIMIT 1";
        Ok(self.find(sql, params![run, host, url], |row| row.get(0))?.flatten())
    }

    /// Whether the log of the requests of a run was deleted since.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn is_log_deleted(&self, run: i64) -> Result<bool, StoreError> {
        let has_sent = self.find_run(run)?.is_some_and(|run| run.requests > 0);
        let has_log =
            self.row("SELECT EXISTS (SELECT 1 FROM visits WHERE run_id = ?1)", params![run], |row| row.get(0));
        Ok(has_sent && !has_log?)
    }

    /// The run before this one; `None` for the first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn run_before(&self, run: i64) -> Result<Option<i64>, StoreError> {
        self.row("SELECT max(id) FROM runs WHERE id < ?1", params![run], |row| row.get(0))
    }
}

#[cfg(test)]
mod tests {
    use dehusk_html::PageUrl;

    use crate::reason::{Reason, ReasonCode};
    use crate::seed::Seed;
    use crate::{RunRequest, SiteOutcome, Store};

    #[test]
    fn nights_of_failure_are_counted_from_the_last_success() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("s.db"), 3).unwrap();
        let hosts = ["a.org", "b.org", "c.org"];
        let failed = || SiteOutcome::Failed(Reason::new(ReasonCode::Dns, "no address"));
        let nights = [
            [SiteOutcome::Learned, failed(), SiteOutcome::Learned],
            [failed(), failed(), SiteOutcome::NotDue],
            [failed(), SiteOutcome::Kept, SiteOutcome::Kept],
        ];
        for outcomes in nights {
            let run = store.begin_run(&RunRequest::default()).unwrap().id;
            let seeds = hosts.map(|host| Seed::from(PageUrl::parse(&format!("http://{host}/")).unwrap()));
            store.queue_seeds(run, &mut seeds.into_iter(), 1).unwrap();
            let sites = store.next_sites(run, 0, 9, false).unwrap();
            for (site, outcome) in sites.iter().zip(&outcomes) {
                store.end_site(site.id, outcome, None, 1).unwrap();
            }
            store.end_run(run, 1, "finished").unwrap();
        }
        let failing = |run| {
            let sites = store.failing_sites(run).unwrap();
            sites.into_iter().map(|site| (site.host, site.outcome, site.n_failed)).collect::<Vec<_>>()
        };
        let night = |host: &str, outcome: &str, n: i64| (host.to_owned(), outcome.to_owned(), n);
        assert_eq!(failing(1), [night("b.org", "failed", 1)]);
        assert_eq!(failing(2), [night("a.org", "failed", 1), night("b.org", "failed", 2)]);
        assert_eq!(failing(3), [night("a.org", "failed", 2), night("b.org", "kept", 0)]);
        assert_eq!((store.run_before(1).unwrap(), store.run_before(3).unwrap()), (None, Some(2)));
    }
}
