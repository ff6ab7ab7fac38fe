//! Reads a body within its limits: bytes as sent, then bytes after decompression.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use futures_util::StreamExt;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio_util::io::StreamReader;

/// Why a body could not be read.
#[derive(Debug)]
pub(super) enum BodyError {
    RawLimit,
    DecodedLimit,
    Connection(io::Error),
    Encoding(String, io::Error),
}

/// Marks our own error on its way through the decoder.
#[derive(Debug, thiserror::Error)]
#[error("raw limit")]
struct RawLimit;

/// Marks an error of the connection on its way through the decoder.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Broken(String);

pub(super) struct Limits {
    pub(super) raw: usize,
    pub(super) decoded: usize,
    /// Stop at the limit and keep what was read, as for robots.txt.
    pub(super) cut: bool,
}

/// The decoded body and the number of bytes sent for it.
pub(super) async fn read(
    response: reqwest::Response,
    encoding: &str,
    limits: &Limits,
) -> Result<(Vec<u8>, usize), BodyError> {
    let announced = response.content_length().unwrap_or(0);
    if announced > limits.raw as u64 && !limits.cut {
        return Err(BodyError::RawLimit);
    }
    let counted = Arc::new(AtomicUsize::new(0));
    let raw = Arc::clone(&counted);
    let (raw_limit, cut) = (limits.raw, limits.cut);
    let stream = response.bytes_stream().then(move |piece| {
        let raw = Arc::clone(&raw);
        async move {
            let piece = piece.map_err(|e| io::Error::other(Broken(innermost(&e))))?;
            if raw.fetch_add(piece.len(), Ordering::Relaxed) + piece.len() > raw_limit && !cut {
                return Err(io::Error::other(RawLimit));
            }
            Ok(piece)
        }
    });
    let source = StreamReader::new(Box::pin(stream));
    let mut decoder = decoder(source, encoding).await.map_err(|e| sort(e, encoding))?;
    let mut body = Vec::with_capacity((announced as usize).min(limits.decoded).min(1 << 20));
    // One byte beyond the limit tells a body that ends there from one that goes on.
    let mut limited = (&mut decoder).take(limits.decoded as u64 + 1);
    limited.read_to_end(&mut body).await.map_err(|e| sort(e, encoding))?;
    if body.len() > limits.decoded {
        if !limits.cut {
            return Err(BodyError::DecodedLimit);
        }
        body.truncate(limits.decoded);
    }
    Ok((body, counted.load(Ordering::Relaxed)))
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
            // By the RFC a zlib stream, by old servers a bare one; the first byte tells.
            let is_zlib = source.fill_buf().await?.first().is_some_and(|b| b & 0x0f == 8 && b >> 4 <= 7);
            if is_zlib { Box::pin(ZlibDecoder::new(source)) } else { Box::pin(DeflateDecoder::new(source)) }
        }
        _ => Box::pin(source),
    })
}

fn sort(error: io::Error, encoding: &str) -> BodyError {
    let inner = error.get_ref();
    if inner.is_some_and(|e| e.is::<RawLimit>()) {
        return BodyError::RawLimit;
    }
    let is_broken = inner.is_some_and(|e| e.is::<Broken>());
    if is_broken || encoding.is_empty() {
        BodyError::Connection(error)
    } else {
        BodyError::Encoding(encoding.to_owned(), error)
    }
}

/// The reason at the end of a chain of errors: "connection refused" rather than "error sending request".
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
