//! The files of packaging/: units that systemd reads, and that confine the program.

use std::path::PathBuf;
use std::process::Command;

use crate::skipped::skipped;

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging")).join(name)
}

/// The exposure of a unit by `systemd-analyze security`, from 0 (confined) to 10.
fn exposure(unit: &str) -> Option<f64> {
    let out = Command::new("systemd-analyze").args(["security", "--offline=true"]).arg(file(unit)).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    let (_, rest) = text.split_once("Overall exposure level for ")?;
    rest.split_once(": ")?.1.split(' ').next()?.parse().ok()
}

#[test]
fn the_service_is_confined() {
    match exposure("dehusk.service") {
        Some(exposure) => assert!(exposure < 3.0, "{exposure}"),
        None => skipped("there is no systemd-analyze that judges units offline"),
    }
}

#[test]
fn units_name_options_that_there_are() {
    let unit = std::fs::read_to_string(file("dehusk.service")).unwrap();
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/dehusk ")).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_dehusk")).args(["crawl", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for option in line.split(' ').filter(|word| word.starts_with("--")) {
        assert!(help.contains(option), "{option}");
    }
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/nightly.md")).unwrap();
    for name in ["dehusk.service", "dehusk.timer", "dehusk-failed@.service", "dehusk.logrotate"] {
        assert!(file(name).is_file() && guide.contains(name), "{name}");
    }
}
