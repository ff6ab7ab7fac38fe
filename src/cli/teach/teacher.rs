//! A program that labels the blocks of a page.

use std::time::Duration;

use anyhow::{Context, anyhow};

use super::blocks::LabeledBlocks;
use crate::cli::shell_command::ShellCommand;

/// A command that the shell runs once for each page.
pub(super) struct Teacher<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
}

impl Teacher<'_> {
    /// Writes a page on the command's input, and reads the labels from its output.
    pub(super) fn ask(&self, page: &LabeledBlocks) -> anyhow::Result<LabeledBlocks> {
        let at = || format!("--teacher {:?} (--timeout {} s): {}", self.command, self.timeout.as_secs(), page.url);
        let command = ShellCommand { command: self.command, timeout: self.timeout, variables: Vec::new() };
        let answer = command.answer(serde_json::to_vec(page)?).with_context(at)?;
        serde_json::from_slice(&answer).map_err(|e| anyhow!("{}: its answer is no page with blocks: {e}", at()))
    }
}
