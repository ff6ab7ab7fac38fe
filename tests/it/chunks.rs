//! `--format chunks`: pieces of pages for retrieval.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{dehusk, err, out};

fn pages(dir: &Path) {
    let prose = |of: &str| format!("<p>{}</p>", format!("The {of} stands in the field all winter long. ").repeat(30));
    let rows: String = (0..60).map(|n| format!("<tr><td>field {n}</td><td>{n} tons</td></tr>")).collect();
    let html = format!(
        "<html lang=en><title>Grains</title><article><h1>Grains</h1>{}<h2 id=rye>Rye</h2>{}<h3>Yield</h3><table>\
         <tr><th>Field</th><th>Yield</th></tr>{rows}</table><h2>Code</h2><pre><code>{}</code></pre></article>",
        prose("wheat"),
        prose("rye"),
        "let a = 1;\n".repeat(80)
    );
    let line = |url: &str| format!("{}\n", json!({"url": url, "html": html}));
    let lines = ["http://a.test/grains#top", "http://b.test/"].map(line).concat();
    std::fs::write(dir.join("pages.jsonl"), lines).unwrap();
}

fn read(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn pieces_are_parts_of_the_markdown_and_know_their_place() {
    let dir = tempfile::tempdir().unwrap();
    pages(dir.path());
    let clean = |args: &[&str]| {
        let run = dehusk(dir.path(), &[&["clean", "pages.jsonl", "--alone", "--quiet"], args].concat());
        assert!(run.status.success(), "{}", err(&run));
        read(&out(&run))
    };
    let markdown = clean(&["--rows"])[0]["markdown"].as_str().unwrap().to_owned();
    let characters: Vec<char> = markdown.chars().collect();
    let small = clean(&["--format", "chunks", "--set", "export.chunk_chars=600"]);
    let named = dehusk(dir.path(), &["chunks", "pages.jsonl", "--alone", "-q", "--set", "export.chunk_chars=600"]);
    assert!(read(&out(&named)) == small, "{}", err(&named));
    let wrong = dehusk(dir.path(), &["chunks", "pages.jsonl", "--rows"]);
    assert!(wrong.status.code() == Some(2) && err(&wrong).contains("--rows"), "{}", err(&wrong));
    let (small, other) = small.split_at(small.len() / 2);
    assert!(small.len() > 5 && small[0]["text"] == other[0]["text"], "{small:?}");
    for (at, piece) in small.iter().enumerate() {
        let place = |name: &str| piece[name].as_u64().unwrap() as usize;
        let text: String = characters[place("start")..place("end")].iter().collect();
        assert_eq!(
            (text.as_str(), place("chunk"), place("chunks")),
            (piece["text"].as_str().unwrap(), at + 1, small.len())
        );
        let is_whole = text.contains("| field 0 |") || text.contains("```");
        assert!(is_whole || text.chars().count() <= 600, "{text}");
        assert!(piece["link"].as_str().unwrap().starts_with("http://a.test/grains#:~:text="), "{piece}");
        assert_eq!((&piece["title"], &piece["language"]), (&"Grains".into(), &"en".into()));
    }
    let with = |words: &str| small.iter().find(|piece| piece["text"].as_str().unwrap().contains(words)).unwrap();
    let table = with("| field 0 |");
    assert!(table["text"].as_str().unwrap().contains("| field 59 |"), "a table is whole");
    assert_eq!(table["headings"], json!(["Grains", "Rye", "Yield"]));
    assert_eq!(with("let a = 1;")["text"].as_str().unwrap().matches("let a = 1;").count(), 80);
    // A corpus holds the same lines. A size in tokens without a tokenizer is refused.
    let corpus = ["clean", "pages.jsonl", "--alone", "--format", "chunks", "--out", "corpus"];
    assert!(dehusk(dir.path(), &[&corpus[..], &["--set", "export.chunk_chars=600"]].concat()).status.success());
    let part = std::fs::File::open(dir.path().join("corpus/data/part-00000.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(part).unwrap()).unwrap();
    assert_eq!(read(&text), [small, other].concat());
    let tokens = ["clean", "pages.jsonl", "--format", "chunks", "--set", "export.chunk_tokens=100"];
    let refused = dehusk(dir.path(), &tokens);
    assert!(refused.status.code() == Some(2) && err(&refused).contains("export.tokenizer"), "{}", err(&refused));
}
