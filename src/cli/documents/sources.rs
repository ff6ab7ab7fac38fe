//! What is named as a source: files and objects below it, and how large it is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::common_crawl::is_common_crawl;
use super::input::PARQUET;
use crate::cli::Failure;
use crate::cli::objects::{self, is_object};
use dehusk_files::unpacked::{GZIP, ZSTD};

/// A source that cannot be opened or listed, so that nothing is known of its documents.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub(in crate::cli) struct SourceError(pub(in crate::cli) anyhow::Error);

/// Bytes of a source, with all files or objects below it; 0 for one that can be read only once.
pub(in crate::cli) fn size_of(source: &str) -> Result<u64, Failure> {
    if is_common_crawl(source) {
        return Ok(0);
    }
    if is_object(source) {
        return objects::size(source).map_err(Failure::Work);
    }
    let path = Path::new(source);
    let mut files = Vec::new();
    match path.metadata() {
        Ok(about) if about.is_dir() => {
            files_below(path, &mut files).with_context(|| source.to_owned()).map_err(Failure::Work)?;
            Ok(files.iter().filter_map(|file| file.metadata().ok()).map(|about| about.len() + 1).sum())
        }
        Ok(about) if about.is_file() => Ok(about.len()),
        Err(e) if source != "-" => Err(Failure::Work(anyhow::Error::new(e).context(source.to_owned()))),
        _ => Ok(0),
    }
}

/// The objects below an address of an object store that ends with a slash; `None` for any other source.
pub(super) fn objects_below(source: &Path) -> Option<anyhow::Result<Vec<PathBuf>>> {
    let address = source.to_str().filter(|name| is_object(name) && name.ends_with('/'))?;
    Some(objects::list(address))
}

/// Files at any depth. Symbolic links to folders are not followed, to avoid cycles.
pub(super) fn files_below(path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() || kind.is_symlink() && entry.path().is_file() {
                found.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Whether a file begins as one that may hold many documents: an archive, JSON lines, Parquet, or anything that is
/// packed.
pub(super) fn may_hold_many(file: &Path) -> bool {
    let mut head = Vec::with_capacity(8);
    let read = File::open(file).and_then(|file| file.take(8).read_to_end(&mut head));
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    read.is_ok() && [GZIP, ZSTD, PARQUET, b"WARC/", b"{"].iter().any(|begin| text.starts_with(begin))
}
