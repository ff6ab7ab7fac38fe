//! The forms in which `dehusk clean` writes: a page on standard output, or a corpus.

use crate::cli::Format;
use dehusk_corpus::export::Form;

/// The forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CleanFormat {
    /// Plain text, one line per block.
    Text,
    /// HTML.
    Html,
    /// Markdown (CommonMark and GFM).
    Markdown,
    /// JSON lines, zstd.
    Jsonl,
    /// Pieces of the pages for retrieval: JSON lines (zstd with --out).
    Chunks,
    /// Parquet, zstd.
    Parquet,
    /// Pages as they are: WARC resource records.
    Warc,
    /// The same with index and text: WACZ.
    Wacz,
    /// Text: WARC conversion records.
    Wet,
    /// A folder of Markdown files with front matter.
    Md,
    /// A static copy to browse.
    Site,
}

impl CleanFormat {
    /// The form of a page on standard output.
    pub(super) fn text(self) -> Option<Format> {
        match self {
            CleanFormat::Text => Some(Format::Text),
            CleanFormat::Html => Some(Format::Html),
            CleanFormat::Markdown => Some(Format::Markdown),
            _ => None,
        }
    }

    /// The form of a corpus.
    pub(super) fn form(self) -> Option<Form> {
        match self {
            CleanFormat::Text | CleanFormat::Html | CleanFormat::Markdown => None,
            CleanFormat::Jsonl => Some(Form::Jsonl),
            CleanFormat::Chunks => Some(Form::Chunks),
            CleanFormat::Parquet => Some(Form::Parquet),
            CleanFormat::Warc => Some(Form::Warc),
            CleanFormat::Wacz => Some(Form::Wacz),
            CleanFormat::Wet => Some(Form::Wet),
            CleanFormat::Md => Some(Form::Markdown),
            CleanFormat::Site => Some(Form::Site),
        }
    }
}
