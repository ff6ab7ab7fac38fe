//! The real sites beside the project, when they are there: unpacked once under `target/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::skipped::skipped;

/// The unpacked sites, or `None`, and the test is listed as skipped: a clone without the corpus still passes.
pub(crate) fn sites() -> Option<&'static Path> {
    static SITES: OnceLock<Option<PathBuf>> = OnceLock::new();
    or_skipped(SITES.get_or_init(unpack).as_deref())
}

/// The second half of the sites.
#[cfg(feature = "serve")]
pub(crate) fn more_sites() -> Option<PathBuf> {
    or_skipped(unpacked("sites/sites-dev2.tar.xz", "sites2", "gold.toml"))
}

/// Lists the test as skipped where there are no sites.
fn or_skipped<T>(sites: Option<T>) -> Option<T> {
    if sites.is_none() {
        skipped(&format!("{} has no archive of sites", shared("sites").display()));
    }
    sites
}

/// A file beside the project.
pub(crate) fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name)
}

/// What the literal paper gives on each site.
pub(crate) fn expected() -> BTreeMap<String, Value> {
    let read = |name: &str| -> BTreeMap<String, Value> {
        serde_json::from_str(&std::fs::read_to_string(shared(name)).unwrap()).unwrap()
    };
    let mut expected = read("algorithms/expected_dev.json");
    expected.extend(read("sites/scripting-on/expected.json"));
    expected
}

fn unpack() -> Option<PathBuf> {
    let sites = unpacked("sites/sites-dev.tar.xz", "sites", "scripting-on")?;
    if !sites.join("scripting-on").exists() {
        // One site has other nodes in a browser, where `noscript` holds raw text.
        let labels = "shop-bildblatt.jsonl";
        std::fs::copy(shared("sites/scripting-on").join(labels), sites.join("labels/dev").join(labels)).ok()?;
        std::fs::write(sites.join("scripting-on"), "").ok()?;
    }
    Some(sites)
}

/// The folder of an archive beside the project, unpacked below `target/` unless this file is in it.
fn unpacked(archive: &str, name: &str, file: &str) -> Option<PathBuf> {
    let archive = shared(archive);
    if !archive.exists() {
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus");
    if !folder.join(name).join(file).exists() {
        std::fs::create_dir_all(&folder).ok()?;
        let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(&folder).status().ok()?;
        assert!(status.success(), "tar could not unpack {}", archive.display());
    }
    Some(folder.join(name))
}
