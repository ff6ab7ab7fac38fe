//! The examples of docs/nightly.md and the service of packaging/, run as cron and systemd would: the command line, the log, the exit code.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};

use crate::cli::{err, signal_after};

const NIGHTLY: &str = include_str!("../../docs/nightly.md");

const SERVICE: &str = include_str!("../../packaging/dehusk.service");

/// The lines of the first block of this language that holds `part`.
fn block(language: &str, part: &str) -> Vec<&'static str> {
    let blocks = NIGHTLY.split("\n```").filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    blocks.into_iter().find(|block| block.contains(part)).unwrap().lines().collect()
}

fn value<'l>(lines: &[&'l str], key: &str) -> &'l str {
    lines.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap()
}

/// A folder with settings and a seed list, as an operator has one.
fn folder(server: &Server, wait: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let settings = format!(
        "crawl.seeds = [\"list.txt\"]\nfetch.allow_private = true\nfetch.resolve = [\"*.demo.test=127.0.0.1:{}\"]\n\
         politeness.delay = \"{wait}\"\nrevisit.first = \"0s\"\nrevisit.least = \"0s\"\n",
        server.port()
    );
    std::fs::write(dir.path().join("crawl.toml"), settings).unwrap();
    std::fs::write(dir.path().join("list.txt"), "http://a.demo.test/\n").unwrap();
    dir
}

fn site(_: &str, path: &str) -> Reply {
    let links: String = (0..9).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    match path {
        "/robots.txt" => Reply::status(404),
        _ => Reply::html(format!("<ul>{links}</ul><main><h1>{path}</h1><p>What {path} says, and it ends.</main>")),
    }
}

/// The command of the crontab as `sh` gets it: variables set, `\%` a per cent sign, this folder, this program.
fn by_cron(dir: &Path) -> Output {
    let lines = block("cron", "MAILTO");
    let line = lines.iter().find(|line| line.starts_with("0 2 * * *")).unwrap();
    let command = line.trim_start_matches("0 2 * * *").trim().replace("\\%", "%");
    let command = command.replace("/srv/crawl", &dir.display().to_string());
    let program = Path::new(env!("CARGO_BIN_EXE_dehusk")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .env("CRAWL", value(&lines, "CRAWL"))
        .env("WARC", value(&lines, "WARC"))
        .env("PATH", path)
        .output()
        .unwrap()
}

#[test]
fn the_crontab_logs_its_nights_and_mails_a_bad_one() {
    let server = Server::start(Arc::new(site)).unwrap();
    let dir = folder(&server, "5ms");
    for night in 1..=2 {
        let output = by_cron(dir.path());
        assert!(output.status.success() && output.stdout.is_empty(), "night {night}: {}", err(&output));
        let log = std::fs::read_to_string(dir.path().join("night.log")).unwrap();
        let events: Vec<serde_json::Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
        assert!(!events.is_empty());
        let summary = std::fs::read(dir.path().join("night.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        assert_eq!(summary["summary"]["run"], night, "{summary}");
        assert!(std::fs::read_dir(dir.path().join("archive")).unwrap().count() >= 1, "night {night}");
    }
    drop(server);
    let output = by_cron(dir.path());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "dehusk: 1, night.log\n", "{}", err(&output));
}

#[test]
fn the_service_ends_with_its_success_codes() {
    let slow = |host: &str, path: &str| Reply { wait: Duration::from_millis(200), ..site(host, path) };
    let server = Server::start(Arc::new(slow)).unwrap();
    let dir = folder(&server, "200ms");
    let unit: Vec<&str> = SERVICE.lines().collect();
    // In a unit, two per cent signs are one. Another service of this machine may have the port.
    let command = value(&unit, "ExecStart").replace("%%", "%").replace(":9184", ":0");
    let mut words = command.split_ascii_whitespace();
    assert_eq!(words.next(), Some("/usr/local/bin/dehusk"));
    let child = Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(words)
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    signal_after(&server, 3, &child, "-TERM");
    let asked = Instant::now();
    let output = child.wait_with_output().unwrap();
    let seconds: u64 = value(&unit, "TimeoutStopSec").parse().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(seconds));
    assert_eq!(output.status.code().map(|code| code.to_string()).as_deref(), Some(value(&unit, "SuccessExitStatus")));
}

/// An archive of which no file can be closed: where its index is to be, there is a folder.
fn blocked(archive: &Path) {
    for file in std::fs::read_dir(archive).into_iter().flatten().flatten() {
        if let Some(name) = file.file_name().to_string_lossy().strip_suffix(".warc.gz.open") {
            let _ = std::fs::create_dir(archive.join(format!("{name}.cdxj")));
        }
    }
}

#[test]
fn a_run_does_not_end_before_its_archive_is_closed() {
    let archive = Arc::new(std::sync::OnceLock::<std::path::PathBuf>::new());
    let of_server = Arc::clone(&archive);
    let server = Server::start(Arc::new(move |host: &str, path: &str| {
        of_server.get().iter().for_each(|archive| blocked(archive));
        site(host, path)
    }));
    let server = server.unwrap();
    let dir = folder(&server, "5ms");
    let archive = archive.get_or_init(|| dir.path().join("archive"));
    let crawl = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir.path()).args(["crawl", "--db", "a.db", "--warc", "archive"]).output().unwrap()
    };
    let outcome = || {
        let store = rusqlite::Connection::open(dir.path().join("a.db")).unwrap();
        let run = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (id, outcome): (i64, Option<String>) =
            store.query_row("SELECT id, outcome FROM runs ORDER BY id DESC LIMIT 1", [], run).unwrap();
        (id, outcome)
    };
    let output = crawl();
    assert!(!output.status.success() && err(&output).contains(".cdxj"), "{}", err(&output));
    assert_eq!(outcome(), (1, Some("interrupted".to_owned())), "the next crawl resumes it");
    std::fs::read_dir(archive).unwrap().flatten().for_each(|file| {
        let _ = std::fs::remove_dir(file.path());
    });
    let output = crawl();
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(outcome(), (1, Some("finished".to_owned())));
    let names = std::fs::read_dir(archive).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    assert!(!names.is_empty() && names.iter().all(|name| !name.ends_with(".open")), "{names:?}");
}
