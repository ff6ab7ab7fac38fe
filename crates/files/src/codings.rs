//! Content codings of HTTP (RFC 9110, section 8.4.1), undone as browsers do.
//!
//! Servers list codings that a body does not have, append bytes to it, or end it early. A body that does not begin as
//! its coding does is taken as it is; what follows the end of the coded data is left out; the checksum of gzip is not
//! compared.

use std::io::{self, Read};

use flate2::bufread::DeflateDecoder;

use crate::unpacked::{GZIP, ZSTD};

/// A coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950; old servers send RFC 1951.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The name in `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }
}

/// Codings of one body that are undone.
const MOST_CODINGS: usize = 4;

/// Members of a gzip stream. A server may send hundreds of thousands that are empty.
const MOST_MEMBERS: usize = 10_000;

/// Window of zstd in powers of two: 8 MB (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

/// The codings that `Content-Encoding` lines list, in the order in which they were applied. Names that are no coding of
/// ours, such as `identity`, are left out.
///
/// # Errors
///
/// The lines as text, if they list more codings than are undone.
pub fn codings<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<Coding>, String> {
    let names: Vec<&str> = lines.flat_map(|line| line.split(',')).collect();
    let coding = |name: &&str| {
        let name = name.split(';').next().unwrap_or_default().trim().trim_matches('"').to_ascii_lowercase();
        match name.as_str() {
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            "br" => Some(Coding::Brotli),
            "zstd" => Some(Coding::Zstd),
            _ => None,
        }
    };
    let found: Vec<Coding> = names.iter().filter_map(coding).collect();
    if found.len() > MOST_CODINGS { Err(names.join(",")) } else { Ok(found) }
}

/// The body without its codings, at most `most` bytes of it, and what is wrong with the rest.
pub fn decode(raw: &[u8], codings: &[Coding], most: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut layers = codings.iter().rev();
    let Some(outermost) = layers.next() else { return (raw[..raw.len().min(most)].to_vec(), None) };
    let (mut body, mut damage) = undo(raw, *outermost, most);
    for coding in layers {
        let (inner, error) = undo(&body, *coding, most);
        (body, damage) = (inner, damage.or(error));
    }
    (body, damage)
}

fn undo(raw: &[u8], coding: Coding, most: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut out = Vec::new();
    let limit = most as u64;
    let done = match coding {
        _ if raw.is_empty() => Ok(()),
        Coding::Gzip if raw.starts_with(GZIP) => gunzip(raw, most, &mut out),
        Coding::Zstd if raw.starts_with(ZSTD) => unzstd(raw, most, &mut out),
        Coding::Gzip | Coding::Zstd => return (raw[..raw.len().min(most)].to_vec(), None),
        Coding::Brotli => brotli::Decompressor::new(raw, 4096).take(limit).read_to_end(&mut out).map(drop),
        // The first byte of a zlib stream tells method and window.
        Coding::Deflate if raw[0] & 0x0f == 8 && raw[0] >> 4 <= 7 => {
            flate2::read::ZlibDecoder::new(raw).take(limit).read_to_end(&mut out).map(drop)
        }
        Coding::Deflate => flate2::read::DeflateDecoder::new(raw).take(limit).read_to_end(&mut out).map(drop),
    };
    (out, done.err())
}

fn gunzip(mut rest: &[u8], most: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let mut n_members = 0;
    while rest.starts_with(GZIP) && out.len() < most {
        n_members += 1;
        if n_members > MOST_MEMBERS {
            return Err(io::Error::other(format!("more than {MOST_MEMBERS} gzip members")));
        }
        let data = after_header(rest).ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut member = DeflateDecoder::new(data);
        (&mut member).take((most - out.len()) as u64).read_to_end(out)?;
        // Checksum and length.
        rest = data.get(member.total_in() as usize + 8..).unwrap_or_default();
    }
    Ok(())
}

fn unzstd(mut rest: &[u8], most: usize, out: &mut Vec<u8>) -> io::Result<()> {
    while rest.starts_with(ZSTD) && out.len() < most {
        let mut frame = zstd::stream::read::Decoder::with_buffer(rest)?.single_frame();
        frame.window_log_max(ZSTD_WINDOW)?;
        (&mut frame).take((most - out.len()) as u64).read_to_end(out)?;
        rest = frame.finish();
    }
    Ok(())
}

/// What follows the header of a gzip member (RFC 1952, section 2.3).
fn after_header(member: &[u8]) -> Option<&[u8]> {
    let flags = *member.get(3)?;
    let mut rest = member.get(10..)?;
    let text = |rest: &mut &[u8]| -> Option<()> {
        let end = memchr::memchr(0, rest)?;
        *rest = &rest[end + 1..];
        Some(())
    };
    if flags & 4 != 0 {
        let n = u16::from_le_bytes([*rest.first()?, *rest.get(1)?]);
        rest = rest.get(2 + usize::from(n)..)?;
    }
    if flags & 8 != 0 {
        text(&mut rest)?;
    }
    if flags & 16 != 0 {
        text(&mut rest)?;
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const PAGE: &[u8] = b"<p>Rye is a grass.</p>";

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut packed = flate2::GzBuilder::new()
            .filename("rye")
            .comment("grass")
            .extra(vec![1, 2, 3])
            .write(Vec::new(), flate2::Compression::fast());
        packed.write_all(body).unwrap();
        packed.finish().unwrap()
    }

    fn brotli(body: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        brotli::CompressorWriter::new(&mut packed, 4096, 5, 20).write_all(body).unwrap();
        packed
    }

    fn zlib(body: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(body).unwrap();
        packed.finish().unwrap()
    }

    fn decoded(lines: &[&str], raw: &[u8]) -> Vec<u8> {
        let (body, damage) = decode(raw, &codings(lines.iter().copied()).unwrap(), 1 << 20);
        assert!(damage.is_none(), "{lines:?}: {damage:?}");
        body
    }

    #[test]
    fn codings_are_undone_in_every_spelling_and_order() {
        let deflated = {
            let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(PAGE).unwrap();
            packed.finish().unwrap()
        };
        let frames = [zstd::encode_all(PAGE, 1).unwrap(), zstd::encode_all(PAGE, 1).unwrap()].concat();
        let cases: Vec<(&[&str], Vec<u8>, usize)> = vec![
            (&["gzip"], gzip(PAGE), 1),
            (&["GZIP "], [gzip(PAGE), gzip(b""), gzip(PAGE)].concat(), 2),
            (&["gzip;q=1.0"], gzip(PAGE), 1),
            (&["\"x-gzip\""], gzip(PAGE), 1),
            (&["gzip, br"], brotli(&gzip(PAGE)), 1),
            (&["gzip", "br"], brotli(&gzip(PAGE)), 1),
            (&["identity, gzip"], gzip(PAGE), 1),
            (&["gzip", "identity"], gzip(PAGE), 1),
            (&["aws-chunked,deflate"], zlib(PAGE), 1),
            (&["deflate"], deflated, 1),
            (&["gzip, gzip"], gzip(&gzip(PAGE)), 1),
            (&["zstd"], frames, 2),
            // Declared, but not so.
            (&["gzip, gzip"], gzip(PAGE), 1),
            (&["gzip"], PAGE.to_vec(), 1),
            (&["zstd"], PAGE.to_vec(), 1),
            (&["utf-8"], PAGE.to_vec(), 1),
            (&["gzip"], Vec::new(), 0),
            (&["br"], Vec::new(), 0),
        ];
        for (lines, raw, n) in cases {
            assert_eq!(decoded(lines, &raw), PAGE.repeat(n), "{lines:?}");
        }
        assert!(codings(["gzip, gzip", "gzip, gzip, br"].into_iter()).is_err());
    }

    #[test]
    fn what_follows_the_data_is_left_out_and_a_footer_may_be_missing() {
        for coding in ["gzip", "br", "zstd", "deflate"] {
            let packed = match coding {
                "gzip" => gzip(PAGE),
                "br" => brotli(PAGE),
                "zstd" => zstd::encode_all(PAGE, 1).unwrap(),
                _ => zlib(PAGE),
            };
            for tail in [&b"\n"[..], b"\0\0\0", b"<!-- served by 7 -->"] {
                assert_eq!(decoded(&[coding], &[&packed, tail].concat()), PAGE, "{coding} {tail:?}");
            }
        }
        let packed = gzip(PAGE);
        assert_eq!(decoded(&["gzip"], &packed[..packed.len() - 8]), PAGE);
        assert_eq!(decoded(&["gzip"], &[&packed[..packed.len() - 8], &[0; 8]].concat()), PAGE);
    }

    #[test]
    fn damage_is_said_and_bombs_are_bounded() {
        let long = gzip(&PAGE.repeat(1000));
        let (body, damage) = decode(&long[..long.len() / 2], &[Coding::Gzip], 1 << 20);
        assert!(damage.is_some() && !body.is_empty());
        assert_eq!(decode(&gzip(&vec![0; 1 << 22]), &[Coding::Gzip], 1000).0.len(), 1000);
        assert_eq!(decode(&gzip(&gzip(&vec![0; 1 << 22])), &[Coding::Gzip; 2], 10_000).0.len(), 10_000);
        let members = gzip(b"").repeat(MOST_MEMBERS + 1);
        assert!(decode(&members, &[Coding::Gzip], 1 << 20).1.unwrap().to_string().contains("members"));
        for garbage in [&b"\x1f\x8b"[..], b"\x1f\x8b\x08\xff\0\0\0\0\0\0\0", ZSTD] {
            for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
                decode(garbage, &[coding], 100);
            }
        }
    }
}
