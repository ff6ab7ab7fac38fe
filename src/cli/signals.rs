//! The signals that stop a command: Ctrl-C, SIGTERM and SIGHUP, unless whoever started the program has them ignored.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Failure, exit, runtime};

/// Whether a signal has come. For commands whose work on the disk is complete at any time.
pub(super) struct StopFlag {
    is_set: Arc<AtomicBool>,
    /// Listens as long as this lives.
    _listener: tokio::runtime::Runtime,
}

impl StopFlag {
    /// The first signal sets the flag. The second one, or the end of `within`, ends the process.
    pub(super) fn listen(within: Duration) -> Result<StopFlag, Failure> {
        let is_set = Arc::new(AtomicBool::new(false));
        let listener = runtime(1)?;
        let flag = Arc::clone(&is_set);
        listener.spawn(async move {
            let mut signals = Signals::listen();
            signals.next().await;
            flag.store(true, Ordering::Relaxed);
            let _ = tokio::time::timeout(within, signals.next()).await;
            let _ = writeln!(io::stderr(), "stopped; the same command goes on behind the last complete part");
            std::process::exit(exit::INTERRUPTED.into());
        });
        Ok(StopFlag { is_set, _listener: listener })
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }
}

/// Ends the process at the first signal with this code, as long as the result lives. For what nothing depends on.
pub(super) fn end_at_signal(code: u8, said: &'static str) -> Result<tokio::runtime::Runtime, Failure> {
    let listener = runtime(1)?;
    listener.spawn(async move {
        Signals::listen().next().await;
        let _ = writeln!(io::stderr(), "{said}");
        std::process::exit(code.into());
    });
    Ok(listener)
}

/// Signals that are listened to.
pub(super) struct Signals {
    #[cfg(unix)]
    signals: Vec<Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen. A signal that is ignored now stays so: `nohup` ignores SIGHUP, a shell SIGINT for what runs in
    /// the background.
    pub(super) fn listen() -> Signals {
        let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let wanted = kinds.into_iter().filter(|kind| ignored >> (kind.as_raw_value() - 1) & 1 == 0);
        Signals { signals: wanted.filter_map(|kind| signal(kind).ok()).collect() }
    }

    /// Waits for one.
    pub(super) async fn next(&mut self) {
        std::future::poll_fn(|cx| {
            let has_come = self.signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
            if has_come { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

/// The mask of the signals that a process ignores.
#[cfg(unix)]
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> Signals {
        Signals {}
    }

    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
