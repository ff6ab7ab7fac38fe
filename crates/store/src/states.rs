//! What became of pages that were there: gone, moved, blocked by robots.txt, failed, and back.
//!
//! The table `states` has a row for each turn, at most one for each run and URL: its last word. A page without a row
//! after its newest version is alive. No row is deleted with the log of requests, so what a state was after any run is
//! known as long as the database is.

use super::sql::params;
use super::{SiteId, Store, StoreError};
use crate::revisit::UrlState;
use dehusk_html::PageUrl;

/// Addresses that led to a page one after the other, at most.
const MOST_MOVES: usize = 20;

/// A page whose state has turned.
#[derive(Clone, Debug)]
pub struct TurnedPage {
    /// Its address.
    pub url: String,
    /// Its state now: `alive`, `gone`, `moved`, `blocked` or `failed`.
    pub state: String,
    /// Its state before.
    pub before: String,
}

/// A page that was there turns from one state to another.
pub(super) struct Turn<'a> {
    pub(super) from: UrlState,
    pub(super) to: UrlState,
    /// Where it has moved to.
    pub(super) moved_to: Option<&'a str>,
}

impl Turn<'_> {
    /// What a feed says of it. That a page could not be had on one night is no news.
    fn news(&self) -> Option<&'static str> {
        match (self.from, self.to) {
            (UrlState::Failed, UrlState::Known) => None,
            (_, UrlState::Known) => Some("returned"),
            (_, state @ (UrlState::Gone | UrlState::Moved | UrlState::Blocked)) => Some(state.as_str()),
            (_, UrlState::Failed | UrlState::Waiting) => None,
        }
    }
}

impl Store {
    /// Writes that the state of a page has turned, here and in the feed.
    pub(super) fn save_turn(
        &self,
        run: i64,
        site: SiteId,
        url: &PageUrl,
        at: i64,
        turn: &Turn<'_>,
    ) -> Result<(), StoreError> {
        // A second turn in one run is a new row, so that whoever has read the first one finds it.
        self.execute("DELETE FROM states WHERE url = ?1 AND run_id = ?2", params![url.as_str(), run])?;
        let sql = "INSERT INTO states (run_id, site_id, url, at, state, moved_to) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.execute(sql, params![run, site, url.as_str(), at, turn.to.as_str(), turn.moved_to])?;
        if let Some(news) = turn.news() {
            let sql = "INSERT INTO feed (page_id, change) SELECT page_id, ?3 FROM urls
                WHERE site_id = ?1 AND fingerprint = ?2 AND page_id IS NOT NULL";
            self.execute(sql, params![site, url.fingerprint() as i64, news])?;
        }
        Ok(())
    }

    /// Pages that have turned since a turn, each with its state before that, and the number of the next turn.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be read.
    pub fn turned_since(&self, turn: i64) -> Result<(Vec<TurnedPage>, i64), StoreError> {
        let sql = "SELECT t.url, t.state, coalesce((SELECT o.state FROM states o WHERE o.url = t.url AND o.id < ?1
                ORDER BY o.run_id DESC LIMIT 1), 'alive')
            FROM states t WHERE t.id >= ?1
            AND NOT EXISTS (SELECT 1 FROM states o WHERE o.url = t.url AND o.run_id > t.run_id) ORDER BY t.id";
        let turned = self.rows(sql, params![turn], |row| {
            Ok(TurnedPage { url: row.get(0)?, state: row.get(1)?, before: row.get(2)? })
        })?;
        let next = self.row("SELECT coalesce(max(id), 0) + 1 FROM states", params![], |row| row.get(0))?;
        Ok((turned, next))
    }

    /// Writes that all pages of a site have moved to another host, each to the same path there, below the folder that
    /// the key page has moved into.
    pub(super) fn move_pages(
        &self,
        run: i64,
        (site, to): (SiteId, SiteId),
        key_url: &str,
        at: i64,
    ) -> Result<usize, StoreError> {
        let Some(key) = PageUrl::parse(key_url).ok() else { return Ok(0) };
        let old_key: Option<String> =
            self.find("SELECT key_url FROM sites WHERE id = ?1", params![site], |row| row.get(0))?;
        let old_key = old_key.and_then(|url| PageUrl::parse(&url).ok());
        let folder = old_key.map_or("", |old| added_folder(&old, &key));
        let sql = "SELECT url FROM urls WHERE site_id = ?1 AND page_id IS NOT NULL AND state IN (1, 3)";
        let urls: Vec<String> = self.rows(sql, params![site], |row| row.get(0))?;
        for url in urls.iter().filter_map(|url| PageUrl::parse(url).ok()) {
            let path = &url.as_str()[url.origin().len()..];
            let target = format!("{}{folder}{path}", key.origin());
            let turn = Turn { from: UrlState::Known, to: UrlState::Moved, moved_to: Some(&target) };
            self.save_turn(run, site, &url, at, &turn)?;
            if let Ok(target) = PageUrl::parse(&target) {
                self.inherit_text((site, &url), (to, &target))?;
            }
        }
        let sql = "UPDATE urls SET state = ?2 WHERE site_id = ?1 AND page_id IS NOT NULL AND state IN (1, 3)";
        self.execute(sql, params![site, UrlState::Moved as i64])
    }

    /// A page that this run had taken for one that is back is as it was before.
    pub(super) fn forget_return(&self, run: i64, site: SiteId, url: &PageUrl) -> Result<(), StoreError> {
        let row = params![run, site, url.as_str()];
        let sql = "DELETE FROM states WHERE run_id = ?1 AND site_id = ?2 AND url = ?3 AND state = 'alive'";
        if self.execute(sql, row)? == 0 {
            return Ok(());
        }
        let sql = "UPDATE urls SET state = CASE (SELECT t.state FROM states t WHERE t.url = ?2 ORDER BY t.run_id DESC LIMIT 1)
                WHEN 'gone' THEN 2 WHEN 'failed' THEN 3 WHEN 'moved' THEN 4 WHEN 'blocked' THEN 5 ELSE state END
            WHERE site_id = ?1 AND fingerprint = ?3";
        self.execute(sql, params![site, url.as_str(), url.fingerprint() as i64]).map(drop)
    }

    /// A page has moved: where nothing is known of its new address, its text is that of the old one, so that it is no
    /// new page there.
    pub(super) fn inherit_text(
        &self,
        (site, from): (SiteId, &PageUrl),
        (new_site, to): (SiteId, &PageUrl),
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, text_digest, text_model, page_text,
                changed_at, interval_ms)
            SELECT CAST(?5 AS BIGINT), CAST(?3 AS BIGINT), CAST(?4 AS TEXT), 0, depth, rank, text_digest, text_model,
                page_text, changed_at, interval_ms
            FROM urls WHERE site_id = ?1 AND fingerprint = ?2 AND page_id IS NOT NULL AND state <> 4
            ON CONFLICT (site_id, fingerprint) DO UPDATE SET text_digest = excluded.text_digest,
                text_model = excluded.text_model, page_text = excluded.page_text, changed_at = excluded.changed_at,
                interval_ms = excluded.interval_ms
            WHERE urls.page_id IS NULL OR urls.text_digest IS NULL";
        let row = params![site, from.fingerprint() as i64, to.fingerprint() as i64, to.as_str(), new_site];
        self.execute(sql, row).map(drop)
    }

    /// The addresses that a page had before, the newest first: each has moved to the one before it in this list, and is
    /// no page of its own again.
    pub(super) fn former_urls(&self, url: &str) -> Result<Vec<String>, StoreError> {
        let mut found = vec![url.to_owned()];
        let mut next = 0;
        while next < found.len() && found.len() < MOST_MOVES {
            let sql = "SELECT DISTINCT t.url FROM states t WHERE t.moved_to = ?1 AND t.state = 'moved' AND NOT EXISTS
                (SELECT 1 FROM states o WHERE o.url = t.url AND o.run_id > t.run_id) ORDER BY t.url LIMIT ?2";
            let from: Vec<String> = self.rows(sql, params![&found[next], MOST_MOVES as i64], |row| row.get(0))?;
            let is_new = |url: &String| !found.contains(url);
            found.extend(from.into_iter().filter(is_new).collect::<Vec<_>>());
            next += 1;
        }
        found.remove(0);
        Ok(found)
    }
}

/// The folder that a site has moved to, where its key page has: `/new` of `/` and `/new/`.
fn added_folder<'k>(old: &PageUrl, new: &'k PageUrl) -> &'k str {
    new.url().path().strip_suffix(old.url().path()).unwrap_or_default()
}
