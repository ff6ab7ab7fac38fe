//! Reads a response body within its limits: bytes as sent, bytes after decompression, bytes per second.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use futures_util::Stream;
use reqwest::Response;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::io::StreamReader;

/// Why a body could not be read.
#[derive(Debug)]
pub(super) enum BodyError {
    RawLimit,
    DecodedLimit,
    Slow,
    NoRoom,
    Connection(io::Error),
    Encoding(String, io::Error),
}

/// Our own errors, as they pass through the decoder.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("raw limit")]
    RawLimit,
    #[error("too slow")]
    Slow,
    #[error("{0}")]
    Connection(String),
}

pub(super) struct Limits {
    pub(super) raw: usize,
    pub(super) decoded: usize,
    /// Stop at the limit and keep what was read, as for robots.txt.
    pub(super) cut: bool,
    /// Minimum bytes per second, after [`PATIENCE`].
    pub(super) min_rate: usize,
    /// Whether the bytes as sent are kept, too.
    pub(super) keep_raw: bool,
    /// Permits for bodies of more than [`LARGE`] bytes. They bound memory over all requests.
    pub(super) large: Arc<Semaphore>,
}

/// A body that was read, completely or up to a limit.
#[derive(Default)]
pub(super) struct Body {
    pub(super) decoded: Vec<u8>,
    pub(super) raw_bytes: usize,
    /// The bytes as sent, if `keep_raw` is set.
    pub(super) raw: Vec<u8>,
    pub(super) was_cut: bool,
    /// Permit of a large body, held while it is in memory.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// Time window over which the minimum rate is checked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Decoded bytes above which a body needs a permit.
pub(super) const LARGE: usize = 1 << 20;

/// Reads a body to its end or to a limit.
pub(super) async fn read(response: Response, encoding: &str, limits: &Limits) -> Result<Body, BodyError> {
    let announced = response.content_length().unwrap_or(0);
    if announced > limits.raw as u64 && !limits.cut {
        return Err(BodyError::RawLimit);
    }
    let meter = Arc::new(Mutex::new(Meter { since: None, n: 0, n_since: 0, raw: Vec::new() }));
    let source = StreamReader::new(Box::pin(pieces(response, Arc::clone(&meter), limits)));
    let mut decoder = decoder(source, encoding).await.map_err(|e| sort(e, encoding))?;
    let mut body = Body::default();
    body.decoded.reserve((announced as usize).min(limits.decoded).min(LARGE));
    loop {
        // One extra byte distinguishes a body of exactly the limit from a longer one.
        let room = (limits.decoded + 1 - body.decoded.len()).min(LARGE / 4) as u64;
        let read = (&mut decoder).take(room).read_to_end(&mut body.decoded).await;
        let was_cut = meter.lock().is_ok_and(|meter| limits.cut && meter.n >= limits.raw);
        let n = match read {
            // The stream ends at the limit, which a decoder reports as an error.
            Err(_) if was_cut => 0,
            read => read.map_err(|e| sort(e, encoding))?,
        };
        body.was_cut |= was_cut;
        if body.decoded.len() > limits.decoded {
            if !limits.cut {
                return Err(BodyError::DecodedLimit);
            }
            body.decoded.truncate(limits.decoded);
            body.was_cut = true;
            break;
        }
        if (n as u64) < room {
            break;
        }
        if body.decoded.len() > LARGE && body.place.is_none() {
            let place = tokio::time::timeout(PATIENCE * 2, Arc::clone(&limits.large).acquire_owned()).await;
            body.place = place.map_err(|_| BodyError::NoRoom)?.ok();
            if let Ok(mut meter) = meter.lock() {
                // The wait for a permit does not count against the server's rate.
                meter.since = None;
            }
        }
    }
    drop(decoder);
    if let Ok(mut meter) = meter.lock() {
        (body.raw_bytes, body.raw) = (meter.n, std::mem::take(&mut meter.raw));
    }
    Ok(body)
}

/// Counters of a body that is being read.
struct Meter {
    /// Start of the window of the rate; `None` before the first byte.
    since: Option<Instant>,
    n: usize,
    /// Bytes received in the window.
    n_since: usize,
    raw: Vec<u8>,
}

impl Meter {
    /// Counts a chunk. Returns false if a window has ended with too few bytes.
    fn add(&mut self, n: usize, min_rate: usize) -> bool {
        self.n += n;
        self.n_since += n;
        let now = Instant::now();
        let Some(since) = self.since else {
            // Before the first byte only the time limit of the response applies: servers may pause after their headers.
            if n > 0 {
                (self.since, self.n_since) = (Some(now), 0);
            }
            return true;
        };
        let took = now - since;
        if took < PATIENCE {
            return true;
        }
        let enough = self.n_since as f64 >= min_rate as f64 * took.as_secs_f64();
        (self.since, self.n_since) = (Some(now), 0);
        enough
    }
}

/// The chunks of a body as they arrive, metered.
fn pieces(
    response: Response,
    meter: Arc<Mutex<Meter>>,
    limits: &Limits,
) -> impl Stream<Item = io::Result<bytes::Bytes>> + Send + use<> {
    let (raw, cut, min_rate, keep) = (limits.raw, limits.cut, limits.min_rate, limits.keep_raw);
    futures_util::stream::try_unfold((response, meter), move |(mut response, meter)| async move {
        loop {
            let piece = match tokio::time::timeout(PATIENCE, response.chunk()).await {
                Ok(piece) => piece.map_err(|e| io::Error::other(Broken::Connection(innermost(&e))))?,
                Err(_) => Some(bytes::Bytes::new()),
            };
            let Some(piece) = piece else { return Ok(None) };
            if let Ok(mut meter) = meter.lock() {
                if meter.n >= raw && cut {
                    return Ok(None);
                }
                let is_enough = meter.add(piece.len(), min_rate);
                if meter.n > raw && !cut {
                    return Err(io::Error::other(Broken::RawLimit));
                }
                if keep {
                    meter.raw.extend_from_slice(&piece);
                }
                if !is_enough {
                    return Err(io::Error::other(Broken::Slow));
                }
            }
            if !piece.is_empty() {
                return Ok(Some((piece, (response, meter))));
            }
        }
    })
}

type Reader = Pin<Box<dyn AsyncRead + Send>>;

async fn decoder<R>(mut source: R, encoding: &str) -> io::Result<Reader>
where
    R: tokio::io::AsyncBufRead + Send + Unpin + 'static,
{
    Ok(match encoding {
        "gzip" | "x-gzip" => {
            let mut gzip = GzipDecoder::new(source);
            gzip.multiple_members(true);
            Box::pin(gzip)
        }
        "br" => Box::pin(BrotliDecoder::new(source)),
        "zstd" => Box::pin(ZstdDecoder::new(source)),
        "deflate" => {
            // The RFC requires a zlib stream, old servers send raw deflate. The first byte tells which.
            let is_zlib = source.fill_buf().await?.first().is_some_and(|b| b & 0x0f == 8 && b >> 4 <= 7);
            if is_zlib { Box::pin(ZlibDecoder::new(source)) } else { Box::pin(DeflateDecoder::new(source)) }
        }
        _ => Box::pin(source),
    })
}

fn sort(error: io::Error, encoding: &str) -> BodyError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Broken>()) {
        Some(Broken::RawLimit) => BodyError::RawLimit,
        Some(Broken::Slow) => BodyError::Slow,
        Some(Broken::Connection(_)) => BodyError::Connection(error),
        None if encoding.is_empty() => BodyError::Connection(error),
        None => BodyError::Encoding(encoding.to_owned(), error),
    }
}

/// The last error of a chain of sources: "connection refused" rather than "error sending request".
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
