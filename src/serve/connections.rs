//! Connections to the inspector, within bounds: so many at once, and no one waits for ever for a request.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// Connections at once. A run that is watched holds one.
const MOST_CONNECTIONS: usize = 128;

/// Time for the head of a request, and between two of them.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// Time for answers that are being sent when the program ends.
const END_WITHIN: Duration = Duration::from_millis(1500);

/// Answers requests until `stop` ends.
pub(super) async fn accept(listener: TcpListener, routes: Router, stop: impl Future<Output = ()>) {
    let (places, open) = (Arc::new(Semaphore::new(MOST_CONNECTIONS)), GracefulShutdown::new());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    let mut silent = Silent::default();
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let accepted = listener.accept().await;
            if places.available_permits() == 0 {
                silent.close_oldest();
            }
            // Further connections wait in the queue of the system, and take no file.
            (accepted, Arc::clone(&places).acquire_owned().await)
        };
        let (accepted, place) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let has_asked = Arc::new(AtomicBool::new(false));
        let (routes, asked) = (TowerToHyperService::new(routes.clone()), Arc::clone(&has_asked));
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            asked.store(true, Ordering::Relaxed);
            routes.call(request)
        });
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
        let task = tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
        silent.push(has_asked, task.abort_handle());
    }
    drop(listener);
    let _ = tokio::time::timeout(END_WITHIN, open.shutdown()).await;
}

/// Connections without a request so far, the oldest first. Where there is no place for another one, they are in its
/// way: whoever opens many and sends nothing must not keep others out.
#[derive(Default)]
struct Silent {
    connections: VecDeque<(Arc<AtomicBool>, AbortHandle)>,
}

impl Silent {
    fn push(&mut self, has_asked: Arc<AtomicBool>, task: AbortHandle) {
        if self.connections.len() >= 2 * MOST_CONNECTIONS {
            self.connections.retain(|(has_asked, task)| !has_asked.load(Ordering::Relaxed) && !task.is_finished());
        }
        self.connections.push_back((has_asked, task));
    }

    fn close_oldest(&mut self) {
        while let Some((has_asked, task)) = self.connections.pop_front() {
            if !has_asked.load(Ordering::Relaxed) && !task.is_finished() {
                return task.abort();
            }
        }
    }
}
