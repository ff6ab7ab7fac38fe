//! Piles of pages on the command line.

use std::path::Path;

use dehusk::demo::generated;

use crate::cli::dehusk;

/// The layouts of these sites differ little.
const LAYOUT: &str = "cluster.distance=0.08";

/// The pages of generated sites as JSON lines.
fn pile(dir: &Path) -> usize {
    let mut lines = Vec::new();
    for seed in [3, 4, 6, 8] {
        for (path, page) in generated(seed).pages {
            lines.push(
                serde_json::json!({"id": format!("{seed}{path}"), "site": seed.to_string(), "html": page.html()}),
            );
        }
    }
    let text: Vec<String> = lines.iter().map(serde_json::Value::to_string).collect();
    std::fs::write(dir.join("pile.jsonl"), text.join("\n")).unwrap();
    lines.len()
}

#[test]
fn pages_of_a_template_come_together_by_every_method() {
    let dir = tempfile::tempdir().unwrap();
    let n = pile(dir.path());
    for method in ["mdl", "hash", "max", "cps"] {
        let args = ["cluster", "pile.jsonl", "--gold", "site", "--json", "--method", method, "--set", LAYOUT];
        let output = dehusk(dir.path(), &args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["schema"], &found["n_pages"]), (&1.into(), &n.into()));
        let rand = found["gold"]["rand"].as_f64().unwrap();
        // One cluster for all would have 0.28.
        assert!(rand > 0.7, "{method}: Rand {rand}");
        if method != "cps" {
            assert!(found["gold"]["precision"].as_f64().unwrap() > 0.85, "{method}: {}", found["gold"]);
            let template = found["clusters"][0]["template"].as_array().unwrap();
            assert!(template.iter().any(|path| path.as_str().unwrap().starts_with("html/body/")), "{template:?}");
        }
    }
    let shown = dehusk(dir.path(), &["cluster", "pile.jsonl", "--gold", "site", "--paths"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("against site: precision") && shown.contains("html/body/header"), "{shown}");
}

#[test]
fn a_pile_without_pages_and_a_line_without_its_gold_are_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "no page").unwrap();
    let none = dehusk(dir.path(), &["cluster", "a.txt"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no pages found"));
    std::fs::write(dir.path().join("page.html"), "<html><body><p>a").unwrap();
    let mut from_stdin = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"));
    let page = std::fs::File::open(dir.path().join("page.html")).unwrap();
    let output = from_stdin.args(["cluster", "-", "--gold", "x"]).stdin(page).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(dir.path().join("p.jsonl"), "{\"html\":\"<p>a\"}\n{\"html\":\"<p>a\",\"site\":\"x\"}\n").unwrap();
    let gold = dehusk(dir.path(), &["cluster", "p.jsonl", "--gold", "site"]);
    assert_eq!(gold.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gold.stderr).contains("p.jsonl, line 1: no field site"));
}
