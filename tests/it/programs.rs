//! `dehusk serve --api` and `dehusk mcp`: the sessions of docs/api.md, and who is refused.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use serde_json::Value;

use crate::cli::{dehusk, err};
use crate::serve::Inspector;

const DB: &str = "docs.db";

fn page(n: usize, night: usize) -> String {
    let text: String =
        (0..12).map(|at| format!("Winter wheat of field {} is sown by day {at} of page {n}. ", n * 31 + at)).collect();
    let links: String = (0..9).map(|n| format!("<a href=/p{n}>Page {n}</a> ")).collect();
    let news =
        if night > 0 && n == 1 { "<p>The harvest of this year was the best of all years so far.</p>" } else { "" };
    format!(
        "<html><head><title>Page {n} - Fields</title></head><body><nav>{links}</nav><main><h1>Page {n}</h1>\
         <p>{text}</p>{news}</main><footer>Fields and more fields, since ever</footer></body></html>"
    )
}

/// A database of two nights of docs.example.org, and the server that has it.
fn stored(dir: &Path) -> (Server, String) {
    let night = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&night);
    let answer = move |_: &str, path: &str| match path {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /closed\nContent-Signal: ai-train=no"),
        "/noindex" => Reply::html(page(1, 0)).with("x-robots-tag", "none"),
        "/noarchive" => Reply::html(page(1, 0)).with("x-robots-tag", "noarchive"),
        "/.well-known/tdmrep.json" => {
            Reply::typed("application/json", r#"[{"location": "/p3", "tdm-reservation": 1}]"#)
        }
        "/" => Reply::html(page(0, 0)),
        path => match path.strip_prefix("/p").and_then(|n| n.parse().ok()).filter(|n| *n < 9) {
            Some(n) => Reply::html(page(n, now.load(Ordering::Relaxed))),
            None => Reply::status(404),
        },
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let config = format!(
        "[fetch]\nallow_private = true\nresolve = [\"docs.example.org=127.0.0.1:{}\"]\n[politeness]\ndelay = 0.01\n\
         [revisit]\nfirst = 0\nleast = 0\n[crawl]\npages_per_site = 20\n",
        server.port()
    );
    std::fs::write(dir.join("crawl.toml"), config).unwrap();
    std::fs::write(dir.join("page.html"), page(7, 0)).unwrap();
    for _ in 0..2 {
        let crawl = dehusk(dir, &["crawl", "http://docs.example.org/p0", "--db", DB, "--quiet"]);
        assert!(crawl.status.success(), "{}", err(&crawl));
        night.fetch_add(1, Ordering::Relaxed);
    }
    assert!(dehusk(dir, &["index", "--db", DB]).status.success());
    (server, DB.to_owned())
}

/// The lines of the blocks of a kind in the guide.
fn blocks(kind: &str) -> Vec<String> {
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api.md")).unwrap();
    let fences = guide.split("\n```").skip(1).step_by(2);
    fences.filter_map(|block| block.strip_prefix(kind)).flat_map(str::lines).map(str::to_owned).collect()
}

/// The answer to a command `curl` of the guide.
fn curl(inspector: &Inspector, line: &str, dir: &Path) -> (u16, Value) {
    let address = line.split('\'').rev().nth(1).unwrap().strip_prefix("http://127.0.0.1:7777").unwrap();
    let body = if line.contains("@page.html") {
        std::fs::read_to_string(dir.join("page.html")).unwrap()
    } else {
        String::new()
    };
    let is_post = !body.is_empty() || line.contains("-X POST");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = inspector.ask(if is_post { "POST" } else { "GET" }, address, &form, &body);
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_else(|e| panic!("{line}: {e}: {}", answer.body)))
}

#[test]
fn the_calls_of_the_guide_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, db) = stored(dir.path());
    let inspector = Inspector::start(dir.path(), &["--db", &db, "--api"]);
    let lines: Vec<String> = blocks("sh").into_iter().filter(|line| line.starts_with("curl ")).collect();
    let mut asked = Vec::new();
    for line in lines.iter().filter(|line| !line.contains("event-stream")) {
        let (status, answer) = curl(&inspector, line, dir.path());
        assert_eq!(status, 200, "{line}: {answer}");
        asked.push(answer);
    }
    let [by_model, row, alone, extracted, text, diff, model, search, changes] = &asked[..] else {
        panic!("{} calls", asked.len())
    };
    assert_eq!((&by_model["model"], &by_model["step"]), (&"docs.example.org".into(), &"site_model".into()));
    let own = by_model["content"].as_str().unwrap();
    assert!(own.contains("Winter wheat of field 217") && !own.contains("since ever"), "{own}");
    assert_eq!((&row["row"]["title"], &row["content"]), (&"Page 7".into(), &Value::Null));
    assert_eq!((&alone["model"], &alone["step"]), (&Value::Null, &"alone".into()));
    assert!(extracted["content"].as_str().unwrap().contains("best of all years"), "{extracted}");
    assert_eq!(extracted["rights"][0]["words"], "ai-train=no");
    assert!(text["content"].as_str().unwrap().contains("best of all years") && text["run"] == 2, "{text}");
    assert!(diff["diff"].as_str().unwrap().contains("\n+The harvest of this year"), "{diff}");
    assert_eq!(model["host"], "docs.example.org");
    assert!(search["hits"].as_array().is_some_and(|hits| hits.len() > 5), "{search}");
    let kinds: Vec<&str> =
        changes["changes"].as_array().unwrap().iter().map(|c| c["change"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"new") && kinds.last() == Some(&"changed"), "{kinds:?}");
    events(&inspector, changes["next"].as_i64().unwrap());
    refusals(&inspector);
    description(&inspector, &lines);
    let of_host = |host: &str| {
        let answer = inspector.get(&format!("/v1/changes?limit=2&host={host}"));
        serde_json::from_str::<Value>(&answer.body).unwrap()["changes"].as_array().unwrap().len()
    };
    assert_eq!((of_host("docs.example.org"), of_host("none.test")), (2, 0));
    let of_purpose = |purpose: &str, path: &str| {
        let purpose = format!("crawl.purpose={purpose}");
        let inspector = Inspector::start(dir.path(), &["--db", &db, "--api", "--set", &purpose]);
        inspector.ask("POST", &format!("/v1/extract?url=http://docs.example.org{path}"), &[], "").status
    };
    // By robots.txt, by tdmrep.json, and by a header.
    assert_eq!([of_purpose("train", "/p1"), of_purpose("input", "/p3"), of_purpose("input", "/p1")], [403, 403, 200]);
    assert_eq!([of_purpose("archive", "/noarchive"), of_purpose("search", "/noarchive")], [403, 200]);
    let without = Inspector::start(dir.path(), &["--db", &db]);
    assert_eq!(without.ask("POST", "/v1/clean", &[], "<p>a").status, 404, "only with --api");
}

/// The same changes as events; the id is the number to go on with.
fn events(inspector: &Inspector, last: i64) {
    let mut stream = TcpStream::connect(&inspector.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A browser that connects again names the last event that it had.
    let head = format!(
        "GET /v1/changes?limit=1000 HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\nlast-event-id: {}\r\n\r\n",
        inspector.address,
        last - 1
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    while !text.contains("\n\n") || !text.contains("event: changes") {
        let mut part = [0; 4096];
        let n = stream.read(&mut part).unwrap();
        assert!(n > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&part[..n]));
    }
    assert!(text.contains("text/event-stream") && text.contains(&format!("id: {last}\n")), "{text}");
    assert_eq!(text.matches("\"seq\"").count(), 1, "{text}");
}

fn refusals(inspector: &Inspector) {
    for (method, path, expected) in [
        ("POST", "/v1/extract?url=http://docs.example.org/closed", 403),
        ("POST", "/v1/extract?url=http://docs.example.org/none", 502),
        ("POST", "/v1/extract?url=ftp://docs.example.org/", 400),
        ("GET", "/v1/extract?url=http://docs.example.org/p1", 405),
        ("POST", "/v1/clean?form=word", 400),
        ("POST", "/v1/clean?site=none.test", 404),
        ("GET", "/v1/page?url=http://none.test/", 404),
        ("GET", "/v1/sites/none.test/model", 404),
        ("GET", "/v1/changes?since=x", 400),
        ("GET", "/v1/page", 400),
        ("GET", "/v1/nothing", 404),
        ("POST", "/v1/extract?url=http://docs.example.org/noindex", 403),
        ("POST", "/v1/extract?url=http://nowhere.invalid/", 502),
    ] {
        let answer = inspector.ask(method, path, &[], "");
        let said: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        assert!(
            answer.status == expected && said["error"].is_string(),
            "{method} {path}: {} {}",
            answer.status,
            answer.body
        );
    }
    let foreign = [("origin", "http://evil.example")];
    let asked = inspector.ask("POST", "/v1/extract?url=http://docs.example.org/p1", &foreign, "");
    assert_eq!(asked.status, 403, "a page of another origin may not ask");
    assert_eq!(inspector.ask("POST", "/v1/clean", &[], "").status, 200, "an empty page is one");
    for odd in ["\u{0}", "<", "<table><b><svg>", "{\"html\": 1}"] {
        assert_eq!(inspector.ask("POST", "/v1/clean?form=row", &[], odd).status, 200, "{odd:?}");
    }
}

/// Each call of the guide is described, and nothing else is.
fn description(inspector: &Inspector, lines: &[String]) {
    let about: Value = serde_json::from_str(&inspector.get("/api/openapi.json").body).unwrap();
    let paths = about["paths"].as_object().unwrap();
    for (path, call) in paths.iter().filter(|(path, _)| path.starts_with("/v1")) {
        let asked = path.replace("{host}", "docs.example.org");
        assert!(lines.iter().any(|line| line.contains(&asked)), "{path} is not in the guide");
        let method = call.as_object().unwrap().keys().next().unwrap().to_uppercase();
        assert_ne!(inspector.ask(&method, &format!("{asked}?url=http://none.test/"), &[], "").status, 405, "{path}");
    }
    assert_eq!(paths.keys().filter(|path| path.starts_with("/v1")).count(), 7);
}

#[test]
fn the_session_of_the_guide_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, db) = stored(dir.path());
    let messages: Vec<String> = blocks("json").into_iter().filter(|line| line.contains("jsonrpc")).collect();
    assert_eq!(messages.len(), 9);
    let answers = session(dir.path(), &db, &messages);
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["changes", "clean", "fetch", "page_diff", "read_page", "search"]);
    let text = |n: usize, block: usize| answers[n]["result"]["content"][block]["text"].as_str().unwrap_or_default();
    for answer in &answers[2..] {
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert!(
        text(2, 1).starts_with("[untrusted content ") && text(2, 1).contains("best of all years"),
        "{}",
        text(2, 1)
    );
    let number = text(2, 1).split([' ', ':']).nth(2).unwrap();
    assert!(text(2, 1).ends_with(&format!("[end of untrusted content {number}]")), "{}", text(2, 1));
    assert!(text(3, 1).contains("+The harvest of this year"), "{}", text(3, 1));
    assert!(text(4, 1).contains("docs.example.org") && text(5, 0).contains("\"changed\""));
    assert!(text(6, 0).contains("\"train\":\"deny\"") && !text(6, 0).contains("ai-train"), "{}", text(6, 0));
    assert!(text(7, 1).contains("\nRye\n"), "{}", text(7, 1));
}

/// What is wrong is told to the assistant, and the session goes on.
#[test]
fn mistakes_do_not_end_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, db) = stored(dir.path());
    let mut messages = blocks("json").into_iter().filter(|line| line.contains("jsonrpc")).take(2).collect::<Vec<_>>();
    let call = |id: usize, name: &str, arguments: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{arguments}}}}}"
        )
    };
    messages.push(call(2, "read_page", "{\"url\":\"http://none.test/\"}"));
    messages.push(call(3, "fetch", "{\"url\":\"http://docs.example.org/closed\"}"));
    messages.push(call(4, "fetch", "{\"url\":\"not an address\"}"));
    messages.push(call(5, "fetch", "{}"));
    messages.push(call(6, "nothing", "{}"));
    messages.push(call(7, "clean", "{\"html\":\"<p>Still here.\"}"));
    let answers = session(dir.path(), &db, &messages);
    let text = |n: usize| answers[n]["result"]["content"][0]["text"].as_str().unwrap_or_default();
    for (n, words) in [(1, "no stored version"), (2, "robots.txt forbids it"), (3, "not an address")] {
        assert!(answers[n]["result"]["isError"] == true && text(n).contains(words), "{}", answers[n]);
    }
    for n in [4, 5] {
        assert!(answers[n].get("error").is_some() || answers[n]["result"]["isError"] == true, "{}", answers[n]);
    }
    assert_eq!(answers[6]["result"]["isError"], false, "{}", answers[6]);
}

/// Sends messages one after the other. Returns the answers.
fn session(dir: &Path, db: &str, messages: &[String]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir).args(["mcp", "--quiet", "--db", db]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(output));
    let mut answers = Vec::new();
    for message in messages {
        writeln!(input, "{message}").unwrap();
        if message.contains("\"id\"") {
            answers.push(serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    answers
}
