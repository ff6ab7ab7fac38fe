//! The real sites beside the project, when they are there: unpacked once under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The unpacked sites, or `None` with a word on stderr: a clone without the corpus still passes.
pub(crate) fn sites() -> Option<&'static Path> {
    static SITES: OnceLock<Option<PathBuf>> = OnceLock::new();
    SITES.get_or_init(unpack).as_deref()
}

/// A file beside the project.
pub(crate) fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name)
}

fn unpack() -> Option<PathBuf> {
    let archive = shared("sites/sites-dev.tar.xz");
    if !archive.exists() {
        eprintln!("skipped: {} is not there", archive.display());
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus");
    let sites = folder.join("sites");
    if !sites.join("complete").exists() {
        std::fs::create_dir_all(&folder).ok()?;
        let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(&folder).status().ok()?;
        assert!(status.success(), "tar could not unpack {}", archive.display());
        std::fs::write(sites.join("complete"), "").ok()?;
    }
    Some(sites)
}
