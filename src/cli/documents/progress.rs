//! What a person sees while documents are read.

use std::io::IsTerminal;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::sources::files_below;

/// A bar of the bytes of these sources, with rate and time left. Standard input has no length.
pub(in crate::cli) fn byte_bar(sources: &[PathBuf], what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let length = |source: &PathBuf| -> Option<u64> {
        let metadata = source.metadata().ok()?;
        if !metadata.is_dir() {
            return Some(metadata.len());
        }
        let mut files = Vec::new();
        files_below(source, &mut files).ok()?;
        files.iter().map(|file| file.metadata().map(|metadata| metadata.len()).ok()).sum()
    };
    let total: Option<u64> = sources.iter().map(length).sum();
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(8));
    let style = match total {
        Some(_) => "{prefix} {bar:16} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left  {wide_msg}",
        None => "{prefix} {bytes}  {bytes_per_sec}  {wide_msg}",
    };
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("█▌░"));
    bar.set_prefix(what);
    bar
}

/// A progress line that counts documents while they are read.
pub(in crate::cli) fn counter(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{spinner} {pos} documents  {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message(what);
    bar
}
