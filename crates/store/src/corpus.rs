//! Reads pages for a corpus, in the order in which they were stored.

use super::sql::params;

use super::read::{PAGE, PAGE_AS_OF, STATE_AS_OF, page};
use super::{PageRow, Store, StoreError};

/// Which pages a corpus has.
#[derive(Clone, Debug, Default)]
pub struct CorpusQuery {
    /// The last page to read.
    pub upto: i64,
    /// Only pages of later runs.
    pub since: i64,
    /// Only these hosts, if there are any.
    pub hosts: Vec<String>,
    /// Every version of a page instead of the newest.
    pub all_versions: bool,
    /// As the store was after this run; `None`: as it is.
    pub as_of: Option<i64>,
    /// Only pages in these states, if there are any.
    pub states: Vec<String>,
}

impl Store {
    /// The page up to which all pages are what they will be; 0 if there is none. Pages of a site that a crawl has not
    /// ended yet may still be cleaned.
    pub fn last_settled_page(&self) -> Result<i64, StoreError> {
        self.wait_for_pages()?;
        let sql = "SELECT COALESCE(
            (SELECT min(p.id) - 1 FROM sites s JOIN pages p ON p.site_id = s.id
                WHERE s.outcome IS NULL AND p.cleaned_id IS NULL AND p.run_id = s.run_id),
            (SELECT max(id) FROM pages), 0)";
        self.row(sql, params![], |row| row.get(0))
    }

    /// The next cleaned pages after this row.
    pub fn corpus_rows(&self, query: &CorpusQuery, after: i64, limit: usize) -> Result<Vec<PageRow>, StoreError> {
        let sql = format!(
            "{PAGE_AS_OF} WHERE p.id > ?2 AND p.id <= ?3 AND p.run_id > ?4 AND p.run_id <= ?1
              AND p.cleaned_id IS NOT NULL AND (CAST(?5 AS TEXT) = '[]' OR {is_among})
              AND (CAST(?8 AS TEXT) = '[]' OR {has_state})
              AND (?6 OR p.id = (SELECT id FROM pages WHERE site_id = p.site_id AND url = p.url AND id <= ?3
                AND run_id <= ?1 AND cleaned_id IS NOT NULL ORDER BY fetched_at DESC, id DESC LIMIT 1))
            ORDER BY p.id LIMIT ?7",
            is_among = self.connection.is_among("s.host", "?5"),
            has_state = self.connection.is_among(STATE_AS_OF, "?8"),
        );
        let hosts: Vec<String> = query.hosts.iter().flat_map(|host| [host.clone(), format!("www.{host}")]).collect();
        let list = |texts: &[String]| serde_json::json!(texts).to_string();
        let as_of = query.as_of.unwrap_or(i64::MAX);
        let (hosts, states) = (list(&hosts), list(&query.states));
        let row = params![as_of, after, query.upto, query.since, hosts, query.all_versions, limit as i64, states];
        self.rows(&sql, row, page)
    }

    /// Address of a page.
    pub fn page_url(&self, id: i64) -> Result<Option<String>, StoreError> {
        self.find("SELECT url FROM pages WHERE id = ?1", params![id], |row| row.get(0))
    }

    /// The newest pages of a host that were fetched with success, at most `limit`.
    pub fn sample_pages(&self, host: &str, upto: i64, limit: usize) -> Result<Vec<PageRow>, StoreError> {
        let sql = format!(
            "{PAGE} WHERE p.id IN (SELECT max(p.id) FROM pages p JOIN sites s ON s.id = p.site_id
                WHERE s.host = ?1 AND p.id <= ?2 AND p.cleaned_id IS NOT NULL GROUP BY p.digest) ORDER BY p.id LIMIT ?3"
        );
        self.rows(&sql, params![host, upto, limit as i64], page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_a_crawl_will_clean_are_left_for_later() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("c.db"), 3).unwrap();
        assert_eq!(store.last_settled_page().unwrap(), 0);
        let insert = "INSERT INTO runs (id, started_at, settings) VALUES (1, 0, '{}');
            INSERT INTO sites (id, host, key_url, run_id, outcome, updated_at)
                VALUES (1, 'a', 'http://a/', 1, 'learned', 0), (2, 'b', 'http://b/', 1, NULL, 0);
            INSERT INTO bodies (id, digest, body) VALUES (1, x'', x'');
            INSERT INTO pages (id, run_id, site_id, url, fetched_at, status, digest, cleaned_id)
                VALUES (1, 1, 1, 'http://a/', 0, 200, '', 1), (2, 1, 1, 'http://a/failed', 0, 500, '', NULL),
                (3, 1, 2, 'http://b/', 0, 200, '', NULL), (4, 1, 1, 'http://a/later', 0, 200, '', 1);";
        store.sqlite().execute_batch(insert).unwrap();
        let ids = |upto| {
            let query = CorpusQuery { upto, ..CorpusQuery::default() };
            store.corpus_rows(&query, 0, 9).unwrap().iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(store.last_settled_page().unwrap(), 2);
        assert_eq!(ids(2), [1]);
        store.sqlite().execute("UPDATE sites SET outcome = 'failed'", []).unwrap();
        assert_eq!(store.last_settled_page().unwrap(), 4);
        assert_eq!(ids(4), [1, 4]);
    }
}
