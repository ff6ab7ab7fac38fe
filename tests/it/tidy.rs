//! What a compiler cannot keep: where I/O is, which module a heavy crate belongs to, and that every module says what it
//! is for.

use std::path::{Path, PathBuf};

/// Modules of the crates that do I/O which are policy: no I/O, no async, no clock.
const POLICY: &[&str] = &["feed_entries", "politeness", "revisit", "robots", "scope", "sitemap"];

/// Each of these crates is used by one module.
const HOMES: &[(&str, &[&str])] = &[
    ("reqwest", &["fetch"]),
    ("governor", &["fetch"]),
    ("priority_queue", &["politeness"]),
    ("hyper", &["demo", "cli", "fetch", "serve"]),
    ("axum", &["serve"]),
    ("maud", &["serve"]),
    ("indicatif", &["cli"]),
    ("clap", &["cli"]),
    ("rlimit", &["cli"]),
    ("anyhow", &["cli"]),
];

/// What the libraries and the crawl policy must not touch.
const WORLD: &[&str] = &["tokio", "std::fs", "std::net::Tcp", "SystemTime", "Instant::now", "std::io::std", "std::env"];

/// A crate of the workspace, or the program.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Program,
    /// A library without I/O, whose modules use each other freely.
    Library,
    /// A library that does I/O.
    Edge,
    Python,
}

/// A source file: its crate, its path below `src`, its text.
struct Source {
    part: Part,
    path: PathBuf,
    text: String,
}

impl Source {
    /// The part before the unit tests, without comments.
    fn code(&self) -> String {
        if ["tests.rs", "simulation.rs", "simulation/stored.rs", "contract.rs"]
            .iter()
            .any(|name| self.path.ends_with(name))
        {
            return String::new();
        }
        let code = self.text.split("#[cfg(test)]\nmod tests").next().unwrap();
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    }

    fn module(&self) -> String {
        let first = self.path.components().next().unwrap().as_os_str().to_str().unwrap();
        first.trim_end_matches(".rs").to_owned()
    }
}

fn sources() -> Vec<Source> {
    sources_of(&[
        (Part::Program, "src"),
        (Part::Library, "crates/core/src"),
        (Part::Edge, "crates/corpus/src"),
        (Part::Edge, "crates/crawl/src"),
        (Part::Library, "crates/content/src"),
        (Part::Edge, "crates/files/src"),
        (Part::Library, "crates/html/src"),
        (Part::Library, "crates/papers/src"),
        (Part::Library, "crates/render/src"),
        (Part::Library, "crates/settings/src"),
        (Part::Edge, "crates/store/src"),
        (Part::Library, "crates/template/src"),
    ])
}

fn sources_of(folders: &[(Part, &str)]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for (part, folder) in folders {
        let (part, folder) = (*part, root.join(folder));
        let mut open = vec![folder.clone()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.push(Source { part, path: path.strip_prefix(&folder).unwrap().to_owned(), text });
                }
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

#[test]
fn heavy_crates_have_one_home_and_policy_does_no_io() {
    let mut wrong = Vec::new();
    for source in sources() {
        let (module, code) = (source.module(), source.code());
        for (name, homes) in HOMES {
            if code.contains(&format!("{name}::")) && !homes.contains(&module.as_str()) {
                wrong.push(format!("{} uses {name}", source.path.display()));
            }
        }
        if source.part == Part::Library || (source.part == Part::Edge && POLICY.contains(&module.as_str())) {
            let touched = WORLD.iter().filter(|word| code.contains(**word));
            wrong.extend(touched.map(|word| format!("{} touches {word}", source.path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_module_says_what_it_is_for() {
    for source in sources().into_iter().chain(sources_of(&[(Part::Python, "python/src")])) {
        assert!(source.text.starts_with("//! "), "{} has no module documentation", source.path.display());
        // The prelude of PyO3 is made to be imported so.
        let code = source.code().replace("use pyo3::prelude::*;", "");
        assert!(!code.contains("::*;"), "{} has a glob import", source.path.display());
    }
}

#[test]
fn prose_keeps_within_120_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    let documents = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "python/README.md",
        "crates/content/README.md",
        "crates/core/README.md",
        "crates/corpus/README.md",
        "crates/crawl/README.md",
        "crates/files/README.md",
        "crates/html/README.md",
        "crates/papers/README.md",
        "crates/render/README.md",
        "crates/settings/README.md",
        "crates/store/README.md",
        "crates/template/README.md",
    ]
    .map(|name| root.join(name));
    let folders = ["docs", "docs/lab"].map(|name| std::fs::read_dir(root.join(name)).unwrap());
    let docs = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|e| e == "md"));
    for path in documents.into_iter().chain(docs) {
        let text = std::fs::read_to_string(&path).unwrap();
        // Rows of tables and lines with one long link cannot be broken.
        let long = text.lines().enumerate().filter(|(_, line)| {
            line.chars().count() > 120 && !line.starts_with('|') && line.trim_start().contains(' ')
        });
        wrong.extend(long.map(|(at, _)| format!("{}:{}", path.display(), at + 1)));
    }
    for source in sources().into_iter().chain(sources_of(&[(Part::Python, "python/src")])) {
        let prose = source.text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//"));
        let long = prose.filter(|(_, line)| line.chars().count() > 120 && !line.contains("https://"));
        wrong.extend(long.map(|(at, _)| format!("{}:{}", source.path.display(), at + 1)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn python_uses_the_core_only_and_no_file_is_long() {
    for source in sources_of(&[(Part::Python, "python/src")]) {
        let code = source.code();
        assert!(!code.contains("use dehusk::") && !code.contains("std::fs"), "{}", source.path.display());
        assert!(source.text.lines().count() <= 400, "{}", source.path.display());
    }
}
