//! Sites whose key page leads to another host, and whether that host has a seed of its own.

use super::sql::{Row, params};
use super::{SiteId, Store, StoreError, url_at};
use dehusk_html::PageUrl;

impl Store {
    /// The site of this host that a seed of the run names itself.
    pub fn seeded_site(&self, run: i64, host: &str) -> Result<Option<SiteId>, StoreError> {
        let sql = "SELECT id, seed_url FROM sites WHERE host IN (?2, 'www.' || ?2) AND run_id = ?1
            AND seed_url IS NOT NULL";
        let bare = host.strip_prefix("www.").unwrap_or(host);
        let rows: Vec<(SiteId, PageUrl)> =
            self.rows(sql, params![run, bare], |row| Ok((row.get(0)?, url_at(row, 1)?)))?;
        // What a redirect has led to bears the seed of the site that it came from.
        Ok(rows.into_iter().find(|(_, seed)| is_of_host(seed, host)).map(|(site, _)| site))
    }

    /// A redirect for good within the host has led to another key page.
    pub(super) fn save_key_page(&self, site: SiteId, url: &PageUrl) -> Result<(), StoreError> {
        self.execute("UPDATE sites SET key_url = ?2 WHERE id = ?1", params![site, url.as_str()]).map(drop)
    }

    /// Ends a site whose key page leads to another site of the run. Its pages have moved there, with what is known of
    /// parts that always change; says how many.
    pub fn end_moved(
        &self,
        run: i64,
        site: SiteId,
        to: SiteId,
        (key_url, at): (&str, i64),
    ) -> Result<usize, StoreError> {
        let n_moved = self.move_pages(run, (site, to), key_url, at)?;
        // Sites that had moved to this one have moved to the other one.
        let sql = "UPDATE sites SET moved_to = ?2 WHERE moved_to = ?1 AND id <> ?2";
        self.execute(sql, params![site, to])?;
        let sql = "INSERT INTO changing_parts (site_id, part, nights, run_id)
            SELECT CAST(?2 AS BIGINT), part, nights, run_id FROM changing_parts WHERE site_id = ?1
            ON CONFLICT DO NOTHING";
        self.execute(sql, params![site, to])?;
        let sql = "UPDATE sites SET outcome = 'moved', reason = ?2, updated_at = ?3, moved_to = ?4 WHERE id = ?1";
        self.execute(sql, params![site, format!("leads to {key_url}"), at, to])?;
        self.keep_site_outcome(site)?;
        Ok(n_moved)
    }

    /// Gives a site of this run the host that its key page was found on. Where that host is a site already, what
    /// this run fetched moves over to it. Returns its number and how many pages have moved to it.
    pub fn rename_site(
        &self,
        run: i64,
        site: SiteId,
        host: &str,
        key_url: &str,
        at: i64,
    ) -> Result<(SiteId, usize), StoreError> {
        let sql = "INSERT INTO sites (host, key_url, run_id, updated_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (host) DO UPDATE SET key_url = ?2, run_id = ?3, updated_at = ?4, moved_to = NULL,
                outcome = CASE WHEN sites.run_id = ?3 THEN sites.outcome END,
                reason = CASE WHEN sites.run_id = ?3 THEN sites.reason END
            RETURNING id";
        let found: SiteId = self.row(sql, params![host, key_url, run, at], |row| row.get(0))?;
        self.queue_host(run, found)?;
        let mut n_moved = 0;
        if found != site {
            let sql = "UPDATE sites SET seed_url = (SELECT coalesce(seed_url, key_url) FROM sites WHERE id = ?2) WHERE id = ?1";
            self.execute(sql, params![found, site])?;
            // A page of another night stays with its host, with what this run has said of it.
            let is_new = |table: &str| {
                format!(
                    "NOT EXISTS (SELECT 1 FROM pages p WHERE p.site_id = ?3 AND p.url = {table}.url AND p.run_id <> ?1)"
                )
            };
            // Of pages that are known there, this run has the newest version.
            let known = "FROM urls AS o WHERE o.site_id = ?3 AND o.run_id = ?1 AND o.page_id IS NOT NULL
                AND urls.site_id = ?2 AND o.fingerprint = urls.fingerprint";
            let sql = format!(
                "UPDATE urls SET page_id = o.page_id, digest = o.digest, etag = o.etag, last_modified = o.last_modified,
                    state = o.state, run_id = o.run_id, checked_at = o.checked_at, next_due = o.next_due
                {known} AND {}",
                is_new("o")
            );
            self.execute(&sql, params![run, found, site])?;
            let sql = format!(
                "DELETE FROM urls WHERE site_id = ?3 AND run_id = ?1 AND page_id IS NOT NULL AND {} AND EXISTS
                    (SELECT 1 FROM urls k WHERE k.site_id = ?2 AND k.fingerprint = urls.fingerprint)",
                is_new("urls")
            );
            self.execute(&sql, params![run, found, site])?;
            let is_free = "NOT EXISTS (SELECT 1 FROM urls o WHERE o.site_id = ?2 AND o.fingerprint = urls.fingerprint)";
            for (table, condition) in [
                ("urls", format!("run_id = ?1 AND {} AND {is_free}", is_new("urls"))),
                ("states", format!("run_id = ?1 AND {}", is_new("states"))),
                ("pages", "+run_id = ?1".to_owned()),
                ("visits", "run_id = ?1".to_owned()),
            ] {
                let sql = format!("UPDATE {table} SET site_id = ?2 WHERE {condition} AND site_id = ?3");
                self.execute(&sql, params![run, found, site])?;
            }
            n_moved = self.end_moved(run, site, found, (key_url, at))?;
        }
        Ok((found, n_moved))
    }

    /// The number of a site now: that of the site that it was found to be, or its own. And whether that site has ended
    /// in this run.
    pub fn current_site(&self, run: i64, site: SiteId) -> Result<(SiteId, bool), StoreError> {
        let sql = "SELECT now.id, coalesce(now.run_id = ?2, FALSE) AND now.outcome IS NOT NULL FROM sites
            JOIN sites AS now ON now.id = coalesce(sites.moved_to, sites.id) WHERE sites.id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = self.find(sql, params![site, run], row)?;
        Ok(found.unwrap_or((site, false)))
    }
}

/// Whether a URL is of a host, with or without `www.`.
pub(super) fn is_of_host(url: &PageUrl, host: &str) -> bool {
    let host_of_url = url.authority();
    let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
    bare(&host_of_url) == bare(host)
}
