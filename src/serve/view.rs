//! Views: loaded on threads that may wait, a bounded number at once, and ended when the browser that asked has gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use maud::Markup;

use super::{Inspector, Refusal};
use dehusk_store::{Interrupt, Store};

/// Loads something on a thread that may wait. When the future is dropped, the statement that runs is ended.
pub(super) async fn read<T: Send + 'static>(
    inspector: &Arc<Inspector>,
    load: impl FnOnce(&Store) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    // Fails only when the places are closed, which nobody does.
    let place = Arc::clone(&inspector.places).acquire_owned().await;
    let asker = Asker::default();
    let (inspector, statement) = (Arc::clone(inspector), Arc::clone(&asker.statement));
    let loading = tokio::task::spawn_blocking(move || {
        // Held until the thread is free, whether or not someone still waits.
        let _place = place;
        inspector.readers.with(|store| {
            let _running = statement.begin(store)?;
            load(store)
        })
    });
    loading.await.unwrap_or_else(|e| {
        tracing::error!("a view failed: {e}");
        Err(Refusal::Failed)
    })
}

/// Loads and renders a view.
pub(super) async fn shown<T: Send + 'static>(
    inspector: &Arc<Inspector>,
    load: impl FnOnce(&Store) -> Result<T, Refusal> + Send + 'static,
    render: impl FnOnce(&T) -> Markup + Send + 'static,
) -> Result<Markup, Refusal> {
    read(inspector, move |store| load(store).map(|loaded| render(&loaded))).await
}

/// Who waits for a view. Its end is the end of the view.
#[derive(Default)]
struct Asker {
    statement: Arc<Statement>,
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.statement.end();
    }
}

/// What a view runs.
#[derive(Default)]
struct Statement {
    is_unwanted: AtomicBool,
    /// Set while the connection belongs to the view.
    running: Mutex<Option<Interrupt>>,
}

impl Statement {
    /// Begins a view with this connection, unless nobody waits for it any more.
    fn begin(&self, store: &Store) -> Result<Running<'_>, Refusal> {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(store.interrupt());
        if self.is_unwanted.load(Ordering::SeqCst) { Err(Refusal::Failed) } else { Ok(Running(self)) }
    }

    fn end(&self) {
        self.is_unwanted.store(true, Ordering::SeqCst);
        if let Some(running) = &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            running.interrupt();
        }
    }
}

/// A view at work. After it, the connection is another one's and is not interrupted.
struct Running<'a>(&'a Statement);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_a_view_runs_ends_with_the_one_who_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("n.db");
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (ended, end) = std::sync::mpsc::channel();
        let asker = Asker::default();
        let statement = Arc::clone(&asker.statement);
        std::thread::spawn(move || {
            let store = Store::create(&path, 1).unwrap();
            let running = statement.begin(&store).ok().unwrap();
            begun.send(()).unwrap();
            let outcome = store.run_without_end();
            drop(running);
            ended.send((outcome.is_err(), statement.begin(&store).is_err(), store.count_sites().is_ok())).unwrap();
        });
        has_begun.recv().unwrap();
        // The statement may not have begun yet: ended again until it has.
        let outcome = (0..3_000).find_map(|_| {
            asker.statement.end();
            end.recv_timeout(Duration::from_millis(10)).ok()
        });
        assert_eq!(outcome, Some((true, true, true)), "ended, not begun again, and the connection can be used");
    }
}
