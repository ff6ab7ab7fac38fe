-- Version 2: the kinds of pages.
ALTER TABLE pages ADD COLUMN nearest BIGINT;
CREATE TABLE template_kinds (
    template_id BIGINT NOT NULL REFERENCES templates(id) ON DELETE CASCADE,
    fingerprint BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    PRIMARY KEY (template_id, fingerprint)
);
CREATE VIEW page_kinds AS SELECT p.id, k.kind FROM pages p
    JOIN template_kinds k ON k.template_id = p.template_id AND k.fingerprint = p.nearest;
