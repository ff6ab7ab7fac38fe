//! Files that hold what strangers have sent: for their owner alone.

use std::fs::OpenOptions;

/// Options for a file that is written, and that only its owner reads where it is new.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
