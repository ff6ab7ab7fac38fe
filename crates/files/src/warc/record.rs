//! A WARC record: header lines and block, written as one gzip member.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use dehusk_core::calendar::iso_8601;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Types of the records written here (WARC/1.1, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// Describes the file and its software.
    Warcinfo,
    /// A request as sent.
    Request,
    /// A complete response.
    Response,
    /// A response with the same payload as an earlier record.
    Revisit,
    /// Further data about an exchange.
    Metadata,
    /// A page in another form: its text.
    Conversion,
    /// A page without the exchange that brought it.
    Resource,
}

impl RecordKind {
    /// The word in `WARC-Type`.
    pub fn name(self) -> &'static str {
        match self {
            RecordKind::Warcinfo => "warcinfo",
            RecordKind::Request => "request",
            RecordKind::Response => "response",
            RecordKind::Revisit => "revisit",
            RecordKind::Metadata => "metadata",
            RecordKind::Conversion => "conversion",
            RecordKind::Resource => "resource",
        }
    }
}

/// A record to be written.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its type.
    pub kind: RecordKind,
    /// `WARC-Record-ID`, with its angle brackets.
    pub id: String,
    /// `WARC-Target-URI`; empty for a `warcinfo`.
    pub uri: String,
    /// Unix milliseconds.
    pub at: i64,
    /// `Content-Type` of the block.
    pub content_type: Cow<'static, str>,
    /// Additional header lines.
    pub headers: Vec<(&'static str, String)>,
    /// The block.
    pub block: Vec<u8>,
}

impl Record {
    /// A record with a new id.
    pub fn new(kind: RecordKind, uri: &str, at: i64, content_type: &'static str, block: Vec<u8>) -> Record {
        Record {
            kind,
            id: new_id(),
            uri: uri.to_owned(),
            at,
            content_type: content_type.into(),
            headers: Vec::new(),
            block,
        }
    }

    /// Adds a header line.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Record {
        // A value from a server must not start a new header line.
        self.headers.push((name, value.into().replace(['\r', '\n'], " ")));
        self
    }

    /// The same record with this id.
    #[must_use]
    pub fn with_id(self, id: String) -> Record {
        Record { id, ..self }
    }

    /// The same record with an id that depends on these bytes only.
    #[must_use]
    pub fn with_id_of(self, bytes: &[u8]) -> Record {
        Record { id: uuid(xxh3_128_with_seed(bytes, 0)), ..self }
    }

    /// Writes the record as one gzip member.
    pub fn pack(&self) -> std::io::Result<Vec<u8>> {
        let mut head = format!("WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: {}\r\n", self.kind.name(), self.id);
        head += &format!("WARC-Date: {}\r\n", iso_8601(self.at));
        if !self.uri.is_empty() {
            // A line break would begin another header.
            let uri = self.uri.replace(['\r', '\n'], "");
            head += &format!("WARC-Target-URI: {uri}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("WARC-Block-Digest: {}\r\n", payload_digest(&self.block));
        head += &format!("Content-Type: {}\r\nContent-Length: {}\r\n\r\n", self.content_type, self.block.len());
        let mut gzip = GzEncoder::new(Vec::with_capacity(self.block.len() / 3 + 512), Compression::new(5));
        gzip.write_all(head.as_bytes())?;
        gzip.write_all(&self.block)?;
        gzip.write_all(b"\r\n\r\n")?;
        gzip.finish()
    }
}

/// `sha1:` and the digest in base 32, the usual form in WARC files.
pub fn payload_digest(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::from("sha1:");
    // 160 bits are exactly 32 digits of five bits.
    for five in Sha1::digest(bytes).chunks(5) {
        let bits = five.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        out.extend((0..8).rev().map(|at| char::from(DIGITS[(bits >> (5 * at) & 31) as usize])));
    }
    out
}

/// A new version 4 UUID as a URN in angle brackets.
pub fn new_id() -> String {
    static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let stirred =
        [count.to_le_bytes(), (since.as_nanos() as u64).to_le_bytes(), u64::from(std::process::id()).to_le_bytes()];
    uuid(xxh3_128_with_seed(&stirred.concat(), *SEED))
}

fn uuid(mut id: u128) -> String {
    id = id & !(0xf << 76) | 4 << 76;
    id = id & !(0b11 << 62) | 0b10 << 62;
    let hex = format!("{id:032x}");
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_and_ids_have_their_forms() {
        assert_eq!(payload_digest(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(payload_digest(b"abc"), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
        let (a, b) = (new_id(), new_id());
        assert!(a != b && a.len() == 47 && &a[24..25] == "4", "{a}");
    }
}
