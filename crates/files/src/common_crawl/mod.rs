//! Common Crawl as a source: finds the pages of a host in the index of a crawl, and fetches their records by range.
//!
//! The layout is the published one: `cc-index/collections/CRAWL/indexes/` with `cluster.idx` and the CDXJ index in
//! blocks of 3,000 lines, each a gzip member, and WARC files whose records can be read alone. It may lie on
//! Common Crawl's own server, on a mirror, in a bucket or in a folder.

mod capture;
mod cluster;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::{ObjectStoreExt, coalesce_ranges};
use tokio::sync::Semaphore;
use url::Url;

use crate::objects::{Object, wait};
use crate::unpacked::Stream;
pub use capture::Capture;
use capture::HostKeys;
use cluster::{Block, Cluster};

/// Blocks of the index that are read to choose pages of a host. A larger host is sampled at so many places.
const MOST_BLOCKS: usize = 8;

/// Packed bytes of a record above which it is no sample.
const MOST_SAMPLE_BYTES: u64 = 500_000;

/// Bytes between two records of a file up to which one request brings both.
const GAP: u64 = 64 << 10;

/// Records that are fetched before the first of them is given.
const WINDOW: usize = 64;

/// Unpacked bytes of a block, at most.
const MOST_BLOCK: u64 = 256 << 20;

/// A crawl.
#[derive(Debug)]
pub struct CommonCrawl {
    base: Object,
    indexes: Object,
    name: String,
    cluster: Cluster,
    /// Requests that run at the same time.
    requests: Arc<Semaphore>,
}

/// A capture with its record: a WARC record as one gzip member.
pub type Captured = (Capture, io::Result<Vec<u8>>);

impl CommonCrawl {
    /// Opens a crawl such as `CC-MAIN-2026-40`. `base` is an address of HTTP or of an object store, or a folder.
    ///
    /// # Errors
    ///
    /// When there is no such crawl, or its server does not answer.
    pub fn open(base: &str, name: &str, user_agent: &str, connections: usize) -> io::Result<CommonCrawl> {
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric())
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        {
            return Err(wrong(format!("{name:?} is no name of a crawl, such as CC-MAIN-2026-40")));
        }
        let address = if base.contains("://") {
            base.to_owned()
        } else {
            let folder = std::path::absolute(Path::new(base))?;
            Url::from_directory_path(&folder).map_err(|()| wrong(format!("{base}: no folder")))?.into()
        };
        let base = Object::parse_as(&address, Some(user_agent))?;
        let indexes = base.child(&format!("cc-index/collections/{name}/indexes"));
        let cluster = Cluster::open(indexes.child("cluster.idx")).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                io::ErrorKind::NotFound,
                format!(
                    "there is no crawl {name} at {address}: it has no {}",
                    indexes.child("cluster.idx").name_below(&base)
                ),
            ),
            kind => io::Error::new(kind, format!("{address}: {error}")),
        })?;
        Ok(CommonCrawl {
            base,
            indexes,
            name: name.to_owned(),
            cluster,
            requests: Arc::new(Semaphore::new(connections.max(1))),
        })
    }

    /// The addresses of all WARC files of the crawl, in its own order.
    ///
    /// # Errors
    ///
    /// When their list cannot be read.
    pub fn archives(&self) -> io::Result<Vec<String>> {
        let list = self.base.child(&format!("crawl-data/{}/warc.paths.gz", self.name));
        let lines = BufReader::new(flate2::read::MultiGzDecoder::new(list.open()?)).lines();
        let address = |line: io::Result<String>| Ok(self.base.child(line?.trim()).address());
        lines.filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty())).map(address).collect()
    }

    /// The captures of a host from which the few pages are chosen that its template is learned from: those that may be
    /// pages, with or without `www.` as most of them are. Of a large host, a part from all places of the index.
    ///
    /// # Errors
    ///
    /// When the index cannot be read.
    pub fn candidates(&self, host: &str) -> io::Result<Vec<Capture>> {
        let keys = keys_of(host)?;
        let blocks = self.cluster.blocks(&keys.low, &keys.high)?;
        let mut captures = Vec::new();
        for block in spread(&blocks) {
            captures.extend(self.captures(block, &keys)?);
        }
        captures.retain(|capture| {
            capture.left_out().is_none() && capture.range.end - capture.range.start < MOST_SAMPLE_BYTES
        });
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        captures.iter().for_each(|capture| *counts.entry(capture.url.authority()).or_default() += 1);
        let usual = counts.into_iter().max_by_key(|(_, n)| *n).map(|(authority, _)| authority);
        captures.retain(|capture| usual.as_ref().is_some_and(|usual| *usual == capture.url.authority()));
        Ok(captures)
    }

    /// All captures of a host in the order of the index, with the records of those that may be pages. An error of the
    /// index ends the iteration.
    ///
    /// # Errors
    ///
    /// When the index cannot be searched.
    pub fn all(self: Arc<Self>, host: &str) -> io::Result<impl Iterator<Item = io::Result<Captured>> + use<>> {
        let keys = keys_of(host)?;
        let blocks = self.cluster.blocks(&keys.low, &keys.high)?;
        let of_block = {
            let crawl = Arc::clone(&self);
            move |block: Block| -> Box<dyn Iterator<Item = io::Result<Vec<Capture>>>> {
                match crawl.captures(&block, &keys) {
                    Ok(captures) => Box::new(windows(captures).map(Ok)),
                    Err(error) => Box::new(std::iter::once(Err(error))),
                }
            }
        };
        let mut has_failed = false;
        let windows = blocks
            .into_iter()
            .flat_map(of_block)
            .take_while(move |window| !std::mem::replace(&mut has_failed, window.is_err()));
        Ok(windows.flat_map(move |window| -> Vec<io::Result<Captured>> {
            match window {
                Ok(window) => {
                    let records = self.records(&window);
                    window.into_iter().zip(records).map(Ok).collect()
                }
                Err(error) => vec![Err(error)],
            }
        }))
    }

    /// The captures of a host in a block. Lines that cannot be read are counted in the log.
    fn captures(&self, block: &Block, keys: &HostKeys) -> io::Result<Vec<Capture>> {
        let about = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", block.file));
        let packed = self.read(&self.indexes.child(&block.file), block.range.clone()).map_err(about)?;
        let mut lines = Vec::new();
        flate2::read::MultiGzDecoder::new(&*packed).take(MOST_BLOCK).read_to_end(&mut lines).map_err(about)?;
        let (mut captures, mut n_broken) = (Vec::new(), 0_usize);
        for line in lines.split(|byte| *byte == b'\n').filter(|line| keys.holds(line)) {
            match Capture::parse(&String::from_utf8_lossy(line)) {
                Some(capture) if keys.is_of(&capture.url) => captures.push(capture),
                Some(_) => {}
                None => n_broken += 1,
            }
        }
        if n_broken > 0 {
            tracing::warn!("{}: {n_broken} lines of the index cannot be read", block.file);
        }
        Ok(captures)
    }

    fn read(&self, object: &Object, range: Range<u64>) -> io::Result<Bytes> {
        wait(async {
            let _turn = self.requests.acquire().await;
            object.store.get_range(&object.key, range).await
        })
    }

    /// The records of these captures, each in its place. Nothing is asked for where the index says that there is no
    /// page. Records that are close to each other come with one request. A record that cannot be had is an error in its
    /// place.
    pub fn records(&self, captures: &[Capture]) -> Vec<io::Result<Vec<u8>>> {
        let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, capture) in captures.iter().enumerate().filter(|(_, capture)| capture.left_out().is_none()) {
            files.entry(&capture.file).or_default().push(at);
        }
        let mut records: Vec<io::Result<Vec<u8>>> = captures.iter().map(|_| Ok(Vec::new())).collect();
        let of_file = |(file, places): (&str, Vec<usize>)| {
            let object = self.base.child(file);
            async move {
                let ranges: Vec<Range<u64>> = places.iter().map(|at| captures[*at].range.clone()).collect();
                let fetch = |range| {
                    let object = &object;
                    async move {
                        let _turn = self.requests.acquire().await;
                        object.store.get_range(&object.key, range).await
                    }
                };
                let found = coalesce_ranges(&ranges, fetch, GAP).await;
                (places, found)
            }
        };
        let requests: Vec<_> = files.into_iter().map(of_file).collect();
        let found =
            wait(async { Ok(futures_util::stream::iter(requests).buffer_unordered(WINDOW).collect::<Vec<_>>().await) });
        for (places, found) in found.into_iter().flatten() {
            match found {
                Ok(found) => places.into_iter().zip(found).for_each(|(at, record)| records[at] = Ok(record.into())),
                Err(error) => {
                    let error = crate::objects::failed(&error);
                    places.into_iter().for_each(|at| {
                        records[at] = Err(io::Error::new(error.kind(), format!("{}: {error}", captures[at].file)));
                    });
                }
            }
        }
        records
    }
}

/// The bytes of a record as a stream.
pub fn stream_of(record: Vec<u8>) -> Stream {
    Box::new(io::Cursor::new(record))
}

fn keys_of(host: &str) -> io::Result<HostKeys> {
    HostKeys::new(host).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("{host:?} is no host")))
}

/// At most [`MOST_BLOCKS`] of these, at even distances.
fn spread(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    let n = blocks.len().min(MOST_BLOCKS);
    (0..n).map(move |at| &blocks[at * blocks.len() / n])
}

/// Captures in groups whose records are fetched together.
fn windows(captures: Vec<Capture>) -> impl Iterator<Item = Vec<Capture>> {
    let mut captures = captures.into_iter();
    std::iter::from_fn(move || {
        let window: Vec<Capture> = captures.by_ref().take(WINDOW).collect();
        (!window.is_empty()).then_some(window)
    })
}
