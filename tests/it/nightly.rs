//! The walk beyond the training pages, and what a second night finds: unchanged, changed, gone, new.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dehusk::demo::server::{Answer, Reply, Server};
use dehusk_crawl::Summary;
use dehusk_html::PageUrl;
use dehusk_settings::{Order, ScopeOf, Settings};
use dehusk_store::Store;

use crate::crawl::{run, settings};

/// A site of 40 pages: each links to its neighbours, the first ten to each other.
fn page(path: &str, text: &str) -> Option<String> {
    let n: usize = path.trim_start_matches('/').parse().ok().filter(|n| *n < 40)?;
    let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    let next = format!("<a href=/{}>next</a> <a href=/{}?utm_source=x>after that</a>", n + 1, n + 2);
    Some(format!(
        "<title>t</title><nav><ul>{menu}</ul></nav><main><p>{text} number {n}</p>{next}</main><footer>the end</footer>"
    ))
}

fn nights(answer: Arc<Answer>) -> (Server, Settings, tempfile::TempDir) {
    let server = Server::start(answer).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(5);
    settings.politeness.max_crawl_delay = Duration::from_millis(5);
    settings.revisit.first = Duration::ZERO;
    settings.revisit.least = Duration::ZERO;
    (server, settings, dir)
}

fn night(settings: &Settings) -> Summary {
    run(vec![PageUrl::parse("http://a.test/0").unwrap()], settings).0
}

fn paths(server: &Server) -> Vec<String> {
    server.arrivals().into_iter().map(|arrival| arrival.path).collect()
}

#[test]
fn the_walk_goes_on_to_its_limit_and_asks_for_nothing_twice() {
    let answer = |_: &str, path: &str| match page(path.split('?').next().unwrap(), "text") {
        Some(html) => Reply::html(html),
        None => Reply::status(404),
    };
    for (limit, depth, expected) in [(0, 0, 9), (20, 0, 20), (1000, 0, 40), (1000, 1, 10)] {
        let (server, mut settings, _dir) = nights(Arc::new(answer));
        settings.crawl.pages_per_site = limit;
        settings.crawl.depth = depth;
        let summary = night(&settings);
        let asked = paths(&server);
        let once: BTreeSet<&String> = asked.iter().collect();
        assert_eq!(once.len(), asked.len(), "{asked:?}");
        assert_eq!(summary.stats.pages, expected, "limit {limit}, depth {depth}: {asked:?}");
        assert_eq!(summary.stats.new, expected);
        let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
        let template = store.load_template("a.test", None).unwrap().unwrap();
        let n_pages = template.training_set.unwrap().n_pages();
        // The training pages, and of the pages of the walk no more than site_model.extra_pages.
        assert_eq!(
            n_pages,
            expected.min(9 + settings.core.learn.site_model.extra_pages),
            "limit {limit}, depth {depth}"
        );
        for page in store.list_pages(None).unwrap() {
            let html = store.load_cleaned(&page).unwrap().unwrap();
            assert!(html.contains("text number") && !html.contains("the end"), "{}: {html}", page.url);
        }
    }
}

#[test]
fn sitemaps_feeds_scope_and_patterns_decide_what_is_walked() {
    let answer = |_: &str, path: &str| match path {
        "/robots.txt" => Reply::text("Sitemap: /index.xml\nUser-agent: *\nDisallow: /docs/secret"),
        "/index.xml" => Reply::typed(
            "text/xml",
            "<sitemapindex><sitemap><loc>http://a.test/map.txt</loc></sitemap><sitemap><loc>http://b.test/m</loc></sitemap></sitemapindex>",
        ),
        "/map.txt" => Reply::text(
            "http://a.test/docs/hidden\nhttp://a.test/docs/secret\nhttp://b.test/else\nhttp://a.test/blog/1\nhttp://a.test/docs/private/1\n",
        ),
        "/feed" => {
            Reply::typed("application/rss+xml", "<rss><channel><item><link>/docs/news</link></item></channel></rss>")
        }
        _ if path.starts_with("/docs/") => Reply::html(format!(
            "<link rel=alternate type=application/rss+xml href=/feed><ul>{}</ul><p>{path}",
            (0..8).map(|i| format!("<li><a href=/docs/{i}>page {i}</a>")).collect::<String>()
        )),
        _ => Reply::status(404),
    };
    let (server, mut settings, _dir) = nights(Arc::new(answer));
    settings.crawl.pages_per_site = 100;
    settings.crawl.scope = ScopeOf::Path;
    settings.crawl.order = Order::Breadth;
    settings.crawl.exclude = vec!["/private/".to_owned()];
    let (summary, _) = run(vec![PageUrl::parse("http://a.test/docs/").unwrap()], &settings);
    let asked: BTreeSet<String> = paths(&server).into_iter().collect();
    for wanted in ["/index.xml", "/map.txt", "/feed", "/docs/hidden", "/docs/news", "/docs/7"] {
        assert!(asked.contains(wanted), "{wanted}: {asked:?}");
    }
    for unwanted in ["/docs/secret", "/else", "/blog/1", "/docs/private/1", "/m"] {
        assert!(!asked.contains(unwanted), "{unwanted}: {asked:?}");
    }
    assert_eq!(summary.stats.forbidden, 1);
    let refused = summary.stats.refused;
    assert!(refused["outside"] >= 2 && refused["pattern"] == 1, "{refused:?}");
}

/// What the entries of a feed repeat is learned in the crawl, and removed from the feed by `dehusk strings clean`.
#[test]
fn the_strings_of_feeds_are_learned_in_the_crawl() {
    let entry = |n: usize| {
        format!(
            "<item><guid>/{n}</guid><description><![CDATA[<p>Story {n} is about {} words of its own.</p>\
             <p>The post Story {n} appeared first on <a href=/>The House of Barley</a>.</p>]]></description></item>",
            ["red", "green", "blue", "gray", "white", "black"][n]
        )
    };
    let feed = format!("<rss><channel>{}</channel></rss>", (0..6).map(entry).collect::<String>());
    let served = feed.clone();
    let answer = move |_: &str, path: &str| match path {
        "/feed" => Reply::typed("application/rss+xml", served.as_str()),
        "/robots.txt" => Reply::status(404),
        _ => Reply::html(format!(
            "<link rel=alternate type=application/rss+xml href=/feed>{}",
            page(path, "text").unwrap_or_default()
        )),
    };
    let (server, mut settings, dir) = nights(Arc::new(answer));
    settings.crawl.pages_per_site = 4;
    settings.revisit.first = Duration::from_secs(3600);
    let (summary, ended) = run(vec![PageUrl::parse("http://a.test/0").unwrap()], &settings);
    assert_eq!(summary.stats.learned, 1, "{ended:?}");
    assert!(paths(&server).contains(&"/feed".to_owned()), "{:?}", paths(&server));
    let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
    let learned = store.load_strings("a.test/feeds").unwrap().unwrap();
    let strings: Vec<String> = learned.strings.iter().map(|string| learned.text(string)).collect();
    assert!(strings.iter().any(|string| string.contains("appeared first on The House of Barley")), "{strings:?}");
    assert_eq!(learned.n_documents, 6, "each entry is a document");
    // On a night without a new key page the feed is read, too.
    run(vec![PageUrl::parse("http://a.test/0").unwrap()], &settings);
    let read = |wanted: &str| paths(&server).iter().filter(|path| *path == wanted).count();
    assert_eq!((read("/feed"), read("/0")), (2, 1));
    std::fs::write(dir.path().join("feed.xml"), feed).unwrap();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(["strings", "clean", "feed.xml", "--name", "a.test/feeds", "--json", "--db", &settings.store.path])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let lines = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(lines.lines().count(), 6, "{lines}{}", String::from_utf8_lossy(&out.stderr));
    assert!(lines.contains("is about blue") && !lines.contains("House of Barley"), "{lines}");
    assert!(lines.contains("feed.xml#/3"), "an entry has the name of its guid: {lines}");
}

#[test]
fn a_second_night_asks_conditionally_and_tells_what_has_changed() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let conditions = Arc::new(Mutex::new(Vec::new()));
    let (clock, seen) = (Arc::clone(&tonight), Arc::clone(&conditions));
    let answer = move |request: &dehusk::demo::server::Asked| {
        let path = request.path.as_str();
        let night = clock.load(Ordering::Relaxed);
        let text = match (night, path) {
            (2, "/3") => return Reply::status(410),
            (2, "/4") => "other words",
            _ => "text",
        };
        let Some(mut html) = page(path, text) else { return Reply::status(404) };
        if night == 2 && path == "/5" {
            html = html.replace("<title>t", "<title>tt");
        }
        let etag = format!("\"{}\"", html.len() * 31 + html.matches("other").count());
        if night == 2 {
            seen.lock().unwrap().push((path.to_owned(), request.header("if-none-match")));
        }
        if request.header("if-none-match") == etag {
            Reply::status(304).with("etag", &etag)
        } else {
            Reply::html(html).with("etag", &etag)
        }
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(5);
    settings.revisit.first = Duration::ZERO;
    settings.revisit.least = Duration::ZERO;
    settings.crawl.pages_per_site = 20;
    // Without this the second run would wait for the longest delay that the first may have promised.
    let first = night(&settings);
    assert_eq!((first.stats.learned, first.stats.new, first.stats.pages), (1, 20, 20));
    let before = server.arrivals().len();

    tonight.store(2, Ordering::Relaxed);
    let second = night(&settings);
    let stats = &second.stats;
    assert_eq!((stats.learned, stats.kept), (0, 1), "the stored template still fits: no training pages");
    assert_eq!((stats.unchanged, stats.changed, stats.same_text, stats.gone), (17, 1, 1, 1), "{stats:?}");
    let asked = paths(&server)[before..].to_vec();
    assert!(!asked.contains(&"/robots.txt".to_owned()), "its rules are a few seconds old");
    assert_eq!(conditions.lock().unwrap().iter().filter(|(_, etag)| !etag.is_empty()).count(), 19);

    let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
    let runs = store.list_runs(10).unwrap();
    assert_eq!((runs.len(), runs[0].unchanged, runs[0].gone, runs[0].templates), (2, 17, 1, 0));
    let diff: Vec<(String, String)> =
        store.diff_runs(1, 2).unwrap().into_iter().map(|c| (c.change, c.url.replace("http://a.test", ""))).collect();
    let expected = [("gone", "/3"), ("changed", "/4"), ("same_text", "/5")];
    assert!(
        expected.iter().all(|(change, path)| diff.contains(&((*change).to_owned(), (*path).to_owned()))),
        "{diff:?}"
    );

    history_and_diff_say_the_same(&settings);

    // Nothing is due on the third night but what has changed, and nothing at all with long intervals.
    settings.revisit.first = Duration::from_secs(3600);
    settings.revisit.least = Duration::from_secs(3600);
    settings.revisit.all = true;
    night(&settings);
    settings.revisit.all = false;
    settings.crawl.pages_per_site = 0;
    let before = server.arrivals().len();
    let fourth = night(&settings);
    assert_eq!((fourth.stats.not_due, fourth.stats.requests), (1, 0));
    assert_eq!(server.arrivals().len(), before);
}

/// The commands, after the two nights.
fn history_and_diff_say_the_same(settings: &Settings) {
    let run = |args: &[&str]| {
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"))
            .args(["--db", &settings.store.path])
            .args(args)
            .output()
            .unwrap();
        (program.status.code(), String::from_utf8(program.stdout).unwrap())
    };
    let history = |path: &str| -> Vec<String> {
        let (_, out) = run(&["pages", "history", &format!("http://a.test{path}"), "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&out).unwrap();
        listed["history"].as_array().unwrap().iter().map(|n| n["change"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(history("/3"), ["new", "gone"]);
    assert_eq!(history("/4"), ["new", "changed"]);
    assert_eq!(history("/5"), ["new", "same_text"]);
    assert_eq!(history("/6"), ["new", "unchanged"]);
    let (code, out) = run(&["pages", "diff", "http://a.test/4"]);
    let of_words: String = out.chars().filter(|c| !"{+}".contains(*c)).collect();
    assert!(code == Some(0) && of_words.contains("[-text-]other words"), "{out}");
    let (code, out) = run(&["pages", "diff", "http://a.test/4", "1", "2", "--unified"]);
    assert!(code == Some(0) && out.contains("@@"), "{out}");
    assert_eq!(run(&["pages", "diff", "http://a.test/5"]).0, Some(1), "only its title has changed");
    assert_eq!(run(&["pages", "diff", "http://a.test/5", "0", "2"]).0, Some(1), "no version of run 0");
}

#[test]
fn a_redesign_is_learned_anew_and_every_page_is_cleaned_with_it() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let answer = move |_: &str, path: &str| {
        let Some(html) = page(path, "text") else { return Reply::status(404) };
        match clock.load(Ordering::Relaxed) {
            1 => Reply::html(html),
            _ => Reply::html(
                html.replace("<nav>", "<section class=top><div class=menu>")
                    .replace("</nav>", "</div></section><aside class=new>fresh</aside>")
                    .replace("<footer>the end</footer>", "<div class=foot>finis</div>"),
            ),
        }
    };
    let (_server, mut settings, _dir) = nights(Arc::new(answer));
    settings.crawl.pages_per_site = 12;
    assert_eq!(night(&settings).stats.learned, 1);
    tonight.store(2, Ordering::Relaxed);
    let second = night(&settings);
    assert_eq!((second.stats.learned, second.stats.kept), (1, 0));
    let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
    assert_eq!(store.list_templates(None, true).unwrap().len(), 2, "the old version is kept");
    let pages = store.list_pages(None).unwrap();
    assert_eq!(pages.len(), 12);
    for page in pages {
        let html = store.load_cleaned(&page).unwrap().unwrap();
        assert!(
            !html.contains("finis") && !html.contains("the end") && html.contains("number"),
            "{}: {html}",
            page.url
        );
    }
}

/// The key page is in the new layout a night before the others: what was learned in between does not last.
#[test]
fn a_redesign_that_comes_in_two_nights_is_learned_in_the_end() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let answer = move |_: &str, path: &str| {
        let Some(html) = page(path, "text") else { return Reply::status(404) };
        let night = clock.load(Ordering::Relaxed);
        let number = path.trim_start_matches('/');
        let own = format!("<p>text number {number}, in a sentence that no other page of the site has: {number}.</p>");
        if night == 1 || (night == 2 && path != "/0") {
            Reply::html(html)
        } else {
            let tabs: String = (0..10).map(|n| format!("<li><a href=/{n}>way {n}</a>")).collect();
            Reply::html(format!("<div class=new><ul>{tabs}</ul></div><div>{}</div><p>all is new</p>", own.repeat(3)))
        }
    };
    let (_server, mut settings, _dir) = nights(Arc::new(answer));
    settings.crawl.pages_per_site = 12;
    let mut learned = Vec::new();
    for night in 1..=4 {
        tonight.store(night, Ordering::Relaxed);
        learned.push(night_of(&settings));
    }
    assert_eq!(learned, [(1, 0), (1, 1), (1, 0), (0, 0)], "learned, and of these redesigned, by night");
    let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
    for page in store.list_pages(None).unwrap() {
        let html = store.load_cleaned(&page).unwrap().unwrap();
        assert!(!html.contains("way 3") && html.contains("text number"), "{}: {html}", page.url);
    }
}

fn night_of(settings: &Settings) -> (usize, usize) {
    let stats = night(settings).stats;
    (stats.learned, stats.redesigned)
}

#[test]
fn owners_wishes_are_kept() {
    let answer = |_: &str, path: &str| match path {
        "/robots.txt" => Reply::status(404),
        "/2" => Reply::html(page("/2", "text").unwrap()).with("x-robots-tag", "noindex"),
        "/8" => Reply::html(page("/8", "text").unwrap() + "<a href=/open>a page that only this one names</a>"),
        "/9" => {
            let html = page("/9", "text").unwrap() + "<a href=/hidden>a page that only this one names</a>";
            Reply::html(html.replace("<title>", "<meta name=robots content=nofollow><title>"))
        }
        "/open" | "/hidden" => Reply::html(page("/7", "text").unwrap()),
        _ => page(path, "text").map_or_else(|| Reply::status(404), Reply::html),
    };
    let (server, mut settings, _dir) = nights(Arc::new(answer));
    settings.crawl.pages_per_site = 30;
    settings.crawl.include = vec!["/([0-9]|open|hidden)$".to_owned()];
    let summary = night(&settings);
    assert_eq!(summary.stats.learned, 1);
    let asked = |path: &str| server.arrivals().iter().any(|arrival| arrival.path == path);
    assert!(asked("/8") && asked("/9") && asked("/open"));
    assert!(!asked("/hidden"), "the page that names it wants none of its links followed");
    let store = rusqlite::Connection::open(&settings.store.path).unwrap();
    let noindex: Vec<String> = store
        .prepare("SELECT url FROM pages WHERE noindex")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(noindex, ["http://a.test/2"], "it voted, and is kept out of collections");
    let refused = summary.stats.refused;
    assert!(refused["pattern"] > 0, "{refused:?}");
}

/// The real sites on two nights: a tenth of the pages has changed, a fiftieth is gone.
#[test]
fn a_second_night_over_the_real_sites() {
    let Some(sites) = crate::crawl::DevSites::load() else { return };
    let tonight = Arc::new(AtomicUsize::new(1));
    let (clock, answer) = (Arc::clone(&tonight), Arc::clone(&sites.answer));
    let keys: BTreeSet<String> = sites.seeds.iter().map(ToString::to_string).collect();
    // The same fate for a page whoever asks: by a hash of its URL.
    let fate = |url: &str| xxhash_rust::xxh3::xxh3_64(url.as_bytes()) % 50;
    let is_gone = move |url: &str| fate(url) == 7 && !keys.contains(url);
    let is_changed = move |url: &str| fate(url) % 10 == 3;
    let gone = is_gone.clone();
    let server = Server::start_asked(Arc::new(move |asked: &dehusk::demo::server::Asked| {
        let mut reply = answer(&asked.host, &asked.path);
        let url = format!("http://{}{}", asked.host, asked.path);
        if clock.load(Ordering::Relaxed) == 2 && reply.status == 200 && asked.path != "/robots.txt" {
            if gone(&url) {
                return Reply::status(404);
            }
            if is_changed(&url) {
                // In the middle of the page's paragraphs, where news stand.
                let html = String::from_utf8_lossy(&reply.body).into_owned();
                let ends: Vec<usize> = html.match_indices("</p>").map(|(at, end)| at + end.len()).collect();
                let at = ends.get(ends.len() / 2).copied().unwrap_or(html.len());
                reply.body = [&html[..at], "<p>unheard of before tonight</p>", &html[at..]].concat().into_bytes();
            }
        }
        let etag = format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(&reply.body));
        if reply.status == 200 && asked.header("if-none-match") == etag {
            Reply::status(304).with("etag", &etag)
        } else {
            reply.with("etag", &etag)
        }
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &sites.names());
    settings.politeness.delay = Duration::from_millis(20);
    settings.crawl.pages_per_site = 15;
    settings.crawl.sitemaps = false;
    settings.crawl.feeds = false;
    // The site whose pages want no link followed has no template; its pages are kept whole.
    settings.core.clean.alone = dehusk_core::clean::Alone::Plain;
    let (first, _) = run(sites.seeds.clone(), &settings);
    let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
    let known: Vec<String> = store.list_pages(None).unwrap().into_iter().map(|page| page.url).collect();
    let n_gone = known.iter().filter(|url| is_gone(url)).count();
    let n_changed = known.iter().filter(|url| !is_gone(url) && is_changed(url)).count();

    tonight.store(2, Ordering::Relaxed);
    settings.revisit.all = true;
    settings.crawl.pages_per_site = 0;
    let before = server.arrivals().len();
    let (second, _) = run(sites.seeds.clone(), &settings);
    let stats = &second.stats;
    let requests = server.arrivals().len() - before;
    println!(
        "first night: {} sites learned, {} pages; second: {requests} requests, {} unchanged (304), {} changed, {} gone, \
         {} templates kept, {} learned anew; expected {n_changed} changed, {n_gone} gone",
        first.stats.learned,
        known.len(),
        stats.unchanged,
        stats.changed,
        stats.gone,
        stats.kept,
        stats.learned
    );
    assert_eq!((stats.gone, stats.unchanged), (n_gone, known.len() - n_gone - n_changed));
    // Where the paragraph stands in the template, the page's own text is the same.
    assert!((n_changed * 3 / 4..=n_changed).contains(&stats.changed), "{} of {n_changed}", stats.changed);
    // A paragraph more is no redesign. The site without a template tries again from its key page.
    assert_eq!((stats.kept, stats.learned), (first.stats.learned, 0));
    let (mut n, mut n_with_news) = (0, 0);
    for page in store.list_pages(None).unwrap().iter().filter(|page| page.run == 2) {
        let html = store.load_cleaned(page).unwrap().unwrap();
        (n, n_with_news) = (n + 1, n_with_news + usize::from(html.contains("unheard of before tonight")));
    }
    assert!(n_with_news * 4 >= n * 3, "{n_with_news} of {n}");
}

#[test]
fn stored_pages_of_a_site_that_forbids_all_by_now_are_hidden() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let answer = move |_: &str, path: &str| match (path, clock.load(Ordering::Relaxed)) {
        ("/robots.txt", 2) => Reply::text("User-agent: *\nDisallow: /\n"),
        ("/robots.txt", 3) => Reply::status(503),
        ("/robots.txt", _) => Reply::status(404),
        _ => page(path, "text").map_or_else(|| Reply::status(404), Reply::html),
    };
    let (_server, mut settings, _dir) = nights(Arc::new(answer));
    settings.politeness.robots_ttl = Duration::ZERO;
    settings.fetch.retries = 0;
    let mut hidden = Vec::new();
    for night_number in 1..=4 {
        tonight.store(night_number, Ordering::Relaxed);
        night(&settings);
        let pages = Store::open(std::path::Path::new(&settings.store.path)).unwrap().list_pages(None).unwrap();
        assert!(!pages.is_empty(), "they stay");
        hidden.push(pages.iter().filter(|page| page.noindex).count() == pages.len());
    }
    assert_eq!(hidden, [false, true, true, false], "a server error changes nothing");
}

#[test]
fn expired_rules_are_asked_for_conditionally_and_hold_when_they_were_not_modified() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let conditions = Arc::new(Mutex::new(Vec::new()));
    let (clock, seen) = (Arc::clone(&tonight), Arc::clone(&conditions));
    let answer = move |request: &dehusk::demo::server::Asked| {
        if request.path != "/robots.txt" {
            return page(&request.path, "text").map_or_else(|| Reply::status(404), Reply::html);
        }
        let condition = request.header("if-none-match");
        seen.lock().unwrap().push(condition.clone());
        let (etag, rules) = match clock.load(Ordering::Relaxed) {
            1..=3 => ("\"a\"", "User-agent: *\nDisallow: /3\n"),
            _ => ("\"b\"", "User-agent: *\nDisallow: /4\n"),
        };
        if condition == etag { Reply::status(304) } else { Reply::text(rules).with("etag", etag) }
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(5);
    settings.politeness.robots_ttl = Duration::ZERO;
    settings.revisit.first = Duration::ZERO;
    settings.revisit.least = Duration::ZERO;
    settings.crawl.pages_per_site = 20;
    let mut asked = Vec::new();
    for night_number in 1..=5 {
        tonight.store(night_number, Ordering::Relaxed);
        let before = server.arrivals().len();
        night(&settings);
        let paths = paths(&server)[before..].to_vec();
        asked.push(["/3", "/4"].map(|path| paths.iter().any(|asked| asked == path)));
    }
    let conditions = conditions.lock().unwrap();
    let mut nightly: Vec<_> = conditions.clone();
    nightly.dedup();
    assert_eq!(nightly, ["", "\"a\"", "\"b\""], "{conditions:?}");
    assert_eq!(asked, [[false, true], [false, true], [false, true], [true, false], [true, false]]);
    let store = Store::open(std::path::Path::new(&settings.store.path)).unwrap();
    let robots = store.robots_of("a.test").unwrap();
    assert!(robots.iter().any(|robots| robots.status == Some(200) && robots.body.ends_with(b"/4\n")), "{robots:?}");
}
