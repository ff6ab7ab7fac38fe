//! Sites as they come and go: taken from the store while there is room, renumbered when a redirect leads to a known
//! site, ended.

use std::time::{Duration, Instant};

use dehusk_html::PageUrl;
use rustc_hash::FxHashSet;

use super::scheduler::{ActiveSite, Scheduler};
use super::site::{SiteCrawl, SiteEvent};
use super::stats::Progress;
use crate::politeness::PolitenessKey;
use crate::robots::{Robots, RobotsAnswer};
use dehusk_store::{Query, Reply, SiteId, SiteOutcome, SiteWork, Write, WriterError};

/// Sites asked of the store at once.
pub(super) const SITES: usize = 64;

impl Scheduler<'_> {
    /// Begins work on further sites while there is room.
    pub(super) async fn admit(&mut self) -> Result<(), WriterError> {
        if self.is_stopping {
            return Ok(());
        }
        while self.has_room() {
            let Some(work) = self.waiting.pop_front() else { break };
            self.begin_site(work).await?;
        }
        let may_ask = self.leases.as_ref().is_none_or(|leases| leases.ask_at.is_none_or(|time| time <= Instant::now()));
        if let Some(after) = self.last_site
            && may_ask
            && !self.has_asked_for_sites
            && self.waiting.len() < SITES / 2
            && self.has_room()
        {
            self.has_asked_for_sites = true;
            let room = self.tools.settings.crawl.sites_at_once.saturating_sub(self.sites.len() + self.waiting.len());
            let query = match self.leases {
                Some(_) => Query::LeaseSites(room.clamp(1, SITES)),
                None => Query::NextSites { after, n: SITES },
            };
            self.ask(None, query).await?;
        }
        Ok(())
    }

    /// Whether another site may begin.
    pub(super) fn has_room(&self) -> bool {
        let is_full = self.is_over_memory() && !self.sites.is_empty();
        !is_full && self.sites.len() < self.tools.settings.crawl.sites_at_once
    }

    async fn begin_site(&mut self, work: SiteWork) -> Result<(), WriterError> {
        let id = work.id;
        if self.sites.contains_key(&id) || self.found.contains(&id) {
            // A redirect has led here before its turn came.
            return self.give_back_keys_of(id).await;
        }
        let recalled = self.recall_robots(&work);
        let (site, commands) = self.in_context(|cx| SiteCrawl::begin(work, recalled, cx));
        self.sites.insert(id, ActiveSite { site, begun: Instant::now() });
        self.carry_out(id, commands).await
    }

    /// What an earlier part of the run, or an earlier run, knows about a site's origins.
    fn recall_robots(&mut self, work: &SiteWork) -> Vec<String> {
        let mut recalled = Vec::new();
        let politeness = &self.tools.settings.politeness;
        let ttl = politeness.robots_ttl.as_millis() as i64;
        let mut seen = FxHashSet::default();
        for stored in &work.robots {
            // A record from the future was written while the clock was wrong. It counts as expired.
            let age = self.clock.unix_ms() - stored.fetched_at;
            let left = if age < 0 { 0 } else { ttl - age };
            // Rules that could not be had are requested again: they may be there by now.
            let is_answer = stored.status.is_some_and(|status| status < 500 && status != 429);
            if !is_answer || !self.robots.is_unknown(&stored.origin) || !seen.insert(&stored.origin) {
                continue;
            }
            if left <= 0 {
                // With an archive the file is asked for whole: that it is in this archive is not known.
                if stored.status == Some(200) && !stored.validators.is_empty() && self.archive.is_none() {
                    self.robots.insert_expired(stored.clone());
                }
                continue;
            }
            let answer = RobotsAnswer::Status(stored.status.unwrap_or(500), &stored.body);
            let robots = Robots::of(answer, &self.tools.agents);
            if let (Some(delay), Ok(url)) = (robots.delay(), PageUrl::parse(&format!("{}/", stored.origin))) {
                let own = delay.min(politeness.max_crawl_delay);
                let key = PolitenessKey::of(&url, politeness.key, None);
                let since = self.unknown_pace.get(&key).copied().or(self.not_before.map(|_| self.clock.started));
                if let Some(since) = since {
                    let until = self.deferred.entry(key).or_insert(self.not_before.unwrap_or(since));
                    *until = (*until).max(since + own);
                }
            }
            let until = Instant::now() + Duration::from_millis(left as u64);
            self.robots.insert(stored.origin.clone(), robots, until);
            recalled.push(stored.origin.clone());
        }
        recalled
    }

    pub(super) async fn end_site(&mut self, id: SiteId, outcome: &SiteOutcome) -> Result<(), WriterError> {
        let Some(ActiveSite { site, begun }) = self.sites.remove(&id) else { return Ok(()) };
        for origin in site.origins() {
            // Sites of one host name can share an origin through redirects.
            if !self.sites.values().any(|other| other.site.origins().contains(origin)) {
                self.robots.remove(origin);
            }
        }
        let summary = site.summary(outcome, begun.elapsed());
        // A site that seeds of a stream have opened again counts once.
        if self.ended.as_mut().is_none_or(|ended| ended.insert(id)) {
            self.stats.count_outcome(outcome);
        }
        let was_redesigned = *outcome == SiteOutcome::Learned && summary.old_template_coverage.is_some();
        self.stats.redesigned += usize::from(was_redesigned);
        (self.watch)(Progress::Site(&summary, &self.stats));
        if let Some(url) = self.late.remove(&id).filter(|_| !self.is_stopping) {
            self.writer.write(Write::OpenAgain { site: id, at: self.clock.unix_ms() }).await?;
            self.ask(None, Query::SitesOf(vec![url])).await?;
        }
        self.give_back_keys_of(id).await
    }

    pub(super) async fn on_reply(&mut self, site: SiteId, reply: Reply) -> Result<(), WriterError> {
        let event = match reply {
            Reply::NextUrls(urls) => SiteEvent::Urls(urls),
            Reply::Snapshot(snapshot) => SiteEvent::Snapshot(snapshot.map(Box::new)),
            Reply::StalePages(pages) => SiteEvent::Stale(pages),
            Reply::SeededSite(other) => SiteEvent::SeededSite(other),
            Reply::CurrentSite(now, has_ended) => return self.settle(site, now, has_ended).await,
            Reply::NextSites(_) | Reply::SitesOf(_) | Reply::LeasedSites { .. } | Reply::LeasedHost(..) => {
                return Ok(());
            }
        };
        self.tell_site(site, event).await
    }

    /// What a site has learned is written. A redirect may have led to a site that is known under another number.
    async fn settle(&mut self, before: SiteId, now: SiteId, has_ended: bool) -> Result<(), WriterError> {
        if before != now {
            self.found.insert(now);
            self.waiting.retain(|waiting| waiting.id != now);
            if has_ended || self.sites.contains_key(&now) {
                return self.tell_site(before, SiteEvent::Taken).await;
            }
            if let Some(mut active) = self.sites.remove(&before) {
                active.site.renumber(now);
                self.renumber_leases(before, now);
                self.sites.insert(now, active);
            }
        }
        self.tell_site(now, SiteEvent::Settled).await
    }

    /// The store has given further sites.
    pub(super) fn on_sites(&mut self, found: Vec<SiteWork>) {
        self.has_asked_for_sites = false;
        // The store gives less than was asked for only when there is no more.
        self.last_site = found.last().filter(|_| found.len() == SITES).map(|site| site.id);
        self.waiting.extend(found);
    }
}
