//! Every exchange of a crawl as records of an archive.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::Clock;
use super::request::{Request, RequestKind};
use crate::fetch::{Fetched, Wire};
use dehusk_files::media_type::essence;
use dehusk_files::warc::{Entry, Record, RecordKind, WarcError, WarcWriter, new_id, payload_digest};
use dehusk_settings::Settings;

/// Payloads remembered, so that the same one is written once.
const MOST_PAYLOADS: usize = 1_000_000;

const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// The archive of a crawl. Requests pack their records side by side and append them one after the other.
pub(super) struct Archive {
    writer: Mutex<WarcWriter>,
    /// Where and when each payload was written first.
    payloads: Mutex<FxHashMap<String, (String, i64)>>,
    failed: Mutex<Option<WarcError>>,
}

impl Archive {
    pub(super) fn open(dir: &Path, settings: &Settings, at: i64) -> Result<Archive, WarcError> {
        let hostname = hostname();
        let about = [
            ("hostname", hostname.as_str()),
            ("operator", &settings.warc.operator),
            ("isPartOf", &settings.warc.is_part_of),
            ("description", &settings.warc.description),
            ("robots", "obey"),
            ("http-header-user-agent", &settings.fetch.user_agent),
        ];
        let writer = WarcWriter::open(dir, &about, at)?;
        Ok(Archive { writer: Mutex::new(writer), payloads: Mutex::default(), failed: Mutex::default() })
    }

    /// Writes an exchange; gives it back without the bytes that only the archive needs.
    pub(super) async fn keep(self: Arc<Archive>, request: &Request, mut fetched: Fetched, clock: Clock) -> Fetched {
        let (Some(times), Ok(response)) = (fetched.times, &mut fetched.outcome) else { return fetched };
        let Some(wire) = response.wire.take() else { return fetched };
        let exchange = Exchange {
            id: new_id(),
            url: request.url.to_string(),
            via: (request.hops > 0).then(|| request.asked.to_string()),
            hop_path: hop_path(request),
            at: clock.at(times.sent),
            took_ms: times.ended.saturating_duration_since(times.sent).as_millis(),
            status: response.status,
            content_type: response.content_type.clone(),
            known_since: request.known_since.filter(|_| response.status == 304),
            wire: *wire,
        };
        response.warc_record = Some(exchange.id.clone());
        // Packing takes as long as parsing; not on a thread that requests wait for.
        let archive = Arc::clone(&self);
        let written = tokio::task::spawn_blocking(move || archive.write(&exchange));
        fetched.archive_failed = match written.await {
            Ok(is_written) => !is_written,
            Err(_) => {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(panicked);
                true
            }
        };
        fetched
    }

    fn write(&self, exchange: &Exchange) -> bool {
        let Ok(mut failed) = self.failed.lock() else { return false };
        if failed.is_some() {
            return false;
        }
        drop(failed);
        let outcome = self.entries(exchange).map_err(|reason| WarcError::Io { path: "archive".into(), reason });
        let outcome = outcome.and_then(|entries| match self.writer.lock() {
            Ok(mut writer) => writer.write(&entries, exchange.at),
            Err(_) => Err(panicked()),
        });
        failed = match self.failed.lock() {
            Ok(failed) => failed,
            Err(_) => return false,
        };
        if let Err(error) = outcome {
            tracing::error!("{error}; the crawl stops");
            *failed = Some(error);
        }
        failed.is_none()
    }

    /// The records of an exchange: response or revisit, request, metadata.
    fn entries(&self, exchange: &Exchange) -> std::io::Result<Vec<Entry>> {
        let Exchange { url, at, wire, .. } = exchange;
        // A page that was not modified has no payload of its own; with the 304 as its block, replay would show that.
        let is_modified = exchange.known_since.is_none();
        let digest = if is_modified { payload_digest(&wire.body) } else { String::new() };
        let earlier = self.earlier(&digest, exchange);
        let mut block = Vec::new();
        if is_modified {
            block.extend_from_slice(&wire.response);
            block.extend_from_slice(b"\r\n");
        }
        let (kind, profile) = match (exchange.known_since, &earlier) {
            (Some(_), _) => (RecordKind::Revisit, Some(NOT_MODIFIED)),
            (None, Some(_)) => (RecordKind::Revisit, Some(IDENTICAL)),
            (None, None) => (RecordKind::Response, None),
        };
        if kind == RecordKind::Response {
            block.extend_from_slice(&wire.body);
        }
        let mut response = Record::new(kind, url, *at, "application/http;msgtype=response", block)
            .with_id(exchange.id.clone())
            .with("WARC-Protocol", wire.protocol);
        if is_modified {
            response = response.with("WARC-Payload-Digest", digest.clone());
        }
        if let Some(address) = wire.address {
            response = response.with("WARC-IP-Address", address.to_string());
        }
        if wire.was_cut {
            response = response.with("WARC-Truncated", "length");
        }
        if let Some(profile) = profile {
            let (uri, since) = earlier.unwrap_or_else(|| (url.clone(), exchange.known_since.unwrap_or(*at)));
            response = response
                .with("WARC-Profile", profile)
                .with("WARC-Refers-To-Target-URI", uri)
                .with("WARC-Refers-To-Date", dehusk_core::calendar::iso_8601(since));
        }
        let request = Record::new(
            RecordKind::Request,
            url,
            *at,
            "application/http;msgtype=request",
            format!("{}\r\n", wire.request).into_bytes(),
        )
        .with("WARC-Concurrent-To", response.id.clone());
        // The header lines of a 304 have no record that they could be in.
        let mut fields = if is_modified { String::new() } else { not_modified_fields(&wire.response) };
        fields += &format!("fetchTimeMs: {}\r\n", exchange.took_ms);
        if !exchange.hop_path.is_empty() {
            fields += &format!("hopsFromSeed: {}\r\n", exchange.hop_path);
        }
        if let Some(via) = &exchange.via {
            fields += &format!("via: {via}\r\n");
        }
        let metadata = Record::new(RecordKind::Metadata, url, *at, "application/warc-fields", fields.into_bytes())
            .with("WARC-Concurrent-To", response.id.clone());
        let mime = match essence(exchange.content_type.as_deref()) {
            none if none.is_empty() => "unk".to_owned(),
            found => found,
        };
        Ok(vec![
            Entry::pack(&response, Some((exchange.status, &mime, &digest)))?,
            Entry::pack(&request, None)?,
            Entry::pack(&metadata, None)?,
        ])
    }

    /// Where the payload was written before; remembers it where it was not.
    fn earlier(&self, digest: &str, exchange: &Exchange) -> Option<(String, i64)> {
        if exchange.known_since.is_some() || exchange.wire.body.is_empty() || exchange.status != 200 {
            return None;
        }
        let mut payloads = self.payloads.lock().ok()?;
        if let Some(earlier) = payloads.get(digest) {
            return Some(earlier.clone());
        }
        if payloads.len() < MOST_PAYLOADS {
            payloads.insert(digest.to_owned(), (exchange.url.clone(), exchange.at));
        }
        None
    }

    /// Completes the last file.
    pub(super) fn close(&self) -> Result<(), WarcError> {
        if let Some(error) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        match self.writer.lock() {
            Ok(mut writer) => writer.close(),
            Err(_) => Err(panicked()),
        }
    }
}

/// The steps that led to a request, by the letters of Heritrix: `L` a link, `M` a sitemap or feed, `P` robots.txt
/// and files about rights, which are needed first, `E` what scripts of a page ask for, `R` a redirect.
fn hop_path(request: &Request) -> String {
    let mut path = "L".repeat(request.depth as usize);
    match request.kind {
        RequestKind::Page { .. } | RequestKind::Probe { .. } => {}
        RequestKind::Sitemap { .. } => path.push('M'),
        RequestKind::Robots { .. } | RequestKind::Rights { .. } => path.push('P'),
        RequestKind::Subresource { .. } => path.push('E'),
    }
    path + &"R".repeat(request.hops)
}

/// Status and header lines of a 304 as fields.
fn not_modified_fields(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    let lines = text.split("\r\n").skip(1).filter(|line| !line.is_empty());
    lines.fold("status: 304\r\n".to_owned(), |fields, line| fields + &format!("http-header-{line}\r\n"))
}

/// The name of this machine, where Linux says it.
fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| String::new(), |name| name.trim().to_owned())
}

/// The writer ended in the middle of a record: a defect of ours.
fn panicked() -> WarcError {
    WarcError::Io { path: "archive".into(), reason: std::io::Error::other("internal error, please report it") }
}

/// An exchange as it is written.
struct Exchange {
    /// `WARC-Record-ID` of the response.
    id: String,
    url: String,
    via: Option<String>,
    /// How it was reached: a letter for each step.
    hop_path: String,
    at: i64,
    took_ms: u128,
    status: u16,
    content_type: Option<String>,
    known_since: Option<i64>,
    wire: Wire,
}
