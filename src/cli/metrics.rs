//! `--metrics`: serves the progress of a crawl to Prometheus and scripts.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use dehusk_crawl::Stats;

/// The latest counters, served as long as the runtime exists.
pub(super) struct Metrics {
    stats: Arc<Mutex<Stats>>,
}

/// Maximum number of simultaneous connections.
const MOST_CONNECTIONS: usize = 16;

impl Metrics {
    /// Starts a server at an address.
    pub(super) async fn serve(address: SocketAddr) -> anyhow::Result<Metrics> {
        let listener = TcpListener::bind(address).await.with_context(|| format!("--metrics {address}"))?;
        let stats = Arc::new(Mutex::new(Stats::default()));
        tracing::info!("metrics at http://{}/metrics and /stats", listener.local_addr().unwrap_or(address));
        tokio::spawn(accept(listener, Arc::clone(&stats)));
        Ok(Metrics { stats })
    }

    /// Replaces the counters that are served.
    pub(super) fn update(&self, stats: &Stats) {
        if let Ok(mut held) = self.stats.lock() {
            held.clone_from(stats);
        }
    }
}

/// Time for the head of a request, and between two of them.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

async fn accept(listener: TcpListener, stats: Arc<Mutex<Stats>>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // A place first: further connections wait in the queue of the system, and take no file.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let stats = Arc::clone(&stats);
        tokio::spawn(async move {
            let service = service_fn(move |request| respond(request, Arc::clone(&stats)));
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

async fn respond(request: Request<Incoming>, stats: Arc<Mutex<Stats>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let stats = stats.lock().map(|stats| stats.clone()).unwrap_or_default();
    let (kind, body) = match request.uri().path() {
        "/metrics" => ("text/plain; version=0.0.4", render(&stats)),
        "/stats" => ("application/json", serde_json::to_string(&stats).unwrap_or_default()),
        _ => {
            let mut response = Response::new(Full::new(Bytes::from_static(b"/metrics or /stats\n")));
            *response.status_mut() = StatusCode::NOT_FOUND;
            return Ok(response);
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// Writes the counters of a run that is over for node_exporter's textfile collector. The file is replaced at once, so
/// that no collector reads half of it.
pub(super) fn write_file(path: &Path, stats: &Stats, seconds: f64, was_interrupted: bool) -> std::io::Result<()> {
    let mut text = render(stats);
    let ended = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    for (name, help, value) in [
        ("run_ended_timestamp_seconds", "When the run ended.", ended as f64),
        ("run_duration_seconds", "How long the run took.", seconds),
        ("run_interrupted", "Whether the run was interrupted.", f64::from(u8::from(was_interrupted))),
    ] {
        let _ = write!(text, "# HELP dehusk_{name} {help}\n# TYPE dehusk_{name} gauge\ndehusk_{name} {value}\n");
    }
    let version = env!("CARGO_PKG_VERSION");
    let _ = write!(
        text,
        "# HELP dehusk_build_info Version of the program.\n# TYPE dehusk_build_info gauge\n\
         dehusk_build_info{{version=\"{version}\"}} 1\n"
    );
    let part = path.with_extension("part");
    std::fs::write(&part, text)?;
    std::fs::rename(&part, path)
}

/// The counters in the text format of Prometheus.
fn render(stats: &Stats) -> String {
    let mut out = String::new();
    let mut add = |name: &str, kind: &str, help: &str, value: u64| {
        let _ = write!(out, "# HELP dehusk_{name} {help}\n# TYPE dehusk_{name} {kind}\ndehusk_{name} {value}\n");
    };
    let n = |value: usize| value as u64;
    add("sites", "gauge", "Sites of this run.", n(stats.sites));
    add("sites_active", "gauge", "Sites in progress.", n(stats.active));
    add("sites_learned_total", "counter", "Sites with a new template.", n(stats.learned));
    add("sites_redesigned_total", "counter", "Sites whose stored template no longer fits.", n(stats.redesigned));
    add("sites_kept_total", "counter", "Sites whose template still fits.", n(stats.kept));
    add("sites_not_due_total", "counter", "Sites with no page due.", n(stats.not_due));
    add("sites_no_template_total", "counter", "Sites whose pages show no template.", n(stats.no_template));
    add("sites_failed_total", "counter", "Sites that gave no page.", n(stats.failed + stats.failed_before));
    add("requests_total", "counter", "Requests sent, robots.txt included.", n(stats.requests));
    add("retries_total", "counter", "Requests sent again.", n(stats.retries));
    add("pages_total", "counter", "Pages fetched.", n(stats.pages));
    add("body_bytes_total", "counter", "Body bytes as sent.", stats.bytes);
    add("errors_total", "counter", "Requests that failed.", n(stats.errors));
    add("forbidden_total", "counter", "URLs that robots.txt forbids.", n(stats.forbidden));
    add("without_rules_total", "counter", "URLs not fetched for lack of robots.txt rules.", n(stats.without_rules));
    add("rendered_total", "counter", "Pages rendered in a browser.", n(stats.rendered));
    add("back_offs_total", "counter", "Back-offs after 429, 503 or a failed connection.", n(stats.back_offs));
    add("domains_parked_total", "counter", "Politeness keys parked for the rest of the run.", n(stats.parked));
    add("requests_waiting", "gauge", "Requests waiting in the politeness queues.", n(stats.waiting));
    add("requests_in_flight", "gauge", "Requests in flight.", n(stats.in_flight));
    add("held_bytes", "gauge", "Approximate bytes of pages and trees in memory.", n(stats.held_bytes));
    let changes = [
        ("new", stats.new),
        ("changed", stats.changed),
        ("same_text", stats.same_text),
        ("recleaned", stats.recleaned),
        ("unchanged", stats.unchanged),
        ("gone", stats.gone),
        ("moved", stats.pages_moved),
        ("blocked", stats.blocked),
        ("failed", stats.pages_failed),
        ("returned", stats.returned),
    ];
    out += "# HELP dehusk_page_changes_total Pages by kind of change.\n# TYPE dehusk_page_changes_total counter\n";
    for (change, n) in changes {
        let _ = writeln!(out, "dehusk_page_changes_total{{change=\"{change}\"}} {n}");
    }
    out += "# HELP dehusk_links_refused_total Links not followed.\n# TYPE dehusk_links_refused_total counter\n";
    for (reason, n) in &stats.refused {
        let _ = writeln!(out, "dehusk_links_refused_total{{reason=\"{reason}\"}} {n}");
    }
    out += "# HELP dehusk_answers_withheld_total Answers that are no pages.\n";
    out += "# TYPE dehusk_answers_withheld_total counter\n";
    for (reason, n) in &stats.withheld {
        let _ = writeln!(out, "dehusk_answers_withheld_total{{reason=\"{reason}\"}} {n}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_comment_or_a_sample() {
        let mut stats = Stats { pages: 3, ..Stats::default() };
        stats.refused.insert("calendar", 2);
        stats.withheld.insert("soft_404", 4);
        let text = render(&stats);
        assert!(text.contains("\ndehusk_pages_total 3\n") && text.contains("{reason=\"calendar\"} 2\n"));
        assert!(text.contains("\ndehusk_answers_withheld_total{reason=\"soft_404\"} 4\n"));
        assert!(
            text.lines().all(|line| line.starts_with("# ") || line.rsplit_once(' ').unwrap().1.parse::<u64>().is_ok())
        );
    }
}
