//! Reads a response body within its limits: bytes as sent, bytes after decoding, bytes per second.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use dehusk_files::codings::{Coding, decode};

/// Why a body could not be read.
#[derive(Debug)]
pub(super) enum BodyError {
    RawLimit,
    DecodedLimit,
    Slow,
    NoRoom,
    /// The connection ended before the body did.
    Broken(String),
    Encoding(io::Error),
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

/// Bytes, as sent or decoded, above which a body needs a permit.
pub(super) const LARGE: usize = 1 << 20;

/// Bytes as sent above which a body is decoded on a thread of its own: others wait for the one of the network.
const LONG: usize = 128 << 10;

/// Reads a body to its end or to a limit.
pub(super) async fn read(response: Response, codings: Vec<Coding>, limits: &Limits) -> Result<Body, BodyError> {
    let mut body = read_raw(response, limits).await?;
    body.raw_bytes = body.raw.len();
    if codings.is_empty() {
        body.decoded = if limits.keep_raw { body.raw.clone() } else { std::mem::take(&mut body.raw) };
        body.decoded.truncate(limits.decoded + 1);
    } else {
        body = decoded(body, codings, limits).await?;
    }
    if body.decoded.len() > limits.decoded {
        if !limits.cut {
            return Err(BodyError::DecodedLimit);
        }
        body.decoded.truncate(limits.decoded);
        body.was_cut = true;
    }
    if !limits.keep_raw {
        body.raw = Vec::new();
    }
    Ok(body)
}

async fn read_raw(mut response: Response, limits: &Limits) -> Result<Body, BodyError> {
    let announced = response.content_length().unwrap_or(0);
    if announced > limits.raw as u64 && !limits.cut {
        return Err(BodyError::RawLimit);
    }
    let mut meter = Meter { since: None, n_since: 0 };
    let mut body = Body { raw: Vec::with_capacity((announced as usize).min(LARGE)), ..Body::default() };
    loop {
        let piece = match tokio::time::timeout(PATIENCE, response.chunk()).await {
            Ok(piece) => piece.map_err(|e| BodyError::Broken(innermost(&e)))?,
            Err(_) => Some(Bytes::new()),
        };
        let Some(piece) = piece else { return Ok(body) };
        let room = limits.raw - body.raw.len();
        if piece.len() > room && !limits.cut {
            return Err(BodyError::RawLimit);
        }
        body.raw.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            body.was_cut = true;
            return Ok(body);
        }
        if !meter.add(piece.len(), limits.min_rate) {
            return Err(BodyError::Slow);
        }
        if body.raw.len() > LARGE && body.place.is_none() {
            body.place = Some(place(limits).await?);
            // The wait for a permit does not count against the server's rate.
            meter.since = None;
        }
    }
}

async fn place(limits: &Limits) -> Result<OwnedSemaphorePermit, BodyError> {
    let place = tokio::time::timeout(PATIENCE * 2, Arc::clone(&limits.large).acquire_owned()).await;
    place.ok().and_then(Result::ok).ok_or(BodyError::NoRoom)
}

/// The body without its codings. A body that is found to be large is decoded again once it has a permit.
async fn decoded(mut body: Body, codings: Vec<Coding>, limits: &Limits) -> Result<Body, BodyError> {
    // One extra byte distinguishes a body of exactly the limit from a longer one.
    let most = limits.decoded + 1;
    let mut damage;
    loop {
        let most = if body.place.is_some() { most } else { most.min(LARGE) };
        (body, damage) = decoded_to(body, codings.clone(), most).await?;
        if body.decoded.len() < LARGE || body.place.is_some() || most > limits.decoded {
            break;
        }
        body.place = Some(place(limits).await?);
    }
    match damage {
        // Of a body that was cut, the end is missing.
        Some(error) if !body.was_cut => Err(BodyError::Encoding(error)),
        _ => Ok(body),
    }
}

async fn decoded_to(mut body: Body, codings: Vec<Coding>, most: usize) -> Result<Decoded, BodyError> {
    let is_long = body.raw.len() > LONG || most > LARGE;
    let work = move || {
        let (decoded, damage) = decode(&body.raw, &codings, most);
        body.decoded = decoded;
        (body, damage)
    };
    if is_long {
        tokio::task::spawn_blocking(work).await.map_err(|e| BodyError::Encoding(io::Error::other(e)))
    } else {
        Ok(work())
    }
}

/// A decoded body, and what is wrong with it.
type Decoded = (Body, Option<io::Error>);

/// The rate of a body that is being read.
struct Meter {
    /// Start of the window of the rate; `None` before the first byte.
    since: Option<Instant>,
    /// Bytes received in the window.
    n_since: usize,
}

impl Meter {
    /// Counts a chunk. Returns false if a window has ended with too few bytes.
    fn add(&mut self, n: usize, min_rate: usize) -> bool {
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

/// The last error of a chain of sources: "connection refused" rather than "error sending request".
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
