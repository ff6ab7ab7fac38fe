//! The HTTP response in a record: head, chunked transfer coding, compression.

use std::io::Read;

/// Status and header lines of a response.
pub(super) struct Head {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    body: usize,
}

impl Head {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Parses the head of a response; `None` if the block is not one.
pub(super) fn parse_head(block: &[u8]) -> Option<Head> {
    let end = block.windows(4).position(|window| window == b"\r\n\r\n").map_or(block.len(), |at| at + 4);
    // Header values are Latin-1 by convention; those used here are ASCII.
    let text = String::from_utf8_lossy(&block[..end]);
    let mut lines = text.lines();
    let status = lines.next()?.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    Some(Head { status, headers: headers.collect(), body: end })
}

/// An HTTP response of an archive, unpacked.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
    /// `X-Robots-Tag` lines.
    pub(super) robots_tags: Vec<String>,
    /// Why the body ends early: its content coding is damaged. `body` is what could be decoded.
    pub(super) damage: Option<std::io::Error>,
}

/// The HTTP response in a block; `None` if the block is not one. At most `most` bytes of the body are decoded.
pub(super) fn decoded_body(block: &[u8], most: usize) -> Option<Response> {
    let head = parse_head(block)?;
    let raw = &block[head.body..];
    let unchunked;
    let raw = match head.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked"))
    {
        true => match unchunk(raw) {
            Some(body) => {
                unchunked = body;
                unchunked.as_slice()
            }
            // Many archives store a body without its chunks but keep the header.
            None => raw,
        },
        false => raw,
    };
    let encoding = head.header("content-encoding").unwrap_or_default().to_ascii_lowercase();
    let mut body = Vec::new();
    let limit = most as u64;
    let decoded = match encoding.trim() {
        "gzip" | "x-gzip" => flate2::read::MultiGzDecoder::new(raw).take(limit).read_to_end(&mut body),
        "deflate" if raw.first().is_some_and(|b| b & 0x0f == 8) => {
            flate2::read::ZlibDecoder::new(raw).take(limit).read_to_end(&mut body)
        }
        "deflate" => flate2::read::DeflateDecoder::new(raw).take(limit).read_to_end(&mut body),
        "br" => brotli::Decompressor::new(raw, 4096).take(limit).read_to_end(&mut body),
        "zstd" => zstd::stream::read::Decoder::new(raw).and_then(|d| d.take(limit).read_to_end(&mut body)),
        _ => raw.take(limit).read_to_end(&mut body),
    };
    let content_type = head.header("content-type").map(str::to_owned);
    let robots_tags = head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let robots_tags = robots_tags.map(|(_, value)| value.clone()).collect();
    Some(Response { status: head.status, content_type, body, robots_tags, damage: decoded.err() })
}

fn unchunk(mut raw: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(raw.len());
    loop {
        let end = raw.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&raw[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        raw = &raw[end + 2..];
        if size == 0 {
            return Some(out);
        }
        out.extend_from_slice(raw.get(..size)?);
        raw = raw.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_put_together_and_unpacked() {
        let answer = |headers: &str, body: &[u8]| {
            let mut block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n").into_bytes();
            block.extend(body);
            decoded_body(&block, 100).unwrap().body
        };
        assert_eq!(answer("", b"plain"), b"plain");
        let chunks = b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        assert_eq!(answer("Transfer-Encoding: chunked\r\n", chunks), b"abcde");
        assert_eq!(answer("Transfer-Encoding: chunked\r\n", b"not chunked"), b"not chunked");
        let packed = zstd::bulk::compress(&[b'x'; 1000], 3).unwrap();
        assert_eq!(answer("Content-Encoding: zstd\r\n", &packed).len(), 100);
        let cut = [b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n", &packed[..packed.len() - 1]].concat();
        assert!(decoded_body(&cut, 10_000).unwrap().damage.is_some());
        assert!(decoded_body(b"GET / HTTP/1.1\r\n\r\n", 9).is_none() && decoded_body(b"", 9).is_none());
    }
}
