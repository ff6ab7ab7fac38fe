//! The secondary index `cluster.idx`: one line for each block of the index, sorted by the first key of the block.
//!
//! It has more than 100 MB for a crawl of three billion pages. A host is looked up by binary search with range reads;
//! what was read is kept for the hosts that come next.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use crate::objects::Object;

/// Bytes that are read at a time.
const PIECE: u64 = 1 << 16;

/// Pieces that are kept. When there are more, all are dropped.
const MOST_KEPT: usize = 512;

/// Where the lines of a block are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// File beside the secondary index.
    pub(super) file: String,
    pub(super) range: Range<u64>,
}

/// A secondary index that is searched where it lies.
#[derive(Debug)]
pub(super) struct Cluster {
    object: Object,
    size: u64,
    /// The file of blocks whose lines name none.
    only_file: Option<String>,
    /// Each with the bytes of the next one, up to the end of its last line.
    kept: Mutex<HashMap<u64, Arc<[u8]>>>,
}

/// A line in the form that Common Crawl's own files do not have, but those of `cdxj-indexer` do.
#[derive(Deserialize)]
struct JsonFields {
    offset: u64,
    length: u64,
    filename: Option<String>,
}

/// The first line of such a file.
#[derive(Deserialize)]
struct Meta {
    filename: Option<String>,
}

impl Cluster {
    pub(super) fn open(object: Object) -> io::Result<Cluster> {
        let size = object.size()?;
        let mut cluster = Cluster { object, size, only_file: None, kept: Mutex::default() };
        if size > 0 {
            let first = cluster.piece(0)?;
            let first = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
            if let Some(meta) = first.strip_prefix(b"!meta ") {
                let meta = meta.iter().position(|byte| *byte == b'{').map_or(meta, |at| &meta[at..]);
                cluster.only_file = serde_json::from_slice::<Meta>(meta).ok().and_then(|meta| meta.filename);
            }
        }
        Ok(cluster)
    }

    /// The blocks that may have keys from `low` on and below `high`.
    pub(super) fn blocks(&self, low: &[u8], high: &[u8]) -> io::Result<Vec<Block>> {
        let n_pieces = self.size.div_ceil(PIECE);
        // The last piece whose first line is below: before it there is nothing of the range.
        let (mut below, mut above) = (0, n_pieces);
        while above.saturating_sub(below) > 1 {
            let middle = below.midpoint(above);
            if self.lines(middle)?.next_line().is_some_and(|line| line >= low) {
                above = middle;
            } else {
                below = middle;
            }
        }
        let mut before = None;
        let mut blocks = Vec::new();
        for piece in below..n_pieces {
            let mut lines = self.lines(piece)?;
            while let Some(line) = lines.next_line() {
                if line.starts_with(b"!") {
                    continue;
                }
                if line >= high {
                    blocks.splice(0..0, before);
                    return Ok(blocks);
                }
                let block = self.block(line)?;
                if line < low {
                    // Its last keys may be in the range.
                    before = Some(block);
                } else {
                    blocks.push(block);
                }
            }
        }
        blocks.splice(0..0, before);
        Ok(blocks)
    }

    /// Reads a line: key, time and tab-separated fields, or JSON.
    fn block(&self, line: &[u8]) -> io::Result<Block> {
        let line = String::from_utf8_lossy(line);
        let fields: Vec<&str> = line.split('\t').collect();
        let block =
            match fields.as_slice() {
                [_, file, offset, length, ..] => {
                    offset.parse().ok().zip(length.parse().ok()).map(|(at, n)| ((*file).to_owned(), at, n))
                }
                _ => line.find('{').and_then(|at| serde_json::from_str::<JsonFields>(&line[at..]).ok()).and_then(
                    |fields| Some((fields.filename.or_else(|| self.only_file.clone())?, fields.offset, fields.length)),
                ),
            };
        let (file, at, n) = block.ok_or_else(|| {
            let shown: String = line.chars().take(80).collect();
            io::Error::new(io::ErrorKind::InvalidData, format!("cluster.idx: `{shown}` is no line of an index"))
        })?;
        Ok(Block { file, range: at..at.saturating_add(n) })
    }

    /// The lines that begin in a piece.
    fn lines(&self, number: u64) -> io::Result<Lines> {
        let bytes = self.piece(number)?;
        // The rest of a line that begins in the piece before is passed over.
        let at = if number == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1) };
        Ok(Lines { bytes, at })
    }

    /// The bytes of a piece, from the one before it on, with all of the last line that begins in it.
    fn piece(&self, number: u64) -> io::Result<Arc<[u8]>> {
        if let Some(known) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&number) {
            return Ok(Arc::clone(known));
        }
        // A line that begins at the start of the piece is told by the line break before it.
        let begin = (number * PIECE).saturating_sub(1);
        let own = ((number + 1) * PIECE).min(self.size);
        let mut bytes = self.object.read_range(begin..own)?;
        let mut end = own;
        // A line break at the very end closes the last line: the next one is of the next piece.
        while end < self.size && bytes.last() != Some(&b'\n') {
            let more = self.object.read_range(end..(end + PIECE / 16).min(self.size))?;
            let n = memchr::memchr(b'\n', &more).map_or(more.len(), |at| at + 1);
            bytes.extend_from_slice(&more[..n]);
            end += n as u64;
        }
        let bytes: Arc<[u8]> = bytes.into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        Ok(Arc::clone(kept.entry(number).or_insert(bytes)))
    }
}

struct Lines {
    bytes: Arc<[u8]>,
    at: usize,
}

impl Lines {
    fn next_line(&mut self) -> Option<&[u8]> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        if rest.is_empty() {
            return None;
        }
        let n = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.at += n + 1;
        Some(&rest[..n])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_every_range_are_found_in_both_forms() {
        let dir = tempfile::tempdir().unwrap();
        // Keys of many lengths: lines begin and end at all places of a piece.
        let keys: Vec<String> =
            (0..6000).map(|n| format!("com,site{n:05})/{} 20260101000000", "x".repeat(n * 7 % 61))).collect();
        let tabs = |(n, key): (usize, &String)| format!("{key}\tcdx-{:05}.gz\t{}\t100\t{n}\n", n / 100, n * 100);
        let json = |(n, key): (usize, &String)| format!("{key} {{\"offset\": {}, \"length\": 100}}\n", n * 100);
        let plain: String = keys.iter().enumerate().map(tabs).collect();
        let meta = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"all.gz\"}\n";
        let of_indexer: String = std::iter::once(meta.to_owned()).chain(keys.iter().enumerate().map(json)).collect();
        for (name, text) in [("tabs", &plain), ("json", &of_indexer)] {
            std::fs::write(dir.path().join(name), text).unwrap();
            let object = Object::parse(&format!("file://{}/{name}", dir.path().display())).unwrap();
            let cluster = Cluster::open(object).unwrap();
            assert!(cluster.size > 4 * PIECE);
            for at in (0..6000).step_by(37).chain([5999]) {
                let found = cluster.blocks(keys[at].as_bytes(), format!("com,site{at:05}*").as_bytes()).unwrap();
                let offsets: Vec<u64> = found.iter().map(|block| block.range.start / 100).collect();
                let want: Vec<u64> = (at.saturating_sub(1)..=at).map(|n| n as u64).collect();
                assert_eq!(offsets, want, "{name} {at}");
                assert_eq!(found[0].range.end - found[0].range.start, 100);
            }
            assert_eq!(cluster.blocks(b"a", b"b").unwrap(), []);
            let last = cluster.blocks(b"com,z)", b"com,z*").unwrap();
            assert_eq!((last.len(), last[0].range.start), (1, 599_900));
            assert_eq!(cluster.blocks(b"com,", b"com-").unwrap().len(), 6000);
        }
    }
}
