//! What grows beside a crawl: `--export` and `--feed`, through kills and over two nights.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Answer, Reply, Server};
use serde_json::Value;

use crate::export::lines;

fn page(path: &str, is_later: bool) -> Option<String> {
    let n: usize = path.trim_start_matches('/').parse().ok().filter(|n| *n < 40)?;
    let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    let next = format!("<a href=/{}>next</a> <a href=/{}>after that</a>", n + 1, n + 2);
    let word = if is_later && n.is_multiple_of(10) { "another" } else { "text" };
    Some(format!(
        "<title>t</title><nav><ul>{menu}</ul></nav><main><p>{word} about number {n} in a sentence.</p>{next}</main>"
    ))
}

fn crawl(dir: &Path, server: &Server, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir).args(["crawl", "http://a.test/0", "--config", "/dev/null", "--db", "f.db"]).args(more);
    for pair in [
        format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port()),
        "fetch.allow_private=true".to_owned(),
        "politeness.delay=20ms".to_owned(),
        "crawl.pages_per_site=100".to_owned(),
        "revisit.least=0".to_owned(),
    ] {
        command.args(["--set", &pair]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Lines of the feed by number; a number that comes twice has the same line.
fn feed(dir: &Path) -> BTreeMap<i64, Value> {
    let mut by_seq = BTreeMap::new();
    for line in std::fs::read_to_string(dir.join("feed.jsonl")).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let url = line["url"].clone();
        let before = by_seq.insert(line["seq"].as_i64().unwrap(), line);
        assert!(before.is_none_or(|before| before["url"] == url));
    }
    by_seq
}

#[test]
fn an_export_and_a_feed_grow_with_the_crawl_and_lose_nothing() {
    let is_later = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&is_later);
    let answer: Arc<Answer> = Arc::new(move |_: &str, path: &str| match page(path, switch.load(Ordering::Relaxed)) {
        Some(html) => Reply::html(html),
        None => Reply::status(404),
    });
    let server = Server::start(answer).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let both = ["--export", "corpus", "--feed", "feed.jsonl"];
    for milliseconds in [400, 900] {
        let mut child = crawl(dir.path(), &server, &both).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let out = crawl(dir.path(), &server, &both).output().unwrap();
    let told = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{told}\n{}", String::from_utf8_lossy(&out.stderr));
    assert!(told.contains("export: corpus has 40 rows in 1 part") && told.contains("feed.jsonl"), "{told}");
    // A site that goes on after a restart shows the template that it was given before.
    let row: Vec<&str> = told.lines().find(|line| line.starts_with("a.test ")).unwrap().split_whitespace().collect();
    assert!(row[5].parse::<usize>().unwrap() > 0 && row[6].parse::<usize>().unwrap() > 0, "{told}");
    let first = feed(dir.path());
    let urls = |rows: &mut dyn Iterator<Item = &Value>| rows.map(|row| row["url"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!((first.len(), urls(&mut first.values()).len()), (40, 40));
    assert!(first.values().all(|row| row["change"] == "new" && row["text"].as_str().unwrap().contains("about number")));
    let rows = lines(&dir.path().join("corpus"));
    assert_eq!((rows.len(), urls(&mut rows.iter()).len()), (40, 40));

    is_later.store(true, Ordering::Relaxed);
    let out = crawl(dir.path(), &server, &["--feed", "feed.jsonl", "--all"]).output().unwrap();
    assert!(out.status.success());
    let later: Vec<Value> =
        feed(dir.path()).into_iter().filter(|(seq, _)| !first.contains_key(seq)).map(|(_, row)| row).collect();
    assert_eq!(later.len(), 4, "{later:?}");
    assert!(later.iter().all(|row| row["change"] == "changed" && row["text"].as_str().unwrap().contains("another")));

    // A folder that cannot be used is said before anything is fetched.
    std::fs::write(dir.path().join("taken"), "x").unwrap();
    let n = server.arrivals().len();
    let out = crawl(dir.path(), &server, &["--export", "taken"]).output().unwrap();
    assert!(out.status.code() == Some(3) && String::from_utf8_lossy(&out.stderr).contains("taken"));
    assert_eq!(server.arrivals().len(), n);
}
