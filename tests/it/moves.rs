//! Pages, hosts and schemes that move: the new address goes on where the old one ended, is requested with what is known
//! of it, and nothing is asked for twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dehusk::demo::server::{Asked, Reply, Server};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::{SeedRow, Store};

use crate::crawl::{nightly_settings, run};

/// Pages of a site, the key page included.
const PAGES: usize = 10;

fn page(n: usize) -> String {
    let menu: String = (0..PAGES).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    format!(
        "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n}</p></main>\
         <footer>the end</footer>"
    )
}

/// A site of ten pages, each with a validator. The key page is `/0`.
fn site(path: &str) -> Reply {
    let n: Option<usize> = path.trim_start_matches('/').parse().ok().filter(|n| *n < PAGES);
    n.map_or_else(|| Reply::status(404), |n| Reply::html(page(n)).with("etag", &format!("\"{n}\"")))
}

/// A request: host and path, whether it was conditional, and the status of the answer.
type Sent = (String, bool, u16);

struct Nights {
    _server: Server,
    tonight: Arc<AtomicUsize>,
    sent: Arc<Mutex<Vec<Sent>>>,
    settings: Settings,
    _dir: tempfile::TempDir,
}

impl Nights {
    fn new(answer: impl Fn(usize, &str, &str) -> Reply + Send + Sync + 'static) -> Nights {
        let (tonight, sent) = (Arc::new(AtomicUsize::new(1)), Arc::new(Mutex::new(Vec::new())));
        let (clock, log) = (Arc::clone(&tonight), Arc::clone(&sent));
        let answer = move |asked: &Asked| {
            let host = asked.header("host");
            let host = host.split(':').next().unwrap_or_default();
            let reply = answer(clock.load(Ordering::Relaxed), host, &asked.path);
            let condition = asked.header("if-none-match");
            let is_same = reply.status == 200
                && !condition.is_empty()
                && reply.headers.iter().any(|(_, value)| *value == condition);
            let reply = if is_same { Reply::status(304) } else { reply };
            if asked.path != "/robots.txt" {
                log.lock().unwrap().push((format!("{host}{}", asked.path), !condition.is_empty(), reply.status));
            }
            reply
        };
        let server = Server::start_asked(Arc::new(answer)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let settings = nightly_settings(&dir.path().join("n.db"), &server);
        Nights { _server: server, tonight, sent, settings, _dir: dir }
    }

    /// Crawls from these seeds. Returns the figures of the run and the requests that were sent.
    fn crawl(&self, night: usize, seeds: &[&str]) -> (dehusk_crawl::Summary, Vec<Sent>) {
        self.tonight.store(night, Ordering::Relaxed);
        let seeds = seeds.iter().map(|seed| PageUrl::parse(seed).unwrap()).collect();
        let summary = run(seeds, &self.settings).0;
        (summary, std::mem::take(&mut *self.sent.lock().unwrap()))
    }

    fn store(&self) -> Store {
        Store::open(Path::new(&self.settings.store.path)).unwrap()
    }

    /// How many pages have each change between two runs.
    fn diff(&self, from: i64, to: i64) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for change in self.store().diff_runs(from, to).unwrap() {
            *counts.entry(change.change).or_default() += 1;
        }
        counts
    }

    /// Addresses of the pages that are there.
    fn alive(&self) -> BTreeSet<String> {
        let pages = self.store().list_pages(None).unwrap();
        pages.into_iter().filter(|page| page.state == "alive").map(|page| page.url).collect()
    }

    fn seeds(&self, run: i64) -> BTreeMap<String, SeedRow> {
        let mut rows = BTreeMap::new();
        let each = |row: SeedRow| rows.insert(row.url.clone(), row).is_none();
        self.store().seeds_of_run(run, each).unwrap();
        rows
    }
}

fn counts(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(change, n)| ((*change).to_owned(), *n)).collect()
}

fn all_pages(origin: &str) -> BTreeSet<String> {
    (0..PAGES).map(|n| format!("{origin}/{n}")).collect()
}

/// Requests that were answered with a page, and those that were answered with 304.
fn bodies(sent: &[Sent]) -> (usize, usize) {
    let of = |status: u16| sent.iter().filter(|(_, _, answered)| *answered == status).count();
    (of(200), of(304))
}

/// Whichever of the two addresses is asked for first, the page is sent once, and not at all on later nights.
#[test]
fn a_page_that_has_moved_is_requested_with_what_is_known_of_its_new_address() {
    for status in [301, 302, 308] {
        let nights = Nights::new(move |night, _, path| match (night, path) {
            (2.., "/3" | "/7") => Reply::redirect(status, &format!("{path}0")),
            (2.., "/30") => site("/3"),
            (2.., "/70") => site("/7"),
            _ => site(path),
        });
        let seeds = ["http://a.test/0"];
        nights.crawl(1, &seeds);
        let (second, _) = nights.crawl(2, &seeds);
        assert_eq!((second.stats.new, second.stats.pages_moved), (0, 2), "{status}: {:?}", second.stats);
        assert_eq!(nights.diff(1, 2), counts(&[("moved", 2)]), "{status}");
        let mut there = all_pages("http://a.test");
        for (old, new) in [("/3", "/30"), ("/7", "/70")] {
            there.remove(&format!("http://a.test{old}"));
            there.insert(format!("http://a.test{new}"));
        }
        assert_eq!(nights.alive(), there, "{status}");
        let (third, sent) = nights.crawl(3, &seeds);
        assert_eq!(bodies(&sent), (0, PAGES), "{status}: {sent:?}");
        assert_eq!((third.stats.unchanged, third.stats.away()), (PAGES, 0), "{status}: {:?}", third.stats);
        assert_eq!(nights.diff(2, 3), counts(&[]), "{status}");
        let history = nights.store().page_history("http://a.test/30").unwrap();
        assert!(history.iter().any(|visit| visit.status == Some(status)), "{status}: {history:?}");
        assert!(history.len() >= 3, "the nights before the move are part of its history: {history:?}");
    }
}

/// A host that has moved as a whole, with and without another name.
#[test]
fn a_host_that_has_moved_is_asked_for_no_longer_and_its_pages_are_no_new_ones() {
    for new in ["www.a.test", "b.test"] {
        let nights = Nights::new(move |night, host, path| match (night, host) {
            (2.., "a.test") => Reply::redirect(301, &format!("http://{new}{path}")),
            (_, "a.test") => site(path),
            (2.., _) if host == new => site(path),
            _ => Reply::status(404),
        });
        let seeds = ["http://a.test/0"];
        nights.crawl(1, &seeds);
        let (second, _) = nights.crawl(2, &seeds);
        assert_eq!((second.stats.new, second.stats.pages_moved), (0, PAGES), "{new}: {:?}", second.stats);
        assert_eq!(nights.diff(1, 2), counts(&[("moved", PAGES)]), "{new}");
        assert_eq!(nights.alive(), all_pages(&format!("http://{new}")));
        let (third, sent) = nights.crawl(3, &seeds);
        assert_eq!(bodies(&sent), (0, PAGES), "{new}: {sent:?}");
        assert_eq!(nights.diff(2, 3), counts(&[]), "{new}: {:?}", third.stats);
        assert_eq!(sent[0].0, format!("{new}/0"), "{sent:?}");
        // Former addresses of the site itself are asked for with `--all` only.
        let n_redirects = sent.iter().filter(|(_, _, status)| *status == 301).count();
        assert_eq!(n_redirects, if new == "b.test" { 0 } else { PAGES }, "{new}: {sent:?}");
        let row = &nights.seeds(3)["http://a.test/0"];
        assert_ne!(row.outcome, "waiting", "{row:?}");
        // The seed is still there, and so is the page that it stands for.
        assert_eq!((third.stats.kept, third.stats.ended_before), (1, 0), "{new}: {:?}", third.stats);
    }
}

/// A host that leads to one with a seed of its own is asked on each night. When it comes back, it is there again.
#[test]
fn a_host_that_leads_to_another_seed_is_asked_again_each_night() {
    let seeds = [["http://a.test/0", "http://b.test/0"], ["http://b.test/0", "http://a.test/0"]];
    for seeds in &seeds {
        let nights = Nights::new(|night, host, path| match (night, host) {
            (2..=3, "a.test") => Reply::redirect(301, &format!("http://b.test{path}")),
            _ => site(path),
        });
        nights.crawl(1, seeds);
        for night in 2..=3 {
            let (summary, sent) = nights.crawl(night, seeds);
            let n_asked = |url: &str| sent.iter().filter(|(asked, _, _)| asked == url).count();
            assert_eq!((n_asked("a.test/0"), n_asked("b.test/0")), (1, 1), "{night}: {sent:?}");
            let rows = nights.seeds(summary.run);
            assert_eq!(rows.len(), 2, "{rows:?}");
            let led = rows["http://a.test/0"].leads_to.as_deref();
            assert_eq!(led, Some("http://b.test/0"), "{night}: {rows:?}");
        }
        assert_eq!(nights.diff(1, 2), counts(&[("moved", PAGES)]));
        assert_eq!(nights.diff(2, 3), counts(&[]));
        nights.crawl(4, seeds);
        assert_eq!(nights.diff(3, 4), counts(&[("returned", PAGES)]), "{seeds:?}");
        assert_eq!(nights.alive().len(), 2 * PAGES);
    }
}

/// A site whose seed fails: its pages that are known are visited, with a template and without.
#[test]
fn a_seed_that_fails_does_not_end_the_night_of_a_known_site() {
    for has_template in [true, false] {
        let nights = Nights::new(move |night, _, path| match (night, path) {
            (2, "/0") => Reply::status(500),
            // Copies of the key page are no training pages.
            _ if !has_template && site(path).status == 200 => site("/0"),
            _ => site(path),
        });
        let seeds = ["http://a.test/0"];
        let (first, _) = nights.crawl(1, &seeds);
        assert_eq!((first.stats.learned == 1, first.stats.pages), (has_template, PAGES), "{:?}", first.stats);
        let (second, sent) = nights.crawl(2, &seeds);
        assert_eq!(sent.len(), PAGES, "{has_template}: {sent:?}");
        assert_eq!(second.stats.pages_failed, 1, "{:?}", second.stats);
        assert_eq!(nights.diff(1, 2), counts(&[("failed", 1)]), "{has_template}");
        nights.crawl(3, &seeds);
        assert_eq!(nights.diff(2, 3), counts(&[("returned", 1)]), "{has_template}");
    }
}

/// A host that moves, and moves again: its pages are known by each of its addresses, and asked for at the last.
#[test]
fn a_host_that_moves_twice_is_the_one_that_it_was() {
    let nights = Nights::new(|night, host, path| match (night, host) {
        (2.., "a.test") => Reply::redirect(301, &format!("http://b.test{path}")),
        (3.., "b.test") => Reply::redirect(301, &format!("http://c.test{path}")),
        _ => site(path),
    });
    let seeds = ["http://a.test/0"];
    nights.crawl(1, &seeds);
    for (night, origin) in [(2, "http://b.test"), (3, "http://c.test")] {
        let (summary, _) = nights.crawl(night, &seeds);
        assert_eq!((summary.stats.new, summary.stats.pages_moved), (0, PAGES), "{night}: {:?}", summary.stats);
        assert_eq!(nights.alive(), all_pages(origin), "{night}");
    }
    for night in 4..=5 {
        let (summary, sent) = nights.crawl(night, &seeds);
        assert_eq!((bodies(&sent), summary.stats.unchanged), ((0, PAGES), PAGES), "{night}: {sent:?}");
        assert_eq!(nights.diff(night as i64 - 1, night as i64), counts(&[]), "{night}");
        assert_eq!(nights.alive(), all_pages("http://c.test"), "{night}");
    }
}

/// A moved host that is out of reach on a night is looked for from its seed on the next one, and is the same site.
#[test]
fn a_moved_host_that_was_out_of_reach_keeps_its_pages() {
    for trouble in ["blocked", "failing"] {
        let nights = Nights::new(move |night, host, path| match (night, host, path) {
            (2.., "a.test", _) => Reply::redirect(301, &format!("http://b.test{path}")),
            (3, "b.test", "/robots.txt") if trouble == "blocked" => Reply::text("User-agent: *\nDisallow: /\n"),
            (3, "b.test", "/robots.txt") => Reply::status(404),
            (3, "b.test", _) => Reply::status(500),
            _ => site(path),
        });
        let seeds = ["http://a.test/0"];
        (1..=3).for_each(|night| drop(nights.crawl(night, &seeds)));
        for night in 4..=5 {
            let (summary, sent) = nights.crawl(night, &seeds);
            let n_requests = sent.iter().filter(|(url, _, _)| url == "b.test/3").count();
            assert_eq!(n_requests, 1, "{trouble}, {night}: {sent:?}");
            assert_eq!(
                (summary.stats.new, summary.stats.pages_moved),
                (0, 0),
                "{trouble}, {night}: {:?}",
                summary.stats
            );
            assert_eq!(nights.alive(), all_pages("http://b.test"), "{trouble}, {night}");
        }
        assert_eq!(nights.diff(2, 4), counts(&[]), "{trouble}");
        assert_eq!(nights.diff(4, 5), counts(&[]), "{trouble}");
        let rows = nights.store().list_pages(None).unwrap();
        let cleaned = rows.iter().filter(|row| row.state == "alive" && row.method.is_some()).count();
        assert_eq!(cleaned, PAGES, "{trouble}: every page has a text");
    }
}

/// A seed whose host led to another host, which then led to a third one that has a seed.
#[test]
fn a_seed_that_works_again_is_asked_wherever_its_host_had_led() {
    let nights = Nights::new(|night, host, path| match (night, host) {
        (2 | 3, "a.test") => Reply::redirect(308, &format!("http://b.test{path}")),
        (3.., "b.test") => Reply::redirect(301, &format!("http://c.test{path}")),
        _ => site(path),
    });
    let seeds = ["http://a.test/0", "http://c.test/0"];
    (1..=3).for_each(|night| drop(nights.crawl(night, &seeds)));
    nights.crawl(4, &seeds);
    let there: BTreeSet<String> = all_pages("http://a.test").union(&all_pages("http://c.test")).cloned().collect();
    assert_eq!(nights.alive(), there);
}

/// A host that has moved into a folder of another one.
#[test]
fn pages_of_a_host_that_is_a_folder_now_are_known_there() {
    let nights = Nights::new(|night, host, path| match (night, host) {
        (2.., "a.test") => Reply::redirect(301, &format!("http://b.test/old{path}")),
        (_, "b.test") => match path.strip_prefix("/old") {
            Some(path) => {
                let reply = site(path);
                let html = String::from_utf8(reply.body.to_vec()).unwrap().replace("href=/", "href=/old/");
                if reply.status == 200 { Reply::html(html) } else { reply }
            }
            None => Reply::status(404),
        },
        _ => site(path),
    });
    let seeds = ["http://a.test/0"];
    nights.crawl(1, &seeds);
    let (second, _) = nights.crawl(2, &seeds);
    assert_eq!((second.stats.new, second.stats.pages_moved), (0, PAGES), "{:?}", second.stats);
    assert_eq!(nights.diff(1, 2), counts(&[("moved", PAGES)]));
    assert_eq!(nights.alive(), all_pages("http://b.test/old"));
}
