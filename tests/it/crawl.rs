//! The whole path over loopback: seeds -> robots -> key pages -> templates -> cleaned pages in SQLite.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Answer, Arrival, Reply, Server};
use dehusk::demo::{DemoSite, answers, check_site, sites};
use dehusk_crawl::{Progress, SiteSummary, Stop, Summary, crawl};
use dehusk_files::folder::{Folder, url_of};
use dehusk_html::PageUrl;
use dehusk_settings::PolitenessScope;
use dehusk_settings::Settings;
use dehusk_store::Store;
use dehusk_template::learn_options::LabelBy;
use dehusk_template::method::Method;

use crate::corpus;

/// Settings for loopback: every name of `resolve` is the server.
pub(crate) fn settings(db: &Path, server: &Server, names: &[&str]) -> Settings {
    let mut settings = Settings::default();
    settings.store.path = db.display().to_string();
    settings.fetch.allow_private = true;
    settings.fetch.resolve = names.iter().map(|name| format!("{name}=127.0.0.1:{}", server.port())).collect();
    settings.politeness.delay = Duration::from_millis(200);
    settings.politeness.key = PolitenessScope::Host;
    settings
}

/// Settings for nights that visit every page of a small site each time, and try nothing twice.
pub(crate) fn nightly_settings(db: &Path, server: &Server) -> Settings {
    let mut settings = settings(db, server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(2);
    settings.politeness.robots_ttl = Duration::ZERO;
    settings.fetch.retries = 0;
    settings.crawl.probe = false;
    settings.crawl.pages_per_site = 50;
    settings.revisit.all = true;
    settings
}

/// Runs a crawl in a runtime of its own.
pub(crate) fn run(seeds: Vec<PageUrl>, settings: &Settings) -> (Summary, BTreeMap<String, SiteSummary>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (_stop, stopped) = Stop::new();
    let mut ended = BTreeMap::new();
    let mut watch = |progress: Progress<'_>| {
        if let Progress::Site(site, _) = progress {
            ended.insert(site.host.clone(), site.clone());
        }
    };
    let summary = runtime.block_on(crawl(seeds, settings, None, stopped, &mut watch)).unwrap();
    (summary, ended)
}

/// Gaps between arrivals on each host, in arrival order.
pub(crate) fn gaps(arrivals: &[Arrival]) -> BTreeMap<String, Vec<Duration>> {
    let mut by_host: BTreeMap<String, Vec<Instant>> = BTreeMap::new();
    for arrival in arrivals {
        by_host.entry(arrival.host.clone()).or_default().push(arrival.at);
    }
    by_host.into_iter().map(|(host, at)| (host, at.windows(2).map(|w| w[1] - w[0]).collect())).collect()
}

#[test]
fn the_demo_is_learned_and_stored() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("d.db");
    let demo = Arc::new(sites());
    let server = Server::start(answers(Arc::clone(&demo))).unwrap();
    let mut settings = settings(&db, &server, &["*.demo.test"]);
    settings.politeness.delay = Duration::from_millis(50);
    let seeds = demo.iter().map(|s| s.seed().unwrap()).collect();
    let (summary, ended) = run(seeds, &settings);
    assert_eq!((summary.stats.learned, summary.stats.failed), (10, 0), "{ended:#?}");
    let store = Store::open(&db).unwrap();
    for site in demo.iter() {
        let template = store.load_template(&site.host(), None).unwrap().unwrap();
        let check = check_site(site, &template);
        assert!(check.key.f1 > 0.93, "{}: {check:?}", site.name);
        assert!(check.nodes.f1 > 0.95, "{}: {check:?}", site.name);
        assert!(check.words_kept > 0.99, "{}: {check:?}", site.name);
        let pages = store.list_pages(Some(&site.host())).unwrap();
        assert_eq!(pages.len(), ended[&site.host()].pages);
        for page in pages {
            assert!(store.load_cleaned(&page).unwrap().is_some_and(|html| html.contains("<body")), "{}", page.url);
            assert!(!store.load_raw(&page).unwrap().is_empty());
        }
    }
    let fenced: Vec<String> =
        server.arrivals().into_iter().filter(|a| a.host.starts_with("fenced")).map(|a| a.path).collect();
    assert_eq!(fenced.first().map(String::as_str), Some("/robots.txt"));
    assert!(!fenced.iter().any(|p| ["/0", "/2", "/4", "/6", "/8"].contains(&p.as_str())), "{fenced:?}");
    assert!(server.arrivals().iter().all(|a| a.user_agent.starts_with("dehusk/") && a.user_agent.contains("+http")));
}

/// A site of two layouts has two kinds of pages, each with what it shows of its template.
#[test]
fn the_kinds_of_a_site_are_listed_run_by_run() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("k.db");
    let demo = Arc::new(sites());
    let server = Server::start(answers(Arc::clone(&demo))).unwrap();
    let mut settings = settings(&db, &server, &["*.demo.test"]);
    settings.politeness.delay = Duration::from_millis(5);
    settings.revisit.all = true;
    settings.store.keep.versions = 0;
    let seed = demo.iter().find(|site| site.name == "twofold").unwrap().seed().unwrap();
    for _ in 0..2 {
        let (summary, ended) = run(vec![seed.clone()], &settings);
        assert_eq!(summary.stats.failed, 0, "{ended:#?}");
    }
    let kinds = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(["templates", "kinds", "twofold.demo.test", "--runs", "--json", "--config", "/dev/null", "--db"])
        .arg(&db)
        .output()
        .unwrap();
    let kinds: serde_json::Value = serde_json::from_slice(&kinds.stdout).unwrap();
    let listed = kinds["kinds"].as_array().unwrap();
    let known: Vec<&serde_json::Value> = listed.iter().filter(|kind| !kind["kind"].is_null()).collect();
    assert_eq!(known.len(), 2, "{kinds}");
    for kind in known {
        assert!(kind["coverage"].as_f64().unwrap() > 0.8, "{kind}");
        assert!(!kind["runs"].as_array().unwrap().is_empty(), "{kind}");
    }
    // Each page is stored with its kind: the shop's pages are of one, the blog's of the other.
    let rows = rusqlite::Connection::open(&db).unwrap();
    let sql = "SELECT DISTINCT p.url LIKE '%/shop/%', k.kind FROM pages p LEFT JOIN page_kinds k ON k.id = p.id
        WHERE p.method = 'site_model' AND p.template_id = (SELECT max(id) FROM templates) ORDER BY 1";
    let mut statement = rows.prepare(sql).unwrap();
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let found: Vec<(bool, Option<i64>)> = found.collect::<Result<_, _>>().unwrap();
    let kinds: BTreeSet<Option<i64>> = found.iter().map(|(_, kind)| *kind).collect();
    assert_eq!((found.len(), kinds), (2, BTreeSet::from([Some(1), Some(2)])), "{found:?}");
    let list = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"))
        .args(["pages", "list", "twofold.demo.test", "--json", "--config", "/dev/null", "--db"])
        .arg(&db)
        .output()
        .unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let pages = list["pages"].as_array().unwrap();
    let n_known = pages.iter().filter(|page| page["kind"].is_i64() && page["template_version"].is_i64()).count();
    assert!(n_known > 8 && n_known * 10 >= pages.len() * 9, "{list}");
}

/// Gottron's method in a crawl: all linked pages are candidates, those of the key page's layout are the training set.
#[test]
fn a_crawl_labels_by_document_frequency() {
    let dir = tempfile::tempdir().unwrap();
    let is_wanted = |site: &DemoSite| ["menus", "twofold"].contains(&site.name);
    let demo: Arc<Vec<DemoSite>> = Arc::new(sites().into_iter().filter(is_wanted).collect());
    let server = Server::start(answers(Arc::clone(&demo))).unwrap();
    let mut settings = settings(&dir.path().join("d.db"), &server, &["*.demo.test"]);
    settings.politeness.delay = Duration::from_millis(1);
    settings.core.learn.label_by = LabelBy::Gottron;
    settings.crawl.pages_per_site = 30;
    let (summary, ended) = run(demo.iter().map(|site| site.seed().unwrap()).collect(), &settings);
    assert_eq!((summary.stats.learned, summary.stats.failed), (2, 0), "{ended:#?}");
    let store = Store::open(Path::new(&settings.store.path)).unwrap();
    for site in demo.iter() {
        let template = store.load_template(&site.host(), None).unwrap().unwrap();
        assert_eq!((template.method, template.subdigraph.is_none()), (Method::Gottron, true));
        let is_one_layout = template.voters.iter().all(|url| url.contains("/shop/"));
        assert_eq!(is_one_layout, site.name == "twofold", "{:?}", template.voters);
        assert!(template.loads > template.voters.len() || site.name == "menus", "{template:?}");
        // Pages of another layout share too few texts.
        let pages = store.list_pages(Some(&site.host())).unwrap();
        let by = |method: &str| pages.iter().filter(|page| page.method.as_deref() == Some(method)).count();
        assert!(by("gottron") >= 8 && by("gottron") + by("alone") == pages.len(), "{pages:#?}");
        let key = store.find_page(&template.key_url).unwrap().unwrap();
        let text = store.load_cleaned(&key).unwrap().unwrap();
        assert!(!text.contains("Basket") && !text.contains("Field Manual"), "{text}");
    }
}

/// One thread or four, sites from the first or from the last: the same pages, cleaned alike by the same step.
#[test]
fn neither_threads_nor_the_order_of_sites_change_a_page() {
    let quick = |site: DemoSite| DemoSite { wait: Duration::ZERO, fails_every: 0, ..site };
    let demo: Arc<Vec<DemoSite>> = Arc::new(sites().into_iter().map(quick).collect());
    let pages = |threads: usize, reversed: bool| {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start(answers(Arc::clone(&demo))).unwrap();
        let mut settings = settings(&dir.path().join("d.db"), &server, &["*.demo.test"]);
        settings.politeness.delay = Duration::from_millis(2);
        settings.crawl.cpu_threads = threads;
        settings.crawl.pages_per_site = 20;
        let mut seeds: Vec<PageUrl> = demo.iter().map(|site| site.seed().unwrap()).collect();
        if reversed {
            seeds.reverse();
        }
        run(seeds, &settings);
        let store = Store::open(Path::new(&settings.store.path)).unwrap();
        let rows = store.list_pages(None).unwrap();
        let cleaned = |page| store.load_cleaned(page).unwrap().unwrap();
        rows.iter().map(|page| (page.url.clone(), (page.method.clone(), cleaned(page)))).collect::<BTreeMap<_, _>>()
    };
    let one = pages(1, false);
    assert!(one.len() > 100, "{}", one.len());
    for (threads, reversed) in [(4, false), (4, true)] {
        let other = pages(threads, reversed);
        assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
        let differ: Vec<&String> = one.keys().filter(|url| one[*url] != other[*url]).collect();
        assert!(differ.is_empty(), "{threads} threads: {differ:?}");
    }
}

/// The 36 sites as 36 domains; robots.txt forbids a page that the search would ask for on some of them.
pub(crate) struct DevSites {
    pub(crate) answer: Arc<Answer>,
    pub(crate) seeds: Vec<PageUrl>,
    /// Host of each site.
    pub(crate) hosts: BTreeMap<String, String>,
    /// Path that each host forbids, with its usual endings.
    forbidden: BTreeMap<String, String>,
    expected: BTreeMap<String, serde_json::Value>,
}

impl DevSites {
    pub(crate) fn load() -> Option<DevSites> {
        let corpus = corpus::sites()?;
        let gold: toml::Table = std::fs::read_to_string(corpus.join("gold.toml")).unwrap().parse().unwrap();
        let expected = corpus::expected();
        let mut folders = BTreeMap::new();
        let mut forbidden: BTreeMap<String, String> = BTreeMap::new();
        let mut seeds = Vec::new();
        let mut hosts = BTreeMap::new();
        for (at, (name, want)) in expected.iter().enumerate() {
            // Sites that link to themselves by absolute URL are served under their own names.
            let own = gold["site"][name]["hosts"].as_array().unwrap().first().map(|h| h.as_str().unwrap().to_owned());
            let host = own.unwrap_or_else(|| format!("{name}.test"));
            hosts.insert(name.clone(), host.clone());
            folders.insert(host.clone(), Folder::open(&corpus.join("dev").join(name).join("www")).unwrap());
            seeds.push(url_of(&host, gold["site"][name]["key_page"].as_str().unwrap()).unwrap());
            let cs = want["cs"][0].as_str().unwrap().trim_end_matches("index.html").trim_end_matches(".html");
            if at % 2 == 0 && want["links"].as_u64() > Some(20) && cs.len() > 1 && cs.is_ascii() && !cs.contains('?') {
                forbidden.insert(host, cs.to_owned());
            }
        }
        assert!(forbidden.len() > 5, "{forbidden:?}");
        let rules = forbidden.clone();
        let answer: Arc<Answer> = Arc::new(move |host, path| {
            if path == "/robots.txt" {
                return match rules.get(host) {
                    Some(path) => {
                        let lines = ["", ".html", "index.html"].map(|end| format!("Disallow: {path}{end}$\n"));
                        Reply::text(format!("User-agent: *\n{}", lines.concat()))
                    }
                    None => Reply::status(404),
                };
            }
            let url = PageUrl::parse(&format!("http://{host}{path}")).unwrap();
            match folders.get(host).and_then(|folder| folder.find(&url)) {
                Some(served) if served.url != url => Reply::redirect(301, served.url.path()),
                Some(served) => Reply::html(std::fs::read(served.file).unwrap()),
                None => Reply::status(404),
            }
        });
        Some(DevSites { answer, seeds, hosts, forbidden, expected })
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.hosts.values().map(String::as_str).collect()
    }
}

#[test]
fn the_real_sites_are_learned_politely() {
    let Some(sites) = DevSites::load() else { return };
    let DevSites { seeds, hosts, forbidden, expected, .. } = &sites;
    let server = Server::start(Arc::clone(&sites.answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let names = sites.names();
    let settings = settings(&dir.path().join("d.db"), &server, &names);
    let delay = settings.politeness.delay;
    let (summary, ended) = run(seeds.clone(), &settings);

    let arrivals = server.arrivals();
    for (host, gaps) in gaps(&arrivals) {
        let least = gaps.iter().min().copied().unwrap_or(delay);
        assert!(least >= delay, "{host}: a gap of {least:?}");
    }
    for arrival in &arrivals {
        let rest = forbidden.get(&arrival.host).and_then(|rule| arrival.path.strip_prefix(rule.as_str()));
        assert!(!rest.is_some_and(|rest| ["", ".html", "index.html"].contains(&rest)), "{arrival:?}");
    }
    let mut unfollowed = 0;
    for (name, want) in expected {
        let site = &ended[&hosts[name]];
        // One site's pages ask robots not to follow their links.
        let wants_none = site.reason.as_deref().is_some_and(|reason| reason.contains("(nofollow)"));
        unfollowed += usize::from(wants_none);
        if want["cs"].as_array().unwrap().len() == 3 && !wants_none {
            assert_eq!(site.outcome, "learned", "{name}: {:?}", site.reason);
        }
    }
    assert!(unfollowed <= 1, "{unfollowed} sites want none of their links followed");
    let longest = gaps(&arrivals).values().map(Vec::len).max().unwrap();
    let ideal = delay.as_secs_f64() * longest as f64;
    let loads: Vec<usize> = ended.values().map(|s| s.loads).collect();
    println!(
        "{} of 36 learned, {} requests; {:.2} s, {:.3} times the ideal {ideal:.1} s; loads {:.1} a site, {:?}",
        summary.stats.learned,
        arrivals.len(),
        summary.seconds,
        summary.seconds / ideal,
        loads.iter().sum::<usize>() as f64 / 36.0,
        distribution(loads),
    );
}

fn distribution(loads: Vec<usize>) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for load in loads {
        *counts.entry(load).or_default() += 1;
    }
    counts
}

/// `RUN_SLOW_TESTS=1 cargo test --release --test it thousands -- --nocapture` prints rate and memory.
#[test]
fn thousands_of_sites_at_once() {
    if !crate::skipped::is_asked_for("RUN_SLOW_TESTS") {
        return;
    }
    let n_sites = 1000;
    let answer: Arc<Answer> = Arc::new(|host, path| {
        if path == "/robots.txt" {
            return Reply::status(404);
        }
        let links: String = (0..30).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
        let text = format!("<p>{path} of {host}, and then some more words to fill the page.</p>").repeat(200);
        Reply::html(format!("<header><ul>{links}</ul></header><main>{text}</main><footer>of {host}</footer>"))
    });
    let server = Server::start(answer).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("d.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(100);
    settings.crawl.sites_at_once = 1000;
    let seeds = (0..n_sites).map(|i| PageUrl::parse(&format!("http://h{i}.test/")).unwrap()).collect();
    let (summary, _) = run(seeds, &settings);
    assert_eq!(summary.stats.learned, n_sites);
    for (host, gaps) in gaps(&server.arrivals()) {
        assert!(gaps.iter().all(|gap| *gap >= Duration::from_millis(100)), "{host}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory: Vec<&str> = status.lines().filter(|l| l.starts_with("VmHWM")).collect();
    println!(
        "{n_sites} sites in {:.1} s, {:.0} pages/s, {memory:?}",
        summary.seconds,
        summary.stats.pages as f64 / summary.seconds
    );
}

/// Kim and Shim's method in a crawl: the key page and its training pages are clustered, and so is each page with them.
#[test]
fn a_crawl_labels_by_clusters_of_paths() {
    let dir = tempfile::tempdir().unwrap();
    let demo: Arc<Vec<DemoSite>> = Arc::new(sites().into_iter().filter(|site| site.name == "menus").collect());
    let server = Server::start(answers(Arc::clone(&demo))).unwrap();
    let mut settings = settings(&dir.path().join("t.db"), &server, &["*.demo.test"]);
    settings.politeness.delay = Duration::from_millis(1);
    settings.core.learn.label_by = LabelBy::Text;
    settings.crawl.pages_per_site = 30;
    let (summary, ended) = run(vec![demo[0].seed().unwrap()], &settings);
    assert_eq!((summary.stats.learned, summary.stats.failed), (1, 0), "{ended:#?}");
    let store = Store::open(Path::new(&settings.store.path)).unwrap();
    let template = store.load_template(&demo[0].host(), None).unwrap().unwrap();
    assert_eq!(template.method, Method::Text);
    let pages = store.list_pages(Some(&demo[0].host())).unwrap();
    let by_text = pages.iter().filter(|page| page.method.as_deref() == Some("text"));
    assert!(by_text.clone().count() >= 8, "{pages:#?}");
    for page in by_text {
        let text = store.load_cleaned(page).unwrap().unwrap();
        assert!(!text.contains("Basket") && text.len() > 100, "{text}");
    }
}
