//! Reads, works and writes at the same time: one thread reads, all cores work, and the caller's thread takes the
//! results in the order in which they were read.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Items that are read and not taken yet, and their bytes.
const MOST_ITEMS: usize = 512;
const MOST_BYTES: usize = 24 << 20;

/// Runs items through all cores. `size` is the number of bytes that an item holds. The first error of `take` ends it.
pub(super) fn run<T: Send, R: Send, E>(
    items: impl FnOnce(&mut dyn FnMut(T) -> bool) + Send,
    size: impl Fn(&T) -> usize + Sync,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let n_workers = thread::available_parallelism().map_or(1, NonZero::get);
    let room = Room::default();
    let (to_workers, waiting) = sync_channel::<(usize, usize, T)>(MOST_ITEMS);
    let (results, finished) = channel::<(usize, usize, R)>();
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
                loop {
                    let next = lock(waiting).recv();
                    let Ok((at, bytes, item)) = next else { return };
                    if results.send((at, bytes, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, bytes, result) in finished {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bounds what is in memory.
#[derive(Default)]
struct Room {
    /// Items and bytes.
    taken: Mutex<(usize, usize)>,
    freed: Condvar,
    is_closed: AtomicBool,
}

impl Room {
    /// Waits for room. One item is let in whatever its size. Returns false when nothing more is wanted.
    fn enter(&self, bytes: usize) -> bool {
        let is_full = |taken: &mut (usize, usize)| {
            let is_over = taken.0 >= MOST_ITEMS || taken.1 + bytes > MOST_BYTES;
            taken.0 > 0 && is_over && !self.is_closed.load(Ordering::Relaxed)
        };
        let mut taken = self.freed.wait_while(lock(&self.taken), is_full).unwrap_or_else(PoisonError::into_inner);
        *taken = (taken.0 + 1, taken.1 + bytes);
        !self.is_closed.load(Ordering::Relaxed)
    }

    fn leave(&self, bytes: usize) {
        let mut taken = lock(&self.taken);
        *taken = (taken.0 - 1, taken.1 - bytes);
        self.freed.notify_one();
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
    fn an_error_ends_it() {
        let mut n_read = 0;
        let items = |put: &mut dyn FnMut(usize) -> bool| {
            while put(n_read) {
                n_read += 1;
            }
        };
        let take = |n| if n == 1000 { Err(n) } else { Ok(()) };
        assert_eq!(run(items, |_| 1, |n| n, take), Err(1000));
        assert!(n_read < 1000 + 3 * MOST_ITEMS, "{n_read}");
    }
}
