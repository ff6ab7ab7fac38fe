//! The `dehusk` program: parse arguments, run one command, return an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    dehusk::cli::run()
}
