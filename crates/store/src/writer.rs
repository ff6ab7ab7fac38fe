//! The one thread that owns the database of a crawl.
//!
//! Writes and questions come over a bounded channel. A full channel makes the sender wait, so that a slow disk slows
//! the crawl instead of filling memory. Writes are committed a fraction of a second after they come. A question sees
//! everything that was handed over before it. The first error ends the thread: what was committed stays, and the crawl
//! is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;

use super::{Backend, Counted, Query, Reply, Run, StoreError, Write};
use crate::revisit::Change;

/// Messages that may wait.
const QUEUE: usize = 64;

/// Longest time that a transaction stays open.
const COMMIT_AFTER: Duration = Duration::from_millis(100);

/// Longest time that a transaction waits for one more write. What it holds would be lost with the process.
const LULL: Duration = Duration::from_millis(4);

enum Message {
    Write(Write),
    Query(Query, oneshot::Sender<Reply>),
}

/// Why something could not be handed over: the thread has ended.
#[derive(Debug, thiserror::Error)]
#[error("the database writer has stopped")]
pub struct WriterError;

/// The crawl's end of the channel.
///
/// Dropping it waits for the thread, so that what was handed over is committed even when the crawl ends in a panic.
pub struct Writer {
    messages: Option<mpsc::Sender<Message>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
    run: Run,
    changes: Arc<Changes>,
}

/// How many pages were found how, shared with whoever shows progress.
#[derive(Debug, Default)]
pub struct Changes {
    counts: [AtomicUsize; Change::COUNT],
}

impl Changes {
    /// Pages with this change.
    pub fn count(&self, change: Change) -> usize {
        self.counts[change as usize].load(Ordering::Relaxed)
    }

    fn add(&self, counted: Vec<Counted>) {
        for Counted { change, instead } in counted {
            self.counts[change as usize].fetch_add(1, Ordering::Relaxed);
            if let Some(before) = instead {
                // It may have been counted before the run was resumed, by another process.
                let less = |n: usize| n.checked_sub(1);
                let _ = self.counts[before as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            }
        }
    }
}

impl Writer {
    /// Starts the thread. Must be called within a tokio runtime, whose timer the thread uses.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoThread`] when the system starts no thread.
    pub fn start(backend: Box<dyn Backend>) -> Result<Writer, StoreError> {
        let (messages, queue) = mpsc::channel(QUEUE);
        let (run, changes) = (backend.run(), Arc::new(Changes::default()));
        let (counts, runtime) = (Arc::clone(&changes), Handle::current());
        let spawned = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || Transactions { backend, changes: counts, runtime }.run(queue));
        let thread = spawned.map_err(StoreError::NoThread)?;
        Ok(Writer { messages: Some(messages), thread: Some(thread), run, changes })
    }

    /// The run that is written.
    pub fn run(&self) -> Run {
        self.run
    }

    /// How pages were found so far.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Hands a write over. Waits while the queue is full.
    ///
    /// # Errors
    ///
    /// [`WriterError`] when the thread has ended.
    pub async fn write(&self, write: Write) -> Result<(), WriterError> {
        self.send(Message::Write(write)).await
    }

    /// Hands a question over. The future gives the answer, or an error when the thread ends before.
    ///
    /// # Errors
    ///
    /// [`WriterError`] when the thread has ended.
    pub async fn query(
        &self,
        query: Query,
    ) -> Result<impl Future<Output = Result<Reply, WriterError>> + Send + use<>, WriterError> {
        let (sender, answer) = oneshot::channel();
        self.send(Message::Query(query, sender)).await?;
        Ok(async { answer.await.map_err(|_| WriterError) })
    }

    async fn send(&self, message: Message) -> Result<(), WriterError> {
        let messages = self.messages.as_ref().ok_or(WriterError)?;
        messages.send(message).await.map_err(|_| WriterError)
    }

    /// Waits for the thread.
    ///
    /// # Errors
    ///
    /// The [`StoreError`] that ended it.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.join().unwrap_or(Ok(()))
    }

    fn join(&mut self) -> Option<Result<(), StoreError>> {
        self.messages = None;
        match self.thread.take()?.join() {
            Ok(outcome) => Some(outcome),
            Err(panic) if !std::thread::panicking() => std::panic::resume_unwind(panic),
            Err(_) => None,
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.join();
    }
}

struct Transactions {
    backend: Box<dyn Backend>,
    changes: Arc<Changes>,
    runtime: Handle,
}

impl Transactions {
    fn run(mut self, mut queue: mpsc::Receiver<Message>) -> Result<(), StoreError> {
        while let Some(first) = queue.blocking_recv() {
            let end = Instant::now() + COMMIT_AFTER;
            self.backend.begin()?;
            let mut next = Some(first);
            while let Some(message) = next {
                if let Err(error) = self.handle(message) {
                    // What was applied since the last commit is lost, as in a crash.
                    self.backend.roll_back();
                    return Err(error);
                }
                next = self.next_before(end, &mut queue);
            }
            self.backend.commit()?;
        }
        self.backend.close();
        Ok(())
    }

    fn handle(&mut self, message: Message) -> Result<(), StoreError> {
        match message {
            Message::Write(write) => self.changes.add(self.backend.apply(write)?),
            Message::Query(query, sender) => {
                // A crawl that has ended meanwhile needs no answer.
                let _ = sender.send(self.backend.query(query)?);
            }
        }
        Ok(())
    }

    /// The next message of a transaction. A transaction costs more than a write, so a short lull does not end it.
    fn next_before(&self, end: Instant, queue: &mut mpsc::Receiver<Message>) -> Option<Message> {
        let now = Instant::now();
        if now >= end {
            return None;
        }
        if let Ok(message) = queue.try_recv() {
            return Some(message);
        }
        let end = end.min(now + LULL);
        self.runtime.block_on(async { timeout_at(end.into(), queue.recv()).await.ok().flatten() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_has_counted_is_not_taken_off() {
        let changes = Changes::default();
        changes.add(vec![Counted { change: Change::Recleaned, instead: Some(Change::SameText) }]);
        assert_eq!((changes.count(Change::Recleaned), changes.count(Change::SameText)), (1, 0));
    }
}
