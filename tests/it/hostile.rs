//! Servers that break every rule: each ends in a named outcome within its limit, and memory stays bounded.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A server that writes bytes of its own choice to the connection, by host name. Ends when dropped.
pub(crate) struct Raw {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
}

impl Raw {
    pub(crate) fn start() -> Raw {
        let listener = TcpListener::bind("127.0.0.2:0").or_else(|_| TcpListener::bind("127.0.0.1:0")).unwrap();
        Raw::on(listener)
    }

    fn on(listener: TcpListener) -> Raw {
        let address = listener.local_addr().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let end = Arc::clone(&end);
                std::thread::spawn(move || drop(answer(stream, &end)));
            }
        });
        Raw { address, ended }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

fn head(lines: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n{lines}\r\n")
}

/// Waits, unless the test is over.
fn wait(time: Duration, end: &AtomicBool) {
    let start = Instant::now();
    while start.elapsed() < time && !end.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn answer(mut stream: TcpStream, end: &AtomicBool) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    loop {
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        while !request.windows(4).any(|window| window == b"\r\n\r\n") {
            match stream.read(&mut piece)? {
                0 => return Ok(()),
                n => request.extend_from_slice(&piece[..n]),
            }
        }
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let path = text.split(' ').nth(1).unwrap_or("/").to_owned();
        let host = text
            .split("host: ")
            .nth(1)
            .unwrap_or_default()
            .split(['\r', ':', '.'])
            .next()
            .unwrap_or_default()
            .to_owned();
        if path == "/robots.txt" && host != "never" && host != "drip" && host != "robots-endless" {
            if host == "busy" {
                stream.write_all(b"HTTP/1.1 503 Busy\r\nretry-after: 3600\r\ncontent-length: 0\r\n\r\n")?;
                continue;
            }
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        page(&mut stream, &host, &path, end)?;
        if host != "busy" && host != "redirects" {
            return Ok(());
        }
    }
}

fn page(stream: &mut TcpStream, host: &str, path: &str, end: &AtomicBool) -> std::io::Result<()> {
    let page = "<ul><li><a href=/1>one</a><li><a href=/2>two</a></ul><p>words";
    match host {
        "never" => wait(Duration::from_secs(60), end),
        "slow" => wait(Duration::from_secs(20), end),
        "busy" => stream.write_all(b"HTTP/1.1 503 Busy\r\nretry-after: 3600\r\ncontent-length: 0\r\n\r\n")?,
        "drip" => {
            stream.write_all(head("").as_bytes())?;
            while !end.load(Ordering::Relaxed) {
                stream.write_all(b"x")?;
                wait(Duration::from_secs(1), end);
            }
        }
        "bomb" => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            for _ in 0..300 {
                gzip.write_all(&[0; 1 << 20])?;
            }
            let body = gzip.finish()?;
            stream
                .write_all(head(&format!("content-encoding: gzip\r\ncontent-length: {}\r\n", body.len())).as_bytes())?;
            stream.write_all(&body)?;
        }
        "huge" => {
            stream.write_all(head("content-length: 10000000000\r\n").as_bytes())?;
            stream.write_all(page.as_bytes())?;
        }
        "endless" | "robots-endless" => {
            stream.write_all(head("").as_bytes())?;
            while !end.load(Ordering::Relaxed) {
                stream.write_all(&[b'x'; 65_536])?;
            }
        }
        "headers" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            for n in 0..1_000_000 {
                stream.write_all(format!("x-{n}: {n}\r\n").as_bytes())?;
            }
            stream.write_all(b"\r\n")?;
        }
        "loop" => stream
            .write_all(b"HTTP/1.1 301 Moved\r\nlocation: /again\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?,
        "to-loopback" => redirect(stream, "http://127.0.0.1:1/")?,
        "to-mapped" => redirect(stream, "http://[::ffff:10.0.0.1]/")?,
        "to-name" => redirect(stream, "http://private.raw/")?,
        "short" => {
            stream.write_all(head("content-length: 100000\r\n").as_bytes())?;
            stream.write_all(page.as_bytes())?;
        }
        "chunks" => {
            stream.write_all(head("transfer-encoding: chunked\r\n").as_bytes())?;
            stream.write_all(b"5\r\nhello\r\nzz\r\nbroken")?;
        }
        "garbage" => stream.write_all(b"\0\xff\xfeno http at all\r\n\r\n")?,
        "silent" => {}
        "nul" => {
            let body = format!("{page}\0\0<p>after\0");
            stream.write_all(head(&format!("content-length: {}\r\n", body.len())).as_bytes())?;
            stream.write_all(body.as_bytes())?;
        }
        "links" => {
            let links: String = (0..1_000_000).map(|n| format!("<a href=/{n}>")).collect();
            let body = if path == "/" { links } else { format!("{page}{path}") };
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(body.as_bytes())?;
            let body = gzip.finish()?;
            let lines = format!("content-encoding: gzip\r\ncontent-length: {}\r\n", body.len());
            stream.write_all(head(&lines).as_bytes())?;
            stream.write_all(&body)?;
        }
        "lies" => {
            let body = b"%PDF-1.7 and so on";
            stream.write_all(head(&format!("content-length: {}\r\n", body.len())).as_bytes())?;
            stream.write_all(body)?;
        }
        _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?,
    }
    Ok(())
}

fn redirect(stream: &mut TcpStream, target: &str) -> std::io::Result<()> {
    let answer = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes())
}

/// Host, and what its site must end with.
const OUTCOMES: &[(&str, &str)] = &[
    ("never", "robots.txt cannot be reached"),
    ("slow", "no whole answer within 6 s (fetch.timeout)"),
    ("busy", "it asked to wait 3600 s"),
    ("drip", "robots.txt cannot be reached"),
    ("bomb", "longer than 40000000 bytes (fetch.max_bytes)"),
    ("huge", "longer than 10000000 bytes (fetch.max_raw_bytes)"),
    ("endless", "longer than 10000000 bytes (fetch.max_raw_bytes)"),
    ("robots-endless", "fetch.max_raw_bytes"),
    ("headers", "message head is too large"),
    ("loop", "leads to itself"),
    ("to-loopback", "127.0.0.1 is an address of this machine or of a private network"),
    ("to-mapped", "an address of this machine or of a private network"),
    ("to-name", "10.0.0.7 is an address of this machine or of a private network"),
    ("short", "end of file before message length reached"),
    ("chunks", "chunk size"),
    ("garbage", ""),
    ("silent", ""),
    ("nul", "copies of the key page"),
    ("links", "learned"),
    ("lies", "application/pdf is not HTML"),
];

/// The address of the hostile server is allowed by name, everything else that is private is not.
#[cfg(target_os = "linux")]
#[test]
fn every_hostile_server_ends_in_a_named_outcome() {
    let raw = Raw::on(TcpListener::bind("127.0.0.2:0").unwrap());
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir.path()).args(["crawl", "--json", "--config", "/dev/null"]);
    command.args(OUTCOMES.iter().map(|(host, _)| format!("http://{host}.raw/")));
    let resolve = format!("fetch.resolve=[\"private.raw=10.0.0.7\", \"*.raw={}\"]", raw.address());
    for pair in [
        resolve.as_str(),
        "fetch.allow_networks=[\"127.0.0.2/32\"]",
        "fetch.timeout=6",
        "fetch.retries=0",
        "politeness.delay=0.01",
        "politeness.key=host",
    ] {
        command.args(["--set", pair]);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let mut peak_kb = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
        peak_kb = peak_kb.max(line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    let json: serde_json::Value = serde_json::from_str(&reader.join().unwrap()).unwrap();
    for (host, expected) in OUTCOMES {
        let sites = json["sites"].as_array().unwrap();
        let site = sites.iter().find(|site| site["host"] == format!("{host}.raw")).unwrap();
        let got = site["reason"].as_str().unwrap_or("learned");
        println!("{host:>15}: {got}");
        assert!(got.contains(expected) && !got.contains(".raw"), "{host}: {got}");
        assert_eq!(site["reason_code"].is_null(), got == "learned", "{host}");
    }
    println!("peak RSS {} MB", peak_kb / 1024);
    assert!(peak_kb < 700 * 1024, "{peak_kb} KB");
}

/// A sender of a byte now and then is given up after five seconds, long before the time limit.
#[cfg(target_os = "linux")]
#[test]
fn a_slow_sender_is_given_up_before_the_time_limit() {
    let raw = Raw::on(TcpListener::bind("127.0.0.3:0").unwrap());
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir.path()).args(["crawl", "--json", "--config", "/dev/null", "http://drip.raw/"]);
    let resolve = format!("fetch.resolve=[\"*.raw={}\"]", raw.address());
    for pair in [resolve.as_str(), "fetch.allow_networks=[\"127.0.0.3/32\"]", "fetch.timeout=60", "fetch.retries=0"] {
        command.args(["--set", pair]);
    }
    let begin = Instant::now();
    let output = command.stderr(Stdio::null()).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let site = &json["sites"][0];
    assert!(site["reason"].as_str().unwrap().contains("fetch.min_rate"), "{site}");
    assert_eq!(site["reason_code"], "timeout", "its rules drip as well");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}
