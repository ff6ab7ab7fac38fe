//! Which archives of a folder hold records of a host or a page, by their indexes.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::cdxj;

/// The archives of a folder with records of a host, or of a URL, and how many.
///
/// # Errors
///
/// When the folder or an index cannot be read.
pub fn copies(dir: &Path, what: &str) -> io::Result<Vec<(PathBuf, usize)>> {
    let is_url = what.contains("://");
    let key = cdxj::key(&if is_url { what.to_owned() } else { format!("http://{what}/") }, 0);
    let key = key.rsplit_once(' ').map_or(key.as_str(), |(key, _)| key);
    // A line begins with the key and a blank, or, for a host, with the part of the key before its path.
    let begin = if is_url { format!("{key} ") } else { key.trim_end_matches('/').to_owned() };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let index = entry?.path();
        if index.extension().is_none_or(|ending| ending != "cdxj") {
            continue;
        }
        let mut n = 0;
        for line in BufReader::new(std::fs::File::open(&index)?).split(b'\n') {
            n += usize::from(line?.starts_with(begin.as_bytes()));
        }
        if n > 0 {
            found.push((index.with_extension("warc.gz"), n));
        }
    }
    found.sort();
    Ok(found)
}
