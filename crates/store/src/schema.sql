-- The tables of a SQLite file, version 1. All times are Unix time in milliseconds. postgres/schema.sql has the same.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    settings TEXT NOT NULL,                 -- what was asked for, JSON
    outcome TEXT,                           -- NULL while it runs: finished, interrupted
    seeds TEXT,                             -- mark of the seed lists that were read to their end
    asked TEXT,                             -- hash of the seeds and settings that it was begun with
    counts TEXT                             -- what it brought, JSON; NULL while it runs
);
CREATE TABLE sites (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,
    key_url TEXT NOT NULL,
    run_id INTEGER REFERENCES runs(id),     -- the last one that worked on it; NULL: its template was imported
    outcome TEXT,                           -- NULL while it is worked on: learned, kept, no_template, walked, not_due, failed,
                                            -- interrupted, moved
    reason TEXT,
    updated_at INTEGER NOT NULL,
    moved_to INTEGER REFERENCES sites(id),
    seed_url TEXT,                          -- what the list named; key_url is where that led
    template_run INTEGER,                   -- last run that learned its template, or found that it still fits
    reason_code TEXT,                       -- that of reason, see docs/nightly.md
    seed_kind INTEGER NOT NULL DEFAULT 0,   -- 0 a URL, 1 a host, 2 named by a list
    closed INTEGER NOT NULL DEFAULT 0       -- its robots.txt forbids every path
);
CREATE INDEX sites_moved ON sites (moved_to) WHERE moved_to IS NOT NULL;
CREATE INDEX sites_waiting ON sites (run_id, id) WHERE outcome IS NULL;
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    status INTEGER,                         -- NULL: could not be reached
    body BLOB NOT NULL,
    etag TEXT, last_modified TEXT,      -- validators of the next request for it
    rights_files TEXT                       -- files about rights, JSON; NULL: not asked for
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
    body BLOB NOT NULL,                     -- MessagePack, zstd
    UNIQUE (site_id, version)
);
CREATE TABLE template_kinds (               -- the kind of each training page of a template
    template_id INTEGER NOT NULL REFERENCES templates(id) ON DELETE CASCADE,
    fingerprint INTEGER NOT NULL,
    kind INTEGER NOT NULL,                  -- from 1, the one with the most training pages first
    PRIMARY KEY (template_id, fingerprint)
) WITHOUT ROWID;
CREATE TABLE bodies (                       -- what pages are made of, each once
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,            -- SHA-256 of the packed bytes
    body BLOB NOT NULL                      -- zstd
);
CREATE TABLE rights (                       -- what owners say about the use of pages, each once
    id INTEGER PRIMARY KEY,                  -- xxh3-64 of the text
    statements TEXT NOT NULL                -- JSON
);
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id),
    site_id INTEGER NOT NULL REFERENCES sites(id),
    url TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT,
    digest TEXT NOT NULL,                   -- SHA-256 of what raw_id names
    raw_id INTEGER REFERENCES bodies(id),   -- decoded body, or the tree that scripts have built, as HTML
    fetched_id INTEGER REFERENCES bodies(id), -- decoded body of a page that was rendered; NULL: it was not
    cleaned_id INTEGER REFERENCES bodies(id), -- HTML without template; NULL: not cleaned
    method TEXT,
    template_id INTEGER REFERENCES templates(id),
    confidence REAL,
    change TEXT,                            -- new, changed, same_text; NULL: not known yet
    noindex INTEGER NOT NULL DEFAULT 0,     -- its owner wants it in no collection
    nofollow INTEGER NOT NULL DEFAULT 0,    -- its owner wants none of its links followed
    warc TEXT,                              -- folder of the archive that holds it
    warc_record TEXT,                       -- WARC-Record-ID of its record there
    model INTEGER,                          -- number of the model and options that left the text
    nearest INTEGER,                        -- fingerprint of the training page whose template it shows most of
    rights_id INTEGER,                      -- as of the last visit that found this version; NULL: nothing is said
    UNIQUE (run_id, url)
);
CREATE INDEX pages_by_site ON pages (site_id, url, fetched_at);
CREATE INDEX pages_by_raw ON pages (raw_id);
CREATE INDEX pages_by_cleaned ON pages (cleaned_id);
CREATE INDEX pages_by_fetched ON pages (fetched_id) WHERE fetched_id IS NOT NULL;
CREATE INDEX pages_rendered ON pages (site_id) WHERE fetched_id IS NOT NULL;
CREATE VIEW page_bodies AS SELECT id, run_id, site_id, url,
    (SELECT body FROM bodies b WHERE b.id = raw_id) AS raw,
    (SELECT body FROM bodies b WHERE b.id = cleaned_id) AS cleaned,
    (SELECT body FROM bodies b WHERE b.id = fetched_id) AS fetched
    FROM pages;
CREATE VIEW page_kinds AS SELECT p.id, k.kind FROM pages p
    JOIN template_kinds k ON k.template_id = p.template_id AND k.fingerprint = p.nearest;
-- A body goes with the last page that has it.
CREATE TRIGGER bodies_of_deleted AFTER DELETE ON pages BEGIN
    DELETE FROM bodies WHERE id IN (OLD.raw_id, OLD.cleaned_id, OLD.fetched_id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE raw_id = bodies.id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE fetched_id = bodies.id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE cleaned_id = bodies.id);
END;
CREATE TRIGGER bodies_of_replaced AFTER UPDATE OF raw_id, cleaned_id, fetched_id ON pages
    WHEN OLD.raw_id IS NOT NEW.raw_id OR OLD.cleaned_id IS NOT NEW.cleaned_id
        OR OLD.fetched_id IS NOT NEW.fetched_id BEGIN
    DELETE FROM bodies WHERE id IN (OLD.raw_id, OLD.cleaned_id, OLD.fetched_id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE raw_id = bodies.id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE fetched_id = bodies.id)
        AND NOT EXISTS (SELECT 1 FROM pages WHERE cleaned_id = bodies.id);
END;
CREATE TABLE feed (                         -- what became of pages, in the order in which it was found
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
CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id),
    site_id INTEGER REFERENCES sites(id),
    url TEXT NOT NULL,
    kind TEXT NOT NULL,                     -- robots, rights, page, sitemap, probe, subresource
    sent_at INTEGER,                        -- NULL: nothing was sent
    took_ms INTEGER,
    status INTEGER,
    raw_bytes INTEGER,
    outcome TEXT NOT NULL,                  -- fetched, redirected, error, failed, forbidden, not_modified, gone, refused
    reason TEXT,
    redirect_to TEXT,                       -- where it leads, if it was redirected
    change TEXT,                            -- unchanged, gone, moved, blocked, failed, returned
    page_id INTEGER,                     -- the snapshot that answers it
    rights_id INTEGER                       -- what was said about the page then
);
CREATE INDEX visits_by_run ON visits (run_id);
CREATE INDEX visits_by_site ON visits (run_id, site_id);
CREATE TABLE states (                       -- what became of pages that were there: the last word of each run
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id),
    site_id INTEGER NOT NULL REFERENCES sites(id),
    url TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,                    -- gone, moved, blocked, failed; alive: it was one of these, and is back
    moved_to TEXT,
    UNIQUE (url, run_id)
);
CREATE INDEX states_by_run ON states (run_id);
CREATE INDEX states_moved ON states (moved_to) WHERE moved_to IS NOT NULL;
CREATE TABLE site_runs (                    -- how each site ended in each run that worked on it
    site_id INTEGER NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
    run_id INTEGER NOT NULL REFERENCES runs(id),
    outcome TEXT NOT NULL,
    reason TEXT,
    reason_code TEXT,
    PRIMARY KEY (site_id, run_id)
) WITHOUT ROWID;
CREATE INDEX site_runs_by_run ON site_runs (run_id);
CREATE TABLE urls (                         -- the frontier on disk, and what is known of each page
    id INTEGER PRIMARY KEY,
    site_id INTEGER NOT NULL REFERENCES sites(id),
    fingerprint INTEGER NOT NULL,           -- xxh3-64 of the canonical URL
    url TEXT NOT NULL,
    state INTEGER NOT NULL,                 -- 0 waiting, 1 known, 2 gone, 3 failed, 4 moved, 5 blocked
    depth INTEGER NOT NULL,
    rank INTEGER NOT NULL,                  -- smaller first, in a site
    run_id INTEGER,                         -- last run that asked for it
    seed_run INTEGER,                       -- last run whose seed list has it beside the key page of its site
    page_id INTEGER,                        -- newest snapshot
    etag TEXT, last_modified TEXT,
    digest TEXT,
    text_digest INTEGER,
    text_model INTEGER,                     -- number of the model and options of text_digest
    page_text INTEGER,                      -- digest of all text of the page
    checked_at INTEGER, changed_at INTEGER, next_due INTEGER, interval_ms INTEGER,
    doubted INTEGER                         -- digest of a text that was not taken for a version of the page
);
CREATE UNIQUE INDEX urls_seen ON urls (site_id, fingerprint);
CREATE INDEX urls_waiting ON urls (site_id, rank) WHERE state = 0;
CREATE INDEX urls_due ON urls (site_id, next_due) WHERE state > 0;
CREATE INDEX urls_of_seeds ON urls (seed_run, site_id, rank) WHERE seed_run IS NOT NULL;
CREATE INDEX urls_wanted ON urls (site_id, rank) WHERE seed_run IS NOT NULL AND seed_run IS DISTINCT FROM run_id;
CREATE TABLE changing_parts (               -- parts of pages that differ from night to night, see changing_parts.rs
    site_id INTEGER NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    nights INTEGER NOT NULL,                -- in a row on which it differed on nearly all pages
    run_id INTEGER NOT NULL,                -- the last one of them
    PRIMARY KEY (site_id, part)
) WITHOUT ROWID;
CREATE TABLE domains (                      -- domains that are put off
    name TEXT PRIMARY KEY,
    next_fetch INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE TABLE never (hash INTEGER PRIMARY KEY);  -- xxh3-64 of a host or a URL that was forgotten for good
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
CREATE TABLE collections (                  -- templates that TEXT found in a collection of mixed pages
    name TEXT PRIMARY KEY,
    learned_at INTEGER NOT NULL,
    n_pages INTEGER NOT NULL,
    n_templates INTEGER NOT NULL,
    body BLOB NOT NULL                      -- JSON, zstd
);
