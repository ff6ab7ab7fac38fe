//! Connections to the inspector, within bounds: so many at once, and no one waits for ever for a request.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

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
    let mut stop = pin!(stop);
    loop {
        // A place first: further connections wait in the queue of the system, and take no file.
        let next = async { (Arc::clone(&places).acquire_owned().await, listener.accept().await) };
        let (place, accepted) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.clone()));
        let connection = open.watch(connection);
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(END_WITHIN, open.shutdown()).await;
}
