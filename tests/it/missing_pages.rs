//! A site that answers 200 for every address, without a word that says so: what it gives for an address that it does
//! not have is asked once, and pages that say the same are gone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::Store;

use crate::crawl::{run, settings};

fn framed(text: &str) -> Reply {
    let menu: String = (0..12).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    Reply::html(format!(
        "<title>Grain</title><nav><ul>{menu}</ul></nav><main><p>{text}</p></main><footer>Some rights of Grain</footer>"
    ))
}

struct Site {
    server: Server,
    night: Arc<AtomicUsize>,
    settings: Settings,
    _dir: tempfile::TempDir,
}

impl Site {
    /// From the second night on, page 11 is what the site gives for any other address.
    fn new(missing: fn(&str) -> Reply) -> Site {
        let night = Arc::new(AtomicUsize::new(1));
        let tonight = Arc::clone(&night);
        let answer = move |_: &str, path: &str| match path.trim_start_matches('/').parse::<usize>() {
            _ if path == "/robots.txt" => Reply::status(404),
            Ok(n) if n < 11 || (n == 11 && tonight.load(Ordering::Relaxed) == 1) => {
                framed(&format!("Page {n} tells of rye, of oats and of {n} sorts of corn."))
            }
            _ => missing(path),
        };
        let server = Server::start(Arc::new(answer)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
        settings.politeness.delay = Duration::from_millis(1);
        settings.revisit.all = true;
        settings.crawl.pages_per_site = 50;
        Site { server, night, settings, _dir: dir }
    }

    fn crawl(&self, night: usize) -> dehusk_crawl::Summary {
        self.night.store(night, Ordering::Relaxed);
        run(vec![PageUrl::parse("http://a.test/0").unwrap()], &self.settings).0
    }

    /// Requests for addresses that the site does not have.
    fn probes(&self) -> usize {
        let is_probe = |path: &str| path != "/robots.txt" && path.trim_start_matches('/').parse::<usize>().is_err();
        self.server.arrivals().iter().filter(|arrival| is_probe(&arrival.path)).count()
    }

    /// The reason of each visit to page 11, and its stored text.
    fn last_page(&self) -> (Vec<String>, String) {
        let (url, store) = ("http://a.test/11", Store::open(Path::new(&self.settings.store.path)).unwrap());
        let history = store.page_history(url).unwrap();
        let row = store.find_page(url).unwrap().unwrap();
        let text = store.load_cleaned(&row).unwrap().unwrap();
        (history.into_iter().map(|visit| visit.reason.unwrap_or_default()).collect(), text)
    }
}

#[test]
fn a_page_that_became_the_answer_for_every_address_is_a_soft_404() {
    let site = Site::new(|path| framed(&format!("We have nothing at {path}, so have a look at the menu instead.")));
    let first = site.crawl(1);
    assert_eq!((first.stats.failed, site.probes()), (0, 1));
    let second = site.crawl(2).stats;
    assert_eq!((second.pages_failed, second.changed), (1, 0), "{second:?}");
    let third = site.crawl(3).stats;
    assert_eq!((third.pages_failed, third.changed, third.unchanged), (0, 0, 11), "{third:?}");
    assert_eq!(site.probes(), 1, "it is asked once for a template");
    let (reasons, text) = site.last_page();
    assert!(reasons[1..].iter().all(|reason| reason.contains("an address that it does not have")), "{reasons:?}");
    assert!(text.contains("Page 11 tells"), "{text}");
}

#[test]
fn a_site_that_says_404_is_asked_once_and_no_page_is_held() {
    let site = Site::new(|_| Reply::status(404));
    let nights: Vec<_> = (1..=3).map(|night| site.crawl(night)).collect();
    assert_eq!((site.probes(), nights[0].stats.errors), (1, 0), "{:?}", nights[0].stats);
    assert!(site.last_page().0[1].contains("404"));
}

/// An error may pass: it says nothing about the site, and the next night asks again.
#[test]
fn an_error_at_the_address_is_no_answer() {
    let mut site = Site::new(|_| Reply::status(503));
    site.settings.fetch.retries = 0;
    site.settings.revisit.all = false;
    site.settings.revisit.first = Duration::ZERO;
    site.settings.revisit.least = Duration::ZERO;
    site.crawl(1);
    assert_eq!(site.probes(), 1);
    site.crawl(1);
    assert_eq!(site.probes(), 2);
    assert!(site.last_page().1.contains("Page 11 tells"));
}

#[test]
fn no_probe_is_sent_where_it_is_not_wanted() {
    let mut site = Site::new(|_| Reply::status(404));
    site.settings.crawl.probe = false;
    site.crawl(1);
    assert_eq!(site.probes(), 0);
}
