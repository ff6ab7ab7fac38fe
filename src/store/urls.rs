//! The frontier on disk, and what is known of each page: when it was seen, when it changed, when it is due again.
//!
//! A URL waits until what came of it is written, in one transaction with the page: a crash finds it waiting again.

use super::sql::{Row, SqlResult, params};

use super::recleaning::text_mark;
use super::{NextUrlsQuery, SiteId, Store, StoreError, url_at};
use crate::revisit::{Change, UrlOutcome, UrlRecord, UrlState, after_outcome};
use crate::settings::Revisit;
use crate::validators::Validators;
use dehusk_core::internals::page_url::PageUrl;

/// A URL to be put into the frontier.
#[derive(Clone, Debug)]
pub struct NewUrl {
    pub(super) url: String,
    pub(super) fingerprint: i64,
    pub(super) depth: u32,
    pub(super) rank: i64,
}

impl NewUrl {
    /// A URL `depth` links away from the key page; smaller ranks are fetched first.
    pub fn new(url: &PageUrl, depth: u32, rank: i64) -> NewUrl {
        NewUrl { url: url.to_string(), fingerprint: url.fingerprint() as i64, depth, rank }
    }
}

/// A URL of the frontier, with what its last visit said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownUrl {
    /// The URL.
    pub url: PageUrl,
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

impl KnownUrl {
    /// A URL of which nothing is known.
    pub fn new(url: PageUrl) -> KnownUrl {
        KnownUrl { url, depth: 0, validators: Validators::default(), snapshot_at: None, warc: None, next_due: None }
    }
}

const KNOWN: &str = "SELECT u.url, u.depth, u.etag, u.last_modified, p.fetched_at, u.next_due, p.warc
    FROM urls u LEFT JOIN pages p ON p.id = u.page_id";

fn known(row: &Row<'_>) -> SqlResult<KnownUrl> {
    let snapshot_at: Option<i64> = row.get(4)?;
    let validators = match snapshot_at {
        Some(_) => Validators { etag: row.get(2)?, last_modified: row.get(3)? },
        None => Validators::default(),
    };
    let (next_due, warc) = (row.get(5)?, row.get(6)?);
    Ok(KnownUrl { url: url_at(row, 0)?, depth: row.get(1)?, validators, snapshot_at, next_due, warc })
}

impl Store {
    /// Puts a URL into the frontier; says whether it is new.
    pub fn save_url(&self, site: SiteId, url: &NewUrl) -> Result<bool, StoreError> {
        let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank) VALUES (?1, ?2, ?3, 0, ?4, ?5)
            ON CONFLICT DO NOTHING";
        self.execute(sql, params![site, url.fingerprint, &url.url, url.depth, url.rank]).map(|n| n > 0)
    }

    /// Puts URLs into the frontier. Those that are known already stay as they are.
    pub fn save_urls(&self, site: SiteId, urls: &[NewUrl]) -> Result<(), StoreError> {
        match self.is_shared() {
            true => self.save_urls_at_once(site, urls),
            false => urls.iter().try_for_each(|url| self.save_url(site, url).map(drop)),
        }
    }

    /// What is known of a URL.
    pub fn find_url(&self, site: SiteId, url: &PageUrl) -> Result<Option<KnownUrl>, StoreError> {
        let sql = format!("{KNOWN} WHERE u.site_id = ?1 AND u.fingerprint = ?2");
        self.find(&sql, params![site, url.fingerprint() as i64], known)
    }

    /// The next URLs of a site: known pages that are due first, then those that wait.
    pub fn next_urls(&self, run: i64, site: SiteId, wanted: &NextUrlsQuery) -> Result<Vec<KnownUrl>, StoreError> {
        let sql = format!(
            "{KNOWN} WHERE u.site_id = ?1 AND u.state > 0 AND u.run_id IS DISTINCT FROM ?2 AND u.next_due <= ?3
             AND (?4 OR u.page_id IS NOT NULL) ORDER BY u.next_due, u.id LIMIT ?5"
        );
        let due = if wanted.all { i64::MAX } else { wanted.now };
        let mut found: Vec<KnownUrl> =
            self.rows(&sql, params![site, run, due, wanted.waiting, wanted.n as i64], known)?;
        if wanted.waiting && found.len() < wanted.n {
            let sql = format!(
                "{KNOWN} WHERE u.site_id = ?1 AND u.state = 0 AND u.depth <= ?2 ORDER BY u.rank, u.id LIMIT ?3"
            );
            let rows: Vec<KnownUrl> =
                self.rows(&sql, params![site, wanted.depth, (wanted.n - found.len()) as i64], known)?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// Writes what came of a URL that gave no new page.
    pub fn end_url(
        &self,
        run: i64,
        site: SiteId,
        url: &PageUrl,
        outcome: UrlOutcome,
        at: i64,
        revisit: &Revisit,
    ) -> Result<Option<Change>, StoreError> {
        let fingerprint = url.fingerprint() as i64;
        let record = match self.record(run, site, url)? {
            Some((_, record)) => record,
            None => {
                let sql =
                    "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank) VALUES (?1, ?2, ?3, ?4, 0, 0)";
                self.execute(sql, params![site, fingerprint, url.as_str(), UrlState::Failed as i64])?;
                let (state, has_page, is_of_run) = (UrlState::Failed, false, false);
                UrlRecord { state, has_page, digest: None, text: None, interval_ms: None, is_of_run }
            }
        };
        let update = after_outcome(&record, outcome, revisit);
        let sql = "UPDATE urls SET state = ?3, run_id = ?4, checked_at = ?5, next_due = CAST(?5 AS BIGINT) + ?6, interval_ms = ?6
            WHERE site_id = ?1 AND fingerprint = ?2";
        let row = params![site, fingerprint, update.state as i64, run, at, update.interval_ms];
        self.execute(sql, row)?;
        Ok(update.change)
    }

    /// What is known about a URL, with the row of its newest snapshot.
    pub(super) fn record(
        &self,
        run: i64,
        site: SiteId,
        url: &PageUrl,
    ) -> Result<Option<(Option<i64>, UrlRecord)>, StoreError> {
        let sql =
            "SELECT page_id, state, digest, text_digest, page_text, text_model, interval_ms, run_id IS NOT DISTINCT FROM ?3 FROM urls
            WHERE site_id = ?1 AND fingerprint = ?2";
        let row = |row: &Row<'_>| {
            let page: Option<i64> = row.get(0)?;
            let record = UrlRecord {
                state: UrlState::from_number(row.get(1)?),
                has_page: page.is_some(),
                digest: row.get(2)?,
                text: text_mark(row, 3)?,
                interval_ms: row.get(6)?,
                is_of_run: row.get(7)?,
            };
            Ok((page, record))
        };
        self.find(sql, params![site, url.fingerprint() as i64, run], row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::store::RunRequest;

    #[test]
    fn the_frontier_gives_due_pages_first_and_each_once_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("f.db"), 3).unwrap();
        let run = store.begin_run(&RunRequest::default()).unwrap().id;
        let url = |path: &str| PageUrl::parse(&format!("http://a.b{path}")).unwrap();
        let mut seeds = [url("/"), url("/1"), url("/2"), url("/1#x"), url("//2?")].into_iter();
        let queued = store.queue_seeds(run, &mut seeds, true, 0).unwrap();
        assert_eq!((queued.sites, queued.urls), (1, 2));
        let site = store.next_sites(run, 0, 9, false).unwrap().remove(0).id;
        let revisit = Settings::default().revisit;
        let wanted = NextUrlsQuery { now: 0, all: false, waiting: true, depth: 9, n: 9 };
        let paths = |run: i64, wanted: &NextUrlsQuery| -> Vec<String> {
            store.next_urls(run, site, wanted).unwrap().iter().map(|known| known.url.to_string()).collect()
        };
        assert_eq!(paths(run, &wanted), ["http://a.b/1", "http://a.b/2"]);
        store.end_url(run, site, &url("/1"), UrlOutcome::Unchanged, 1000, &revisit).unwrap();
        assert_eq!(paths(run, &wanted), ["http://a.b/2"]);
        let all = NextUrlsQuery { all: true, ..wanted };
        assert_eq!(paths(run, &all), ["http://a.b/2"], "requested in this run");
        assert_eq!(paths(run + 1, &wanted), ["http://a.b/2"], "not due");
        assert_eq!(paths(run + 1, &all), ["http://a.b/1", "http://a.b/2"]);
        assert!(
            paths(run + 1, &NextUrlsQuery { now: i64::MAX, waiting: false, ..wanted }).is_empty(),
            "never seen, and no room for new ones"
        );
    }
}
