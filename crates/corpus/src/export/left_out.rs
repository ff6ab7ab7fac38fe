//! The list of pages that are left out: JSON lines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

/// A page that is left out.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct LeftOutPage<'a> {
    /// Its address, or how its source names it.
    pub(super) url: &'a str,
    pub(super) why: &'static str,
    /// The page that it is left out for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<&'a str>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) what: Option<&'a str>,
}

/// An open list. Its file is made with the first line.
#[derive(Default)]
pub(super) struct LeftOutList {
    out: Option<BufWriter<File>>,
    pub(super) n: u64,
    /// Bytes of the open list.
    pub(super) bytes: u64,
}

impl LeftOutList {
    pub(super) fn push(&mut self, path: &Path, page: LeftOutPage<'_>) -> io::Result<()> {
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(BufWriter::new(File::create(path)?)),
        };
        self.n += 1;
        let line = serde_json::to_vec(&page)?;
        self.bytes += line.len() as u64 + 1;
        out.write_all(&line)?;
        out.write_all(b"\n")
    }

    /// Completes the file on the disk. Returns whether there is one.
    pub(super) fn finish(&mut self) -> io::Result<bool> {
        self.bytes = 0;
        let Some(out) = self.out.take() else { return Ok(false) };
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(true)
    }
}
