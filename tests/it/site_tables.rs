//! `[[site]]` tables: each host is crawled by its own settings, in the same run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dehusk::demo::server::{Asked, Reply, Server};
use dehusk_crawl::{SeedList, Stop, crawl};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;

use crate::crawl::run;

/// Ten pages, all linked from each other. `/private` is linked, too.
fn page(path: &str) -> Reply {
    let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    let known = path == "/" || path == "/private" || path[1..].parse::<usize>().is_ok_and(|n| n < 10);
    if known {
        Reply::html(format!("<ul>{menu}<li><a href=/private>private</a></ul><p>The text of {path}"))
            .with("set-cookie", "session=1")
    } else {
        Reply::status(404)
    }
}

#[test]
fn each_site_is_crawled_by_its_own_settings() {
    let asked = Arc::new(Mutex::new(Vec::<(String, String, String)>::new()));
    let heard = Arc::clone(&asked);
    let answer = move |request: &Asked| {
        let headers = (request.header("x-key"), request.header("cookie"));
        heard.lock().unwrap().push((request.host.clone(), headers.0, headers.1));
        page(&request.path)
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = format!(
        r#"
        fetch.allow_private = true
        fetch.resolve = ["*.test=127.0.0.1:{}"]
        politeness.delay = "5ms"
        crawl.pages_per_site = 50
        crawl.probe = false
        revisit.first = 0
        revisit.least = 0
        store.path = '{}'
        [[site]]
        host = "slow.test"
        politeness.delay = "150ms"
        revisit.first = "9d"
        crawl.exclude = ["/private"]
        [[site]]
        host = ["known.test"]
        fetch.headers = ["X-Key: 7"]
        fetch.cookies = true
        crawl.site.max_requests = 6
        "#,
        server.port(),
        dir.path().join("s.db").display(),
    );
    let settings = Settings::load(Some(("crawl.toml", &file)), &[]).unwrap();
    let crawl = || {
        let seeds = ["http://slow.test/", "http://known.test/", "http://usual.test/"];
        run(seeds.iter().map(|seed| PageUrl::parse(seed).unwrap()).collect(), &settings)
    };
    crawl();

    let asked = asked.lock().unwrap();
    let of = |host: &'static str| asked.iter().filter(move |(name, _, _)| name == host);
    assert_eq!(
        (of("known.test").count(), of("usual.test").count()),
        (7, 13),
        "a budget of its own, robots.txt beside it"
    );
    assert!(of("known.test").all(|(_, key, _)| key == "7"));
    assert!(of("known.test").skip(2).all(|(_, _, cookie)| cookie == "session=1"));
    assert!(of("usual.test").chain(of("slow.test")).all(|(_, key, cookie)| key.is_empty() && cookie.is_empty()));

    let arrivals = server.arrivals();
    let slow: Vec<_> = arrivals.iter().filter(|arrival| arrival.host == "slow.test").collect();
    assert!(slow.iter().all(|arrival| arrival.path != "/private"));
    assert_eq!(slow.len(), 12);
    assert!(slow.windows(2).all(|pair| pair[1].at - pair[0].at >= Duration::from_millis(149)), "its own delay");

    // The pages of one site are due in nine days, those of the others at once.
    let before = arrivals.len();
    drop(asked);
    crawl();
    let again = &server.arrivals()[before..];
    let n_again = |host: &str| again.iter().filter(|arrival| arrival.host == host).count();
    assert_eq!(n_again("slow.test"), 0);
    assert!(n_again("usual.test") >= 11, "{}", n_again("usual.test"));
}

/// A page that a sitemap says was modified since the last visit is due, whatever its interval.
#[test]
fn pages_that_a_sitemap_says_were_modified_are_due() {
    let answer = move |request: &Asked| match request.path.as_str() {
        "/robots.txt" => Reply::text("Sitemap: http://a.test/sitemap.xml"),
        "/sitemap.xml" => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            let today = dehusk_core::calendar::iso_8601(now.as_millis() as i64);
            let day = |n: usize| if n == 3 { today[..10].to_owned() } else { format!("2024-01-0{}", n + 1) };
            let url = |n: usize| format!("<url><loc>http://a.test/{n}</loc><lastmod>{}</lastmod></url>", day(n));
            Reply::text(format!("<urlset>{}</urlset>", (0..8).map(url).collect::<String>()))
        }
        path => page(path),
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = crate::crawl::settings(&dir.path().join("m.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(2);
    settings.crawl.pages_per_site = 50;
    let crawl = || run(vec![PageUrl::parse("http://a.test/").unwrap()], &settings);
    crawl();
    let before = server.arrivals().len();
    crawl();
    let again: Vec<String> = server.arrivals()[before..].iter().map(|arrival| arrival.path.clone()).collect();
    assert_eq!(again, ["/sitemap.xml", "/3"]);
}

/// How often a sitemap says that a page changes holds for a page that was visited once.
#[test]
fn pages_that_a_sitemap_calls_rarely_changed_wait() {
    let answer = move |request: &Asked| match request.path.as_str() {
        "/robots.txt" => Reply::text("Sitemap: http://a.test/sitemap.xml"),
        "/sitemap.xml" => {
            let often = ["weekly", "weekly", "daily", "daily", "monthly", "monthly", "", ""];
            let url = |(n, often): (usize, &&str)| {
                let often = if often.is_empty() { String::new() } else { format!("<changefreq>{often}</changefreq>") };
                format!("<url><loc>http://a.test/{n}</loc>{often}</url>")
            };
            Reply::text(format!("<urlset>{}</urlset>", often.iter().enumerate().map(url).collect::<String>()))
        }
        path => page(path),
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = crate::crawl::settings(&dir.path().join("m.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(2);
    settings.crawl.pages_per_site = 50;
    settings.crawl.probe = false;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Numbers of the pages that are requested on a day.
    let asked_on = |day: i64| -> String {
        let before = server.arrivals().len();
        let seeds = SeedList::from(vec![PageUrl::parse("http://a.test/").unwrap()]);
        let seeds = seeds.in_new_run().beginning_at(1_790_812_800_000 + day * 86_400_000);
        let (_stop, stopped) = Stop::new();
        runtime.block_on(crawl(seeds, &settings, None, stopped, &mut |_| {})).unwrap();
        let mut pages: Vec<String> = server.arrivals()[before..]
            .iter()
            .filter_map(|arrival| Some(arrival.path[1..].parse::<usize>().ok()?.to_string()))
            .collect();
        pages.sort();
        pages.concat()
    };
    assert_eq!([0, 1, 7].map(asked_on), ["0123456789", "236789", "01236789"]);
    assert!(asked_on(31).contains("45"));
}

/// Which links are followed, and which parts of pages are no change, for one host only.
#[test]
fn links_and_ignored_changes_are_those_of_the_site() {
    let answer = move |request: &Asked| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
        let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
        let known = request.path == "/" || request.path[1..].parse::<usize>().is_ok_and(|n| n < 10);
        let words = format!("The text of {}. Printed at second {now}.", request.path);
        if known { Reply::html(format!("<ul>{menu}</ul><main><p>{words}</main>")) } else { Reply::status(404) }
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = format!(
        r#"
        fetch.allow_private = true
        fetch.resolve = ["*.test=127.0.0.1:{}"]
        politeness.delay = "2ms"
        crawl.pages_per_site = 50
        crawl.probe = false
        crawl.learn_changing = false
        revisit.all = true
        store.path = '{}'
        [[site]]
        host = "own.test"
        crawl.include = ["/[0-4]$"]
        crawl.ignore_changes = ["Printed at second [0-9]+"]
        "#,
        server.port(),
        dir.path().join("s.db").display(),
    );
    let settings = Settings::load(Some(("crawl.toml", &file)), &[]).unwrap();
    let seeds = ["http://own.test/", "http://usual.test/"];
    let crawl = || run(seeds.iter().map(|seed| PageUrl::parse(seed).unwrap()).collect(), &settings);
    let (_, first) = crawl();
    assert_eq!((first["own.test"].pages, first["usual.test"].pages), (6, 11), "the key page, and what is included");
    let second = crawl().0;
    let changes = dehusk_store::Store::open(&dir.path().join("s.db")).unwrap().diff_runs(1, 2).unwrap();
    let n = |host: &str, change: &str| changes.iter().filter(|row| row.host == host && row.change == change).count();
    assert_eq!((n("own.test", "changed"), n("usual.test", "changed")), (0, 11), "{:?} {changes:?}", second.stats);
}
