//! Tests that cannot run say why, on the spot and in a file that `scripts/check.sh` prints at its end.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Says that the test of this thread, or a part of it, does not run.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    print!("skipped: {line}");
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped.txt");
    OpenOptions::new().create(true).append(true).open(list).unwrap().write_all(line.as_bytes()).unwrap();
}

/// Whether a variable asks for a test, or for its long form; says so where it does not.
pub(crate) fn is_asked_for(variable: &str) -> bool {
    let is_set = std::env::var_os(variable).is_some();
    if !is_set {
        skipped(&format!("{variable} is not set"));
    }
    is_set
}
