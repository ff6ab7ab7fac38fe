//! Sites as they come and go: taken from the store while there is room, brought by the seeds of a stream, renumbered
//! when a redirect leads to a known site, ended.

use std::time::{Duration, Instant};

use dehusk_html::PageUrl;
use rustc_hash::FxHashSet;

use super::lease_table::LeaseTable;
use super::scheduler::Scheduler;
use super::site::{SiteCrawl, SiteEvent};
use super::site_queue::SITES;
use super::site_table::ActiveSite;
use super::stats::Progress;
use super::workers::Tools;
use crate::politeness::PolitenessKey;
use crate::rights_files::{RightsFile, RightsFiles};
use crate::robots::{Robots, RobotsAnswer};
use dehusk_store::seed::Seed;
use dehusk_store::{Query, Reply, SiteId, SiteOutcome, SiteWork, Write, WriterError};

impl Scheduler<'_> {
    /// Begins work on further sites while there is room.
    pub(super) async fn admit(&mut self) -> Result<(), WriterError> {
        if self.is_stopping {
            return Ok(());
        }
        while self.has_room() {
            let Some(work) = self.site_queue.pop() else { break };
            self.begin_site(work).await?;
        }
        if let Some(after) = self.site_queue.ask_after()
            && self.leases.as_ref().is_none_or(|leases| leases.may_ask(Instant::now()))
            && self.has_room()
        {
            self.site_queue.asked();
            let n_begun = self.sites.len() + self.site_queue.n_waiting();
            let room = self.tools.settings.crawl.sites_at_once.saturating_sub(n_begun);
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
        if self.sites.contains(id) || self.site_queue.was_led_to(id) {
            // A redirect has led here before its turn came.
            return self.give_back_keys_of(id).await;
        }
        let tools = self.tools_by_host.of(work.key_url.host());
        self.keep_own_delay(&work, &tools);
        let recalled = self.recall_robots(&work, &tools);
        let (site, commands) = self.in_context(&tools, |cx| SiteCrawl::begin(work, recalled, cx));
        self.sites.put(id, ActiveSite::new(site, tools, Instant::now()));
        self.carry_out(id, commands).await
    }

    /// After a restart, a host with a longer delay of its own waits for that.
    fn keep_own_delay(&mut self, work: &SiteWork, tools: &Tools) {
        let own = tools.settings.politeness.delay;
        if own > self.tools.settings.politeness.delay {
            let key = PolitenessKey::new(&work.key_url, tools.settings.politeness.key, None);
            self.delays.hold_for(key, own, self.clock.started);
        }
    }

    /// What an earlier part of the run, or an earlier run, knows about a site's origins.
    fn recall_robots(&mut self, work: &SiteWork, tools: &Tools) -> Vec<String> {
        let mut recalled = Vec::new();
        let politeness = &tools.settings.politeness;
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
            let mut robots = Robots::new(answer, &self.tools.agents);
            match stored.rights_files.as_deref().map(serde_json::from_str::<Vec<RightsFile>>) {
                Some(Ok(files)) => robots = robots.with_files(RightsFiles::new(&files, &self.tools.agents)),
                // The crawl had no purpose when it was asked for.
                _ if self.reads_rights_files(&robots) => continue,
                _ => {}
            }
            if let (Some(delay), Ok(url)) = (robots.delay(), PageUrl::parse(&format!("{}/", stored.origin))) {
                let own = delay.min(politeness.max_crawl_delay);
                let key = PolitenessKey::new(&url, politeness.key, None);
                self.delays.hold_for(key, own, self.clock.started);
            }
            let until = Instant::now() + Duration::from_millis(left as u64);
            self.robots.insert(stored.origin.clone(), robots, until);
            recalled.push(stored.origin.clone());
        }
        recalled
    }

    pub(super) async fn end_site(&mut self, id: SiteId, outcome: &SiteOutcome) -> Result<(), WriterError> {
        let Some(ActiveSite { site, begun, .. }) = self.sites.remove(id) else { return Ok(()) };
        for origin in site.origins() {
            // Sites of one host name can share an origin through redirects.
            if !self.sites.uses_origin(origin) {
                self.robots.remove(origin);
            }
        }
        let summary = site.summary(outcome, begun.elapsed());
        if self.site_queue.end(id) {
            self.stats.count_outcome(outcome);
        }
        let was_redesigned = *outcome == SiteOutcome::Learned && summary.old_template_coverage.is_some();
        self.stats.redesigned += usize::from(was_redesigned);
        (self.watch)(Progress::Site(&summary, &self.stats));
        if let Some(url) = self.site_queue.take_late(id).filter(|_| !self.is_stopping) {
            self.writer.write(Write::OpenAgain { site: id, at: self.clock.unix_ms() }).await?;
            self.ask(None, Query::SitesOf(vec![url])).await?;
        }
        self.give_back_keys_of(id).await
    }

    pub(super) async fn on_reply(&mut self, site: SiteId, reply: Reply) -> Result<(), WriterError> {
        let event = match reply {
            Reply::NextUrls(urls) => SiteEvent::Urls(urls),
            Reply::Snapshot(snapshot) => SiteEvent::Snapshot(snapshot.map(Box::new)),
            Reply::StalePages(stale) => SiteEvent::Stale(stale),
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
            self.site_queue.lead_to(now);
            if has_ended || self.sites.contains(now) {
                return self.tell_site(before, SiteEvent::Taken).await;
            }
            if self.sites.renumber(before, now)
                && let Some(leases) = &mut self.leases
            {
                leases.renumber(before, now);
            }
        }
        self.tell_site(now, SiteEvent::Settled).await
    }

    /// Whether seeds of a stream are wanted: every known site has begun, and another one may.
    pub(super) fn wants_seeds(&self) -> bool {
        let none_to_lease = self.leases.as_ref().is_some_and(LeaseTable::none_to_lease);
        !self.is_stopping && self.site_queue.wants_seeds(none_to_lease) && self.has_room()
    }

    /// Puts seeds into the run, and asks for the sites that they are of.
    pub(super) async fn on_seeds(&mut self, seeds: Vec<Seed>) -> Result<(), WriterError> {
        if seeds.is_empty() {
            return Ok(());
        }
        let urls: Vec<PageUrl> = seeds.iter().map(|seed| seed.url.clone()).collect();
        let (place, at) = (self.site_queue.number_seeds(seeds.len()), self.clock.unix_ms());
        self.stats.queued += seeds.len();
        self.writer.write(Write::Seeds { seeds, place, at }).await?;
        if let Some(leases) = &mut self.leases {
            // Whoever has room leases them.
            self.site_queue.ask_again();
            leases.ask_at_once();
            return Ok(());
        }
        self.site_queue.asked();
        self.ask(None, Query::SitesOf(urls)).await
    }

    /// The store has given the sites of some seeds.
    pub(super) fn on_streamed_sites(&mut self, found: Vec<SiteWork>) {
        self.stats.sites += self.site_queue.add_streamed(found, |id| self.sites.contains(id));
    }
}
