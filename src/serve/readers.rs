//! Connections to the store, one for each request at work.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::Refusal;
use dehusk_store::{Store, StoreError};

/// Connections that are kept while no request needs them.
const MOST_KEPT: usize = 4;

/// Opens the store as often as requests need it at once.
pub(super) struct Readers {
    place: PathBuf,
    idle: Mutex<Vec<Store>>,
}

impl Readers {
    pub(super) fn new(place: PathBuf) -> Readers {
        Readers { place, idle: Mutex::default() }
    }

    /// Runs something with a connection. One that has failed is not used again.
    pub(super) fn with<T>(&self, run: impl FnOnce(&Store) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let store = self.taken()?;
        let outcome = run(&store);
        if !matches!(outcome, Err(Refusal::Store(_))) {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MOST_KEPT {
                idle.push(store);
            }
        }
        outcome
    }

    fn taken(&self) -> Result<Store, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Store::open(&self.place), Ok)
    }
}
