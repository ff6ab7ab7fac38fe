//! A web server on loopback for many host names, with a log of requests.
//!
//! It serves the demo and the tests over HTTP/1.1, has a runtime of its own, and stops when it is dropped.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

/// The answer of a host to a request.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers, including `content-type`.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// Delay before the answer.
    pub wait: Duration,
}

impl Reply {
    /// A page.
    pub fn html(body: impl Into<Vec<u8>>) -> Reply {
        Reply::typed("text/html", body)
    }

    /// Plain text, such as a robots.txt.
    pub fn text(body: impl Into<Vec<u8>>) -> Reply {
        Reply::typed("text/plain", body)
    }

    /// A body of any type.
    pub fn typed(content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
        Reply { status: 200, body: body.into(), ..Reply::default() }.with("content-type", content_type)
    }

    /// An answer without a body.
    pub fn status(status: u16) -> Reply {
        Reply { status, ..Reply::default() }
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Reply {
        Reply::status(status).with("location", location)
    }

    /// Adds a header.
    pub fn with(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When its head had been read.
    pub at: Instant,
    /// Host name, without port.
    pub host: String,
    /// Path with query.
    pub path: String,
    /// `User-Agent`.
    pub user_agent: String,
}

/// A request to be answered.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Host name, without port.
    pub host: String,
    /// Path with query.
    pub path: String,
    headers: hyper::HeaderMap,
}

impl Asked {
    /// The value of a header; empty if there is none.
    pub fn header(&self, name: &str) -> String {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    }
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    /// Stops the server when dropped.
    _runtime: Option<tokio::runtime::Runtime>,
}

/// Answers a request by host and path.
pub type Answer = dyn Fn(&str, &str) -> Reply + Send + Sync;

/// Answers a request by host, path and headers.
pub type AnswerAsked = dyn Fn(&Asked) -> Reply + Send + Sync;

impl Server {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn start(answer: Arc<Answer>) -> std::io::Result<Server> {
        Server::start_asked(Arc::new(move |asked: &Asked| answer(&asked.host, &asked.path)))
    }

    /// Starts a server whose answers depend on headers.
    pub fn start_asked(answer: Arc<AnswerAsked>) -> std::io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let arrivals = Arc::new(Mutex::new(Vec::new()));
        runtime.spawn(accept(listener, answer, Arc::clone(&arrivals)));
        Ok(Server { address, arrivals, _runtime: Some(runtime) })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All requests so far, in order of arrival.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.lock().map(|list| list.clone()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Tokio panics if a runtime is dropped where blocking is not allowed.
        if let Some(runtime) = self._runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: TcpListener, answer: Arc<AnswerAsked>, arrivals: Arc<Mutex<Vec<Arrival>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (answer, arrivals) = (Arc::clone(&answer), Arc::clone(&arrivals));
        let service = service_fn(move |request| respond(request, Arc::clone(&answer), Arc::clone(&arrivals)));
        tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            // A connection that the client aborts is not an error.
            let _ = http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(
    request: Request<Incoming>,
    answer: Arc<AnswerAsked>,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let at = Instant::now();
    let header =
        |name: &HeaderName| request.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let host = header(&HOST);
    let host = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).to_owned();
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned();
    if let Ok(mut list) = arrivals.lock() {
        let user_agent = header(&hyper::header::USER_AGENT);
        list.push(Arrival { at, host: host.clone(), path: path.clone(), user_agent });
    }
    let reply = answer(&Asked { host, path, headers: request.headers().clone() });
    if !reply.wait.is_zero() {
        tokio::time::sleep(reply.wait).await;
    }
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    for (name, value) in &reply.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("text/plain"));
    Ok(response)
}
