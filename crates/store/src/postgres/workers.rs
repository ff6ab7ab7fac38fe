//! The crawls that share a database, for those who list them.

use crate::sql::params;
use crate::{Store, StoreError, WorkerRow};

impl Store {
    /// Workers, the newest first; with `all` also those that have ended. None for a file.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the database cannot be read.
    pub fn list_workers(&self, all: bool) -> Result<Vec<WorkerRow>, StoreError> {
        if !self.is_shared() {
            return Ok(Vec::new());
        }
        let sql = "SELECT w.id, w.run_id, w.machine, w.process,
                CASE WHEN w.ended_at IS NULL AND h.expires_at < now_ms() THEN 'silent' ELSE w.state END,
                w.started_at, w.ended_at, (now_ms() - h.beat_at)::DOUBLE PRECISION / 1000,
                (SELECT count(*) FROM hosts WHERE worker_id = w.id), h.requests, h.pages,
                CASE WHEN w.ended_at IS NULL AND h.beat_at > h.recent_at
                    THEN (h.pages - h.recent_pages)::DOUBLE PRECISION * 1000 / (h.beat_at - h.recent_at) ELSE 0 END
            FROM workers w JOIN heartbeats h ON h.worker_id = w.id WHERE ?1 OR w.ended_at IS NULL ORDER BY w.id DESC";
        self.rows(sql, params![all], |row| {
            Ok(WorkerRow {
                worker: row.get(0)?,
                run: row.get(1)?,
                machine: row.get(2)?,
                process: row.get(3)?,
                state: row.get(4)?,
                started_at: row.get(5)?,
                ended_at: row.get(6)?,
                silent_s: row.get(7)?,
                leases: row.get(8)?,
                requests: row.get(9)?,
                pages: row.get(10)?,
                pages_per_s: row.get(11)?,
            })
        })
    }
}
