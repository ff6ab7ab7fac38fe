//! A year of nights by a seeded plan: pages that are edited, go, move, fail, are forbidden, come back, hide behind a form
//! to log in or shrink; sites that are down, redesigned, get another host, or say one thing on all pages; and on every
//! page, counters, dates, teasers and shuffled lists. After each night the states must be those of the plan, every edit
//! must be told, and little else; and the database must not grow.
//!
//! `YEAR=365 HOSTS=40 cargo test --release --all-features --test it year:: -- --nocapture` runs the year. Without, it
//! is a month.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use dehusk_crawl::{SeedList, Stop, crawl};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::Store;

use crate::crawl::settings;

/// Pages of a site, the key page included.
const PAGES: usize = 10;

const DAY: i64 = 86_400_000;

/// 1 October 2026.
const BEGIN: i64 = 1_790_812_800_000;

const WORDS: [&str; 24] = [
    "rye", "oats", "spelt", "wheat", "barley", "millet", "maize", "rice", "teff", "sorghum", "fonio", "durum", "river",
    "stone", "garden", "winter", "market", "engine", "letter", "harbour", "window", "copper", "valley", "signal",
];

/// A number that looks random, the same for the same arguments.
fn dice(parts: &[usize]) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for part in parts {
        state = (state ^ *part as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    (state.wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as usize
}

fn words(seed: &[usize], n: usize) -> String {
    let word = |at: usize| WORDS[dice(&[seed, &[at]].concat()) % WORDS.len()];
    (0..n).map(word).collect::<Vec<_>>().join(" ")
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Gone,
    Failed,
    Forbidden,
    Blocked,
    LogIn,
    LogInElsewhere,
    CookieWall,
    NotFoundWithStatus200,
    Challenge,
    Shell,
    Empty,
    NotHtml,
    Shrunk,
}

impl Trouble {
    const ALL: [Trouble; 13] = [
        Trouble::Gone,
        Trouble::Failed,
        Trouble::Forbidden,
        Trouble::Blocked,
        Trouble::LogIn,
        Trouble::LogInElsewhere,
        Trouble::CookieWall,
        Trouble::NotFoundWithStatus200,
        Trouble::Challenge,
        Trouble::Shell,
        Trouble::Empty,
        Trouble::NotHtml,
        Trouble::Shrunk,
    ];
}

/// What is wrong with a site for a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SiteTrouble {
    Down,
    OneText,
}

/// The plan of all nights, from which the server answers and the states follow.
#[derive(Clone, Copy)]
struct Plan;

impl Plan {
    /// A page has trouble for some nights of a month now and then. The key page has none, and the first nights are quiet.
    fn trouble(self, host: usize, page: usize, night: usize) -> Option<Trouble> {
        let is_quiet = night < 4 || self.is_near_move(host, night);
        if page == 0 || is_quiet || self.moved_at(host, page).is_some_and(|at| night >= at) {
            return None;
        }
        let month = night / 30;
        if !dice(&[1, host, page, month]).is_multiple_of(4) {
            return None;
        }
        let kind = Trouble::ALL[dice(&[2, host, page, month]) % Trouble::ALL.len()];
        // While parts are learned, a page with its boxes is not short.
        let is_learning = self.design(host, night) != self.design(host, night.saturating_sub(5));
        if kind == Trouble::Shrunk && is_learning {
            return None;
        }
        let begins = month * 30 + dice(&[3, host, page, month]) % 24;
        // A page that stays short is believed on the second night.
        let lasts = if kind == Trouble::Shrunk { 1 } else { 1 + dice(&[4, host, page, month]) % 5 };
        (begins.max(4)..begins + lasts).contains(&night).then_some(kind)
    }

    /// The night from which on a page has another address.
    fn moved_at(self, host: usize, page: usize) -> Option<usize> {
        (page > 0 && dice(&[5, host, page]).is_multiple_of(8)).then(|| 5 + dice(&[6, host, page]) % 300)
    }

    /// The night from which on the whole site has another host, as every fifth has: `n1.test` instead of `h1.test`.
    fn host_moved_at(self, host: usize) -> Option<usize> {
        host.is_multiple_of(5).then(|| 12 + dice(&[18, host]) % 200)
    }

    /// Nights without other events, so that what the move itself says is seen.
    fn is_near_move(self, host: usize, night: usize) -> bool {
        self.host_moved_at(host).is_some_and(|at| (at..at + 5).contains(&night))
    }

    fn site_trouble(self, host: usize, night: usize) -> Option<SiteTrouble> {
        match dice(&[7, host, night]) % 120 {
            _ if night < 4 || self.is_near_move(host, night) => None,
            0 | 1 => Some(SiteTrouble::Down),
            2 => Some(SiteTrouble::OneText),
            _ => None,
        }
    }

    /// How often a page has been edited.
    fn version(self, host: usize, page: usize, night: usize) -> usize {
        (1..=night).filter(|night| dice(&[8, host, page, *night]).is_multiple_of(40)).count()
    }

    /// How often a site has been redesigned.
    fn design(self, host: usize, night: usize) -> usize {
        night.saturating_sub(dice(&[9, host]) % 100 + 20) / 150
    }

    fn html(self, host: usize, page: usize, night: usize, body: &str) -> String {
        let design = self.design(host, night);
        let menu: String = (0..PAGES).map(|i| format!("<li><a href=/p{i}>Page {i}</a></li>")).collect();
        let mut order: Vec<usize> = (0..5).collect();
        order.sort_by_key(|at| dice(&[10, host, page, night, *at]));
        let shuffled: String = order.iter().map(|at| format!("<li>{}</li>", words(&[11, host, *at], 3))).collect();
        let teasers: String = (0..3).map(|at| format!("<li>{}</li>", words(&[12, host, page, night, at], 4))).collect();
        let (reading, day) = (dice(&[13, host, page, night]) % 900 + 2, night % 28 + 1);
        let chrome = format!(
            "<aside class=\"hot d{design}\"><ul>{teasers}</ul></aside><aside class=\"links d{design}\"><ul>{shuffled}</ul></aside>"
        );
        let nonce = dice(&[14, host, page, night]);
        let head = format!("<!DOCTYPE html><title>Page {page} of {host}</title><script nonce=n{nonce}></script>");
        if design.is_multiple_of(2) {
            format!(
                "{head}<header class=top>The gazette of {host}</header><nav><ul>{menu}</ul></nav><main>{body}\
                 <p class=n>{reading} people are reading</p></main>{chrome}<footer>Today is {day}.10.2026</footer>"
            )
        } else {
            format!(
                "{head}<div id=wrap><div id=bar>Welcome to the new portal of {host}</div><div id=side>{menu}</div>{chrome}\
                 <section class=body>{body}<span class=count>{reading} views</span></section><div id=legal>Terms, cookies, \
                 {day} days</div></div>"
            )
        }
    }

    fn story(self, host: usize, page: usize, night: usize) -> String {
        let version = self.version(host, page, night);
        let paragraphs: String = (0..5).map(|at| format!("<p>{}</p>", words(&[15, host, page, at], 40))).collect();
        let edited = words(&[16, host, page, version], 25);
        format!("<h1>Page {page}</h1>{paragraphs}<p>{edited}</p>")
    }

    fn answer(self, host: usize, is_new_host: bool, path: &str, night: usize) -> Reply {
        let has_moved = self.host_moved_at(host).is_some_and(|at| night >= at);
        match (has_moved, is_new_host) {
            (true, false) => return Reply::redirect(301, &format!("http://n{host}.test{path}")),
            (false, true) => return Reply::status(404),
            _ => {}
        }
        let trouble = self.site_trouble(host, night);
        if path == "/robots.txt" {
            let blocked = (0..PAGES).filter(|page| self.trouble(host, *page, night) == Some(Trouble::Blocked));
            let lines: String = blocked.map(|page| format!("Disallow: /p{page}$\n")).collect();
            return Reply::text(format!("User-agent: *\n{lines}"));
        }
        if trouble == Some(SiteTrouble::Down) {
            return Reply::status(503);
        }
        let (is_new_address, number) = match path.strip_prefix("/p") {
            Some(number) => (false, number),
            None => (true, path.strip_prefix("/m").unwrap_or("none")),
        };
        let Some(page) = number.parse().ok().filter(|page| *page < PAGES) else { return Reply::status(404) };
        let has_moved = self.moved_at(host, page).is_some_and(|at| night >= at);
        if has_moved != is_new_address {
            return if has_moved {
                Reply::status(301).with("location", &format!("/m{page}"))
            } else {
                Reply::status(404)
            };
        }
        if trouble == Some(SiteTrouble::OneText) {
            return Reply::html(self.html(host, page, night, &format!("<p>{}</p>", words(&[17, host], 120))));
        }
        let html = |body: &str| Reply::html(self.html(host, page, night, body));
        match self.trouble(host, page, night) {
            None | Some(Trouble::Blocked) => html(&self.story(host, page, night)),
            Some(Trouble::Gone) => Reply::status(if page.is_multiple_of(2) { 404 } else { 410 }),
            Some(Trouble::Failed) => Reply::status(500),
            Some(Trouble::Forbidden) => Reply::status(403),
            Some(Trouble::LogInElsewhere) => Reply::redirect(302, &format!("/login?next={path}")),
            Some(Trouble::CookieWall) => Reply::redirect(302, path).with("set-cookie", "seen=1"),
            Some(Trouble::Challenge) => Reply::html(
                "<title>Just a moment...</title><noscript>Enable JavaScript and cookies</noscript><script>x()</script>",
            ),
            Some(Trouble::Shell) => Reply::html("<title>App</title><div id=root></div><script src=/a.js></script>"),
            Some(Trouble::Empty) => Reply::html(""),
            Some(Trouble::NotHtml) => Reply::typed("application/pdf", "%PDF-1.4"),
            Some(Trouble::LogIn) => {
                Reply::html("<title>Log in</title><form><input name=u><input type=password></form>")
            }
            Some(Trouble::NotFoundWithStatus200) => {
                Reply::html(format!("<title>Page not found</title>{}", self.html(host, page, night, "<h1>404</h1>")))
            }
            Some(Trouble::Shrunk) => html("<p>soon</p>"),
        }
    }

    /// What is wrong with a page, for a message.
    fn told(self, url: &str, night: usize) -> String {
        let (host, path) = url["http://h".len()..].split_once(".test/").unwrap();
        let (host, page) = (host.parse().unwrap(), path[1..].parse().unwrap());
        format!(" {:?} {:?}", self.trouble(host, page, night), self.site_trouble(host, night))
    }

    /// The addresses that a page has had, the one of now last.
    fn addresses(self, host: usize, page: usize, night: usize) -> Vec<String> {
        let of_host = self.host_moved_at(host).filter(|at| night >= *at);
        let of_page = self.moved_at(host, page).filter(|at| night >= *at);
        let url = |host_name: char, path: char| format!("http://{host_name}{host}.test/{path}{page}");
        let mut addresses = vec![url('h', 'p')];
        match (of_host, of_page) {
            (None, None) => {}
            (Some(_), None) => addresses.push(url('n', 'p')),
            (None, Some(_)) => addresses.push(url('h', 'm')),
            (Some(host), Some(page)) => {
                // On the same night the old host leads to the new one, which leads to the new path.
                addresses.push(if host <= page { url('n', 'p') } else { url('h', 'm') });
                addresses.push(url('n', 'm'));
            }
        }
        addresses
    }

    /// What a night says about a page: its state, where it says anything.
    fn state(self, host: usize, page: usize, night: usize, before: &'static str) -> &'static str {
        let stays = |failed: &'static str| match before {
            "gone" | "blocked" => before,
            _ => failed,
        };
        match (self.site_trouble(host, night), self.trouble(host, page, night)) {
            (_, Some(Trouble::Blocked)) => "blocked",
            (Some(_), _) => stays("failed"),
            (None, None) => "alive",
            (None, Some(Trouble::Gone)) => "gone",
            (None, Some(_)) => stays("failed"),
        }
    }
}

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

struct Year {
    tonight: Arc<AtomicUsize>,
    settings: Settings,
    runtime: tokio::runtime::Runtime,
    hosts: usize,
    _server: Server,
}

impl Year {
    fn new(dir: &std::path::Path, hosts: usize) -> Year {
        let tonight = Arc::new(AtomicUsize::new(0));
        let clock = Arc::clone(&tonight);
        let answer = move |host: &str, path: &str| {
            let number = host.strip_prefix(['h', 'n']).and_then(|host| host.strip_suffix(".test")?.parse().ok());
            let (is_new, night) = (host.starts_with('n'), clock.load(Ordering::Relaxed));
            number.map_or_else(|| Reply::status(404), |host| Plan.answer(host, is_new, path, night))
        };
        let server = Server::start(Arc::new(answer)).unwrap();
        let mut settings = settings(&dir.join("year.db"), &server, &["*.test"]);
        settings.politeness.delay = Duration::ZERO;
        settings.politeness.max_back_off = Duration::from_millis(1);
        settings.politeness.robots_ttl = Duration::ZERO;
        settings.fetch.retries = 0;
        settings.revisit.all = true;
        settings.crawl.pages_per_site = 100;
        settings.store.keep.versions = 3;
        settings.store.keep.nights = 10;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Year { tonight, settings, runtime, hosts, _server: server }
    }

    fn crawl(&self, night: usize) -> dehusk_crawl::Summary {
        self.tonight.store(night, Ordering::Relaxed);
        let seeds: Vec<PageUrl> =
            (0..self.hosts).map(|host| PageUrl::parse(&format!("http://h{host}.test/p0")).unwrap()).collect();
        let (_stop, stopped) = Stop::new();
        let seeds = SeedList::from(seeds).in_new_run().beginning_at(BEGIN + night as i64 * DAY);
        self.runtime.block_on(crawl(seeds, &self.settings, None, stopped, &mut |_| {})).unwrap()
    }

    fn store(&self) -> Store {
        Store::open(std::path::Path::new(&self.settings.store.path)).unwrap()
    }
}

/// What the nights have shown.
#[derive(Default, Debug)]
struct Tally {
    page_nights: usize,
    edits: usize,
    missed: Vec<String>,
    false_alarms: Vec<(usize, String)>,
    wrong_states: Vec<String>,
}

#[test]
fn states_are_those_of_the_plan_on_every_night() {
    let (nights, hosts) = (setting("YEAR", 30), setting("HOSTS", 8));
    let dir = tempfile::tempdir().unwrap();
    let year = Year::new(dir.path(), hosts);
    let mut tally = Tally::default();
    let mut states: BTreeMap<String, &'static str> = BTreeMap::new();
    // The version of each page that was seen last.
    let mut seen: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let (started, mut sizes) = (Instant::now(), Vec::new());
    for night in 1..=nights {
        let summary = year.crawl(night);
        let store = year.store();
        let mut edited = BTreeSet::new();
        // Pages that are seen at a new address for the first time. They are told as moved, whatever they say.
        let mut arrived = BTreeSet::new();
        for (host, page) in (0..hosts).flat_map(|host| (0..PAGES).map(move |page| (host, page))) {
            let mut addresses = Plan.addresses(host, page, night);
            let url = addresses.pop().unwrap_or_default();
            let before = states.get(&url).copied().unwrap_or("alive");
            let state = Plan.state(host, page, night, before);
            if !addresses.is_empty() && state == "alive" && !states.contains_key(&url) {
                arrived.insert(url.clone());
            }
            // A new address is not known before it was fetched.
            if addresses.is_empty() || state == "alive" || states.contains_key(&url) {
                states.insert(url.clone(), state);
            }
            for old in addresses {
                let before = states.get(&old).copied().unwrap_or("alive");
                let has_moved = state == "alive" || before == "moved";
                // On a night on which the site is down nobody learns that the page has moved.
                states.insert(old, if has_moved { "moved" } else { Plan.state(host, page, night, before) });
            }
            tally.page_nights += 1;
            if state == "alive" {
                let version = Plan.version(host, page, night);
                if seen.insert((host, page), version).is_some_and(|last| last != version) {
                    edited.insert(url);
                }
            }
        }
        if night > 1 {
            let run = summary.run;
            let told = store.diff_runs(run - 1, run).unwrap();
            let changed: BTreeSet<String> =
                told.iter().filter(|change| change.change == "changed").map(|change| change.url.clone()).collect();
            tally.edits += edited.len();
            // A page that was away the night before has returned, whatever it says now.
            let returned: BTreeSet<&String> =
                told.iter().filter(|change| change.change == "returned").map(|change| &change.url).collect();
            let is_told = |url: &&String| changed.contains(*url) || returned.contains(url) || arrived.contains(*url);
            tally.missed.extend(edited.iter().filter(|url| !is_told(url)).map(|url| format!("{night} {url}")));
            tally.false_alarms.extend(changed.difference(&edited).map(|url| (night, url.clone())));
        }
        for row in store.list_pages(None).unwrap() {
            let expected = states.get(&row.url).copied();
            if expected != Some(row.state.as_str()) {
                let visit = store.page_history(&row.url).unwrap().pop().and_then(|visit| visit.reason);
                tally.wrong_states.push(format!(
                    "{night} {} is {}, expected {expected:?}: {visit:?}{}",
                    row.url,
                    row.state,
                    Plan.told(&row.url, night)
                ));
            }
        }
        sizes.push(store.used_bytes().unwrap());
    }
    // The nights on which parts are learned are told apart: the first three, and three from a redesign on.
    let is_late = |night: usize, url: &str| {
        let host: usize = url["http://h".len()..].split('.').next().unwrap().parse().unwrap();
        let of_design = (1..=night).filter(|n| Plan.design(host, *n) == Plan.design(host, night));
        of_design.filter(|n| Plan.site_trouble(host, *n).is_none()).count() > 3
    };
    tally.false_alarms.retain(|(night, url)| is_late(*night, url));
    let late = tally.false_alarms.len();
    let rate = 1000.0 * late as f64 / tally.page_nights as f64;
    let mut told = String::new();
    let _ = writeln!(
        told,
        "{nights} nights, {hosts} sites, {} page-nights in {:.0} s: {} wrong states, {} of {} edits missed, {late} false \
         alarms beyond the nights of learning ({rate:.2} in 1,000 page-nights); database {} KB after {} nights, {} KB at the end",
        tally.page_nights,
        started.elapsed().as_secs_f64(),
        tally.wrong_states.len(),
        tally.missed.len(),
        tally.edits,
        sizes[sizes.len() / 2] / 1000,
        sizes.len() / 2 + 1,
        sizes[sizes.len() - 1] / 1000,
    );
    eprintln!("{told}");
    for line in tally.wrong_states.iter().chain(&tally.missed).take(40) {
        eprintln!("{line}");
    }
    for (night, url) in tally.false_alarms.iter().take(40) {
        eprintln!("false alarm {night} {url}");
    }
    assert!(tally.wrong_states.is_empty() && tally.missed.is_empty(), "{told}");
    assert!(rate < 1.0, "{told}");
    // Three versions of a page and the log of ten nights are kept.
    assert!(sizes[sizes.len() - 1] < 2 * sizes[sizes.len() / 2], "{told}");
}
