//! HTTP as servers speak it: heads, types, codings and addresses that are not by the book, read as browsers read them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The bytes that answer a request, by host and path.
type Answer = dyn Fn(&str, &str) -> Vec<u8> + Send + Sync;

/// A server of raw answers on loopback, one a connection. Ends when dropped.
struct RawServer {
    port: u16,
    ended: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl RawServer {
    fn start(answer: Arc<Answer>) -> RawServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ended, requests) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (end, log) = (Arc::clone(&ended), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || drop(serve(stream, &*answer, &log)));
            }
        });
        RawServer { port, ended, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            n => head.extend_from_slice(&piece[..n]),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    let host = head.lines().find_map(|line| line.strip_prefix("host: ").or_else(|| line.strip_prefix("Host: ")));
    let host = host.unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
    log.lock().unwrap().push(format!("{host}{path}"));
    stream.write_all(&answer(&host, &path))
}

/// An answer with these header lines and this body, to the end of the connection.
fn answer(lines: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n{lines}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn page(host: &str, path: &str) -> String {
    let links: String = (0..4).map(|n| format!("<li><a href=/{n}>{n}</a>")).collect();
    format!("<nav>{links}</nav><main><h1>{path}</h1><p>What {path} of {host} says, M\u{fc}ller.</main>")
}

fn redirect(location: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: ", location, b"\r\n\r\n"].concat()
}

fn not_found() -> Vec<u8> {
    b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()
}

fn crawl(server: &RawServer, dir: &Path, hosts: &[&str], sets: &[&str]) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.args(["crawl", "--json", "--config", "/dev/null"]).current_dir(dir);
    command.args(hosts.iter().map(|host| format!("http://{host}.test/")));
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port);
    let usual =
        ["fetch.allow_private=true", "politeness.delay=1ms", "politeness.key=host", "fetch.retries=0", &resolve];
    for set in usual.iter().chain(sets) {
        command.args(["--set", set]);
    }
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn pages(dir: &Path, sql: &str) -> Vec<String> {
    let db = rusqlite::Connection::open(dir.join("dehusk.db")).unwrap();
    let mut statement = db.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(body).unwrap();
    packed.finish().unwrap()
}

#[test]
fn heads_types_and_codings_are_read_as_browsers_read_them() {
    const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";
    let many: String = (0..1500).map(|n| format!("X-N{n}: {n}\r\n")).collect();
    let heads: Vec<(&str, String)> = vec![
        ("fold", format!("Content-Security-Policy: default-src 'self';\r\n  img-src *\r\n{HTML}")),
        ("foldedtype", "Content-Type:\r\n\ttext/html;charset=utf-8\r\n".to_owned()),
        ("php", format!("<b>Warning</b>\r\n{HTML}")),
        ("blank", format!("X-Powered-By : PHP\r\n{HTML}")),
        ("many", format!("{many}{HTML}")),
        ("nosemi", "Content-Type: text/html charset=utf-8\r\n".to_owned()),
        ("twice", "Content-Type: text/html, text/html;charset=utf-8\r\n".to_owned()),
        ("lines", "Content-Type: text/plain\r\nContent-Type: text/html;charset=utf-8\r\n".to_owned()),
        ("quoted", "Content-Type: \"text/html\"; charset=utf-8\r\n".to_owned()),
        ("gzipbr", format!("Content-Encoding: gzip, br\r\n{HTML}")),
        ("identity", format!("Content-Encoding: identity\r\nContent-Encoding: gzip\r\n{HTML}")),
        ("tail", format!("Content-Encoding: gzip\r\n{HTML}")),
        ("plain", format!("Content-Encoding: gzip\r\n{HTML}")),
    ];
    let hosts: Vec<&str> = heads.iter().map(|(host, _)| *host).collect();
    let served = heads.clone();
    let server = RawServer::start(Arc::new(move |host, path| {
        let (name, lines) = served.iter().find(|(name, _)| host == format!("{name}.test")).unwrap();
        let page = page(host, path).into_bytes();
        let body = match *name {
            "gzipbr" => {
                let mut packed = Vec::new();
                brotli::CompressorWriter::new(&mut packed, 4096, 5, 20).write_all(&gzip(&page)).unwrap();
                packed
            }
            "identity" => gzip(&page),
            "tail" => [&gzip(&page)[..], b"\n<!-- cached -->"].concat(),
            _ => page,
        };
        if path == "/robots.txt" { answer("Content-Type: text/plain\r\n", b"") } else { answer(lines, &body) }
    }));
    let dir = tempfile::tempdir().unwrap();
    let report = crawl(&server, dir.path(), &hosts, &[]);
    let failed: Vec<&serde_json::Value> =
        report["sites"].as_array().unwrap().iter().filter(|site| site["outcome"] != "learned").collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for host in hosts {
        let shown = Command::new(env!("CARGO_BIN_EXE_dehusk"))
            .args(["pages", "show", &format!("http://{host}.test/1"), "--format", "raw", "--db", "dehusk.db"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&shown.stdout);
        assert!(text.contains("M\u{fc}ller"), "{host}: {text}");
    }
}

#[test]
fn what_is_no_page_is_not_stored_as_one() {
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let html = "Content-Type: text/html\r\n";
    let server = RawServer::start(Arc::new(move |host, path| match (host, path) {
        (_, "/robots.txt") => not_found(),
        ("noise.test", _) => answer(html, &noise),
        ("compressed.test", _) => answer(&format!("Content-Encoding: x-ours\r\n{html}"), &gzip(&noise)),
        ("part.test", _) => {
            let whole = answer(html, page(host, path).as_bytes());
            String::from_utf8(whole).unwrap().replace("200 OK", "206 Partial Content").into_bytes()
        }
        ("members.test", _) => answer(&format!("Content-Encoding: gzip\r\n{html}"), &gzip(b"").repeat(200_000)),
        ("long.test", _) => answer(&format!("Content-Type: text/{}\r\n", "x".repeat(60_000)), b"x"),
        _ => answer(html, page(host, path).as_bytes()),
    }));
    let dir = tempfile::tempdir().unwrap();
    let hosts = ["noise", "compressed", "part", "members", "long", "good"];
    let report = crawl(&server, dir.path(), &hosts, &[]);
    let sites = report["sites"].as_array().unwrap();
    let learned: Vec<&str> =
        sites.iter().filter(|site| site["outcome"] == "learned").map(|site| site["host"].as_str().unwrap()).collect();
    assert_eq!(learned, ["good.test"], "{sites:#?}");
    assert!(pages(dir.path(), "SELECT DISTINCT outcome FROM visits WHERE url = 'http://part.test/'") == ["failed"]);
    for (table, column) in [("sites", "reason"), ("visits", "reason"), ("pages", "content_type"), ("visits", "url")] {
        let longest = format!("SELECT CAST(coalesce(max(length({column})), 0) AS TEXT) FROM {table}");
        let longest: usize = pages(dir.path(), &longest)[0].parse().unwrap();
        assert!(longest < 1100, "{table}.{column}: {longest}");
    }
}

#[test]
fn addresses_of_redirects_are_those_that_were_sent() {
    let server = RawServer::start(Arc::new(|host, path| match (host, path) {
        (_, "/robots.txt") => not_found(),
        ("latin.test", "/") => redirect(b"/caf\xe9?q=\xfc"),
        ("slashes.test", "/") => redirect(b"///slashes.test/p"),
        ("empty.test", "/") => redirect(b""),
        ("self.test", "/") => redirect(b"/#top"),
        _ => answer("Content-Type: text/html\r\n", page(host, path).as_bytes()),
    }));
    let dir = tempfile::tempdir().unwrap();
    crawl(&server, dir.path(), &["latin", "slashes", "empty", "self"], &[]);
    let requests = server.requests();
    let n = |url: &str| requests.iter().filter(|request| *request == url).count();
    assert_eq!((n("latin.test/caf%E9?q=%FC"), n("slashes.test/p")), (1, 1), "{requests:?}");
    assert_eq!((n("empty.test/"), n("self.test/")), (1, 1), "{requests:?}");
}

#[test]
fn the_queries_of_a_page_are_in_its_charset_and_robots_files_may_be_utf16() {
    let server = RawServer::start(Arc::new(|host, path| match (host, path) {
        ("latin.test", "/") => {
            answer("Content-Type: text/html; charset=iso-8859-1\r\n", b"<a href='/s?q=M\xfcller'>x</a><a href=/t>y</a>")
        }
        ("wide.test", "/robots.txt") => {
            let rules = "\u{feff}User-agent: *\nDisallow: /\n";
            answer("Content-Type: text/plain\r\n", &rules.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>())
        }
        (_, "/robots.txt") => not_found(),
        _ => answer("Content-Type: text/html\r\n", page(host, path).as_bytes()),
    }));
    for mode in ["full", "links"] {
        let dir = tempfile::tempdir().unwrap();
        let mode = format!("crawl.mode={mode}");
        crawl(&server, dir.path(), &["latin", "wide"], &["crawl.pages_per_site=9", &mode]);
        let requests = server.requests();
        assert!(requests.contains(&"latin.test/s?q=M%FCller".to_owned()), "{requests:?}");
        assert!(!requests.contains(&"wide.test/".to_owned()), "{requests:?}");
    }
}

#[test]
fn a_user_agent_tells_who_crawls() {
    let server = RawServer::start(Arc::new(|host, path| match path {
        "/robots.txt" => answer("Content-Type: text/plain\r\n", b"User-agent: mybot\nDisallow: /\n"),
        _ => answer("Content-Type: text/html\r\n", page(host, path).as_bytes()),
    }));
    let dir = tempfile::tempdir().unwrap();
    let agent = "fetch.user_agent=\"Mozilla/5.0 (compatible; mybot/1.0; +http://my.org/bot)\"";
    crawl(&server, dir.path(), &["a"], &[agent]);
    assert_eq!(server.requests(), ["a.test/robots.txt"]);
    let refused = Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(["crawl", "http://a.test/", "--set", "fetch.user_agent=\"Mozilla/5.0 (X11) Gecko Firefox/1.0\""])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("politeness.robots_agents"), "{said}");
    assert_eq!(server.requests().len(), 1);
}
