//! Pages that are cleaned again at the end of their site, so that a run leaves one text for each.

use super::sql::{Row, SqlResult, params};
use dehusk_html::PageUrl;
use dehusk_template::method::Method;

use super::{ConfirmedPage, Counted, Doubt, PackedPage, RecleanedPage, SiteId, StalePage, Store, StoreError};
use crate::revisit::{Change, TextMark, UrlOutcome, after_recleaning};
use dehusk_settings::Revisit;

/// The newest version of a page, with what is known of its URL.
pub(super) struct NewestPageVersion {
    pub(super) url: i64,
    pub(super) page: i64,
    /// Its text, or that of the version before, where the two cannot be compared yet.
    pub(super) text: Option<TextMark>,
    pub(super) interval: Option<i64>,
    pub(super) checked_at: i64,
    pub(super) is_of_run: bool,
    pub(super) change: Option<Change>,
}

/// A row of the question for stale pages.
struct Stale {
    place: i64,
    page: i64,
    is_undecided: bool,
    stored: Option<i64>,
    last: Option<i64>,
    doubted: Option<i64>,
}

impl Store {
    /// Pages of a site that the run has visited, whose text is not that of the model, or whose change is not known.
    pub fn stale_pages(
        &self,
        run: i64,
        site: SiteId,
        model: u64,
        after: i64,
        n: usize,
    ) -> Result<Vec<StalePage>, StoreError> {
        let sql = "SELECT u.fingerprint, p.id, p.run_id = ?2 AND p.change IS NULL,
                coalesce((SELECT max(o.id) FROM pages o WHERE o.site_id = ?1 AND o.url = p.url AND o.id < p.id),
                    (SELECT max(o.id) FROM states t JOIN pages o ON o.site_id = t.site_id AND o.url = t.url
                        WHERE t.moved_to = p.url AND t.state = 'moved' AND t.run_id = ?2)), u.text_digest,
                u.doubted
            FROM urls u JOIN pages p ON p.id = u.page_id
            WHERE u.site_id = ?1 AND u.run_id = ?2 AND u.fingerprint > ?4 AND p.cleaned_id IS NOT NULL
                AND (p.model IS DISTINCT FROM ?3 OR (p.run_id = ?2 AND p.change IS NULL))
            ORDER BY u.fingerprint LIMIT ?5";
        let row = |row: &Row<'_>| {
            let (is_undecided, last, stored) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok(Stale { place: row.get(0)?, page: row.get(1)?, is_undecided, stored, last, doubted: row.get(5)? })
        };
        let rows: Vec<Stale> = self.rows(sql, params![site, run, model as i64, after, n as i64], row)?;
        let mut found = Vec::new();
        for Stale { place, page, is_undecided, stored, last, doubted } in rows {
            let id = page;
            if let Some(page) = self.load_packed(id)? {
                let last = last.filter(|_| is_undecided);
                let changed_before = last.map_or(Ok(false), |last| self.was_change(last, site, run))?;
                let (last, compared) = self.compared(id, &page, last)?;
                // An undecided text is not the one that is noted.
                let stored = stored.filter(|_| !is_undecided).map(|digest| digest as u64);
                let doubted = doubted.map(|digest| digest as u64);
                found.push(StalePage { place, page, stored, doubted, last, changed_before, compared });
            }
        }
        Ok(found)
    }

    /// Whether a version is of the site's last run before this one, and was told as a change then.
    fn was_change(&self, page: i64, site: SiteId, run: i64) -> Result<bool, StoreError> {
        let sql = "SELECT change = ?4 AND run_id = (SELECT max(run_id) FROM site_runs
            WHERE site_id = ?2 AND run_id < ?3) FROM pages WHERE id = ?1";
        let row = |row: &Row<'_>| row.get::<Option<bool>>(0);
        let found = self.find(sql, params![page, site, run, Change::Changed.as_str()], row)?;
        Ok(found.flatten().unwrap_or(false))
    }

    /// The last version of a page, and this one where it is another form that is compared with it: of a page that was
    /// rendered once and not the other time, both as they were fetched.
    fn compared(
        &self,
        id: i64,
        page: &PackedPage,
        last: Option<i64>,
    ) -> Result<(Option<PackedPage>, Option<PackedPage>), StoreError> {
        let Some(last_id) = last else { return Ok((None, None)) };
        let Some(last) = self.load_packed(last_id)? else { return Ok((None, None)) };
        if last.is_rendered == page.is_rendered {
            return Ok((Some(last), None));
        }
        Ok((Some(self.as_fetched(last_id, last)?), Some(self.as_fetched(id, page.clone())?)))
    }

    /// Writes that the text of a page stands by the model of this number, where the run has cleaned it by the site's
    /// model and knows what its visit has found. Otherwise the page stays stale.
    pub fn save_confirmed(
        &self,
        run: i64,
        site: SiteId,
        template: Option<i64>,
        model: u64,
        page: &ConfirmedPage,
    ) -> Result<(), StoreError> {
        let (fingerprint, model) = (page.fingerprint as i64, model as i64);
        let nearest = page.nearest.map(|nearest| nearest as i64);
        let sql = "UPDATE pages SET model = ?4, template_id = ?5, confidence = ?6, nearest = ?7
            WHERE id = (SELECT page_id FROM urls WHERE site_id = ?2 AND fingerprint = ?3) AND run_id = ?1
                AND cleaned_id IS NOT NULL AND method = ?8 AND change IN (?9, ?10, ?11)";
        let row = params![
            run,
            site,
            fingerprint,
            model,
            template,
            page.confidence,
            nearest,
            Method::SiteModel.name(),
            Change::New.as_str(),
            Change::Changed.as_str(),
            Change::SameText.as_str()
        ];
        if self.execute(sql, row)? > 0 {
            let sql = "UPDATE urls SET text_model = ?3 WHERE site_id = ?1 AND fingerprint = ?2";
            self.execute(sql, params![site, fingerprint, model])?;
        }
        Ok(())
    }

    /// Writes a page that was cleaned again. Returns how it counts now, if that is news.
    pub fn save_recleaned(
        &self,
        run: i64,
        site: SiteId,
        template: Option<i64>,
        page: &RecleanedPage,
        revisit: &Revisit,
    ) -> Result<Option<Counted>, StoreError> {
        let RecleanedPage { url, text, labeled, html, last_text, doubt } = page;
        let Some(known) = self.newest_page_version(run, site, url)? else { return Ok(None) };
        if let Some(doubt) = doubt.as_ref().filter(|_| known.is_of_run && known.change.is_none())
            && let Some(change) = self.take_back(run, site, (&page.url, doubt), &known, revisit)?
        {
            return Ok(change);
        }
        let before = known.change.filter(|_| known.is_of_run);
        // A version of an earlier run that is still the newest: the visit has said that nothing changed.
        let update = if known.is_of_run {
            after_recleaning(before, known.text, *last_text, known.interval, text.digest, revisit)
        } else {
            after_recleaning(Some(Change::Unchanged), known.text, None, known.interval, text.digest, revisit)
        };
        let change = update.change.filter(|_| known.is_of_run);
        let (model, word) = (text.model as i64, change.map(Change::as_str));
        if let Some(html) = html {
            let html = self.body_id(html)?;
            let sql = "UPDATE pages SET cleaned_id = ?2 WHERE id = ?1";
            self.execute(sql, params![known.page, html])?;
        }
        let sql = "UPDATE pages SET model = ?2, change = COALESCE(?3, change), method = ?4, template_id = ?5,
            confidence = ?6, nearest = ?7 WHERE id = ?1";
        let template = template.filter(|_| labeled.by_template);
        let nearest = labeled.nearest.map(|nearest| nearest as i64);
        let row = params![known.page, model, word, labeled.method.name(), template, labeled.confidence, nearest];
        self.execute(sql, row)?;
        let is_news = before.is_none() && change == Some(Change::Changed);
        let sql =
            "UPDATE urls SET text_digest = ?2, text_model = ?3, page_text = ?7, interval_ms = ?4, next_due = CAST(?5 AS BIGINT) + ?4,
            changed_at = CASE WHEN ?6 THEN ?5 ELSE changed_at END, doubted = NULL WHERE id = ?1";
        let (digest, whole) = (text.digest as i64, text.page as i64);
        let row = params![known.url, digest, model, update.interval_ms, known.checked_at, is_news, whole];
        self.execute(sql, row)?;
        Ok(change.filter(|change| before != Some(*change)).map(|change| Counted { change, instead: before }))
    }

    /// Takes the version of this run back: it is no version of the page, which has failed. The version before stands;
    /// `None` where there is none.
    fn take_back(
        &self,
        run: i64,
        site: SiteId,
        (url, doubt): (&PageUrl, &Doubt),
        known: &NewestPageVersion,
        revisit: &Revisit,
    ) -> Result<Option<Option<Counted>>, StoreError> {
        let sql = "SELECT id, digest FROM pages o WHERE o.site_id = ?1 AND o.url = ?2 AND o.id < ?3
            ORDER BY o.id DESC LIMIT 1";
        let row = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?));
        let last = self.find(sql, params![site, url.as_str(), known.page], row)?;
        let Some((last, digest)) = last else { return Ok(None) };
        // The next request is not conditional: what it has is not wanted.
        let sql = "UPDATE urls SET page_id = ?2, digest = ?3, etag = NULL, last_modified = NULL, doubted = ?4
            WHERE id = ?1";
        self.execute(sql, params![known.url, last, &digest, doubt.text as i64])?;
        let sql = "UPDATE visits SET outcome = 'failed', reason = ?3, page_id = NULL, change = ?4
            WHERE run_id = ?1 AND page_id = ?2";
        self.execute(sql, params![run, known.page, &doubt.reason.text, Change::Failed.as_str()])?;
        self.execute("DELETE FROM pages WHERE id = ?1", params![known.page])?;
        self.forget_return(run, site, url)?;
        let outcome = (url, UrlOutcome::Failed);
        let change = self.end_url(run, site, outcome, None, known.checked_at, revisit)?;
        Ok(Some(change.map(Counted::from)))
    }

    /// The newest version of a URL.
    pub(super) fn newest_page_version(
        &self,
        run: i64,
        site: SiteId,
        url: &PageUrl,
    ) -> Result<Option<NewestPageVersion>, StoreError> {
        let sql = "SELECT u.id, u.page_id, u.text_digest, u.page_text, u.text_model, u.interval_ms, u.checked_at,
                p.run_id = ?3, p.change
            FROM urls u JOIN pages p ON p.id = u.page_id WHERE u.site_id = ?1 AND u.fingerprint = ?2";
        let row = |row: &Row<'_>| {
            Ok(NewestPageVersion {
                url: row.get(0)?,
                page: row.get(1)?,
                text: text_mark(row, 2)?,
                interval: row.get(5)?,
                checked_at: row.get(6)?,
                is_of_run: row.get(7)?,
                change: row.get::<Option<String>>(8)?.and_then(|word| Change::from_word(&word)),
            })
        };
        self.find(sql, params![site, url.fingerprint() as i64, run], row)
    }
}

/// The text of a URL, from three columns. Before version 5 only the first one was written; 0 is the number of no model
/// and of no text.
pub(super) fn text_mark(row: &Row<'_>, at: usize) -> SqlResult<Option<TextMark>> {
    let digest: Option<i64> = row.get(at)?;
    let number = |at: usize| row.get(at).map(|number: Option<i64>| number.unwrap_or(0) as u64);
    let (page, model) = (number(at + 1)?, number(at + 2)?);
    Ok(digest.map(|digest| TextMark { digest: digest as u64, page, model }))
}
