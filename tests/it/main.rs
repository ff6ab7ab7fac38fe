//! All integration tests in one binary.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod cli;
mod corpus;
mod crawl;
mod docs;
mod dom;
mod politeness;
mod quality;
mod nightly;
mod tidy;
mod vectors;
