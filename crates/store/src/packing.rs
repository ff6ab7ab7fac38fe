//! Values as the store keeps them: packed by zstd, with the digest of what they hold.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;
use zstd::zstd_safe;

/// SHA-256 as hexadecimal digits.
pub fn digest(body: &[u8]) -> String {
    format!("{:x}", Sha256::digest(body))
}

/// Packs values as the store keeps them: each a zstd frame.
///
/// Its contexts are kept from value to value, as many as threads pack at once: making one costs as much as packing a
/// small page.
#[derive(Default)]
pub struct Packer {
    idle: Mutex<Vec<Compressor<'static>>>,
}

impl Packer {
    /// Packs a value at a level of zstd.
    pub fn pack(&self, bytes: &[u8], level: i32) -> Vec<u8> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let packed = kept.map_or_else(|| Compressor::new(level), Ok).and_then(|mut compressor| {
            compressor.set_compression_level(level)?;
            let mut packed = compressor.compress(bytes)?;
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(compressor);
            packed.shrink_to_fit();
            Ok(packed)
        });
        // Compressing into memory fails only without memory for its tables.
        packed.unwrap_or_else(|_| uncompressed(bytes))
    }
}

/// Packs one value at a level of zstd. For many, [`Packer`] takes less time.
pub fn pack(bytes: &[u8], level: i32) -> Vec<u8> {
    Packer::default().pack(bytes, level)
}

/// A frame of raw blocks (RFC 8878, section 3.1.1), which nothing is needed for.
fn uncompressed(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 128 << 10;
    /// One segment, whose size has eight bytes.
    const DESCRIPTOR: u8 = 0b1110_0000;
    let mut frame = [dehusk_files::unpacked::ZSTD, &[DESCRIPTOR], &(bytes.len() as u64).to_le_bytes()].concat();
    let n_blocks = bytes.len().div_ceil(BLOCK).max(1);
    for at in 0..n_blocks {
        let block = &bytes[at * BLOCK..bytes.len().min((at + 1) * BLOCK)];
        let is_last = u32::from(at + 1 == n_blocks);
        let head = (block.len() as u32) << 3 | is_last;
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

/// Bytes of a value that is unpacked: more than any page or template has. A damaged one, or one of a stranger, may
/// claim any size.
const MOST_UNPACKED: usize = 512 << 20;

/// What [`pack`] packed.
///
/// # Errors
///
/// When it is damaged, or longer than any value that is stored (512 MiB).
pub fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    unpack_to(bytes, MOST_UNPACKED)
}

fn unpack_to(bytes: &[u8], most: usize) -> io::Result<Vec<u8>> {
    /// Larger values grow as they are read.
    const MOST_AT_ONCE: u64 = 64 << 20;
    let size = zstd_safe::get_frame_content_size(bytes).ok().flatten();
    let size = size.filter(|size| *size <= MOST_AT_ONCE.min(most as u64));
    let at_once = size.and_then(|size| zstd::bulk::decompress(bytes, size as usize).ok());
    if let Some(unpacked) = at_once {
        return Ok(unpacked);
    }
    let mut unpacked = Vec::new();
    zstd::stream::read::Decoder::new(bytes)?.take(most as u64 + 1).read_to_end(&mut unpacked)?;
    if unpacked.len() > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it has more than {most} bytes unpacked")));
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_read_back_and_damage_is_an_error() {
        let body = b"<p>Rye is a grass.</p>".repeat(99);
        let packer = Packer::default();
        let packed = packer.pack(&body, 3);
        assert!(packed.len() < body.len() && unpack(&packed).unwrap() == body);
        assert_eq!(unpack(&packer.pack(b"", 1)).unwrap(), b"");
        // A long value, and a short one after it.
        let long = body.repeat(200);
        let packed_long = packer.pack(&long, 19);
        assert!(packed_long.capacity() < long.len() / 10 && unpack(&packed_long).unwrap() == long);
        assert!(packer.pack(&body, 3) == packed && packed.capacity() == packed.len());
        assert_eq!((pack(&body, 3) == packed, packer.idle.lock().unwrap().len()), (true, 1));
        // Values of other programs: without their size, and of two parts.
        let streamed = zstd::stream::encode_all(&body[..], 1).unwrap();
        assert_eq!(unpack(&streamed).unwrap(), body);
        assert_eq!(unpack(&[packed.clone(), pack(b"oats", 3)].concat()).unwrap(), [&body[..], b"oats"].concat());
        for damaged in [&packed[..packed.len() - 1], &packed[1..], b"<p>Rye"] {
            assert!(unpack(damaged).is_err(), "{damaged:?}");
        }
        for bytes in [&b""[..], b"oats", &long] {
            assert_eq!(unpack(&uncompressed(bytes)).unwrap(), bytes);
        }
        // A small value that grows.
        let bomb = zstd::stream::encode_all(&vec![0; 1 << 22][..], 1).unwrap();
        assert!(unpack_to(&bomb, 1 << 20).unwrap_err().to_string().contains("more than"));
        assert_eq!(unpack_to(&bomb, 1 << 22).unwrap().len(), 1 << 22);
        // A frame that claims 2^56 bytes.
        assert!(unpack(&[0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 1, 0]).is_err());
    }
}
