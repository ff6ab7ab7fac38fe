//! Sources that are read twice: standard input and pipes are kept in temporary files, which have no name and go with
//! the program, however it ends.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::path::Path;

use dehusk_files::unpacked::open_packed;

/// Sources, each of which can be read again.
pub(super) struct Rereadable {
    /// As they are opened.
    pub(super) names: Vec<String>,
    kept: Vec<File>,
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
            let mut copy = tempfile::tempfile()?;
            io::copy(&mut open_packed(Path::new(source))?, &mut copy)?;
            names.push(format!("/dev/fd/{}", copy.as_raw_fd()));
            kept.push(copy);
        }
        Ok(Rereadable { names, kept })
    }

    /// Goes back to the beginnings: where `/dev/fd` shares the position of the file, it does not begin anew.
    pub(super) fn rewind(&self) -> io::Result<()> {
        self.kept.iter().try_for_each(|mut file| file.rewind())
    }
}

fn is_read_once(source: &str) -> bool {
    let is_other = |source: &str| Path::new(source).metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    source == "-" || is_other(source)
}
