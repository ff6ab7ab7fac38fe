//! Writes pages: raw when they come, cleaned when the template is known.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use dehusk_core::internals::method::Method;
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;

use super::urls::{is_change, next_interval};
use super::{SiteId, Store, StoreError};
use crate::settings::Revisit;
use crate::validators::Validators;
use dehusk_core::internals::page_url::PageUrl;

/// A fetched page, packed for the store. Packing costs as much as writing, so it is done by whoever has time.
#[derive(Clone, Debug)]
pub struct NewPage {
    /// After redirects.
    pub url: PageUrl,
    /// Links from the key page.
    pub depth: u32,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// HTTP status.
    pub status: u16,
    /// As sent.
    pub content_type: Option<String>,
    /// As sent.
    pub validators: Validators,
    /// Does its owner want it in no collection?
    pub noindex: bool,
    /// Does its owner want none of its links followed?
    pub nofollow: bool,
    /// Folder of the archive that holds it.
    pub warc: Option<String>,
    /// SHA-256 of the decoded body.
    pub digest: String,
    /// Decoded body, zstd.
    pub raw: Vec<u8>,
}

/// A cleaned page.
#[derive(Clone, Debug)]
pub struct Cleaned {
    /// The page.
    pub url: PageUrl,
    /// HTML without template, zstd.
    pub html: Vec<u8>,
    /// Digest of the text without template (`dom::text_digest`).
    pub text_digest: u64,
    /// Method that cleaned it.
    pub method: Method,
    /// Does the site's template fit well enough to have been applied?
    pub by_template: bool,
    /// Share of the template that it shows.
    pub confidence: f64,
}

/// What a visit found of a page, against the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Never seen before.
    New,
    /// Its text differs, or markup cuts the same words otherwise.
    Changed,
    /// Something else than its text differs.
    SameText,
    /// Nothing differs.
    Unchanged,
    /// It is no more.
    Gone,
}

impl Change {
    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Changed => "changed",
            Change::SameText => "same_text",
            Change::Unchanged => "unchanged",
            Change::Gone => "gone",
        }
    }
}

/// How many pages were found how; shared with whoever shows progress.
#[derive(Debug, Default)]
pub struct Changes {
    counts: [AtomicUsize; 5],
}

impl Changes {
    /// Pages found so.
    pub fn count(&self, change: Change) -> usize {
        self.counts[change as usize].load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, change: Change) {
        self.counts[change as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// SHA-256 as hexadecimal digits.
pub fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as the store keeps them.
pub fn pack(bytes: &[u8], level: i32) -> Vec<u8> {
    thread_local! {
        /// Its tables are larger than most pages, so each thread keeps them.
        static PACKER: RefCell<Compressor<'static>> = RefCell::new(Compressor::default());
    }
    // Compressing into memory fails only without memory; an empty value is then read back as damaged.
    PACKER.with_borrow_mut(|packer| {
        packer.set_compression_level(level).and_then(|()| packer.compress(bytes)).unwrap_or_default()
    })
}

/// What [`pack`] packed.
pub fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::stream::decode_all(bytes)
}

/// What became of a page that was saved.
#[derive(Clone, Copy, Debug)]
pub struct Saved {
    /// Row of the snapshot.
    pub page: i64,
    /// `None` until the text is known.
    pub change: Option<Change>,
    /// Was its cleaned form saved with it?
    pub is_cleaned: bool,
}

/// What the frontier knows of a page that comes again.
#[derive(Default)]
struct Before {
    digest: Option<String>,
    text_digest: Option<i64>,
    page: Option<i64>,
    interval: Option<i64>,
    /// Was it asked for in this run?
    is_of_run: bool,
}

/// The cleaned form of a page, with what it says of the change.
struct Text<'a> {
    cleaned: &'a Cleaned,
    template: Option<i64>,
    change: Change,
}

/// How the text of a new snapshot compares with that of the last one.
fn text_change(last: Option<i64>, page: &Cleaned) -> Change {
    match last {
        None => Change::New,
        Some(last) if last == page.text_digest as i64 => Change::SameText,
        Some(_) => Change::Changed,
    }
}

impl Store {
    /// Saves a page as fetched, and what is known of its URL. A body that is the same as last time makes no new row.
    ///
    /// Where the cleaned form (and the row of the site's template) is at hand and the page is new to this run, it goes
    /// into the same row at once: a later update writes the whole row again.
    pub fn save_page(
        &self,
        run: i64,
        site: SiteId,
        page: &NewPage,
        cleaned: Option<(&Cleaned, Option<i64>)>,
        revisit: &Revisit,
    ) -> Result<Saved, StoreError> {
        let before = self.before(run, site, page)?;
        let same = before
            .as_ref()
            .and_then(|before| before.page.filter(|_| before.digest.as_deref() == Some(page.digest.as_str())));
        let is_known = before.as_ref().is_some_and(|before| before.digest.is_some() && before.page.is_some());
        let before = before.unwrap_or_default();
        let text = cleaned.filter(|_| same.is_none() && !before.is_of_run).map(|(cleaned, template)| Text {
            cleaned,
            template: template.filter(|_| cleaned.by_template),
            change: text_change(before.text_digest, cleaned),
        });
        let id = match same {
            Some(id) => id,
            None => self.insert_page(run, site, page, text.as_ref())?,
        };
        let change = match (same, &text) {
            (Some(_), _) => Some(Change::Unchanged),
            (None, Some(text)) => Some(text.change),
            (None, None) => (!is_known).then_some(Change::New),
        };
        let interval = match before.interval {
            // Another fetch in the same run is no other visit.
            Some(interval) if before.is_of_run => interval,
            interval if text.as_ref().is_some_and(|text| is_change(text.change)) => {
                next_interval(interval, true, revisit)
            }
            interval => next_interval(interval, false, revisit),
        };
        let sql =
            "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, run_id, page_id, etag, last_modified,
                digest, checked_at, next_due, interval_ms, text_digest, changed_at)
            VALUES (?1, ?2, ?3, 1, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?10 + ?11, ?11, ?12, ?13)
            ON CONFLICT (site_id, fingerprint) DO UPDATE SET state = 1, run_id = ?5, page_id = ?6, etag = ?7,
                last_modified = ?8, digest = ?9, checked_at = ?10, next_due = ?10 + ?11, interval_ms = ?11,
                text_digest = COALESCE(?12, text_digest), changed_at = COALESCE(?13, changed_at)";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let (url, validators) = (page.url.as_str(), &page.validators);
        let changed = text.as_ref().filter(|text| matches!(text.change, Change::New | Change::Changed));
        let row = params![
            site,
            page.url.fingerprint() as i64,
            url,
            page.depth,
            run,
            id,
            validators.etag,
            validators.last_modified,
            page.digest,
            page.fetched_at,
            interval,
            text.as_ref().map(|text| text.cleaned.text_digest as i64),
            changed.map(|_| page.fetched_at)
        ];
        self.wrap(statement.execute(row))?;
        if same.is_some() && page.warc.is_some() {
            let sql = "UPDATE pages SET warc = ?2 WHERE id = ?1";
            let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
            self.wrap(statement.execute(params![id, page.warc]))?;
        }
        Ok(Saved { page: id, change, is_cleaned: text.is_some() })
    }

    fn before(&self, run: i64, site: SiteId, page: &NewPage) -> Result<Option<Before>, StoreError> {
        let sql = "SELECT digest, text_digest, page_id, interval_ms, run_id IS ?3 FROM urls
            WHERE site_id = ?1 AND fingerprint = ?2";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = |row: &rusqlite::Row<'_>| {
            let (digest, text_digest, page) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Before { digest, text_digest, page, interval: row.get(3)?, is_of_run: row.get(4)? })
        };
        self.wrap(statement.query_row(params![site, page.url.fingerprint() as i64, run], row).optional())
    }

    fn insert_page(&self, run: i64, site: SiteId, page: &NewPage, text: Option<&Text<'_>>) -> Result<i64, StoreError> {
        let sql = "INSERT INTO pages (run_id, site_id, url, fetched_at, status, content_type, digest, raw, noindex,
                nofollow, warc, cleaned, method, template_id, confidence, change)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            ON CONFLICT (run_id, url) DO UPDATE SET site_id = ?2, fetched_at = ?4, status = ?5, content_type = ?6,
                digest = ?7, raw = ?8, noindex = ?9, nofollow = ?10, warc = ?11, cleaned = ?12, method = ?13,
                template_id = ?14, confidence = ?15, change = COALESCE(change, ?16)
            RETURNING id";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = params![
            run,
            site,
            page.url.as_str(),
            page.fetched_at,
            page.status,
            page.content_type,
            page.digest,
            page.raw,
            page.noindex,
            page.nofollow,
            page.warc,
            text.map(|text| &text.cleaned.html),
            text.map(|text| text.cleaned.method.name()),
            text.and_then(|text| text.template),
            text.map(|text| text.cleaned.confidence),
            text.map(|text| text.change.as_str())
        ];
        self.wrap(statement.query_row(row, |row| row.get(0)))
    }

    /// Adds the cleaned form to the newest snapshot of a page of this run; says how its text changed, `None` when that
    /// page is not there.
    pub fn save_cleaned(
        &self,
        run: i64,
        site: SiteId,
        template: Option<i64>,
        page: &Cleaned,
        revisit: &Revisit,
    ) -> Result<Option<Change>, StoreError> {
        let sql = "SELECT u.id, u.page_id, u.text_digest, u.interval_ms, p.run_id = ?3, u.checked_at, p.change
            FROM urls u JOIN pages p ON p.id = u.page_id WHERE u.site_id = ?1 AND u.fingerprint = ?2";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Option<i64>>(2)?,
                row.get::<_, Option<i64>>(3)?,
                row.get::<_, bool>(4)?,
                row.get::<_, i64>(5)?,
                row.get::<_, Option<String>>(6)?,
            ))
        };
        let fingerprint = page.url.fingerprint() as i64;
        let found = self.wrap(statement.query_row(params![site, fingerprint, run], row).optional())?;
        let Some((url_id, page_id, last_text, interval, is_new_row, checked_at, last_change)) = found else {
            return Ok(None);
        };
        let change = if is_new_row { text_change(last_text, page) } else { Change::Unchanged };
        let template = template.filter(|_| page.by_template);
        let sql = "UPDATE pages SET cleaned = ?2, method = ?3, template_id = ?4, confidence = ?5,
            change = CASE WHEN ?7 THEN ?6 ELSE change END WHERE id = ?1";
        // Cleaned once more in the same run: the first time has said how it changed.
        let is_news = is_new_row && last_change.is_none();
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = params![page_id, page.html, page.method.name(), template, page.confidence, change.as_str(), is_news];
        self.wrap(statement.execute(row))?;
        // `save_page` took the text for unchanged, as it could not know it.
        let interval = match (is_change(change) && is_news, interval) {
            (true, Some(grown)) => next_interval(Some((grown as f64 / revisit.grow) as i64), true, revisit),
            (_, interval) => interval.unwrap_or_else(|| next_interval(None, false, revisit)),
        };
        let sql = "UPDATE urls SET text_digest = ?2, interval_ms = ?3, next_due = ?4 + ?3,
            changed_at = CASE WHEN ?5 THEN ?4 ELSE changed_at END WHERE id = ?1";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let changed = is_news && matches!(change, Change::New | Change::Changed);
        self.wrap(statement.execute(params![url_id, page.text_digest as i64, interval, checked_at, changed]))?;
        Ok(Some(change).filter(|_| is_news || !is_new_row))
    }

    /// Body and head of a snapshot.
    pub fn load_snapshot(&self, page: i64) -> Result<Option<Snapshot>, StoreError> {
        let sql = "SELECT url, status, content_type, raw, fetched_at, noindex, nofollow FROM pages WHERE id = ?1";
        let mut statement = self.wrap(self.connection.prepare_cached(sql))?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, String>(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get::<_, Vec<u8>>(3)?,
                row.get(4)?,
                (row.get(5)?, row.get(6)?),
            ))
        };
        let Some((url, status, content_type, raw, fetched_at, (noindex, nofollow))) =
            self.wrap(statement.query_row([page], row).optional())?
        else {
            return Ok(None);
        };
        // One that cannot be read back is fetched again.
        let body = match self.decompress(&url, &raw) {
            Ok(body) => body,
            Err(e) => {
                tracing::warn!("{e}");
                return Ok(None);
            }
        };
        Ok(Some(Snapshot { url, status, content_type, body, fetched_at, noindex, nofollow }))
    }
}

/// A stored page as it was fetched.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// After redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// As sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Vec<u8>,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// Does its owner want it in no collection?
    pub noindex: bool,
    /// Does its owner want none of its links followed?
    pub nofollow: bool,
}
