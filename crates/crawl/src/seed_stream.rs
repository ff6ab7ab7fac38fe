//! Seeds that come while the crawl runs: from a pipe that stays open.
//!
//! A thread reads them into a short channel. The scheduler takes some only when all sites that it knows of have begun
//! and there is room, so the channel fills up, and the program that writes into the pipe waits.

use dehusk_html::PageUrl;
use tokio::sync::mpsc;

use super::scheduler::Scheduler;
use super::sites::SITES;
use dehusk_store::seed::Seed;
use dehusk_store::{Query, SiteWork, Write, WriterError};

/// Seeds that are still to come. `None` once the stream has ended.
#[derive(Default)]
pub(super) struct SeedStream(Option<mpsc::Receiver<Seed>>);

impl SeedStream {
    /// Reads seeds on a thread of its own. It ends with the seeds, or with the crawl.
    pub(super) fn read(seeds: Box<dyn Iterator<Item = Seed> + Send>) -> std::io::Result<SeedStream> {
        let (sender, receiver) = mpsc::channel(SITES);
        let feed = move || {
            for seed in seeds {
                if sender.blocking_send(seed).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("seeds".to_owned()).spawn(feed)?;
        Ok(SeedStream(Some(receiver)))
    }

    /// Whether more can come.
    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// The next seeds, at least one; none once the stream has ended.
    pub(super) async fn next(&mut self) -> Vec<Seed> {
        let mut seeds = Vec::new();
        if let Some(receiver) = &mut self.0
            && receiver.recv_many(&mut seeds, SITES).await == 0
        {
            self.0 = None;
        }
        seeds
    }

    /// Takes no further seeds.
    pub(super) fn close(&mut self) {
        self.0 = None;
    }
}

impl Scheduler<'_> {
    /// Whether seeds are wanted: every known site has begun, and another one may.
    pub(super) fn wants_seeds(&self) -> bool {
        let has_none = self.leases.as_ref().is_some_and(|leases| leases.ask_at.is_some());
        self.seeds.is_open()
            && !self.is_stopping
            && (self.last_site.is_none() || has_none)
            && !self.has_asked_for_sites
            && self.waiting.is_empty()
            && self.has_room()
    }

    /// Puts seeds into the run, and asks for the sites that they are of.
    pub(super) async fn on_seeds(&mut self, seeds: Vec<Seed>) -> Result<(), WriterError> {
        if seeds.is_empty() {
            return Ok(());
        }
        let urls: Vec<PageUrl> = seeds.iter().map(|seed| seed.url.clone()).collect();
        let (place, at) = (self.n_streamed + 1, self.clock.unix_ms());
        self.n_streamed += seeds.len() as i64;
        self.stats.queued += seeds.len();
        self.writer.write(Write::Seeds { seeds, place, at }).await?;
        if let Some(leases) = &mut self.leases {
            // Whoever has room leases them.
            (self.last_site, leases.ask_at) = (Some(0), None);
            return Ok(());
        }
        self.has_asked_for_sites = true;
        self.ask(None, Query::SitesOf(urls)).await
    }

    /// The store has given the sites of some seeds.
    pub(super) fn on_streamed_sites(&mut self, found: Vec<SiteWork>) {
        self.has_asked_for_sites = false;
        for work in found {
            if self.sites.contains_key(&work.id) {
                // It may have asked for its last URLs already.
                self.late.insert(work.id, work.key_url);
                continue;
            }
            if self.waiting.iter().all(|other| other.id != work.id) {
                let is_new = self.ended.as_ref().is_none_or(|ended| !ended.contains(&work.id));
                self.stats.sites += usize::from(is_new);
                self.waiting.push_back(work);
            }
        }
    }
}
