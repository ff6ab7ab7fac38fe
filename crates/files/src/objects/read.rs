//! An object that is read from its beginning to its end.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use object_store::{GetOptions, GetRange};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{Object, failed, runtime};

/// Pieces that wait to be read. A piece is what the connection gives at once.
const WAITING: usize = 64;

/// Requests in a row that bring nothing, after which reading ends with their error.
const ATTEMPTS: u32 = 5;

/// The first object that could not be read to its end.
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// The first object that could not be read to its end since the last call, and why. What was read of it ends early
/// without being damaged.
pub fn read_failure() -> Option<String> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Waits for the pieces of an object, which arrive while others are worked on.
pub(super) struct ObjectReader {
    pieces: Receiver<io::Result<Bytes>>,
    piece: Bytes,
}

impl ObjectReader {
    pub(super) fn new(object: Object, size: u64) -> io::Result<ObjectReader> {
        let (send, pieces) = channel(WAITING);
        runtime()?.spawn(fetch(object, size, send));
        Ok(ObjectReader { pieces, piece: Bytes::new() })
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.piece = piece?,
                None => return Ok(0),
            }
        }
        let n = buffer.len().min(self.piece.len());
        buffer[..n].copy_from_slice(&self.piece[..n]);
        self.piece.advance(n);
        Ok(n)
    }
}

/// Sends the bytes of an object. After an error the rest is asked for.
async fn fetch(object: Object, size: u64, send: Sender<io::Result<Bytes>>) {
    let (mut at, mut n_failed) = (0, 0);
    while at < size {
        let before = at;
        let Err(error) = fetch_from(&object, &mut at, &send).await else { return };
        n_failed = if at > before { 1 } else { n_failed + 1 };
        if n_failed >= ATTEMPTS {
            let error = failed(&error);
            let said = format!("{}: {error}", object.address());
            FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(said);
            let _ = send.send(Err(error)).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(200 << n_failed)).await;
    }
}

/// Sends what one request brings. It ends when the object does, or when nobody reads any more.
async fn fetch_from(object: &Object, at: &mut u64, send: &Sender<io::Result<Bytes>>) -> object_store::Result<()> {
    let options = GetOptions { range: Some(GetRange::Offset(*at)), ..GetOptions::default() };
    let mut stream = object.store.get_opts(&object.key, options).await?.into_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece?;
        *at += piece.len() as u64;
        if send.send(Ok(piece)).await.is_err() {
            break;
        }
    }
    Ok(())
}
