//! The program as a user runs it: output, exit codes, messages.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use dehusk::demo::{answers, sites};

/// Runs the program in a folder without a crawl.toml.
pub(crate) fn dehusk(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dehusk")).current_dir(dir).args(args).output().unwrap()
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Sends a signal to the program once the server has had this many requests.
pub(crate) fn signal_after(server: &Server, requests: usize, child: &Child, signal: &str) {
    let start = Instant::now();
    while server.arrivals().len() < requests && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

fn loopback(server: &Server) -> Vec<String> {
    [
        "fetch.allow_private=true".to_owned(),
        format!("fetch.resolve=[\"*.demo.test=127.0.0.1:{}\"]", server.port()),
        "politeness.key=host".to_owned(),
        "politeness.delay=50ms".to_owned(),
    ]
    .into_iter()
    .flat_map(|pair| ["--set".to_owned(), pair])
    .collect()
}

#[test]
fn crawl_then_look_at_templates_and_pages_and_clean() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(answers(Arc::new(sites()))).unwrap();
    let sets = loopback(&server);
    let with = |args: &[&str]| {
        let all: Vec<&str> = args.iter().copied().chain(sets.iter().map(String::as_str)).collect();
        dehusk(dir.path(), &all)
    };
    std::fs::write(
        dir.path().join("list.txt"),
        "http://menus.demo.test/1/2.html\n# no\nhttp://gone.demo.test/\nbad line\n",
    )
    .unwrap();
    let crawl = with(&["crawl", "list.txt"]);
    assert!(crawl.status.success(), "one site of two failed: {}{}", out(&crawl), err(&crawl));
    assert!(out(&crawl).contains("2 sites: 1 learned, 1 failed\n"), "{}", out(&crawl));
    assert!(out(&crawl).contains("gone.demo.test") && out(&crawl).contains("answers 404"), "{}", out(&crawl));
    assert!(err(&crawl).contains("list.txt, line 4: `bad line`"), "{}", err(&crawl));

    let strict = with(&["crawl", "list.txt", "--new", "--fail-above", "10%", "--metrics-file", "dehusk.prom"]);
    assert_eq!(strict.status.code(), Some(1), "{}{}", out(&strict), err(&strict));
    let metrics = std::fs::read_to_string(dir.path().join("dehusk.prom")).unwrap();
    assert!(
        metrics.contains("dehusk_sites_failed_total 1\n") && metrics.contains("dehusk_run_interrupted 0\n"),
        "{metrics}"
    );

    let list = with(&["templates", "list"]);
    assert!(list.status.success() && out(&list).contains("menus.demo.test"), "{}", err(&list));
    let json = with(&["templates", "list", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["templates"][0]["version"], 1);
    let show = with(&["templates", "show", "menus.demo.test"]);
    assert!(out(&show).contains("ul.menu") && out(&show).contains("\"Field Manual\""), "{}", out(&show));
    let one = with(&["strings", "learn", "--url", "http://menus.demo.test/1/2.html"]);
    assert!(err(&one).contains("1 documents found; a template needs at least two"), "{}", err(&one));
    let site = with(&["strings", "learn", "--site", "menus.demo.test"]);
    assert!(out(&site).contains("Field Manual") && out(&site).contains("9 documents"), "{}{}", out(&site), err(&site));
    let votes = with(&["templates", "show", "menus.demo.test", "--votes"]);
    assert!(out(&votes).contains("4 of them link to each other; 3 votes make a node template"), "{}", out(&votes));
    assert!(out(&votes).contains("\n 8    4        ul.menu"), "{}", out(&votes));
    let kinds = with(&["templates", "kinds", "menus.demo.test", "--json"]);
    let kinds: serde_json::Value = serde_json::from_slice(&kinds.stdout).unwrap();
    let only = &kinds["kinds"][0];
    assert_eq!(
        (kinds["kinds"].as_array().unwrap().len(), &only["training_pages"], &only["pages"]),
        (1, &9.into(), &9.into())
    );
    assert!(only["coverage"].as_f64().unwrap() > 0.9 && only["runs"][0]["run"] == 1, "{kinds}");
    let runs = with(&["templates", "kinds", "menus.demo.test", "--runs"]);
    assert!(out(&runs).starts_with("kind  run ") && out(&runs).lines().count() == 2, "{}", out(&runs));
    let page_of = |method: &str| {
        let args = ["clean", "http://menus.demo.test/1/2.html", "--method", method, "--site", "menus.demo.test"];
        with(&args)
    };
    for method in ["gottron", "strings", "df", "rtdm"] {
        let cleaned = page_of(method);
        assert!(cleaned.status.success() && !out(&cleaned).contains("Field Manual"), "{method}: {}", out(&cleaned));
    }
    let none = with(&["templates", "show", "nowhere.test"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("no template of nowhere.test"));

    let page = with(&["pages", "show", "http://menus.demo.test/1/2.html"]);
    assert!(
        page.status.success() && !out(&page).contains("Field Manual") && out(&page).contains("The "),
        "{}",
        out(&page)
    );
    let raw = with(&["pages", "show", "http://menus.demo.test/1/2.html", "--format", "raw"]);
    assert!(out(&raw).contains("<header id=\"top\">") && !out(&raw).contains("data-own"));
    std::fs::write(dir.path().join("page.html"), &raw.stdout).unwrap();
    for args in [&["clean", "page.html", "--site", "menus.demo.test"][..], &["clean", "page.html"]] {
        let cleaned = with(args);
        assert_eq!(out(&cleaned), out(&page), "{args:?} {}", err(&cleaned));
    }
    let fetched = with(&["clean", "http://menus.demo.test/3/1.html", "--json"]);
    let line: serde_json::Value = serde_json::from_slice(&fetched.stdout).unwrap();
    assert!(line["confidence"].as_f64().unwrap() > 0.9, "{line}");
    let before = server.arrivals().len();
    assert!(with(&["clean", "http://menus.demo.test/3/1.html", "http://menus.demo.test/3/2.html"]).status.success());
    let at: Vec<Instant> = server.arrivals()[before..].iter().map(|a| a.at).collect();
    assert_eq!(at.len(), 3, "robots.txt once");
    assert!(at.windows(2).all(|w| w[1] - w[0] >= Duration::from_millis(50)), "the delay holds between pages");
    std::fs::write(dir.path().join("other.html"), "<table><tr><td>another layout</table>").unwrap();
    let unfit = with(&["clean", "other.html", "missing.html"]);
    assert_eq!(unfit.status.code(), Some(1));
    assert!(out(&unfit).contains("another layout") && err(&unfit).contains("missing.html"), "{}", err(&unfit));

    let export = with(&["templates", "export", "menus.demo.test", "--output", "t.json"]);
    assert!(export.status.success());
    let import = dehusk(dir.path(), &["templates", "import", "t.json", "--db", "other.db"]);
    assert!(import.status.success(), "{}", err(&import));
    let again = dehusk(dir.path(), &["clean", "page.html", "--db", "other.db"]);
    assert_eq!(out(&again), out(&page));
    std::fs::write(dir.path().join("bad.json"), "{\"schema\": 7}").unwrap();
    let bad = dehusk(dir.path(), &["templates", "import", "bad.json", "--db", "other.db"]);
    assert!(err(&bad).contains("schema 7") && bad.status.code() == Some(1), "{}", err(&bad));
}

#[test]
fn learn_reads_a_folder_as_served() {
    let dir = tempfile::tempdir().unwrap();
    let www = dir.path().join("www.site.test");
    std::fs::create_dir(&www).unwrap();
    for (path, page) in sites().remove(0).pages {
        let file = www.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, page.html()).unwrap();
    }
    let learned = dehusk(dir.path(), &["learn", "www.site.test", "--key", "1/2.html", "--db", "l.db"]);
    assert!(learned.status.success(), "{}", err(&learned));
    assert!(out(&learned).contains("site       www.site.test"), "{}", out(&learned));
    let json = dehusk(dir.path(), &["learn", "www.site.test", "--key", "1/2.html", "--json"]);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&json.stdout).unwrap()["schema"], 3);
    let clean = dehusk(dir.path(), &["clean", "www.site.test/0/0.html", "--db", "l.db"]);
    assert!(clean.status.success() && !out(&clean).contains("Imprint"), "{}", err(&clean));
    let missing = dehusk(dir.path(), &["learn", "www.site.test"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(err(&missing).contains("no page /index.html; --key names another"), "{}", err(&missing));
    let nothing = dehusk(dir.path(), &["learn", "nowhere"]);
    assert!(nothing.status.code() == Some(2) && err(&nothing).contains("nowhere"), "{}", err(&nothing));
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_is_right() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("crawl.toml"), "[politeness]\ndelai = 1\n").unwrap();
    std::fs::write(dir.path().join("empty.txt"), "# nothing\n").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["crawl", "http://a.test/"], "did you mean `politeness.delay`"),
        (&["crawl", "--config", "none.toml"], "none.toml"),
        (&["crawl", "--config", "/dev/null", "missing.txt"], "neither a URL"),
        (&["crawl", "--config", "/dev/null", "empty.txt"], "no seeds in empty.txt"),
        (&["evaluate", "x", "--config", "/dev/null", "--method", "magic"], "invalid value 'magic'"),
        (&["crawl", "--config", "/dev/null", "--set", "etdm.map=x", "http://a.test/"], "expected one of greedy, dp"),
    ];
    for (args, message) in cases {
        let output = dehusk(dir.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", err(&output));
        assert!(err(&output).contains(message), "{args:?}: {}", err(&output));
    }
    let none = dehusk(dir.path(), &["pages", "list", "--config", "/dev/null"]);
    assert!(err(&none).contains("no such database") && none.status.code() == Some(3), "{}", err(&none));
    let corpus = dehusk(dir.path(), &["evaluate", "nowhere", "--config", "/dev/null"]);
    assert!(err(&corpus).contains("nowhere: no such corpus") && corpus.status.code() == Some(2), "{}", err(&corpus));
    let other = dehusk(dir.path(), &["evaluate", ".", "--config", "/dev/null"]);
    assert!(err(&other).contains("neither a folder with gold.toml"), "{}", err(&other));
}

#[test]
fn clean_says_what_is_no_page_and_needs_no_template() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.bin"), b"\x7fELF\x02\0\0\0").unwrap();
    std::fs::write(dir.path().join("b.bin"), b"words\0\0 and bytes").unwrap();
    for (file, message) in [("a.bin", "not HTML but application/x-executable"), ("b.bin", "it contains NUL bytes")] {
        let output = dehusk(dir.path(), &["clean", "--config", "/dev/null", "--alone", file]);
        assert!(err(&output).contains(message) && output.status.code() == Some(1), "{}", err(&output));
    }
    std::fs::write(dir.path().join("list.html"), "<h1>Prices</h1><ul><li>rye 3<li>oats 2</ul>").unwrap();
    let output = dehusk(dir.path(), &["clean", "--config", "/dev/null", "--alone", "--json", "list.html"]);
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&line["method"], &line["site"]), (&"alone".into(), &serde_json::Value::Null), "{line}");
    assert!(line["content"].as_str().unwrap().contains("rye 3"), "{line}");
    std::fs::write(dir.path().join("empty.html"), "").unwrap();
    let empty = dehusk(dir.path(), &["clean", "--alone", "empty.html"]);
    assert!(empty.status.success() && err(&empty).contains("no text is left of 1 pages"), "{}", err(&empty));
    std::fs::create_dir(dir.path().join("no-pages")).unwrap();
    let none = dehusk(dir.path(), &["clean", "--alone", "no-pages"]);
    assert!(err(&none).contains("the sources hold no page"), "{}", err(&none));
}

/// Ctrl-C finishes what is out and stores it; the database is whole.
#[cfg(unix)]
#[test]
fn ctrl_c_stores_what_is_out() {
    let dir = tempfile::tempdir().unwrap();
    let n_pages = AtomicUsize::new(0);
    let answer = move |_: &str, path: &str| {
        let links: String = (0..50).map(|i| format!("<a href=/{i}>{i}</a>")).collect();
        if path == "/robots.txt" {
            return Reply::status(404);
        }
        // The signal comes while the second page is out.
        let is_second = n_pages.fetch_add(1, Ordering::Relaxed) == 1;
        let wait = Duration::from_millis(if is_second { 4000 } else { 20 });
        Reply { wait, ..Reply::html(format!("<ul>{links}</ul><p>{path}")) }
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .current_dir(dir.path())
        .args(["crawl", "http://a.demo.test/", "--json"])
        .args(loopback(&server))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    signal_after(&server, 3, &child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", err(&output));
    assert!(err(&output).contains("stopping: waiting up to 30 s for open requests"), "{}", err(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["sites"][0]["outcome"], "interrupted");
    let fetched = server.arrivals().iter().filter(|a| a.path != "/robots.txt").count();
    let pages = dehusk(dir.path(), &["pages", "list", "--json"]);
    let pages: serde_json::Value = serde_json::from_slice(&pages.stdout).unwrap();
    assert_eq!(pages["pages"].as_array().unwrap().len(), fetched, "every answer is stored");

    // Another crawl is a run of its own, and leaves the interrupted one as it is.
    let with = |args: &[&str]| {
        let sets = loopback(&server);
        dehusk(dir.path(), &args.iter().copied().chain(sets.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    let before = server.arrivals().len();
    let other = with(&["crawl", "http://b.demo.test/", "--set", "subdigraph.max_loads=1"]);
    assert!(other.status.success(), "{}", err(&other));
    assert!(err(&other).contains("run 1 is unfinished") && err(&other).contains("--resume"), "{}", err(&other));
    assert!(server.arrivals()[before..].iter().all(|arrival| arrival.host == "b.demo.test"));
    let before = server.arrivals().len();
    let resumed = with(&["crawl", "--resume", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!((&json["summary"]["run"], &json["summary"]["was_resumed"]), (&1.into(), &true.into()), "{json}");
    assert!(server.arrivals()[before..].iter().all(|arrival| arrival.host == "a.demo.test"));
    let none = with(&["crawl", "--resume"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(err(&none).contains("no interrupted run to resume"), "{}", err(&none));
}

#[test]
fn any_method_cleans_by_the_page_alone_or_by_pages_like_it() {
    let dir = tempfile::tempdir().unwrap();
    let site = dehusk::demo::generated(3);
    std::fs::create_dir(dir.path().join("site")).unwrap();
    for (n, page) in site.pages.values().enumerate() {
        std::fs::write(dir.path().join(format!("site/{n}.html")), page.html().as_bytes()).unwrap();
    }
    for method in dehusk_papers::method_table::METHODS {
        let name = method.method.name();
        let alone = dehusk(dir.path(), &["clean", "site/1.html", "--json", "--method", name]);
        let like = dehusk(dir.path(), &["clean", "site/1.html", "--json", "--method", name, "--like", "site"]);
        let (well, refused) = if method.is_site_method() { (like, alone) } else { (alone, like) };
        assert!(well.status.success(), "{}: {}", name, err(&well));
        let line: serde_json::Value = serde_json::from_slice(&well.stdout).unwrap();
        let step = line["method"].as_str().unwrap();
        let steps = if method.method.uses_chain() { vec!["site_model", "etdm", "df", "alone"] } else { vec![name] };
        assert!(steps.contains(&step), "{}: {step}", name);
        assert_eq!(refused.status.code(), Some(2), "{}", name);
        assert!(err(&refused).contains("--like"), "{}", err(&refused));
    }
    let by_site = dehusk(dir.path(), &["clean", "site/1.html", "--like", "site"]);
    assert!(!out(&by_site).contains("Footer:") && out(&by_site).len() > 100, "{}{}", out(&by_site), err(&by_site));
    let missing = dehusk(dir.path(), &["clean", "site/1.html", "--like", "nowhere"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(err(&missing).contains("--like: nowhere"), "{}", err(&missing));
}

/// What a source is shows in its content; a page of a site that nobody has learned is cleaned by itself.
#[test]
fn every_command_reads_the_same_sources() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let prose =
        "A long text, with sentences in it, that goes on and on. It has no links, and it is not short. ".repeat(4);
    let page = |host: &str, n: usize| {
        let links: String = (0..4).map(|n| format!("<a href=/{n}>Chapter {n} of {host}</a>")).collect();
        format!("<nav>{links}</nav><main><h1>{host} {n}</h1><p>{n} {prose}</main><footer>Footer of {host}</footer>")
    };
    let response = |url: &str, head: &str, body: &[u8]| {
        let block = [format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n").as_bytes(), body].concat();
        let head = format!("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Record-ID: <urn:x>\r\n");
        let head = format!("{head}WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: {}\r\n\r\n", block.len());
        [head.as_bytes(), &block, b"\r\n\r\n"].concat()
    };
    let mut warc = Vec::new();
    for n in 0..4 {
        warc.extend(response(&format!("http://one.test/{n}"), "", page("one", n).as_bytes()));
        warc.extend(response(&format!("http://two.test/{n}"), "", page("two", n).as_bytes()));
    }
    warc.extend(response("http://alone.test/", "", page("alone", 9).as_bytes()));
    warc.extend(response("http://one.test/secret", "X-Robots-Tag: noindex\r\n", page("one", 7).as_bytes()));
    std::fs::write(path("archive"), &warc).unwrap();
    std::fs::write(path("packed"), zstd::encode_all(warc.as_slice(), 1).unwrap()).unwrap();
    let text = warc_record("conversion", "http://one.test/0", b"plain text");
    std::fs::write(path("texts.wet"), &text).unwrap();
    std::fs::write(path("info.warc"), warc_record("warcinfo", "http://one.test/0", b"software: x")).unwrap();
    let line = |url: &str, html: &str| format!("{}\n", serde_json::json!({"url": url, "html": html}));
    std::fs::write(path("lines"), line("http://one.test/5", &page("one", 5))).unwrap();

    let learned = dehusk(dir.path(), &["learn", "packed", "--db", "m.db"]);
    assert!(learned.status.success() && out(&learned).contains("2 of 3 sites have a template"), "{}", out(&learned));
    let clean = |args: &[&str]| {
        let output = dehusk(dir.path(), &[&["clean", "--json", "--db", "m.db"], args].concat());
        let lines = out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>();
        (output, lines)
    };
    let (output, lines): (_, Vec<serde_json::Value>) = clean(&["archive", "lines"]);
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(lines.len(), 10, "the page that asks for noindex is left out");
    assert!(err(&output).contains("1 pages ask for noindex"), "{}", err(&output));
    for line in &lines {
        let (url, content) = (line["url"].as_str().unwrap(), line["content"].as_str().unwrap());
        assert!(content.contains("A long text") && !content.contains("Footer"), "{line}");
        let step = if url.contains("alone") { "alone" } else { "site_model" };
        assert_eq!(line["method"], step, "{line}");
    }
    let (output, lines) = clean(&["archive", "--set", "store.noindex=show"]);
    assert!(output.status.success() && lines.len() == 10, "{}", err(&output));
    for (file, message) in
        [("texts.wet", "1 documents are plain text (a WET file"), ("info.warc", "an archive without a page")]
    {
        let (output, lines) = clean(&[file]);
        assert!(
            output.status.code() == Some(1) && lines.is_empty() && err(&output).contains(message),
            "{}",
            err(&output)
        );
    }
    std::fs::create_dir(path("folder")).unwrap();
    std::fs::write(path("folder/a.html"), page("one", 5)).unwrap();
    let (output, lines) = clean(&["folder"]);
    assert!(
        output.status.success() && lines.len() == 1 && lines[0]["site"] == "one.test",
        "{} {lines:?}",
        err(&output)
    );
    let without = dehusk(dir.path(), &["clean", "folder/a.html"]);
    assert!(without.status.success() && out(&without).contains("A long text"), "{}", err(&without));
    assert!(err(&without).contains("no such database"), "{}", err(&without));
}

fn warc_record(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let head = format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Record-ID: <urn:y>\r\n");
    let head = format!("{head}WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: {}\r\n\r\n", block.len());
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}
