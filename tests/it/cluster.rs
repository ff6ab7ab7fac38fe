//! Piles of pages on the command line.

use std::path::Path;

use dehusk::demo::generated;
use serde_json::json;

use crate::cli::{dehusk, err};

/// The layouts of these sites differ little.
const LAYOUT: &str = "papers.cluster.distance=0.08";

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
    for method in ["mdl", "hash", "max", "cp", "cps", "ctss", "rtdm"] {
        // Each has its own scale.
        let layout = match method {
            "cp" => "papers.cluster.distance=0.02",
            "ctss" => "papers.cluster.distance=0.12",
            _ => LAYOUT,
        };
        let args = ["cluster", "pile.jsonl", "--gold", "site", "--json", "--method", method, "--set", layout];
        let output = dehusk(dir.path(), &args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["schema"], &found["n_pages"]), (&1.into(), &n.into()));
        let rand = found["gold"]["rand"].as_f64().unwrap();
        // One cluster for all would have 0.28.
        assert!(rand > 0.7, "{method}: Rand {rand}");
        if ["cp", "cps", "ctss", "rtdm"].contains(&method) {
            assert!(found["gold"]["dunn"].as_f64().is_some(), "{method}: {}", found["gold"]);
        } else {
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
fn templates_of_a_pile_are_stored_and_clean_further_pages() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| dehusk(dir.path(), args);
    let none = run(&["clean", "x.html", "--method", "text"]);
    assert!(!none.status.success());
    let page = |site: usize, own: &str| {
        let menu = ["<nav><a>Home</a> <b>Shop</b></nav>", "<table><tr><td>Start<td>Mail</table>"][site];
        format!("<body>{menu}<main><h1>{own}</h1><p>About {own}</p></main>")
    };
    for site in 0..2 {
        let folder = dir.path().join(format!("pile/{site}"));
        std::fs::create_dir_all(&folder).unwrap();
        for own in ["rye", "oats", "corn", "rice"] {
            std::fs::write(folder.join(format!("{own}.html")), page(site, own)).unwrap();
        }
        std::fs::write(dir.path().join(format!("new{site}.html")), page(site, "barley")).unwrap();
    }
    let stored = run(&["cluster", "pile", "--store", "grain"]);
    assert!(stored.status.success(), "{}", String::from_utf8_lossy(&stored.stderr));
    for site in 0..2 {
        let args = ["clean", &format!("new{site}.html"), "--method", "text"];
        let output = run(&args);
        let cleaned = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(cleaned.split_whitespace().collect::<Vec<_>>(), ["barley", "About", "barley"], "site {site}");
    }
    let named = run(&["clean", "new0.html", "--method", "text", "--collection", "fruit"]);
    assert!(String::from_utf8_lossy(&named.stderr).contains("no collection fruit; stored are: grain"));
    for (args, code, reason) in [
        (&["cluster", "pile", "--store", "x", "--method", "cps"][..], 2, "only mdl, hash and max"),
        (&["cluster", "pile", "--store", " "], 2, "the name is empty"),
        (&["cluster", "new0.html", "--store", "x"], 1, "no two pages share"),
    ] {
        let refused = run(args);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(code) && said.contains(reason), "{args:?}: {said}");
    }
}

#[test]
fn the_keys_of_the_paper_change_the_clusters() {
    let dir = tempfile::tempdir().unwrap();
    pile(dir.path());
    let clusters = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", *set]);
        let args: Vec<&str> = ["cluster", "pile.jsonl", "--json", "--method", "mdl"].into_iter().chain(sets).collect();
        let output = dehusk(dir.path(), &args);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["clusters"].as_array().unwrap().len(), found["cost"].as_u64().unwrap())
    };
    let (default, entropy) = (clusters(&[]), clusters(&["papers.text.cost=entropy"]));
    assert_ne!(entropy, default);
    assert_ne!(clusters(&["papers.text.threshold=0.1"]), default);
    assert_eq!(clusters(&["papers.text.threshold=1.0"]), default);
}

/// Paths of the worked example of Kim and Shim: {1..4}, {1..5}, {1..5}, {1, 2}, a path for each element below the body.
#[test]
fn costs_are_printed_in_ones_and_in_bits() {
    let dir = tempfile::tempdir().unwrap();
    for (page, n) in [4, 5, 5, 2].into_iter().enumerate() {
        let below: String = ["<p>", "<hr>", "<ul>", "<ol>", "<dl>"][..n].concat();
        std::fs::write(dir.path().join(format!("{page}.html")), below).unwrap();
    }
    let pages = ["0.html", "1.html", "2.html", "3.html"];
    let run = |more: &[&str]| dehusk(dir.path(), &[&["cluster"], &pages[..], more].concat());
    let json = run(&["--method", "mdl", "--set", "papers.text.cost=entropy", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(found["bits"].as_f64().unwrap() > 10.0 && found["essential_paths"].as_u64() > Some(3), "{found}");
    let shown = run(&["--method", "mdl", "--set", "papers.text.cost=entropy"]);
    let bits =
        format!("entropy {:.3} bits, {} essential paths", found["bits"].as_f64().unwrap(), found["essential_paths"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&bits), "{bits}");
    let histogram = run(&["--method", "cps", "--distances"]);
    let text = String::from_utf8_lossy(&histogram.stdout).into_owned();
    let pairs: usize = text.lines().filter_map(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok()).sum();
    assert!(text.contains("0.95 to 1.00") && pairs == 6, "{text}");
    assert_eq!(run(&["--method", "mdl", "--distances"]).status.code(), Some(2));
}

/// Kim and Shim 2011, example 1.
#[test]
fn example_1_comes_out_as_printed() {
    let dir = tempfile::tempdir().unwrap();
    let bodies = ["<h1>Tech</h1><br>", "<h1>World</h1><br>List", "<h1>Local</h1><br>List", "List"];
    for (n, body) in (1..).zip(bodies) {
        std::fs::write(dir.path().join(format!("d{n}.html")), format!("<html><body>{body}</body></html>")).unwrap();
    }
    let paper =
        ["min_support=1", "universal=1", "threshold=1", "implied=false"].map(|key| format!("papers.text.{key}"));
    let sets = paper.iter().flat_map(|key| ["--set", key]);
    let args = ["cluster", "d1.html", "d2.html", "d3.html", "d4.html", "--method", "mdl", "--json"];
    let output = dehusk(dir.path(), &args.into_iter().chain(sets.clone()).collect::<Vec<_>>());
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let pages = |cluster: usize| found["clusters"][cluster]["pages"].clone();
    assert_eq!((pages(0), pages(1)), (json!(["d1.html", "d2.html", "d3.html"]), json!(["d4.html"])), "{found}");
    let bits = found["bits"].as_f64().unwrap();
    assert!(found["cost"] == 8 && found["essential_paths"] == 5 && (bits - 38.672).abs() < 1e-3, "{found}");
    let stored = dehusk(dir.path(), &args.into_iter().chain(sets).chain(["--store", "x"]).collect::<Vec<_>>());
    assert!(stored.status.code() == Some(2) && err(&stored).contains("papers.text.implied"), "{}", err(&stored));
}

#[test]
fn stored_pages_are_clustered() {
    let dir = tempfile::tempdir().unwrap();
    assert!(dehusk(dir.path(), &["demo", "--quiet"]).status.success());
    let run = |args: &[&str]| {
        let out = dehusk(dir.path(), &[args, &["--db", "dehusk-demo/dehusk.db"]].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let all: serde_json::Value =
        serde_json::from_str(&run(&["cluster", "--stored", "--gold", "host", "--json"])).unwrap();
    assert!(all["n_pages"].as_u64() > Some(60) && all["gold"]["precision"].as_f64() > Some(0.5), "{all}");
    let one: serde_json::Value =
        serde_json::from_str(&run(&["cluster", "--stored", "menus.demo.test", "--json"])).unwrap();
    assert!(one["n_pages"].as_u64() < all["n_pages"].as_u64() && one["n_pages"].as_u64() > Some(3));
    run(&["cluster", "--stored", "menus.demo.test", "--store", "menus"]);
    let page = run(&["pages", "show", "http://menus.demo.test/1/2.html", "--format", "raw"]);
    std::fs::write(dir.path().join("page.html"), page).unwrap();
    let cleaned = run(&["clean", "page.html", "--method", "text", "--collection", "menus"]);
    assert!(!cleaned.contains("Imprint") && cleaned.len() > 300, "{cleaned}");
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
