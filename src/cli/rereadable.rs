//! Sources that are read twice: standard input and pipes are kept in temporary files, which go with the program.

use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;

use dehusk_files::unpacked::open_packed;

/// Sources, each of which can be read again.
pub(super) struct Rereadable {
    /// As they are opened.
    pub(super) names: Vec<String>,
    kept: Vec<KeptCopy>,
}

impl Rereadable {
    /// Sources as they are, or copies of those that can be read only once.
    pub(super) fn new(sources: &[String]) -> io::Result<Rereadable> {
        let (mut names, mut kept) = (Vec::new(), Vec::new());
        for source in sources {
            if !is_read_once(source) {
                names.push(source.clone());
                continue;
            }
            let copy = KeptCopy::new()?;
            io::copy(&mut open_packed(Path::new(source))?, &mut copy.file())?;
            names.push(copy.name());
            kept.push(copy);
        }
        Ok(Rereadable { names, kept })
    }

    /// Goes back to the beginnings: where `/dev/fd` shares the position of the file, it does not begin anew.
    pub(super) fn rewind(&self) -> io::Result<()> {
        self.kept.iter().try_for_each(|copy| copy.file().rewind())
    }
}

/// A temporary file that can be opened by a name. Unix needs none in a folder, so that it goes with the program however
/// that ends.
#[cfg(unix)]
struct KeptCopy(File);

#[cfg(unix)]
impl KeptCopy {
    fn new() -> io::Result<KeptCopy> {
        tempfile::tempfile().map(KeptCopy)
    }

    fn file(&self) -> &File {
        &self.0
    }

    fn name(&self) -> String {
        format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.0))
    }
}

/// A temporary file, removed when this is dropped.
#[cfg(not(unix))]
struct KeptCopy(tempfile::NamedTempFile);

#[cfg(not(unix))]
impl KeptCopy {
    fn new() -> io::Result<KeptCopy> {
        tempfile::NamedTempFile::new().map(KeptCopy)
    }

    fn file(&self) -> &File {
        self.0.as_file()
    }

    fn name(&self) -> String {
        self.0.path().display().to_string()
    }
}

fn is_read_once(source: &str) -> bool {
    let is_other = |source: &str| Path::new(source).metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    source == "-" || is_other(source)
}
