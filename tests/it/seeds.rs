//! Every URL of a list is fetched, and what a stranger's server answers chooses no other pages.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Answer, Reply, Server};
use serde_json::Value;

/// A page of a site with a menu and words of its own.
fn page(host: &str, path: &str) -> Reply {
    let menu = "<nav><a href=/>Home</a><a href=/about>About</a></nav>";
    let words = path.replace(['/', '?', '=', '-'], " word ");
    Reply::html(format!(
        "<body>{menu}<main><h1>{words}</h1><p>What {words} says, and no other page of {host} does.</main>\
         <footer>All of {host}</footer>"
    ))
}

fn plain(host: &str, path: &str) -> Reply {
    if path == "/robots.txt" { Reply::status(404) } else { page(host, path) }
}

struct Crawl {
    server: Server,
    dir: tempfile::TempDir,
}

impl Crawl {
    fn new(answer: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> Crawl {
        let answer: Arc<Answer> = Arc::new(answer);
        Crawl { server: Server::start(answer).unwrap(), dir: tempfile::tempdir().unwrap() }
    }

    fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, seeds: &[&str], sets: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", self.server.port());
        let usual =
            ["fetch.allow_private=true", "politeness.delay=5ms", "politeness.key=host", "crawl.probe=false", &resolve];
        command.args(["crawl", "--json", "--config", "/dev/null"]).args(seeds).current_dir(self.dir());
        for set in usual.iter().chain(sets) {
            command.args(["--set", set]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a crawl to its end. Returns what it prints.
    fn run(&self, seeds: &[&str], sets: &[&str]) -> Value {
        let output = self.command(seeds, sets).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn list(&self, name: &str, lines: &[String]) {
        std::fs::write(self.dir().join(name), lines.join("\n")).unwrap();
    }

    /// How often each URL was requested since the last call, robots.txt aside.
    fn requested(&self, since: &mut usize) -> BTreeMap<String, usize> {
        let arrivals = self.server.arrivals();
        let mut requests = BTreeMap::new();
        for arrival in arrivals[*since..].iter().filter(|arrival| arrival.path != "/robots.txt") {
            *requests.entry(format!("{}{}", arrival.host, arrival.path)).or_default() += 1;
        }
        *since = arrivals.len();
        requests
    }

    fn sql(&self, sql: &str) -> Vec<String> {
        let db = rusqlite::Connection::open(self.dir().join("dehusk.db")).unwrap();
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

/// Outcome of each seed of a report.
fn outcomes(report: &Value) -> BTreeMap<&str, &str> {
    let urls = report["seeds"]["urls"].as_array().unwrap();
    urls.iter().map(|row| (row["url"].as_str().unwrap(), row["outcome"].as_str().unwrap())).collect()
}

#[test]
fn every_url_of_a_list_is_fetched_and_reported() {
    let crawl = Crawl::new(plain);
    let hosts = ["a", "b", "c"];
    let mut urls: Vec<String> =
        (0..30).flat_map(|n| hosts.map(|host| format!("http://{host}.test/article/{n}"))).collect();
    urls.push("http://a.test/article/3".to_owned());
    urls.push("nonsense".to_owned());
    crawl.list("list.txt", &urls);
    let mut seen = 0;
    let report = crawl.run(&["list.txt"], &[]);
    let requested = crawl.requested(&mut seen);
    assert!(urls[..90].iter().all(|url| requested[&url["http://".len()..]] == 1), "{requested:?}");
    assert_eq!(outcomes(&report).values().filter(|word| **word == "fetched").count(), 90);
    assert_eq!((&report["seeds"]["repeated"], &report["seeds"]["not_urls"]), (&1.into(), &1.into()));
    let cleaned = "SELECT url FROM pages WHERE method = 'site_model'";
    assert!(crawl.sql(cleaned).len() >= 90, "each is a page of its site, without its template");
    // The next night has one more URL. Nothing else is due.
    urls.insert(1, "http://b.test/article/new".to_owned());
    crawl.list("list.txt", &urls);
    let report = crawl.run(&["list.txt"], &["crawl.exclude=[\"article/forbidden\"]"]);
    assert_eq!(crawl.requested(&mut seen).keys().collect::<Vec<_>>(), ["b.test/article/new"]);
    assert_eq!(report["seeds"]["outcomes"]["not_due"], 90);
    urls.push("http://b.test/article/forbidden".to_owned());
    crawl.list("list.txt", &urls);
    let report = crawl.run(&["list.txt"], &["crawl.exclude=[\"article/forbidden\"]"]);
    assert!(crawl.requested(&mut seen).is_empty());
    assert_eq!(outcomes(&report)["http://b.test/article/forbidden"], "refused");
}

#[test]
fn the_first_seed_that_can_be_had_is_the_key_page() {
    let crawl = Crawl::new(|host, path| match path {
        "/gone" => Reply::status(404),
        _ => plain(host, path),
    });
    crawl.list("list.txt", &["gone", "1", "2", "gone2"].map(|path| format!("http://a.test/{path}")));
    let report = crawl.run(&["list.txt"], &[]);
    assert_eq!(report["sites"][0]["outcome"], "learned", "{report}");
    assert_eq!(crawl.sql("SELECT key_url FROM sites"), ["http://a.test/1"]);
    let outcomes = outcomes(&report);
    assert_eq!((outcomes["http://a.test/gone"], outcomes["http://a.test/2"]), ("gone", "fetched"));
}

#[test]
fn seeds_are_training_pages_where_the_key_page_has_no_links() {
    let crawl = Crawl::new(|host, path| match path {
        "/robots.txt" => Reply::status(404),
        "/" | "/about" => Reply::status(404),
        _ => Reply::html(String::from_utf8(page(host, path).body).unwrap().replace("href", "name")),
    });
    crawl.list("list.txt", &[1, 2, 3, 4, 5].map(|n| format!("http://a.test/{n}")));
    let report = crawl.run(&["list.txt"], &[]);
    assert_eq!((&report["sites"][0]["outcome"], &report["sites"][0]["voters"]), (&"learned".into(), &4.into()));
}

#[test]
fn sitemaps_feeds_and_opml_are_lists() {
    let crawl = Crawl::new(|host, path| match (host, path) {
        ("a.test", "/sitemap.xml") => Reply::typed(
            "application/xml",
            "<sitemapindex><sitemap><loc>http://a.test/more.xml</loc></sitemap></sitemapindex>",
        ),
        ("a.test", "/more.xml") => Reply::typed(
            "text/xml",
            "<urlset><url><loc>http://a.test/x/1</loc></url><url><loc>http://a.test/x/2</loc></url>\
             <url><loc>http://victim.test/x</loc></url></urlset>",
        ),
        ("b.test", "/feed") => Reply::typed(
            "application/rss+xml",
            "<rss><channel><link>http://b.test/</link><item><link>http://b.test/post/1</link></item>\
             <item><link>http://c.test/post/2</link></item></channel></rss>",
        ),
        // A list that a list has named chooses no other sites.
        ("c.test", "/post/2") => {
            Reply::typed("application/xml", "<rss><item><link>http://victim.test/</link></item></rss>")
        }
        _ => plain(host, path),
    });
    let mut seen = 0;
    for night in 1..=2 {
        let report = crawl.run(&["http://a.test/sitemap.xml", "http://b.test/feed"], &[]);
        let requested = crawl.requested(&mut seen);
        let lists = ["a.test/sitemap.xml", "b.test/feed"];
        assert!(lists.iter().all(|url| requested.get(*url) == Some(&1)), "night {night}: {requested:?}");
        if night == 1 {
            let pages = ["a.test/more.xml", "a.test/x/1", "a.test/x/2", "b.test/post/1", "c.test/post/2"];
            assert!(pages.iter().all(|url| requested.get(*url) == Some(&1)), "{requested:?}");
            assert_eq!(report["summary"]["stats"]["failed"], 0, "{report}");
        }
        assert!(requested.keys().all(|url| !url.starts_with("victim")), "{requested:?}");
    }
    std::fs::write(crawl.dir().join("feeds.opml"), "<opml><body><outline htmlUrl='http://d.test/1'/></body></opml>")
        .unwrap();
    crawl.run(&["feeds.opml"], &[]);
    assert_eq!(crawl.requested(&mut seen).get("d.test/1"), Some(&1));
}

#[test]
fn a_host_without_a_scheme_is_asked_for_https_and_then_for_http() {
    let crawl = Crawl::new(plain);
    crawl.list("list.csv", &["1,a.test".to_owned(), "2,b.test.".to_owned()]);
    let report = crawl.run(&["list.csv"], &["fetch.retries=0"]);
    assert_eq!(report["summary"]["stats"]["learned"], 2, "{report}");
    assert_eq!(crawl.sql("SELECT key_url FROM sites ORDER BY 1"), ["http://a.test/", "http://b.test/"]);
    assert_eq!(crawl.sql("SELECT seed_url FROM sites ORDER BY 1"), ["https://a.test/", "https://b.test/"]);
}

#[test]
fn late_seeds_on_a_pipe_open_their_site_again() {
    let crawl = Crawl::new(plain);
    let mut child = crawl.command(&["-"], &[]).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    let has_ended = || {
        let path = crawl.dir().join("dehusk.db");
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = rusqlite::Connection::open_with_flags(path, flags).ok();
        let sql = "SELECT count(*) FROM sites WHERE outcome = 'learned'";
        db.is_some_and(|db| db.query_row(sql, [], |row| row.get::<_, i64>(0)) == Ok(1))
    };
    for round in 0..3 {
        writeln!(pipe, "http://a.test/round/{round}").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        while !has_ended() {
            assert!(Instant::now() < end, "round {round}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let requested = crawl.requested(&mut 0);
    assert!((0..3).all(|round| requested[&format!("a.test/round/{round}")] == 1), "{requested:?}");
    assert_eq!((&report["summary"]["stats"]["sites"], &report["summary"]["stats"]["learned"]), (&1.into(), &1.into()));
    assert_eq!(report["seeds"]["outcomes"]["fetched"], 3, "{}", report["seeds"]);
}

#[test]
fn a_redirect_does_not_choose_the_key_page_of_another_seed() {
    for order in [["evil", "victim"], ["victim", "evil"]] {
        let crawl = Crawl::new(|host, path| match (host, path) {
            ("evil.test", "/") => Reply::redirect(302, "http://victim.test/search?q=pills"),
            _ => plain(host, path),
        });
        let seeds = order.map(|host| format!("http://{host}.test/"));
        for _ in 0..2 {
            crawl.run(&[&seeds[0], &seeds[1]], &["revisit.all=true"]);
            assert_eq!(crawl.sql("SELECT key_url FROM sites WHERE host = 'victim.test'"), ["http://victim.test/"]);
        }
        let requested = crawl.requested(&mut 0);
        assert!(!requested.contains_key("victim.test/search?q=pills"), "{requested:?}");
        assert_eq!(crawl.sql("SELECT outcome FROM sites WHERE host = 'evil.test'"), ["moved"]);
    }
}

#[test]
fn redirects_pass_the_rules_for_links() {
    let long = format!("/long/{}", "x".repeat(3000));
    let target = long.clone();
    let crawl = Crawl::new(move |host, path| match path {
        "/" => Reply::html(
            "<a href=/r/ex>1</a><a href=/r/long>2</a><a href=/r/never>3</a><a href=/sess>4</a><a href=/5>5</a>",
        ),
        "/r/ex" => Reply::redirect(302, "/excluded/page"),
        "/r/long" => Reply::redirect(302, &target),
        "/r/never" => Reply::redirect(302, "http://never.test/"),
        "/sess" => Reply::redirect(302, "/sess?PHPSESSID=0123456789abcdef"),
        _ => plain(host, path),
    });
    let sets = ["crawl.exclude=[\"/excluded/\"]", "crawl.never=[\"never.test\"]", "crawl.pages_per_site=20"];
    for night in 0..2 {
        let all = if night == 0 { "revisit.all=false" } else { "revisit.all=true" };
        crawl.run(&["http://a.test/", "http://sub.never.test/"], &[&sets[..], &[all]].concat());
    }
    let requested = crawl.requested(&mut 0);
    assert!(!requested.contains_key("a.test/excluded/page") && !requested.contains_key(&format!("a.test{long}")));
    assert!(!crawl.server.arrivals().iter().any(|arrival| arrival.host.contains("never")), "{requested:?}");
    assert_eq!(crawl.sql("SELECT DISTINCT url FROM pages WHERE url LIKE '%sess%'"), ["http://a.test/sess"]);
    let refused = "SELECT reason FROM visits WHERE outcome = 'refused' AND run_id = 1 ORDER BY url";
    let reasons = crawl.sql(refused);
    assert!(reasons.iter().any(|reason| reason.contains("pattern")), "{reasons:?}");
    assert!(reasons.iter().all(|reason| reason.len() < 1000), "a reason has a length");
}

#[test]
fn pages_reached_by_a_redirect_are_training_pages_and_fetched_once() {
    let crawl = Crawl::new(|host, path| match path {
        "/robots.txt" => Reply::status(404),
        "/" => {
            let links: String =
                (0..8).map(|n| format!("<li><a href=/s{n}>{n}</a><li><a href=/s{n}/>{n}</a>")).collect();
            Reply::html(format!("<nav>{links}</nav><main>Home of {host}</main>"))
        }
        _ if path.ends_with('/') => page(host, path),
        _ => Reply::redirect(301, &format!("{path}/")),
    });
    let report = crawl.run(&["http://a.test/"], &[]);
    assert_eq!(report["sites"][0]["voters"], 8, "{report}");
    let requested = crawl.requested(&mut 0);
    assert!(requested.values().all(|n| *n == 1), "{requested:?}");
}

#[test]
fn budgets_end_a_site_and_a_run_and_the_rest_goes_on() {
    let crawl = Crawl::new(|host, path| match (host, path) {
        (_, "/robots.txt") => Reply::status(404),
        ("trap.test", "/") => {
            let links: String = (0..400).map(|n| format!("<li><a href=/no/{n}>{n}</a>")).collect();
            Reply::html(format!("<ul>{links}</ul>"))
        }
        ("trap.test", _) => Reply::status(404),
        _ => page(host, path),
    });
    let mut seen = 0;
    let report = crawl
        .run(&["http://trap.test/"], &["crawl.pages_per_site=1000", "crawl.site.max_failures=20", "fetch.retries=0"]);
    assert_eq!(report["sites"][0]["limit"], "site_max_failures", "{report}");
    assert!(crawl.requested(&mut seen).len() < 30);
    crawl.list("list.txt", &(0..40).map(|n| format!("http://a.test/{n}")).collect::<Vec<_>>());
    let report = crawl.run(&["list.txt"], &["crawl.site.max_requests=15"]);
    assert_eq!(report["sites"][0]["limit"], "site_max_requests", "{report}");
    assert!(crawl.requested(&mut seen).len() <= 16);
    assert!(report["seeds"]["outcomes"]["waiting"].as_u64().unwrap() > 20);
    // The next run goes on, up to its own budget, and the same command after that.
    for (max, key) in [("crawl.max_requests=10", "max_requests"), ("crawl.max_requests=0", "")] {
        let report = crawl.run(&["list.txt"], &[max, "crawl.resume_within=1h"]);
        assert_eq!(report["summary"]["limit"].as_str().unwrap_or_default(), key, "{report}");
    }
    assert_eq!(crawl.sql("SELECT DISTINCT url FROM pages WHERE url LIKE 'http://a.test/%'").len(), 42);
    let all = crawl.requested(&mut 0);
    assert!(all.iter().all(|(url, n)| *n == 1 || !url.starts_with("a.test/")), "{all:?}");
}

#[test]
fn a_home_page_of_frames_or_a_refresh_leads_on() {
    for home in
        ["<frameset><frame src=/menu><frame src=/main></frameset>", "<meta http-equiv=refresh content='0;url=/main'>"]
    {
        let crawl = Crawl::new(move |host, path| match path {
            "/" => Reply::html(home),
            _ => plain(host, path),
        });
        crawl.run(&["http://a.test/"], &[]);
        assert!(crawl.sql("SELECT url FROM pages").contains(&"http://a.test/main".to_owned()), "{home}");
    }
}
