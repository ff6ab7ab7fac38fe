//! Web archives: WARC/1.1 files with a CDXJ index beside them, written and read.
//!
//! One gzip member a record, so that any record can be read alone. A file is called `.open` until it is complete; what
//! a crash has left open is cut behind its last whole record and closed when the folder is opened again.

mod record;
mod cdxj;
mod writer;
mod reader;
mod http;
mod pages;

use std::path::PathBuf;

pub use http::decoded_body;
pub use pages::{WarcPage, pages};
pub use reader::{Member, Reader, is_warc};
pub use record::{Record, RecordKind, payload_digest};
pub use writer::{Entry, WarcWriter};

/// Why an archive could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum WarcError {
    /// The system's own error.
    #[error("{path}: {reason}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// Another program writes into the folder.
    #[error("{path}: another crawl is writing into this folder; wait for it, or name another folder with --warc")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// It is no archive, or broken at this byte.
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
