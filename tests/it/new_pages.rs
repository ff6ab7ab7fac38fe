//! A site that has more pages than a night may fetch: each night some new ones are found, however many known ones are
//! due.

use std::sync::Arc;
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;

use crate::crawl::{run, settings};

/// A hundred pages, each with links to the next ten.
fn answer(path: &str) -> Reply {
    match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n < 100 => {
            let menu: String = (1..=10).map(|i| format!("<li><a href=/{}>page {i}</a>", (n + i) % 100)).collect();
            Reply::html(format!(
                "<nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n}</p></main>"
            ))
        }
        _ => Reply::status(404),
    }
}

#[test]
fn known_pages_leave_room_for_new_ones() {
    let server = Server::start(Arc::new(|_: &str, path: &str| answer(path))).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(1);
    settings.crawl.probe = false;
    settings.crawl.pages_per_site = 20;
    settings.revisit.all = true;
    let night = || run(vec![PageUrl::parse("http://a.test/0").unwrap()], &settings).0.stats;
    let counts: Vec<(usize, usize)> = (0..4).map(|_| night()).map(|stats| (stats.new, stats.unchanged)).collect();
    assert_eq!(counts[0], (20, 0));
    for (night, (new, unchanged)) in counts.iter().enumerate().skip(1) {
        let known: usize = counts[..night].iter().map(|(new, _)| new).sum();
        assert_eq!(*unchanged, known, "night {night}: every known page is visited: {counts:?}");
        assert!((3..=6).contains(new), "night {night}: {counts:?}");
    }
}
