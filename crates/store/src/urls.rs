//! The frontier on disk, and what is known of each page: when it was seen, when it changed, when it is due again.
//!
//! A URL waits until what came of it is written, in one transaction with the page: a crash finds it waiting again.

use super::sql::{Row, SqlResult, params};

use super::recleaning::text_mark;
use super::states::Turn;
use super::{NextUrlsQuery, SiteId, Store, StoreError, url_at};
use crate::revisit::{Change, UrlOutcome, UrlRecord, UrlState, after_outcome, bounded, first};
use crate::validators::Validators;
use dehusk_html::PageUrl;
use dehusk_settings::Revisit;

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

/// The rank of a seed at this place of its list. Seeds go before all links.
pub(super) const fn seed_rank(place: i64) -> i64 {
    place - (1 << 40)
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
    /// Whether the seed list of the run names it.
    pub is_seed: bool,
}

impl KnownUrl {
    /// A URL of which nothing is known.
    pub fn new(url: PageUrl) -> KnownUrl {
        let (validators, is_seed) = (Validators::default(), false);
        KnownUrl { url, depth: 0, validators, snapshot_at: None, warc: None, next_due: None, is_seed }
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
    Ok(KnownUrl { url: url_at(row, 0)?, depth: row.get(1)?, validators, snapshot_at, next_due, warc, is_seed: false })
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
        if self.is_shared() {
            self.save_urls_at_once(site, urls)
        } else {
            urls.iter().try_for_each(|url| self.save_url(site, url).map(drop))
        }
    }

    /// Makes pages due that were modified since they were visited.
    pub(super) fn mark_modified(&self, site: SiteId, pages: &[(u64, i64)], at: i64) -> Result<(), StoreError> {
        let sql = "UPDATE urls SET next_due = ?4 WHERE site_id = ?1 AND fingerprint = ?2 AND state > 0
            AND checked_at < ?3 AND next_due > ?4";
        for (fingerprint, modified) in pages {
            self.execute(sql, params![site, *fingerprint as i64, modified, at])?;
        }
        Ok(())
    }

    /// Sets when pages are visited again that have been visited once.
    pub(super) fn suggest_intervals(
        &self,
        site: SiteId,
        pages: &[(u64, i64)],
        revisit: &Revisit,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE urls SET interval_ms = ?3, next_due = checked_at + ?3
            WHERE site_id = ?1 AND fingerprint = ?2 AND state = 1 AND interval_ms = ?4";
        for (fingerprint, every) in pages {
            let every = bounded(*every, revisit);
            self.execute(sql, params![site, *fingerprint as i64, every, first(revisit)])?;
        }
        Ok(())
    }

    /// Puts a seed into the frontier that is not the key page of its site. Says whether the list of the run names it
    /// for the first time.
    pub(super) fn save_seed(&self, run: i64, site: SiteId, url: &PageUrl, place: i64) -> Result<bool, StoreError> {
        let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, seed_run)
            VALUES (?1, ?2, ?3, 0, 0, ?4, ?5)
            ON CONFLICT (site_id, fingerprint) DO UPDATE SET seed_run = ?5, rank = ?4, depth = 0
            WHERE urls.seed_run IS DISTINCT FROM ?5";
        let row = params![site, url.fingerprint() as i64, url.as_str(), seed_rank(place), run];
        self.execute(sql, row).map(|n| n > 0)
    }

    /// Seeds of a site that the run has not visited, in the order of their list. Those that are known and not due by
    /// `due` are left out.
    fn next_seeds(&self, run: i64, site: SiteId, due: i64, n: usize) -> Result<Vec<KnownUrl>, StoreError> {
        let sql = format!(
            "{KNOWN} WHERE u.site_id = ?1 AND u.seed_run IS NOT NULL AND u.seed_run IS DISTINCT FROM u.run_id
             AND u.seed_run = ?2 AND (u.state = 0 OR u.next_due <= ?3) ORDER BY u.rank, u.id LIMIT ?4"
        );
        let found: Vec<KnownUrl> = self.rows(&sql, params![site, run, due, n as i64], known)?;
        Ok(found.into_iter().map(|known| KnownUrl { is_seed: true, ..known }).collect())
    }

    /// The seeds of a site beside its key page, visited or not, in the order of their list.
    pub(super) fn seeds_of(&self, run: i64, site: SiteId, n: usize) -> Result<Vec<PageUrl>, StoreError> {
        let sql = "SELECT url FROM urls WHERE seed_run = ?1 AND seed_run IS NOT NULL AND site_id = ?2
            ORDER BY rank, id LIMIT ?3";
        self.rows(sql, params![run, site, n as i64], |row| url_at(row, 0))
    }

    /// What is known of a URL.
    pub fn find_url(&self, site: SiteId, url: &PageUrl) -> Result<Option<KnownUrl>, StoreError> {
        let sql = format!("{KNOWN} WHERE u.site_id = ?1 AND u.fingerprint = ?2");
        self.find(&sql, params![site, url.fingerprint() as i64], known)
    }

    /// The next URLs of a site: seeds first, then known pages that are due, then those that wait.
    pub fn next_urls(&self, run: i64, site: SiteId, wanted: &NextUrlsQuery) -> Result<Vec<KnownUrl>, StoreError> {
        let due = if wanted.all { i64::MAX } else { wanted.now };
        let mut found = self.next_seeds(run, site, due, wanted.n)?;
        if found.len() < wanted.n {
            let sql = format!(
                "{KNOWN} WHERE u.site_id = ?1 AND u.state > 0 AND u.run_id IS DISTINCT FROM ?2 AND u.next_due <= ?3
                 AND u.seed_run IS DISTINCT FROM ?2 AND (?4 OR u.page_id IS NOT NULL)
                 ORDER BY u.next_due, u.id LIMIT ?5"
            );
            let left = (wanted.n - found.len()) as i64;
            let rows: Vec<KnownUrl> = self.rows(&sql, params![site, run, due, wanted.waiting, left], known)?;
            found.extend(rows);
        }
        let room = match wanted.max_known {
            0 => wanted.n,
            most if wanted.waiting => {
                let sql = "SELECT count(*) FROM urls WHERE site_id = ?1 AND page_id IS NOT NULL";
                most.saturating_sub(self.row::<i64>(sql, params![site], |row| row.get(0))? as usize)
            }
            _ => 0,
        };
        let left = room.min(wanted.n.saturating_sub(found.len()));
        if wanted.waiting && left > 0 {
            let sql = format!(
                "{KNOWN} WHERE u.site_id = ?1 AND u.state = 0 AND u.depth <= ?2 AND u.seed_run IS DISTINCT FROM ?4
                 ORDER BY u.rank, u.id LIMIT ?3"
            );
            let rows: Vec<KnownUrl> = self.rows(&sql, params![site, wanted.depth, left as i64, run], known)?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// Writes what came of a URL that gave no new page. `leads_to` is where it has moved to.
    pub fn end_url(
        &self,
        run: i64,
        site: SiteId,
        (url, outcome): (&PageUrl, UrlOutcome),
        leads_to: Option<&str>,
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
        let sql = "UPDATE urls SET state = ?3, run_id = ?4, checked_at = ?5, next_due = CAST(?5 AS BIGINT) + ?6, interval_ms = ?6,
                doubted = CASE WHEN ?7 THEN NULL ELSE doubted END
            WHERE site_id = ?1 AND fingerprint = ?2";
        let is_there = update.state == UrlState::Known;
        let row = params![site, fingerprint, update.state as i64, run, at, update.interval_ms, is_there];
        self.execute(sql, row)?;
        if record.has_page && update.state != record.state {
            let moved_to = leads_to.filter(|_| update.state == UrlState::Moved);
            let turn = Turn { from: record.state, to: update.state, moved_to };
            self.save_turn(run, site, url, at, &turn)?;
        }
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
    use crate::RunRequest;
    use crate::seed::Seed;
    use dehusk_settings::Settings;

    #[test]
    fn the_frontier_gives_due_pages_first_and_each_once_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("f.db"), 3).unwrap();
        let run = store.begin_run(&RunRequest::default()).unwrap().id;
        let url = |path: &str| PageUrl::parse(&format!("http://a.b{path}")).unwrap();
        let mut seeds = [url("/"), url("/1"), url("/2"), url("/1#x"), url("//2?")].into_iter().map(Seed::from);
        let queued = store.queue_seeds(run, &mut seeds, 0).unwrap();
        assert_eq!((queued.sites, queued.urls, queued.repeated), (1, 2, 2));
        let site = store.next_sites(run, 0, 9, false).unwrap().remove(0).id;
        let revisit = Settings::default().revisit;
        let wanted = NextUrlsQuery { now: 0, all: false, waiting: true, depth: 9, max_known: 0, n: 9 };
        let paths = |run: i64, wanted: &NextUrlsQuery| -> Vec<String> {
            store.next_urls(run, site, wanted).unwrap().iter().map(|known| known.url.to_string()).collect()
        };
        assert_eq!(paths(run, &wanted), ["http://a.b/1", "http://a.b/2"]);
        store.end_url(run, site, (&url("/1"), UrlOutcome::Unchanged), None, 1000, &revisit).unwrap();
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
