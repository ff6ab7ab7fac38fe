//! The inspector over HTTP: each view, labels, who is answered. `BROWSER=1` opens it in Chromium, too.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};

use crate::browser::browse;
use crate::cli::{dehusk, err};

/// The versions of a page by RFC 7089: the list leads to the version, so does the gate, and the version runs nothing.
fn mementos(inspector: &Inspector) {
    let list = inspector.get(&format!("/timemap/link/{PAGE}"));
    assert_eq!(list.status, 200, "{}", list.body);
    assert!(list.head.contains("content-type: application/link-format"), "{}", list.head);
    let links: Vec<&str> = list.body.trim().split(",\n").collect();
    assert_eq!(links[0], format!("<{PAGE}>; rel=\"original\""));
    let version = links.last().unwrap();
    assert!(links.len() == 4 && version.contains("rel=\"first last memento\"; datetime=\""), "{}", list.body);
    let address = version[1..].split('>').next().unwrap();
    let gate = |time: &[(&str, &str)]| inspector.ask("GET", &format!("/timegate/{PAGE}"), time, "");
    for time in [&[][..], &[("accept-datetime", "Thu, 01 Jan 2015 00:00:00 GMT")]] {
        let answer = gate(time);
        assert_eq!(answer.status, 302);
        assert!(answer.head.contains(&format!("location: {address}\r\n")), "{} {address}", answer.head);
        assert!(answer.head.contains("vary: accept-datetime"), "{}", answer.head);
    }
    assert_eq!(gate(&[("accept-datetime", "yesterday")]).status, 400);
    let path = &address[address.find("/memento/").unwrap()..];
    let page = inspector.get(path);
    assert!(page.status == 200 && page.body.contains("<h1>"), "{}", page.body);
    let date = version.split("datetime=\"").nth(1).unwrap().trim_end_matches('"');
    assert!(page.head.contains(&format!("memento-datetime: {date}\r\n").to_lowercase()), "{}", page.head);
    assert!(page.head.contains("default-src 'none'") && page.head.contains("sandbox"), "{}", page.head);
    assert!(page.head.contains("rel=\"timegate\""), "{}", page.head);
    for path in ["/timemap/link/http://none.test/", "/memento/20200101000000/http://none.test/"] {
        assert_eq!(inspector.get(path).status, 404, "{path}");
    }
    assert_eq!(inspector.get("/memento/2020").status, 400);
}

/// A running inspector. Ends when dropped.
pub(crate) struct Inspector {
    child: Child,
    /// Address with port.
    pub(crate) address: String,
    /// What follows the address on the line that is printed.
    query: String,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Inspector {
    pub(crate) fn start(dir: &Path, args: &[&str]) -> Inspector {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir).args(["serve", "--quiet", "--listen", "127.0.0.1:0"]).args(args);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://").unwrap().to_owned();
        let (address, query) = rest.split_once('/').unwrap();
        Inspector { child, address: address.to_owned(), query: query.to_owned() }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let host = if headers.iter().any(|(name, _)| *name == "host") {
            String::new()
        } else {
            format!("host: {}\r\n", self.address)
        };
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let n = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\n{host}{more}content-length: {n}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A value in the query of an address.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

const DB: &str = "dehusk-demo/dehusk.db";
const PAGE: &str = "http://menus.demo.test/1/2.html";

#[test]
fn every_view_of_the_demo_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let demo = dehusk(dir.path(), &["demo", "--quiet"]);
    assert!(demo.status.success(), "{}", err(&demo));
    let inspector = Inspector::start(dir.path(), &["--db", DB]);
    assert!(inspector.get("/search?q=valley").body.contains("dehusk index"), "what to do next");
    let indexed = dehusk(dir.path(), &["index", "--db", DB]);
    assert!(indexed.status.success(), "{}", err(&indexed));
    let page = encoded(PAGE);
    for (path, shows) in [
        ("/".to_owned(), "run 1"),
        ("/run?id=1".to_owned(), "templates learned"),
        ("/sites".to_owned(), "twofold.demo.test"),
        ("/sites?q=twof&outcome=learned&sort=updated".to_owned(), "twofold.demo.test"),
        ("/site?host=menus.demo.test".to_owned(), "/1/2.html"),
        ("/site?host=menus.demo.test".to_owned(), "<code>0.2</code>"),
        ("/site?host=menus.demo.test".to_owned(), "header#top"),
        ("/near?host=twins.demo.test".to_owned(), "nearly the same"),
        (format!("/page?url={page}"), "8 training pages"),
        (format!("/page?url={page}&view=beside"), "show=main"),
        (format!("/page?url={page}&view=markdown"), "# The recent valley"),
        (format!("/page?url={page}&view=text"), "The recent valley"),
        (format!("/page?url={page}&view=source"), "&lt;h1&gt;"),
        (format!("/page?url={page}&view=diff"), "first version"),
        (format!("/frame?url={page}&show=overlay"), "data-dehusk=\"main\""),
        (format!("/page?url={page}&view=design"), "Stylesheets, fonts and pictures"),
        (format!("/frame?url={page}&show=design"), "<header id=\"top\""),
        ("/search?q=recent+valley".to_owned(), "<mark>valley</mark>"),
        ("/api/search?q=valley".to_owned(), "\"hits\":[{"),
        ("/try".to_owned(), "<textarea"),
        ("/sites.csv".to_owned(), "menus.demo.test,learned,,9,1,"),
        ("/api/runs".to_owned(), "\"requests\":"),
        ("/api/run?id=1".to_owned(), "\"shortest\":"),
        ("/api/sites?q=menus".to_owned(), "\"host\":\"menus.demo.test\""),
        ("/api/site?host=menus.demo.test".to_owned(), "\"versions\":[{"),
        ("/api/near?host=twins.demo.test".to_owned(), "\"compared\":9"),
        (format!("/api/page?url={page}"), "\"step\":\"site_model\""),
        ("/metrics".to_owned(), "dehusk_stored_sites{outcome=\"learned\"} 10"),
        ("/healthz".to_owned(), "ok"),
    ] {
        let answer = inspector.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.body.contains(shows), "{path} without {shows}: {}", answer.body);
        if path.starts_with("/api/") {
            serde_json::from_str::<serde_json::Value>(&answer.body).unwrap();
        }
    }
    mementos(&inspector);
    for (path, status) in [
        ("/nothing", 404),
        ("/run?id=99", 404),
        ("/run?id=x", 400),
        ("/site?host=none.test", 404),
        ("/page?url=http://none.test/", 404),
    ] {
        assert_eq!(inspector.get(path).status, status, "{path}");
    }
    let described: serde_json::Value = serde_json::from_str(&inspector.get("/api/openapi.json").body).unwrap();
    for path in described["paths"].as_object().unwrap().keys() {
        let asked = format!("{path}?id=1&host=menus.demo.test&url={page}");
        assert_eq!(inspector.get(&asked).status, 200, "{path} is described");
    }
    let found = |q: &str| inspector.get(&format!("/find?q={}", encoded(q))).head;
    assert!(found(PAGE).contains("location: /page?url="), "{}", found(PAGE));
    assert!(found("menus.demo.test").contains("location: /site?host=menus.demo.test"));
    assert!(found("folds").contains("location: /sites?q=folds"));
    let printed = dehusk(dir.path(), &["open", "menus.demo.test/1/2.html", "--db", DB, "--at", &inspector.address]);
    let address = String::from_utf8(printed.stdout).unwrap();
    let path = address.trim().strip_prefix(&format!("http://{}", inspector.address)).unwrap().to_owned();
    assert!(inspector.get(&path).body.contains("8 training pages"));
    let form = format!(
        "url={page}&html={}",
        encoded("<nav>Guide</nav><p>Rye is a grass that is grown as a grain, and it grows here.")
    );
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let tried = inspector.ask("POST", "/try", &headers, &form);
    assert!(tried.status == 200 && tried.body.contains("with the model of menus.demo.test"), "{}", tried.body);
    labels_round_trip(dir.path(), &inspector, &page);
    browser_labels(dir.path(), &inspector);
}

/// What a user labels in the browser is what `evaluate` reads.
fn labels_round_trip(dir: &Path, inspector: &Inspector, page: &str) {
    let form = inspector.get(&format!("/label?url={page}")).body;
    let id = form.split("name=\"id\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let n = form.matches("<fieldset>").count();
    assert!(n > 10, "{form}");
    let sent = |kinds: &str| {
        let fields: String = kinds.chars().enumerate().map(|(at, kind)| format!("&b{at}={kind}")).collect();
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        inspector.ask("POST", "/label", &headers, &format!("url={page}&id={}{fields}", encoded(&id)))
    };
    let saved = sent("");
    assert!(saved.body.contains("agrees on 100.0 % of the characters; 0 blocks differ"), "{}", saved.body);
    let gold = "dehusk-demo/dehusk.db.gold.jsonl";
    let score = |what: &str| {
        let scored = dehusk(dir, &["evaluate", gold, "--method", "plain", "--json", "--pages", "all"]);
        let report: serde_json::Value = serde_json::from_slice(&scored.stdout).unwrap();
        report[what].clone()
    };
    assert_eq!((score("word_pages").as_i64(), score("node_pages").as_i64()), (Some(1), Some(1)));
    assert!(score("bag")["precision"].as_f64().unwrap() < 1.0, "plain keeps the template");
    // All of it is main content: what `plain` says.
    let saved = sent(&"m".repeat(n));
    assert!(saved.body.contains("Saved; 1 labeled pages"), "{}", saved.body);
    assert_eq!(score("bag")["f1"].as_f64(), Some(1.0));
    assert_eq!(inspector.get(&format!("/label?url={page}")).body.matches("value=\"m\" checked").count(), n);
    let other = inspector.ask(
        "POST",
        "/label",
        &[("content-type", "application/x-www-form-urlencoded")],
        &format!("url={page}&id=x"),
    );
    assert_eq!(other.status, 400, "{}", other.body);
    // The labels of the model again, for the browser.
    sent("");
}

/// Labels that are made in the browser are scored as those that were sent: two blocks are changed there.
fn browser_labels(dir: &Path, inspector: &Inspector) {
    let gold = dir.join("dehusk-demo/dehusk.db.gold.jsonl");
    let labeled = || -> serde_json::Value {
        serde_json::from_str(std::fs::read_to_string(&gold).unwrap().lines().next().unwrap()).unwrap()
    };
    let before = labeled();
    if !browse("demo", inspector) {
        return;
    }
    let after = labeled();
    assert_ne!(before["labels"], after["labels"]);
    let [had, has] = [&before, &after].map(|page| page["gold"].as_str().unwrap());
    assert!(had.contains("The recent valley") && !has.contains("The recent valley"), "neither: {has}");
    let scored = dehusk(dir, &["evaluate", "dehusk-demo/dehusk.db.gold.jsonl", "--method", "main", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&scored.stdout).unwrap();
    assert!(report["bag"]["f1"].as_f64().unwrap() < 1.0, "the model does not agree any more: {report}");
}

#[test]
fn only_those_who_may_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let none = dehusk(dir.path(), &["serve", "--db", "none.db"]);
    assert!(!none.status.success() && err(&none).contains("none.db"), "{}", err(&none));
    let server = Server::start(Arc::new(|_: &str, _: &str| Reply::html("<p>one page"))).unwrap();
    let resolve = format!("fetch.resolve=[\"one.test=127.0.0.1:{}\"]", server.port());
    let args = ["crawl", "http://one.test/", "--db", "one.db", "--set", "fetch.allow_private=true", "--set", &resolve];
    drop(dehusk(dir.path(), &args));
    let open = Inspector::start(dir.path(), &["--db", "one.db"]);
    assert_eq!(open.query, "", "no token on loopback");
    for host in ["evil.example", "evil.example:80", "127.0.0.1:1", ""] {
        assert_eq!(open.ask("GET", "/", &[("host", host)], "").status, 421, "{host}");
    }
    let form = [("content-type", "application/x-www-form-urlencoded"), ("origin", "http://evil.example")];
    assert_eq!(open.ask("POST", "/try", &form, "html=x").status, 403);
    assert_eq!(open.ask("POST", "/sites", &[], "").status, 405, "nothing is changed");
    let token = "0123456789abcdef";
    let guarded = Inspector::start(dir.path(), &["--db", "one.db", "--token", token]);
    assert_eq!(guarded.query, format!("?token={token}"));
    assert_eq!(guarded.get("/").status, 401);
    let first = guarded.get(&format!("/sites?token={token}"));
    assert_eq!(first.status, 303);
    assert!(first.head.contains("httponly; samesite=strict"), "{}", first.head);
    assert_eq!(guarded.ask("GET", "/sites", &[("cookie", &format!("dehusk_token={token}"))], "").status, 200);
    let short = dehusk(dir.path(), &["serve", "--db", "one.db", "--token", "short"]);
    assert_eq!(short.status.code(), Some(2), "{}", err(&short));
}

#[test]
fn a_run_is_seen_while_it_works() {
    let server = Server::start(Arc::new(|_: &str, path: &str| {
        let links: String = (0..30).map(|n| format!("<li><a href=/{n}>{n}</a>")).collect();
        if path == "/robots.txt" { Reply::status(404) } else { Reply::html(format!("<ul>{links}</ul><p>page {path}")) }
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let resolve = format!("fetch.resolve=[\"live.test=127.0.0.1:{}\"]", server.port());
    // A browser needs some seconds to see it.
    let delay = if std::env::var_os("BROWSER").is_some() { "1.0" } else { "0.3" };
    let delay = format!("politeness.delay={delay}");
    let sets =
        ["--set", "fetch.allow_private=true", "--set", &resolve, "--set", &delay, "--set", "crawl.pages_per_site=25"];
    let mut crawl = Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .current_dir(dir.path())
        .args(["crawl", "http://live.test/0", "--quiet", "--db", "live.db"])
        .args(sets)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while server.arrivals().len() < 4 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let inspector = Inspector::start(dir.path(), &["--db", "live.db"]);
    assert!(inspector.get("/run?id=1").body.contains("data-live=\"/run/live?id=1\""));
    // One that watches a run does not keep the program from its end.
    let mut other = Inspector::start(dir.path(), &["--db", "live.db"]);
    let mut watching = TcpStream::connect(&other.address).unwrap();
    write!(watching, "GET /run/live?id=1 HTTP/1.1\r\nhost: {}\r\n\r\n", other.address).unwrap();
    watching.read_exact(&mut [0; 100]).unwrap();
    let pid = other.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let since = Instant::now();
    while other.child.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(10), "the inspector does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    browse("live", &inspector);
    // The messages end with the run.
    let events = inspector.get("/run/live?id=1").body;
    let requests: Vec<i64> = events
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line.strip_prefix("data: ")?).ok())
        .map(|run| run["requests"].as_i64().unwrap())
        .collect();
    assert!(crawl.wait().unwrap().success());
    assert!(requests.len() >= 2 && requests.is_sorted() && requests.first() < requests.last(), "{requests:?}");
    assert!(!inspector.get("/run?id=1").body.contains("data-live"));
}

/// Views that are the same for both databases, and others that are shown.
#[cfg(feature = "postgres")]
pub(crate) fn shows_both(dir: &Path, address: &str, host: &str, page: &str, lines: impl Fn(String) -> Vec<String>) {
    let index = Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(["index", "--file", "server.search", "--db", address])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(index.status.success(), "{}", String::from_utf8_lossy(&index.stderr));
    let file = Inspector::start(dir, &["--db", "one.db"]);
    let server = Inspector::start(dir, &["--db", address, "--index", "server.search"]);
    for path in [
        format!("/sites.csv?q={host}"),
        format!("/api/sites?q={host}&sort=host"),
        format!("/page?url={page}&view=text"),
    ] {
        let [one, other] = [&file, &server].map(|inspector| inspector.get(&path));
        assert_eq!((one.status, other.status), (200, 200), "{path}: {} {}", one.body, other.body);
        if path.starts_with("/page") {
            let text = |body: &str| body.split("<pre").nth(1).unwrap().split("</pre>").next().unwrap().to_owned();
            assert_eq!(text(&one.body), text(&other.body));
        } else if path.starts_with("/api") {
            // The last two fields depend on other sites.
            let sites = |body: String| lines(body.split("\"outcomes\"").next().unwrap().to_owned());
            assert_eq!(sites(one.body), sites(other.body));
        }
    }
    let run = server.get("/api/runs").body;
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let id = run["runs"][0]["id"].as_i64().unwrap();
    for path in [
        "/".to_owned(),
        format!("/run?id={id}"),
        "/sites?sort=updated".to_owned(),
        "/sites?sort=updated&outcome=learned&at=1&after=x".to_owned(),
        format!("/site?host={host}"),
        format!("/page?url={page}&view=diff"),
        format!("/frame?url={page}"),
        format!("/label?url={page}"),
        format!("/find?q={host}"),
        "/search?q=page".to_owned(),
        "/metrics".to_owned(),
        "/healthz".to_owned(),
    ] {
        let answer = server.get(&path);
        assert!(matches!(answer.status, 200 | 303), "{path}: {}", answer.body);
    }
}

#[test]
fn half_open_connections_keep_nobody_out_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let made = dehusk(dir.path(), &["demo", "--quiet"]);
    assert!(made.status.success(), "{}", err(&made));
    let inspector = Inspector::start(dir.path(), &["--db", "dehusk-demo/dehusk.db"]);
    let open = |_| {
        let mut stream = TcpStream::connect(&inspector.address).unwrap();
        write!(stream, "GET / HTTP/1.1\r\nhost: x\r\n").unwrap();
        stream
    };
    let mut halves: Vec<TcpStream> = (0..200).map(open).collect();
    assert_eq!(inspector.ask("GET", "/healthz", &[], "").status, 200);
    // It took the place of the oldest, and did not wait until the others were given up.
    let later = &mut halves[150];
    later.set_nonblocking(true).unwrap();
    let waits = later.read(&mut [0]).unwrap_err().kind();
    assert_eq!(waits, std::io::ErrorKind::WouldBlock, "it is open still");
    let first = &mut halves[0];
    first.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut rest = Vec::new();
    let ended = first.read_to_end(&mut rest).map_err(|e| e.kind());
    let is_open = matches!(ended, Err(std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut));
    assert!(!is_open, "the server has closed it");
}
