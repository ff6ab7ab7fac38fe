//! A clock that was a year ahead for one night stops nothing: pages are due, robots.txt is asked for again, and what was
//! stored stays in order.

use std::sync::Arc;
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_crawl::{SeedList, Stop, Summary, crawl};
use dehusk_html::PageUrl;
use dehusk_store::{Store, unix_ms};

use crate::crawl::settings;

const YEAR: i64 = 365 * 86_400_000;

fn answer(path: &str) -> Reply {
    let menu: String = (0..6).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n < 6 => Reply::html(format!(
            "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n}</p></main>"
        )),
        _ if path == "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private\n"),
        _ => Reply::status(404),
    }
}

#[test]
fn a_night_of_a_clock_that_was_a_year_ahead_is_followed_by_the_next_one() {
    for all in [false, true] {
        let server = Server::start(Arc::new(|_: &str, path: &str| answer(path))).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
        settings.politeness.delay = Duration::from_millis(2);
        settings.crawl.probe = false;
        settings.revisit.all = all;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let night = |at: i64| -> (Summary, usize) {
            let before = server.arrivals().len();
            let seeds = SeedList::from(vec![PageUrl::parse("http://a.test/0").unwrap()]).beginning_at(at);
            let (_stop, stopped) = Stop::new();
            let summary = runtime.block_on(crawl(seeds, &settings, None, stopped, &mut |_| {})).unwrap();
            let arrivals = &server.arrivals()[before..];
            (summary, arrivals.iter().filter(|arrival| arrival.path == "/robots.txt").count())
        };
        let now = unix_ms();
        let (first, n_robots) = night(now + YEAR);
        assert_eq!((first.stats.new, n_robots), (6, 1), "{:?}", first.stats);
        let (second, n_robots) = night(now);
        assert_eq!((second.stats.unchanged, n_robots), (6, 1), "--all {all}: {:?}", second.stats);
        // By a clock that goes right nothing is due an hour later, and the rules hold.
        let (third, n_robots) = night(now + 3_600_000);
        assert_eq!((third.stats.unchanged, n_robots), (if all { 6 } else { 0 }, 0), "--all {all}: {:?}", third.stats);
        let history = Store::open(&dir.path().join("n.db")).unwrap().page_history("http://a.test/1").unwrap();
        assert!(history.iter().all(|night| night.status == Some(200)), "{history:?}");
    }
}
