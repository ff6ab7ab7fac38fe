//! What owners say about the use of their pages: kept for each visit and version, and listed by site and time.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::sql::params;
use super::{SiteId, Store, StoreError};
use dehusk_core::rights::Rights;
use dehusk_html::PageUrl;

/// What was said about the pages of a site in a run.
#[derive(Clone, Debug)]
pub struct RightsOfRun {
    /// The site.
    pub host: String,
    /// The run.
    pub run: i64,
    /// First visit of the run on which it was said, Unix milliseconds.
    pub at: i64,
    /// What was said; empty: nothing.
    pub rights: Rights,
    /// Visits on which it was said.
    pub visits: i64,
    /// Whether one of them had an answer, so that the page itself was heard.
    pub has_pages: bool,
}

impl Store {
    /// The row of what is said; `None` where nothing is.
    pub(super) fn rights_id(&self, rights: &Rights) -> Result<Option<i64>, StoreError> {
        let Some(text) = rights.to_text() else { return Ok(None) };
        let id = xxh3_64(text.as_bytes()) as i64;
        let sql = "INSERT INTO rights (id, statements) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING";
        self.execute(sql, params![id, text])?;
        Ok(Some(id))
    }

    /// Sets what is said about a version of a page.
    pub(super) fn set_rights(&self, page: i64, rights: &Rights) -> Result<(), StoreError> {
        let sql = "UPDATE pages SET rights_id = ?2 WHERE id = ?1 AND rights_id IS DISTINCT FROM ?2";
        let id = self.rights_id(rights)?;
        self.execute(sql, params![page, id]).map(drop)
    }

    /// Notes that a page was found unchanged, without being sent again, while its site says this. Returns all that is
    /// said about it now.
    pub(super) fn revisit_rights(
        &self,
        site: SiteId,
        url: &PageUrl,
        of_site: &Rights,
    ) -> Result<Option<Rights>, StoreError> {
        let sql = "SELECT u.page_id, (SELECT statements FROM rights r WHERE r.id = p.rights_id) FROM urls u
            JOIN pages p ON p.id = u.page_id WHERE u.site_id = ?1 AND u.fingerprint = ?2";
        let found = self.find(sql, params![site, url.fingerprint() as i64], |row| {
            Ok((row.get::<i64>(0)?, row.get::<Option<String>>(1)?))
        })?;
        let Some((page, text)) = found else { return Ok(None) };
        let before = Rights::from_text(text.as_deref());
        let now = before.revisited(of_site.clone());
        if now != before {
            self.set_rights(page, &now)?;
        }
        Ok(Some(now))
    }

    /// What was said about the pages of all sites, or of one host, run by run, up to a run.
    pub fn rights_by_run(&self, host: Option<&str>, upto: i64) -> Result<Vec<RightsOfRun>, StoreError> {
        // Of runs whose log of requests was pruned, what the stored pages have is left.
        let sql = "SELECT host, run_id, min(at), rights_id, sum(n), max(looked) FROM (
                SELECT s.host, v.run_id, coalesce(v.sent_at, r.started_at) AS at, v.rights_id, 1 AS n,
                    CASE WHEN v.outcome IN ('fetched', 'not_modified') THEN 1 ELSE 0 END AS looked
                FROM visits v JOIN sites s ON s.id = v.site_id JOIN runs r ON r.id = v.run_id
                WHERE v.kind = 'page' AND (v.outcome IN ('fetched', 'not_modified') OR v.rights_id IS NOT NULL)
                UNION ALL
                SELECT s.host, p.run_id, p.fetched_at, p.rights_id, 1, 1 FROM pages p JOIN sites s ON s.id = p.site_id
                WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.run_id = p.run_id AND v.site_id = p.site_id)
            ) AS said
            WHERE run_id <= ?2 AND (CAST(?1 AS TEXT) IS NULL OR host IN (?1, 'www.' || ?1))
            GROUP BY host, run_id, rights_id ORDER BY host, run_id, rights_id";
        let rows = self.rows(sql, params![host.map(super::read::bare_host), upto], |row| {
            let (host, run, at, id) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get::<Option<i64>>(3)?);
            Ok((host, run, at, id, row.get(4)?, row.get::<i64>(5)? > 0))
        })?;
        let mut known: FxHashMap<i64, Rights> = FxHashMap::default();
        let mut all = Vec::with_capacity(rows.len());
        for (host, run, at, id, visits, has_pages) in rows {
            let rights = match id {
                None => Rights::default(),
                Some(id) => match known.get(&id) {
                    Some(rights) => rights.clone(),
                    None => known.entry(id).or_insert(self.load_rights(id)?).clone(),
                },
            };
            all.push(RightsOfRun { host, run, at, rights, visits, has_pages });
        }
        Ok(all)
    }

    /// Takes an address out of the words of owners. What follows from them stays, where another page refers to them.
    pub(super) fn forget_in_rights(&self, address: &str) -> Result<usize, StoreError> {
        let names = self.connection.contains("statements", "?1");
        let unused = format!(
            "DELETE FROM rights WHERE {names} AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.rights_id = rights.id)
                AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.rights_id = rights.id)"
        );
        let mut mentions = self.execute(&unused, params![address])?;
        let sql = format!("SELECT id, statements FROM rights WHERE {names}");
        let used: Vec<(i64, String)> = self.rows(&sql, params![address], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (id, text) in used {
            let mut rights = Rights::from_text(Some(&text));
            let naming = rights.statements.iter_mut().filter(|statement| statement.words.contains(address));
            naming.for_each(|statement| statement.words.clear());
            let sql = "UPDATE rights SET statements = ?2 WHERE id = ?1";
            mentions += self.execute(sql, params![id, rights.to_text().unwrap_or_default()])?;
        }
        Ok(mentions)
    }

    fn load_rights(&self, id: i64) -> Result<Rights, StoreError> {
        let sql = "SELECT statements FROM rights WHERE id = ?1";
        let text: Option<String> = self.find(sql, params![id], |row| row.get(0))?;
        Ok(Rights::from_text(text.as_deref()))
    }
}
