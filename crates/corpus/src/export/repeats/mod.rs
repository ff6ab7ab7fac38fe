//! Which pages, and which paragraphs, an earlier page of the export has already.
//!
//! Pages have numbers that rise in the order of the export. What is remembered of a page counts only for later ones, so
//! that an export that goes on after a kill finds what an uninterrupted one would have found.

mod hash_map;
mod near;

use std::io;
use std::path::Path;

use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use dehusk_core::corpus::Record;
use dehusk_settings::MinHash;
use hash_map::HashMapOnDisk;
pub use near::bands;

/// What hashes are of: each has its own seed.
const OF_TEXT: u64 = 1;
const OF_BAND: u64 = 2;
const OF_PARAGRAPH: u64 = 3;
const OF_PARAGRAPH_IN_SITE: u64 = 4;

/// What a page is compared by.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprint {
    /// Digest of the words of its text.
    pub(super) text: u64,
    /// Bands of its MinHash; empty: near-duplicates are not looked for, or its text is too short.
    pub(super) bands: Vec<u64>,
}

impl Fingerprint {
    /// What a row is compared by; with MinHash also what is nearly the same.
    pub(super) fn new(record: &Record, near: Option<MinHash>) -> Fingerprint {
        let digest = record.text("text_digest").and_then(|digest| u64::from_str_radix(digest, 16).ok());
        let text = record.text("text").unwrap_or_default();
        let bands = near.map_or_else(Vec::new, |near| bands(text, near));
        Fingerprint { text: digest.unwrap_or_default(), bands }
    }
}

/// An earlier page that a page repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    /// Number of the earlier page.
    pub(super) of: i64,
    /// Whether all words are equal.
    pub(super) is_exact: bool,
}

/// How much of a text earlier pages have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RepeatedParagraphs {
    /// Share of the words in paragraphs that an earlier page of the site has.
    pub(super) in_site: f64,
    /// Share of the words in paragraphs that an earlier page of another site has, and none of this one.
    pub(super) elsewhere: f64,
    /// The text without them, if there are any.
    pub(super) rest: Option<String>,
}

/// What was seen, on disk.
pub(super) struct Seen {
    map: HashMapOnDisk,
}

fn hash(of: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, of)
}

impl Seen {
    pub(super) fn open(dir: &Path) -> io::Result<Seen> {
        Ok(Seen { map: HashMapOnDisk::open(dir)? })
    }

    /// The first page before this one with the same text, else with nearly the same.
    pub(super) fn first(&self, page: i64, of: &Fingerprint) -> io::Result<Option<Repeat>> {
        if let Some(first) = self.before(page, hash(OF_TEXT, &of.text.to_le_bytes()))? {
            return Ok(Some(Repeat { of: first, is_exact: true }));
        }
        for band in &of.bands {
            if let Some(first) = self.before(page, hash(OF_BAND, &band.to_le_bytes()))? {
                return Ok(Some(Repeat { of: first, is_exact: false }));
            }
        }
        Ok(None)
    }

    fn before(&self, page: i64, hash: u64) -> io::Result<Option<i64>> {
        Ok(self.map.find(hash)?.map(|first| first as i64).filter(|first| *first < page))
    }

    /// Remembers the text of a page. The bands of a near-duplicate are not remembered, so that a chain of small changes
    /// does not join what is different.
    pub(super) fn remember(&mut self, page: i64, of: &Fingerprint, with_bands: bool) -> io::Result<()> {
        self.map.put(hash(OF_TEXT, &of.text.to_le_bytes()), page as u64)?;
        let bands = of.bands.iter().filter(|_| with_bands);
        bands.map(|band| hash(OF_BAND, &band.to_le_bytes())).try_for_each(|hash| self.map.put(hash, page as u64))
    }

    /// Which paragraphs of a text earlier pages have. Its paragraphs are remembered. Those of fewer words are not
    /// looked at.
    pub(super) fn paragraphs(
        &mut self,
        page: i64,
        host: &str,
        text: &str,
        least_words: usize,
    ) -> io::Result<RepeatedParagraphs> {
        let (mut n_words, mut n_in_site, mut n_elsewhere) = (0, 0, 0);
        let mut rest = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let words: Vec<String> = line.unicode_words().map(str::to_lowercase).collect();
            n_words += words.len();
            if words.len() < least_words.max(1) {
                rest.push_str(line);
                continue;
            }
            let paragraph = words.join(" ");
            let anywhere = hash(OF_PARAGRAPH, paragraph.as_bytes());
            let in_site = hash(OF_PARAGRAPH_IN_SITE, format!("{host}\n{paragraph}").as_bytes());
            if self.before(page, in_site)?.is_some() {
                n_in_site += words.len();
                continue;
            }
            self.map.put(in_site, page as u64)?;
            if self.before(page, anywhere)?.is_some() {
                n_elsewhere += words.len();
                continue;
            }
            self.map.put(anywhere, page as u64)?;
            rest.push_str(line);
        }
        let share = |n: usize| if n_words == 0 { 0.0 } else { n as f64 / n_words as f64 };
        let rest = (n_in_site + n_elsewhere > 0).then_some(rest);
        Ok(RepeatedParagraphs { in_site: share(n_in_site), elsewhere: share(n_elsewhere), rest })
    }

    /// Writes what was remembered to the disk.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.map.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_settings::MinHash;

    fn fingerprint(text: &str) -> Fingerprint {
        Fingerprint { text: hash(0, text.as_bytes()), bands: bands(text, MinHash::default()) }
    }

    #[test]
    fn only_earlier_pages_are_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(dir.path()).unwrap();
        let words: Vec<String> = (0..300).map(|n| format!("w{n}")).collect();
        let (one, changed) = (words.join(" "), words.join(" ").replace("w150 ", "other "));
        seen.remember(5, &fingerprint(&one), true).unwrap();
        assert_eq!(seen.first(7, &fingerprint(&one)).unwrap(), Some(Repeat { of: 5, is_exact: true }));
        assert_eq!(seen.first(7, &fingerprint(&changed)).unwrap(), Some(Repeat { of: 5, is_exact: false }));
        assert_eq!(seen.first(7, &fingerprint("another text of more than five words")).unwrap(), None);
        // Killed, and begun again before page 5: what is on the disk is of later pages.
        seen.flush().unwrap();
        drop(seen);
        let mut seen = Seen::open(dir.path()).unwrap();
        assert_eq!(seen.first(3, &fingerprint(&one)).unwrap(), None);
        seen.remember(3, &fingerprint(&one), true).unwrap();
        assert_eq!(seen.first(5, &fingerprint(&one)).unwrap(), Some(Repeat { of: 3, is_exact: true }));
    }

    #[test]
    fn paragraphs_of_earlier_pages_are_found_in_the_site_and_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(dir.path()).unwrap();
        let mut of = |page, host, text| seen.paragraphs(page, host, text, 3).unwrap();
        let first = of(1, "a", "Rye is a grass\nRye is a grass\nshort\n");
        assert_eq!(first, RepeatedParagraphs::default(), "a repeat within the page is none");
        let second = of(2, "a", "rye is a GRASS!\nthree more words\n\nshort");
        assert_eq!((second.in_site, second.elsewhere), (0.5, 0.0));
        assert_eq!(second.rest.as_deref(), Some("three more words\n\nshort"));
        let third = of(3, "b", "Rye is a grass");
        assert_eq!((third.in_site, third.elsewhere, third.rest.as_deref()), (0.0, 1.0, Some("")));
        assert_eq!(of(4, "b", "Rye is a grass").in_site, 1.0);
    }

    /// `cargo test --release --lib ten_million -- --ignored --nocapture`
    #[test]
    #[ignore = "takes minutes and three gigabytes of disk"]
    fn ten_million_documents_in_little_memory() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(&dir.path().join("seen")).unwrap();
        let began = std::time::Instant::now();
        let n = 10_000_000_i64;
        let mut found = 0;
        for page in 0..n {
            // Every tenth page is a copy of one of the pages before it.
            let copied = if page % 10 == 9 { page / 2 - page / 2 % 10 } else { page };
            let text = hash(9, &copied.to_le_bytes());
            let of = Fingerprint { text: hash(8, &page.to_le_bytes()), bands: (0..14).map(|n| text ^ n).collect() };
            match seen.first(page, &of).unwrap() {
                Some(repeat) => found += i64::from(repeat.of == copied && copied != page),
                None => seen.remember(page, &of, true).unwrap(),
            }
        }
        seen.flush().unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
        println!("{n} documents: {:.0} s, {peak}, {found} of {} copies found", began.elapsed().as_secs_f64(), n / 10);
        assert_eq!(found, n / 10);
    }
}
