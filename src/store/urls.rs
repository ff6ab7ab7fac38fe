//! The frontier on disk, and what is known of each page: when it was seen, when it changed, when it is due again.
//!
//! A URL waits until what came of it is written, in one transaction with the page: a crash finds it waiting again.

use rusqlite::{OptionalExtension, Row, params};

use super::{Change, SiteId, Store, StoreError};
use crate::settings::Revisit;
use crate::validators::Validators;
use dehusk_core::internals::page_url::PageUrl;

/// A URL to be put into the frontier.
#[derive(Clone, Debug)]
pub struct NewUrl {
    url: String,
    fingerprint: i64,
    depth: u32,
    rank: i64,
}

impl NewUrl {
    /// A URL `depth` links away from the key page; smaller ranks are fetched first.
    pub fn new(url: &PageUrl, depth: u32, rank: i64) -> NewUrl {
        NewUrl { url: url.to_string(), fingerprint: url.fingerprint() as i64, depth, rank }
    }
}

/// A URL of the frontier, with what its last visit said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownUrl {
    /// The URL.
    pub url: String,
    /// Links from the key page.
    pub depth: u32,
    /// For a conditional request; empty where there is no snapshot.
    pub validators: Validators,
    /// When the snapshot was taken, Unix milliseconds; `None` where there is none.
    pub snapshot_at: Option<i64>,
    /// Folder of the archive that holds it.
    pub warc: Option<String>,
    /// When it is due again.
    pub next_due: Option<i64>,
}

/// Which URLs of a site are asked for.
#[derive(Clone, Copy, Debug)]
pub struct NextUrlsQuery {
    /// This run; what it asked for already is left out.
    pub run: i64,
    /// Unix milliseconds.
    pub now: i64,
    /// Known pages that are not due too?
    pub all: bool,
    /// URLs that were never asked for too?
    pub waiting: bool,
    /// Longest way from the key page.
    pub depth: u32,
    /// At most so many.
    pub n: usize,
}

/// What a request for a URL came to, for the row of that URL.
#[derive(Clone, Debug)]
pub enum UrlOutcome {
    /// As it was.
    Unchanged,
    /// Gone (404, 410).
    Gone,
    /// No page, for whatever reason.
    Failed,
    /// It led to another URL of the site, which has its own row.
    Moved,
}

const KNOWN: &str = "SELECT u.url, u.depth, u.etag, u.last_modified, p.fetched_at, u.next_due, p.warc
    FROM urls u LEFT JOIN pages p ON p.id = u.page_id";

fn known(row: &Row<'_>) -> rusqlite::Result<KnownUrl> {
    let snapshot_at: Option<i64> = row.get(4)?;
    let validators = match snapshot_at {
        Some(_) => Validators { etag: row.get(2)?, last_modified: row.get(3)? },
        None => Validators::default(),
    };
    let (next_due, warc) = (row.get(5)?, row.get(6)?);
    Ok(KnownUrl { url: row.get(0)?, depth: row.get(1)?, validators, snapshot_at, next_due, warc })
}

impl Store {
    /// Puts a URL into the frontier; says whether it is new.
    pub fn save_url(&self, site: SiteId, url: &NewUrl) -> Result<bool, StoreError> {
        let sql =
            "INSERT OR IGNORE INTO urls (site_id, fingerprint, url, state, depth, rank) VALUES (?1, ?2, ?3, 0, ?4, ?5)";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        self.wrap(statement.execute(params![site, url.fingerprint, url.url, url.depth, url.rank])).map(|n| n > 0)
    }

    /// What is known of a URL.
    pub fn find_url(&self, site: SiteId, url: &PageUrl) -> Result<Option<KnownUrl>, StoreError> {
        let sql = format!("{KNOWN} WHERE u.site_id = ?1 AND u.fingerprint = ?2");
        let mut statement = self.wrap(self.connection.prepare_cached(&sql))?;
        self.wrap(statement.query_row(params![site, url.fingerprint() as i64], known).optional())
    }

    /// The next URLs of a site: known pages that are due first, then those that wait.
    pub fn next_urls(&self, site: SiteId, wish: &NextUrlsQuery) -> Result<Vec<KnownUrl>, StoreError> {
        let sql = format!(
            "{KNOWN} WHERE u.site_id = ?1 AND u.state > 0 AND u.run_id IS NOT ?2 AND u.next_due <= ?3
             AND (?4 OR u.page_id IS NOT NULL) ORDER BY u.next_due LIMIT ?5"
        );
        let due = if wish.all { i64::MAX } else { wish.now };
        let mut statement = self.wrap(self.connection.prepare_cached(&sql))?;
        let rows = statement.query_map(params![site, wish.run, due, wish.waiting, wish.n as i64], known);
        let mut found: Vec<KnownUrl> = self.wrap(self.wrap(rows)?.collect())?;
        if wish.waiting && found.len() < wish.n {
            let sql =
                format!("{KNOWN} WHERE u.site_id = ?1 AND u.state = 0 AND u.depth <= ?2 ORDER BY u.rank LIMIT ?3");
            let mut statement = self.wrap(self.connection.prepare_cached(&sql))?;
            let rows = statement.query_map(params![site, wish.depth, (wish.n - found.len()) as i64], known);
            let rows: Vec<KnownUrl> = self.wrap(self.wrap(rows)?.collect())?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// Writes what came of a URL that gave no new page; says whether there was a page until now.
    pub fn end_url(
        &self,
        run: i64,
        site: SiteId,
        url: &PageUrl,
        end: &UrlOutcome,
        at: i64,
        revisit: &Revisit,
    ) -> Result<bool, StoreError> {
        let fingerprint = url.fingerprint() as i64;
        let sql =
            "SELECT id, interval_ms, page_id IS NOT NULL, state FROM urls WHERE site_id = ?1 AND fingerprint = ?2";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = |row: &Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, bool>(2)?, row.get::<_, i64>(3)?))
        };
        let found = self.wrap(statement.query_row(params![site, fingerprint], row).optional())?;
        let (id, interval, has_page, last_state) = match found {
            Some(found) => found,
            None => {
                let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank)
                    VALUES (?1, ?2, ?3, 3, 0, 0) RETURNING id";
                let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
                let row = statement.query_row(params![site, fingerprint, url.as_str()], |row| row.get(0));
                (self.wrap(row)?, None, false, 3)
            }
        };
        let (state, interval) = match end {
            UrlOutcome::Unchanged => (1, next_interval(interval, false, revisit)),
            UrlOutcome::Gone => (2, revisit.most.as_millis() as i64),
            // A page that was there before and fails once is still a page.
            UrlOutcome::Failed => (if has_page { 1 } else { 3 }, next_interval(interval, false, revisit)),
            UrlOutcome::Moved => (3, next_interval(interval, false, revisit)),
        };
        let sql = "UPDATE urls SET state = ?2, run_id = ?3, checked_at = ?4, next_due = ?4 + ?5, interval_ms = ?5
            WHERE id = ?1";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        self.wrap(statement.execute(params![id, state, run, at, interval]))?;
        Ok(has_page && last_state == 1)
    }
}

/// The interval after a visit (Nutch's adaptive schedule): shorter after a change, longer without one.
pub(super) fn next_interval(last: Option<i64>, changed: bool, revisit: &Revisit) -> i64 {
    let first = revisit.first.as_millis() as f64;
    let next = match last {
        None => first,
        Some(last) if changed => last as f64 * revisit.shrink,
        Some(last) => last as f64 * revisit.grow,
    };
    (next as i64)
        .clamp(revisit.least.as_millis() as i64, revisit.most.as_millis().max(revisit.least.as_millis()) as i64)
}

/// Did a visit find the text of a page changed?
pub(super) fn is_change(change: Change) -> bool {
    matches!(change, Change::Changed)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::Settings;

    #[test]
    fn intervals_shrink_and_grow_within_bounds() {
        let revisit = Revisit {
            first: Duration::from_secs(100),
            least: Duration::from_secs(50),
            most: Duration::from_secs(150),
            ..Settings::default().revisit
        };
        assert_eq!(next_interval(None, true, &revisit), 100_000);
        assert_eq!(next_interval(Some(100_000), true, &revisit), 80_000);
        assert_eq!(next_interval(Some(100_000), false, &revisit), 140_000);
        assert_eq!(next_interval(Some(140_000), false, &revisit), 150_000);
        assert_eq!(next_interval(Some(51_000), true, &revisit), 50_000);
    }

    #[test]
    fn the_frontier_gives_due_pages_first_and_each_once_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("f.db"), 3).unwrap();
        let run = store.begin_run(0, 0, "").unwrap().id;
        let url = |path: &str| PageUrl::parse(&format!("http://a.b{path}")).unwrap();
        let mut seeds = [url("/"), url("/1"), url("/2"), url("/1#x"), url("//2?")].into_iter();
        let queued = store.queue_seeds(run, &mut seeds, true, 0).unwrap();
        assert_eq!((queued.sites, queued.urls), (1, 2));
        let site = store.next_sites(run, 0, 9, false).unwrap().remove(0).id;
        let revisit = Settings::default().revisit;
        let wish = NextUrlsQuery { run, now: 0, all: false, waiting: true, depth: 9, n: 9 };
        let paths = |wish: &NextUrlsQuery| {
            store.next_urls(site, wish).unwrap().iter().map(|u| u.url.clone()).collect::<Vec<_>>()
        };
        assert_eq!(paths(&wish), ["http://a.b/1", "http://a.b/2"]);
        store.end_url(run, site, &url("/1"), &UrlOutcome::Unchanged, 1000, &revisit).unwrap();
        assert_eq!(paths(&wish), ["http://a.b/2"]);
        assert_eq!(paths(&NextUrlsQuery { all: true, ..wish }), ["http://a.b/2"], "asked for in this run");
        let later = NextUrlsQuery { run: run + 1, ..wish };
        assert_eq!(paths(&later), ["http://a.b/2"], "not due");
        assert_eq!(paths(&NextUrlsQuery { all: true, ..later }), ["http://a.b/1", "http://a.b/2"]);
        assert!(
            paths(&NextUrlsQuery { now: i64::MAX, waiting: false, ..later }).is_empty(),
            "never seen, and no room for new ones"
        );
    }
}
