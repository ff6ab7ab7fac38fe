//! Reads what the inspector shows: sites, pages and runs, in parts of a bounded number of rows.

use serde::Serialize;

use super::read::{PAGE, bare_host, page};
use super::sql::{Row, SqlResult, params};
use super::{PageRow, Store, StoreError};

/// Which sites are listed.
#[derive(Clone, Debug, Default)]
pub struct SiteQuery {
    /// Only hosts that contain this text.
    pub text: String,
    /// Only sites of this outcome; `waiting` for those that have none.
    pub outcome: Option<String>,
    /// The last worked on first, instead of by host.
    pub newest_first: bool,
    /// Only sites behind this one in the order.
    pub after: Option<(i64, String)>,
    /// At most this many.
    pub limit: usize,
}

/// A site and what is known of it.
#[derive(Clone, Debug, Serialize)]
pub struct SiteListing {
    /// Host.
    pub host: String,
    /// Key page.
    pub key_url: String,
    /// How it ended in the last run that worked on it; `None` while it waits or is worked on.
    pub outcome: Option<String>,
    /// Why it failed, or has no template.
    pub reason: Option<String>,
    /// Unix milliseconds.
    pub updated_at: i64,
    /// The last run that worked on it.
    pub run: Option<i64>,
    /// Newest version of its template.
    pub version: Option<i64>,
    /// When that was learned, Unix milliseconds.
    pub learned_at: Option<i64>,
    /// Pages that are stored.
    pub pages: i64,
    /// Mean confidence of the labels of its pages in each run, the oldest first.
    pub confidence: Vec<(i64, f64)>,
}

/// Requests that did not give a page, for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct RequestFailures {
    /// `error`, `failed` or `forbidden`.
    pub outcome: String,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The reason.
    pub reason: Option<String>,
    /// Number of requests.
    pub n: i64,
    /// One of them.
    pub example: String,
}

/// Requests of a part of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RequestRate {
    /// Number of the part, from 0.
    pub part: i64,
    /// Requests sent in it.
    pub requests: i64,
    /// Bytes of their bodies, as sent.
    pub bytes: i64,
}

/// How many gaps between two requests to a site are about as long.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GapCount {
    /// Number of the class: the gap divided by the width of a class.
    pub class: i64,
    /// Number of gaps.
    pub n: i64,
    /// The shortest, in milliseconds.
    pub shortest: i64,
}

const SITE_OF: &str = "SELECT s.host, s.key_url, s.outcome, s.reason, s.updated_at, s.run_id,
    (SELECT max(version) FROM templates t WHERE t.site_id = s.id),
    (SELECT max(learned_at) FROM templates t WHERE t.site_id = s.id),
    (SELECT count(*) FROM urls u WHERE u.site_id = s.id AND u.page_id IS NOT NULL)
    FROM";

fn site(row: &Row<'_>) -> SqlResult<SiteListing> {
    Ok(SiteListing {
        host: row.get(0)?,
        key_url: row.get(1)?,
        outcome: row.get(2)?,
        reason: row.get(3)?,
        updated_at: row.get(4)?,
        run: row.get(5)?,
        version: row.get(6)?,
        learned_at: row.get(7)?,
        pages: row.get(8)?,
        confidence: Vec::new(),
    })
}

/// Bytes of the longest host with its port.
const MOST_HOST: usize = 253 + ":65535".len();

/// A text as a part of any other, for LIKE with `\` as its escape.
fn part_of(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{}%", escaped.to_lowercase())
}

impl Store {
    /// Sites in the order that is asked for. Sites that moved are listed under their new name only.
    pub fn sites(&self, query: &SiteQuery) -> Result<Vec<SiteListing>, StoreError> {
        // SQLite refuses a pattern of 50,000 bytes.
        if query.text.len() > MOST_HOST {
            return Ok(Vec::new());
        }
        let (behind, order) = if query.newest_first {
            ("s.updated_at < ?3 OR (s.updated_at = ?3 AND s.host > ?4)", "s.updated_at DESC, s.host")
        } else {
            ("s.host > ?4", "s.host")
        };
        // The sites are chosen before anything is counted for them.
        let sql = format!(
            "{SITE_OF} (SELECT * FROM sites s WHERE s.moved_to IS NULL AND s.host LIKE ?1 ESCAPE '\\'
              AND (CAST(?2 AS TEXT) IS NULL OR coalesce(s.outcome, 'waiting') = ?2)
              AND (CAST(?3 AS BIGINT) IS NULL OR {behind}) AND CAST(?4 AS TEXT) IS NOT NULL
              ORDER BY {order} LIMIT ?5) AS s ORDER BY {order}"
        );
        let (at, host) = query.after.as_ref().map_or((None, ""), |(at, host)| (Some(*at), host.as_str()));
        let row = params![part_of(&query.text), query.outcome.as_deref(), at, host, query.limit as i64];
        let mut sites = self.rows(&sql, row, site)?;
        self.add_confidence(&mut sites)?;
        Ok(sites)
    }

    /// One site.
    pub fn site(&self, host: &str) -> Result<Option<SiteListing>, StoreError> {
        let sql = format!("{SITE_OF} sites s WHERE s.host IN (?1, 'www.' || ?1) ORDER BY s.host LIMIT 1");
        let mut sites: Vec<SiteListing> = self.find(&sql, params![bare_host(host)], site)?.into_iter().collect();
        self.add_confidence(&mut sites)?;
        Ok(sites.pop())
    }

    fn add_confidence(&self, sites: &mut [SiteListing]) -> Result<(), StoreError> {
        let hosts: Vec<&str> = sites.iter().map(|site| site.host.as_str()).collect();
        let sql = format!(
            "SELECT s.host, p.run_id, avg(p.confidence) FROM pages p JOIN sites s ON s.id = p.site_id
            WHERE {is_among} AND p.confidence IS NOT NULL GROUP BY s.host, p.run_id ORDER BY s.host, p.run_id",
            is_among = self.connection.is_among("s.host", "?1")
        );
        let hosts = serde_json::json!(hosts).to_string();
        let row = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?, row.get::<f64>(2)?));
        for (host, run, confidence) in self.rows(&sql, params![hosts], row)? {
            let of_host = sites.iter_mut().find(|site| site.host == host);
            of_host.into_iter().for_each(|site| site.confidence.push((run, confidence)));
        }
        Ok(())
    }

    /// How many sites have each outcome.
    pub fn count_sites(&self) -> Result<Vec<(String, i64)>, StoreError> {
        let sql = "SELECT coalesce(outcome, 'waiting'), count(*) FROM sites WHERE moved_to IS NULL
            GROUP BY 1 ORDER BY 2 DESC, 1";
        self.rows(sql, params![], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The newest snapshots of pages of a site behind a URL, in the order of their URLs.
    pub fn pages_after(&self, host: &str, after: &str, limit: usize) -> Result<Vec<PageRow>, StoreError> {
        let sql = format!(
            "{PAGE} WHERE s.host = ?1 AND p.url > ?2 AND p.id = (SELECT id FROM pages
              WHERE site_id = p.site_id AND url = p.url ORDER BY fetched_at DESC, id DESC LIMIT 1)
            ORDER BY p.url LIMIT ?3"
        );
        self.rows(&sql, params![host, after, limit as i64], page)
    }

    /// The URLs of the pages of a site before and behind a URL.
    pub fn pages_beside(&self, host: &str, url: &str) -> Result<(Option<String>, Option<String>), StoreError> {
        let beside = |condition: &str| {
            let sql = format!(
                "SELECT p.url FROM pages p JOIN sites s ON s.id = p.site_id WHERE s.host = ?1 AND p.url {condition} LIMIT 1"
            );
            self.find(&sql, params![host, url], |row| row.get(0))
        };
        Ok((beside("< ?2 ORDER BY p.url DESC")?, beside("> ?2 ORDER BY p.url")?))
    }

    /// When the oldest run began, Unix milliseconds.
    pub fn first_run_began(&self) -> Result<Option<i64>, StoreError> {
        self.row("SELECT min(started_at) FROM runs", params![], |row| row.get(0))
    }

    /// The settings of a run, as JSON.
    pub fn run_settings(&self, run: i64) -> Result<Option<String>, StoreError> {
        self.find("SELECT settings FROM runs WHERE id = ?1", params![run], |row| row.get(0))
    }

    /// The delay between two requests that the settings of a run ask for, in milliseconds.
    pub fn run_delay_ms(&self, run: i64) -> Result<i64, StoreError> {
        let settings = self.run_settings(run)?.and_then(|json| serde_json::from_str::<serde_json::Value>(&json).ok());
        let part = |name: &str| settings.as_ref().and_then(|of| of["politeness"]["delay"][name].as_i64()).unwrap_or(0);
        Ok(part("secs").saturating_mul(1000).saturating_add(part("nanos") / 1_000_000))
    }

    /// Bytes of the cleaned HTML and of the bodies of the pages of each site that a run stored, as packed.
    pub fn bytes_by_site(&self, run: i64) -> Result<Vec<(i64, i64)>, StoreError> {
        let sql = "SELECT CAST(sum(length(cleaned)) AS BIGINT), CAST(sum(length(raw)) AS BIGINT) FROM page_bodies
            WHERE run_id = ?1 AND cleaned IS NOT NULL AND raw IS NOT NULL GROUP BY site_id";
        self.rows(sql, params![run], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Why requests of a run gave no page, the most frequent reasons first. A robots.txt that is not there is no
    /// failure: it forbids nothing. An address that a site is asked for because it has none there is none either.
    pub fn run_failures(&self, run: i64, limit: usize) -> Result<Vec<RequestFailures>, StoreError> {
        let sql = "SELECT outcome, status, reason, count(*), min(url) FROM visits
            WHERE run_id = ?1 AND outcome IN ('error', 'failed', 'forbidden')
              AND NOT (kind IN ('robots', 'probe') AND coalesce(status, 0) BETWEEN 400 AND 499)
            GROUP BY outcome, status, reason ORDER BY 4 DESC, 5 LIMIT ?2";
        self.rows(sql, params![run, limit as i64], |row| {
            Ok(RequestFailures {
                outcome: row.get(0)?,
                status: row.get(1)?,
                reason: row.get(2)?,
                n: row.get(3)?,
                example: row.get(4)?,
            })
        })
    }

    /// Requests of a run over time, in parts of so many milliseconds from its first request on.
    pub fn run_rate(&self, run: i64, part_ms: i64) -> Result<Vec<RequestRate>, StoreError> {
        let sql = "SELECT (v.sent_at - first.sent_at) / CAST(?2 AS BIGINT), count(*),
                CAST(coalesce(sum(v.raw_bytes), 0) AS BIGINT)
            FROM visits v, (SELECT min(sent_at) AS sent_at FROM visits WHERE run_id = ?1) AS first
            WHERE v.run_id = ?1 AND v.sent_at IS NOT NULL GROUP BY 1 ORDER BY 1";
        self.rows(sql, params![run, part_ms.max(1)], |row| {
            Ok(RequestRate { part: row.get(0)?, requests: row.get(1)?, bytes: row.get(2)? })
        })
    }

    /// Gaps between requests to one site in a run, in classes of so many milliseconds, the shortest ones first.
    pub fn run_gaps(&self, run: i64, class_ms: i64, limit: usize) -> Result<Vec<GapCount>, StoreError> {
        let sql = "SELECT gap / CAST(?2 AS BIGINT), count(*), min(gap) FROM (
                SELECT sent_at - lag(sent_at) OVER (PARTITION BY site_id ORDER BY sent_at, id) AS gap
                FROM visits WHERE run_id = ?1 AND sent_at IS NOT NULL AND site_id IS NOT NULL) AS gaps
            WHERE gap IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT ?3";
        self.rows(sql, params![run, class_ms.max(1), limit as i64], |row| {
            Ok(GapCount { class: row.get(0)?, n: row.get(1)?, shortest: row.get(2)? })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(dir: &std::path::Path) -> Store {
        let store = Store::create(&dir.join("i.db"), 3).unwrap();
        let insert = "INSERT INTO runs (id, started_at, settings) VALUES (1, 0, '{}');
            INSERT INTO sites (id, host, key_url, run_id, outcome, updated_at) VALUES
                (1, 'a.org', 'http://a.org/', 1, 'learned', 30), (2, 'b.org', 'http://b.org/', 1, 'failed', 10),
                (3, 'c_d.org', 'http://c_d.org/', 1, NULL, 30), (4, 'old.org', 'http://old.org/', 1, 'moved', 40);
            UPDATE sites SET moved_to = 1 WHERE id = 4;
            INSERT INTO pages (run_id, site_id, url, fetched_at, status, digest, confidence) VALUES
                (1, 1, 'http://a.org/', 0, 200, '', .5), (1, 1, 'http://a.org/x', 0, 200, '', 1.0);
            INSERT INTO visits (run_id, site_id, url, kind, sent_at, raw_bytes, outcome, reason) VALUES
                (1, 1, 'http://a.org/', 'page', 1000, 10, 'fetched', NULL),
                (1, 1, 'http://a.org/x', 'page', 2100, 20, 'fetched', NULL),
                (1, 1, 'http://a.org/y', 'page', 3100, NULL, 'failed', 'timeout'),
                (1, 2, 'http://b.org/', 'page', 1500, NULL, 'failed', 'timeout'),
                (1, 2, 'http://b.org/z', 'page', NULL, NULL, 'forbidden', 'robots.txt forbids it');";
        store.batch(insert).unwrap();
        store
    }

    #[test]
    fn sites_are_listed_in_parts_without_a_gap_or_a_repeat() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        for newest_first in [false, true] {
            let mut query = SiteQuery { newest_first, limit: 1, ..SiteQuery::default() };
            let mut hosts = Vec::new();
            while let Some(site) = store.sites(&query).unwrap().pop() {
                query.after = Some((site.updated_at, site.host.clone()));
                hosts.push(site.host);
            }
            assert_eq!(hosts, if newest_first { ["a.org", "c_d.org", "b.org"] } else { ["a.org", "b.org", "c_d.org"] });
        }
        let found = |text: &str, outcome: Option<&str>| {
            let outcome = outcome.map(str::to_owned);
            let query = SiteQuery { text: text.to_owned(), outcome, limit: 9, ..SiteQuery::default() };
            store.sites(&query).unwrap().into_iter().map(|site| site.host).collect::<Vec<_>>()
        };
        assert!(found(&"a".repeat(60_000), None).is_empty());
        assert_eq!(found("_", None), ["c_d.org"], "what has a meaning in LIKE is a letter here");
        assert_eq!(found("ORG", Some("waiting")), ["c_d.org"]);
        assert_eq!(store.site("www.a.org").unwrap().unwrap().confidence, [(1, 0.75)]);
        assert_eq!(store.count_sites().unwrap().len(), 3);
    }

    #[test]
    fn a_run_is_summed_up() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let failures = store.run_failures(1, 9).unwrap();
        assert_eq!((failures[0].n, failures[0].example.as_str()), (2, "http://a.org/y"));
        assert_eq!(failures[1].outcome, "forbidden");
        let rate = store.run_rate(1, 1000).unwrap();
        assert_eq!(
            rate.iter().map(|part| (part.part, part.requests, part.bytes)).collect::<Vec<_>>(),
            [(0, 2, 10), (1, 1, 20), (2, 1, 0)]
        );
        let gaps = store.run_gaps(1, 250, 9).unwrap();
        assert_eq!(gaps.iter().map(|gap| (gap.class, gap.n, gap.shortest)).collect::<Vec<_>>(), [(4, 2, 1000)]);
    }

    #[test]
    fn pages_are_found_one_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let urls = |after: &str| store.pages_after("a.org", after, 9).unwrap().into_iter().map(|row| row.url);
        assert_eq!(urls("http://a.org/").collect::<Vec<_>>(), ["http://a.org/x"]);
        let beside = store.pages_beside("a.org", "http://a.org/").unwrap();
        assert_eq!(beside, (None, Some("http://a.org/x".to_owned())));
    }
}
