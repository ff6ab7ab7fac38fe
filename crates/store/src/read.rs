//! Reads what commands show.

use super::sql::{Row, SqlResult, params};
use dehusk_core::rights::Rights;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Store, StoreError};
use dehusk_html::PageUrl;
use dehusk_html::scan_canonical;

/// A stored template without its body.
#[derive(Clone, Debug, Serialize)]
pub struct TemplateRow {
    /// Site.
    pub host: String,
    /// Version of the site's template, from 1.
    pub version: i64,
    /// Unix milliseconds.
    pub learned_at: i64,
    /// Method.
    pub method: String,
    /// Key page.
    pub key_url: String,
    /// Pages that voted.
    pub m: i64,
    /// Votes needed.
    pub t: i64,
    /// Pages loaded.
    pub loads: i64,
    /// Template nodes.
    pub n_nodes: i64,
}

/// A stored page without its bytes.
#[derive(Clone, Debug, Serialize)]
pub struct PageRow {
    /// Row number.
    #[serde(skip)]
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
    /// Other URLs of its site with the same body.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Whether its owner wants it in no collection: it asks for noindex, or the robots.txt of its site forbids every
    /// path by now.
    pub noindex: bool,
    /// What is said about its use.
    #[serde(skip_serializing_if = "Rights::is_empty")]
    pub rights: Rights,
    /// Method that cleaned it.
    pub method: Option<String>,
    /// Share of the template that it shows.
    pub confidence: Option<f64>,
    /// Version of the template that cleaned it.
    pub template_version: Option<i64>,
    /// Its kind among the pages of its site, from 1, where that template knows kinds.
    pub kind: Option<i64>,
    /// What became of it since: `alive`, `gone`, `moved`, `blocked` (by robots.txt), or `failed` (at the last visit).
    pub state: String,
    /// Folder of the archive that holds the exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc: Option<String>,
    /// `WARC-Record-ID` of its record there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc_record: Option<String>,
    /// Whether its body is the tree that scripts have built.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rendered: bool,
}

/// What became of a page `p` by the runs up to one.
macro_rules! state {
    ($upto:literal) => {
        concat!(
            "coalesce((SELECT t.state FROM states t WHERE t.url = p.url AND t.run_id >= p.run_id AND t.run_id <= ",
            $upto,
            " ORDER BY t.run_id DESC LIMIT 1), 'alive')"
        )
    };
}

macro_rules! page_columns {
    ($upto:literal) => {
        concat!(
            "p.id, p.run_id, s.host, p.url, p.fetched_at, p.status, p.content_type, p.digest, p.method, p.confidence,
            (p.noindex OR s.closed), p.warc, p.warc_record,
            (SELECT version FROM templates t WHERE t.id = p.template_id),
            (SELECT kind FROM page_kinds k WHERE k.id = p.id), ",
            state!($upto),
            ", (SELECT statements FROM rights r WHERE r.id = p.rights_id), p.fetched_id IS NOT NULL"
        )
    };
}

macro_rules! page {
    ($upto:literal) => {
        concat!("SELECT ", page_columns!($upto), " FROM pages p JOIN sites s ON s.id = p.site_id")
    };
}

/// What a [`PageRow`] is read from, of a page `p` and its site `s`.
pub(super) const PAGE_COLUMNS: &str = page_columns!("9223372036854775807");

/// Number of [`PAGE_COLUMNS`].
pub(super) const PAGE_COLUMN_COUNT: usize = 18;

/// Selects pages.
pub(super) const PAGE: &str = page!("9223372036854775807");

/// Selects pages with their states after the run `?1`.
pub(super) const PAGE_AS_OF: &str = page!("?1");

/// The state of a page `p` after the run `?1`.
pub(super) const STATE_AS_OF: &str = state!("?1");

/// The page of a row that begins with [`PAGE_COLUMNS`].
pub(super) fn page(row: &Row<'_>) -> SqlResult<PageRow> {
    Ok(PageRow {
        id: row.get(0)?,
        run: row.get(1)?,
        host: row.get(2)?,
        url: row.get(3)?,
        fetched_at: row.get(4)?,
        status: row.get(5)?,
        content_type: row.get(6)?,
        digest: row.get(7)?,
        method: row.get(8)?,
        confidence: row.get(9)?,
        aliases: Vec::new(),
        noindex: row.get(10)?,
        warc: row.get(11)?,
        warc_record: row.get(12)?,
        template_version: row.get(13)?,
        kind: row.get(14)?,
        state: row.get(15)?,
        rights: Rights::from_text(row.get::<Option<String>>(16)?.as_deref()),
        rendered: row.get(17)?,
    })
}

/// A host as users write it: `www.` and capitals do not matter.
pub(super) fn bare_host(host: &str) -> String {
    let lower = host.to_ascii_lowercase();
    lower.strip_prefix("www.").map_or(lower.clone(), str::to_owned)
}

impl Store {
    /// One row for pages of a site with the same body, such as `/x/` and `/x/index.html`, with the other URLs as its
    /// aliases. It is the row that the canonical link of the body names, else that of the shortest URL. The order
    /// stays.
    pub fn merge_aliases(&self, rows: Vec<PageRow>) -> Result<Vec<PageRow>, StoreError> {
        // A page that is not there any more is none of those that are.
        let away =
            |row: &PageRow| Some(row.state.clone()).filter(|state| !matches!(state.as_str(), "alive" | "failed"));
        let mut twins: FxHashMap<(String, String, Option<String>), Vec<usize>> = FxHashMap::default();
        for (at, row) in rows.iter().enumerate() {
            twins.entry((row.host.clone(), row.digest.clone(), away(row))).or_default().push(at);
        }
        let mut main: FxHashMap<usize, Vec<String>> = FxHashMap::default();
        for twins in twins.into_values() {
            let is_named = |at: &usize, canonical: &PageUrl| rows[*at].url == canonical.as_str();
            let canonical = if twins.len() > 1 { self.canonical_link(&rows[twins[0]])? } else { None };
            let named = canonical.and_then(|canonical| twins.iter().copied().find(|at| is_named(at, &canonical)));
            let shortest = twins.iter().copied().min_by_key(|at| (rows[*at].url.len(), &rows[*at].url));
            let Some(chosen) = named.or(shortest) else { continue };
            let others = twins.iter().filter(|at| **at != chosen).map(|at| rows[*at].url.clone());
            main.insert(chosen, others.collect());
        }
        let with_aliases = |(at, row)| main.remove(&at).map(|aliases| PageRow { aliases, ..row });
        Ok(rows.into_iter().enumerate().filter_map(with_aliases).collect())
    }

    fn canonical_link(&self, row: &PageRow) -> Result<Option<PageUrl>, StoreError> {
        let raw = self.load_raw(row)?;
        Ok(scan_canonical(&raw).zip(PageUrl::parse(&row.url).ok()).and_then(|(href, url)| url.join(&href)))
    }

    /// Stored templates, newest version first within a site; of one host when given.
    pub fn list_templates(&self, host: Option<&str>, all_versions: bool) -> Result<Vec<TemplateRow>, StoreError> {
        let sql = "SELECT s.host, t.version, t.learned_at, t.method, t.key_url, t.m, t.t, t.loads, t.n_nodes
            FROM templates t JOIN sites s ON s.id = t.site_id
            WHERE (CAST(?1 AS TEXT) IS NULL OR s.host IN (?1, 'www.' || ?1))
              AND (?2 OR t.version = (SELECT max(version) FROM templates WHERE site_id = t.site_id))
            ORDER BY s.host, t.version DESC";
        self.rows(sql, params![host.map(bare_host), all_versions], |row| {
            Ok(TemplateRow {
                host: row.get(0)?,
                version: row.get(1)?,
                learned_at: row.get(2)?,
                method: row.get(3)?,
                key_url: row.get(4)?,
                m: row.get(5)?,
                t: row.get(6)?,
                loads: row.get(7)?,
                n_nodes: row.get(8)?,
            })
        })
    }

    /// The newest snapshot of each page, also of those that ask for noindex; of one host when given.
    pub fn list_pages(&self, host: Option<&str>) -> Result<Vec<PageRow>, StoreError> {
        self.list_pages_as_of(host, i64::MAX)
    }

    /// The newest snapshot of each page up to a run, also of those that ask for noindex; of one host when given. A
    /// version that was deleted since is missing.
    pub fn list_pages_as_of(&self, host: Option<&str>, run: i64) -> Result<Vec<PageRow>, StoreError> {
        let sql = format!(
            "{PAGE_AS_OF} WHERE (CAST(?2 AS TEXT) IS NULL OR s.host IN (?2, 'www.' || ?2))
             AND p.id = (SELECT id FROM pages WHERE site_id = p.site_id AND url = p.url AND run_id <= ?1
                ORDER BY fetched_at DESC LIMIT 1)
             ORDER BY s.host, p.url"
        );
        self.rows(&sql, params![run, host.map(bare_host)], page)
    }

    /// Hosts of this name, with and without a port.
    pub fn near_hosts(&self, host: &str) -> Result<Vec<String>, StoreError> {
        let name = bare_host(host.rsplit_once(':').map_or(host, |(name, _)| name));
        let sql =
            "SELECT host FROM sites WHERE host IN (?1, 'www.' || ?1) OR substr(host, 1, length(?1) + 1) = ?1 || ':'
            ORDER BY host LIMIT 5";
        self.rows(sql, params![name], |row| row.get(0))
    }

    /// Newest snapshot of one page.
    pub fn find_page(&self, url: &str) -> Result<Option<PageRow>, StoreError> {
        let sql = format!("{PAGE} WHERE p.url = ?1 ORDER BY p.fetched_at DESC LIMIT 1");
        self.find(&sql, params![url], page)
    }

    /// The newest version of a page that was fetched by then (Unix milliseconds).
    pub fn find_page_by(&self, url: &str, at: i64) -> Result<Option<PageRow>, StoreError> {
        let sql = format!("{PAGE} WHERE p.url = ?1 AND p.fetched_at <= ?2 ORDER BY p.fetched_at DESC LIMIT 1");
        self.find(&sql, params![url, at], page)
    }

    /// All stored versions of one page, oldest first.
    pub fn page_versions(&self, url: &str) -> Result<Vec<PageRow>, StoreError> {
        let sql = format!("{PAGE} WHERE p.url = ?1 ORDER BY p.fetched_at");
        self.rows(&sql, params![url], page)
    }

    /// Body of a page as fetched, or as its scripts have built it.
    pub fn load_raw(&self, row: &PageRow) -> Result<Vec<u8>, StoreError> {
        self.decompress(&row.url, &self.raw_of(row.id)?)
    }

    /// Body of a page as fetched, whether it was rendered or not.
    pub fn load_fetched(&self, row: &PageRow) -> Result<Vec<u8>, StoreError> {
        match self.fetched_of(row.id)? {
            Some(body) => self.decompress(&row.url, &body),
            None => self.load_raw(row),
        }
    }

    /// A page without its template as HTML; `None` when it was not cleaned.
    pub fn load_cleaned(&self, row: &PageRow) -> Result<Option<String>, StoreError> {
        let Some(body) = self.cleaned_of(row.id)? else { return Ok(None) };
        let html = self.decompress(&row.url, &body)?;
        String::from_utf8(html).map(Some).map_err(|e| self.damaged(&row.url, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack;

    #[test]
    fn a_page_that_came_back_is_no_former_address() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("moves.sqlite"), 3).unwrap();
        let moves = "INSERT INTO runs (id, started_at, settings) VALUES (1, 0, '{}'), (2, 1, '{}');
            INSERT INTO sites (id, host, key_url, updated_at) VALUES (1, 'a', 'http://a/', 0);
            INSERT INTO states (run_id, site_id, url, at, state, moved_to) VALUES
                (1, 1, 'http://a/old', 0, 'moved', 'http://a/new'), (1, 1, 'http://a/other', 0, 'moved', 'http://a/new'),
                (2, 1, 'http://a/other', 1, 'alive', NULL)";
        store.batch(moves).unwrap();
        assert_eq!(store.former_urls("http://a/new").unwrap(), ["http://a/old"]);
    }

    #[test]
    fn urls_of_a_site_with_one_body_are_one_page() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("twins.sqlite"), 3).unwrap();
        store
            .batch(
                "INSERT INTO runs (id, started_at, settings) VALUES (1, 0, '{}');
                INSERT INTO sites (id, host, key_url, updated_at) VALUES (1, 'a', 'http://a/', 0), (2, 'b', 'http://b/', 0)",
            )
            .unwrap();
        let long = "<link rel=canonical href=/z/index.html><p>z";
        let pages = [
            (1, "http://a/x/index.html", "x"),
            (1, "http://a/x/", "x"),
            (2, "http://b/x/", "x"),
            (1, "http://a/y", "<link rel=canonical href=/x/>y"),
            (1, "http://a/x/./", "x"),
            (1, "http://a/gone", "x"),
            (1, "http://a/z/", long),
            (1, "http://a/z/index.html", long),
        ];
        for (site, url, body) in pages {
            let sql = "INSERT INTO pages (run_id, site_id, url, fetched_at, status, digest, raw_id)
                VALUES (1, ?1, ?2, 0, 200, ?3, ?4)";
            let raw = store.body_id(&pack(body.as_bytes(), 3)).unwrap();
            store.execute(sql, params![site, url, body, raw]).unwrap();
        }
        // One with this body is not there any more.
        let gone = "INSERT INTO states (run_id, site_id, url, at, state) VALUES (1, 1, 'http://a/gone', 0, 'gone');
            UPDATE urls SET state = 2 WHERE url = 'http://a/gone'";
        store.batch(gone).unwrap();
        let merged = store.merge_aliases(store.list_pages(None).unwrap()).unwrap();
        let mut urls: Vec<&str> = merged.iter().map(|row| row.url.as_str()).collect();
        urls.sort_unstable();
        assert_eq!(urls, ["http://a/gone", "http://a/x/", "http://a/y", "http://a/z/index.html", "http://b/x/"]);
        let aliases = |url: &str| merged.iter().find(|row| row.url == url).unwrap().aliases.clone();
        assert_eq!(aliases("http://a/x/").len(), 2);
        assert_eq!(aliases("http://a/z/index.html"), ["http://a/z/"], "the canonical link is the longer one");
    }
}
