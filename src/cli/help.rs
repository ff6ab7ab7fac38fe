//! The command line as clap knows it, with two forms of help: `-h` on one screen, `--help` with everything.

use clap::{Command, CommandFactory};

use super::Args;

/// Examples that `-h` has.
const EXAMPLES: usize = 2;

/// Options of all commands that `-h` leaves out.
const RARE: [&str; 4] = ["preset", "log_format", "quiet", "verbose"];

/// The command line.
pub fn command() -> Command {
    let whole = Args::command();
    let names: Vec<String> = whole.get_subcommands().map(|of| of.get_name().to_owned()).collect();
    let whole =
        whole.mut_args(|arg| if RARE.contains(&arg.get_id().as_str()) { arg.hide_short_help(true) } else { arg });
    names.into_iter().fold(whole, |whole, name| whole.mut_subcommand(name, with_two_forms))
}

/// Gives `-h` the first examples of a command and of what is below it. `--help` keeps all that is said.
fn with_two_forms(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|of| of.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_two_forms));
    match command.get_after_help().map(ToString::to_string) {
        Some(all) => command.after_help(first_examples(&all)).after_long_help(all),
        None => command,
    }
}

/// The heading and the first examples, each with the lines that it goes on in.
fn first_examples(text: &str) -> String {
    let mut left = EXAMPLES + 1;
    let lines = text.lines().take_while(|line| {
        let is_in = left > 0 && !line.is_empty();
        left -= usize::from(is_in && !line.ends_with('\\'));
        is_in
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_examples_are_left_with_the_lines_that_they_go_on_in() {
        let text = "Examples:\n  a\n  b \\\n    c\n  d\n\nMore.";
        assert_eq!(first_examples(text), "Examples:\n  a\n  b \\\n    c");
        assert_eq!(first_examples("Examples:\n  a\n\nMore."), "Examples:\n  a");
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }
}
