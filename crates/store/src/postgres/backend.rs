//! The back end of a crawl that shares its database.
//!
//! Each transaction notes its number with the worker, and so fails once the worker is lost. What was applied in it is
//! kept until it is committed: when the connection breaks, or the server ends the transaction because of another one,
//! it is applied again. A commit whose answer was lost is found by its number, so that nothing is written twice.

use std::error::Error as _;
use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;

use super::{Lock, Session};
use crate::run_backend::RunBackend;
use crate::sql::params;
use crate::{Backend, Counted, Query, Reply, Run, SiteOutcome, Store, StoreError, Write};

/// How long a server may be away before the crawl ends.
const PATIENCE: Duration = Duration::from_secs(900);

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// Attempts where the server answers, but undoes the transaction.
const ATTEMPTS: u32 = 20;

/// Shortest limit of the time for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// A store on a server, with the run and the session of a worker.
pub(crate) struct SharedBackend {
    inner: RunBackend,
    session: Session,
    /// Number of the current transaction.
    transaction: i64,
    /// What was applied in it.
    applied: Vec<Write>,
}

/// How a transaction was opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    Now,
    /// One of this number was committed already.
    Committed,
}

/// When to give up.
struct Attempts {
    began: Instant,
    n: u32,
}

impl Attempts {
    fn new() -> Attempts {
        Attempts { began: Instant::now(), n: 0 }
    }

    /// Waits before the next attempt; the error when there is none.
    fn wait_after(&mut self, error: StoreError) -> Result<(), StoreError> {
        self.n += 1;
        let is_worth_it = match passing(&error) {
            Passing::Network => self.began.elapsed() < PATIENCE,
            Passing::Conflict => self.n < ATTEMPTS,
            Passing::No => false,
        };
        if !is_worth_it {
            return Err(error);
        }
        tracing::warn!("{error}; trying again");
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

impl SharedBackend {
    /// A store in which a run was begun.
    pub(crate) fn new(inner: RunBackend, session: Session) -> SharedBackend {
        if let Some(server) = inner.store().server() {
            server.set_limit(session.terms.lease.max(ANSWER));
        }
        SharedBackend { inner, session, transaction: 0, applied: Vec::new() }
    }

    pub(super) fn store(&self) -> &Store {
        self.inner.store()
    }

    #[cfg(test)]
    pub(super) fn session(&self) -> crate::lease_gate::WorkerSession {
        self.session.worker_session()
    }

    #[cfg(test)]
    pub(super) fn stop_heartbeats(&mut self) {
        self.session.stop_heartbeats();
    }

    fn lost(&self) -> StoreError {
        StoreError::LeaseLost { path: self.store().path.clone() }
    }

    /// Opens the current transaction.
    fn open(&self) -> Result<Opened, StoreError> {
        let (lease, lock) = (self.session.terms.lease.as_millis(), Lock::Pages as i64);
        // A process that is stopped in a transaction must not keep others from its rows.
        self.store().batch(&format!(
            "BEGIN; SET LOCAL idle_in_transaction_session_timeout = {lease}; SELECT pg_advisory_xact_lock_shared({lock})"
        ))?;
        let (worker, number) = (self.session.worker, self.transaction);
        let sql = "UPDATE workers SET transactions = ?2 WHERE id = ?1 AND ended_at IS NULL AND transactions < ?2";
        if self.store().execute(sql, params![worker, number])? > 0 {
            return Ok(Opened::Now);
        }
        let sql = "SELECT transactions >= ?2 FROM workers WHERE id = ?1";
        match self.store().find(sql, params![worker, number], |row| row.get(0))? {
            Some(true) => Ok(Opened::Committed),
            _ => Err(self.lost()),
        }
    }

    /// Opens the current transaction anew, over a new connection where the former is broken, with what was applied.
    fn restore(&mut self) -> Result<Opened, StoreError> {
        if self.session.is_lost() {
            return Err(self.lost());
        }
        self.roll_back();
        if let Some(server) = self.store().server() {
            server.restore()?;
        }
        let opened = self.open()?;
        if opened == Opened::Now {
            self.inner.forget();
            for write in self.applied.clone() {
                self.apply_once(write)?;
            }
        }
        Ok(opened)
    }

    /// Runs something in the current transaction, again where that was undone.
    fn retrying<T>(&mut self, mut run: impl FnMut(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut attempts = Attempts::new();
        let mut outcome = run(self);
        loop {
            match outcome {
                Ok(done) => return Ok(done),
                Err(error) => attempts.wait_after(error)?,
            }
            outcome = self.restore().and_then(|_| run(self));
        }
    }

    fn apply_once(&mut self, write: Write) -> Result<Vec<Counted>, StoreError> {
        let (run, worker) = (self.inner.run().id, self.session.worker);
        match write {
            // Its site waits for another worker.
            Write::SiteEnded { outcome: SiteOutcome::Interrupted, .. } => Ok(Vec::new()),
            Write::HostReleased(release) => self.store().release_host(run, worker, &release).map(|()| Vec::new()),
            Write::BackedOff(release) => self.store().note_back_off(worker, &release).map(|()| Vec::new()),
            Write::RunEnded { outcome, at } => {
                self.session.leave(self.inner.store())?;
                self.inner.store().leave_run(run, at, outcome).map(|()| Vec::new())
            }
            write => self.inner.apply(write),
        }
    }

    /// Leases in a transaction of its own, which is committed before anyone is told: what is leased is used at once.
    fn leasing(&mut self, lease: impl Fn(&Self) -> Result<Reply, StoreError>) -> Result<Reply, StoreError> {
        self.commit()?;
        let mut attempts = Attempts::new();
        let mut undo = None;
        loop {
            self.begin()?;
            if let Some(transaction) = undo.take() {
                self.retrying(|backend| backend.store().undo_leases(backend.session.worker, transaction))?;
            }
            let leased = lease(self).and_then(|reply| self.inner.commit().map(|()| reply));
            match leased {
                Ok(reply) => {
                    self.begin()?;
                    return Ok(reply);
                }
                Err(error) => attempts.wait_after(error)?,
            }
            // Whether it was committed or not: nobody was told.
            undo = Some(self.transaction);
            self.roll_back();
        }
    }
}

impl Backend for SharedBackend {
    fn run(&self) -> Run {
        self.inner.run()
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.transaction += 1;
        self.applied.clear();
        let mut attempts = Attempts::new();
        let mut opened = self.open();
        while let Err(error) = opened {
            attempts.wait_after(error)?;
            opened = self.restore();
        }
        Ok(())
    }

    fn apply(&mut self, write: Write) -> Result<Vec<Counted>, StoreError> {
        let counted = self.retrying(|backend| backend.apply_once(write.clone()))?;
        self.applied.push(write);
        Ok(counted)
    }

    fn query(&mut self, query: Query) -> Result<Reply, StoreError> {
        let (run, worker) = (self.inner.run().id, self.session.worker);
        match query {
            Query::LeaseSites(n) => self.leasing(|backend| {
                let leased = backend.store().lease_sites(run, worker, backend.transaction, n)?;
                let is_over = leased.is_empty() && backend.store().is_over(run)?;
                Ok(Reply::LeasedSites { leased, is_over })
            }),
            Query::LeaseHost(key) => self.leasing(|backend| {
                let lease = backend.store().lease_host(run, worker, backend.transaction, &key)?;
                Ok(Reply::LeasedHost(key.clone(), lease))
            }),
            query => self.retrying(|backend| backend.inner.query(query.clone())),
        }
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let mut attempts = Attempts::new();
        let mut outcome = self.inner.commit();
        while let Err(error) = outcome {
            attempts.wait_after(error)?;
            outcome = match self.restore() {
                Ok(Opened::Now) => self.inner.commit(),
                Ok(Opened::Committed) => {
                    self.roll_back();
                    Ok(())
                }
                Err(error) => Err(error),
            };
        }
        self.applied.clear();
        Ok(())
    }

    fn roll_back(&mut self) {
        self.inner.roll_back();
    }

    fn close(&mut self) {}
}

impl Store {
    /// A worker leaves a run, which ends with its last one.
    fn leave_run(&self, run: i64, at: i64, outcome: &str) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET ended_at = ?2, outcome = ?3 WHERE id = ?1 AND outcome IS NULL
            AND CASE WHEN ?3 = 'finished' THEN NOT EXISTS (SELECT 1 FROM hosts WHERE run_id = ?1)
                ELSE NOT EXISTS (SELECT 1 FROM workers WHERE run_id = ?1 AND ended_at IS NULL) END";
        if self.execute(sql, params![run, at, outcome])? > 0 {
            self.keep_counts(run)?;
        }
        Ok(())
    }
}

/// Whether the same may succeed later.
enum Passing {
    No,
    /// The connection broke, or the server restarts.
    Network,
    /// Another transaction was in the way.
    Conflict,
}

fn passing(error: &StoreError) -> Passing {
    let reason = match error {
        StoreError::Unanswered { .. } => return Passing::Network,
        StoreError::Postgres { reason, .. } => reason,
        _ => return Passing::No,
    };
    let Some(code) = reason.code() else {
        let is_io = reason.source().is_some_and(|source| source.is::<std::io::Error>());
        return if is_io || reason.is_closed() { Passing::Network } else { Passing::No };
    };
    let conflicts = [&SqlState::FOREIGN_KEY_VIOLATION, &SqlState::UNIQUE_VIOLATION];
    let away = [&SqlState::TOO_MANY_CONNECTIONS, &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT];
    // 08: connections; 57P: the server goes down or comes up; 40: undone for the sake of another transaction.
    match code.code() {
        text if text.starts_with("08") || text.starts_with("57P") || away.contains(&code) => Passing::Network,
        text if text.starts_with("40") || conflicts.contains(&code) => Passing::Conflict,
        _ => Passing::No,
    }
}
