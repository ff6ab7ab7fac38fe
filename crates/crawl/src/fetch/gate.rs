//! Connections that carry a request only while the leases of this process last.
//!
//! Making a connection may take longer than a lease. So the gate is asked again when one was made, and a moment before
//! a request is written.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use dehusk_store::lease_gate::LeaseGate;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Adds the question to a connector.
#[derive(Clone)]
pub(super) struct GateLayer(pub(super) LeaseGate);

impl<S> Layer<S> for GateLayer {
    type Service = GatedConnector<S>;

    fn layer(&self, inner: S) -> GatedConnector<S> {
        GatedConnector { inner, gate: self.0.clone() }
    }
}

/// A connector with the question.
#[derive(Clone)]
pub(super) struct GatedConnector<S> {
    inner: S,
    gate: LeaseGate,
}

impl<S, R> Service<R> for GatedConnector<S>
where
    S: Service<R>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    S::Response: Send,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let (connecting, gate) = (self.inner.call(request), self.gate.clone());
        Box::pin(async move {
            let connection = connecting.await.map_err(Into::into)?;
            if !gate.is_open() {
                return Err("not sent: the leases of this worker have ended".into());
            }
            Ok(connection)
        })
    }
}
