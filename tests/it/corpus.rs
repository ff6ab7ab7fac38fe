//! The real sites beside the project, when they are there: unpacked once under `target/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// The unpacked sites, or `None` with a word on stderr: a clone without the corpus still passes.
pub(crate) fn sites() -> Option<&'static Path> {
    static SITES: OnceLock<Option<PathBuf>> = OnceLock::new();
    SITES.get_or_init(unpack).as_deref()
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
    let archive = shared("sites/sites-dev.tar.xz");
    if !archive.exists() {
        eprintln!("skipped: {} is not there", archive.display());
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus");
    let sites = folder.join("sites");
    if !sites.join("scripting-on").exists() {
        std::fs::create_dir_all(&folder).ok()?;
        let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(&folder).status().ok()?;
        assert!(status.success(), "tar could not unpack {}", archive.display());
        // One site has other nodes in a browser, where `noscript` holds raw text.
        let labels = "shop-bildblatt.jsonl";
        std::fs::copy(shared("sites/scripting-on").join(labels), sites.join("labels/dev").join(labels)).ok()?;
        std::fs::write(sites.join("scripting-on"), "").ok()?;
    }
    Some(sites)
}
