//! Creates files that only their owner can read (mode 0600): databases, archives, logs.

use std::fs::OpenOptions;

/// Options for writing a file. A new file has mode 0600, less the umask; an existing one keeps its mode.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
