//! The floors of ARCHITECTURE.md: who may import whom, and that every module says what it is for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const GROUND: &[&str] = &["page", "settings", "calendar"];
/// Without I/O, async or clock; each may use what stands in `CORE_ARROWS`.
const CORE: &[&str] = &[
    "robots",
    "scope",
    "sitemap",
    "frontier",
    "dom",
    "cluster",
    "text_mdl",
    "tps",
    "strings",
    "links",
    "subdigraph",
    "witness",
    "template",
    "clean",
    "baselines",
    "methods",
    "learner",
];
/// Touch the world; never each other.
const EDGES: &[&str] = &["fetch", "folder", "seeds", "store", "warc"];

const CORE_ARROWS: &[(&str, &[&str])] = &[
    ("robots", &[]),
    ("scope", &[]),
    ("sitemap", &[]),
    ("frontier", &["robots"]),
    ("dom", &[]),
    ("cluster", &["dom"]),
    ("text_mdl", &["dom"]),
    ("tps", &["dom"]),
    ("strings", &["dom"]),
    ("links", &["dom"]),
    ("subdigraph", &["dom", "links"]),
    ("witness", &["dom"]),
    ("template", &["dom", "witness"]),
    ("clean", &["dom", "tps", "witness", "template"]),
    ("baselines", &["dom"]),
    ("methods", &["dom", "cluster", "strings", "witness", "template", "clean", "baselines"]),
    ("learner", &["scope", "dom", "links", "subdigraph", "witness", "template", "clean", "methods"]),
];

/// What a top module may use; `None` when it stands on no floor.
fn may_use(module: &str) -> Option<Vec<&'static str>> {
    let floors = |lists: &[&[&'static str]]| Some(lists.concat());
    match module {
        "page" => floors(&[]),
        "calendar" => floors(&[]),
        "settings" => floors(&[&["page"]]),
        "crawl" => floors(&[GROUND, CORE, EDGES]),
        "evaluate" => floors(&[GROUND, CORE, EDGES, &["crawl"]]),
        // The demo is measured with evaluate's scores; that is the one arrow between faces.
        "demo" => floors(&[GROUND, CORE, EDGES, &["crawl", "evaluate"]]),
        edge if EDGES.contains(&edge) => floors(&[GROUND, CORE]),
        core => {
            let (_, arrows) = CORE_ARROWS.iter().find(|(name, _)| *name == core)?;
            floors(&[GROUND, arrows])
        }
    }
}

/// Each heavy crate has one home.
const HOMES: &[(&str, &[&str])] = &[
    ("reqwest", &["fetch"]),
    ("governor", &["fetch"]),
    ("rustls", &["fetch"]),
    ("rusqlite", &["store"]),
    ("html5ever", &["dom"]),
    ("libsais", &["strings"]),
    ("daachorse", &["strings"]),
    ("regex_automata", &["strings"]),
    ("priority_queue", &["frontier"]),
    ("hyper", &["demo", "cli"]),
    ("indicatif", &["cli"]),
    ("clap", &["cli"]),
    ("rlimit", &["cli"]),
    ("anyhow", &["cli"]),
    ("ammonia", &["cli"]),
];

/// What the core must not touch.
const WORLDLY: &[&str] =
    &["tokio", "std::fs", "std::net::Tcp", "SystemTime", "Instant::now", "std::io::std", "std::env"];

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// The part before the unit tests, without comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn top_module(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn modules_import_only_from_lower_floors() {
    let mut wrong = BTreeSet::new();
    for (path, text) in sources() {
        let module = top_module(&path);
        if ["main", "lib", "cli"].contains(&module.as_str()) {
            continue;
        }
        let allowed = may_use(&module).unwrap_or_else(|| panic!("{module} stands on no floor"));
        for used in code(&text).split("crate::").skip(1) {
            let name: String = used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if name != module && !allowed.contains(&name.as_str()) {
                wrong.insert(format!("{} uses {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn heavy_crates_have_one_home_and_the_core_no_world() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let (module, code) = (top_module(&path), code(&text));
        for (name, homes) in HOMES {
            if code.contains(&format!("{name}::")) && !homes.contains(&module.as_str()) {
                wrong.push(format!("{} uses {name}", path.display()));
            }
        }
        if GROUND.contains(&module.as_str()) || CORE.contains(&module.as_str()) {
            let touched = WORLDLY.iter().filter(|word| code.contains(**word));
            wrong.extend(touched.map(|word| format!("{} touches {word}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_module_says_what_it_is_for() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} has no module documentation", path.display());
        assert!(!code(&text).contains("::*;"), "{} has a glob import", path.display());
    }
}
