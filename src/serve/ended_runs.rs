//! Runs that have ended are read once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::Refusal;
use super::runs::Run;
use dehusk_store::{RunRow, Store};

/// A run, and when it ended: one that is resumed ends again.
type Ended = (i64, i64);

/// What was read of runs that have ended: it takes seconds for a million requests, and does not change any more, but by
/// `prune` and `forget`.
#[derive(Default)]
pub(super) struct EndedRuns {
    rows: Mutex<FxHashMap<Ended, RunRow>>,
    runs: Mutex<FxHashMap<Ended, Arc<Run>>>,
}

/// Runs of which everything is kept.
const MOST_KEPT: usize = 64;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EndedRuns {
    /// The newest runs.
    pub(super) fn newest(&self, store: &Store, most: usize) -> Result<Vec<RunRow>, Refusal> {
        let mut found = Vec::new();
        for (id, ended_at) in store.newest_runs(most)? {
            let key = ended_at.map(|at| (id, at));
            let known = key.and_then(|key| locked(&self.rows).get(&key).cloned());
            let Some(row) = known.map_or_else(|| store.find_run(id), |row| Ok(Some(row)))? else { continue };
            if let Some(key) = key {
                locked(&self.rows).insert(key, row.clone());
            }
            found.push(row);
        }
        Ok(found)
    }

    /// All of a run.
    pub(super) fn run(
        &self,
        store: &Store,
        id: i64,
        read: impl FnOnce() -> Result<Run, Refusal>,
    ) -> Result<Arc<Run>, Refusal> {
        let key = store.run_ended(id)?.map(|at| (id, at));
        if let Some(run) = key.and_then(|key| locked(&self.runs).get(&key).cloned()) {
            return Ok(run);
        }
        let run = Arc::new(read()?);
        if let Some(key) = key {
            let mut runs = locked(&self.runs);
            if runs.len() >= MOST_KEPT {
                runs.clear();
            }
            runs.insert(key, Arc::clone(&run));
        }
        Ok(run)
    }
}
