//! Pages and tables that are made of what the program knows. `UPDATE_EXPECT=1 cargo test book::` writes them anew.

use std::fmt::Write as _;
use std::process::Command;

use super::root;

/// Compares a page with what it has to be, or writes it.
fn check(page: &str, expected: &str) {
    let path = root().join("docs").join(page);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "docs/{page} is not what the program says: run UPDATE_EXPECT=1 cargo test book::");
}

#[test]
fn the_settings_are_those_of_the_program() {
    let head = "# Settings\n\nEvery key of crawl.toml. `--set KEY=VALUE` sets any of them for one run; an unknown key is \
                refused, and the error\nnames the nearest one. [Commands](commands.md#settings) says how some sites get \
                values of their own. `dehusk init\n--all-keys` writes all keys with their defaults into a file.\n\n";
    check("settings.md", &format!("{head}{}\n", dehusk_settings::markdown().trim_end()));
}

#[test]
fn the_options_are_those_of_the_program() {
    let mut text = String::from(
        "# All options\n\nWhat `--help` of each command says. `-h` has the usual options and two examples on one \
         screen. [Commands by\ntask](commands.md) is better to begin with.\n",
    );
    let whole = dehusk::cli::command();
    let mut names: Vec<Vec<String>> = vec![Vec::new()];
    for command in whole.get_subcommands() {
        let name = command.get_name().to_owned();
        let below = command.get_subcommands().map(|of| vec![name.clone(), of.get_name().to_owned()]);
        names.push(vec![name.clone()]);
        names.extend(below);
    }
    for name in names {
        let help = Command::new(env!("CARGO_BIN_EXE_dehusk"))
            .env("COLUMNS", "100")
            .args(&name)
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let heading = [&["dehusk".to_owned()], name.as_slice()].concat().join(" ");
        let _ = write!(text, "\n## {heading}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    }
    // The package may be built without some features; the page has all of the default ones.
    if cfg!(all(feature = "serve", feature = "parquet", feature = "objects", feature = "tokens")) {
        check("command-line.md", &text);
    }
}

/// The README of the Python package, which PyPI shows, is a page of the book.
#[test]
fn the_page_of_the_python_package_is_its_readme() {
    check("python.md", &std::fs::read_to_string(root().join("python/README.md")).unwrap());
}

#[test]
fn the_columns_are_those_of_the_program() {
    let (begin, end) = ("<!-- columns -->\n", "<!-- end -->");
    let page = std::fs::read_to_string(root().join("docs/columns.md")).unwrap();
    let (head, rest) = page.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let columns = dehusk_core::corpus::columns();
    let is_signal = |name: &str| dehusk_core::QUALITY_SIGNALS.contains(&name);
    let mut table = String::from("| Column | Kind | What it holds |\n|---|---|---|\n");
    for column in columns.iter().filter(|column| !is_signal(column.name)) {
        let _ = writeln!(table, "| `{}` | {} | {} |", column.name, column.kind.name(), column.doc);
    }
    let n = columns.iter().filter(|column| is_signal(column.name)).count();
    let _ = writeln!(table, "| {n} signals | real | below |");
    check("columns.md", &format!("{head}{begin}{table}{end}{tail}"));
    for name in dehusk_core::QUALITY_SIGNALS {
        // Names with a number stand for a family.
        let (start, rest) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let family = format!("`{start}N{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        assert!(page.contains(&format!("`{name}`")) || page.contains(&family), "{name}");
    }
}
