//! Exit codes. They are the same whether or not a run was cut in two.

/// Something did not work out: pages or documents that could not be read, too many failed sites, or what was asked for
/// is not there.
pub(super) const FAILED: u8 = 1;

/// Wrong arguments or settings.
pub(super) const USAGE: u8 = 2;

/// Nothing could be done: the database, the archive, the disk or the network is not usable.
pub(super) const CANNOT_RUN: u8 = 3;

/// Interrupted by a signal; the same command resumes it.
pub(super) const INTERRUPTED: u8 = 4;
