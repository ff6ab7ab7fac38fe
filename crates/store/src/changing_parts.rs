//! Parts of a site's pages that differ from night to night, and for how many nights in a row they have.

use super::sql::params;
use super::{SiteId, Store, StoreError};

/// Comparisons in a row after which a part is known to change: those of three nights.
const ENOUGH: i64 = 2;

/// Parts of one site that are kept.
const MOST: i64 = 500;

impl Store {
    /// The parts of a site that are known to change.
    pub(super) fn changing_parts(&self, site: SiteId) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT part FROM changing_parts WHERE site_id = ?1 AND nights >= ?2";
        let parts: Vec<i64> = self.rows(sql, params![site, ENOUGH], |row| row.get(0))?;
        Ok(parts.into_iter().map(|part| part as u64).collect())
    }

    /// Pages of a site of which a run has stored a body.
    pub(super) fn n_bodies(&self, run: i64, site: SiteId) -> Result<usize, StoreError> {
        let sql = "SELECT count(*) FROM pages WHERE run_id = ?1 AND site_id = ?2";
        self.row::<i64>(sql, params![run, site], |row| row.get(0)).map(|n| n as usize)
    }

    /// Writes what a night has said of parts: whether each differed on nearly all pages that were compared.
    pub(super) fn save_changing_parts(&self, run: i64, site: SiteId, parts: &[(u64, bool)]) -> Result<(), StoreError> {
        let added = "INSERT INTO changing_parts (site_id, part, nights, run_id)
            SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), 1, CAST(?3 AS BIGINT) WHERE (SELECT count(*) FROM changing_parts WHERE site_id = ?1) < ?4
                OR EXISTS (SELECT 1 FROM changing_parts WHERE site_id = ?1 AND part = ?2)
            ON CONFLICT (site_id, part) DO UPDATE SET run_id = ?3,
                nights = changing_parts.nights + CASE WHEN changing_parts.run_id = ?3 THEN 0 ELSE 1 END";
        let dropped = "DELETE FROM changing_parts WHERE site_id = ?1 AND part = ?2";
        for (part, differs) in parts {
            if *differs {
                self.execute(added, params![site, *part as i64, run, MOST])?;
            } else {
                self.execute(dropped, params![site, *part as i64])?;
            }
        }
        Ok(())
    }
}
