//! What became of pages from night to night: gone, moved, blocked, failed, and back. Differences compare states, exports
//! leave out what is not there, the feed tells it, and pruning changes no count.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::Store;
use serde_json::Value;

use crate::crawl::{run, settings};

fn page(path: &str) -> Option<String> {
    let n: usize = path.trim_start_matches('/').parse().ok().filter(|n| *n < 10 || *n == 40)?;
    let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    Some(format!(
        "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n}</p></main>\
         <footer>the end</footer>"
    ))
}

/// Three nights of one site. On the second one a page is gone, one has moved, one fails, one is forbidden.
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
        let answer = move |_: &str, path: &str| match (clock.load(Ordering::Relaxed), path) {
            (2, "/3") => Reply::status(404),
            (2 | 3, "/4") => Reply::status(301).with("location", "/40"),
            (2, "/5") => Reply::status(500),
            (2, "/robots.txt") => Reply::text("User-agent: *\nDisallow: /6\n"),
            (1, "/40") => Reply::status(404),
            (2 | 3, "/40") => Reply::html(page("/4").unwrap()),
            _ => page(path).map_or_else(|| Reply::status(404), Reply::html),
        };
        let server = Server::start(Arc::new(answer)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
        settings.politeness.delay = Duration::from_millis(5);
        settings.politeness.robots_ttl = Duration::ZERO;
        settings.fetch.retries = 0;
        settings.revisit.first = Duration::ZERO;
        settings.revisit.least = Duration::ZERO;
        settings.revisit.all = true;
        settings.crawl.pages_per_site = 50;
        Nights { server, tonight, settings, dir }
    }

    fn crawl(&self, night: usize) -> dehusk_crawl::Summary {
        self.tonight.store(night, Ordering::Relaxed);
        run(vec![PageUrl::parse("http://a.test/0").unwrap()], &self.settings).0
    }

    fn store(&self) -> Store {
        Store::open(Path::new(&self.settings.store.path)).unwrap()
    }

    fn output(&self, args: &[&str]) -> std::process::Output {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"));
        program.args(["--db", &self.settings.store.path]).args(args).current_dir(self.dir.path()).output().unwrap()
    }

    /// Asserts that there is nothing for a command, and that it says why.
    fn refuses(&self, args: &[&str], why: &str) {
        let out = self.output(args);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(1) && said.contains(why), "{args:?}: {said}");
    }

    fn program(&self, args: &[&str]) -> String {
        let out = self.output(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }
}

fn path_of(url: &str) -> String {
    url.replace("http://a.test", "")
}

fn diff(store: &Store, from: i64, to: i64) -> BTreeSet<(String, String)> {
    store.diff_runs(from, to).unwrap().into_iter().map(|c| (c.change, path_of(&c.url))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    expected.iter().map(|(change, path)| ((*change).to_owned(), (*path).to_owned())).collect()
}

#[test]
fn differences_compare_states_and_exports_hold_what_is_there() {
    let nights = Nights::new();
    assert_eq!(nights.crawl(1).stats.new, 10);
    let second = nights.crawl(2).stats;
    assert_eq!((second.gone, second.pages_moved, second.blocked, second.pages_failed), (1, 1, 1, 1), "{second:?}");
    assert_eq!((second.returned, second.away()), (0, 4));
    let files = || -> BTreeSet<String> {
        let folder = nights.dir.path().join("notes/a.test");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    };
    nights.program(&["export", "--format", "md", "--out", "notes"]);
    let here: BTreeSet<String> = ["0", "1", "2", "40", "5", "7", "8", "9"].map(|name| format!("{name}.md")).into();
    assert_eq!(files(), here, "what failed is still there");
    let third = nights.crawl(3).stats;
    assert_eq!((third.returned, third.away()), (3, 0), "{third:?}");

    let store = nights.store();
    let away = [("gone", "/3"), ("moved", "/4"), ("failed", "/5"), ("blocked", "/6")];
    assert_eq!(diff(&store, 1, 2), pairs(&away), "the new address of a page is no new page");
    assert_eq!(diff(&store, 2, 3), pairs(&[("returned", "/3"), ("returned", "/5"), ("returned", "/6")]));
    assert_eq!(diff(&store, 1, 3), pairs(&[("moved", "/4")]), "what went and came back is as it was");
    assert_eq!(diff(&store, 0, 3).len(), 10, "{:?}", diff(&store, 0, 3));

    let states = |as_of: &str| -> BTreeSet<(String, String)> {
        let listed: Value =
            serde_json::from_str(&nights.program(&["pages", "list", "--as-of", as_of, "--json"])).unwrap();
        let rows = listed["pages"].as_array().unwrap().iter();
        let state = |row: &Value| (row["state"].as_str().unwrap().to_owned(), path_of(row["url"].as_str().unwrap()));
        rows.map(state).filter(|(state, _)| state != "alive").collect()
    };
    assert_eq!((states("1"), states("2"), states("3")), (pairs(&[]), pairs(&away), pairs(&[("moved", "/4")])));
    for (arguments, n) in
        [(vec![], 10), (vec!["--as-of", "2"], 8), (vec!["--state", "moved"], 1), (vec!["--state", "all"], 11)]
    {
        let name = format!("rows{}", arguments.join(""));
        let all = [vec!["export", "--out", &name, "--json"], arguments].concat();
        let manifest: Value = serde_json::from_str(&nights.program(&all)).unwrap();
        assert_eq!(manifest["rows"], n, "{all:?}");
    }
    // The same export made again: what is gone is removed, what is back is there again.
    nights.program(&["export", "--format", "md", "--out", "notes"]);
    let here: BTreeSet<String> = [0, 1, 2, 3, 40, 5, 6, 7, 8, 9].map(|n| format!("{n}.md")).into();
    assert_eq!(files(), here);
    // Pages that are back are added once, also where no run comes between.
    let rows = |name: &str| -> u64 {
        let manifest: Value = serde_json::from_str(&nights.program(&["export", "--out", name, "--json"])).unwrap();
        manifest["rows"].as_u64().unwrap()
    };
    assert_eq!([rows("rows"), rows("rows"), rows("fresh"), rows("fresh")], [10; 4]);
    nights.refuses(&["pages", "list", "--as-of", "99"], "there is no run 99");
    nights.refuses(&["export", "--as-of", "99", "--out", "none"], "there is no run 99");
    nights.refuses(&["pages", "show", "http://a.test/3", "--run", "99"], "there is no run 99");
    let moved = nights.program(&["pages", "show", "http://a.test/40", "--run", "1"]);
    assert!(moved.contains("number 4"), "a version of the address that it had before: {moved}");

    let history = nights.program(&["pages", "history", "http://a.test/40"]);
    assert!(history.contains("http://a.test/4 redirected to"), "its former address, too: {history}");
    assert!(nights.program(&["pages", "history", "http://a.test/5"]).contains("500"), "every visit");
    assert!(nights.program(&["pages", "show", "http://a.test/3", "--run", "1"]).contains("number 3"));
    let report = nights.program(&["report", "--run", "2", "--format", "md"]);
    for line in [
        "## Pages gone since run 1: 1",
        "| http://a.test/4 | to http://a.test/40 |",
        "| a.test | 500 | 1 | http://a.test/5 |",
        "| http://a.test/5 | answers 500 |",
        "| http://a.test/3 | answers 404 |",
        "| http://a.test/6 | robots.txt forbids it |",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    let html = nights.program(&["report", "--format", "html"]);
    assert!(html.contains("<h2>Pages returned since run 2: 3</h2>") && html.contains("<svg"), "{html}");
    plots_show_the_runs(&nights);
    let json: Value = serde_json::from_str(&nights.program(&["report", "--run", "2", "--format", "json"])).unwrap();
    assert_eq!((json["changes"].as_array().unwrap().len(), &json["before"]), (4, &1.into()));
    counts_stay(&nights);
}

/// Bars for a terminal, and plots as a file.
fn plots_show_the_runs(nights: &Nights) {
    let listed = nights.program(&["runs", "list"]);
    let bars = |name: &str| listed.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap_or_default();
    assert_eq!((bars("new  "), bars("gone or moved")), ("█", "█"), "{listed}");
    nights.program(&["runs", "show", "2", "--plot", "run2.svg"]);
    let svg = std::fs::read_to_string(nights.dir.path().join("run2.svg")).unwrap();
    for text in
        ["run 2, ", "new 0, changed 0, the same ", "gone or moved 3, failed ", "Bytes received by run", "delay 0.005 s"]
    {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(svg.contains("100 %: sites ") && !svg.contains("run 3, "), "{svg}");
}

/// Pruning deletes versions and the log of requests, and no count.
fn counts_stay(nights: &Nights) {
    let before = nights.program(&["runs", "list", "--json"]);
    let states = diff(&nights.store(), 1, 2);
    nights.program(&["prune", "--versions", "1", "--nights", "1"]);
    assert_eq!(nights.program(&["runs", "list", "--json"]), before);
    assert_eq!(diff(&nights.store(), 1, 2), states);
    for (run, is_deleted) in [("1", true), ("2", true), ("3", false)] {
        let report = nights.program(&["report", "--run", run]);
        assert_eq!(report.contains("The log of its requests was deleted"), is_deleted, "{report}");
    }
    assert!(nights.server.arrivals().len() > 20);
}

#[test]
fn a_feed_tells_what_went_moved_and_came_back() {
    let nights = Nights::new();
    let feed = nights.dir.path().join("feed.jsonl");
    let changes = |night: usize| -> BTreeSet<(String, String)> {
        let before = std::fs::read_to_string(&feed).unwrap_or_default().lines().count();
        if night > 0 {
            nights.crawl(night);
        }
        let store = nights.store();
        let mut open = dehusk_corpus::export::Feed::open(&feed, &store).unwrap();
        open.append(&store, &nights.settings).unwrap();
        let written = std::fs::read_to_string(&feed).unwrap();
        let lines = written.lines().skip(before).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let text = |value: &Value| path_of(value.as_str().unwrap_or_default());
        lines.map(|line| (text(&line["change"]), text(&line["url"]) + &text(&line["moved_to"]))).collect()
    };
    nights.crawl(1);
    assert_eq!(changes(0), pairs(&[]), "a new feed begins with what is stored from now on");
    assert_eq!(changes(2), pairs(&[("gone", "/3"), ("moved", "/4/40"), ("blocked", "/6")]));
    assert_eq!(changes(3), pairs(&[("returned", "/3"), ("returned", "/6")]), "one bad night is no news");
}

#[test]
fn answers_that_are_no_pages_leave_the_last_version_in_place() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let framed = |path: &str, title: &str, main: &str| {
        let html = page(path).unwrap();
        let (head, rest) = html.split_once("<main>").unwrap();
        let footer = rest.split_once("</main>").unwrap().1;
        Reply::html(format!(
            "<title>{title}</title>{}<main>{main}</main>{footer}",
            head.split_once("</title>").unwrap().1
        ))
    };
    let answer = move |host: &str, path: &str| match (host, clock.load(Ordering::Relaxed), path) {
        (_, _, "/robots.txt") => Reply::status(404),
        ("shell.test", ..) => Reply::html("<title>Shop</title><div id=root></div><script src=/a.js></script>"),
        (_, 2, "/2") => framed(path, "Page not found", "<h1>Sorry</h1>"),
        (_, 2, "/3") => framed(path, "Log in", "<form><input name=u><input type=password></form>"),
        (_, 2, "/4") => Reply::html("<title>Just a moment...</title><p>Checking your browser<script>x()</script>"),
        (_, _, "/login") => framed("/1", "Log in", "<form><input type=password></form>"),
        _ => page(path).map_or_else(|| Reply::status(404), Reply::html),
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(5);
    settings.revisit.all = true;
    settings.crawl.pages_per_site = 50;
    let seeds = ["http://a.test/0", "http://a.test/login", "http://shell.test/"];
    let crawl = |night: usize, settings: &Settings| {
        tonight.store(night, Ordering::Relaxed);
        run(seeds.iter().map(|url| PageUrl::parse(url).unwrap()).collect(), settings)
    };
    let (first, ended) = crawl(1, &settings);
    assert_eq!(first.stats.new, 10, "a page to log in at and a shell are not stored");
    assert_eq!(ended["shell.test"].reason_code.unwrap().as_str(), "needs_scripts");
    let second = crawl(2, &settings).0.stats;
    assert_eq!((second.changed, second.pages_failed, second.unchanged), (0, 3, 7), "{second:?}");
    let store = Store::open(Path::new(&settings.store.path)).unwrap();
    assert_eq!(diff(&store, 1, 2), pairs(&[("failed", "/2"), ("failed", "/3"), ("failed", "/4")]));
    let row = store.find_page("http://a.test/2").unwrap().unwrap();
    assert!(store.load_cleaned(&row).unwrap().unwrap().contains("with the number 2"));
    let history = store.page_history("http://a.test/3").unwrap();
    assert!(history[1].reason.as_ref().unwrap().contains("asks to log in"), "{history:?}");

    settings.crawl.withhold = false;
    let third = crawl(2, &settings).0.stats;
    assert_eq!((third.changed, third.new), (3, 2), "{third:?}");
}

/// A page that is left at once has moved, one that leads to a form to log in has failed, and an address that is led to
/// is asked for once a night.
#[test]
fn pages_that_are_left_at_once_have_moved() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let answer = move |asked: &dehusk::demo::server::Asked| match (clock.load(Ordering::Relaxed), asked.path.as_str()) {
        (2.., "/3") => Reply::html("<meta http-equiv=refresh content='0; url=/40'><p>Moved <a href=/40>here</a>"),
        (1, "/40") => Reply::status(404),
        (2.., "/40") if !asked.header("if-none-match").is_empty() => Reply::status(304),
        (2.., "/40") => Reply::html(page("/3").unwrap()).with("etag", "\"40\""),
        (2.., "/5") => Reply::status(302).with("location", "/members/login.php?next=/5"),
        (2.., "/6") => Reply::status(302).with("location", "/7"),
        (_, path) => page(path).map_or_else(|| Reply::status(404), Reply::html),
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(2);
    settings.revisit.all = true;
    settings.crawl.pages_per_site = 50;
    let nights = Nights { server, tonight, settings, dir };
    nights.crawl(1);
    let second = nights.crawl(2).stats;
    assert_eq!((second.new, second.pages_moved, second.pages_failed), (0, 2, 1), "{second:?}");
    let away = [("moved", "/3"), ("failed", "/5"), ("moved", "/6")];
    assert_eq!(diff(&nights.store(), 1, 2), pairs(&away), "the text of the new address is that of the old one");
    let before = nights.server.arrivals().len();
    nights.crawl(3);
    let arrivals = nights.server.arrivals();
    assert!(arrivals.iter().all(|arrival| !arrival.path.contains("login")));
    assert_eq!(arrivals[before..].iter().filter(|arrival| arrival.path == "/40").count(), 1);
    let history = nights.store().page_history("http://a.test/5").unwrap();
    let reason = history.last().unwrap().reason.clone().unwrap();
    assert!(reason.contains("to log in; fetch.cookies"), "{reason}");
}
