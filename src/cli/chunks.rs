//! `dehusk chunks`: pieces of pages for retrieval.

use anyhow::anyhow;

use super::clean::Clean;
use super::{Failure, Outcome};
use dehusk_settings::Settings;

/// Divide pages into pieces for retrieval, along their headings: `dehusk clean --format chunks`.
///
/// One JSON object for each piece, with its headings, its place and a link to it. `dehusk export --format chunks` does
/// the same with the pages of a database.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk chunks https://docs.example.org/guide/ | jq .text
  dehusk chunks pages.jsonl --learn --out pieces
  dehusk chunks page.html --set export.chunk_chars=800
  dehusk chunks page.html --set export.tokenizer=tokenizer.json --set export.chunk_tokens=256")]
pub(super) struct Chunks {
    #[command(flatten)]
    clean: Clean,
}

impl Chunks {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let clean = self.clean.clone().in_chunks();
        let clean = clean.ok_or_else(|| {
            Failure::Usage(anyhow!(
                "chunks writes chunks: --format, --rows, --json and --records are for `dehusk clean`"
            ))
        })?;
        clean.run(settings)
    }
}
