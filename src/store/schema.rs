//! Tables and their versions.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::StoreError;

/// One script a version; a file of version n needs those from n on. Never edit one that was released.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    started_at INTEGER NOT NULL,            -- Unix time, milliseconds; so are all times
    ended_at INTEGER,
    settings TEXT NOT NULL,                 -- what was asked for, JSON
    outcome TEXT                            -- NULL while it runs: finished, interrupted
);
CREATE TABLE sites (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,
    key_url TEXT NOT NULL,
    run_id INTEGER REFERENCES runs(id),     -- the last one that worked on it; NULL: its template was imported
    outcome TEXT,                           -- NULL while it is worked on: learned, failed, interrupted, moved
    reason TEXT,
    updated_at INTEGER NOT NULL
);
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    status INTEGER,                         -- NULL: could not be reached
    body BLOB NOT NULL
);
CREATE TABLE templates (
    id INTEGER PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites(id),
    version INTEGER NOT NULL,               -- 1, 2, ... by site; none is ever deleted
    run_id INTEGER REFERENCES runs(id),     -- NULL: imported or learned from a folder
    learned_at INTEGER NOT NULL,
    method TEXT NOT NULL,
    parameters TEXT NOT NULL,               -- hash of the learning parameters
    key_url TEXT NOT NULL,
    n INTEGER NOT NULL, m INTEGER NOT NULL, t INTEGER NOT NULL,
    loads INTEGER NOT NULL,
    n_nodes INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    body BLOB NOT NULL,                     -- JSON, zstd
    UNIQUE (site_id, version)
);
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id),
    site_id INTEGER NOT NULL REFERENCES sites(id),
    url TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT,
    digest TEXT NOT NULL,                   -- SHA-256 of the decoded body
    raw BLOB NOT NULL,                      -- decoded body, zstd
    cleaned BLOB,                           -- HTML without template, zstd; NULL: not cleaned
    method TEXT,
    template_id INTEGER REFERENCES templates(id),
    confidence REAL,
    UNIQUE (run_id, url)
);
CREATE INDEX pages_by_site ON pages (site_id, url, fetched_at);
CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id),
    site_id INTEGER REFERENCES sites(id),
    url TEXT NOT NULL,
    kind TEXT NOT NULL,                     -- robots, page
    sent_at INTEGER,                        -- NULL: nothing was sent
    took_ms INTEGER,
    status INTEGER,
    raw_bytes INTEGER,
    outcome TEXT NOT NULL,                  -- fetched, redirected, error, failed, forbidden
    reason TEXT
);
CREATE INDEX visits_by_run ON visits (run_id);
",
    "
ALTER TABLE runs ADD COLUMN seeds TEXT;     -- mark of the seed lists that were read to their end
ALTER TABLE sites ADD COLUMN moved_to INTEGER REFERENCES sites(id);
CREATE INDEX sites_moved ON sites (moved_to) WHERE moved_to IS NOT NULL;
ALTER TABLE sites ADD COLUMN seed_url TEXT; -- what the list named; key_url is where that led
ALTER TABLE sites ADD COLUMN template_run INTEGER;  -- last run that learned its template, or found that it still fits
CREATE INDEX sites_waiting ON sites (run_id, id) WHERE outcome IS NULL;
ALTER TABLE pages ADD COLUMN change TEXT;   -- new, changed, same_text; NULL: not known yet, or from before version 2
ALTER TABLE pages ADD COLUMN noindex INTEGER NOT NULL DEFAULT 0;  -- its owner wants it in no collection
ALTER TABLE pages ADD COLUMN nofollow INTEGER NOT NULL DEFAULT 0; -- its owner wants none of its links followed
ALTER TABLE pages ADD COLUMN warc TEXT;     -- folder of the archive that holds it
ALTER TABLE visits ADD COLUMN change TEXT;  -- unchanged, gone
ALTER TABLE visits ADD COLUMN page_id INTEGER;  -- the snapshot that answers it
CREATE INDEX visits_by_site ON visits (run_id, site_id);
CREATE TABLE urls (                         -- the frontier on disk, and what is known of each page
    id INTEGER PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites(id),
    fingerprint INTEGER NOT NULL,           -- xxh3-64 of the canonical URL
    url TEXT NOT NULL,
    state INTEGER NOT NULL,                 -- 0 waiting, 1 known, 2 gone, 3 failed
    depth INTEGER NOT NULL,
    rank INTEGER NOT NULL,                  -- smaller first, in a site
    run_id INTEGER,                         -- last run that asked for it
    page_id INTEGER,                        -- newest snapshot
    etag TEXT, last_modified TEXT,
    digest TEXT, text_digest INTEGER,
    checked_at INTEGER, changed_at INTEGER, next_due INTEGER, interval_ms INTEGER
);
CREATE UNIQUE INDEX urls_seen ON urls (site_id, fingerprint);
CREATE INDEX urls_waiting ON urls (site_id, rank) WHERE state = 0;
CREATE INDEX urls_due ON urls (site_id, next_due) WHERE state > 0;
CREATE TABLE domains (                      -- domains that are put off
    name TEXT PRIMARY KEY,
    next_fetch INTEGER NOT NULL,
    reason TEXT NOT NULL
);
",
    "
CREATE TABLE strings (                      -- template strings of a source; learned anew they are replaced
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL UNIQUE,            -- a host, or what a user called it
    learned_at INTEGER NOT NULL,
    n_documents INTEGER NOT NULL,
    n_strings INTEGER NOT NULL,
    body BLOB NOT NULL                      -- JSON, zstd
);
CREATE TABLE string_sources (               -- which sources have a string, by the hash of its tokens
    hash INTEGER NOT NULL,
    source_id INTEGER NOT NULL REFERENCES strings(id),
    PRIMARY KEY (hash, source_id)
) WITHOUT ROWID;
CREATE INDEX string_sources_by_source ON string_sources (source_id);
",
    "
UPDATE templates SET method = 'site_model' WHERE method = 'witness';
UPDATE pages SET method = 'site_model' WHERE method = 'witness';
",
    "
ALTER TABLE runs ADD COLUMN asked TEXT;         -- hash of the seeds and settings that it was begun with
ALTER TABLE sites ADD COLUMN reason_code TEXT;  -- that of reason, see docs/nightly.md
ALTER TABLE pages ADD COLUMN model INTEGER;     -- number of the model and options that left the text
ALTER TABLE urls ADD COLUMN text_model INTEGER; -- that of text_digest
ALTER TABLE urls ADD COLUMN page_text INTEGER;  -- digest of all text of the page
",
    "
CREATE TABLE bodies (                           -- what pages are made of, each once
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,                -- SHA-256 of the packed bytes
    body BLOB NOT NULL                          -- zstd
);
ALTER TABLE pages ADD COLUMN raw_id INTEGER REFERENCES bodies(id);      -- NULL: raw itself, from before version 6
ALTER TABLE pages ADD COLUMN cleaned_id INTEGER REFERENCES bodies(id);  -- NULL: cleaned itself
CREATE INDEX pages_by_raw ON pages (raw_id);
CREATE INDEX pages_by_cleaned ON pages (cleaned_id);
CREATE VIEW page_bodies AS SELECT id, run_id, site_id, url,
    CASE WHEN raw_id IS NULL THEN raw ELSE (SELECT body FROM bodies b WHERE b.id = raw_id) END AS raw,
    CASE WHEN cleaned_id IS NULL THEN cleaned ELSE (SELECT body FROM bodies b WHERE b.id = cleaned_id) END AS cleaned
    FROM pages;
-- A body goes with the last page that has it.
CREATE TRIGGER bodies_of_deleted AFTER DELETE ON pages BEGIN
    DELETE FROM bodies WHERE id IN (OLD.raw_id, OLD.cleaned_id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE raw_id = bodies.id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE cleaned_id = bodies.id);
END;
CREATE TRIGGER bodies_of_replaced AFTER UPDATE OF raw_id, cleaned_id ON pages
    WHEN OLD.raw_id IS NOT NEW.raw_id OR OLD.cleaned_id IS NOT NEW.cleaned_id BEGIN
    DELETE FROM bodies WHERE id IN (OLD.raw_id, OLD.cleaned_id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE raw_id = bodies.id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE cleaned_id = bodies.id);
END;
",
    "
CREATE TABLE collections (                  -- templates that TEXT found in a collection of mixed pages
    name TEXT PRIMARY KEY,
    learned_at INTEGER NOT NULL,
    n_pages INTEGER NOT NULL,
    n_templates INTEGER NOT NULL,
    body BLOB NOT NULL                      -- JSON, zstd
);
",
    "
ALTER TABLE pages ADD COLUMN warc_record TEXT;  -- WARC-Record-ID of its record in the archive
CREATE VIEW page_records AS SELECT id, warc_record AS record FROM pages;
CREATE TABLE feed (                         -- new and changed pages in the order in which they were found so
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL,
    change TEXT NOT NULL
);
CREATE INDEX feed_by_page ON feed (page_id);
CREATE TRIGGER feed_of_inserted AFTER INSERT ON pages
    WHEN NEW.cleaned_id IS NOT NULL AND NEW.change IN ('new', 'changed') BEGIN
    INSERT INTO feed (page_id, change) VALUES (NEW.id, NEW.change);
END;
CREATE TRIGGER feed_of_updated AFTER UPDATE OF change, cleaned_id ON pages
    WHEN NEW.cleaned_id IS NOT NULL AND NEW.change IN ('new', 'changed')
        AND (OLD.cleaned_id IS NULL OR OLD.change IS NOT NEW.change) BEGIN
    INSERT INTO feed (page_id, change) VALUES (NEW.id, NEW.change);
END;
CREATE TRIGGER feed_of_deleted AFTER DELETE ON pages BEGIN
    DELETE FROM feed WHERE page_id = OLD.id;
END;
",
    "
ALTER TABLE pages ADD COLUMN nearest INTEGER;   -- fingerprint of the training page whose template it shows most of
CREATE TABLE template_kinds (                   -- the kind of each training page of a template
    template_id INTEGER NOT NULL REFERENCES templates(id) ON DELETE CASCADE,
    fingerprint INTEGER NOT NULL,
    kind INTEGER NOT NULL,                      -- from 1, the one with the most training pages first
    PRIMARY KEY (template_id, fingerprint)
) WITHOUT ROWID;
CREATE VIEW page_kinds AS SELECT p.id, k.kind FROM pages p
    JOIN template_kinds k ON k.template_id = p.template_id AND k.fingerprint = p.nearest;
",
    "
-- From here on, templates.body is MessagePack (zstd). JSON of earlier versions is still read.
",
    "
ALTER TABLE urls ADD COLUMN seed_run INTEGER;   -- last run whose seed list has it beside the key page of its site
ALTER TABLE sites ADD COLUMN seed_kind INTEGER NOT NULL DEFAULT 0;    -- 0 a URL, 1 a host, 2 named by a list
ALTER TABLE sites ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;       -- its robots.txt forbids every path
CREATE VIEW closed_sites AS SELECT id, host FROM sites WHERE closed;
ALTER TABLE robots ADD COLUMN etag TEXT;        -- validators of the next request for it
ALTER TABLE robots ADD COLUMN last_modified TEXT;
CREATE TABLE never (hash INTEGER PRIMARY KEY);  -- xxh3-64 of a host or a URL that was forgotten for good
CREATE INDEX urls_of_seeds ON urls (seed_run, site_id, rank) WHERE seed_run IS NOT NULL;
CREATE INDEX urls_wanted ON urls (site_id, rank) WHERE seed_run IS NOT NULL AND seed_run IS DISTINCT FROM run_id;
",
];

/// Views of former files, which are opened for reading and so not migrated, with the first version that has them.
const FORMER_VIEWS: [(i64, &str); 5] = [
    (6, "CREATE TEMP VIEW IF NOT EXISTS page_bodies AS SELECT id, run_id, site_id, url, raw, cleaned FROM pages"),
    (8, "CREATE TEMP VIEW IF NOT EXISTS page_records AS SELECT id, NULL AS record FROM pages"),
    (8, "CREATE TEMP VIEW IF NOT EXISTS feed AS SELECT 0 AS seq, 0 AS page_id, '' AS change WHERE 0"),
    (9, "CREATE TEMP VIEW IF NOT EXISTS page_kinds AS SELECT 0 AS id, 0 AS kind WHERE 0"),
    (11, "CREATE TEMP VIEW IF NOT EXISTS closed_sites AS SELECT 0 AS id, '' AS host WHERE 0"),
];

/// Marks a file as ours.
const APPLICATION_ID: i64 = 0x6465_6875;

/// Why a file is not opened.
pub(super) enum Refusal {
    Newer(i64),
    Foreign,
}

impl Refusal {
    pub(super) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Refusal::Newer(found) => StoreError::Newer { path, found, known: MIGRATIONS.len() as i64 },
            Refusal::Foreign => StoreError::Foreign { path },
        }
    }
}

/// Is this a file that this program can read as it is?
pub(super) fn check(connection: &Connection) -> rusqlite::Result<Result<(), Refusal>> {
    let (id, version) = marks(connection)?;
    if let Err(refusal) = refuse(id, version) {
        return Ok(Err(refusal));
    }
    let missing = FORMER_VIEWS.iter().filter(|(first, _)| version < *first);
    missing.map(|(_, view)| *view).try_for_each(|view| connection.execute_batch(view))?;
    Ok(Ok(()))
}

fn refuse(id: i64, version: i64) -> Result<(), Refusal> {
    match version {
        _ if id != APPLICATION_ID => Err(Refusal::Foreign),
        version if version > MIGRATIONS.len() as i64 => Err(Refusal::Newer(version)),
        _ => Ok(()),
    }
}

/// Is this a file that may be brought to the newest version?
pub(super) fn may_migrate(connection: &Connection) -> rusqlite::Result<Result<(), Refusal>> {
    let (id, version) = marks(connection)?;
    let is_empty: bool =
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    Ok(if is_empty { Ok(()) } else { refuse(id, version) })
}

/// Whether a file is ours and of the newest version.
pub(super) fn is_newest(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(marks(connection)? == (APPLICATION_ID, MIGRATIONS.len() as i64))
}

/// Brings a file to the newest version, in one transaction: of two that begin at once, the second finds it done.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<Result<(), Refusal>> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if let Err(refusal) = may_migrate(&transaction)? {
        return Ok(Err(refusal));
    }
    let (_, version) = marks(&transaction)?;
    for (at, script) in MIGRATIONS.iter().enumerate().skip(version as usize) {
        let marks = format!("PRAGMA user_version = {}; PRAGMA application_id = {APPLICATION_ID};", at + 1);
        transaction.execute_batch(&format!("{script}; {marks}"))?;
    }
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Ok(Ok(()))
}

fn marks(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((pragma("application_id")?, pragma("user_version")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    /// Version 3 was the last one before the names of the methods changed.
    const BEFORE_THE_RENAME: usize = 3;

    /// A file of version 3 with one template and one page, as the release of that version wrote them.
    fn former(path: &Path) {
        let connection = Connection::open(path).unwrap();
        for script in &MIGRATIONS[..BEFORE_THE_RENAME] {
            connection.execute_batch(script).unwrap();
        }
        let body = zstd::encode_all(include_bytes!("former_template.json").as_slice(), 0).unwrap();
        let insert =
            "INSERT INTO runs (id, started_at, ended_at, settings, outcome) VALUES (1, 0, 1, '{}', 'finished');
            INSERT INTO sites (id, host, key_url, run_id, outcome, updated_at)
                VALUES (1, 'a.org', 'http://a.org/', 1, 'learned', 0);
            INSERT INTO templates (site_id, version, run_id, learned_at, method, parameters, key_url, n, m, t, loads,
                n_nodes, schema, body)
                VALUES (1, 1, 1, 0, 'witness', 'x', 'http://a.org/', 3, 2, 2, 3, 1, 2, x'');
            INSERT INTO pages (run_id, site_id, url, fetched_at, status, digest, raw, method)
                VALUES (1, 1, 'http://a.org/', 0, 200, '', x'', 'witness');";
        connection.execute_batch(insert).unwrap();
        connection.execute("UPDATE templates SET body = ?1", [body]).unwrap();
        connection.pragma_update(None, "user_version", BEFORE_THE_RENAME as i64).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    }

    #[test]
    fn a_file_of_a_former_version_is_brought_to_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("former.sqlite");
        former(&path);
        // Reading changes nothing; writing migrates.
        for version in [BEFORE_THE_RENAME, MIGRATIONS.len()] {
            let store =
                if version == BEFORE_THE_RENAME { Store::open(&path) } else { Store::create(&path, 3) }.unwrap();
            let template = store.load_template("a.org", None).unwrap().unwrap();
            assert_eq!((template.host.as_str(), template.method.name()), ("a.org", "site_model"));
            assert_eq!(store.list_templates(None, true).unwrap()[0].method, "site_model");
            assert_eq!(marks(store.sqlite()).unwrap(), (APPLICATION_ID, version as i64));
        }
        let connection = Connection::open(&path).unwrap();
        for table in ["templates", "pages"] {
            let methods: String = connection
                .query_row(&format!("SELECT group_concat(method) FROM {table}"), [], |row| row.get(0))
                .unwrap();
            assert_eq!(methods, "site_model", "{table}");
        }
    }

    #[test]
    fn files_of_former_versions_are_read_as_they_are() {
        for version in BEFORE_THE_RENAME..MIGRATIONS.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("former.sqlite");
            former(&path);
            let connection = Connection::open(&path).unwrap();
            for script in &MIGRATIONS[BEFORE_THE_RENAME..version] {
                connection.execute_batch(script).unwrap();
            }
            connection.pragma_update(None, "user_version", version as i64).unwrap();
            let store = Store::open(&path).unwrap();
            assert_eq!(store.list_pages(None).unwrap().len(), 1, "version {version}");
            assert_eq!(store.list_runs(10).unwrap().len(), 1, "version {version}");
            assert_eq!(store.list_templates(None, true).unwrap().len(), 1, "version {version}");
            assert!(store.closed_hosts().unwrap().is_empty(), "version {version}");
            assert!(store.robots_of("a.org").unwrap().is_empty(), "version {version}");
            assert!(store.corpus_rows(&crate::store::CorpusQuery::default(), 0, 9).unwrap().is_empty());
            assert!(store.site("a.org").unwrap().is_some(), "version {version}");
        }
    }

    #[test]
    fn two_first_starts_at_once_make_one_file() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("new.db");
            let barrier = std::sync::Barrier::new(3);
            std::thread::scope(|scope| {
                let start = || {
                    barrier.wait();
                    Store::create(&path, 3).map(drop)
                };
                let starts: Vec<_> = (0..3).map(|_| scope.spawn(start)).collect();
                for start in starts {
                    start.join().unwrap().unwrap();
                }
            });
        }
    }

    #[test]
    fn a_file_is_not_migrated_under_a_crawl_that_works_on_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("former.sqlite");
        former(&path);
        let crawl = Store::open(&path).unwrap();
        crawl.lock_file().unwrap();
        assert!(matches!(Store::create(&path, 3).map(drop), Err(StoreError::Locked { .. })));
        assert_eq!(marks(crawl.sqlite()).unwrap(), (APPLICATION_ID, BEFORE_THE_RENAME as i64));
        drop(crawl);
        Store::create(&path, 3).unwrap();
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("newer.sqlite");
        drop(Store::create(&path, 3).unwrap());
        let newer = MIGRATIONS.len() as i64 + 1;
        Connection::open(&path).unwrap().pragma_update(None, "user_version", newer).unwrap();
        let error = Store::open(&path).map(|_| ()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found, .. } if found == newer), "{error}");
    }
}
