//! What systems do in their own ways: reading at a place of a file, and seeing that files and their names are on the
//! disk.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Fills a buffer from a place of a file. Where its next read begins afterwards depends on the system.
///
/// # Errors
///
/// The system's, and [`io::ErrorKind::UnexpectedEof`] where the file ends before.
pub fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, buffer, at);
    #[cfg(windows)]
    {
        let (mut buffer, mut at) = (buffer, at);
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(file, buffer, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buffer = &mut buffer[n..];
                    at += n as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Waits until what was written to a file is on the disk.
///
/// # Errors
///
/// The system's.
pub fn sync_file(path: &Path) -> io::Result<()> {
    // Windows flushes only what it may write.
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Waits until the names of a folder are on the disk. On Windows they are when a file is renamed.
///
/// # Errors
///
/// The system's.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(windows) { Ok(()) } else { File::open(path)?.sync_all() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_place_is_read_whole_or_not_at_all() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut buffer = [0; 4];
        read_exact_at(&file, &mut buffer, 3).unwrap();
        assert_eq!(&buffer, b"3456");
        assert_eq!(read_exact_at(&file, &mut buffer, 8).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
