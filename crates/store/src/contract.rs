//! The contract of [`Backend`], run over every implementation.

use dehusk_core::rights::Rights;
use std::path::{Path, PathBuf};

use dehusk_html::PageUrl;

use super::*;
use crate::reason::{Reason, ReasonCode};
use crate::revisit::{Change, TextMark, UrlOutcome};
use crate::seed::Seed;
use crate::validators::Validators;
use dehusk_settings::Settings;

#[cfg(feature = "postgres")]
#[allow(dead_code)] // tests/it uses all of it.
#[path = "../../../tests/it/postgres_server.rs"]
pub(super) mod postgres_server;

/// Opens a back end on a database, with the run that is worked on. The seeds are put into it where they are not yet.
type OpenBackend = fn(&Path, seeds: &[&str]) -> Box<dyn Backend>;

/// A new database; `None` where it cannot be had.
type DatabaseFile = fn(&Path) -> Option<PathBuf>;

/// Every implementation.
const BACKENDS: &[(&str, DatabaseFile, OpenBackend)] = &[
    ("sqlite", |dir| Some(dir.join("store.sqlite")), open_file),
    #[cfg(feature = "postgres")]
    ("postgres", |_| Some(postgres_server::postgres_server()?.database().into()), open_on_server),
];

fn open(place: &Path, seeds: &[&str]) -> RunBackend {
    let store = Store::create(place, 1).unwrap();
    let run = store.begin_run(&RunRequest { at: 1000, ..RunRequest::default() }).unwrap();
    store.queue_seeds(run.id, &mut seeds.iter().map(|seed| url(seed).into()), 1000).unwrap();
    RunBackend::new(store, run, &Settings::default())
}

fn open_file(place: &Path, seeds: &[&str]) -> Box<dyn Backend> {
    Box::new(open(place, seeds))
}

#[cfg(feature = "postgres")]
fn open_on_server(place: &Path, seeds: &[&str]) -> Box<dyn Backend> {
    let inner = open(place, seeds);
    let (lease, delay) = (std::time::Duration::from_secs(30), std::time::Duration::from_secs(1));
    let session = Session::begin(inner.store(), inner.store().server().unwrap(), inner.run().id, lease, delay).unwrap();
    Box::new(SharedBackend::new(inner, session))
}

const SEEDS: [&str; 3] = ["http://a.org/", "http://b.org/", "http://a.org/more"];

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn each(test: impl Fn(&dyn Fn() -> Box<dyn Backend>)) {
    for (name, place, open) in BACKENDS {
        let dir = tempfile::tempdir().unwrap();
        if let Some(place) = place(dir.path()) {
            eprintln!("on {name}");
            test(&|| open(&place, &SEEDS));
        }
    }
}

fn visit(site: SiteId, url: &str, outcome: VisitOutcome) -> NewVisit {
    NewVisit {
        site_id: Some(site),
        url: url.to_owned(),
        kind: "page",
        sent_at: Some(2000),
        took_ms: Some(5),
        status: Some(200),
        raw_bytes: Some(9),
        outcome,
        reason: None,
        redirect_to: None,
        rights: Rights::default(),
    }
}

fn page(site: SiteId, at: &str, body: &str) -> Write {
    Write::Page(Box::new(PageWrite {
        site,
        visit: visit(site, at, VisitOutcome::Fetched),
        asked: None,
        page: NewPage {
            url: url(at),
            depth: 0,
            fetched_at: 2000,
            status: 200,
            content_type: None,
            validators: Validators { etag: Some("\"1\"".to_owned()), last_modified: None },
            noindex: false,
            nofollow: false,
            rights: Rights::default(),
            warc: None,
            warc_record: None,
            digest: digest(body.as_bytes()),
            as_fetched: None,
            raw: pack(body.as_bytes(), 1),
        },
        cleaned: None,
        links: vec![NewUrl::new(&url(&format!("{at}link")), 1, 5)],
        settles: false,
    }))
}

fn sites(backend: &mut dyn Backend) -> Vec<SiteWork> {
    match backend.query(Query::NextSites { after: 0, n: 9 }).unwrap() {
        Reply::NextSites(sites) => sites,
        reply => panic!("{reply:?}"),
    }
}

fn urls(backend: &mut dyn Backend, site: SiteId) -> Vec<String> {
    let wanted = NextUrlsQuery { now: 3000, all: false, waiting: true, depth: 9, max_known: 0, n: 9 };
    match backend.query(Query::NextUrls(site, wanted)).unwrap() {
        Reply::NextUrls(urls) => urls.iter().map(|known| known.url.to_string()).collect(),
        reply => panic!("{reply:?}"),
    }
}

#[test]
fn sites_come_in_order_and_end_once() {
    each(|open| {
        let mut backend = open();
        let found = sites(&mut *backend);
        assert_eq!(found.iter().map(|site| site.host.as_str()).collect::<Vec<_>>(), ["a.org", "b.org"]);
        assert_eq!(urls(&mut *backend, found[0].id), ["http://a.org/more"]);
        backend.begin().unwrap();
        backend
            .apply(Write::site_ended(found[0].id, SiteOutcome::Failed(Reason::new(ReasonCode::Other, "no")), 2000))
            .unwrap();
        assert_eq!(sites(&mut *backend).len(), 1, "a question sees what is not committed yet");
        backend.commit().unwrap();
        let Reply::NextSites(rest) = backend.query(Query::NextSites { after: found[1].id, n: 9 }).unwrap() else {
            panic!("sites")
        };
        assert!(rest.is_empty());
    });
}

#[test]
fn seeds_come_while_the_run_is_on() {
    each(|open| {
        let mut backend = open();
        let known = sites(&mut *backend);
        let seeds = ["http://www.c.org/1", "http://c.org/2", "http://a.org/late"].map(url);
        backend.begin().unwrap();
        for _ in 0..2 {
            backend.apply(Write::Seeds { seeds: seeds.clone().map(Seed::from).to_vec(), place: 1, at: 2000 }).unwrap();
        }
        backend.commit().unwrap();
        let Reply::SitesOf(found) = backend.query(Query::SitesOf(seeds.to_vec())).unwrap() else { panic!("sites") };
        let names: Vec<(&str, &str)> = found.iter().map(|site| (site.host.as_str(), site.key_url.as_str())).collect();
        assert_eq!(names, [("a.org", "http://a.org/"), ("www.c.org", "http://www.c.org/1")]);
        assert_eq!(found[0].id, known[0].id);
        assert_eq!(urls(&mut *backend, found[1].id), ["http://c.org/2"]);
        backend.begin().unwrap();
        backend.apply(Write::site_ended(found[0].id, SiteOutcome::Learned, 3000)).unwrap();
        let Reply::SitesOf(rest) = backend.query(Query::SitesOf(seeds.to_vec())).unwrap() else { panic!("sites") };
        assert_eq!(rest.len(), 1, "a site that has ended does not wait");
    });
}

#[test]
fn what_is_not_committed_is_lost_and_nothing_else() {
    each(|open| {
        let mut backend = open();
        let site = sites(&mut *backend)[0].id;
        backend.begin().unwrap();
        assert_eq!(backend.apply(page(site, "http://a.org/", "one")).unwrap(), []);
        backend.commit().unwrap();
        backend.begin().unwrap();
        backend.apply(page(site, "http://a.org/more", "two")).unwrap();
        assert_eq!(urls(&mut *backend, site), ["http://a.org/link", "http://a.org/morelink"]);
        backend.roll_back();
        drop(backend);
        let mut backend = open();
        assert!(backend.run().resumed, "the run goes on");
        let work = sites(&mut *backend).remove(0);
        assert_eq!(urls(&mut *backend, site), ["http://a.org/more", "http://a.org/link"], "it waits again");
        assert_eq!(work.past.len(), 1);
        assert_eq!((work.past[0].url.as_str(), work.past[0].outcome), ("http://a.org/", VisitOutcome::Fetched));
        let snapshot = backend.query(Query::Snapshot(work.past[0].page.unwrap())).unwrap();
        assert!(matches!(snapshot, Reply::Snapshot(Some(snapshot)) if snapshot.body == b"one"));
        let newest = backend.query(Query::NewestSnapshot(site, url("http://a.org/"))).unwrap();
        assert!(matches!(newest, Reply::Snapshot(Some(snapshot)) if snapshot.url == url("http://a.org/")));
        let none = backend.query(Query::NewestSnapshot(site, url("http://a.org/more"))).unwrap();
        assert!(matches!(none, Reply::Snapshot(None)));
    });
}

#[test]
fn writes_are_idempotent() {
    each(|open| {
        let mut backend = open();
        let site = sites(&mut *backend)[0].id;
        let gone = (url("http://a.org/more"), UrlOutcome::Gone);
        let writes = [
            page(site, "http://a.org/", "one"),
            Write::Visit(visit(site, "http://a.org/more", VisitOutcome::Gone), Some(gone)),
            Write::Links(site, vec![NewUrl::new(&url("http://a.org/x"), 1, 7)]),
            Write::Robots {
                robots: StoredRobots {
                    origin: "http://a.org".to_owned(),
                    fetched_at: 2000,
                    status: Some(200),
                    body: b"Disallow: /".to_vec(),
                    validators: Validators { etag: Some("\"1\"".to_owned()), last_modified: None },
                    rights_files: None,
                },
                forbids_all: Some(true),
            },
            Write::Deferred { key: "a.org".to_owned(), until: 9000, reason: "busy".to_owned() },
        ];
        backend.begin().unwrap();
        for write in &writes {
            backend.apply(write.clone()).unwrap();
        }
        let (given, once) = (urls(&mut *backend, site), format!("{:?}", sites(&mut *backend)[0].robots));
        for write in writes {
            let changes = backend.apply(write).unwrap();
            assert!(!changes.contains(&Change::New.into()) && !changes.contains(&Change::Gone.into()), "{changes:?}");
        }
        assert_eq!(urls(&mut *backend, site), given);
        assert_eq!(format!("{:?}", sites(&mut *backend)[0].robots), once);
        assert!(once.contains("etag: Some(\"\\\"1\\\"\")"), "{once}");
        assert_eq!(given, ["http://a.org/link", "http://a.org/x"]);
        backend.commit().unwrap();
    });
}

#[test]
fn a_site_found_under_another_host_is_one_site() {
    each(|open| {
        let mut backend = open();
        let (one, two) = (sites(&mut *backend)[0].id, sites(&mut *backend)[1].id);
        let learned = |at| LearnedWrite {
            site: one,
            found: Some(("b.org".to_owned(), "http://b.org/".to_owned())),
            template: None,
            failure: None,
            cleaned: Vec::new(),
            links: Vec::new(),
            at,
        };
        backend.begin().unwrap();
        let current = |backend: &mut dyn Backend| match backend.query(Query::CurrentSite(one)).unwrap() {
            Reply::CurrentSite(now, has_ended) => (now, has_ended),
            reply => panic!("{reply:?}"),
        };
        assert_eq!(current(&mut *backend), (one, false));
        backend.apply(Write::Learned(Box::new(learned(2000)))).unwrap();
        assert_eq!(current(&mut *backend), (two, false));
        backend.apply(Write::site_ended(two, SiteOutcome::Kept, 3000)).unwrap();
        assert_eq!(current(&mut *backend), (two, true));
        backend.apply(Write::Learned(Box::new(learned(4000)))).unwrap();
        assert_eq!(current(&mut *backend), (two, true), "a site that has ended in this run stays so");
        backend.commit().unwrap();
    });
}

#[test]
fn a_confirmed_text_is_stale_no_more() {
    use dehusk_template::method::Method;

    each(|open| {
        let mut backend = open();
        backend.begin().unwrap();
        let site = sites(&mut *backend)[0].id;
        let cleaned = |at: &str, method: Method| Cleaned {
            url: url(at),
            html: pack(at.as_bytes(), 1),
            text: TextMark { digest: url(at).fingerprint(), page: 1, model: 5 },
            labeled: LabeledBy { method, by_template: true, confidence: 0.5, nearest: Some(1) },
        };
        for (at, method) in [("http://a.org/1", Method::SiteModel), ("http://a.org/2", Method::Df)] {
            let Write::Page(page) = page(site, at, at) else { unreachable!() };
            backend.apply(Write::Page(Box::new(PageWrite { cleaned: Some(cleaned(at, method)), ..*page }))).unwrap();
        }
        let stale = |backend: &mut dyn Backend| {
            let question = Query::StalePages { site, model: 7, after: i64::MIN, n: 9 };
            let Reply::StalePages(StalePages { pages, .. }) = backend.query(question).unwrap() else { unreachable!() };
            let mut urls: Vec<String> = pages.iter().map(|stale| stale.page.url.to_string()).collect();
            urls.sort_unstable();
            urls
        };
        assert_eq!(stale(&mut *backend), ["http://a.org/1", "http://a.org/2"]);
        let confirmed = |at: &str| {
            let fingerprint = url(at).fingerprint();
            ConfirmedPage { fingerprint, confidence: 1.0, nearest: Some(fingerprint) }
        };
        // The second one was not cleaned by the site's model; the third one is not stored.
        let pages = ["http://a.org/1", "http://a.org/2", "http://a.org/3"].map(confirmed).into();
        assert!(backend.apply(Write::Confirmed { site, model: 7, pages }).unwrap().is_empty());
        assert_eq!(stale(&mut *backend), ["http://a.org/2"]);
        backend.commit().unwrap();
    });
}

#[test]
fn a_part_that_changed_on_two_nights_is_known_and_a_moved_page_keeps_its_text() {
    each(|open| {
        let mut backend = open();
        backend.begin().unwrap();
        let site = sites(&mut *backend)[0].id;
        backend.apply(page(site, "http://a.org/1", "one")).unwrap();
        let Write::Page(moved) = page(site, "http://a.org/2", "one") else { unreachable!() };
        let asked = Some((url("http://a.org/1"), UrlOutcome::Moved));
        backend.apply(Write::Page(Box::new(PageWrite { asked, ..*moved }))).unwrap();
        backend.apply(Write::Modified { site, pages: vec![(url("http://a.org/2").fingerprint(), 9)], at: 8 }).unwrap();
        for parts in [vec![(2, true), (3, true)], vec![(2, true), (3, false)]] {
            assert!(backend.apply(Write::ChangingParts(site, parts)).unwrap().is_empty());
        }
        let question = Query::StalePages { site, model: 7, after: i64::MIN, n: 9 };
        assert!(matches!(backend.query(question).unwrap(), Reply::StalePages(_)));
        backend.commit().unwrap();
    });
}

/// Hosts of a run from the seeds, after one in which the first site has moved.
fn hosts_after(place: &Path, mut moved: impl FnMut(&Store, i64, &[SiteWork])) -> Vec<String> {
    let store = Store::create(place, 1).unwrap();
    let mut sites = Vec::new();
    for at in [1000, 2000] {
        let run = store.begin_run(&RunRequest { at, ..RunRequest::default() }).unwrap().id;
        store.queue_seeds(run, &mut SEEDS.iter().map(|seed| url(seed).into()), at).unwrap();
        sites = store.next_sites(run, 0, 9, false).unwrap();
        if at == 1000 {
            moved(&store, run, &sites);
            store.end_run(run, at, "finished").unwrap();
        }
    }
    let mut hosts: Vec<String> = sites.into_iter().map(|site| site.host).collect();
    hosts.sort();
    hosts
}

#[test]
fn a_host_that_led_elsewhere_is_asked_itself_only_where_its_target_has_a_seed() {
    for (name, place, _) in BACKENDS {
        eprintln!("on {name}");
        let new = || {
            let dir = tempfile::tempdir().unwrap();
            place(dir.path()).map(|place| (place, dir))
        };
        let (Some((first, _dir)), Some((second, _other))) = (new(), new()) else { continue };
        let moved = |store: &Store, run: i64, sites: &[SiteWork]| {
            store.end_moved(run, sites[0].id, sites[1].id, ("http://b.org/", 4)).unwrap();
        };
        assert_eq!(hosts_after(&first, moved), ["a.org", "b.org"]);
        let renamed = |store: &Store, run: i64, sites: &[SiteWork]| {
            store.rename_site(run, sites[0].id, "www.c.org", "http://www.c.org/", 4).unwrap();
        };
        assert_eq!(hosts_after(&second, renamed), ["b.org", "www.c.org"]);
    }
}
