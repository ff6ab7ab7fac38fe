//! `dehusk completions` and `dehusk man`: for shells and for packagers.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::Shell;

use super::Outcome;
use super::help::command;

/// Print completions for a shell.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk completions bash > ~/.local/share/bash-completion/completions/dehusk
  dehusk completions zsh > ~/.zfunc/_dehusk
  dehusk completions fish > ~/.config/fish/completions/dehusk.fish")]
pub(super) struct Completions {
    shell: Shell,
}

/// Write the manual pages, one for each command, into a folder.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk man ~/.local/share/man/man1
  man dehusk-crawl")]
pub(super) struct Man {
    folder: PathBuf,
}

impl Completions {
    pub(super) fn run(&self) -> Outcome {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "dehusk", &mut text);
        io::stdout().lock().write_all(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Man {
    pub(super) fn run(&self) -> Outcome {
        std::fs::create_dir_all(&self.folder)?;
        clap_mangen::generate_to(command(), &self.folder)?;
        writeln!(io::stdout().lock(), "written to {}; `man dehusk` shows them", self.folder.display())?;
        Ok(ExitCode::SUCCESS)
    }
}
