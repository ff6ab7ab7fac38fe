//! Learning quality on the real sites: the paper's preset to the letter, and floors that only rise.

use std::collections::BTreeMap;
use std::process::Command;

use dehusk::evaluate::{Marked, Report, Task, Which, evaluate};
use dehusk::methods;
use dehusk::settings::{Preset, Settings};
use serde_json::Value;

use crate::corpus;

fn run(preset: Preset, method: &str, which: Which) -> Option<(Report, Vec<Marked>)> {
    let corpus = corpus::sites()?;
    let settings = Settings::default().with_preset(preset);
    let task = Task { corpus, method: methods::find(method).unwrap(), which, settings: &settings };
    let mut marked = Vec::new();
    let report = evaluate(&task, |m| marked.push(m.clone())).unwrap();
    Some((report, marked))
}

#[test]
fn thesis2014_is_the_literal_paper() {
    let Some((report, _)) = run(Preset::Thesis2014, "etdm", Which::Key) else { return };
    let expected = std::fs::read_to_string(corpus::shared("algorithms/expected_dev.json")).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_str(&expected).unwrap();
    let mut different = Vec::new();
    for site in &report.sites {
        let mut got = serde_json::to_value(&site.learning).unwrap();
        got["labels"] = site.key_labels.clone().into();
        let want = &expected[&site.site];
        let keys = ["nodes", "links", "loads", "requests", "cs", "t", "labels"];
        let wrong: Vec<&str> = keys.into_iter().filter(|k| got[*k] != want[*k]).collect();
        if !wrong.is_empty() {
            different.push(format!("{}: {wrong:?}", site.site));
        }
    }
    assert_eq!(report.sites.len(), 36);
    assert!(different.is_empty(), "{different:#?}");
    assert!((report.key().f1 - 0.798).abs() < 0.003, "{:?}", report.key());
}

/// What other programs print for our dump, to three digits.
#[test]
fn our_figures_equal_those_of_the_independent_scorers() {
    let Some((report, marked)) = run(Preset::Dehusk, "etdm", Which::Gold) else { return };
    let sites = corpus::sites().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("dump.jsonl");
    let lines: Vec<String> = marked.iter().map(|m| serde_json::to_string(m).unwrap()).collect();
    std::fs::write(&dump, lines.join("\n")).unwrap();
    let python = |args: &[&std::path::Path], more: &[&str]| -> Value {
        let out = Command::new("python3").args(args).args(more).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(out.stdout.split(|b| *b == b'\n').next().unwrap()).unwrap()
    };
    let close = |what: &str, ours: f64, theirs: &Value| {
        let theirs = theirs.as_f64().unwrap();
        assert!((ours - theirs).abs() < 0.0005, "{what}: ours {ours}, theirs {theirs}");
    };
    let nodes = corpus::shared("score/nodes.py");
    let labels = sites.join("labels/dev");
    let all = python(&[&nodes, &labels, &dump], &[]);
    assert_eq!(all["pages_of_other_node_count"], 0);
    close("nodes F1", report.nodes().f1, &all["f1"]);
    close("nodes P", report.nodes().precision, &all["precision"]);
    close("nodes R", report.nodes().recall, &all["recall"]);
    let gold = sites.join("gold.toml");
    let key = python(&[&nodes, &labels, &dump], &["--key", gold.to_str().unwrap()]);
    // The gold file lists the sites of every split; those that are not here count 0 there.
    let n = key["sites"].as_f64().unwrap();
    close("key F1", report.key().f1 * report.sites.len() as f64 / n, &key["f1"]);
    if Command::new("python3").args(["-c", "import rapidfuzz"]).status().is_ok_and(|s| s.success()) {
        let words = python(&[&corpus::shared("score/score.py"), &sites.join("content-dev.jsonl"), &dump], &[]);
        close("bag F1", report.bag().f1, &words["bag_f1"]);
        close("bag P", report.bag().precision, &words["bag_p"]);
        close("bag R", report.bag().recall, &words["bag_r"]);
        close("lcs F1", report.lcs().f1, &words["lcs_f1"]);
    } else {
        eprintln!("skipped: score.py needs rapidfuzz");
    }
}
