//! The sites of a run: what is known of each before the work on it, and how that work ended.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::sql::{Row, SqlResult, params};
use super::urls::KnownUrl;
use super::{SiteId, SiteOutcome, Store, StoreError, StoredRobots, VisitOutcome, url_at};
use crate::reason::{Reason, ReasonCode};
use crate::seed::SeedKind;
use dehusk_html::PageUrl;
use dehusk_template::template::Template;

/// Seeds beside the key page that a site begins with.
const MOST_SEEDS: usize = 100;

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

impl Store {
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
    pub(super) fn site_of(&self, run: i64, bare: &str) -> Result<Option<(SiteId, PageUrl)>, StoreError> {
        let sql = "SELECT now.id, coalesce(sites.seed_url, sites.key_url) FROM sites
            JOIN sites AS now ON now.id = coalesce(sites.moved_to, sites.id)
            WHERE sites.host IN (?2, 'www.' || ?2) AND now.run_id = ?1 ORDER BY sites.updated_at DESC LIMIT 1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, url_at(row, 1)?));
        self.find(sql, params![run, bare], row)
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
