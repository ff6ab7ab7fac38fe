//! Reads and writes web archives: WARC/1.1 files, each with a CDXJ index.
//!
//! Each record is one gzip member, so that any record can be read alone. A file has the extension `.open` until it is
//! complete. When a folder is opened again, a file that a crash has left open is truncated after its last complete
//! record and closed.

mod record;
mod cdxj;
mod copies;
mod writer;
mod members;
mod reader;
mod http;
mod pages;

use std::path::PathBuf;

use dehusk_html::PageUrl;

#[cfg(feature = "objects")]
pub(crate) use cdxj::surt;
pub use copies::copies;
pub use pages::{Archived, Document, NoDocument, documents, records};
pub use reader::{Member, Reader};
pub use record::{Record, RecordKind, new_id, payload_digest};
pub use writer::{Entry, WarcWriter};

/// Why an archive could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum WarcError {
    /// An error of the operating system.
    #[error("{path}: {reason}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// The operating system's error.
        reason: std::io::Error,
    },
    /// Another process writes to the folder.
    #[error("{path}: another crawl is writing into this folder; wait for it, or name another folder with --warc")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The content coding of a stored response is damaged, so that only a part of its body can be read.
    #[error("{url}: the body cannot be decoded: {reason}")]
    Body {
        /// URL of the response.
        url: PageUrl,
        /// The decoder's error.
        reason: std::io::Error,
    },
    /// The file is not an archive, or is broken at this offset.
    #[error("{path}: broken record at byte {offset}: {reason}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
}
