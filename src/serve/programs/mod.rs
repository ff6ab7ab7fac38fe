//! What programs ask for: pages cleaned, fetched and read, searches, changes. `routes.rs` answers over HTTP (`/v1`),
//! and `mcp` (a module beside this one) over standard input and output.

mod changes;
mod clean;
mod extract;
mod models;
mod pages;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

pub(super) use changes::changes;
pub(super) use clean::{Form, Given, cleaned};
pub(super) use extract::{Wanted, extracted};
pub(super) use pages::{difference, read_page};
pub(super) use routes::{CALLS, routes};

use super::Refusal;
use dehusk_crawl::PolitePages;
use dehusk_crawl::fetch::ClientError;
use dehusk_settings::Settings;
use models::Models;

/// Pages that are cleaned, or wait to be, at the same time. Further requests are refused.
const MOST_WAITING: usize = 64;

/// Time for an answer that needs a page from the network.
const EXTRACT_WITHIN: Duration = Duration::from_secs(60);

/// What answers share.
pub(super) struct Programs {
    models: Models,
    network: PolitePages,
    /// Cores that clean.
    cores: Arc<Semaphore>,
    /// Places of those that are cleaned or wait.
    waiting: Arc<Semaphore>,
    /// Places of those that wait for the network.
    fetching: Arc<Semaphore>,
}

impl Programs {
    pub(super) fn new(settings: &Settings) -> Result<Programs, ClientError> {
        Ok(Programs {
            models: Models::default(),
            network: PolitePages::new(settings)?,
            // More than there are, so that none waits while an answer is handed over.
            cores: Arc::new(Semaphore::new(2 * dehusk_corpus::pipeline::cores())),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            fetching: Arc::new(Semaphore::new(MOST_WAITING)),
        })
    }

    /// Does work of a core on a thread that may take long, if not too many wait for one.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let waiting = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| Refusal::Busy)?;
        // Fails only when the cores are closed, which nobody does.
        let core = Arc::clone(&self.cores).acquire_owned().await;
        let work = tokio::task::spawn_blocking(move || {
            // Held until the thread is free, whether or not someone still waits.
            let _places = (waiting, core);
            work()
        });
        work.await.unwrap_or_else(|e| {
            tracing::error!("a request failed: {e}");
            Err(Refusal::Failed)
        })
    }
}
