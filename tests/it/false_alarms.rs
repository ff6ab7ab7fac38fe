//! What differs on every night is no change: counters, dates, teasers. What is no page replaces none: a text that all
//! pages have, a page of which next to nothing is left.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::Store;

use crate::crawl::{run, settings};

const PAGES: usize = 10;

/// A site, a night at a time.
struct Nights {
    tonight: Arc<AtomicUsize>,
    settings: Settings,
    dir: tempfile::TempDir,
    _server: Server,
}

impl Nights {
    fn new(page: impl Fn(usize, usize) -> String + Send + Sync + 'static) -> Nights {
        let tonight = Arc::new(AtomicUsize::new(0));
        let clock = Arc::clone(&tonight);
        let answer = move |_: &str, path: &str| match path[1..].parse() {
            Ok(n) if n < PAGES => Reply::html(page(clock.load(Ordering::Relaxed), n)),
            _ => Reply::status(404),
        };
        let server = Server::start(Arc::new(answer)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
        settings.politeness.delay = Duration::from_millis(2);
        settings.fetch.retries = 0;
        settings.revisit.all = true;
        settings.crawl.pages_per_site = 50;
        Nights { tonight, settings, dir, _server: server }
    }

    /// Pages that changed on the next night.
    fn next(&self) -> usize {
        self.tonight.fetch_add(1, Ordering::Relaxed);
        run(vec![PageUrl::parse("http://a.test/0").unwrap()], &self.settings).0.stats.changed
    }

    fn store(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    fn path(&self) -> std::path::PathBuf {
        Path::new(self.dir.path()).join("n.db")
    }
}

const WORDS: [&str; 12] =
    ["rye", "oats", "spelt", "wheat", "barley", "millet", "maize", "rice", "teff", "sorghum", "fonio", "durum"];

fn story(n: usize) -> String {
    (0..60).map(|at| WORDS[(n * 7 + at * (n + 3)) % 12]).collect::<Vec<_>>().join(" ")
}

/// A page whose counter, clock and teasers differ on each night.
fn page(night: usize, n: usize, story: &str) -> String {
    let menu: String = (0..PAGES).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    let teasers: String = (0..4)
        .map(|i| format!("<li>{} and {}</li>", WORDS[(night * 5 + i) % 12], WORDS[(night * 7 + n + i) % 12]))
        .collect();
    format!(
        "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><h1>Page {n}</h1><p>{} people are reading this</p>\
         <p>{story}</p><p>The last paragraph of page {n}.</p></main>\
         <aside class=hot><ul>{teasers}</ul></aside><footer>Served on {} November</footer>",
        night * 13 % 97 + n,
        night + 1,
    )
}

#[test]
fn parts_that_change_every_night_are_learned_in_three() {
    let nights = Nights::new(|night, n| {
        let is_edited = night == 6 && n == 4;
        page(night, n, &if is_edited { story(n) + " and a word that is new" } else { story(n) })
    });
    let changed: Vec<usize> = (0..7).map(|_| nights.next()).collect();
    assert_eq!(changed[0], 0, "all pages are new");
    assert_eq!(changed[1..3], [PAGES, PAGES], "nothing is known of its parts yet");
    assert_eq!(changed[3..], [0, 0, 1, 1], "the page that is edited, and edited back: {changed:?}");
}

#[test]
fn what_always_changes_on_few_pages_is_learned_a_night_later_and_edits_of_them_are_not() {
    // Whether the body of every page differs on every night. If not, the four pages may be written anew each night.
    for (is_restless, expected) in [(true, [0, 7, 7, 4, 0, 0, 3, 0]), (false, [0, 7, 7, 4, 4, 4, 7, 0])] {
        let changed = nights_of_few(is_restless);
        assert_eq!(changed, expected, "{is_restless}");
    }
}

/// A counter on four of ten pages; on three others a price that is edited on two nights. The last night is the one
/// before once more.
fn nights_of_few(is_restless: bool) -> Vec<usize> {
    let nights = Nights::new(move |night, n| {
        let more = match n {
            0..4 => format!("<p class=views>{} views</p>", night * 31 + n),
            4..7 => format!("<p class=price>{} euros</p>", [7, 7, 8, 9, 9, 9, 9, 7][night.min(7)]),
            _ => String::new(),
        };
        let menu: String = (0..PAGES).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
        let nonce = if is_restless { format!("<script nonce=n{}></script>", night * 31 + n) } else { String::new() };
        format!(
            "<title>t{n}</title>{nonce}<nav><ul>{menu}</ul></nav><main><h1>Page {n}</h1><p>{}</p>{more}</main>",
            story(n)
        )
    });
    (0..8).map(|_| nights.next()).collect()
}

#[test]
fn ignored_texts_are_no_change() {
    let mut nights = Nights::new(|night, n| page(night, n, &story(n)));
    nights.settings.crawl.learn_changing = false;
    nights.settings.crawl.ignore_changes =
        vec!["people are reading".to_owned(), "^Served on".to_owned(), "^[a-z]+ and [a-z]+$".to_owned()];
    assert_eq!((0..3).map(|_| nights.next()).collect::<Vec<_>>(), [0, 0, 0]);
}

#[test]
fn one_text_on_all_pages_and_next_to_nothing_are_no_pages() {
    let plain = |n: usize, text: &str| {
        let menu: String = (0..PAGES).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
        format!("<title>t</title><nav><ul>{menu}</ul></nav><main><p>{text}</p></main><footer>The end of {n}</footer>")
    };
    let nights = Nights::new(move |night, n| match (night, n) {
        (2, _) => plain(0, &format!("We are moving house, and are back soon. {}", story(40))),
        (4 | 5, 7) => plain(n, "See you."),
        _ => plain(n, &format!("{} {}", story(n), story(n + 20))),
    });
    let last_visit = |n: usize| {
        let visit = nights.store().page_history(&format!("http://a.test/{n}")).unwrap().pop().unwrap();
        (visit.outcome, visit.reason.unwrap_or_default())
    };
    assert_eq!((nights.next(), nights.next()), (0, 0));
    let (outcome, reason) = last_visit(3);
    assert!(outcome == "failed" && reason.contains("the same text as other pages"), "{outcome} {reason}");
    assert_eq!(nights.next(), 0, "as if nothing had been");
    assert_eq!(nights.next(), 0, "a page with two words is not believed");
    let (outcome, reason) = last_visit(7);
    assert!(outcome == "failed" && reason.contains(" letters of its own, where it had "), "{outcome} {reason}");
    assert_eq!(nights.next(), 1, "the second time it is");
}
