//! The documents say what the program does.

use std::path::Path;
use std::process::Command;

use dehusk_papers::method_table::METHODS;
use dehusk_settings::{Settings, key_names, render};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// `UPDATE_EXPECT=1 cargo test docs` writes the file anew.
#[test]
fn crawl_toml_has_every_key_at_its_default() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("crawl.toml"), render()).unwrap();
    }
    let text = file("crawl.toml");
    assert_eq!(text, render(), "run UPDATE_EXPECT=1 cargo test docs");
    assert_eq!(Settings::load(Some(("crawl.toml", &text)), &[]).unwrap(), Settings::default());
    for key in key_names() {
        assert!(text.lines().any(|l| l.trim_start_matches('#').starts_with(&format!("{key} = "))), "{key}");
    }
}

fn help(args: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_dehusk")).args(args).arg("--help").output().unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap()
}

/// Help is wrapped to the width of the terminal.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_explains_itself_and_stands_in_the_guide() {
    let guide = file("docs/commands.md");
    for command in [
        "init",
        "doctor",
        "crawl",
        "learn",
        "clean",
        "templates",
        "pages",
        "export",
        "runs",
        "prune",
        "forget",
        "backup",
        "completions",
        "man",
        "strings",
        "cluster",
        "evaluate",
        "demo",
    ] {
        assert!(help(&[]).contains(&format!("  {command} ")), "{command} is missing in --help");
        assert!(guide.contains(&format!("dehusk {command}")), "{command} is missing in docs/commands.md");
        let text = help(&[command]);
        assert!(text.contains("Examples:"), "{command} --help has no examples");
        assert!(text.contains("--set") && text.contains("--db"));
    }
    for (command, actions) in [
        ("templates", ["list", "show", "history", "diff", "kinds", "export", "import"].as_slice()),
        ("runs", &["list", "show", "diff"]),
        ("pages", &["list", "show"]),
        ("strings", &["learn", "clean", "show", "list"]),
    ] {
        for action in actions {
            let text = help(&[command, action]);
            assert!(text.contains(&format!("Examples:\n  dehusk {command} {action}")), "{command} {action}: {text}");
        }
    }
}

/// The names of the commands that a help text lists.
fn commands_of(text: &str) -> Vec<String> {
    let (_, list) = text.split_once("\nCommands:\n").unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_short_help_of_every_command_is_one_screen_with_examples() {
    let short = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        let out = command.env("COLUMNS", "100").args(args).arg("-h").output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let names = commands_of(&short(&[]));
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let below = commands_of(&short(&[&name]));
        let all = below.iter().map(|action| vec![name.as_str(), action]).chain([vec![name.as_str()]]);
        for args in all {
            let text = short(&args);
            assert!(text.lines().count() <= 40, "{args:?}: {} lines", text.lines().count());
            assert!(text.contains("Examples:\n  dehusk "), "{args:?}: {text}");
        }
    }
}

#[test]
fn readme_has_the_two_commands_and_documents_name_every_method() {
    let readme = file("README.md");
    assert!(readme.contains("cargo run --release -- demo") && readme.contains("scripts/check.sh"));
    let architecture = file("ARCHITECTURE.md");
    let guide = file("docs/methods.md");
    for method in METHODS {
        let name = method.method.name();
        assert!(guide.contains(&format!("| `{}` |", name)), "{} is missing in docs/methods.md", name);
        for command in ["clean", "evaluate"] {
            assert!(
                one_line(&help(&[command])).contains(method.summary.split(", ").next().unwrap()),
                "{} in {command} --help",
                name
            );
        }
        assert!(architecture.contains(&format!("`{}`", name)), "{} is missing in ARCHITECTURE.md", name);
    }
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        assert!(name == "lib" || name == "main" || architecture.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn example_seeds_are_urls() {
    let mut seeds = dehusk_crawl::seeds::Seeds::default();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")).unwrap() {
        seeds.add(entry.unwrap().path().to_str().unwrap()).unwrap();
    }
    let rejected = seeds.rejected();
    assert!(seeds.into_seeds().count() > 3 && rejected.count() == 0);
}

#[test]
fn the_guide_to_rights_has_the_table_of_forms() {
    let guide = file("docs/rights.md");
    for about in dehusk_core::rights::FORMS {
        let row =
            format!("| `{}` | {} | {} | {} | {} |", about.name, about.places, about.source, about.date, about.effect);
        assert!(guide.contains(&row), "the guide lacks\n{row}");
    }
}
