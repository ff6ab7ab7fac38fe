//! Reads what commands show.

use rusqlite::{OptionalExtension, Row, params};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Store, StoreError};
use dehusk_core::internals::method::Method;

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
    /// Whether its owner wants it in no collection.
    pub noindex: bool,
    /// Method that cleaned it.
    pub method: Option<String>,
    /// Share of the template that it shows.
    pub confidence: Option<f64>,
}

const PAGE: &str = "SELECT p.id, p.run_id, s.host, p.url, p.fetched_at, p.status, p.content_type, p.digest, p.method,
    p.confidence, p.noindex FROM pages p JOIN sites s ON s.id = p.site_id";

fn page(row: &Row<'_>) -> rusqlite::Result<PageRow> {
    Ok(PageRow {
        id: row.get(0)?,
        run: row.get(1)?,
        host: row.get(2)?,
        url: row.get(3)?,
        fetched_at: row.get(4)?,
        status: row.get(5)?,
        content_type: row.get(6)?,
        digest: row.get(7)?,
        method: row.get::<_, Option<String>>(8)?.map(current_name),
        confidence: row.get(9)?,
        aliases: Vec::new(),
        noindex: row.get(10)?,
    })
}

/// One row for pages of a site with the same body, such as `/x/` and `/x/index.html`: that of the shortest URL, with
/// the others as its aliases. The order stays.
pub fn merge_aliases(rows: Vec<PageRow>) -> Vec<PageRow> {
    let rank = |row: &PageRow| (row.url.len(), row.url.clone());
    let mut shortest: FxHashMap<(String, String), (usize, String)> = FxHashMap::default();
    for row in &rows {
        let best = shortest.entry((row.host.clone(), row.digest.clone())).or_insert_with(|| rank(row));
        *best = rank(row).min(std::mem::take(best));
    }
    let mut aliases: FxHashMap<(String, String), Vec<String>> = FxHashMap::default();
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let body = (row.host.clone(), row.digest.clone());
        match shortest.get(&body).is_some_and(|(_, url)| *url == row.url) {
            true => kept.push(row),
            false => aliases.entry(body).or_default().push(row.url),
        }
    }
    for row in &mut kept {
        row.aliases = aliases.remove(&(row.host.clone(), row.digest.clone())).unwrap_or_default();
    }
    kept
}

/// The name of a method today. A file of an earlier version, opened for reading, has the names of its time.
fn current_name(stored: String) -> String {
    stored.parse().map_or(stored, |method: Method| method.name().to_owned())
}

/// A host as users write it: `www.` and capitals do not matter.
pub(super) fn bare_host(host: &str) -> String {
    let lower = host.to_ascii_lowercase();
    lower.strip_prefix("www.").map_or(lower.clone(), str::to_owned)
}

impl Store {
    /// Stored templates, newest version first within a site; of one host when given.
    pub fn list_templates(&self, host: Option<&str>, all_versions: bool) -> Result<Vec<TemplateRow>, StoreError> {
        let sql = "SELECT s.host, t.version, t.learned_at, t.method, t.key_url, t.m, t.t, t.loads, t.n_nodes
            FROM templates t JOIN sites s ON s.id = t.site_id
            WHERE (?1 IS NULL OR s.host IN (?1, 'www.' || ?1))
              AND (?2 OR t.version = (SELECT max(version) FROM templates WHERE site_id = t.site_id))
            ORDER BY s.host, t.version DESC";
        let mut statement = self.wrap(self.connection.prepare(sql))?;
        let rows = statement.query_map(params![host.map(bare_host), all_versions], |row| {
            Ok(TemplateRow {
                host: row.get(0)?,
                version: row.get(1)?,
                learned_at: row.get(2)?,
                method: current_name(row.get(3)?),
                key_url: row.get(4)?,
                m: row.get(5)?,
                t: row.get(6)?,
                loads: row.get(7)?,
                n_nodes: row.get(8)?,
            })
        });
        self.wrap(self.wrap(rows)?.collect())
    }

    /// Newest snapshot of each page, also of those that ask for noindex; of one host when given.
    pub fn list_pages(&self, host: Option<&str>) -> Result<Vec<PageRow>, StoreError> {
        let sql = format!(
            "{PAGE} WHERE (?1 IS NULL OR s.host IN (?1, 'www.' || ?1))
             AND p.id = (SELECT id FROM pages WHERE site_id = p.site_id AND url = p.url ORDER BY fetched_at DESC LIMIT 1)
             ORDER BY s.host, p.url"
        );
        let mut statement = self.wrap(self.connection.prepare(&sql))?;
        let rows = statement.query_map([host.map(bare_host)], page);
        self.wrap(self.wrap(rows)?.collect())
    }

    /// Hosts of this name, with and without a port.
    pub fn near_hosts(&self, host: &str) -> Result<Vec<String>, StoreError> {
        let name = bare_host(host.rsplit_once(':').map_or(host, |(name, _)| name));
        let sql =
            "SELECT host FROM sites WHERE host IN (?1, 'www.' || ?1) OR substr(host, 1, length(?1) + 1) = ?1 || ':'
            ORDER BY host LIMIT 5";
        let mut statement = self.wrap(self.connection.prepare(sql))?;
        self.wrap(self.wrap(statement.query_map([name], |row| row.get(0)))?.collect())
    }

    /// Newest snapshot of one page.
    pub fn find_page(&self, url: &str) -> Result<Option<PageRow>, StoreError> {
        let sql = format!("{PAGE} WHERE p.url = ?1 ORDER BY p.fetched_at DESC LIMIT 1");
        self.wrap(self.connection.query_row(&sql, [url], page).optional())
    }

    /// The newest version of a page that was fetched by then (Unix milliseconds).
    pub fn find_page_by(&self, url: &str, at: i64) -> Result<Option<PageRow>, StoreError> {
        let sql = format!("{PAGE} WHERE p.url = ?1 AND p.fetched_at <= ?2 ORDER BY p.fetched_at DESC LIMIT 1");
        self.wrap(self.connection.query_row(&sql, (url, at), page).optional())
    }

    /// Body of a page as fetched.
    pub fn load_raw(&self, row: &PageRow) -> Result<Vec<u8>, StoreError> {
        self.decompress(&row.url, &self.raw_of(row.id)?)
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

    #[test]
    fn pages_with_one_body_are_one_row() {
        let row = |host: &str, path: &str, digest: &str| PageRow {
            id: 0,
            run: 1,
            host: host.to_owned(),
            url: format!("http://{host}{path}"),
            fetched_at: 0,
            status: 200,
            content_type: None,
            digest: digest.to_owned(),
            aliases: Vec::new(),
            noindex: false,
            method: None,
            confidence: None,
        };
        let rows = vec![
            row("a", "/x/index.html", "1"),
            row("a", "/x/", "1"),
            row("b", "/x/", "1"),
            row("a", "/y", "2"),
            row("a", "/x/./", "1"),
        ];
        let merged = merge_aliases(rows);
        let urls: Vec<&str> = merged.iter().map(|row| row.url.as_str()).collect();
        assert_eq!(urls, ["http://a/x/", "http://b/x/", "http://a/y"]);
        assert_eq!(merged[0].aliases, ["http://a/x/index.html", "http://a/x/./"]);
    }
}
