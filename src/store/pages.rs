//! Writes pages: raw when they come, cleaned when the template is known.

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::{Store, StoreError};

/// A fetched page.
#[derive(Clone, Debug)]
pub struct NewPage {
    /// Its site.
    pub site_id: i64,
    /// After redirects.
    pub url: String,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// HTTP status.
    pub status: u16,
    /// As sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Vec<u8>,
}

/// A cleaned page.
#[derive(Clone, Debug)]
pub struct Cleaned {
    /// The page.
    pub url: String,
    /// HTML without template.
    pub html: String,
    /// Method that cleaned it.
    pub method: &'static str,
    /// Does the site's template fit well enough to have been applied?
    pub by_template: bool,
    /// Share of the template that it shows.
    pub confidence: f64,
}

impl Store {
    /// Saves a page as fetched. A page that two links lead to is saved once a run.
    pub fn save_page(&self, run: i64, page: &NewPage) -> Result<(), StoreError> {
        let digest: String = Sha256::digest(&page.body).iter().map(|byte| format!("{byte:02x}")).collect();
        let sql = "INSERT INTO pages (run_id, site_id, url, fetched_at, status, content_type, digest, raw)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (run_id, url) DO UPDATE SET site_id = ?2, fetched_at = ?4, status = ?5, content_type = ?6,
                digest = ?7, raw = ?8, cleaned = NULL, method = NULL, template_id = NULL, confidence = NULL";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let raw = self.compress(&page.body);
        let row = params![run, page.site_id, page.url, page.fetched_at, page.status, page.content_type, digest, raw];
        self.wrap(statement.execute(row)).map(drop)
    }

    /// Adds the cleaned form of a page of this run; says whether that page is there.
    pub fn save_cleaned(&self, run: i64, template: Option<i64>, page: &Cleaned) -> Result<bool, StoreError> {
        let sql = "UPDATE pages SET cleaned = ?3, method = ?4, template_id = ?5, confidence = ?6
            WHERE run_id = ?1 AND url = ?2";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let template = template.filter(|_| page.by_template);
        let html = self.compress(page.html.as_bytes());
        self.wrap(statement.execute(params![run, page.url, html, page.method, template, page.confidence]))
            .map(|n| n == 1)
    }
}
