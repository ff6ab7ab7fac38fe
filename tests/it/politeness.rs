//! What servers see: gaps, robots.txt, redirects, limits, refusals. All clocks are the server's.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dehusk::demo::server::{Answer, Reply, Server};
use dehusk_html::PageUrl;
use dehusk_settings::PolitenessScope;
use dehusk_settings::{DelayFrom, Settings};

use crate::crawl::{gaps, run, settings};

/// Pages that all link to each other; each host answers `reply` for what is not a page.
fn ring(host: &str, path: &str) -> Reply {
    if path == "/robots.txt" {
        return Reply::status(404);
    }
    let links: String = (0..6).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    Reply::html(format!("<title>{host}</title><ul>{links}</ul><p>{path} of {host}"))
}

struct Crawled {
    server: Server,
    ended: BTreeMap<String, dehusk_crawl::SiteSummary>,
    took: Duration,
    db: std::path::PathBuf,
    _dir: tempfile::TempDir,
}

fn crawl(answer: Arc<Answer>, seeds: &[&str], change: impl FnOnce(&mut Settings)) -> Crawled {
    let server = Server::start(answer).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("p.db");
    let mut settings = settings(&db, &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(100);
    settings.fetch.retries = 0;
    change(&mut settings);
    let seeds = seeds.iter().map(|s| PageUrl::parse(s).unwrap()).collect();
    let start = Instant::now();
    let (_, ended) = run(seeds, &settings);
    Crawled { server, ended, took: start.elapsed(), db, _dir: dir }
}

impl Crawled {
    fn reason(&self, host: &str) -> &str {
        self.ended[host].reason.as_deref().unwrap_or("learned")
    }

    fn paths(&self, host: &str) -> Vec<String> {
        self.server.arrivals().into_iter().filter(|a| a.host == host).map(|a| a.path).collect()
    }
}

#[test]
fn gaps_hold_from_start_and_from_end_and_nothing_overlaps() {
    for from in [DelayFrom::Start, DelayFrom::End] {
        let slow = |host: &str, path: &str| Reply { wait: Duration::from_millis(60), ..ring(host, path) };
        let hosts: Vec<String> = (0..12).map(|i| format!("http://h{i}.test/0")).collect();
        let seeds: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let crawled = crawl(Arc::new(slow), &seeds, |s| s.politeness.delay_from = from);
        assert!(crawled.ended.values().all(|s| s.outcome == "learned"));
        let least = if from == DelayFrom::End { 160 } else { 100 };
        for (host, gaps) in gaps(&crawled.server.arrivals()) {
            let worst = gaps.iter().min().copied().unwrap();
            assert!(worst >= Duration::from_millis(least), "{from:?} {host}: {worst:?}");
        }
    }
}

#[test]
fn hosts_of_one_domain_or_address_share_a_queue_when_told_so() {
    let seeds = ["http://a.shop.test/0", "http://b.shop.test/0"];
    for key in [PolitenessScope::Domain, PolitenessScope::Ip] {
        let crawled = crawl(Arc::new(ring), &seeds, |s| s.politeness.key = key);
        let at: Vec<Instant> = crawled.server.arrivals().iter().map(|a| a.at).collect();
        let worst = at.windows(2).map(|w| w[1] - w[0]).min().unwrap();
        assert!(worst >= Duration::from_millis(100), "{key:?}: {worst:?}");
        assert!(crawled.ended.values().all(|s| s.outcome == "learned"));
    }
}

#[test]
fn a_crawl_delay_holds_from_one_run_to_the_next_whatever_the_key() {
    for key in [PolitenessScope::Host, PolitenessScope::Ip] {
        let slow = |host: &str, path: &str| match path {
            "/robots.txt" => Reply::text("User-agent: *\nCrawl-delay: 0.3\n"),
            _ => ring(host, path),
        };
        let server = Server::start(Arc::new(slow)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(&dir.path().join("p.db"), &server, &["*.test"]);
        settings.politeness.delay = Duration::from_millis(50);
        settings.politeness.key = key;
        settings.crawl.pages_per_site = 2;
        settings.revisit.all = true;
        for _ in 0..2 {
            let (_, ended) = run(vec![PageUrl::parse("http://slow.test/0").unwrap()], &settings);
            assert_eq!(ended.len(), 1, "{key:?}");
        }
        let arrivals = server.arrivals();
        // robots.txt and two pages, then two pages: the second run knows the rules of the first.
        assert_eq!(arrivals.iter().filter(|arrival| arrival.path == "/robots.txt").count(), 1, "{key:?}");
        assert!(arrivals.len() >= 4, "{key:?}: {arrivals:?}");
        let worst = gaps(&arrivals)["slow.test"].iter().min().copied().unwrap();
        assert!(worst >= Duration::from_millis(300), "{key:?}: {worst:?}");
    }
}

#[test]
fn a_crawl_delay_beyond_the_limit_is_not_obeyed_but_refused() {
    let answer = |host: &str, path: &str| match path {
        "/robots.txt" => Reply::text(if host == "patient.test" { "User-agent: *\nCrawl-delay: 120\n" } else { "" }),
        _ => ring(host, path),
    };
    let seeds = ["http://patient.test/0", "http://other.test/0"];
    let crawled = crawl(Arc::new(answer), &seeds, |s| s.politeness.max_crawl_delay = Duration::from_secs(60));
    assert_eq!(crawled.paths("patient.test"), ["/robots.txt"], "nothing but its rules");
    assert!(crawled.reason("patient.test").contains("Crawl-delay"), "{}", crawled.reason("patient.test"));
    assert_eq!(crawled.reason("other.test"), "learned");
    assert!(crawled.took < Duration::from_secs(30));
}

#[test]
fn robots_are_asked_first_once_and_followed() {
    let answer = |host: &str, path: &str| match (host, path) {
        ("fenced.test", "/robots.txt") => Reply::text("User-agent: *\nDisallow: /0\n"),
        ("broken.test", "/robots.txt") => Reply::status(503),
        ("slowly.test", "/robots.txt") => Reply::text("User-agent: dehusk\nCrawl-delay: 0.3\n"),
        ("moved.test", "/robots.txt") => Reply::redirect(301, "/rules.txt"),
        ("moved.test", "/rules.txt") => Reply::text("User-agent: *\nDisallow: /3\n"),
        _ => ring(host, path),
    };
    let seeds = ["http://fenced.test/0", "http://broken.test/0", "http://slowly.test/0", "http://moved.test/0"];
    let crawled = crawl(Arc::new(answer), &seeds, |_| {});
    assert!(crawled.reason("fenced.test").contains("robots.txt forbids it"));
    assert_eq!(crawled.paths("fenced.test"), ["/robots.txt"]);
    assert!(crawled.reason("broken.test").contains("robots.txt answers with a server error"));
    assert_eq!(crawled.paths("broken.test"), ["/robots.txt"]);
    let slowly = &gaps(&crawled.server.arrivals())["slowly.test"];
    assert!(slowly.iter().all(|gap| *gap >= Duration::from_millis(300)), "{slowly:?}");
    let moved = crawled.paths("moved.test");
    assert_eq!(moved[..3], ["/robots.txt", "/rules.txt", "/0"]);
    assert!(!moved.contains(&"/3".to_owned()) && moved.len() == 7, "{moved:?}");
}

#[test]
fn redirects_wait_their_turn_ask_robots_and_end() {
    let answer = |host: &str, path: &str| match (host, path) {
        ("a.test", "/0") => Reply::redirect(302, "http://b.test/0"),
        ("loop.test", "/robots.txt") => Reply::status(404),
        ("loop.test", _) => Reply::redirect(301, &format!("{path}0")),
        ("ping.test", "/0") => Reply::redirect(302, "http://ping.test/1"),
        ("ping.test", "/1") => Reply::redirect(302, "http://ping.test/0"),
        ("fence.test", "/0") => Reply::redirect(307, "http://closed.test/0"),
        ("closed.test", "/robots.txt") => Reply::text("User-agent: *\nDisallow: /\n"),
        ("file.test", "/0") => Reply::redirect(301, "file:///etc/passwd"),
        _ => ring(host, path),
    };
    let seeds =
        ["http://a.test/0", "http://loop.test/0", "http://ping.test/0", "http://fence.test/0", "http://file.test/0"];
    let crawled = crawl(Arc::new(answer), &seeds, |_| {});
    assert_eq!(crawled.ended["b.test"].outcome, "learned", "the site is where the key page was found");
    assert_eq!(crawled.paths("b.test")[0], "/robots.txt");
    let store = dehusk_store::Store::open(&crawled.db).unwrap();
    assert!(
        store.load_template("b.test", None).unwrap().is_some()
            && store.load_template("a.test", None).unwrap().is_none()
    );
    assert_eq!(store.list_pages(Some("b.test")).unwrap().len(), crawled.ended["b.test"].pages);
    assert!(crawled.reason("loop.test").contains("more than 5 redirects"), "{}", crawled.reason("loop.test"));
    assert_eq!(crawled.paths("loop.test").len(), 7);
    assert!(crawled.reason("ping.test").contains("leads back to itself"), "{}", crawled.reason("ping.test"));
    assert_eq!(crawled.paths("ping.test"), ["/robots.txt", "/0", "/1"]);
    assert!(crawled.reason("fence.test").contains("robots.txt forbids it"));
    assert_eq!(crawled.paths("closed.test"), ["/robots.txt"]);
    assert!(crawled.reason("file.test").contains("answers 301"), "{}", crawled.reason("file.test"));
    for (host, gaps) in gaps(&crawled.server.arrivals()) {
        assert!(gaps.iter().all(|gap| *gap >= Duration::from_millis(100)), "{host}: {gaps:?}");
    }
}

#[test]
fn what_leaves_the_site_is_not_followed_once_the_key_page_is_found() {
    let answer = |host: &str, path: &str| match (host, path) {
        ("a.test", "/2") => Reply::redirect(302, "http://third.test/2"),
        _ => ring(host, path),
    };
    let crawled = crawl(Arc::new(answer), &["http://a.test/0"], |_| {});
    assert_eq!(crawled.reason("a.test"), "learned");
    assert!(crawled.paths("third.test").is_empty() && crawled.paths("a.test").contains(&"/2".to_owned()));
}

#[test]
fn rules_that_expire_while_a_page_waits_for_its_turn_hold_for_it() {
    let crawled = crawl(Arc::new(ring), &["http://a.test/0"], |s| s.politeness.robots_ttl = Duration::ZERO);
    assert_eq!(crawled.reason("a.test"), "learned");
}

#[test]
fn a_robots_txt_that_fails_once_is_asked_for_again() {
    let count = AtomicUsize::new(0);
    let answer = move |host: &str, path: &str| match path {
        "/robots.txt" if count.fetch_add(1, Ordering::Relaxed) == 0 => {
            Reply { wait: Duration::from_secs(5), ..Reply::status(404) }
        }
        _ => ring(host, path),
    };
    let crawled = crawl(Arc::new(answer), &["http://a.test/0"], |s| {
        s.fetch.retries = 1;
        s.fetch.timeout = Duration::from_millis(500);
    });
    assert_eq!(crawled.reason("a.test"), "learned");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    // A stored-blocks gzip would not shrink; python's is at hand wherever the checks run.
    let mut python = std::process::Command::new("python3")
        .args(["-c", "import gzip,sys; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read()))"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&bytes));
    let out = python.wait_with_output().unwrap().stdout;
    feeder.join().unwrap().unwrap();
    out
}

#[test]
fn every_limit_refuses_with_its_name() {
    let bomb = gzip(&vec![b' '; 3_000_000]);
    let page = gzip(ring("gzip.test", "/0").body.as_slice());
    let answer = move |host: &str, path: &str| match (host, path) {
        (_, "/robots.txt") => Reply::status(404),
        ("long.test", _) => Reply::html(vec![b'x'; 300_000]),
        ("bomb.test", _) => Reply::html(bomb.clone()).with("content-encoding", "gzip"),
        ("torn.test", _) => Reply::html(page[..page.len() / 2].to_vec()).with("content-encoding", "gzip"),
        ("false.test", _) => Reply::html("no brotli").with("content-encoding", "br"),
        ("gzip.test", "/0") => Reply::html(page.clone()).with("content-encoding", "gzip"),
        ("image.test", _) => Reply::typed("image/png", vec![0; 10]),
        ("never.test", _) => Reply { wait: Duration::from_secs(60), ..ring(host, path) },
        ("empty.test", _) => Reply::html(""),
        _ => ring(host, path),
    };
    let names = ["long", "bomb", "torn", "false", "gzip", "image", "never", "empty"];
    let seeds: Vec<String> = names.iter().map(|name| format!("http://{name}.test/0")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let crawled = crawl(Arc::new(answer), &seeds, |s| {
        s.fetch.max_raw_bytes = 200_000;
        s.fetch.max_bytes = 1_000_000;
        s.fetch.timeout = Duration::from_millis(1500);
    });
    let expected = [
        ("long", "longer than 200000 bytes (fetch.max_raw_bytes)"),
        ("bomb", "longer than 1000000 bytes (fetch.max_bytes)"),
        ("torn", "broken gzip body"),
        ("false", "broken br body"),
        ("gzip", "learned"),
        ("image", "image/png is not HTML"),
        ("never", "no whole answer within 1 s (fetch.timeout)"),
        ("empty", "empty answer"),
    ];
    for (name, reason) in expected {
        let got = crawled.reason(&format!("{name}.test"));
        assert!(got.contains(reason), "{name}: {got}");
    }
    assert!(crawled.took < Duration::from_secs(30), "a server that never answers holds nothing up");
}

#[test]
fn private_addresses_are_refused_on_every_hop() {
    let answer = |host: &str, path: &str| match (host, path) {
        (_, "/robots.txt") => Reply::status(404),
        _ => ring(host, path),
    };
    let seeds = ["http://inside.test/0", "http://127.0.0.1:9/", "http://[::ffff:10.0.0.1]/", "http://localhost/"];
    let crawled = crawl(Arc::new(answer), &seeds, |s| s.fetch.allow_private = false);
    assert!(crawled.server.arrivals().is_empty());
    for (host, summary) in &crawled.ended {
        assert_eq!(summary.outcome, "failed", "{host}");
    }
    let store = rusqlite::Connection::open(&crawled.db).unwrap();
    let refused: i64 = store
        .query_row("SELECT count(*) FROM visits WHERE sent_at IS NULL AND reason LIKE '%private network%'", [], |r| {
            r.get(0)
        })
        .unwrap();
    assert!(refused >= 4, "{refused}");
}

#[test]
fn failures_that_may_pass_are_retried_and_others_are_not() {
    let counts: [AtomicUsize; 2] = Default::default();
    let answer = move |host: &str, path: &str| match (host, path) {
        ("once.test", "/0") if counts[0].fetch_add(1, Ordering::Relaxed) == 0 => Reply::status(500),
        ("busy.test", "/0") if counts[1].fetch_add(1, Ordering::Relaxed) == 0 => {
            Reply::status(429).with("retry-after", "1")
        }
        ("gone.test", "/0") => Reply::status(410),
        _ => ring(host, path),
    };
    let seeds = ["http://once.test/0", "http://busy.test/0", "http://gone.test/0"];
    let crawled = crawl(Arc::new(answer), &seeds, |s| s.fetch.retries = 1);
    assert_eq!((crawled.reason("once.test"), crawled.reason("busy.test")), ("learned", "learned"));
    assert_eq!(crawled.paths("gone.test"), ["/robots.txt", "/0"]);
    assert!(crawled.reason("gone.test").contains("answers 410"));
    let busy = &gaps(&crawled.server.arrivals())["busy.test"];
    assert!(busy[1] >= Duration::from_secs(1), "Retry-After: {busy:?}");
}

#[test]
fn caps_hold_over_all_domains() {
    let hosts: Vec<String> = (0..10).map(|i| format!("http://h{i}.test/0")).collect();
    let seeds: Vec<&str> = hosts.iter().map(String::as_str).collect();
    for by_address in [false, true] {
        let crawled = crawl(Arc::new(ring), &seeds, |s| {
            s.politeness.delay = Duration::from_millis(1);
            if by_address {
                s.fetch.requests_per_second_per_address = 50;
            } else {
                s.fetch.requests_per_second = 50;
            }
        });
        let n = crawled.server.arrivals().len();
        let at: Vec<Instant> = crawled.server.arrivals().iter().map(|a| a.at).collect();
        let span = at[n - 1] - at[0];
        // 50 a second with a burst of one: n requests take at least (n - 1) / 50 s.
        assert!(span >= Duration::from_millis((n as u64 - 2) * 20), "{n} requests in {span:?}");
    }
    let crawled = crawl(
        Arc::new(|host: &str, path: &str| {
            let mut reply = ring(host, path);
            reply.body.extend(vec![b' '; 20_000]);
            reply
        }),
        &seeds[..2],
        |s| s.fetch.bytes_per_second = 100_000,
    );
    assert!(
        crawled.took >= Duration::from_millis(1200),
        "12 pages of 20 KB at 100 KB/s after a burst: {:?}",
        crawled.took
    );
}
