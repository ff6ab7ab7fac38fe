//! `dehusk clean --out`: a corpus from archives and JSON lines.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::cli::{dehusk, err, out};
use crate::export::lines;

fn prose(n: usize) -> String {
    let sentence = |at: usize| format!("Sentence {at} of page {n} tells what grows in field {}. ", n * 31 + at);
    (0..12).map(sentence).collect()
}

fn html(n: usize) -> String {
    format!("<title>Page {n}</title><nav><a href=/>Home</a></nav><main><h1>Page {n}</h1><p>{}</p></main>", prose(n))
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(body).unwrap();
    packed.finish().unwrap()
}

/// A response record. `about` are header lines of the record, `head` is the head of the response.
fn record(path: &str, about: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let block = [head.as_bytes(), body].concat();
    let begin = format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/{path}\r\n{about}");
    let ids = format!("WARC-Record-ID: <urn:{path}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n");
    let begin = format!("{begin}{ids}Content-Length: {}\r\n\r\n", block.len());
    [begin.as_bytes(), &block, b"\r\n\r\n"].concat()
}

fn left_out(dir: &Path) -> BTreeMap<String, Value> {
    let list = std::fs::read_to_string(dir.join("left-out-00000.jsonl")).unwrap();
    let line = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    list.lines().map(line).map(|line| (line["url"].as_str().unwrap().to_owned(), line)).collect()
}

#[test]
fn every_record_of_an_archive_is_a_row_or_is_left_out_for_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let packed = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";
    let bare = "HTTP/1.1 200 OK\r\n\r\n";
    let page = html(1);
    let whole = gzip((0..400).map(html).collect::<String>().as_bytes());
    let truncated = "WARC-Truncated: length\r\n";
    let identified = "WARC-Identified-Payload-Type: text/html\r\n";
    let archive = [
        record("plain", "", ok, html(0).as_bytes()),
        record("declared", "", packed, page.as_bytes()),
        record("cut", "", packed, &whole[..whole.len() / 2]),
        record("short", truncated, ok, html(3).as_bytes()),
        record("identified", identified, bare, format!("Words first. {}", html(4)).as_bytes()),
        record("sniffed", "", bare, format!("<!doctype html>{}", html(5)).as_bytes()),
        record("lines", "", "HTTP/1.0 200 OK\nContent-Type: text/html\n\n", html(6).as_bytes()),
        record("icy", "", "ICY 200 OK\r\nContent-Type: text/html\r\n\r\n", html(7).as_bytes()),
        record("moved", "", "HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n", b""),
        record("gone", "", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", html(8).as_bytes()),
        record("paper", "", "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n", b"%PDF-1.4"),
        record("nothing", "", ok, b""),
        record("damaged", "", packed, &whole[..11]),
        record(
            "private",
            "",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: noindex\r\n\r\n",
            html(9).as_bytes(),
        ),
        record("twin", "", ok, html(0).as_bytes()),
    ];
    std::fs::write(dir.path().join("a.warc"), archive.concat()).unwrap();
    let run = |more: &[&str]| {
        dehusk(dir.path(), &[&["clean", "a.warc", "--alone", "--out", "c", "--duplicates", "drop"], more].concat())
    };
    let done = run(&[]);
    assert!(done.status.success() && out(&done).contains("8 rows in 1 part"), "{}{}", out(&done), err(&done));
    let rows = lines(&dir.path().join("c"));
    let paths: Vec<&str> = rows.iter().map(|row| &row["url"].as_str().unwrap()["http://a.test/".len()..]).collect();
    assert_eq!(paths, ["plain", "declared", "cut", "short", "identified", "sniffed", "lines", "icy"]);
    for (row, path) in rows.iter().zip(&paths) {
        assert!(row["text"].as_str().unwrap().contains("tells what grows"), "{row}");
        let truncated = match *path {
            "cut" => json!("coding"),
            "short" => json!("length"),
            _ => Value::Null,
        };
        assert_eq!((&row["truncated"], &row["source"]), (&truncated, &json!("a.warc")), "{path}");
        assert_eq!(row["warc_record_id"], format!("<urn:{path}>"));
    }
    let left_out = left_out(&dir.path().join("c"));
    let why: Vec<(&str, &str)> =
        left_out.iter().map(|(url, line)| (&url[14..], line["why"].as_str().unwrap())).collect();
    let expected = [
        ("gone", "http_status"),
        ("moved", "redirect"),
        ("nothing", "empty"),
        ("paper", "not_html"),
        ("private", "noindex"),
        ("twin", "duplicate"),
    ];
    assert_eq!(why.iter().filter(|(_, why)| *why != "unreadable").copied().collect::<Vec<_>>(), expected);
    assert_eq!(left_out["http://a.test/twin"]["of"], "http://a.test/plain");
    let unreadable: Vec<&Value> = left_out.values().filter(|line| line["why"] == "unreadable").collect();
    assert!(unreadable.len() == 1 && unreadable[0].to_string().contains("http://a.test/damaged"), "{unreadable:?}");
    // Again it is the same, and what is asked for otherwise needs another folder.
    assert!(out(&run(&[])).contains("8 rows in 1 part"));
    let other = run(&["--where", "n_words > 3"]);
    assert!(other.status.code() == Some(2) && err(&other).contains("other options"), "{}", err(&other));
    let strict = dehusk(dir.path(), &["clean", "a.warc", "--alone", "--out", "s", "--fail-above", "0.05"]);
    assert!(strict.status.code() == Some(1) && err(&strict).contains("1 of 15 documents"), "{}", err(&strict));
    for (format, file) in
        [("warc", "data/part-00000.warc.gz"), ("wet", "data/part-00000.warc.wet.gz"), ("md", "a.test/plain.md")]
    {
        let done = dehusk(dir.path(), &["clean", "a.warc", "--alone", "--out", format, "--format", format]);
        assert!(done.status.success() && dir.path().join(format).join(file).is_file(), "{format}: {}", err(&done));
    }
}

#[test]
fn a_killed_corpus_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut pages = std::fs::File::create(dir.path().join("p.jsonl")).unwrap();
    for n in 0..700 {
        // One in ten repeats an earlier page.
        let html = html(if n % 10 == 9 { n / 2 } else { n });
        let line = json!({"id": format!("doc-{n}"), "n": n, "deep": {"er": [n]}, "url": format!("http://a.test/{n}"), "html": html});
        writeln!(pages, "{line}").unwrap();
    }
    let args = |folder: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir.path()).args(["clean", "p.jsonl", "--learn", "--part-size", "1", "--pass", "id,deep"]);
        command.args(["--near-duplicates", "mark", "--quiet", "--out", folder]);
        command
    };
    // No page links to another one.
    let learned = dehusk(dir.path(), &["learn", "p.jsonl", "--db", "m.db"]);
    assert!(learned.status.success(), "{}", err(&learned));
    assert!(args("whole").status().unwrap().success());
    let manifest = |folder: &str| -> Value {
        let read = std::fs::read(dir.path().join(folder).join("manifest.json"));
        read.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    };
    let n_parts = |folder: &str| manifest(folder)["parts"].as_array().map_or(0, Vec::len);
    assert!(n_parts("whole") > 2, "{}", manifest("whole"));
    let mut child = args("killed").spawn().unwrap();
    while n_parts("killed") == 0 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(dir.path().join("killed/data/part-00009.jsonl.zst.part"), "half a part").unwrap();
    assert!(args("killed").status().unwrap().success());
    assert_eq!(manifest("killed"), manifest("whole"));
    for part in manifest("whole")["parts"].as_array().unwrap() {
        let read = |folder: &str| std::fs::read(dir.path().join(folder).join(part["name"].as_str().unwrap())).unwrap();
        assert!(read("killed") == read("whole"), "{part}");
    }
    let rows = lines(&dir.path().join("killed"));
    assert_eq!(std::fs::read_dir(dir.path().join("killed/data")).unwrap().count(), n_parts("whole"));
    for (n, row) in rows.iter().enumerate() {
        assert_eq!((&row["source_id"], &row["source"]), (&json!(format!("doc-{n}")), &json!("p.jsonl")));
        let passed: Value = serde_json::from_str(row["input"].as_str().unwrap()).unwrap();
        assert_eq!(passed, json!({"id": format!("doc-{n}"), "deep": {"er": [n]}}));
        // What would repeat a repeat repeats nothing: that page has the text of another one.
        let is_repeat = n % 10 == 9 && n / 2 % 10 != 9;
        let of = if is_repeat { json!(format!("http://a.test/{}", n / 2)) } else { Value::Null };
        assert_eq!(row["duplicate_of"], of, "{n}");
    }
}

/// Whatever could mix two collections, or lose a document, is refused before a row is written.
#[test]
fn sources_that_are_others_or_cannot_be_read_are_no_part_of_a_corpus() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let line = |url: &str, n: usize| format!("{}\n", json!({"url": format!("http://a.test/{url}"), "html": html(n)}));
    std::fs::write(path("a.jsonl"), [line("0", 0), line("1", 1), line("0", 0)].concat()).unwrap();
    let clean = |source: &str, folder: &str, more: &[&str]| {
        let args = [&["clean", source, "--alone", "--quiet", "--out", folder, "--duplicates", "drop"], more].concat();
        let done = dehusk(dir.path(), &args);
        (done.status.code().unwrap(), out(&done) + &err(&done))
    };
    // The same address twice is a repeat like any other.
    let (code, said) = clean("a.jsonl", "c", &[]);
    assert!(code == 0 && said.contains("2 rows") && said.contains("1 left out (duplicate)"), "{said}");
    // Another document of the same length in its place.
    std::fs::write(path("a.jsonl"), [line("5", 0), line("1", 1), line("0", 0)].concat()).unwrap();
    let (code, said) = clean("a.jsonl", "c", &[]);
    assert!(code == 2 && said.contains("other documents than when this corpus was begun"), "{said}");
    // A source that is not there is no document of a corpus, and claims no folder.
    let (code, said) = clean("b.jsonl", "new", &[]);
    assert!(code == 3 && said.contains("b.jsonl"), "{said}");
    let (code, said) = clean("a.jsonl", "new", &["--set", "clean.keep=own"]);
    assert!(code == 0, "{said}");
    // A folder holds pages, archives and lines; what is written there is not read.
    std::fs::create_dir(path("in")).unwrap();
    std::fs::copy(path("a.jsonl"), path("in/b.jsonl")).unwrap();
    std::fs::write(path("in/page.html"), html(7)).unwrap();
    std::fs::write(path("in/void.html"), "").unwrap();
    std::fs::write(path("in/w.warc"), record("w", "", "HTTP/1.1 200 OK\r\n\r\n", html(8).as_bytes())).unwrap();
    let (code, said) = clean("in", "in/out", &[]);
    assert!(code == 2 && said.contains("it is in the source in"), "{said}");
    let (code, said) = clean("in", "folder", &[]);
    assert!(code == 0 && said.contains("4 rows") && said.contains("1 left out (empty)"), "{said}");
    let sources: Vec<Value> = lines(&path("folder")).into_iter().map(|row| row["source"].clone()).collect();
    assert_eq!(sources, ["in/b.jsonl", "in/b.jsonl", "in/page.html", "in/w.warc"]);
    let (code, said) = clean("in", "https://a.test/x", &[]);
    assert!(code == 2 && said.contains("no such kind of folder"), "{said}");
}
