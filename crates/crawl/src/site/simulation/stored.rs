//! What a simulated crawl has left in its store.

use std::path::{Path, PathBuf};

/// What a crawl has left in its store, without times.
#[derive(Debug, PartialEq)]
pub(in crate::site) struct Stored {
    pub(in crate::site) sites: Vec<String>,
    pub(in crate::site) pages: Vec<String>,
    pub(in crate::site) templates: Vec<String>,
    pub(in crate::site) urls: Vec<String>,
    /// Cleaned pages and models, which depend on each other.
    pub(in crate::site) cleaned: Vec<String>,
    pub(in crate::site) models: Vec<String>,
}

impl Stored {
    pub(in crate::site) fn assert_equals(&self, other: &Stored, with_models: bool) {
        let lists = |of: &Stored| {
            let mut lists = vec![of.sites.clone(), of.pages.clone(), of.templates.clone(), of.urls.clone()];
            if with_models {
                lists.extend([of.cleaned.clone(), of.models.clone()]);
            }
            lists
        };
        for (ours, theirs) in lists(self).iter().zip(&lists(other)) {
            let differ: Vec<String> = ours
                .iter()
                .filter(|row| !theirs.contains(row))
                .map(|row| format!("- {row:.200}"))
                .chain(theirs.iter().filter(|row| !ours.contains(row)).map(|row| format!("+ {row:.200}")))
                .collect();
            assert!(differ.is_empty(), "{differ:#?}");
        }
    }

    pub(in crate::site) fn read(path: &PathBuf) -> Stored {
        let connection = rusqlite::Connection::open(path).unwrap();
        let rows = |sql: &str| -> Vec<String> {
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        Stored {
            sites: rows("SELECT host || ' ' || outcome || ' ' || coalesce(reason, '') FROM sites ORDER BY host"),
            pages: rows("SELECT url || ' ' || digest || ' ' || coalesce(change, '') FROM pages ORDER BY url"),
            templates: rows("SELECT key_url || ' ' || version FROM templates ORDER BY key_url, version"),
            cleaned: rows(
                "SELECT p.url || ' ' || p.method || ' ' || hex(b.cleaned) FROM pages p
                JOIN page_bodies b ON b.id = p.id ORDER BY p.url",
            ),
            models: rows("SELECT key_url || ' ' || hex(body) FROM templates ORDER BY key_url, version"),
            urls: rows("SELECT url || ' ' || state || ' ' || coalesce(interval_ms, '') FROM urls ORDER BY url"),
        }
    }
}

/// Visits of pages by outcome in a run.
pub(in crate::site) fn visits(path: &Path, run: i64) -> Vec<(String, i64)> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let sql =
        "SELECT outcome, count(*) FROM visits WHERE run_id = ?1 AND kind = 'page' GROUP BY outcome ORDER BY outcome";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}
