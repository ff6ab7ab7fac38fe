//! What is said about a server by a program without the driver.

use std::time::Duration;

use super::queueing::Read;
use super::{Backend, NewUrl, Run, RunBackend, SiteId, Store, StoreError, WorkerRow};
use crate::lease_gate::WorkerSession;
use crate::seed::Seed;
use dehusk_settings::Settings;

/// The back end of a crawl over a file.
pub fn start_backend(
    store: Store,
    run: Run,
    settings: &Settings,
) -> Result<(Box<dyn Backend>, Option<WorkerSession>), StoreError> {
    Ok((Box::new(RunBackend::new(store, run, settings)), None))
}

impl Store {
    pub(super) fn create_on_server(_: &str, _: i32) -> Result<Store, StoreError> {
        Err(StoreError::NoDriver)
    }

    pub(super) fn open_on_server(_: &str) -> Result<Store, StoreError> {
        Err(StoreError::NoDriver)
    }

    /// Nobody shares the runs of a file.
    ///
    /// # Errors
    ///
    /// None here.
    pub fn lock_runs(&self, _: Duration) -> Result<(), StoreError> {
        Ok(())
    }

    pub(super) fn lock_pruning(&self) -> Result<(), StoreError> {
        Ok(())
    }

    pub(super) fn wait_for_pages(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// A file has no workers.
    ///
    /// # Errors
    ///
    /// None here.
    pub fn list_workers(&self, _: bool) -> Result<Vec<WorkerRow>, StoreError> {
        Ok(Vec::new())
    }

    pub(super) fn queue_batches(&self, _: i64, _: &mut dyn Iterator<Item = Seed>, _: i64) -> Result<Read, StoreError> {
        Err(StoreError::NoDriver)
    }

    pub(super) fn save_urls_at_once(&self, _: SiteId, _: &[NewUrl]) -> Result<(), StoreError> {
        Err(StoreError::NoDriver)
    }

    pub(super) fn queue_host(&self, _: i64, _: SiteId) -> Result<(), StoreError> {
        Ok(())
    }
}
