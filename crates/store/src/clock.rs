//! What was written while the clock of the machine was ahead.

use super::sql::params;
use super::{Store, StoreError};

/// Longest wait from now that a deferral may ask for where the clock was ahead, in milliseconds.
const LONGEST_WAIT: i64 = 24 * 3_600_000;

impl Store {
    /// Lets all times expire that are later than now: pages are due, rules of robots.txt are old, deferrals end within
    /// a day. Returns the number of such pages and rules. Without it a clock that was a year ahead for one night would
    /// stop the crawl for a year.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be written.
    pub fn expire_future_times(&self, now: i64) -> Result<usize, StoreError> {
        // All tables are looked through only where a run is of the future.
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE started_at > ?1 OR ended_at > ?1)";
        if !self.row::<bool>(sql, params![now], |row| row.get(0))? {
            return Ok(0);
        }
        let sql = "UPDATE urls SET checked_at = ?1, next_due = ?1 WHERE checked_at > ?1";
        let n_urls = self.execute(sql, params![now])?;
        let n_robots = self.execute("UPDATE robots SET fetched_at = 0 WHERE fetched_at > ?1", params![now])?;
        let sql = "UPDATE domains SET next_fetch = ?2 WHERE next_fetch > ?2";
        self.execute(sql, params![now, now.saturating_add(LONGEST_WAIT)])?;
        Ok(n_urls + n_robots)
    }
}

#[cfg(test)]
mod tests {
    use dehusk_html::PageUrl;
    use dehusk_settings::Revisit;

    use crate::revisit::UrlOutcome;
    use crate::{NextUrlsQuery, RunRequest, Store};

    #[test]
    fn a_clock_that_was_a_year_ahead_stops_nothing() {
        const YEAR: i64 = 365 * 86_400_000;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("c.db"), 3).unwrap();
        let (now, ahead) = (1_700_000_000_000, 1_700_000_000_000 + YEAR);
        let run = store.begin_run(&RunRequest { at: ahead, ..RunRequest::default() }).unwrap().id;
        let urls = ["http://a.org/", "http://a.org/1"].map(|url| PageUrl::parse(url).unwrap());
        store.queue_seeds(run, &mut urls.clone().map(crate::seed::Seed::from).into_iter(), ahead).unwrap();
        let site = store.next_sites(run, 0, 9, false).unwrap().remove(0).id;
        store.end_url(run, site, (&urls[1], UrlOutcome::Failed), None, ahead, &Revisit::default()).unwrap();
        store.save_deferral("a.org", ahead + 5, "busy").unwrap();
        store.end_run(run, ahead, "finished").unwrap();

        let due = |run| {
            let wanted = NextUrlsQuery { now, all: false, waiting: true, depth: 9, max_known: 0, n: 9 };
            store.next_urls(run, site, &wanted).unwrap().len()
        };
        assert_eq!(due(run + 1), 0);
        assert_eq!(store.expire_future_times(now).unwrap(), 1);
        assert_eq!(due(run + 1), 1);
        let deferrals = store.load_deferrals(now).unwrap();
        assert_eq!(deferrals, [("a.org".to_owned(), now + super::LONGEST_WAIT)]);
        assert_eq!(store.expire_future_times(ahead + 1).unwrap(), 0, "nothing is later than that");
    }
}
