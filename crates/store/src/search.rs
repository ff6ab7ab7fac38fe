//! Full-text search over cleaned pages, in a file of its own beside the store: `crawl.db.search`.
//!
//! The file is an SQLite database with an FTS5 table. It can be deleted at any time and made again, and the store is
//! not touched. Words are found without regard to case and accents. Ideographs have no blanks between words, so each is
//! a word here, and several in a row are searched as a phrase.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;

use super::StoreError;
use dehusk_files::private_file;

/// Changed with the table below: a file of another number is made anew.
const VERSION: i64 = 2;

const SCHEMA: &str = "
CREATE VIRTUAL TABLE texts USING fts5(title, text, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE pages (page INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL);
CREATE INDEX pages_by_host ON pages (host);
CREATE TABLE hidden (host TEXT PRIMARY KEY);
CREATE TABLE reached (page INTEGER NOT NULL, store TEXT NOT NULL);
";

/// An index of the texts of a store.
pub struct SearchIndex {
    connection: Connection,
    path: PathBuf,
}

/// A page to be found.
pub struct IndexedPage {
    /// Number of its snapshot.
    pub page: i64,
    /// URL.
    pub url: String,
    /// Site.
    pub host: String,
    /// Title.
    pub title: String,
    /// Cleaned text.
    pub text: String,
}

/// A page that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// URL.
    pub url: String,
    /// Site.
    pub host: String,
    /// Title.
    pub title: String,
    /// Text around the words: parts in turn without and with a word that was asked for.
    pub snippet: Vec<String>,
}

/// The file of the index of a store that is a file.
pub fn search_file(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".search");
    PathBuf::from(name)
}

/// Written before and behind a word that was found. No text of a page has them.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

impl SearchIndex {
    /// Opens an index for writing, and makes it when there is none. `store` is a mark of the store: an index of another
    /// one is made anew.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the file cannot be written.
    pub fn create(path: &Path, store: &str) -> Result<SearchIndex, StoreError> {
        // What is wrong with the place SQLite says.
        drop(private_file().create(true).truncate(false).open(path));
        let index = SearchIndex::connect(path, OpenFlags::default())?;
        let made = || -> rusqlite::Result<()> {
            index.connection.execute_batch("PRAGMA synchronous = NORMAL")?;
            if index.mark()?.as_deref() != Some(store) {
                let drop = "DROP TABLE IF EXISTS texts; DROP TABLE IF EXISTS pages;
                    DROP TABLE IF EXISTS hidden; DROP TABLE IF EXISTS reached;";
                index
                    .connection
                    .execute_batch(&format!("BEGIN; {drop} {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT"))?;
                index.connection.execute("INSERT INTO reached VALUES (0, ?1)", [store])?;
            }
            Ok(())
        };
        made().map_err(|e| index.failed(e))?;
        Ok(index)
    }

    /// Opens an index for reading; `None` when there is none. No permission to write is needed.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the file cannot be read.
    pub fn open(path: &Path) -> Result<Option<SearchIndex>, StoreError> {
        SearchIndex::existing(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Opens an index for [`forget`](SearchIndex::forget); `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the file cannot be read.
    pub fn open_to_edit(path: &Path) -> Result<Option<SearchIndex>, StoreError> {
        SearchIndex::existing(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    fn existing(path: &Path, flags: OpenFlags) -> Result<Option<SearchIndex>, StoreError> {
        if !path.is_file() {
            return Ok(None);
        }
        let index = SearchIndex::connect(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let mark = index.mark().map_err(|e| index.failed(e))?;
        Ok(mark.map(|_| index))
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<SearchIndex, StoreError> {
        let failed = |reason| StoreError::Sqlite { path: path.to_owned(), reason };
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(failed)?;
        Ok(SearchIndex { connection, path: path.to_owned() })
    }

    fn failed(&self, reason: rusqlite::Error) -> StoreError {
        StoreError::Sqlite { path: self.path.clone(), reason }
    }

    /// The mark of the store that is indexed; `None` for another version, and for a new file.
    fn mark(&self) -> rusqlite::Result<Option<String>> {
        let version: i64 = self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            return Ok(None);
        }
        self.connection.query_row("SELECT store FROM reached", [], |row| row.get(0)).optional()
    }

    /// The snapshot up to which pages are indexed.
    pub fn reached(&self) -> Result<i64, StoreError> {
        let reached = self.connection.query_row("SELECT page FROM reached", [], |row| row.get(0));
        reached.map_err(|e| self.failed(e))
    }

    /// Adds pages in one transaction; a page takes the place of an earlier version. Those at the URLs `left_out` are
    /// removed.
    pub fn add(&mut self, pages: &[IndexedPage], left_out: &[String], reached: i64) -> Result<(), StoreError> {
        let add = || -> rusqlite::Result<()> {
            let transaction = self.connection.unchecked_transaction()?;
            for url in left_out {
                remove(&transaction, "url = ?1", url)?;
            }
            for page in pages {
                remove(&transaction, "url = ?1", &page.url)?;
                let sql = "INSERT INTO pages (page, url, host) VALUES (?1, ?2, ?3)";
                transaction.prepare_cached(sql)?.execute(params![page.page, page.url, page.host])?;
                let sql = "INSERT INTO texts (rowid, title, text) VALUES (?1, ?2, ?3)";
                let row = params![page.page, spaced(&page.title), spaced(&page.text)];
                transaction.prepare_cached(sql)?.execute(row)?;
            }
            transaction.execute("UPDATE reached SET page = ?1", [reached])?;
            transaction.commit()
        };
        add().map_err(|e| self.failed(e))
    }

    /// Hides the pages of these hosts, and of no others.
    pub fn hide(&mut self, hosts: &[String]) -> Result<(), StoreError> {
        let hide = || -> rusqlite::Result<()> {
            let transaction = self.connection.unchecked_transaction()?;
            transaction.execute("DELETE FROM hidden", [])?;
            for host in hosts {
                transaction.prepare_cached("INSERT OR IGNORE INTO hidden (host) VALUES (?1)")?.execute([host])?;
            }
            transaction.commit()
        };
        hide().map_err(|e| self.failed(e))
    }

    /// Removes a page, by its URL, or all pages of a host. Returns their number.
    pub fn forget(&mut self, what: &str) -> Result<usize, StoreError> {
        let forget = || -> rusqlite::Result<usize> {
            let transaction = self.connection.unchecked_transaction()?;
            let n = remove(&transaction, "?1 IN (url, host, 'www.' || host) OR host = 'www.' || ?1", what)?;
            transaction.commit()?;
            // What was deleted must not be left in the pages of the file.
            self.connection.execute_batch("INSERT INTO texts (texts) VALUES ('optimize'); VACUUM")?;
            Ok(n)
        };
        forget().map_err(|e| self.failed(e))
    }

    /// Number of pages that can be found.
    pub fn n_pages(&self) -> Result<i64, StoreError> {
        let n = self.connection.query_row("SELECT count(*) FROM pages", [], |row| row.get(0));
        n.map_err(|e| self.failed(e))
    }

    /// The pages that have all words of a query, the best ones first. The last word may be the beginning of one.
    pub fn find(&self, query: &str, limit: usize) -> Result<Vec<Hit>, StoreError> {
        let query = fts_query(query);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let [begin, end] = MARKS;
        let find = || -> rusqlite::Result<Vec<Hit>> {
            let sql = "SELECT p.url, p.host, t.title, snippet(texts, 1, ?2, ?3, ' … ', 40)
                FROM texts t JOIN pages p ON p.page = t.rowid WHERE texts MATCH ?1
                AND p.host NOT IN (SELECT host FROM hidden)
                ORDER BY bm25(texts, 5.0, 1.0) LIMIT ?4";
            let mut statement = self.connection.prepare_cached(sql)?;
            let row = params![query, begin.to_string(), end.to_string(), limit as i64];
            let hits = statement.query_map(row, |row| {
                let (title, snippet): (String, String) = (row.get(2)?, row.get(3)?);
                let snippet = joined(&snippet).split(MARKS).map(str::to_owned).collect();
                Ok(Hit { url: row.get(0)?, host: row.get(1)?, title: joined(&title), snippet })
            })?;
            hits.collect()
        };
        find().map_err(|e| self.failed(e))
    }
}

/// Removes the pages of a condition with one parameter.
fn remove(connection: &Connection, condition: &str, value: &str) -> rusqlite::Result<usize> {
    let sql = format!("DELETE FROM texts WHERE rowid IN (SELECT page FROM pages WHERE {condition})");
    connection.prepare_cached(&sql)?.execute([value])?;
    connection.prepare_cached(&format!("DELETE FROM pages WHERE {condition}"))?.execute([value])
}

/// A separator that is not seen.
const BETWEEN: char = '\u{200B}';

/// Ideographs and kana, of which each is a word.
fn is_word_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// A text with a separator around each ideograph, and without the marks.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !MARKS.contains(c)) {
        if is_word_alone(c) { out.extend([BETWEEN, c, BETWEEN]) } else { out.push(c) }
    }
    out
}

fn joined(text: &str) -> String {
    text.replace(BETWEEN, "")
}

/// The words of a query as FTS5 reads them: all of them, each a phrase in quotation marks.
fn fts_query(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    let phrases = words.map(|word| format!("\"{}\"", spaced(word).replace('"', "\"\"")));
    let query = phrases.collect::<Vec<_>>().join(" ");
    if query.is_empty() { query } else { query + "*" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(page: i64, url: &str, title: &str, text: &str) -> IndexedPage {
        let host = url.split('/').nth(2).unwrap_or_default().to_owned();
        IndexedPage { page, url: url.to_owned(), host, title: title.to_owned(), text: text.to_owned() }
    }

    fn urls(index: &SearchIndex, query: &str) -> Vec<String> {
        index.find(query, 9).unwrap().into_iter().map(|hit| hit.url).collect()
    }

    #[test]
    fn pages_are_found_in_any_language_and_versions_replace_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = search_file(&dir.path().join("s.db"));
        assert!(SearchIndex::open(&path).unwrap().is_none());
        let mut index = SearchIndex::create(&path, "store 1").unwrap();
        let pages = [
            page(1, "http://a.org/1", "Rye", "Rye is a grass. Café crème is none."),
            page(2, "http://a.org/2", "Oats", "Oats are no rye, but a grass."),
            page(3, "http://b.org/3", "天气", "北京的天气很好，我们去公园。"),
        ];
        index.add(&pages, &[], 3).unwrap();
        assert_eq!(urls(&index, "rye"), ["http://a.org/1", "http://a.org/2"], "the title counts more");
        assert_eq!(urls(&index, "CAFE gras"), ["http://a.org/1"]);
        assert_eq!(urls(&index, "天气"), ["http://b.org/3"]);
        assert_eq!(urls(&index, "气天"), Vec::<String>::new(), "ideographs in a row are a phrase");
        let hit = index.find("公园", 1).unwrap().remove(0);
        assert_eq!(hit.snippet.concat(), "北京的天气很好，我们去公园。");
        for strange in ["\"", "*", "NEAR(", "a OR", "-", "title:x \"", "", "^", "(((", "\u{0}"] {
            urls(&index, strange);
        }
        index
            .add(&[page(4, "http://a.org/1", "Rye", "Now it is about barley.")], &["http://a.org/2".to_owned()], 4)
            .unwrap();
        assert_eq!(urls(&index, "café"), Vec::<String>::new());
        assert_eq!((index.reached().unwrap(), index.n_pages().unwrap()), (4, 2));
        assert_eq!(urls(&index, "oats"), Vec::<String>::new(), "left out since");
        index.hide(&["a.org".to_owned()]).unwrap();
        assert_eq!(urls(&index, "barley"), Vec::<String>::new());
        index.hide(&["b.org".to_owned()]).unwrap();
        assert_eq!(urls(&index, "barley"), ["http://a.org/1"]);
        assert_eq!(index.forget("a.org").unwrap(), 1);
        assert_eq!(urls(&index, "grass"), Vec::<String>::new());
        drop(index);
        assert_eq!(SearchIndex::create(&path, "store 1").unwrap().n_pages().unwrap(), 1);
        assert_eq!(
            SearchIndex::create(&path, "store 2").unwrap().reached().unwrap(),
            0,
            "another store is indexed anew"
        );
    }
}
