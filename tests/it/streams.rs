//! Seeds from a pipe that stays open.
#![cfg(unix)]

use std::fmt::Write as _;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};

fn site(_: &str, path: &str) -> Reply {
    let links = (0..9).fold(String::new(), |mut all, i| {
        write!(all, "<li><a href=/{i}>page {i}</a>").unwrap();
        all
    });
    match path {
        "/robots.txt" => Reply::status(404),
        _ => Reply::html(format!("<ul>{links}</ul><main><h1>{path}</h1><p>What {path} says, and it ends.</main>")),
    }
}

fn crawl(server: &Server, dir: &std::path::Path, seed: &str, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(["crawl", seed, "--json", "--set", "fetch.allow_private=true", "--set", "politeness.delay=5ms", "--set"])
        .arg(format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port()))
        .args(more)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn has_arrived(server: &Server, host: &str) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if server.arrivals().iter().any(|arrival| arrival.host.starts_with(host) && arrival.path == "/8") {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn summary(child: Child) -> serde_json::Value {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["summary"]["stats"].clone()
}

#[test]
fn sites_are_crawled_while_the_pipe_is_open() {
    let server = Server::start(Arc::new(site)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut child = crawl(&server, dir.path(), "-", &[]);
    let mut pipe = child.stdin.take().unwrap();
    for host in ["a", "b"] {
        writeln!(pipe, "http://{host}.test/0\nno url\nhttp://{host}.test/7").unwrap();
        assert!(has_arrived(&server, host), "{host} is crawled before the pipe ends");
    }
    drop(pipe);
    let summary = summary(child);
    assert_eq!((&summary["sites"], &summary["learned"]), (&2.into(), &2.into()), "{summary}");
}

#[test]
fn a_fifo_is_read_to_its_end_and_what_is_known_is_not_crawled_again() {
    let server = Server::start(Arc::new(site)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("seeds");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for night in 1..=2 {
        let child = crawl(&server, dir.path(), "seeds", &["--set", "crawl.pages_per_site=0"]);
        let mut pipe = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
        // Many more than may wait: the writer waits for the crawl.
        for n in 0..200 {
            writeln!(pipe, "http://s{}.test/{}", n % 150, n % 7).unwrap();
        }
        drop(pipe);
        let summary = summary(child);
        let key = if night == 1 { "learned" } else { "not_due" };
        assert_eq!((&summary["sites"], &summary[key]), (&150.into(), &150.into()), "night {night}: {summary}");
    }
}

#[test]
fn a_signal_ends_a_crawl_whose_pipe_is_open() {
    let server = Server::start(Arc::new(site)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut child = crawl(&server, dir.path(), "-", &[]);
    let mut pipe = child.stdin.take().unwrap();
    writeln!(pipe, "http://a.test/0").unwrap();
    assert!(has_arrived(&server, "a"));
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    drop(pipe);
}
