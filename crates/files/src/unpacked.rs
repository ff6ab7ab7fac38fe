//! Opens a file, a pipe or standard input and unpacks gzip and zstd, known by their first bytes and not by a name.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// First bytes of a gzip member.
pub const GZIP: &[u8] = b"\x1f\x8b";

/// First bytes of a zstd frame.
pub const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// A stream of bytes.
pub type Stream = Box<dyn Read + Send>;

/// The bytes as they are: of a file, of standard input (`-`), or with the feature `objects` of an object of an object
/// store (`s3://bucket/key`). A pipe can be opened only once.
pub fn open_packed(path: &Path) -> io::Result<Stream> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    #[cfg(feature = "objects")]
    if let Some(address) = path.to_str().filter(|path| crate::objects::is_object(path)) {
        return crate::objects::Object::parse(address)?.open();
    }
    Ok(Box::new(File::open(path)?))
}

/// The first bytes of a stream, at most `most`, and the whole stream.
pub fn peek(mut stream: Stream, most: usize) -> io::Result<(Vec<u8>, Stream)> {
    let mut head = Vec::new();
    (&mut stream).take(most as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(stream))))
}

/// Unpacks a stream that begins with these bytes.
pub fn unpack(head: &[u8], stream: Stream) -> io::Result<Stream> {
    if head.starts_with(GZIP) {
        return Ok(Box::new(flate2::read::MultiGzDecoder::new(stream)));
    }
    if head.starts_with(ZSTD) { Ok(Box::new(zstd::stream::read::Decoder::new(stream)?)) } else { Ok(stream) }
}

/// Opens and unpacks.
///
/// # Errors
///
/// When the file cannot be read. Damage further on is an error of the stream.
pub fn open(path: &Path) -> io::Result<Stream> {
    let (head, stream) = peek(open_packed(path)?, ZSTD.len())?;
    unpack(&head, stream)
}
