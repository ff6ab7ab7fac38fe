//! Personal data and tokens in the rows of corpora.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{dehusk, err, out};
use crate::export::lines;

/// A tokenizer of words and signs.
const TOKENIZER: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
    "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}}"#;

const FOOT: &str =
    "Für Fragen schreiben Sie an info@field.example.org oder rufen Sie an, Tel. 030 / 90 18 20, jeden Tag.";

fn pages(dir: &Path) {
    let text = |n: usize| {
        (0..12).map(|at| format!("Sentence {at} of page {n} on field {}. ", n * 31 + at)).collect::<String>()
    };
    let html = |n: usize| {
        format!(
            "<title>Ask ann{n}@field.example.org</title><h1>Page {n}</h1><p>{}</p><p>Mail <b>ann</b>{n}@<i>field</i>.example.org.</p>\
             <p>{FOOT}</p>",
            text(n)
        )
    };
    let line = |n: usize| json!({"url": format!("http://h{n}.test/"), "html": html(n)}).to_string() + "\n";
    std::fs::write(dir.join("pages.jsonl"), (0..3).map(line).collect::<String>()).unwrap();
    std::fs::write(dir.join("tokenizer.json"), TOKENIZER).unwrap();
}

/// The pieces of a text that the column `pii` names.
fn pieces(row: &Value) -> Vec<String> {
    let text: Vec<char> = row["text"].as_str().unwrap().chars().collect();
    let piece = |mark: &Value| {
        let (kind, place) = mark.as_str().unwrap().split_once(':').unwrap();
        let (begin, end) = place.split_once('-').unwrap();
        let piece: String = text[begin.parse().unwrap()..end.parse().unwrap()].iter().collect();
        format!("{kind} {piece}")
    };
    row["pii"].as_array().unwrap().iter().map(piece).collect()
}

#[test]
fn personal_data_is_marked_or_masked_and_tokens_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    pages(dir.path());
    let clean = |args: &[&str], name: &str| {
        let tokens = "export.tokenizer=tokenizer.json";
        let mut all = vec!["clean", "pages.jsonl", "--alone", "--quiet", "--out", name, "--set", tokens];
        all.extend(args);
        let run = dehusk(dir.path(), &all);
        assert!(run.status.success(), "{}", err(&run));
        lines(&dir.path().join(name))
    };
    let plain = clean(&[], "plain");
    assert!(plain.iter().all(|row| row["pii"] == json!([]) && row["text"].as_str().unwrap().contains("@field")));
    let marked = clean(&["--pii", "mark", "--where", "n_tokens > 100"], "marked");
    let want = ["email ann1@field.example.org", "email info@field.example.org", "phone 030 / 90 18 20"];
    assert_eq!((marked.len(), pieces(&marked[1])), (3, want.map(str::to_owned).to_vec()));
    assert_eq!(marked[1]["text"], plain[1]["text"]);
    // What stays of a text is counted, and marked, anew.
    let dropped = clean(&["--pii", "mark", "--paragraphs", "drop"], "dropped");
    assert_eq!(pieces(&dropped[1]), want[..1]);
    assert!(dropped[1]["n_tokens"].as_u64() < marked[1]["n_tokens"].as_u64());
    let words = |row: &Value| row["n_words"].as_u64().unwrap();
    assert!(words(&marked[1]) < marked[1]["n_tokens"].as_u64().unwrap());
    let masked = clean(&["--pii", "mask", "--html"], "masked");
    assert_eq!(masked[1]["pii"], json!(["email", "phone"]));
    for name in ["text", "markdown", "html", "title"] {
        let text = masked[1][name].as_str().unwrap();
        assert!(text.contains("[email]") && !text.contains("@field") && !text.contains("90 18"), "{name}: {text}");
    }
    // What cannot be masked, chosen or told is refused.
    for (args, what) in [
        (&["--pii", "mask", "--format", "warc", "--out", "raw"][..], "warc and wacz hold the pages as they are"),
        (&["--pii", "mask"], "--pii is for rows"),
        (&["--rows", "--where", "n_words > 3"], "--where chooses among the rows of a corpus"),
        (&["--rows", "--duplicates", "drop"], "--duplicates chooses"),
        (&["--out", "typo", "--where", "\"n_wrds\" >= 5"], "no such column: "),
        (&["--out", "typo", "--fields", "html=contnt", "--fail-above", "1%"], "3 of 3 documents cannot be read"),
    ] {
        let run = dehusk(dir.path(), &[&["clean", "pages.jsonl", "--alone"], args].concat());
        assert!(!run.status.success() && err(&run).contains(what), "{args:?}: {}", err(&run));
    }
    // The same on standard output, and in an export of a store.
    let run = dehusk(dir.path(), &["clean", "pages.jsonl", "--alone", "--quiet", "--rows", "--pii", "mask"]);
    let first: Value = serde_json::from_str(out(&run).lines().next().unwrap()).unwrap();
    assert_eq!((&first["pii"], &first["n_tokens"]), (&json!(["email", "phone"]), &Value::Null));
    let run = dehusk(dir.path(), &["clean", "pages.jsonl", "--rows", "--set", "export.tokenizer=none.json"]);
    assert!(!run.status.success() && err(&run).contains("export.tokenizer \"none.json\""), "{}", err(&run));
}
