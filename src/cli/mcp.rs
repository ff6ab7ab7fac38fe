//! `dehusk mcp`: tools for assistants.

use std::path::PathBuf;
use std::process::ExitCode;

use super::index::index_file;
use super::{Failure, Outcome, open_store, runtime};
use crate::serve::{Files, serve_assistant};
use dehusk_settings::Settings;

/// Answer an assistant over standard input and output (Model Context Protocol).
///
/// Its tools clean a page, fetch one politely, read a stored page or its difference, search, and list changes. What
/// pages say is marked as untrusted, and private addresses are refused, as in a crawl.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk mcp --db docs.db
  claude mcp add dehusk -- dehusk mcp --db /var/lib/dehusk/crawl.db")]
pub(super) struct Mcp {
    /// The file of the search index [default: beside the database, with .search added].
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
}

impl Mcp {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        // A missing database is said at once.
        drop(open_store(settings)?);
        let files = Files { index: index_file(self.index.as_deref(), settings), ..Files::default() };
        let runtime = runtime(dehusk_corpus::pipeline::cores())?;
        let ended = runtime.block_on(serve_assistant(settings.clone(), files));
        // A read of standard input cannot be ended.
        runtime.shutdown_background();
        ended.map_err(|e| Failure::Work(e.into()))?;
        Ok(ExitCode::SUCCESS)
    }
}
