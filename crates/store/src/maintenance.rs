//! Retention: which versions of pages are kept, and how large the file is.

use std::collections::BTreeMap;

use serde::Serialize;

use super::sql::{Connection, params};
use super::{Store, StoreError};
use crate::SiteId;
use dehusk_settings::{ByHost, Keep};

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Versions of pages.
    pub pages: usize,
    /// Rows of the log of requests.
    pub visits: usize,
    /// Bytes of the database file that are free now.
    pub bytes: i64,
}

/// Sites whose pages are looked at with one statement.
const SITES_AT_ONCE: usize = 10_000;

impl Store {
    /// Deletes versions of pages beyond what is to be kept, and beyond their number for each host. The newest version
    /// of each page always stays, and so does everything of an unfinished run.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when the database cannot be written.
    pub fn prune(&self, keep: &Keep, versions: &ByHost<usize>) -> Result<Pruned, StoreError> {
        let before = self.used_bytes()?;
        let mut pruned = Pruned::default();
        self.in_transaction(|| {
            self.lock_pruning()?;
            pruned.pages += self.delete_versions(versions)?;
            self.delete_beyond(keep, &mut pruned)
        })?;
        pruned.bytes = (before - self.used_bytes()?).max(0);
        Ok(pruned)
    }

    /// Deletes all but the newest versions of each page, as many as its host has them.
    fn delete_versions(&self, versions: &ByHost<usize>) -> Result<usize, StoreError> {
        let delete = |n: usize, of_sites: &str| {
            let sql = format!(
                "DELETE FROM pages WHERE id IN (
                    SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY site_id, url ORDER BY id DESC) AS n
                        FROM pages {of_sites}) WHERE n > ?1)
                AND id NOT IN (SELECT page_id FROM urls WHERE page_id IS NOT NULL)
                AND run_id NOT IN (SELECT id FROM runs WHERE outcome IS NULL OR outcome = 'interrupted')"
            );
            if n == 0 { Ok(0) } else { self.execute(&sql, params![n as i64]) }
        };
        if versions.is_uniform() {
            return delete(*versions.usual(), "");
        }
        let mut sites: BTreeMap<usize, Vec<SiteId>> = BTreeMap::new();
        let hosts: Vec<(SiteId, String)> =
            self.rows("SELECT id, host FROM sites", params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (site, host) in hosts {
            let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
            sites.entry(versions.of(name)).or_default().push(site);
        }
        let mut n_deleted = 0;
        for (n, sites) in sites {
            for some in sites.chunks(SITES_AT_ONCE) {
                let ids = some.iter().map(SiteId::to_string).collect::<Vec<_>>().join(", ");
                n_deleted += delete(n, &format!("WHERE site_id IN ({ids})"))?;
            }
        }
        Ok(n_deleted)
    }

    fn delete_beyond(&self, keep: &Keep, pruned: &mut Pruned) -> Result<(), StoreError> {
        if keep.nights > 0 {
            // The runs before the newest ones, up to the first that is not over.
            let sql = "SELECT min(id) FROM (SELECT id FROM runs ORDER BY id DESC LIMIT ?1)";
            let first: i64 = self.find(sql, params![keep.nights as i64], |row| row.get(0))?.unwrap_or(0);
            let sql = "DELETE FROM pages WHERE run_id < ?1
                AND run_id NOT IN (SELECT id FROM runs WHERE outcome IS NULL OR outcome = 'interrupted')
                AND id NOT IN (SELECT page_id FROM urls WHERE page_id IS NOT NULL)";
            pruned.pages += self.execute(sql, params![first])?;
            let sql = "DELETE FROM visits WHERE run_id < ?1
                AND run_id NOT IN (SELECT id FROM runs WHERE outcome IS NULL OR outcome = 'interrupted')";
            pruned.visits += self.execute(sql, params![first])?;
            // Of a site the last outcome stays, so that nights of failure are counted.
            let sql = "DELETE FROM site_runs WHERE run_id < ?1 AND EXISTS (SELECT 1 FROM site_runs later
                WHERE later.site_id = site_runs.site_id AND later.run_id > site_runs.run_id)";
            self.execute(sql, params![first])?;
        }
        if keep.bytes > 0 {
            pruned.pages += self.prune_to(keep.bytes as i64)?;
        }
        Ok(())
    }

    /// Deletes the oldest versions that are not the newest of their page until the bodies fit.
    fn prune_to(&self, most: i64) -> Result<usize, StoreError> {
        let sql = "DELETE FROM pages WHERE id IN (
                SELECT id FROM (SELECT id, sum(length(raw) + coalesce(length(cleaned), 0)) OVER (ORDER BY id DESC) AS size
                    FROM page_bodies) WHERE size > ?1)
            AND id NOT IN (SELECT page_id FROM urls WHERE page_id IS NOT NULL)
            AND run_id NOT IN (SELECT id FROM runs WHERE outcome IS NULL OR outcome = 'interrupted')";
        self.execute(sql, params![most])
    }

    /// Bytes of the file that hold something.
    pub fn used_bytes(&self) -> Result<i64, StoreError> {
        self.row(self.connection.used_bytes(), params![], |row| row.get(0))
    }

    /// Makes the file as small as what it holds, and overwrites what was deleted.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] when another program uses the database, or the disk has no room for a copy of it.
    pub fn compact(&self) -> Result<(), StoreError> {
        match &self.connection {
            Connection::Sqlite(_) => self.batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"),
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => self.batch("VACUUM FULL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::RunRequest;
    use dehusk_settings::Settings;

    /// Three nights with a version of two pages each, one site.
    fn store(path: &Path) -> Store {
        let store = Store::create(path, 3).unwrap();
        for night in 1..=3 {
            let run = store.begin_run(&RunRequest::default()).unwrap().id;
            let seed = dehusk_html::PageUrl::parse("http://a.org/").unwrap();
            store.queue_seeds(run, &mut std::iter::once(seed.into()), night).unwrap();
            for path in ["", "x"] {
                let url = format!("http://a.org/{path}");
                let sql = "INSERT INTO pages (run_id, site_id, url, fetched_at, status, digest, raw_id, warc)
                    VALUES (?1, 1, ?2, ?1, 200, '', ?3, 'archive')";
                let body = store.body_id(&[0; 5000]).unwrap();
                store.execute(sql, params![run, &url, body]).unwrap();
                let id = store.sqlite().last_insert_rowid();
                let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, page_id)
                    VALUES (1, ?1, ?2, 1, 0, 0, ?3) ON CONFLICT DO UPDATE SET page_id = ?3";
                store.execute(sql, params![path.len() as i64, &url, id]).unwrap();
                let sql =
                    "INSERT INTO visits (run_id, site_id, url, kind, outcome) VALUES (?1, 1, ?2, 'page', 'fetched')";
                store.execute(sql, params![run, &url]).unwrap();
            }
            store.end_run(run, night, "finished").unwrap();
        }
        store
    }

    fn count(store: &Store, table: &str) -> i64 {
        store.sqlite().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    fn prune(store: &Store, keep: &Keep) -> Pruned {
        let versions = ByHost::new(&Settings::default(), {
            let n = keep.versions;
            move |_| n
        });
        store.prune(keep, &versions).unwrap()
    }

    #[test]
    fn a_site_keeps_as_many_versions_as_its_table_says() {
        let dir = tempfile::tempdir().unwrap();
        for (host, n_pages) in [("a.org", 4), ("b.org", 2)] {
            let store = store(&dir.path().join(host));
            let file = format!("store.keep_versions = 1\n[[site]]\nhost = \"{host}\"\nstore.keep_versions = 2\n");
            let settings = Settings::load(Some(("crawl.toml", &file)), &[]).unwrap();
            let versions = ByHost::new(&settings, |settings| settings.store.keep.versions);
            store.prune(&settings.store.keep, &versions).unwrap();
            assert_eq!(count(&store, "pages"), n_pages, "{host}");
        }
    }

    #[test]
    fn versions_nights_and_bytes_are_bounded_and_the_newest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let all = Keep::default();
        let keeps = [
            (all, 6, 6),
            (Keep { versions: 1, ..all }, 2, 6),
            (Keep { versions: 2, ..all }, 4, 6),
            (Keep { nights: 2, ..all }, 4, 4),
            (Keep { bytes: 1, ..all }, 2, 6),
            (Keep { bytes: 15_500, ..all }, 3, 6),
        ];
        for (at, (keep, pages, visits)) in keeps.into_iter().enumerate() {
            let store = store(&dir.path().join(format!("{at}.db")));
            let pruned = prune(&store, &keep);
            assert_eq!((count(&store, "pages"), count(&store, "visits")), (pages, visits), "{keep:?}");
            assert_eq!(pruned.pages as i64, 6 - pages);
            let lost = "SELECT count(*) FROM urls WHERE page_id NOT IN (SELECT id FROM pages)";
            assert_eq!(store.sqlite().query_row(lost, [], |row| row.get(0)), Ok(0), "{keep:?}");
        }
    }
    #[test]
    fn an_abandoned_run_keeps_its_counts_and_an_unfinished_one_its_pages() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir.path().join("a.db"));
        let counts = |store: &Store| {
            let run = store.find_run(1).unwrap().unwrap();
            (run.outcome, run.new)
        };
        // As a kill leaves it.
        store
            .execute("UPDATE runs SET outcome = NULL, ended_at = NULL, counts = NULL WHERE id = 1", params![])
            .unwrap();
        prune(&store, &Keep { versions: 1, ..Keep::default() });
        assert_eq!(counts(&store), (None, 2), "it may be taken up, and count what it has stored");
        store.begin_run(&RunRequest { at: 9, since: 8, ..RunRequest::default() }).unwrap();
        prune(&store, &Keep { versions: 1, ..Keep::default() });
        assert_eq!(count(&store, "pages"), 2);
        assert_eq!(counts(&store), (Some("abandoned".to_owned()), 2));
    }
}
