//! Seeds that come while the crawl runs: from a pipe that stays open.
//!
//! A thread reads them into a short channel. The scheduler takes some only when all sites that it knows of have begun
//! and there is room, so the channel fills up, and the program that writes into the pipe waits.

use tokio::sync::mpsc;

use super::site_queue::SITES;
use dehusk_store::seed::Seed;

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
