//! The inspector over HTTP: each view, hostile pages, who is answered. `BROWSER=1` opens it in Chromium, too.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use html5ever::parse_document;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{NodeData, RcDom};

use crate::cli::{dehusk, err};

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
fn encoded(text: &str) -> String {
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
        (format!("/page?url={page}"), "8 training pages"),
        (format!("/page?url={page}&view=beside"), "show=main"),
        (format!("/page?url={page}&view=markdown"), "# The recent valley"),
        (format!("/page?url={page}&view=text"), "The recent valley"),
        (format!("/page?url={page}&view=source"), "&lt;h1&gt;"),
        (format!("/page?url={page}&view=diff"), "first version"),
        (format!("/frame?url={page}&show=overlay"), "data-dehusk=\"main\""),
        ("/search?q=recent+valley".to_owned(), "<mark>valley</mark>"),
        ("/api/search?q=valley".to_owned(), "\"hits\":[{"),
        ("/try".to_owned(), "<textarea"),
        ("/sites.csv".to_owned(), "menus.demo.test,learned,,9,1,"),
        ("/api/runs".to_owned(), "\"requests\":"),
        ("/api/run?id=1".to_owned(), "\"shortest\":"),
        ("/api/sites?q=menus".to_owned(), "\"host\":\"menus.demo.test\""),
        ("/api/site?host=menus.demo.test".to_owned(), "\"versions\":[{"),
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
    in_a_browser(&inspector);
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

/// Texts that run, ask or break out where they are not escaped.
fn vectors() -> Vec<String> {
    let runs = ["alert(1)", "fetch('http://127.0.0.1:9/leak')", "parent.document.title='x'"];
    let mut all = Vec::new();
    for run in runs {
        for form in [
            "<script>RUN</script>",
            "<img src=x onerror=RUN>",
            "<svg onload=RUN>",
            "<svg><script>RUN</script></svg>",
            "<a href='javascript:RUN'>a</a>",
            "<iframe srcdoc='<script>RUN</script>'></iframe>",
            "<body onload=RUN>",
            "\"><script>RUN</script>",
            "'><img src=x onerror=RUN>",
            "</title><script>RUN</script>",
            "</textarea><script>RUN</script>",
            "</style><script>RUN</script>",
            "<object data='javascript:RUN'>",
            "<embed src='javascript:RUN'>",
            "<form action='javascript:RUN'><button>b</button></form>",
            "<input onfocus=RUN autofocus>",
            "<details open ontoggle=RUN>",
            "<video><source onerror=RUN></video>",
            "<math href='javascript:RUN'>m</math>",
            "<style>@import 'http://127.0.0.1:9/x.css';</style>",
            "<p style=\"background:url('http://127.0.0.1:9/x.png')\">p</p>",
            "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
            "<base href='http://127.0.0.1:9/'>",
            "<link rel=stylesheet href='http://127.0.0.1:9/x.css'>",
            "<link rel=prefetch href='http://127.0.0.1:9/x'>",
            "<img src='http://127.0.0.1:9/x.png'>",
            "<img srcset='http://127.0.0.1:9/x.png 2x'>",
            "<audio src='http://127.0.0.1:9/x.mp3' autoplay></audio>",
            "<portal src='http://127.0.0.1:9/'></portal>",
            "<template><script>RUN</script></template>",
            "<noscript><p title=\"</noscript><script>RUN</script>\"></noscript>",
            "<svg><use href='http://127.0.0.1:9/x.svg#x'/></svg>",
            "<svg><a xlink:href='javascript:RUN'><text>t</text></a></svg>",
            "<svg><animate onbegin=RUN attributeName=x dur=1s></svg>",
            "<svg><style><img src=x onerror=RUN></style></svg>",
            "<math><mtext><table><mglyph><style><img src=x onerror=RUN></style></mglyph></table></mtext></math>",
            "<a href=' &#106;avascript:RUN'>b</a>",
            "<a href='data:text/html,<script>RUN</script>'>c</a>",
            "<p id=main>clobbers</p>",
            "<form id=find><input name=attributes></form>",
            "<marquee onstart=RUN>m</marquee>",
            "<x onclick=RUN tabindex=1 id=x>y</x>",
            "<frameset onload=RUN>",
            "<button formaction='javascript:RUN'>f</button>",
            "<isindex action='javascript:RUN'>",
            "<table background='http://127.0.0.1:9/t.png'><tr><td>t</table>",
            "<keygen onfocus=RUN autofocus>",
            "<applet code=x archive='http://127.0.0.1:9/x.jar'></applet>",
            "<bgsound src='http://127.0.0.1:9/x'>",
            "<layer src='http://127.0.0.1:9/x'></layer>",
            "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='RUN'/>\">",
            "<dialog open onclose=RUN>d</dialog>",
            "<img/src=x/onerror=RUN>",
            "<IMG SRC=x OnErRoR=RUN>",
            "\u{0}<script>RUN</script>",
            "<scr\u{0}ipt>RUN</scr\u{0}ipt>",
            "<!--<img src='--><img src=x onerror=RUN>'>",
            "<![CDATA[<script>RUN</script>]]>",
            "<?xml-stylesheet href='javascript:RUN'?>",
            "<a ping='http://127.0.0.1:9/p' href=/>p</a>",
            "{{constructor.constructor('RUN')()}}",
            "<input type=image src='http://127.0.0.1:9/i.png'>",
            "`${RUN}`",
            "<area href='javascript:RUN'>",
            "<meter onclick=RUN>m</meter>",
            "<select onfocus=RUN autofocus></select>",
            "<video poster='http://127.0.0.1:9/v.png'></video>",
            "<track src='http://127.0.0.1:9/t.vtt'>",
        ] {
            all.push(form.replace("RUN", run));
        }
    }
    all
}

/// A site of which each page has a vector in its title, text, attributes, headers and address.
pub(crate) fn hostile_site() -> Server {
    let all = vectors();
    Server::start(Arc::new(move |_: &str, path: &str| {
        if path == "/robots.txt" {
            return Reply::text("User-agent: *\n# <script>alert(1)</script>\nDisallow: /none\n");
        }
        let at: usize = path.trim_start_matches('/').split('?').next().unwrap().parse().unwrap_or(0);
        let Some(vector) = all.get(at) else { return Reply::status(404) };
        let links: String = (0..all.len())
            .map(|n| format!("<li><a href=\"/{n}?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E\">{n}</a>"))
            .collect();
        let attribute = vector.replace('"', "&quot;");
        let body = format!(
            "<html lang=\"{attribute}\"><title>{vector}</title><meta name=author content=\"{attribute}\">
            <nav><ul>{links}</ul></nav><main><h1 class=\"{attribute}\">{vector}</h1>
            <p title=\"{attribute}\">Rye is a grass that is grown as a grain, number {at}. {vector}
            <img alt=\"{attribute}\" src=\"{attribute}\"></main><footer>The footer of all pages</footer>"
        );
        Reply::typed("text/html; charset=utf-8; x=\"<script>alert(1)</script>\"", body)
    }))
    .unwrap()
}

fn crawl_hostile_site(dir: &Path, server: &Server) {
    let resolve = format!("fetch.resolve=[\"hostile.test=127.0.0.1:{}\"]", server.port());
    let pages = format!("crawl.pages_per_site={}", vectors().len() + 5);
    let url = "http://hostile.test/0";
    let sets = ["politeness.delay=0", "fetch.allow_private=true", &resolve, &pages];
    let mut args = vec!["crawl", url, "--quiet", "--db", "h.db"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let crawled = dehusk(dir, &args);
    assert!(crawled.status.success(), "{}", err(&crawled));
}

/// Everything in a document that could run or ask, as an independent parser sees it.
fn live_parts(html: &str) -> Vec<String> {
    let document = parse_document(RcDom::default(), Default::default()).one(html);
    let mut found = Vec::new();
    let mut waiting = vec![document.document.clone()];
    while let Some(node) = waiting.pop() {
        waiting.extend(node.children.borrow().iter().cloned());
        let NodeData::Element { name, attrs, template_contents, .. } = &node.data else { continue };
        waiting.extend(template_contents.borrow().iter().cloned());
        let name = name.local.to_string();
        let attributes: Vec<(String, String)> =
            attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.trim().to_ascii_lowercase())).collect();
        let value =
            |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map_or("", |(_, value)| value.as_str());
        let is_own = |address: &str| address.starts_with('/') && !address.starts_with("//");
        let is_ours = match name.as_str() {
            "script" => value("src") == "/assets/inspector.js",
            "link" => matches!(value("href"), "/assets/inspector.css" | "data:,"),
            "iframe" => {
                attributes.contains(&("sandbox".to_owned(), String::new())) && value("src").starts_with("/frame?")
            }
            "meta" => value("http-equiv").is_empty(),
            "form" => is_own(value("action")),
            "a" => value("href").is_empty() || is_own(value("href")) || value("href") == "#main",
            "base" | "object" | "embed" | "math" | "video" | "audio" | "source" | "track" | "frame" | "frameset"
            | "template" | "img" | "image" | "use" | "animate" | "portal" | "applet" | "area" => false,
            _ => value("href").is_empty() && value("src").is_empty(),
        };
        let is_live = |name: &str| {
            name.starts_with("on")
                || ["style", "srcdoc", "srcset", "ping", "formaction", "background", "poster"].contains(&name)
        };
        if !is_ours || attributes.iter().any(|(name, _)| is_live(name)) {
            found.push(format!("<{name} {attributes:?}>"));
        }
    }
    found
}

#[test]
fn nothing_of_a_hostile_page_runs_or_asks() {
    assert!(vectors().len() >= 200, "{}", vectors().len());
    let server = hostile_site();
    let dir = tempfile::tempdir().unwrap();
    crawl_hostile_site(dir.path(), &server);
    let inspector = Inspector::start(dir.path(), &["--db", "h.db"]);
    let mut urls = Vec::new();
    let mut after = String::new();
    loop {
        let answer = inspector.get(&format!("/api/site?host=hostile.test&after={}", encoded(&after)));
        let part: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        urls.extend(part["pages"].as_array().unwrap().iter().map(|page| page["url"].as_str().unwrap().to_owned()));
        match part["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert!(urls.len() >= 200, "{} hostile pages are stored", urls.len());
    let mut paths =
        vec!["/".to_owned(), "/run?id=1".to_owned(), "/sites".to_owned(), "/site?host=hostile.test".to_owned()];
    for url in &urls {
        let url = encoded(url);
        paths.push(format!("/page?url={url}"));
        paths.push(format!("/frame?url={url}&show=fetched"));
        paths.push(format!("/frame?url={url}&show=overlay"));
    }
    for url in urls.iter().step_by(7) {
        let url = encoded(url);
        ["markdown", "text", "source", "diff"]
            .iter()
            .for_each(|view| paths.push(format!("/page?url={url}&view={view}")));
    }
    for path in &paths {
        let answer = inspector.get(path);
        assert_eq!(answer.status, 200, "{path}");
        let found = live_parts(&answer.body);
        assert!(found.is_empty(), "{path}: {found:?}\n{}", answer.body);
        let scripts: Vec<&str> = answer.body.split("<script").skip(1).collect();
        let is_frame = path.starts_with("/frame");
        assert_eq!(scripts.len(), usize::from(!is_frame), "{path}: {}", answer.body);
        assert!(scripts.iter().all(|script| script.starts_with(" src=\"/assets/inspector.js\"")), "{path}");
        let policy = answer.head.lines().find(|line| line.starts_with("content-security-policy:")).unwrap();
        let wanted = if is_frame { "; sandbox" } else { "script-src 'self'" };
        assert!(policy.contains("default-src 'none'") && policy.contains(wanted), "{path}: {policy}");
    }
    let found = inspector.get("/sites?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E");
    assert!(!found.body.contains("<script>alert"), "{}", found.body);
}

#[test]
fn only_those_who_may_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let demo = dehusk(dir.path(), &["learn", "--help"]);
    assert!(demo.status.success());
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
    let sets = [
        "--set",
        "fetch.allow_private=true",
        "--set",
        &resolve,
        "--set",
        "politeness.delay=0.3",
        "--set",
        "crawl.pages_per_site=25",
    ];
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

/// Opens every view in Chromium: keys, toggles, accessibility, requests that leave, pictures of the pages.
fn in_a_browser(inspector: &Inspector) {
    if std::env::var_os("BROWSER").is_none() {
        println!("skipped: BROWSER is not set");
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = project.join("target/browser");
    std::fs::create_dir_all(&tools).unwrap();
    for name in ["package.json", "package-lock.json", "inspector.mjs"] {
        std::fs::copy(project.join("tests/browser").join(name), tools.join(name)).unwrap();
    }
    if !tools.join("node_modules/axe-core").is_dir() {
        let installed =
            Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(&tools).status();
        assert!(installed.unwrap().success(), "npm ci");
    }
    let server = hostile_site();
    let dir = tempfile::tempdir().unwrap();
    crawl_hostile_site(dir.path(), &server);
    let hostile = Inspector::start(dir.path(), &["--db", "h.db"]);
    let run = Command::new("node")
        .arg("inspector.mjs")
        .args([&inspector.address, &hostile.address])
        .current_dir(&tools)
        .output();
    let run = run.unwrap();
    print!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
