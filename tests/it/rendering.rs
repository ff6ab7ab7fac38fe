//! Pages that need scripts, rendered in a real browser. They run with `BROWSER=1`, where Chromium is installed.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use dehusk_crawl::Summary;
use dehusk_html::PageUrl;
use dehusk_settings::{Network, Render, Settings};
use dehusk_store::Store;

use crate::crawl::{gaps, run, settings};
use crate::skipped::is_asked_for;

/// What the script of `app.test` does: it needs a library of another host, reads the page's text, and tries an address
/// that robots.txt forbids, and one of a network that the settings deny.
const APP: &str = "
    const n = location.pathname.slice(1);
    const menu = [...Array(8).keys()].map(i => `<li><a href=/${i}>page ${i}</a>`).join('');
    fetch('/forbidden/more.json').catch(() => 0);
    fetch('http://inner.test/secret.json').catch(() => 0);
    fetch('/data/' + n + '.json').then(answer => answer.json()).then(({ text }) => {
        document.title = 'Page ' + n;
        show(`<nav><ul>${menu}</ul></nav><main><h1>Page ${n}</h1><p>${text}</p></main><footer>the end</footer>`);
    });";

const SHELL: &str = "<!DOCTYPE html><title>App</title><link rel=stylesheet href=/app.css><div id=root></div>
    <script src=http://cdn.test/lib.js></script><script src=/app.js></script>";

const LIBRARY: &str = "window.show = html => { document.querySelector('#root').innerHTML = html }";

fn text_of(n: usize, night: usize) -> String {
    let version = if n == 3 { night } else { 1 };
    format!("The text of the page with the number {n}, in its version {version}, about rye and other grain.")
}

/// A page with its own text, to which a script adds a line.
fn plain_page(n: usize) -> String {
    let menu: String = (0..8).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    format!(
        "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n}.</p><p id=more></p>
         </main><footer>the end</footer><script>document.querySelector('#more').textContent = 'A script has added this to page ' + location.pathname</script>"
    )
}

/// Nights of two sites: one of shells, one whose pages have their text.
struct Nights {
    server: Server,
    tonight: Arc<AtomicUsize>,
    settings: Settings,
    dir: tempfile::TempDir,
}

impl Nights {
    fn new() -> Nights {
        let tonight = Arc::new(AtomicUsize::new(1));
        let clock = Arc::clone(&tonight);
        let answer = move |host: &str, path: &str| {
            let n: Option<usize> = path.trim_start_matches('/').parse().ok().filter(|n| *n < 8);
            match (host, path, n) {
                ("app.test", "/robots.txt", _) => Reply::text("User-agent: *\nDisallow: /forbidden/\n"),
                ("app.test", "/app.js", _) => Reply::typed("text/javascript", APP),
                ("app.test", "/app.css", _) => Reply::typed("text/css", "#root { display: none }"),
                ("cdn.test", "/robots.txt", _) => {
                    Reply::text("User-agent: *\nAllow: /\nSitemap: http://cdn.test/map.xml\n")
                }
                ("cdn.test", "/lib.js", _) => Reply::typed("text/javascript", LIBRARY),
                // The same answer every night, and a server that says so.
                ("app.test", _, Some(_)) => Reply::html(SHELL).with("etag", "\"shell\""),
                ("app.test", _, None) => {
                    match path.strip_prefix("/data/").and_then(|rest| rest.strip_suffix(".json")) {
                        Some(n) => {
                            let text = text_of(n.parse().unwrap(), clock.load(Ordering::Relaxed));
                            Reply::typed("application/json", format!("{{\"text\":\"{text}\"}}"))
                        }
                        None => Reply::status(404),
                    }
                }
                ("plain.test", _, Some(n)) => Reply::html(plain_page(n)),
                ("inner.test", ..) => Reply::typed("application/json", "{}").with("access-control-allow-origin", "*"),
                _ => Reply::status(404),
            }
        };
        let server = Server::start(Arc::new(answer)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(&dir.path().join("n.db"), &server, &["app.test", "cdn.test", "plain.test"]);
        settings.fetch.resolve.push(format!("inner.test=127.0.0.2:{}", server.port()));
        settings.fetch.deny_networks = vec![Network::parse("127.0.0.2/32").unwrap()];
        settings.fetch.render = Render::Needed;
        settings.render.sandbox = !is_root();
        settings.politeness.delay = Duration::from_millis(100);
        settings.revisit.all = true;
        settings.crawl.pages_per_site = 20;
        Nights { server, tonight, settings, dir }
    }

    fn crawl(&self, night: usize, seed: &str) -> Summary {
        self.tonight.store(night, Ordering::Relaxed);
        run(vec![PageUrl::parse(seed).unwrap()], &self.settings).0
    }

    fn store(&self) -> Store {
        Store::open(Path::new(&self.settings.store.path)).unwrap()
    }

    /// The text of a page without its template.
    fn text(&self, url: &str) -> String {
        let store = self.store();
        store.load_cleaned(&store.find_page(url).unwrap().unwrap()).unwrap().unwrap()
    }

    fn asked(&self) -> Vec<String> {
        let arrivals = self.server.arrivals();
        arrivals.iter().map(|arrival| format!("{}{}", arrival.host, arrival.path)).collect()
    }
}

/// The sandbox of Chromium does not work as root.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n")
}

#[test]
fn shells_are_rendered_and_every_request_passes_the_queue() {
    if !is_asked_for("BROWSER") {
        return;
    }
    let nights = Nights::new();
    let summary = nights.crawl(1, "http://app.test/0");
    assert_eq!((summary.stats.new, summary.stats.rendered, summary.stats.learned), (8, 8, 1), "{:?}", summary.stats);
    for n in 0..8 {
        let text = nights.text(&format!("http://app.test/{n}"));
        assert!(text.contains(&text_of(n, 1)) && !text.contains("page 2</a>") && !text.contains("the end"), "{text}");
    }
    let asked = nights.asked();
    let times = |what: &str| asked.iter().filter(|asked| *asked == what).count();
    // Scripts once in the run, robots.txt of each host before anything else, no style, nothing that is forbidden.
    assert_eq!(["app.test/app.js", "cdn.test/lib.js", "app.test/data/3.json"].map(times), [1, 1, 1], "{asked:?}");
    assert!(
        asked.iter().position(|asked| asked == "cdn.test/robots.txt")
            < asked.iter().position(|a| a == "cdn.test/lib.js")
    );
    assert!(!asked.iter().any(|asked| asked.contains("map.xml")), "that is not the site's");
    assert!(!asked.iter().any(|asked| asked.contains("css") || asked.contains("forbidden") || asked.contains("inner")));
    for (host, gaps) in gaps(&nights.server.arrivals()) {
        assert!(gaps.iter().all(|gap| *gap >= nights.settings.politeness.delay), "{host}: {gaps:?}");
    }
    // The bytes as fetched are kept beside the tree, and the log says what scripts wanted.
    let store = nights.store();
    let row = store.find_page("http://app.test/5").unwrap().unwrap();
    assert!(row.rendered && store.load_fetched(&row).unwrap() == SHELL.as_bytes());
    assert!(String::from_utf8(store.load_raw(&row).unwrap()).unwrap().contains("<h1>Page 5</h1>"));
    let connection = rusqlite::Connection::open(&nights.settings.store.path).unwrap();
    let sql = "SELECT DISTINCT url || ' ' || outcome FROM visits WHERE kind = 'subresource' ORDER BY url LIMIT 4";
    let visits: Vec<String> =
        connection.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(visits[0], "http://app.test/app.js fetched");
    let sql = "SELECT count(*) FROM visits WHERE url LIKE '%forbidden%' AND outcome = 'forbidden'
        OR url LIKE '%inner%' AND reason LIKE '%private network%'";
    let refused: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(refused >= 2, "{refused}");
}

#[test]
fn what_scripts_read_decides_whether_a_page_has_changed() {
    if !is_asked_for("BROWSER") {
        return;
    }
    let nights = Nights::new();
    nights.crawl(1, "http://app.test/0");
    let second = nights.crawl(2, "http://app.test/0").stats;
    // The server says 304 for no page: each is asked for anew.
    assert_eq!((second.changed, second.new, second.kept), (1, 0, 1), "{second:?}");
    assert_eq!(second.unchanged + second.same_text + second.recleaned, 7, "{second:?}");
    assert!(nights.text("http://app.test/3").contains("version 2"));
    // Without rendering the pages have no text, and their last versions stay.
    let without = Settings {
        fetch: dehusk_settings::Fetch { render: Render::Never, ..nights.settings.fetch.clone() },
        ..nights.settings.clone()
    };
    let third = run(vec![PageUrl::parse("http://app.test/0").unwrap()], &without).0.stats;
    assert_eq!((third.changed, third.new), (0, 0), "{third:?}");
    assert!(third.withheld.contains_key("needs_scripts") && nights.text("http://app.test/3").contains("version 2"));
}

#[test]
fn a_page_that_is_rendered_for_the_first_time_has_not_changed() {
    if !is_asked_for("BROWSER") {
        return;
    }
    let mut nights = Nights::new();
    let first = nights.crawl(1, "http://plain.test/0").stats;
    assert_eq!((first.new, first.rendered), (8, 0), "{first:?}");
    assert!(!nights.text("http://plain.test/2").contains("A script has added this to page /2"));
    nights.settings.fetch.render = Render::Always;
    let second = nights.crawl(2, "http://plain.test/0").stats;
    assert_eq!((second.rendered, second.changed, second.new), (8, 0, 0), "{second:?}");
    assert!(nights.text("http://plain.test/2").contains("A script has added this to page /2"));
    let third = nights.crawl(3, "http://plain.test/0").stats;
    assert_eq!((third.rendered, third.changed), (8, 0), "{third:?}");
}

/// The program with these arguments, for the sites of a night.
fn program(nights: &Nights, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", nights.server.port());
    let sandbox = format!("render.sandbox={}", !is_root());
    command.current_dir(nights.dir.path()).args(["crawl", "http://app.test/0", "--db", "c.db"]).args(more);
    for set in [&resolve, &sandbox, "fetch.allow_private=true", "politeness.delay=0.1"] {
        command.args(["--set", set]);
    }
    command
}

#[test]
fn the_summary_says_how_many_pages_would_gain_and_a_missing_browser_is_told_at_once() {
    let nights = Nights::new();
    let out = program(&nights, &[]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("no pages, and replace none: 1 needs_scripts\n"), "{said}");
    assert!(said.contains("--set fetch.render=needed renders these pages"), "{said}");
    let set = ["--set", "fetch.render=needed", "--set", "render.browser=/nowhere/chromium"];
    let out = program(&nights, &set).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("fetch.render: the browser `/nowhere/chromium` cannot be started"), "{said}");
    assert!(!out.status.success());
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    doctor.current_dir(nights.dir.path()).arg("doctor").args(set);
    let said = String::from_utf8(doctor.output().unwrap().stdout).unwrap();
    assert!(said.contains("problem  browser"), "{said}");
}

#[test]
fn archives_hold_what_scripts_have_asked_for() {
    if !is_asked_for("BROWSER") {
        return;
    }
    let nights = Nights::new();
    let more = ["--set", "fetch.render=needed", "--warc", "warc", "--set", "crawl.pages_per_site=3"];
    let temporary = nights.dir.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    assert!(program(&nights, &more).env("TMPDIR", &temporary).output().unwrap().status.success());
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0, "the browser leaves nothing behind");
    let index: String = std::fs::read_dir(nights.dir.path().join("warc"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "cdxj"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for url in ["http://app.test/0", "http://app.test/app.js", "http://cdn.test/lib.js", "http://app.test/data/0.json"]
    {
        assert!(index.contains(&format!("\"{url}\"")), "{url}\n{index}");
    }
}

#[test]
fn a_killed_crawl_leaves_no_browser() {
    if !is_asked_for("BROWSER") || !cfg!(target_os = "linux") {
        return;
    }
    let nights = Nights::new();
    let profiles = nights.dir.path().join("profiles");
    std::fs::create_dir(&profiles).unwrap();
    let mut child = program(&nights, &["--set", "fetch.render=needed"]).env("TMPDIR", &profiles).spawn().unwrap();
    let browsers = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        let of_ours = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(&*profiles.to_string_lossy());
        lines.filter(of_ours).count()
    };
    let wait_for = |what: &dyn Fn(usize) -> bool| {
        let begun = Instant::now();
        while !what(browsers()) {
            assert!(begun.elapsed() < Duration::from_secs(30), "{} processes", browsers());
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for(&|n| n > 2);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(&|n| n == 0);
}

/// What pages of hostile sites do. `OUT` is a server of another site, which only the crawl may ask.
const HOSTILE: [&str; 12] = [
    "for (;;) {}",
    "queueMicrotask(function again() { queueMicrotask(again) })",
    "let all = [{}]; for (;;) all = all.concat(all.map(x => ({ x })))",
    "const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))",
    "for (let n = 0; n < 200000; n++) document.documentElement.append(document.createElement('p'))",
    "for (let n = 0; n < 3000; n++) fetch('/x' + n); (function ask() { fetch('/y').finally(ask) })()",
    "setInterval(() => location.reload(), 1); setInterval(() => { location.href = 'OUT/there' }, 1)",
    "for (let n = 0; n < 99; n++) open('OUT/' + n); alert(1); print(); onbeforeunload = () => 'no'",
    "new WebSocket('ws' + 'OUT'.slice(4)); navigator.sendBeacon('OUT/b', 'x'); new EventSource('OUT/es')",
    "for (const path of ['a', 'b']) { fetch('OUT/' + path, { mode: 'no-cors' }); new Image().src = 'OUT/' + path }",
    "new Worker(URL.createObjectURL(new Blob([\"for (;;) fetch('OUT/w', { mode: 'no-cors' })\"])))",
    "document.write('<iframe src=OUT/f></iframe><form id=f method=post action=OUT/p></form><link rel=preconnect href=OUT>'); f.submit()",
];

#[test]
fn hostile_sites_cost_a_bounded_time_and_the_crawl_goes_on() {
    if !is_asked_for("BROWSER") {
        return;
    }
    let outside = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    outside.set_nonblocking(true).unwrap();
    let out = format!("http://127.0.0.1:{}", outside.local_addr().unwrap().port());
    let nights = Nights::new();
    let answer = move |host: &str, path: &str| match (host.strip_suffix(".hostile.test"), path) {
        (_, "/robots.txt") => Reply::status(404),
        (Some(n), _) => {
            let script = HOSTILE[n.parse::<usize>().unwrap()].replace("OUT", &out);
            Reply::html(format!("<div id=root></div><script>{script}</script>"))
        }
        _ => Reply::status(404),
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let mut settings = nights.settings.clone();
    settings.fetch.resolve.push(format!("*.hostile.test=127.0.0.1:{}", server.port()));
    settings.render.patience = Duration::from_secs(3);
    settings.render.memory = 400 << 20;
    settings.fetch.timeout = Duration::from_secs(2);
    settings.fetch.retries = 0;
    let mut seeds: Vec<PageUrl> =
        (0..HOSTILE.len()).map(|n| PageUrl::parse(&format!("http://{n}.hostile.test/")).unwrap()).collect();
    seeds.push(PageUrl::parse("http://app.test/0").unwrap());
    let begun = Instant::now();
    let (summary, ended) = run(seeds, &settings);
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    assert_eq!((ended.len(), ended["app.test"].outcome), (HOSTILE.len() + 1, "learned"), "{:?}", summary.stats);
    let codes: Vec<_> = ended.values().filter_map(|site| site.reason_code).map(|code| code.as_str()).collect();
    assert!(codes.iter().filter(|code| **code == "render_failed").count() >= 8, "{codes:?}");
    // What passes the gate may go there: by robots.txt and in its queue. Nothing else does.
    let mut heard = 0;
    while outside.accept().is_ok() {
        heard += 1;
    }
    let connection = rusqlite::Connection::open(&settings.store.path).unwrap();
    let sql = "SELECT count(*) FROM visits WHERE url LIKE 'http://127.0.0.1:%' AND sent_at IS NOT NULL";
    let sent: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(heard <= sent, "{heard} connections, {sent} requests of the crawl");
}
