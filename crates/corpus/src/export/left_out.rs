//! The list of pages that are left out: JSON lines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::json;

/// An open list. Its file is made with the first line.
#[derive(Default)]
pub(super) struct LeftOutList {
    out: Option<BufWriter<File>>,
    pub(super) n: u64,
}

impl LeftOutList {
    /// Adds a page, why it is left out, and the page that it is left out for.
    pub(super) fn push(&mut self, path: &Path, url: &str, why: &str, of: Option<&str>) -> io::Result<()> {
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(BufWriter::new(File::create(path)?)),
        };
        let line = match of {
            Some(of) => json!({"url": url, "why": why, "of": of}),
            None => json!({"url": url, "why": why}),
        };
        self.n += 1;
        writeln!(out, "{line}")
    }

    /// Completes the file on the disk. Returns whether there is one.
    pub(super) fn finish(&mut self) -> io::Result<bool> {
        let Some(out) = self.out.take() else { return Ok(false) };
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(true)
    }
}
