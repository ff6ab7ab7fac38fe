//! The `dehusk` program: parse arguments, run one command, return an exit code.

use std::process::ExitCode;

/// Pages are freed by other threads than those that made them. glibc keeps such memory in one arena for each thread:
/// 24 sites of a million links need 1.9 GB with it.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dehusk::cli::run()
}
