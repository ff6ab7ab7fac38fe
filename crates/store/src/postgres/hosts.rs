//! Leases of hosts: who may send requests to a politeness key.
//!
//! A key waits in the order of its next fetch while sites of it wait (`hosts.run_id`). Who takes it works on one site
//! of it, and gives it back with the state of its politeness: when the next request may be sent, its back-off, and
//! whether it is left alone for the run.

use crate::sql::{Row, SqlResult, params};
use crate::{HostLease, HostRelease, SiteId, SiteWork, Store, StoreError};

/// Columns of a [`HostLease`], in a run `?1`.
const LEASE: &str = "hosts.key, greatest(hosts.next_fetch - now_ms(), 0), hosts.is_pace_known, hosts.doublings,
    hosts.failures, CASE WHEN hosts.parked_run = ?1 THEN coalesce(hosts.reason, '') END";

fn lease(row: &Row<'_>) -> SqlResult<HostLease> {
    Ok(HostLease {
        key: row.get(0)?,
        wait_ms: row.get(1)?,
        is_pace_known: row.get(2)?,
        doublings: row.get::<u32>(3)?.min(u32::from(u8::MAX)) as u8,
        failures: row.get(4)?,
        parked: row.get(5)?,
    })
}

impl Store {
    /// Leases hosts with waiting sites, at most `n` and no more than a worker's share of what waits, the earliest next
    /// fetch first. Returns one site of each.
    pub(super) fn lease_sites(
        &self,
        run: i64,
        worker: i64,
        transaction: i64,
        n: usize,
    ) -> Result<Vec<(HostLease, SiteWork)>, StoreError> {
        let sql = "SELECT ceil(count(*)::DOUBLE PRECISION / greatest(1, (SELECT count(*) FROM workers
                WHERE run_id = ?1 AND state = 'working' AND ended_at IS NULL)))::BIGINT FROM
            (SELECT 1 FROM hosts WHERE run_id = ?1 AND worker_id IS NULL LIMIT 10 * ?2) AS waiting";
        let share: i64 = self.row(sql, params![run, n as i64], |row| row.get(0))?;
        let hosts = self.take_hosts(run, worker, transaction, share.min(n as i64))?;
        let mut leased = Vec::with_capacity(hosts.len());
        for host in hosts {
            let sql = "SELECT id FROM sites WHERE politeness_key = ?1 AND outcome IS NULL AND run_id = ?2
                ORDER BY id LIMIT 1";
            let site: Option<SiteId> = self.find(sql, params![&host.key, run], |row| row.get(0))?;
            let work = match site {
                Some(site) => self.next_sites(run, site - 1, 1, true)?.pop(),
                None => None,
            };
            match work {
                Some(work) => leased.push((host, work)),
                None => self.release_host(run, worker, &HostRelease { host, reason: None })?,
            }
        }
        Ok(leased)
    }

    /// Leases hosts with waiting sites, the earliest next fetch first.
    fn take_hosts(&self, run: i64, worker: i64, transaction: i64, n: i64) -> Result<Vec<HostLease>, StoreError> {
        let sql = format!(
            "WITH taken AS MATERIALIZED (
                SELECT key FROM hosts WHERE run_id = ?1 AND worker_id IS NULL ORDER BY next_fetch LIMIT ?2
                FOR UPDATE SKIP LOCKED)
            UPDATE hosts SET worker_id = ?3, leased_in = ?4 FROM taken WHERE hosts.key = taken.key RETURNING {LEASE}"
        );
        self.rows(&sql, params![run, n, worker, transaction], lease)
    }

    /// Leases one host, whether sites of it wait or not. `None` while another worker has it.
    pub(super) fn lease_host(
        &self,
        run: i64,
        worker: i64,
        transaction: i64,
        key: &str,
    ) -> Result<Option<HostLease>, StoreError> {
        self.execute("INSERT INTO hosts (key) VALUES (?1) ON CONFLICT DO NOTHING", params![key])?;
        let sql = format!(
            "UPDATE hosts SET worker_id = ?2, leased_in = ?4 WHERE key = ?3 AND (worker_id IS NULL OR worker_id = ?2) RETURNING {LEASE}"
        );
        self.find(&sql, params![run, worker, key, transaction], lease)
    }

    /// Gives a host back. It goes on waiting while sites of it wait.
    pub(super) fn release_host(&self, run: i64, worker: i64, release: &HostRelease) -> Result<(), StoreError> {
        let HostRelease { host, reason } = release;
        // Locked first: a site that another worker adds now is seen by the next statement, or waits for its end.
        let sql = "SELECT 1 FROM hosts WHERE key = ?1 AND worker_id = ?2 FOR UPDATE";
        if self.find(sql, params![&host.key, worker], |row| row.get::<i64>(0))?.is_none() {
            return Ok(());
        }
        let sql = "UPDATE hosts SET worker_id = NULL, next_fetch = greatest(next_fetch, now_ms() + ?2),
                is_pace_known = ?3, doublings = ?4, failures = ?5, reason = coalesce(?6, reason),
                parked_run = CASE WHEN ?7 THEN ?8 ELSE parked_run END,
                run_id = CASE WHEN EXISTS (SELECT 1 FROM sites WHERE politeness_key = hosts.key
                    AND outcome IS NULL AND run_id = hosts.run_id) THEN run_id END
            WHERE key = ?1";
        let reason = host.parked.as_ref().or(reason.as_ref());
        let row = params![
            &host.key,
            host.wait_ms,
            host.is_pace_known,
            i64::from(host.doublings),
            host.failures,
            reason,
            host.parked.is_some(),
            run
        ];
        self.execute(sql, row).map(drop)
    }

    /// Gives back what a transaction leased of which nobody was told.
    pub(super) fn undo_leases(&self, worker: i64, transaction: i64) -> Result<(), StoreError> {
        let sql = "UPDATE hosts SET worker_id = NULL WHERE worker_id = ?1 AND leased_in = ?2";
        self.execute(sql, params![worker, transaction]).map(drop)
    }

    /// Notes the back-off of a host that stays leased, so that it outlives the worker.
    pub(super) fn note_back_off(&self, worker: i64, release: &HostRelease) -> Result<(), StoreError> {
        let HostRelease { host, reason } = release;
        let sql = "UPDATE hosts SET next_fetch = greatest(next_fetch, now_ms() + ?3), doublings = ?4, failures = ?5,
                reason = ?6 WHERE key = ?1 AND worker_id = ?2";
        let row = params![&host.key, worker, host.wait_ms, i64::from(host.doublings), host.failures, reason];
        self.execute(sql, row).map(drop)
    }

    /// Whether no site of a run waits or is worked on.
    pub(super) fn is_over(&self, run: i64) -> Result<bool, StoreError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM hosts WHERE run_id = ?1)";
        self.row(sql, params![run], |row| row.get(0))
    }
}
