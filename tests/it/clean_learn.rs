//! `dehusk clean --learn`: the sites of a collection are learned on the way.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn rows(dir: &Path, args: &[&str]) -> (Option<i32>, Vec<Value>, String) {
    let program = Command::new(env!("CARGO_BIN_EXE_dehusk")).arg("clean").args(args).current_dir(dir).output().unwrap();
    let out = String::from_utf8(program.stdout).unwrap();
    let rows = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (program.status.code(), rows, String::from_utf8(program.stderr).unwrap())
}

/// Pages of three sites in turn; the third has one page only.
fn collection(dir: &Path, order: impl Iterator<Item = usize>) {
    let mut out = std::fs::File::create(dir.join("pages.jsonl")).unwrap();
    let words = ["rye", "oats", "corn", "rice", "malt", "millet"];
    for n in order {
        let text = format!("Everything about {} and its {} neighbours, told at length.", words[n % 6], n);
        let html = |site: &str, menu: &str| {
            let html = format!(
                "<nav>{menu}</nav><h1>{}</h1><p>{text}</p><footer>Some rights of {site}</footer>",
                words[n % 6]
            );
            json!({"url": format!("http://{site}/{n}"), "html": html})
        };
        writeln!(out, "{}", html("one.example", "Home News Shop")).unwrap();
        writeln!(out, "{}", html("two.example", "Start Blog About")).unwrap();
    }
    writeln!(out, "{}", json!({"url": "http://three.example/", "html": "<p>The only page of its site, and it is long enough to be read as the main content of a page."})).unwrap();
}

#[test]
fn sites_are_learned_from_their_own_pages_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let clean = |order: Vec<usize>| {
        collection(dir.path(), order.into_iter());
        let (code, rows, error) = rows(dir.path(), &["pages.jsonl", "--learn", "--rows"]);
        assert_eq!(code, Some(0), "{error}");
        rows
    };
    let forward = clean((0..30).collect());
    assert_eq!(forward.len(), 61);
    for row in &forward[..60] {
        let text = row["text"].as_str().unwrap();
        assert!(text.contains("told at length") && !text.contains("Home") && !text.contains("rights"), "{text}");
        assert_eq!((&row["step"], &row["model"]), (&json!("site_model"), &row["host"]));
    }
    assert_eq!((&forward[60]["step"], &forward[60]["model"]), (&json!("alone"), &Value::Null));
    let mut backward = clean((0..30).rev().collect());
    let by_url = |row: &Value| row["url"].as_str().unwrap().to_owned();
    let mut sorted = forward;
    sorted.sort_by_key(by_url);
    // Standard input is kept for the second reading.
    let lines = std::fs::read(dir.path().join("pages.jsonl")).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    program.args(["clean", "-", "--learn", "--rows"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&lines).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let mut piped: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &mut piped {
        assert_eq!(std::mem::replace(&mut row["source"], json!("pages.jsonl")), "standard input");
    }
    assert!(piped == backward, "in the order of the input");
    backward.sort_by_key(by_url);
    assert_eq!(sorted, backward, "models do not depend on the order of pages");

    // A line that is none is named, and the others are cleaned.
    let script = format!("(cat pages.jsonl; echo broken) | '{}' clean - --learn --json", env!("CARGO_BIN_EXE_dehusk"));
    let out = Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    let error = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.code() == Some(1) && error.contains("standard input, line 62"), "{error}");
    assert_eq!(out.stdout.iter().filter(|byte| **byte == b'\n').count(), 61);

    let (code, _, error) = rows(dir.path(), &["http://one.example/", "--learn"]);
    assert!(code == Some(2) && error.contains("--learn learns from files"), "{error}");
    std::fs::write(dir.path().join("nameless.jsonl"), "{\"html\": \"<p>one\"}\n{\"html\": \"<p>two\"}\n").unwrap();
    let (code, rows, error) = rows(dir.path(), &["nameless.jsonl", "--learn", "--rows"]);
    assert!(code == Some(0) && rows.len() == 2 && error.contains("2 pages have no URL"), "{error}");
}
