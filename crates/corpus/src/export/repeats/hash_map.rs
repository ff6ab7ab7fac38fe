//! A map on disk from hashes to the least number that was put for each, with little memory.
//!
//! New entries are in memory. When there are many, they are written as a sorted file, and files of one size are merged
//! into one of the next. Hashes are spread evenly, so a file is searched by one block, which an index in memory (8
//! bytes for each 4 KB) finds. A filter of fixed size spares most searches for hashes that are new.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use dehusk_files::on_disk::{read_exact_at, sync_folder};

/// Entries in memory: 34 MB of table.
const MOST_IN_MEMORY: usize = 1 << 20;

/// Files of one size that are merged into one of the next.
const FAN: usize = 4;

/// Bytes of an entry: hash and number, least significant byte first.
const ENTRY: usize = 16;

/// Entries of a block.
const BLOCK: usize = 256;

/// Bits of the filter: 32 MB.
const FILTER_BITS: u64 = 1 << 28;

/// The map.
pub(super) struct HashMapOnDisk {
    dir: PathBuf,
    memory: FxHashMap<u64, u64>,
    /// Oldest first.
    files: Vec<Sorted>,
    filter: Filter,
    next: u64,
}

impl HashMapOnDisk {
    /// Opens the map of a folder, or makes it.
    pub(super) fn open(dir: &Path) -> io::Result<HashMapOnDisk> {
        fs::create_dir_all(dir)?;
        let mut numbers = Vec::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            match path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".sorted")) {
                Some(number) => numbers.push(number.parse::<u64>().map_err(io::Error::other)?),
                None => fs::remove_file(path)?,
            }
        }
        numbers.sort_unstable();
        let mut filter = Filter::new();
        let open = |number: &u64| Sorted::open(dir.join(name_of(*number)), &mut filter);
        let files = numbers.iter().map(open).collect::<io::Result<_>>()?;
        let next = numbers.last().map_or(0, |last| last + 1);
        Ok(HashMapOnDisk { dir: dir.to_owned(), memory: FxHashMap::default(), files, filter, next })
    }

    /// The least number of a hash.
    pub(super) fn find(&self, hash: u64) -> io::Result<Option<u64>> {
        if !self.filter.may_have(hash) {
            return Ok(None);
        }
        let mut least = self.memory.get(&hash).copied();
        for file in &self.files {
            if let Some(found) = file.find(hash)? {
                least = Some(least.map_or(found, |least| least.min(found)));
            }
        }
        Ok(least)
    }

    /// Puts a number for a hash.
    pub(super) fn put(&mut self, hash: u64, number: u64) -> io::Result<()> {
        self.filter.add(hash);
        self.memory.entry(hash).and_modify(|known| *known = number.min(*known)).or_insert(number);
        if self.memory.len() >= MOST_IN_MEMORY { self.flush() } else { Ok(()) }
    }

    /// Writes all that is in memory to the disk.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.memory.is_empty() {
            return Ok(());
        }
        let mut entries: Vec<(u64, u64)> = self.memory.drain().collect();
        entries.sort_unstable();
        self.write(&mut entries.into_iter().map(Ok), 0)?;
        // Older files are of the same tier or of a higher one.
        while let Some(first) = self.files.len().checked_sub(FAN)
            && self.files[first..].iter().all(|file| tier(file.n) == tier(self.files[first].n))
        {
            self.merge(first)?;
        }
        Ok(())
    }

    fn merge(&mut self, first: usize) -> io::Result<()> {
        let old = self.files.split_off(first);
        let mut readers = old.iter().map(Sorted::entries).collect::<io::Result<Vec<_>>>()?;
        let mut heads = readers.iter_mut().map(|reader| reader.next().transpose()).collect::<io::Result<Vec<_>>>()?;
        let mut merged = std::iter::from_fn(|| {
            let hash = heads.iter().flatten().map(|(hash, _)| *hash).min()?;
            let mut least = u64::MAX;
            for (head, reader) in heads.iter_mut().zip(&mut readers) {
                while let Some((_, number)) = head.filter(|(of, _)| *of == hash) {
                    least = least.min(number);
                    match reader.next().transpose() {
                        Ok(next) => *head = next,
                        Err(e) => return Some(Err(e)),
                    }
                }
            }
            Some(Ok((hash, least)))
        });
        self.write(&mut merged, old.iter().map(|file| file.n).sum())?;
        old.into_iter().try_for_each(|file| fs::remove_file(file.path))
    }

    /// Writes sorted entries as the newest file.
    fn write(&mut self, entries: &mut dyn Iterator<Item = io::Result<(u64, u64)>>, about: usize) -> io::Result<()> {
        let path = self.dir.join(name_of(self.next));
        let part = path.with_extension("part");
        let mut out = BufWriter::with_capacity(1 << 16, File::create(&part)?);
        let (mut firsts, mut n) = (Vec::with_capacity(about.div_ceil(BLOCK)), 0);
        for entry in entries {
            let (hash, number) = entry?;
            if n % BLOCK == 0 {
                firsts.push(hash);
            }
            n += 1;
            out.write_all(&hash.to_le_bytes())?;
            out.write_all(&number.to_le_bytes())?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&part, &path)?;
        // The name is on the disk when the folder is.
        sync_folder(&self.dir)?;
        self.files.push(Sorted { file: File::open(&path)?, path, firsts, n });
        self.next += 1;
        Ok(())
    }
}

/// Files of one tier are merged: up to [`FAN`] times what memory holds, up to [`FAN`] times that, and so on.
fn tier(n: usize) -> u32 {
    (n / MOST_IN_MEMORY).checked_ilog(FAN).unwrap_or(0)
}

fn name_of(number: u64) -> String {
    format!("{number:08}.sorted")
}

/// A file of entries, sorted by hash.
struct Sorted {
    path: PathBuf,
    file: File,
    /// The first hash of each block.
    firsts: Vec<u64>,
    n: usize,
}

impl Sorted {
    fn open(path: PathBuf, filter: &mut Filter) -> io::Result<Sorted> {
        let file = File::open(&path)?;
        let mut sorted = Sorted { path, file, firsts: Vec::new(), n: 0 };
        for entry in sorted.entries()? {
            let (hash, _) = entry?;
            filter.add(hash);
            if sorted.n.is_multiple_of(BLOCK) {
                sorted.firsts.push(hash);
            }
            sorted.n += 1;
        }
        Ok(sorted)
    }

    fn entries(&self) -> io::Result<Entries> {
        Ok(Entries(BufReader::with_capacity(1 << 16, File::open(&self.path)?)))
    }

    fn find(&self, hash: u64) -> io::Result<Option<u64>> {
        let Some(block) = self.firsts.partition_point(|first| *first <= hash).checked_sub(1) else { return Ok(None) };
        let mut bytes = [0; BLOCK * ENTRY];
        let n = BLOCK.min(self.n - block * BLOCK);
        let bytes = &mut bytes[..n * ENTRY];
        read_exact_at(&self.file, bytes, (block * BLOCK * ENTRY) as u64)?;
        let (entries, _) = bytes.as_chunks::<ENTRY>();
        Ok(entries.binary_search_by_key(&hash, |entry| split(entry).0).ok().map(|at| split(&entries[at]).1))
    }
}

fn split(entry: &[u8; ENTRY]) -> (u64, u64) {
    let both = u128::from_le_bytes(*entry);
    (both as u64, (both >> 64) as u64)
}

/// The entries of a file, in order.
struct Entries(BufReader<File>);

impl Iterator for Entries {
    type Item = io::Result<(u64, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut entry = [0; ENTRY];
        match self.0.read_exact(&mut entry) {
            Ok(()) => Some(Ok(split(&entry))),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(e) => Some(Err(e)),
        }
    }
}

/// A Bloom filter with two bits for each hash.
struct Filter(Vec<u64>);

impl Filter {
    fn new() -> Filter {
        Filter(vec![0; (FILTER_BITS / 64) as usize])
    }

    fn places(hash: u64) -> [(usize, u64); 2] {
        [hash, hash.rotate_left(29).wrapping_mul(0x9e37_79b9_7f4a_7c15)].map(|hash| {
            let bit = hash % FILTER_BITS;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn add(&mut self, hash: u64) {
        Filter::places(hash).into_iter().for_each(|(word, bit)| self.0[word] |= bit);
    }

    fn may_have(&self, hash: u64) -> bool {
        Filter::places(hash).into_iter().all(|(word, bit)| self.0[word] & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn hash(n: u64) -> u64 {
        xxh3_64(&n.to_le_bytes())
    }

    #[test]
    fn the_least_number_of_each_hash_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut map = HashMapOnDisk::open(dir.path()).unwrap();
        for round in (0..30_u64).rev() {
            for n in 0..500 {
                map.put(hash(n * (round + 1)), round).unwrap();
            }
            map.flush().unwrap();
        }
        assert!(map.files.len() < 2 * FAN, "{}", map.files.len());
        let least = |n: u64| (0..30).find(|round| n.is_multiple_of(round + 1) && n / (round + 1) < 500);
        // What was not written before a kill is not there, and what was is whole.
        map.put(hash(1_000_000), 1).unwrap();
        drop(map);
        fs::write(dir.path().join("x.part"), b"cut").unwrap();
        let map = HashMapOnDisk::open(dir.path()).unwrap();
        for n in 0..20_000 {
            assert_eq!(map.find(hash(n)).unwrap(), least(n), "{n}");
        }
        assert_eq!(map.find(hash(1_000_000)).unwrap(), None);
        assert!(!dir.path().join("x.part").exists());
    }

    #[test]
    fn the_least_and_the_greatest_hash_have_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let mut map = HashMapOnDisk::open(dir.path()).unwrap();
        for (number, hash) in [0, 1, u64::MAX].into_iter().enumerate() {
            map.put(hash, number as u64).unwrap();
        }
        map.flush().unwrap();
        assert_eq!([0, 1, u64::MAX, 7].map(|hash| map.find(hash).unwrap()), [Some(0), Some(1), Some(2), None]);
    }
}
