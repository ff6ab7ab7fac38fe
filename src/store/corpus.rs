//! Reads pages for a corpus, in the order in which they were stored, and filters rows by an expression of SQL.

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params, params_from_iter};

use super::{Store, StoreError};

/// A cleaned page, without its bytes.
#[derive(Clone, Debug)]
pub struct CorpusRow {
    /// Row number: later pages have greater ones.
    pub id: i64,
    /// Run.
    pub run: i64,
    /// Site.
    pub host: String,
    /// After redirects.
    pub url: String,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// HTTP status.
    pub status: u16,
    /// As sent.
    pub content_type: Option<String>,
    /// SHA-256 of the decoded body.
    pub digest: String,
    /// Folder of the archive that holds the exchange.
    pub warc: Option<String>,
    /// Whether its owner wants it in no collection.
    pub noindex: bool,
}

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
}

fn corpus_row(row: &Row<'_>) -> rusqlite::Result<CorpusRow> {
    Ok(CorpusRow {
        id: row.get(0)?,
        run: row.get(1)?,
        host: row.get(2)?,
        url: row.get(3)?,
        fetched_at: row.get(4)?,
        status: row.get(5)?,
        content_type: row.get(6)?,
        digest: row.get(7)?,
        warc: row.get(8)?,
        noindex: row.get(9)?,
    })
}

impl Store {
    /// The page up to which all pages are what they will be; 0 if there is none. Pages of a site that a crawl has not
    /// ended yet may still be cleaned.
    pub fn last_settled_page(&self) -> Result<i64, StoreError> {
        let sql = "SELECT COALESCE(
            (SELECT min(p.id) - 1 FROM sites s JOIN pages p ON p.site_id = s.id
                WHERE s.outcome IS NULL AND p.cleaned IS NULL AND p.run_id = s.run_id),
            (SELECT max(id) FROM pages), 0)";
        self.wrap(self.connection.query_row(sql, [], |row| row.get(0)))
    }

    /// The next cleaned pages after this row.
    pub fn corpus_rows(&self, query: &CorpusQuery, after: i64, limit: usize) -> Result<Vec<CorpusRow>, StoreError> {
        let sql = "SELECT p.id, p.run_id, s.host, p.url, p.fetched_at, p.status, p.content_type, p.digest, p.warc,
                p.noindex
            FROM pages p JOIN sites s ON s.id = p.site_id
            WHERE p.id > ?1 AND p.id <= ?2 AND p.run_id > ?3 AND p.cleaned IS NOT NULL
              AND (?4 = '[]' OR s.host IN (SELECT value FROM json_each(?4)))
              AND (?5 OR p.id = (SELECT id FROM pages WHERE site_id = p.site_id AND url = p.url AND id <= ?2
                AND cleaned IS NOT NULL ORDER BY fetched_at DESC, id DESC LIMIT 1))
            ORDER BY p.id LIMIT ?6";
        let hosts: Vec<String> = query.hosts.iter().flat_map(|host| [host.clone(), format!("www.{host}")]).collect();
        let hosts = serde_json::to_string(&hosts).unwrap_or_default();
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = params![after, query.upto, query.since, hosts, query.all_versions, limit as i64];
        let rows = statement.query_map(row, corpus_row);
        self.wrap(self.wrap(rows)?.collect())
    }

    /// Body of a page as fetched.
    pub fn load_body(&self, row: &CorpusRow) -> Result<Vec<u8>, StoreError> {
        self.decompress(&row.url, &self.raw_of(row.id)?)
    }

    /// The newest pages of a host that were fetched with success, at most `limit`.
    pub fn sample_pages(&self, host: &str, upto: i64, limit: usize) -> Result<Vec<CorpusRow>, StoreError> {
        let sql = "SELECT p.id, p.run_id, s.host, p.url, p.fetched_at, p.status, p.content_type, p.digest, p.warc,
                p.noindex
            FROM sites s JOIN pages p ON p.site_id = s.id
            WHERE s.host = ?1 AND p.id <= ?2 AND p.cleaned IS NOT NULL GROUP BY p.digest ORDER BY p.id LIMIT ?3";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let rows = statement.query_map(params![host, upto, limit as i64], corpus_row);
        self.wrap(self.wrap(rows)?.collect())
    }
}

/// A value of a row, for a [`RowFilter`].
#[derive(Clone, Copy, Debug)]
pub enum FilterValue<'a> {
    /// Nothing.
    Null,
    /// Text.
    Text(&'a str),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
}

/// An expression of SQL over the columns of a row: `n_words >= 50 AND language IN ('en', 'de')`.
pub struct RowFilter {
    connection: Connection,
    sql: String,
}

impl RowFilter {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// What is wrong with it, by SQLite.
    pub fn new(expression: &str, columns: &[&str]) -> Result<RowFilter, String> {
        let connection = Connection::open_in_memory().map_err(|e| e.to_string())?;
        let named: Vec<String> =
            columns.iter().enumerate().map(|(at, name)| format!("?{} AS {name}", at + 1)).collect();
        let sql = format!("SELECT COALESCE(({expression}\n), 0) FROM (SELECT {})", named.join(", "));
        connection.prepare(&sql).map_err(|e| reason(&e))?;
        Ok(RowFilter { connection, sql })
    }

    /// Whether the expression is true for a row. Nothing is as good as false.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression for this row, by SQLite.
    pub fn keeps(&self, values: &[FilterValue<'_>]) -> Result<bool, String> {
        let mut statement = self.connection.prepare_cached(&self.sql).map_err(|e| reason(&e))?;
        let bound: Vec<Box<dyn ToSql + '_>> = values
            .iter()
            .map(|value| -> Box<dyn ToSql + '_> {
                match value {
                    FilterValue::Null => Box::new(None::<i64>),
                    FilterValue::Text(text) => Box::new(*text),
                    FilterValue::Whole(number) => Box::new(*number),
                    FilterValue::Real(number) => Box::new(*number),
                }
            })
            .collect();
        statement.query_row(params_from_iter(bound), |row| row.get(0)).map_err(|e| reason(&e))
    }
}

/// What SQLite says of the expression, without the statement that it is part of.
fn reason(error: &rusqlite::Error) -> String {
    let message = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    };
    message.lines().next().unwrap_or_default().to_owned()
}

/// Texts that were seen, on disk: the first page that has each.
pub struct SeenTexts {
    connection: Connection,
}

impl SeenTexts {
    /// Opens or makes the file, and forgets what was seen after part `part` was begun.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn open(path: &std::path::Path, part: i64) -> Result<SeenTexts, String> {
        let open = || {
            let connection = Connection::open(path)?;
            connection.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                CREATE TABLE IF NOT EXISTS seen (digest INTEGER PRIMARY KEY, url TEXT NOT NULL, part INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY, url TEXT NOT NULL, part INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS bands (band INTEGER PRIMARY KEY, document INTEGER NOT NULL);",
            )?;
            connection.execute("DELETE FROM seen WHERE part >= ?1", [part])?;
            let later = "SELECT id FROM documents WHERE part >= ?1";
            connection.execute(&format!("DELETE FROM bands WHERE document IN ({later})"), [part])?;
            connection.execute("DELETE FROM documents WHERE part >= ?1", [part])?;
            connection.execute_batch("BEGIN")?;
            Ok(SeenTexts { connection })
        };
        open().map_err(|e: rusqlite::Error| format!("{}: {e}", path.display()))
    }

    /// The page that had this text first. A text that is new is remembered for `url`.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn first(&self, digest: u64, url: &str, part: i64) -> Result<Option<String>, String> {
        let known = || -> rusqlite::Result<Option<String>> {
            let mut insert = self.connection.prepare_cached("INSERT OR IGNORE INTO seen VALUES (?1, ?2, ?3)")?;
            if insert.execute(params![digest as i64, url, part])? == 1 {
                return Ok(None);
            }
            let mut select = self.connection.prepare_cached("SELECT url FROM seen WHERE digest = ?1")?;
            select.query_row([digest as i64], |row| row.get(0)).map(Some)
        };
        known().map_err(|e| e.to_string())
    }

    /// The page that shares a band with this text, the first one. The bands of a text that is new are remembered.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn near(&self, bands: &[u64], url: &str, part: i64) -> Result<Option<String>, String> {
        let known = || -> rusqlite::Result<Option<String>> {
            let sql = "SELECT d.url FROM bands b JOIN documents d ON d.id = b.document WHERE b.band = ?1";
            let mut select = self.connection.prepare_cached(sql)?;
            for band in bands {
                if let Some(url) = select.query_row([*band as i64], |row| row.get(0)).optional()? {
                    return Ok(Some(url));
                }
            }
            let insert = "INSERT INTO documents (url, part) VALUES (?1, ?2)";
            self.connection.prepare_cached(insert)?.execute(params![url, part])?;
            let document = self.connection.last_insert_rowid();
            let mut insert = self.connection.prepare_cached("INSERT OR IGNORE INTO bands VALUES (?1, ?2)")?;
            bands.iter().try_for_each(|band| insert.execute(params![*band as i64, document]).map(drop))?;
            Ok(None)
        };
        known().map_err(|e| e.to_string())
    }

    /// Writes what was remembered to the disk.
    ///
    /// # Errors
    ///
    /// What SQLite says.
    pub fn commit(&self) -> Result<(), String> {
        self.connection.execute_batch("COMMIT; BEGIN").map_err(|e| e.to_string())
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
            INSERT INTO pages (id, run_id, site_id, url, fetched_at, status, digest, raw, cleaned)
                VALUES (1, 1, 1, 'http://a/', 0, 200, '', x'', x''), (2, 1, 1, 'http://a/failed', 0, 500, '', x'', NULL),
                (3, 1, 2, 'http://b/', 0, 200, '', x'', NULL), (4, 1, 1, 'http://a/later', 0, 200, '', x'', x'');";
        store.connection.execute_batch(insert).unwrap();
        let ids = |upto| {
            let query = CorpusQuery { upto, ..CorpusQuery::default() };
            store.corpus_rows(&query, 0, 9).unwrap().iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(store.last_settled_page().unwrap(), 2);
        assert_eq!(ids(2), [1]);
        store.connection.execute("UPDATE sites SET outcome = 'failed'", []).unwrap();
        assert_eq!(store.last_settled_page().unwrap(), 4);
        assert_eq!(ids(4), [1, 4]);
    }

    #[test]
    fn rows_are_filtered_by_expressions() {
        let filter =
            RowFilter::new("n_words >= 5 AND language IN ('en', 'de') -- why", &["n_words", "language"]).unwrap();
        let keeps = |n, language| filter.keeps(&[FilterValue::Whole(n), language]).unwrap();
        assert!(keeps(5, FilterValue::Text("en")));
        assert!(
            !keeps(4, FilterValue::Text("en")) && !keeps(9, FilterValue::Text("fr")) && !keeps(9, FilterValue::Null)
        );
        for (wrong, says) in [("n_wrds > 1", "n_wrds"), ("n_words >", "syntax"), ("1) FROM (SELECT 2", "")] {
            let error = RowFilter::new(wrong, &["n_words", "language"]).map(drop).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn texts_are_seen_once_and_forgotten_from_a_part_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("seen.sqlite");
        let seen = SeenTexts::open(&path, 0).unwrap();
        assert_eq!(seen.first(7, "a", 0).unwrap(), None);
        assert_eq!(seen.first(7, "b", 0).unwrap().as_deref(), Some("a"));
        seen.commit().unwrap();
        assert_eq!(seen.first(8, "c", 1).unwrap(), None);
        seen.commit().unwrap();
        drop(seen);
        let again = SeenTexts::open(&path, 1).unwrap();
        assert_eq!((again.first(7, "x", 1).unwrap().as_deref(), again.first(8, "d", 1).unwrap()), (Some("a"), None));
    }
}
