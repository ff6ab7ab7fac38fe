//! The manifest of an export: which parts are finished, and how far they reach. It is written anew after each part, so
//! that an export that was killed goes on where its last finished part ends.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use dehusk_files::on_disk::{sync_file, sync_folder};

/// Name of the file.
pub(super) const NAME: &str = "manifest.json";

/// What an export holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the schema of the rows.
    pub schema: u32,
    /// Form of the parts.
    pub format: String,
    /// What was asked for; an export goes on only with the same.
    pub asked: String,
    /// Last page that belongs to the export (row of `pages`).
    pub upto: i64,
    /// Last page that is in a finished part, or was left out.
    pub after: i64,
    /// The first turn of a page to gone, moved, blocked or back that is not followed yet; 0: none was looked for.
    #[serde(default)]
    pub turned: i64,
    /// Digest of the names of the documents of the sources up to `after`; 0 for an export of a store.
    #[serde(default)]
    pub names: u64,
    /// Whether all pages up to `upto` are in.
    pub complete: bool,
    /// Rows in finished parts.
    pub rows: u64,
    /// Rows of each language; the empty one counts those of which it is not known.
    #[serde(default)]
    pub languages: BTreeMap<String, u64>,
    /// Pages that were left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// The finished parts, in order.
    pub parts: Vec<Part>,
    /// Files that list the pages that were left out. Their rows are lines.
    #[serde(default)]
    pub left_out_parts: Vec<Part>,
}

/// A finished part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// File.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
}

impl Part {
    /// Gives a file that was written under `name.part` its name.
    pub(super) fn complete(dir: &Path, name: String, rows: u64) -> io::Result<Part> {
        let open = dir.join(format!("{name}.part"));
        let part = Part { rows, bytes: fs::metadata(&open)?.len(), sha256: sha256_of(&open)?, name };
        let path = dir.join(&part.name);
        fs::rename(open, &path)?;
        // The name is on the disk when the folder is.
        sync_folder(path.parent().unwrap_or(dir))?;
        Ok(part)
    }
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if it has none.
    pub(super) fn read(dir: &Path) -> io::Result<Option<Manifest>> {
        match fs::read(dir.join(NAME)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        let part = dir.join(format!("{NAME}.part"));
        let json = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        fs::write(&part, json)?;
        sync_file(&part)?;
        fs::rename(part, dir.join(NAME))?;
        // The name is on the disk when the folder is.
        sync_folder(dir)
    }
}

/// SHA-256 of a file, as hexadecimal digits.
fn sha256_of(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut fs::File::open(path)?, &mut hasher)?;
    Ok(hexadecimal(&hasher.finalize()))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
