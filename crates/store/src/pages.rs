//! Writes pages: raw when they come, cleaned when the template is known.

use super::sql::{Row, params};
use dehusk_html::PageUrl;

use super::states::Turn;
use super::{Cleaned, NewPage, SiteId, Store, StoreError, url_at};
use crate::revisit::{Change, UrlRecord, UrlState, UrlUpdate, after_cleaning, after_fetch, has_same_body};
use dehusk_settings::Revisit;

/// What became of a page that was saved.
#[derive(Clone, Copy, Debug)]
pub struct Saved {
    /// Row of the snapshot.
    pub page: i64,
    /// `None` until the text is known.
    pub change: Option<Change>,
    /// Whether its cleaned form was saved with it.
    pub is_cleaned: bool,
    /// Whether it was gone, moved, blocked or failed before.
    pub is_back: bool,
}

/// The cleaned form of a page, with what it says about the change.
struct Text<'a> {
    cleaned: &'a Cleaned,
    template: Option<i64>,
    change: Option<Change>,
}

fn is_news(change: Option<Change>) -> bool {
    matches!(change, Some(Change::New | Change::Changed))
}

impl Store {
    /// Saves a page as fetched, and what is known about its URL. A body that is the same as last time makes no new row.
    ///
    /// Where the cleaned form (and the row of the site's template) is known and the page is new to this run, it goes
    /// into the same row at once: a later update writes the whole row again.
    pub fn save_page(
        &self,
        run: i64,
        site: SiteId,
        page: &NewPage,
        cleaned: Option<(&Cleaned, Option<i64>)>,
        revisit: &Revisit,
    ) -> Result<Saved, StoreError> {
        let before = self.record(run, site, &page.url)?;
        let (row, record) = before.map_or((None, None), |(row, record)| (row, Some(record)));
        let same = row.filter(|_| record.as_ref().is_some_and(|record| has_same_body(record, &page.digest)));
        let is_of_run = record.as_ref().is_some_and(|record| record.is_of_run);
        let cleaned = cleaned.filter(|_| same.is_none() && !is_of_run);
        let text = cleaned.map(|(cleaned, _)| cleaned.text);
        let update = after_fetch(record.as_ref(), &page.digest, text, revisit);
        let text = cleaned.map(|(cleaned, template)| Text {
            cleaned,
            template: template.filter(|_| cleaned.labeled.by_template),
            change: update.change,
        });
        let id = match same {
            Some(id) => id,
            None => self.insert_page(run, site, page, text.as_ref())?,
        };
        self.update_url(run, site, page, id, &update, text.as_ref())?;
        let away = record.filter(UrlRecord::is_away);
        if let Some(UrlRecord { state, .. }) = away {
            let turn = Turn { from: state, to: UrlState::Known, moved_to: None };
            self.save_turn(run, site, &page.url, page.fetched_at, &turn)?;
        }
        if same.is_some() {
            self.set_rights(id, &page.rights)?;
        }
        if same.is_some() && page.warc.is_some() {
            let sql = "UPDATE pages SET warc = ?2, warc_record = ?3 WHERE id = ?1";
            self.execute(sql, params![id, &page.warc, &page.warc_record])?;
        }
        Ok(Saved { page: id, change: update.change, is_cleaned: text.is_some(), is_back: away.is_some() })
    }

    fn update_url(
        &self,
        run: i64,
        site: SiteId,
        page: &NewPage,
        id: i64,
        update: &UrlUpdate,
        text: Option<&Text<'_>>,
    ) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, run_id, page_id, etag, last_modified,
                digest, checked_at, next_due, interval_ms, text_digest, changed_at, text_model,
                page_text)
            VALUES (?1, ?2, ?3, ?14, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, CAST(?10 AS BIGINT) + ?11, ?11, ?12, ?13, ?15, ?16)
            ON CONFLICT (site_id, fingerprint) DO UPDATE SET state = ?14, run_id = ?5, page_id = ?6, etag = ?7,
                last_modified = ?8, digest = ?9, checked_at = ?10, next_due = CAST(?10 AS BIGINT) + ?11, interval_ms = ?11,
                text_digest = COALESCE(?12, urls.text_digest), text_model = COALESCE(?15, urls.text_model),
                page_text = COALESCE(?16, urls.page_text), changed_at = COALESCE(?13, urls.changed_at),
                doubted = CASE WHEN ?17 THEN NULL ELSE urls.doubted END";
        let changed = text.filter(|text| is_news(text.change)).map(|_| page.fetched_at);
        // A text that cannot be compared yet leaves the last one in place.
        let mark = text.filter(|text| text.change.is_some()).map(|text| text.cleaned.text);
        let row = params![
            site,
            page.url.fingerprint() as i64,
            page.url.as_str(),
            page.depth,
            run,
            id,
            &page.validators.etag,
            &page.validators.last_modified,
            &page.digest,
            page.fetched_at,
            update.interval_ms,
            mark.map(|mark| mark.digest as i64),
            changed,
            update.state as i64,
            mark.map(|mark| mark.model as i64),
            mark.map(|mark| mark.page as i64),
            update.change.is_some()
        ];
        self.execute(sql, row).map(drop)
    }

    fn insert_page(&self, run: i64, site: SiteId, page: &NewPage, text: Option<&Text<'_>>) -> Result<i64, StoreError> {
        let sql =
            "INSERT INTO pages (run_id, site_id, url, fetched_at, status, content_type, digest, raw_id, noindex, nofollow,
                warc, cleaned_id, method, template_id, confidence, change, model, warc_record, nearest, rights_id,
                fetched_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
            ON CONFLICT (run_id, url) DO UPDATE SET site_id = ?2, fetched_at = ?4, status = ?5, content_type = ?6,
                digest = ?7, raw_id = ?8, noindex = ?9, nofollow = ?10, warc = ?11, cleaned_id = ?12, method = ?13,
                template_id = ?14, confidence = ?15, change = COALESCE(pages.change, ?16), model = ?17,
                warc_record = ?18, nearest = ?19, rights_id = ?20, fetched_id = ?21
            RETURNING id";
        let raw = self.body_id(&page.raw)?;
        let fetched = page.as_fetched.as_ref().map(|body| self.body_id(body)).transpose()?;
        let rights = self.rights_id(&page.rights)?;
        let cleaned = text.map(|text| self.body_id(&text.cleaned.html)).transpose()?;
        let row = params![
            run,
            site,
            page.url.as_str(),
            page.fetched_at,
            page.status,
            &page.content_type,
            &page.digest,
            raw,
            page.noindex,
            page.nofollow,
            &page.warc,
            cleaned,
            text.map(|text| text.cleaned.labeled.method.name()),
            text.and_then(|text| text.template),
            text.map(|text| text.cleaned.labeled.confidence),
            text.and_then(|text| text.change).map(Change::as_str),
            text.map(|text| text.cleaned.text.model as i64),
            &page.warc_record,
            text.and_then(|text| text.cleaned.labeled.nearest).map(|nearest| nearest as i64),
            rights,
            fetched
        ];
        self.row(sql, row, |row| row.get(0))
    }

    /// Adds the cleaned form to the newest snapshot of a page. `None` when that page is not stored; otherwise what this
    /// says about the change, if it is news.
    pub fn save_cleaned(
        &self,
        run: i64,
        site: SiteId,
        template: Option<i64>,
        page: &Cleaned,
        revisit: &Revisit,
    ) -> Result<Option<Option<Change>>, StoreError> {
        let Some(known) = self.newest_page_version(run, site, &page.url)? else { return Ok(None) };
        // Cleaned once more in the same run: the first time has said how it changed.
        let is_first_text = known.is_of_run && known.change.is_none();
        let update = after_cleaning(known.text, known.interval, page.text, is_first_text, revisit);
        let labeled = page.labeled;
        let template = template.filter(|_| labeled.by_template);
        let sql = "UPDATE pages SET cleaned_id = ?2, method = ?3, template_id = ?4, confidence = ?5,
            change = COALESCE(?6, change), model = ?7, nearest = ?8 WHERE id = ?1";
        let change = update.change.map(Change::as_str);
        let model = page.text.model as i64;
        let form = self.body_id(&page.html)?;
        let (method, nearest) = (labeled.method.name(), labeled.nearest.map(|nearest| nearest as i64));
        let row = params![known.page, form, method, template, labeled.confidence, change, model, nearest];
        self.execute(sql, row)?;
        let sql = "UPDATE urls SET text_digest = COALESCE(?2, text_digest), text_model = COALESCE(?6, text_model),
            page_text = COALESCE(?7, page_text), interval_ms = ?3, next_due = CAST(?4 AS BIGINT) + ?3, changed_at = CASE WHEN ?5 THEN ?4 ELSE changed_at END WHERE id = ?1";
        // A text that cannot be compared yet leaves the last one in place.
        let is_open = is_first_text && update.change.is_none();
        let mark = Some(page.text).filter(|_| !is_open);
        let row = params![
            known.url,
            mark.map(|mark| mark.digest as i64),
            update.interval_ms,
            known.checked_at,
            is_news(update.change),
            mark.map(|mark| mark.model as i64),
            mark.map(|mark| mark.page as i64)
        ];
        self.execute(sql, row)?;
        // A snapshot of an earlier run, cleaned again: the page is as it was.
        Ok(Some(if known.is_of_run { update.change } else { Some(Change::Unchanged) }))
    }

    /// Body and head of a snapshot.
    pub fn load_snapshot(&self, page: i64) -> Result<Option<Snapshot>, StoreError> {
        let sql = "SELECT url, status, content_type, fetched_at, noindex, nofollow, fetched_id IS NOT NULL FROM pages WHERE id = ?1";
        let row = |row: &Row<'_>| {
            let rules = (row.get(4)?, row.get(5)?, row.get(6)?);
            Ok((url_at(row, 0)?, row.get(1)?, row.get(2)?, row.get(3)?, rules))
        };
        let Some((url, status, content_type, fetched_at, (noindex, nofollow, is_rendered))) =
            self.find(sql, params![page], row)?
        else {
            return Ok(None);
        };
        // One that cannot be read back is fetched again.
        let body = match self.decompress(url.as_str(), &self.raw_of(page)?) {
            Ok(body) => body,
            Err(e) => {
                tracing::warn!("{e}");
                return Ok(None);
            }
        };
        Ok(Some(Snapshot { url, status, content_type, body, fetched_at, noindex, nofollow, is_rendered }))
    }

    /// The page as it is stored, which [`unpack`] reads.
    pub(super) fn load_packed(&self, page: i64) -> Result<Option<PackedPage>, StoreError> {
        let row = |row: &Row<'_>| Ok((url_at(row, 0)?, row.get(1)?, row.get(2)?));
        let sql = "SELECT url, content_type, fetched_id IS NOT NULL FROM pages WHERE id = ?1";
        let Some((url, content_type, is_rendered)) = self.find(sql, params![page], row)? else { return Ok(None) };
        Ok(Some(PackedPage { url, content_type, raw: self.raw_of(page)?, is_rendered }))
    }

    /// The same page as it was fetched, where it was rendered.
    pub(super) fn as_fetched(&self, page: i64, packed: PackedPage) -> Result<PackedPage, StoreError> {
        match self.fetched_of(page)? {
            Some(raw) => Ok(PackedPage { raw, is_rendered: false, ..packed }),
            None => Ok(packed),
        }
    }
}

/// A stored page whose body is packed.
#[derive(Clone, Debug)]
pub struct PackedPage {
    /// After redirects.
    pub url: PageUrl,
    /// As sent.
    pub content_type: Option<String>,
    /// What [`crate::unpack`] reads.
    pub raw: Vec<u8>,
    /// Whether it is the tree that scripts have built.
    pub is_rendered: bool,
}

/// A stored page as it was fetched.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// After redirects.
    pub url: PageUrl,
    /// HTTP status.
    pub status: u16,
    /// As sent.
    pub content_type: Option<String>,
    /// Decoded body, or the tree that scripts have built.
    pub body: Vec<u8>,
    /// Unix milliseconds.
    pub fetched_at: i64,
    /// Whether it was rendered.
    pub is_rendered: bool,
    /// Does its owner want it in no collection?
    pub noindex: bool,
    /// Does its owner want none of its links followed?
    pub nofollow: bool,
}
