//! Common Crawl as a source, from a small crawl in its layout on a server of loopback: `READERS=1 cargo test --test it
//! common_crawl`. The crawl is written by warcio and cdxj-indexer, from PyPI; scripts/check.sh sets the variable.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::export::lines;

/// A server of files that knows ranges, and counts what is asked for. Ends when dropped.
struct Files {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    root: PathBuf,
    has_ended: AtomicBool,
    n_requests: AtomicUsize,
    n_open: AtomicUsize,
    most_open: AtomicUsize,
    n_bytes: AtomicUsize,
    /// User agents that were seen.
    agents: Mutex<Vec<String>>,
}

impl Files {
    fn start(root: &Path) -> Files {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { root: root.to_owned(), ..State::default() });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.has_ended.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || drop(shared.answer(&stream)));
            }
        });
        Files { address, state }
    }

    fn take_counts(&self) -> (usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::Relaxed);
        (take(&self.state.n_requests), take(&self.state.n_bytes))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.state.has_ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    /// Answers the requests of a connection.
    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20)))?;
        let mut reader = BufReader::new(stream);
        loop {
            let (mut first, mut heads) = (String::new(), BTreeMap::new());
            if reader.read_line(&mut first)? == 0 {
                return Ok(());
            }
            loop {
                let mut line = String::new();
                reader.read_line(&mut line)?;
                let Some((name, value)) = line.trim().split_once(": ") else { break };
                heads.insert(name.to_ascii_lowercase(), value.to_owned());
            }
            self.n_requests.fetch_add(1, Ordering::Relaxed);
            self.agents.lock().unwrap().push(heads.get("user-agent").cloned().unwrap_or_default());
            let n_open = self.n_open.fetch_add(1, Ordering::Relaxed) + 1;
            self.most_open.fetch_max(n_open, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(2));
            let answered = self.one(stream, &first, heads.get("range").map(String::as_str));
            self.n_open.fetch_sub(1, Ordering::Relaxed);
            answered?;
        }
    }

    fn one(&self, mut stream: &TcpStream, first: &str, range: Option<&str>) -> std::io::Result<()> {
        let path = first.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
        let Ok(mut file) = std::fs::File::open(self.root.join(path)) else {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        };
        let size = file.metadata()?.len();
        let (begin, end) =
            range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')).map_or((0, size), |(a, b)| {
                (a.parse().unwrap_or(0), b.parse::<u64>().map_or(size, |last| size.min(last + 1)))
            });
        let head = match range {
            Some(_) => format!("206 Partial Content\r\nContent-Range: bytes {begin}-{}/{size}", end.saturating_sub(1)),
            None => "200 OK".to_owned(),
        };
        write!(stream, "HTTP/1.1 {head}\r\nAccept-Ranges: bytes\r\nContent-Length: {}\r\n\r\n", end - begin)?;
        if first.starts_with("HEAD") {
            return Ok(());
        }
        file.seek(SeekFrom::Start(begin))?;
        let n = std::io::copy(&mut file.take(end - begin), &mut stream)?;
        self.n_bytes.fetch_add(n as usize, Ordering::Relaxed);
        Ok(())
    }
}

const HOSTS: usize = 40;
const PAGES: usize = 30;

fn page(host: usize, n: usize) -> String {
    let text: String =
        (0..30).map(|at| format!("Sentence {at} of page {n} tells of field {}. ", n * 97 + at)).collect();
    format!(
        "<title>Page {n}</title><nav><a href=/>Home of {host}</a> <a href=/b>Basket</a></nav><h1>Page {n}</h1><p>{text}\
         </p><footer>Foot of site {host}</footer>"
    )
}

/// The pages of all hosts, and some that are none.
fn pages() -> String {
    let mut lines = Vec::new();
    for n in 0..PAGES {
        for host in 0..HOSTS {
            // A host that is named with and without www.
            let www = if host == 3 { "www." } else { "" };
            lines.push(json!({"url": format!("https://{www}h{host}.test/s{}/{n}", n % 4), "html": page(host, n)}));
        }
    }
    lines.push(json!({"url": "https://h1.test/moved", "html": "", "status": 301}));
    lines.push(json!({"url": "https://h1.test/gone", "html": "gone", "status": 404}));
    lines.push(json!({"url": "https://h1.test/a.pdf", "html": "%PDF", "type": "application/pdf"}));
    lines.push(json!({"url": "https://h1.test:8443/other", "html": page(1, 99)}));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Bytes of all files below a folder.
fn walk(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { entry.metadata().unwrap().len() }).sum()
}

/// The newest row of each page, without what depends on the way that it came.
fn texts(rows: &[Value]) -> BTreeMap<String, (Value, Value, Value)> {
    let row = |row: &Value| {
        (row["url"].as_str().unwrap().to_owned(), (row["text"].clone(), row["step"].clone(), row["confidence"].clone()))
    };
    rows.iter().map(row).collect()
}

#[test]
fn hosts_of_a_crawl_are_learned_and_cleaned_by_its_index() {
    if !crate::skipped::is_asked_for("READERS") {
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = project.join("target/readers");
    let made = Command::new(project.join("scripts/venv.sh")).arg(&venv).arg(project.join("tests/readers.txt")).status();
    assert!(made.unwrap().success());
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("pages.jsonl"), pages()).unwrap();
    let mut write = Command::new(venv.join("bin/python"));
    write.arg(project.join("scripts/write_common_crawl.py")).args(["pages.jsonl", "crawl", "--lines", "20"]);
    assert!(write.current_dir(dir.path()).status().unwrap().success());
    let files = Files::start(&dir.path().join("crawl"));
    let base = format!("common_crawl.base=http://{}/", files.address);
    let dehusk = |args: &[&str]| -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir.path()).args(args).args(["--set", &base, "--set", "common_crawl.connections=3"]);
        command.args(["--set", "fetch.user_agent=\"field/1 (+https://field.test/)\""]);
        command.output().unwrap()
    };
    let said = |out: &Output| String::from_utf8_lossy(&out.stderr).into_owned();
    let ok = |args: &[&str]| {
        let out = dehusk(args);
        assert!(out.status.success(), "{args:?}: {}", said(&out));
        out
    };
    let hosts: String = (0..HOSTS).map(|host| format!("h{host}.test\n")).collect();
    std::fs::write(dir.path().join("hosts.txt"), format!("{hosts}none.test\n")).unwrap();
    let cc = "cc:CC-MAIN-2026-40";
    let of_h1 = format!("{cc}/h1.test");

    // One host: some requests for its place in the index, its block, and nine records.
    let out = ok(&["learn", &of_h1, "--db", "one.db"]);
    let (n_requests, n_bytes) = files.take_counts();
    let n_all: u64 = walk(&dir.path().join("crawl"));
    assert!(n_requests <= 20 && (n_bytes as u64) < n_all / 3, "{n_requests} requests, {n_bytes} bytes: {}", said(&out));
    assert!(files.state.agents.lock().unwrap().iter().all(|agent| agent == "field/1 (+https://field.test/)"));

    // A list of hosts: each is found, and one is not in the crawl.
    let out = ok(&["learn", cc, "--sites", "hosts.txt", "--db", "models.db"]);
    let table = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(table.contains("40 of 40 sites have a template") && table.contains("www.h3.test"), "{table}");
    assert!(said(&out).contains("none.test: the crawl has no page of this host"), "{}", said(&out));
    let again = dehusk(&["learn", cc, "--sites", "hosts.txt", "--db", "models.db", "--missing"]);
    assert!(!said(&again).contains("h7.test"), "{}", said(&again));
    std::fs::write(dir.path().join("known.txt"), hosts).unwrap();
    let known = ok(&["learn", cc, "--sites", "known.txt", "--db", "models.db", "--missing"]);
    assert!(String::from_utf8_lossy(&known.stdout).contains("all sites have a template"));

    // By the index or by its archives, by stored models or by those of the same call: the pages come out alike.
    let clean = |sources: &[&str], out: &str| {
        let mut args = vec!["clean", "--quiet", "--out", out];
        args.extend(sources);
        ok(&args);
        lines(&dir.path().join(out))
    };
    let whole = clean(&[cc, "--learn"], "whole");
    let named = clean(&[cc, "--learn", "--sites", "hosts.txt", "--pass", "filename,digest"], "named");
    let stored = clean(&[cc, "--sites", "hosts.txt", "--db", "models.db"], "stored");
    assert_eq!((whole.len(), named.len()), (HOSTS * PAGES + 1, HOSTS * PAGES));
    assert!(named.iter().all(|row| row["step"] == "site_model"), "{:?}", named[0]["step"]);
    assert!(texts(&named) == texts(&stored));
    let mut of_archives = texts(&whole);
    assert!(of_archives.remove("https://h1.test:8443/other").is_some() && of_archives == texts(&named));
    let input: Value = serde_json::from_str(named[0]["input"].as_str().unwrap()).unwrap();
    assert!(input["digest"].is_string() && input["filename"] == named[0]["source"], "{input}");
    assert!(named[0]["warc_record_id"].is_string());

    // Only what is asked for is fetched.
    files.take_counts();
    let filter = "n_words > 10 AND host = 'h1.test'";
    let one = clean(&[cc, "--db", "models.db", "--where", filter], "one");
    let (n_requests, n_bytes) = files.take_counts();
    assert_eq!(one.len(), PAGES);
    assert!(n_requests < 30 && (n_bytes as u64) < n_all / 2, "{n_requests} requests, {n_bytes} bytes");
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("one/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["left_out"], json!({"http_status": 1, "not_html": 1, "redirect": 1}));
    assert!(files.state.most_open.load(Ordering::Relaxed) <= 4, "at most three, and one for whole archives");

    // An archive that is not there: its pages are told, the others are cleaned.
    let archives = dir.path().join("crawl/crawl-data/CC-MAIN-2026-40/segments/1.0/warc");
    std::fs::remove_file(archives.join("crawl-00001.warc.gz")).unwrap();
    let part = clean(&[&of_h1, "--db", "models.db"], "part");
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("part/manifest.json")).unwrap()).unwrap();
    let n_lost = manifest["left_out"]["unreadable"].as_u64().unwrap() as usize;
    assert!(n_lost > 0 && part.len() + n_lost == PAGES, "{manifest}");

    for (args, what) in [
        (["learn", "cc:CC-MAIN-1999-01"], "there is no crawl CC-MAIN-1999-01"),
        (["learn", "cc:../x"], "no name of a crawl"),
        (["learn", "cc:CC-MAIN-2026-40/a b"], "is no host"),
    ] {
        let out = dehusk(&args);
        assert!(!out.status.success() && said(&out).contains(what), "{args:?}: {}", said(&out));
    }
}
