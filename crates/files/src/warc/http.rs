//! The HTTP response in a record: head, chunked transfer coding, compression.

use crate::codings::{codings, decode};
use dehusk_core::rights::RightsHeaders;

/// Status and header lines of a response.
pub(super) struct Head {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    body: usize,
}

impl Head {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.lines(name).next()
    }

    fn lines(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Parses the head of a response; `None` if the block is not one.
pub(super) fn parse_head(block: &[u8]) -> Option<Head> {
    // Some servers end lines with a line feed only, and archives keep what was sent.
    let end = |blank: &[u8]| memchr::memmem::find(block, blank).map(|at| at + blank.len());
    let ends = [end(b"\r\n\r\n"), end(b"\n\n"), end(b"\n\r\n")];
    let end = ends.into_iter().flatten().min().unwrap_or(block.len());
    // Header values are Latin-1 by convention; those used here are ASCII.
    let text = String::from_utf8_lossy(&block[..end]);
    let mut lines = text.lines();
    let status = lines.next().filter(|line| line.starts_with("HTTP/") || line.starts_with("ICY "))?;
    let status = status.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    Some(Head { status, headers: headers.collect(), body: end })
}

/// An HTTP response of an archive, unpacked.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
    /// Headers in which the owner says what the page may be used for.
    pub(super) rights: RightsHeaders,
    /// Why the body ends early: its content coding is damaged. `body` is what could be decoded.
    pub(super) damage: Option<std::io::Error>,
}

/// The HTTP response in a block; `None` if the block is not one. At most `most` bytes of the body are decoded.
pub(super) fn decoded_body(block: &[u8], most: usize) -> Option<Response> {
    let head = parse_head(block)?;
    let raw = &block[head.body..];
    let unchunked;
    let raw = if head.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked")) {
        match unchunk(raw) {
            Some(body) => {
                unchunked = body;
                unchunked.as_slice()
            }
            // Many archives store a body without its chunks but keep the header.
            None => raw,
        }
    } else {
        raw
    };
    let (body, damage) = match codings(head.lines("content-encoding")) {
        Ok(codings) => match decode(raw, &codings, most) {
            // Many archives store a decoded body but keep the header.
            (body, Some(_)) if body.is_empty() && raw.trim_ascii_start().starts_with(b"<") => (cut(raw, most), None),
            decoded => decoded,
        },
        Err(listed) => (Vec::new(), Some(std::io::Error::other(format!("too many content codings: {listed}")))),
    };
    let content_type = head.lines("content-type").collect::<Vec<_>>().join(", ");
    let content_type = (!content_type.is_empty()).then_some(content_type);
    let rights = RightsHeaders::new(|name| head.lines(name).map(str::to_owned).collect::<Vec<_>>());
    Some(Response { status: head.status, content_type, body, rights, damage })
}

fn cut(bytes: &[u8], most: usize) -> Vec<u8> {
    bytes[..bytes.len().min(most)].to_vec()
}

/// The body without its chunk sizes, also where its end is missing; `None` if it has none.
fn unchunk(mut raw: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(raw.len());
    loop {
        let Some((size, rest)) = chunk(raw) else { return (!out.is_empty()).then_some(out) };
        if size == 0 {
            return Some(out);
        }
        out.extend_from_slice(&rest[..size.min(rest.len())]);
        let Some(next) = rest.get(size..).and_then(|rest| rest.strip_prefix(b"\r\n")) else {
            return (out.len() > size || rest.len() < size).then_some(out);
        };
        raw = next;
    }
}

/// The size of the next chunk, and what follows.
fn chunk(raw: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr::memmem::find(raw, b"\r\n")?;
    let size = std::str::from_utf8(&raw[..end]).ok()?.split(';').next()?.trim();
    Some((usize::from_str_radix(size, 16).ok()?, &raw[end + 2..]))
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
        assert_eq!(
            answer("Transfer-Encoding: chunked\r\n", b"a\r\nnot a chunk: it is longer"),
            b"a\r\nnot a chunk: it is longer"
        );
        assert_eq!(answer("Transfer-Encoding: chunked\r\n", &chunks[..14]), b"abc");
        assert_eq!(answer("Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n9\r\nde"), b"abcde");
        let packed = zstd::bulk::compress(&[b'x'; 1000], 3).unwrap();
        assert_eq!(answer("Content-Encoding: zstd\r\n", &packed).len(), 100);
        let cut = [b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n", &packed[..packed.len() - 1]].concat();
        assert!(decoded_body(&cut, 10_000).unwrap().damage.is_some());
        let mixed = decoded_body(b"HTTP/1.1 200 OK\nContent-Type: text/html\n\r\n<p>a", 100).unwrap();
        assert_eq!(mixed.body, b"<p>a");
        let of_lines = decoded_body(b"ICY 200 OK\nContent-Type: text/html\n\n<p>a\r\n\r\nb", 100).unwrap();
        assert_eq!((of_lines.status, of_lines.body), (200, b"<p>a\r\n\r\nb".to_vec()));
        assert!(decoded_body(b"GET / HTTP/1.1\r\n\r\n", 9).is_none() && decoded_body(b"", 9).is_none());
    }
}
