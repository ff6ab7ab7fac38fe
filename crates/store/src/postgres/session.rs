//! The session of a worker: a crawl that shares its database with others.
//!
//! A worker holds all its leases through one heartbeat. It may send requests until a moment before the heartbeat
//! expires ([`LeaseGate`]). Another worker then declares it lost and frees its hosts, each a full delay after the
//! expiry; from then on no transaction of the lost worker commits. A heartbeat that comes late, before anyone has
//! declared the worker lost, renews everything.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use super::Address;
use crate::lease_gate::{LeaseGate, SessionCounts, WorkerSession};
use crate::sql::{PostgresConnection, params};
use crate::{Store, StoreError};

/// Heartbeats in the time of one lease.
const BEATS: u32 = 4;

/// Part of a lease at its end in which nothing is sent: a request may need some time to reach its server.
const MARGIN: u32 = 5;

/// How a worker leases.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeaseTerms {
    /// How long a lease lasts without a heartbeat.
    pub(super) lease: Duration,
    /// Delay between two requests to a host.
    pub(super) delay: Duration,
}

/// A registered worker with its heartbeats.
pub(crate) struct Session {
    pub(super) worker: i64,
    pub(super) terms: LeaseTerms,
    gate: LeaseGate,
    counts: Arc<SessionCounts>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Session {
    /// Registers a worker of a run and starts its heartbeats. A lease lasts `lease` without one; hosts of lost workers
    /// are left alone for `delay`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the server cannot be reached, or the system starts no thread.
    pub(crate) fn begin(
        store: &Store,
        server: &PostgresConnection,
        run: i64,
        lease: Duration,
        delay: Duration,
    ) -> Result<Session, StoreError> {
        let address = server.address().clone();
        let terms = LeaseTerms { lease, delay };
        let gate = LeaseGate::open_for(Duration::ZERO);
        let sql =
            "INSERT INTO workers (run_id, machine, process, started_at) VALUES (?1, ?2, ?3, now_ms()) RETURNING id";
        let process = i64::from(std::process::id());
        let worker = store.in_transaction(|| {
            let worker: i64 = store.row(sql, params![run, machine(), process], |row| row.get(0))?;
            let sql = "INSERT INTO heartbeats (worker_id, expires_at, beat_at, recent_at)
                VALUES (?1, now_ms() + ?2, now_ms(), now_ms())";
            store.execute(sql, params![worker, lease.as_millis() as i64])?;
            Ok(worker)
        })?;
        let counts = Arc::new(SessionCounts::default());
        let heart = Heart { address, worker, terms, gate: gate.clone(), counts: Arc::clone(&counts) };
        heart.beat(store)?;
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new().name("heartbeat".to_owned()).spawn(move || heart.run(&ended));
        let thread = Some(thread.map_err(StoreError::NoThread)?);
        Ok(Session { worker, terms, gate, counts, end: Some(end), thread })
    }

    /// What the crawl sees of it.
    pub(crate) fn worker_session(&self) -> WorkerSession {
        WorkerSession { worker: self.worker, gate: self.gate.clone(), counts: Arc::clone(&self.counts) }
    }

    /// As when the process is stopped.
    #[cfg(test)]
    pub(super) fn stop_heartbeats(&mut self) {
        self.end = None;
    }

    /// Whether its leases are lost.
    pub(super) fn is_lost(&self) -> bool {
        self.gate.is_lost()
    }

    /// Gives all leases back, in a transaction of the worker. The heartbeats end.
    pub(super) fn leave(&self, store: &Store) -> Result<(), StoreError> {
        // No request leaves from now on.
        self.gate.leave();
        let sql = "UPDATE hosts SET worker_id = NULL, is_pace_known = FALSE,
                next_fetch = greatest(next_fetch, now_ms() + ?2) WHERE worker_id = ?1";
        store.execute(sql, params![self.worker, self.terms.delay.as_millis() as i64])?;
        let (requests, pages) = (&self.counts.requests, &self.counts.pages);
        let sql = "UPDATE heartbeats SET requests = ?2, pages = ?3, beat_at = now_ms() WHERE worker_id = ?1";
        let counts = params![self.worker, requests.load(Ordering::Relaxed), pages.load(Ordering::Relaxed)];
        store.execute(sql, counts)?;
        let sql = "UPDATE workers SET state = 'left', ended_at = now_ms() WHERE id = ?1";
        store.execute(sql, params![self.worker]).map(drop)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.gate.leave();
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A heartbeat that panicked has let the leases expire, which is safe.
            let _ = thread.join();
        }
    }
}

/// The thread that sends heartbeats, over a connection of its own.
struct Heart {
    address: Address,
    worker: i64,
    terms: LeaseTerms,
    gate: LeaseGate,
    counts: Arc<SessionCounts>,
}

impl Heart {
    fn run(&self, ended: &mpsc::Receiver<()>) {
        let pause = self.terms.lease / BEATS;
        let mut store: Option<Store> = None;
        let mut wait = pause;
        while matches!(ended.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
            let outcome = match &store {
                Some(store) => self.beat(store).and_then(|()| store.reap(self.terms.delay)),
                None => self.connect().and_then(|connected| {
                    let beaten = self.beat(&connected).and_then(|()| connected.reap(self.terms.delay));
                    store = Some(connected);
                    beaten
                }),
            };
            wait = pause;
            match outcome {
                Ok(()) => {}
                Err(error @ StoreError::LeaseLost { .. }) => {
                    tracing::warn!("{error}");
                    return self.gate.lose();
                }
                Err(error) => {
                    tracing::warn!("heartbeat: {error}");
                    store = None;
                    wait = pause.min(Duration::from_secs(1));
                }
            }
        }
    }

    fn connect(&self) -> Result<Store, StoreError> {
        let store = Store::connect_to_server_at(&self.address, 3)?;
        if let Some(server) = store.server() {
            // An answer that comes after the next heartbeat is of no use.
            server.set_limit(self.terms.lease / BEATS);
        }
        Ok(store)
    }

    /// Renews all leases.
    fn beat(&self, store: &Store) -> Result<(), StoreError> {
        let sent = (Instant::now(), SystemTime::now());
        let sql = "UPDATE heartbeats SET expires_at = now_ms() + ?2, beat_at = now_ms(), requests = ?3, pages = ?4,
                recent_at = CASE WHEN now_ms() - recent_at > 60000 THEN beat_at ELSE recent_at END,
                recent_requests = CASE WHEN now_ms() - recent_at > 60000 THEN requests ELSE recent_requests END,
                recent_pages = CASE WHEN now_ms() - recent_at > 60000 THEN pages ELSE recent_pages END
            WHERE worker_id = ?1 AND NOT is_lost";
        let (requests, pages) = (&self.counts.requests, &self.counts.pages);
        let (requests, pages) = (requests.load(Ordering::Relaxed), pages.load(Ordering::Relaxed));
        let lease = self.terms.lease;
        if store.execute(sql, params![self.worker, lease.as_millis() as i64, requests, pages])? == 0 {
            return Err(StoreError::LeaseLost { path: store.path.clone() });
        }
        // By the time of the question: the server's lease is at least as long.
        self.gate.extend(sent, lease - lease / MARGIN);
        Ok(())
    }
}

impl Store {
    /// Declares workers lost whose heartbeats have expired, and frees their hosts: each a full delay after the expiry.
    pub(super) fn reap(&self, delay: Duration) -> Result<(), StoreError> {
        let sql = "WITH dead AS (
                SELECT w.id FROM workers w JOIN heartbeats h ON h.worker_id = w.id
                WHERE w.ended_at IS NULL AND h.expires_at < now_ms() FOR UPDATE OF w, h SKIP LOCKED),
            marked AS (UPDATE heartbeats h SET is_lost = TRUE FROM dead WHERE h.worker_id = dead.id)
            UPDATE workers w SET state = 'lost', ended_at = now_ms() FROM dead WHERE w.id = dead.id RETURNING w.id";
        // A statement of its own: it sees what the lost worker has leased until it was locked.
        let free = "UPDATE hosts SET worker_id = NULL, is_pace_known = FALSE,
                next_fetch = greatest(next_fetch, h.expires_at + ?2) FROM heartbeats h
            WHERE hosts.worker_id = ?1 AND h.worker_id = ?1";
        self.in_transaction(|| {
            let lost: Vec<i64> = self.rows(sql, params![], |row| row.get(0))?;
            for worker in lost {
                let hosts = self.execute(free, params![worker, delay.as_millis() as i64])?;
                tracing::warn!("worker {worker} was not heard of for too long; its {hosts} hosts are free again");
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Name of this machine.
fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
