//! Exports are read by DuckDB, pandas, polars, Hugging Face datasets, warcio and FastWARC, which see the same rows; and
//! datatrove's filters see the same signals.
//!
//! `READERS=1 cargo test --test it readers` installs them from PyPI below `target/`; scripts/check.sh sets the variable.

use std::path::Path;
use std::process::Command;

fn run(command: &mut Command) {
    let out = command.output().unwrap();
    print!("{}", String::from_utf8_lossy(&out.stdout));
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn exports_are_read_by_the_tools_that_people_use_if_readers_is_set() {
    if !crate::skipped::is_asked_for("READERS") {
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = project.join("target/readers");
    run(Command::new(project.join("scripts/venv.sh")).arg(&venv).arg(project.join("tests/readers.txt")));
    let dir = tempfile::tempdir().unwrap();
    let dehusk = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir.path());
        command
    };
    run(dehusk().args(["demo", "--quiet"]));
    for format in ["parquet", "jsonl", "wet", "wacz"] {
        run(dehusk().args(["export", "--db", "dehusk-demo/dehusk.db", "--format", format, "--out", format]));
    }
    run(Command::new(venv.join("bin/python")).arg(project.join("scripts/read_exports.py")).arg(dir.path()));
    let lines = dir.path().join("jsonl/data/part-00000.jsonl.zst");
    run(Command::new(venv.join("bin/python")).arg(project.join("scripts/compare_signals.py")).arg(lines));
}
