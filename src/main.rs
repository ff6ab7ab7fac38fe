//! The `dehusk` program: parse arguments, run one command, return an exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    dehusk::cli::run(dehusk::cli::Args::parse())
}
