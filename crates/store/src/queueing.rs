//! Seeds are put into a run, each with its site.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::forget::is_kept_out;
use super::sql::{Row, params};
use super::{SiteId, Store, StoreError, url_at};
use crate::seed::Seed;
use crate::site_moves::is_of_host;
use dehusk_html::PageUrl;

/// Seeds written in one transaction.
const BATCH: usize = 100_000;

/// What was read of a list of seeds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    pub(super) seeds: usize,
    pub(super) hosts: usize,
}

/// What became of the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Sites of this run, those of before a restart included.
    pub sites: usize,
    /// Sites that had ended before a restart.
    pub ended: usize,
    /// Those of them that failed.
    pub failed: usize,
    /// Seeds of those sites beside their key pages.
    pub urls: usize,
    /// Seeds that were named before.
    pub repeated: usize,
}

/// Says that seeds were left out, and not which: what was forgotten is named nowhere.
fn tell_kept_out(n: usize) {
    if n > 0 {
        tracing::warn!("{n} seeds are not requested: they were forgotten with `dehusk forget --never`");
    }
}

/// A site of an earlier run, or of this one.
struct KnownSite {
    id: SiteId,
    run: Option<i64>,
    seed: Option<PageUrl>,
    /// The site that its key page led to. None where that one has a seed of its own: then each is asked by itself.
    leads_to: Option<SiteId>,
}

impl Store {
    /// Puts seeds into a run. The first URL of a host is its key page, further ones wait in the frontier. Doing it
    /// again after a restart changes nothing.
    pub fn queue_seeds(&self, run: i64, seeds: &mut dyn Iterator<Item = Seed>, at: i64) -> Result<Queued, StoreError> {
        let kept_out = self.kept_out()?;
        let n_kept_out = Cell::new(0);
        let is_wanted = |seed: &Seed| {
            let is_wanted = !is_kept_out(&seed.url, &kept_out);
            n_kept_out.set(n_kept_out.get() + usize::from(!is_wanted));
            is_wanted
        };
        let read = self.queue_wanted(run, &mut seeds.filter(is_wanted), at)?;
        tell_kept_out(n_kept_out.get());
        self.count_queued(run, read)
    }

    fn queue_wanted(&self, run: i64, seeds: &mut dyn Iterator<Item = Seed>, at: i64) -> Result<Read, StoreError> {
        if self.is_shared() {
            return self.queue_batches(run, seeds, at);
        }
        let mut known: FxHashMap<String, (SiteId, u64)> = FxHashMap::default();
        let mut seeds = seeds.peekable();
        let mut read = Read::default();
        while seeds.peek().is_some() {
            self.begin_writing()?;
            for seed in seeds.by_ref().take(BATCH) {
                let url = &seed.url;
                let host = url.authority();
                let bare = host.strip_prefix("www.").unwrap_or(&host);
                read.seeds += 1;
                match known.get(bare) {
                    Some((site, key)) if *key != url.fingerprint() => {
                        self.save_seed(run, *site, url, read.seeds as i64)?;
                    }
                    Some(_) => {}
                    None => {
                        let site = self.queue_site(run, &host, bare, &seed, at)?;
                        known.insert(bare.to_owned(), (site, url.fingerprint()));
                    }
                }
            }
            self.batch("COMMIT")?;
        }
        Ok(Read { hosts: known.len(), ..read })
    }

    fn count_queued(&self, run: i64, read: Read) -> Result<Queued, StoreError> {
        let sql = "SELECT count(*) FROM urls WHERE seed_run = ?1 AND seed_run IS NOT NULL";
        let urls = self.row::<i64>(sql, params![run], |row| row.get(0))? as usize;
        // Where the list was read before a restart, nothing is read.
        let repeated = read.seeds.saturating_sub(read.hosts + urls);
        let mut queued = Queued { urls, repeated, ..Queued::default() };
        // A seed whose host led elsewhere last time stands for the site there.
        let sql = "SELECT count(*), count(outcome), count(*) FILTER (WHERE outcome = 'failed') FROM sites
            WHERE run_id = ?1 AND outcome IS DISTINCT FROM 'moved'";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (sites, ended, failed): (i64, i64, i64) = self.row(sql, params![run], row)?;
        (queued.sites, queued.ended, queued.failed) = (sites as usize, ended as usize, failed as usize);
        Ok(queued)
    }

    /// Puts seeds into a run that is on, `place` being that of the first one in their stream. A further URL of a host
    /// waits in the frontier, and opens its site again where that has ended.
    pub fn queue_streamed(&self, run: i64, seeds: &[Seed], place: i64, at: i64) -> Result<(), StoreError> {
        let mut known: FxHashMap<String, (SiteId, u64)> = FxHashMap::default();
        let kept_out = self.kept_out()?;
        let is_wanted = |seed: &&Seed| !is_kept_out(&seed.url, &kept_out);
        tell_kept_out(seeds.len() - seeds.iter().filter(is_wanted).count());
        for (place, seed) in (place..).zip(seeds.iter().filter(is_wanted)) {
            let (url, host) = (&seed.url, seed.url.authority());
            let bare = host.strip_prefix("www.").unwrap_or(&host);
            let (site, key) = match known.get(bare) {
                Some(found) => *found,
                None => {
                    let found = match self.site_of(run, bare)? {
                        Some((site, key)) => (site, key.fingerprint()),
                        None => (self.queue_site(run, &host, bare, seed, at)?, url.fingerprint()),
                    };
                    known.insert(bare.to_owned(), found);
                    found
                }
            };
            if key != url.fingerprint() && self.save_seed(run, site, url, place)? {
                self.open_again(run, site, at)?;
            }
        }
        Ok(())
    }

    /// The site of a host, with or without `www.`, that was worked on last.
    fn known_site(&self, bare: &str) -> Result<Option<KnownSite>, StoreError> {
        let sql = "SELECT s.id, s.run_id, s.seed_url, moved_to.id, moved_to.host, moved_to.seed_url FROM sites s
            LEFT JOIN sites AS moved_to ON moved_to.id = s.moved_to
            WHERE s.host IN (?1, 'www.' || ?1) ORDER BY s.updated_at DESC LIMIT 1";
        self.find(sql, params![bare], |row| {
            let leads_to: Option<SiteId> = row.get(3)?;
            let has_own_seed = leads_to.is_some() && {
                let host: String = row.get(4)?;
                host.strip_prefix("www.").unwrap_or(&host) != bare
                    && url_at(row, 5).is_ok_and(|seed| is_of_host(&seed, &host))
            };
            let leads_to = leads_to.filter(|_| !has_own_seed);
            Ok(KnownSite { id: row.get(0)?, run: row.get(1)?, seed: url_at(row, 2).ok(), leads_to })
        })
    }

    /// The site of a seed, put into the run where it is not in it yet.
    fn queue_site(&self, run: i64, host: &str, bare: &str, seed: &Seed, at: i64) -> Result<SiteId, StoreError> {
        let Seed { url, kind } = seed;
        let Some(known) = self.known_site(bare)? else {
            let sql = "INSERT INTO sites (host, key_url, seed_url, run_id, updated_at, seed_kind)
                VALUES (?1, ?2, ?2, ?3, ?4, ?5) RETURNING id";
            let id = self.row(sql, params![host, url.as_str(), run, at, *kind as i64], |row| row.get(0))?;
            self.queue_host(run, id)?;
            return Ok(id);
        };
        let id = known.id;
        if let Some(to) = known.leads_to {
            // A key page that led elsewhere last time is looked for where it was found.
            self.execute("UPDATE sites SET run_id = ?2 WHERE id = ?1", params![id, run])?;
            let sql = "UPDATE sites SET run_id = ?2, outcome = NULL, reason = NULL, updated_at = ?3
                WHERE id = ?1 AND run_id IS DISTINCT FROM ?2";
            self.execute(sql, params![to, run, at])?;
            self.queue_host(run, to)?;
            return Ok(to);
        }
        if known.run == Some(run) {
            // Where the seed of another host has put it into the run, its own one stands for it from now on.
            if known.seed.is_some_and(|seed| !is_of_host(&seed, host)) {
                let sql = "UPDATE sites SET seed_url = ?2, seed_kind = ?3 WHERE id = ?1";
                self.execute(sql, params![id, url.as_str(), *kind as i64])?;
            }
            return Ok(id);
        }
        // The same seed leads where it led last time.
        let sql = "UPDATE sites SET run_id = ?2, outcome = NULL, reason = NULL, updated_at = ?3, seed_url = ?4,
                key_url = CASE WHEN seed_url IS NOT DISTINCT FROM ?4 THEN key_url ELSE ?4 END, seed_kind = ?5,
                moved_to = NULL
            WHERE id = ?1";
        self.execute(sql, params![id, run, at, url.as_str(), *kind as i64])?;
        self.queue_host(run, id)?;
        Ok(id)
    }

    /// Were these seed lists read to their end in this run?
    pub fn has_seeds(&self, run: i64, mark: &str) -> Result<bool, StoreError> {
        let sql = "SELECT seeds IS NOT DISTINCT FROM ?2 FROM runs WHERE id = ?1";
        self.row(sql, params![run, mark], |row| row.get(0))
    }

    /// Notes that these seed lists were read to their end.
    pub fn mark_seeds(&self, run: i64, mark: &str) -> Result<(), StoreError> {
        self.execute("UPDATE runs SET seeds = ?2 WHERE id = ?1", params![run, mark]).map(drop)
    }
}
