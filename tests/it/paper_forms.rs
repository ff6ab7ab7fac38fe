//! The keys that docs/methods.md gives for the form of each paper: each of them runs, alone and with the others.

use std::path::Path;

use dehusk::demo::generated;
use dehusk_html::{NodeId, ParseOptions, ancestors, parse};
use serde_json::{Value, json};

use crate::cli::{dehusk, err};

/// The keys of each section that has a paper's form, with its first method.
fn paper_forms() -> Vec<(String, Vec<(String, String)>)> {
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/methods.md")).unwrap();
    let of_section = |section: &str| {
        let name = section.lines().next().unwrap().split([' ', ':']).next().unwrap().to_owned();
        let form = section.split("**The paper's form**").nth(1)?;
        let form = form.split("\n**").next().unwrap().split("\n\n").next().unwrap();
        let pairs = form.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(" = "));
        Some((name, pairs.map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned())).collect()))
    };
    guide.split("\n## ").skip(1).filter_map(of_section).collect()
}

/// The words that are marked as the page's own.
fn own_text(marked: &str) -> String {
    let tree = parse(marked, &ParseOptions::default());
    let is_own = |node: NodeId| ancestors(&tree, node).any(|above| tree.attr(above, "data-own").is_some());
    let own = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node) && is_own(*node));
    own.map(|node| tree.text(node)).collect::<Vec<_>>().join(" ")
}

/// Pages of two generated sites, their own words as gold.
fn pages(dir: &Path) -> usize {
    let mut lines = String::new();
    let mut n = 0;
    for seed in [3, 4] {
        let site = generated(seed);
        for (path, page) in &site.pages {
            let url = format!("http://{}{path}", site.host());
            let gold = own_text(&page.marked);
            let line = json!({"id": n.to_string(), "site": site.host(), "url": url, "html": page.html(), "gold": gold});
            lines += &format!("{line}\n");
            n += 1;
        }
    }
    std::fs::write(dir.join("pages.jsonl"), lines).unwrap();
    n
}

/// The score and the texts that a method gives.
fn evaluated(dir: &Path, method: &str, sets: &[String]) -> (Value, String) {
    let mut args = vec!["evaluate", "pages.jsonl", "--method", method, "--json", "--dump", "texts.jsonl"];
    args.extend(["--config", "/dev/null"]);
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let run = dehusk(dir, &args);
    assert!(run.status.success(), "{method} {sets:?}: {}", err(&run));
    (serde_json::from_slice(&run.stdout).unwrap(), std::fs::read_to_string(dir.join("texts.jsonl")).unwrap())
}

#[test]
fn every_key_of_a_papers_form_runs() {
    let dir = tempfile::tempdir().unwrap();
    let n = pages(dir.path());
    let forms = paper_forms();
    let names: Vec<&str> = forms.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["etdm", "df", "strings", "tps", "text"]);
    for (name, keys) in &forms {
        // A section for two methods gives the keys of the second one.
        let method = if name == "df" { "gottron" } else { name };
        assert!(!keys.is_empty(), "{name}");
        let sets: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for set in &sets {
            let (report, _) = evaluated(dir.path(), method, std::slice::from_ref(set));
            assert_eq!(report["word_pages"].as_u64(), Some(n as u64), "{method} {set}");
        }
        let (_, usual) = evaluated(dir.path(), method, &[]);
        let (report, of_paper) = evaluated(dir.path(), method, &sets);
        assert!(report["bag"]["recall"].as_f64().unwrap() > 0.2, "{method}: {report}");
        // The defaults of gottron are the paper's.
        assert_eq!(usual == of_paper, method == "gottron", "{method} {sets:?}");
    }
}
