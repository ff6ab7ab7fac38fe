//! What became of the seeds of a run, URL by URL.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::sql::{Row, SqlResult, params};
use super::{SiteId, Store, StoreError, VisitOutcome, url_at};
use dehusk_html::PageUrl;

/// A seed, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeedRow {
    /// As the list names it.
    pub url: String,
    /// Its site.
    pub site: String,
    /// The outcome of its visit; `not_due` and `waiting` where it was not visited.
    pub outcome: String,
    /// Where a redirect has led.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// Why it gave no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Sites read at once.
const SITES: i64 = 1000;

/// Redirects that are followed from a seed.
const MOST_HOPS: usize = 20;

/// A site of a run.
struct SeededSite {
    id: SiteId,
    host: String,
    /// The seed that is its key page, unless a redirect has led to the site.
    key: Option<String>,
    outcome: Option<String>,
    reason: Option<String>,
    /// The key page of the site that it has moved to.
    leads_to: Option<String>,
}

/// The last visit of a URL.
struct LastVisit {
    outcome: String,
    reason: Option<String>,
    redirect_to: Option<String>,
}

/// The last visit of each URL of a site.
type Visits = FxHashMap<String, LastVisit>;

impl Store {
    /// Hands the seeds of a run to `each`, site by site, until it returns false.
    pub fn seeds_of_run(&self, run: i64, mut each: impl FnMut(SeedRow) -> bool) -> Result<(), StoreError> {
        let mut after = i64::MIN;
        loop {
            let sites = self.seeded_sites(run, after)?;
            let Some(last) = sites.last() else { return Ok(()) };
            after = last.id;
            for site in sites {
                for row in self.seeds_of_site(run, &site)? {
                    if !each(row) {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn seeded_sites(&self, run: i64, after: SiteId) -> Result<Vec<SeededSite>, StoreError> {
        let sql =
            "SELECT s.id, s.host, coalesce(s.seed_url, s.key_url), s.outcome, s.reason, moved_to.key_url FROM sites s
            LEFT JOIN sites AS moved_to ON moved_to.id = s.moved_to
            WHERE s.run_id = ?1 AND s.id > ?2 ORDER BY s.id LIMIT ?3";
        self.rows(sql, params![run, after, SITES], |row| {
            let (host, seed): (String, PageUrl) = (row.get(1)?, url_at(row, 2)?);
            let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
            let key = (bare(&seed.authority()) == bare(&host)).then(|| seed.to_string());
            Ok(SeededSite {
                id: row.get(0)?,
                host,
                key,
                outcome: row.get(3)?,
                reason: row.get(4)?,
                leads_to: row.get(5)?,
            })
        })
    }

    fn seeds_of_site(&self, run: i64, site: &SeededSite) -> Result<Vec<SeedRow>, StoreError> {
        let sql = "SELECT url, outcome, reason, redirect_to FROM visits
            WHERE run_id = ?1 AND site_id = ?2 AND kind = 'page' ORDER BY id";
        let row = |row: &Row<'_>| -> SqlResult<_> {
            let visit = LastVisit { outcome: row.get(1)?, reason: row.get(2)?, redirect_to: row.get(3)? };
            Ok((row.get(0)?, visit))
        };
        let visits: Visits = self.rows::<(String, _)>(sql, params![run, site.id], row)?.into_iter().collect();
        let sql = "SELECT url, state FROM urls WHERE seed_run = ?1 AND seed_run IS NOT NULL AND site_id = ?2
            ORDER BY rank, id";
        let further: Vec<(String, i64)> =
            self.rows(sql, params![run, site.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let key = site.key.iter().map(|url| became(url, &visits, site).unwrap_or_else(|| unvisited_key(url, site)));
        let rows = further.iter().map(|(url, state)| {
            became(url, &visits, site).unwrap_or_else(|| {
                let outcome = if *state > 0 { "not_due" } else { "waiting" };
                seed_row(url, site, outcome, site.reason.clone().filter(|_| *state == 0))
            })
        });
        Ok(key.chain(rows).collect())
    }
}

/// What the visits of a site say about a seed.
fn became(url: &str, visits: &Visits, site: &SeededSite) -> Option<SeedRow> {
    let (mut at, mut found) = (url.to_owned(), visits.get(url)?);
    // A host without a scheme is asked for http where https fails.
    let by_http = url.strip_prefix("https:").map(|rest| format!("http:{rest}"));
    if let Some((http, visit)) =
        by_http.and_then(|http| visits.get_key_value(&http)).filter(|_| found.outcome == "error")
    {
        (at, found) = (http.clone(), visit);
    }
    for _ in 0..MOST_HOPS {
        let Some(target) = &found.redirect_to else { break };
        at.clone_from(target);
        match visits.get(target) {
            Some(next) => found = next,
            None => break,
        }
    }
    let mut row = seed_row(url, site, &found.outcome, found.reason.clone());
    row.leads_to = (at != url).then_some(at);
    Some(row)
}

fn unvisited_key(url: &str, site: &SeededSite) -> SeedRow {
    match site.outcome.as_deref() {
        // The key page is elsewhere since an earlier run, or was kept as it is.
        Some("learned" | "kept" | "walked" | "no_template") => seed_row(url, site, "fetched", None),
        Some("moved") => {
            let row = seed_row(url, site, VisitOutcome::Redirected.as_str(), site.reason.clone());
            SeedRow { leads_to: site.leads_to.clone(), ..row }
        }
        Some("not_due") => seed_row(url, site, "not_due", None),
        Some("failed") => seed_row(url, site, VisitOutcome::Failed.as_str(), site.reason.clone()),
        _ => seed_row(url, site, "waiting", site.reason.clone()),
    }
}

fn seed_row(url: &str, site: &SeededSite, outcome: &str, reason: Option<String>) -> SeedRow {
    SeedRow { url: url.to_owned(), site: site.host.clone(), outcome: outcome.to_owned(), leads_to: None, reason }
}
