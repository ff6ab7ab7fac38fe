-- Version 4: which URLs are seeds.
ALTER TABLE urls ADD COLUMN seed_run BIGINT;
ALTER TABLE sites ADD COLUMN seed_kind BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sites ADD COLUMN closed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE robots ADD COLUMN etag TEXT;
ALTER TABLE robots ADD COLUMN last_modified TEXT;
CREATE VIEW closed_sites AS SELECT id, host FROM sites WHERE closed;
CREATE TABLE never (hash BIGINT PRIMARY KEY);
CREATE INDEX urls_of_seeds ON urls (seed_run, site_id, rank) WHERE seed_run IS NOT NULL;
CREATE INDEX urls_wanted ON urls (site_id, rank, id) WHERE seed_run IS NOT NULL AND seed_run IS DISTINCT FROM run_id;
