//! Reads, works and writes at the same time: one thread reads, all cores work, and the caller's thread takes the
//! results in the order in which they were read.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Items that are read and not taken yet, for each worker, and their bytes. With more of them, pages leave the cache
/// between the thread that reads them and the one that works on them.
const ITEMS_OF_WORKER: usize = 32;
const MOST_BYTES: usize = 24 << 20;

/// Items that a worker takes at once, if they hold less than these bytes: each exchange between threads costs some
/// microseconds.
const BATCH_ITEMS: usize = 8;
const BATCH_BYTES: usize = 1 << 20;

/// Number of processors that the program may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Runs items through all cores. `size` is the number of bytes that an item holds.
///
/// # Errors
///
/// The first error of `take`, which ends it.
pub fn run<T: Send, R: Send, E>(
    items: impl FnOnce(&mut dyn FnMut(T) -> bool) + Send,
    size: impl Fn(&T) -> usize + Sync,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let n_workers = cores();
    let room = Room { most_items: ITEMS_OF_WORKER * n_workers, ..Room::default() };
    let (to_workers, waiting) = sync_channel::<(usize, usize, T)>(room.most_items);
    let (results, finished) = channel::<Vec<(usize, usize, R)>>();
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        // Closed on every way out, so that the reader does not wait for ever.
        let _closing = Closing(&room);
        let (room, waiting, size, work) = (&room, &waiting, &size, &work);
        scope.spawn(move || {
            let mut n = 0;
            items(&mut |item| {
                let bytes = size(&item);
                n += 1;
                room.enter(bytes) && to_workers.send((n - 1, bytes, item)).is_ok()
            });
        });
        for _ in 0..n_workers {
            let results = results.clone();
            scope.spawn(move || {
                let _closing = ClosingOnPanic(room);
                loop {
                    let batch = batch_of(&lock(waiting));
                    let done = batch.into_iter().map(|(at, bytes, item)| (at, bytes, work(item)));
                    let done: Vec<(usize, usize, R)> = done.collect();
                    if done.is_empty() || results.send(done).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, bytes, result) in finished.into_iter().flatten() {
            early.insert(at, (bytes, result));
            while let Some((bytes, result)) = early.remove(&next) {
                next += 1;
                room.leave(bytes);
                take(result)?;
            }
        }
        Ok(())
    })
}

/// The next items; none when there are no more.
fn batch_of<T>(waiting: &Receiver<(usize, usize, T)>) -> Vec<(usize, usize, T)> {
    let mut batch: Vec<(usize, usize, T)> = waiting.recv().into_iter().collect();
    let mut n_bytes: usize = batch.iter().map(|(_, bytes, _)| bytes).sum();
    while !batch.is_empty() && batch.len() < BATCH_ITEMS && n_bytes < BATCH_BYTES {
        let Ok(next) = waiting.try_recv() else { break };
        n_bytes += next.1;
        batch.push(next);
    }
    batch
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bounds what is in memory.
#[derive(Default)]
struct Room {
    most_items: usize,
    taken: Mutex<Taken>,
    freed: Condvar,
    is_closed: AtomicBool,
}

#[derive(Default)]
struct Taken {
    items: usize,
    bytes: usize,
    /// Whether the reader waits for room.
    is_wanted: bool,
}

impl Room {
    /// Waits for room. One item is let in whatever its size. Returns false when nothing more is wanted.
    fn enter(&self, bytes: usize) -> bool {
        let is_full = |taken: &mut Taken| {
            let is_over = taken.items >= self.most_items || taken.bytes + bytes > MOST_BYTES;
            taken.is_wanted = taken.items > 0 && is_over && !self.is_closed.load(Ordering::Relaxed);
            taken.is_wanted
        };
        let mut taken = self.freed.wait_while(lock(&self.taken), is_full).unwrap_or_else(PoisonError::into_inner);
        (taken.items, taken.bytes) = (taken.items + 1, taken.bytes + bytes);
        !self.is_closed.load(Ordering::Relaxed)
    }

    /// Frees the room of an item. The reader is woken when half of all is free, not for each item.
    fn leave(&self, bytes: usize) {
        let mut taken = lock(&self.taken);
        (taken.items, taken.bytes) = (taken.items - 1, taken.bytes - bytes);
        let is_roomy = taken.items <= self.most_items / 2 && taken.bytes <= MOST_BYTES / 2;
        if taken.is_wanted && is_roomy {
            self.freed.notify_one();
        }
    }
}

struct Closing<'a>(&'a Room);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let _taken = lock(&self.0.taken);
        self.0.is_closed.store(true, Ordering::Relaxed);
        self.0.freed.notify_all();
    }
}

/// Ends all threads when this one panics: its items would be waited for. The scope reports the panic.
struct ClosingOnPanic<'a>(&'a Room);

impl Drop for ClosingOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(Closing(self.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_items() {
        let mut taken = Vec::new();
        let items = |put: &mut dyn FnMut(usize) -> bool| (0..3000).for_each(|n| assert!(put(n)));
        let work = |n: usize| {
            if n.is_multiple_of(100) {
                thread::sleep(std::time::Duration::from_millis(2));
            }
            2 * n
        };
        // Some items are larger than all that is let in.
        let size = |n: &usize| if n.is_multiple_of(500) { 2 * MOST_BYTES } else { 100_000 };
        run(items, size, work, |n| {
            taken.push(n);
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(taken, (0..3000).map(|n| 2 * n).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_ends_it() {
        let items = |put: &mut dyn FnMut(usize) -> bool| {
            let _ended_early = !(0..5000).all(put);
        };
        let work = |n: usize| assert_ne!(n, 1000, "on purpose");
        let run = || run(items, |_| 1, work, |()| Ok::<_, ()>(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn an_error_ends_it() {
        let mut n_read = 0;
        let items = |put: &mut dyn FnMut(usize) -> bool| {
            while put(n_read) {
                n_read += 1;
            }
        };
        let take = |n| if n == 1000 { Err(n) } else { Ok(()) };
        assert_eq!(run(items, |_| 1, |n| n, take), Err(1000));
        let n_workers = cores();
        assert!(n_read < 1000 + 3 * ITEMS_OF_WORKER * n_workers, "{n_read}");
    }
}
