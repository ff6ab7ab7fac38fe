//! The sites of a run: seeds go in, work comes out.

use std::cell::Cell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::forget::is_kept_out;
use super::sql::{Row, SqlResult, params};
use super::urls::KnownUrl;
use super::{SiteId, SiteOutcome, Store, StoreError, StoredRobots, VisitOutcome, url_at};
use crate::reason::{Reason, ReasonCode};
use crate::seed::{Seed, SeedKind};
use dehusk_html::PageUrl;
use dehusk_template::template::Template;

/// Seeds written in one transaction.
const BATCH: usize = 100_000;

/// Seeds beside the key page that a site begins with.
const MOST_SEEDS: usize = 100;

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

/// A site to work on, with what is known of it.
#[derive(Debug)]
pub struct SiteWork {
    /// Its number.
    pub id: SiteId,
    /// Host, with a port that is not the usual one.
    pub host: String,
    /// Key page.
    pub key_url: PageUrl,
    /// Its newest template.
    pub template: Option<Template>,
    /// Was that template learned or confirmed in this run, before a restart?
    pub template_is_settled: bool,
    /// Was it learned in this run?
    pub template_is_new: bool,
    /// Why none was found in this run, before a restart.
    pub failure: Option<Reason>,
    /// What is known of the key page.
    pub key: Option<KnownUrl>,
    /// Rules that its origins gave, and when.
    pub robots: Vec<StoredRobots>,
    /// What this run did before a restart, or before the site was opened again for further seeds.
    pub past: Vec<PastVisit>,
    /// The first of its seeds beside the key page, visited or not.
    pub seeds: Vec<PageUrl>,
    /// How its seed came.
    pub seed_kind: SeedKind,
    /// Whether a version of one of its pages was rendered.
    pub is_rendered: bool,
}

/// A request of this run from before a restart.
#[derive(Clone, Debug)]
pub struct PastVisit {
    /// What was requested.
    pub url: PageUrl,
    /// What came of it.
    pub outcome: VisitOutcome,
    /// Why it gave no page.
    pub reason: Option<String>,
    /// Where it led, if it was redirected.
    pub redirect_to: Option<String>,
    /// The snapshot.
    pub page: Option<i64>,
}

/// The reason in columns 4 and 5.
fn failure(row: &Row<'_>) -> SqlResult<Option<Reason>> {
    let (text, code): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
    Ok(text.map(|text| Reason::new(ReasonCode::from_word(code.as_deref().unwrap_or_default()), text)))
}

/// Says that seeds were left out, and not which: what was forgotten is named nowhere.
fn tell_kept_out(n: usize) {
    if n > 0 {
        tracing::warn!("{n} seeds are not requested: they were forgotten with `dehusk forget --never`");
    }
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
        let sql =
            "SELECT count(*), count(outcome), count(*) FILTER (WHERE outcome = 'failed') FROM sites WHERE run_id = ?1";
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

    /// Puts a site that has ended in this run back into it, if it has seeds that were not visited.
    pub fn open_again(&self, run: i64, site: SiteId, at: i64) -> Result<(), StoreError> {
        let sql = "UPDATE sites SET outcome = NULL WHERE id = ?1 AND outcome IS NOT NULL AND run_id = ?2
            AND EXISTS (SELECT 1 FROM urls WHERE site_id = ?1 AND seed_run = ?2 AND seed_run IS NOT NULL
                AND seed_run IS DISTINCT FROM run_id AND (state = 0 OR next_due <= ?3))";
        if self.execute(sql, params![site, run, at])? > 0 {
            self.queue_host(run, site)?;
        }
        Ok(())
    }

    /// The site of a host in a run, under the number that it has there, and its seed.
    fn site_of(&self, run: i64, bare: &str) -> Result<Option<(SiteId, PageUrl)>, StoreError> {
        let sql = "SELECT now.id, coalesce(sites.seed_url, sites.key_url) FROM sites
            JOIN sites AS now ON now.id = coalesce(sites.moved_to, sites.id)
            WHERE sites.host IN (?2, 'www.' || ?2) AND now.run_id = ?1 ORDER BY sites.updated_at DESC LIMIT 1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, url_at(row, 1)?));
        self.find(sql, params![run, bare], row)
    }

    /// The site of a seed, put into the run where it is not in it yet.
    fn queue_site(&self, run: i64, host: &str, bare: &str, seed: &Seed, at: i64) -> Result<SiteId, StoreError> {
        let Seed { url, kind } = seed;
        let sql =
            "SELECT id, run_id, moved_to FROM sites WHERE host IN (?1, 'www.' || ?1) ORDER BY updated_at DESC LIMIT 1";
        let row = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?, row.get::<Option<i64>>(2)?));
        let found = self.find(sql, params![bare], row)?;
        let Some((id, in_run, moved_to)) = found else {
            let sql = "INSERT INTO sites (host, key_url, seed_url, run_id, updated_at, seed_kind)
                VALUES (?1, ?2, ?2, ?3, ?4, ?5) RETURNING id";
            let id = self.row(sql, params![host, url.as_str(), run, at, *kind as i64], |row| row.get(0))?;
            self.queue_host(run, id)?;
            return Ok(id);
        };
        // A key page that led elsewhere last time is looked for where it was found.
        let sql = match moved_to {
            Some(_) => {
                "UPDATE sites SET run_id = ?2, outcome = NULL, reason = NULL, updated_at = ?3
                    WHERE id = ?1 AND run_id IS DISTINCT FROM ?2"
            }
            None if in_run == Some(run) => return Ok(id),
            // The same seed leads where it led last time.
            None => {
                "UPDATE sites SET run_id = ?2, outcome = NULL, reason = NULL, updated_at = ?3, seed_url = ?4,
                    key_url = CASE WHEN seed_url IS NOT DISTINCT FROM ?4 THEN key_url ELSE ?4 END, seed_kind = ?5
                    WHERE id = ?1"
            }
        };
        let id = moved_to.unwrap_or(id);
        match moved_to {
            Some(_) => self.execute(sql, params![id, run, at]),
            None => self.execute(sql, params![id, run, at, url.as_str(), *kind as i64]),
        }?;
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

    /// The sites of these seeds that wait in a run, each once.
    pub fn sites_of(&self, run: i64, seeds: &[PageUrl]) -> Result<Vec<SiteWork>, StoreError> {
        let hosts: FxHashSet<String> = seeds.iter().map(PageUrl::authority).collect();
        let mut sites = BTreeSet::new();
        for host in hosts {
            let found = self.site_of(run, host.strip_prefix("www.").unwrap_or(&host))?;
            sites.extend(found.map(|(site, _)| site));
        }
        let found = sites.into_iter().map(|site| self.next_sites(run, site - 1, 1, true).map(|found| (site, found)));
        let found: Vec<(SiteId, Vec<SiteWork>)> = found.collect::<Result<_, _>>()?;
        Ok(found.into_iter().flat_map(|(site, found)| found.into_iter().filter(move |work| work.id == site)).collect())
    }

    /// The next sites of a run that wait, beyond site `after`.
    pub fn next_sites(&self, run: i64, after: SiteId, n: usize, resumed: bool) -> Result<Vec<SiteWork>, StoreError> {
        let sql = "SELECT id, host, key_url, template_run IS NOT DISTINCT FROM ?1, reason, reason_code, seed_kind
            FROM sites WHERE run_id = ?1 AND outcome IS NULL AND id > ?2 ORDER BY id LIMIT ?3";
        let rows: Vec<(SiteId, String, PageUrl, bool, Option<Reason>, SeedKind)> =
            self.rows(sql, params![run, after, n as i64], |row| {
                Ok((
                    row.get(0)?,
                    row.get::<String>(1)?,
                    url_at(row, 2)?,
                    row.get(3)?,
                    failure(row)?,
                    SeedKind::from_number(row.get(6)?),
                ))
            })?;
        rows.into_iter()
            .map(|(id, host, key_url, template_is_settled, failure, seed_kind)| {
                let template = self.site_template(id, &host)?;
                Ok(SiteWork {
                    template_is_new: template.as_ref().is_some_and(|(of_run, _)| *of_run == Some(run)),
                    template: template.map(|(_, template)| template),
                    template_is_settled,
                    failure,
                    key: self.find_url(id, &key_url)?,
                    robots: self.load_robots(&host)?,
                    past: if resumed { self.past_visits(run, id)? } else { Vec::new() },
                    seeds: self.seeds_of(run, id, MOST_SEEDS)?,
                    is_rendered: self.is_rendered(id)?,
                    seed_kind,
                    id,
                    host,
                    key_url,
                })
            })
            .collect()
    }

    fn is_rendered(&self, site: SiteId) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM pages WHERE site_id = ?1 AND fetched_id IS NOT NULL)";
        self.row(sql, params![site], |row| row.get(0))
    }

    fn past_visits(&self, run: i64, site: SiteId) -> Result<Vec<PastVisit>, StoreError> {
        let sql = "SELECT url, outcome, reason, redirect_to, page_id FROM visits WHERE run_id = ?1 AND site_id = ?2 AND kind = 'page'";
        self.rows(sql, params![run, site], |row| {
            // An error may have passed, so an unknown word is one.
            let outcome = VisitOutcome::from_word(&row.get::<String>(1)?).unwrap_or(VisitOutcome::FetchError);
            let (reason, redirect_to) = (row.get(2)?, row.get(3)?);
            Ok(PastVisit { url: url_at(row, 0)?, outcome, reason, redirect_to, page: row.get(4)? })
        })
    }

    /// The site of this host that a seed of the run names itself.
    pub fn seeded_site(&self, run: i64, host: &str) -> Result<Option<SiteId>, StoreError> {
        let sql = "SELECT id, seed_url FROM sites WHERE host IN (?2, 'www.' || ?2) AND run_id = ?1
            AND seed_url IS NOT NULL";
        let bare = host.strip_prefix("www.").unwrap_or(host);
        let rows: Vec<(SiteId, PageUrl)> =
            self.rows(sql, params![run, bare], |row| Ok((row.get(0)?, url_at(row, 1)?)))?;
        // What a redirect has led to bears the seed of the site that it came from.
        let is_own = |url: &PageUrl| {
            let host = url.authority();
            host.strip_prefix("www.").unwrap_or(&host) == bare
        };
        Ok(rows.into_iter().find(|(_, seed)| is_own(seed)).map(|(site, _)| site))
    }

    /// Ends a site whose key page leads to another site of the run. Its pages have moved there; says how many.
    pub fn end_moved(
        &self,
        run: i64,
        site: SiteId,
        to: SiteId,
        (key_url, at): (&str, i64),
    ) -> Result<usize, StoreError> {
        let n_moved = self.move_pages(run, site, key_url, at)?;
        let sql = "UPDATE sites SET outcome = 'moved', reason = ?2, updated_at = ?3, moved_to = ?4 WHERE id = ?1";
        self.execute(sql, params![site, format!("leads to {key_url}"), at, to])?;
        self.keep_site_outcome(site)?;
        Ok(n_moved)
    }

    /// Gives a site of this run the host that its key page was found on. Where that host is a site already, what
    /// this run fetched moves over to it.
    pub fn rename_site(
        &self,
        run: i64,
        site: SiteId,
        host: &str,
        key_url: &str,
        at: i64,
    ) -> Result<SiteId, StoreError> {
        let sql = "INSERT INTO sites (host, key_url, run_id, updated_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (host) DO UPDATE SET key_url = ?2, run_id = ?3, updated_at = ?4,
                outcome = CASE WHEN sites.run_id = ?3 THEN sites.outcome END,
                reason = CASE WHEN sites.run_id = ?3 THEN sites.reason END
            RETURNING id";
        let found: SiteId = self.row(sql, params![host, key_url, run, at], |row| row.get(0))?;
        self.queue_host(run, found)?;
        if found != site {
            let sql = "UPDATE sites SET seed_url = (SELECT coalesce(seed_url, key_url) FROM sites WHERE id = ?2) WHERE id = ?1";
            self.execute(sql, params![found, site])?;
            let sql = "UPDATE urls SET site_id = ?2 WHERE run_id = ?1 AND site_id = ?3
                AND NOT EXISTS (SELECT 1 FROM urls o WHERE o.site_id = ?2 AND o.fingerprint = urls.fingerprint)";
            self.execute(sql, params![run, found, site])?;
            for table in ["pages", "visits", "states"] {
                let sql = format!("UPDATE {table} SET site_id = ?2 WHERE +run_id = ?1 AND site_id = ?3");
                let sql = if table == "pages" { sql } else { sql.replace('+', "") };
                self.execute(&sql, params![run, found, site])?;
            }
            self.end_moved(run, site, found, (key_url, at))?;
        }
        Ok(found)
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

    /// Notes that the template of a site is the one for this run.
    pub fn settle_template(&self, run: i64, site: SiteId) -> Result<(), StoreError> {
        let sql = "UPDATE sites SET template_run = ?2 WHERE id = ?1";
        self.execute(sql, params![site, run]).map(drop)
    }

    /// Notes why a site has no template, for a restart before the site ends.
    pub fn save_failure(&self, site: SiteId, reason: &Reason) -> Result<(), StoreError> {
        let sql = "UPDATE sites SET reason = ?2, reason_code = ?3 WHERE id = ?1";
        self.execute(sql, params![site, &reason.text, reason.code.as_str()]).map(drop)
    }

    /// Records how the work on a site ended. A site whose key page cannot be had any more is looked for again from its
    /// seed next time.
    ///
    /// `limit` is the budget that ended it before its time.
    pub fn end_site(&self, site: SiteId, end: &SiteOutcome, limit: Option<&Reason>, at: i64) -> Result<(), StoreError> {
        let (outcome, reason) = end.words();
        let reason = reason.or(limit);
        let sql = "UPDATE sites SET outcome = ?2, updated_at = ?4,
            reason = CASE ?2 WHEN 'interrupted' THEN coalesce(?3, reason) ELSE ?3 END,
            reason_code = CASE ?2 WHEN 'interrupted' THEN coalesce(?5, reason_code) ELSE ?5 END WHERE id = ?1";
        let (text, code) = (reason.map(|reason| &reason.text), reason.map(|reason| reason.code.as_str()));
        self.execute(sql, params![site, outcome, text, at, code])?;
        self.keep_site_outcome(site)?;
        if matches!(end, SiteOutcome::Failed(_) | SiteOutcome::NoTemplate(_)) {
            let sql = "UPDATE sites SET key_url = coalesce(seed_url, key_url) WHERE id = ?1";
            self.execute(sql, params![site])?;
            let sql = "UPDATE sites SET moved_to = NULL WHERE moved_to = ?1";
            self.execute(sql, params![site])?;
        }
        Ok(())
    }
}
