//! A simulated world for the property tests: pages without sockets, a real store, failures, stops and kills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::*;
use crate::Clock;
use crate::fetch::{FetchError, Fetched, Response};
use crate::politeness::Times;
use crate::rendering::{IS_POSSIBLE, Rendered};
use crate::scope::Scope;
use crate::workers::{self, Tools};
use dehusk_settings::{Render, Settings};
use dehusk_store::validators::Validators;
use dehusk_store::{Backend, Reply, Run, RunBackend, RunRequest, Store};

mod stored;

pub(super) use stored::{Stored, visits};

/// What a URL of the world answers.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Page(String),
    Redirect(String),
    Status(u16),
    /// Fails this often before it answers with the page. Once may pass by a retry.
    Broken(u8, String),
}

/// Pages by URL.
pub(super) type World = BTreeMap<String, Answer>;

pub(super) const HOSTS: [&str; 3] = ["http://one.test", "http://two.test", "http://three.test"];

/// The bit of a variant that is unset where the pages of the first host are shells.
pub(super) const SHELLS: u64 = 1 << 62;

/// A page whose script builds another one, for the simulated browser.
fn shell(html: &str) -> String {
    format!("<div id=root></div><script>/*{html}*/</script>")
}

/// What the script of a page builds.
fn built(html: &str) -> String {
    let script = html.split_once("/*").and_then(|(_, rest)| rest.split_once("*/"));
    script.map_or(html, |(built, _)| built).to_owned()
}

/// A site of articles with a menu. `variant` decides which of its pages are broken, missing or elsewhere.
fn add_site(world: &mut World, host: &str, variant: u64) {
    let menu: String = (0..8).map(|n| format!("<a href=/s/{n}>Section {n}</a>")).collect();
    let is_shell = IS_POSSIBLE && variant & SHELLS == 0;
    let page = |name: &str, more: &str| {
        let html = format!(
            "<nav>{menu}</nav><main><h1>{name}</h1><p>All about {name} of {host}.</p>{more}</main><footer>Foot</footer>"
        );
        if is_shell { shell(&html) } else { html }
    };
    world.insert(format!("{host}/"), Answer::Page(page("home", "")));
    for n in 0..8_u64 {
        let articles: String = (0..3).map(|k| format!("<a href=/a/{}>More</a>", (n * 3 + k) % 12)).collect();
        let html = page(&format!("section {n}"), &articles);
        let answer = match variant >> (4 * n) & 15 {
            0 => Answer::Status(404),
            1 => Answer::Status(410),
            2 => Answer::Redirect(format!("/s/{}", (n + 1) % 8)),
            3 => Answer::Broken(1, html),
            4 => Answer::Redirect("http://elsewhere.test/".to_owned()),
            5 => Answer::Status(500),
            6 => Answer::Broken(2, html),
            _ => Answer::Page(html),
        };
        world.insert(format!("{host}/s/{n}"), answer);
    }
    for n in 0..12_u64 {
        world.insert(format!("{host}/a/{n}"), Answer::Page(page(&format!("article {n}"), "")));
    }
}

/// The first host redirects to the second where `is_twin`.
pub(super) fn world(variant: u64, is_twin: bool) -> World {
    let mut world = World::new();
    for (at, host) in HOSTS.iter().enumerate() {
        add_site(&mut world, host, variant.rotate_left(at as u32 * 13));
    }
    if is_twin {
        world.insert(format!("{}/", HOSTS[0]), Answer::Redirect(format!("{}/", HOSTS[1])));
    }
    world
}

pub(super) fn tools(path: &Path) -> Arc<Tools> {
    let mut settings = Settings::default();
    settings.crawl.pages_per_site = 14;
    settings.fetch.render = Render::Needed;
    settings.store.path = path.display().to_string();
    let scope = |settings: &Settings| Scope::new(&settings.crawl, 2026);
    Arc::new(Tools::new(&settings, scope, None, Arc::default()))
}

/// What is out for a site.
enum Pending {
    Fetch(Request),
    Compute(Work),
    Ask(Query),
    Render(Box<FetchedPage>),
}

/// How a part of a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PartEnd {
    Finished,
    Stopped,
    Killed,
}

/// One part of a run, from its start to its end, a stop or a kill.
struct Simulation<'w> {
    world: &'w World,
    now: i64,
    tools: Arc<Tools>,
    backend: RunBackend,
    random: u64,
    sites: FxHashMap<SiteId, SiteCrawl>,
    pending: Vec<(SiteId, Pending)>,
    found: BTreeSet<SiteId>,
    failures: BTreeMap<String, u8>,
    /// Pages in the store, committed and not.
    committed: &'w mut BTreeSet<String>,
    uncommitted: Vec<String>,
    ended: BTreeMap<SiteId, SiteOutcome>,
    is_stopping: bool,
    is_twin: bool,
    /// What was answered, for a failure's reader.
    log: Vec<String>,
}

impl Simulation<'_> {
    /// As good as random, and the same for the same seed.
    fn below(&mut self, n: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % n.max(1)
    }

    fn with<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let sitemaps = |_: &[String]| Vec::new();
        run(&Context {
            tools: &self.tools,
            clock: Clock::start(),
            now: self.now,
            memory_is_short: self.random & 64 == 0,
            is_stopping: self.is_stopping,
            sitemaps: &sitemaps,
        })
    }

    fn commit(&mut self) {
        self.backend.commit().unwrap();
        self.committed.extend(self.uncommitted.drain(..));
        self.backend.begin().unwrap();
    }

    fn carry_out(&mut self, id: SiteId, commands: Vec<Command>) {
        for command in commands {
            match command {
                Command::Fetch(request, _) => self.pending.push((id, Pending::Fetch(request))),
                Command::Compute(work) => self.pending.push((id, Pending::Compute(work))),
                Command::Ask(query) => self.pending.push((id, Pending::Ask(query))),
                Command::Render(page, _) => self.pending.push((id, Pending::Render(page))),
                Command::Write(write) => {
                    if let Write::Page(page) = &write {
                        self.uncommitted.push(page.page.url.to_string());
                    }
                    self.backend.apply(write).unwrap();
                    if self.below(3) == 0 {
                        self.commit();
                    }
                }
                Command::Seeds(_) => panic!("no seed of the world is a list"),
                Command::Count(_) => {}
                Command::End(outcome) => {
                    self.sites.remove(&id).expect("a site ends once");
                    let before = self.ended.insert(id, outcome);
                    assert!(before.is_none(), "site {id} ended twice");
                }
            }
        }
        let out = self.pending.iter().filter(|(site, _)| *site == id).count();
        assert_eq!(
            out,
            usize::from(self.sites.contains_key(&id)),
            "one thing is out for a site, and none for an ended one"
        );
    }

    fn tell(&mut self, id: SiteId, event: SiteEvent) {
        let Some(mut site) = self.sites.remove(&id) else { panic!("an answer for site {id}, which has ended") };
        let commands = self.with(|cx| site.on(event, cx));
        self.sites.insert(id, site);
        self.carry_out(id, commands);
    }

    /// Answers one thing that is out, whichever.
    fn step(&mut self) {
        let at = self.below(self.pending.len());
        let (id, pending) = self.pending.swap_remove(at);
        self.log.push(match &pending {
            Pending::Fetch(request) => format!("{id} fetch {} for {}", request.url, request.asked),
            Pending::Compute(_) => format!("{id} compute"),
            Pending::Ask(query) => format!("{id} {query:.60?}"),
            Pending::Render(page) => format!("{id} render {}", page.response.url),
        });
        match pending {
            Pending::Fetch(request) if self.is_stopping => {
                drop(request);
                self.tell(id, SiteEvent::Abandoned);
            }
            Pending::Fetch(request) => {
                let url = request.url.to_string();
                // Two names of one site are two sites until the first page of the second one has come.
                let is_new = self.is_twin || !self.committed.contains(&url);
                let log: Vec<&String> = self.log.iter().filter(|line| line.starts_with(&format!("{id} "))).collect();
                assert!(is_new, "{url} is stored and was fetched again: {log:#?}");
                let fetched = self.answer(&request);
                self.tell(id, SiteEvent::Fetched(request, Box::new(fetched)));
            }
            Pending::Compute(work) => {
                let result = workers::run(id, work, &self.tools);
                self.tell(id, SiteEvent::Computed(result));
            }
            Pending::Render(page) => {
                let html = built(&String::from_utf8_lossy(&page.response.body));
                let rendered = Rendered { html, has_text: true, asked_foreign: false, leads_to: None };
                let rendered = if self.is_stopping { Err("stopped".to_owned()) } else { Ok(Box::new(rendered)) };
                self.tell(id, SiteEvent::Rendered(page, rendered));
            }
            Pending::Ask(query) => match self.backend.query(query).unwrap() {
                Reply::NextUrls(urls) => {
                    let given: Vec<String> = urls.iter().map(|known| known.url.to_string()).collect();
                    self.log.push(format!("{id} is given {given:?}"));
                    self.tell(id, SiteEvent::Urls(urls));
                }
                Reply::Snapshot(snapshot) => self.tell(id, SiteEvent::Snapshot(snapshot.map(Box::new))),
                Reply::SeededSite(other) => self.tell(id, SiteEvent::SeededSite(other)),
                Reply::StalePages(stale) => self.tell(id, SiteEvent::Stale(stale)),
                Reply::CurrentSite(now, has_ended) => self.settle(id, now, has_ended),
                Reply::NextSites(_) | Reply::SitesOf(_) | Reply::LeasedSites { .. } | Reply::LeasedHost(..) => {
                    panic!("no site asks for sites")
                }
            },
        }
    }

    fn settle(&mut self, before: SiteId, now: SiteId, has_ended: bool) {
        if before != now {
            self.found.insert(now);
            if has_ended || self.sites.contains_key(&now) {
                return self.tell(before, SiteEvent::Taken);
            }
            let mut site = self.sites.remove(&before).unwrap();
            site.renumber(now);
            self.sites.insert(now, site);
        }
        self.tell(now, SiteEvent::Settled);
    }

    fn answer(&mut self, request: &Request) -> Fetched {
        let times = Times { sent: Instant::now(), answered: Some(Instant::now()), ended: Instant::now() };
        let url = request.url.clone();
        let response = |status| Response::empty(url.clone(), status);
        let outcome = match self.world.get(url.as_str()) {
            None => Ok(response(404)),
            Some(Answer::Page(_)) if !request.known.is_empty() => Ok(response(304)),
            Some(Answer::Page(html)) => {
                let validators = Validators { etag: Some("\"1\"".to_owned()), last_modified: None };
                Ok(Response { body: html.clone().into_bytes(), validators, ..response(200) })
            }
            Some(Answer::Redirect(target)) => Ok(Response { location: Some(target.clone()), ..response(302) }),
            Some(Answer::Status(status)) => Ok(response(*status)),
            Some(Answer::Broken(times, html)) => {
                let failures = self.failures.entry(url.to_string()).or_default();
                *failures += 1;
                // A page that is broken for good fails in every part of the run.
                if *failures <= *times || *times > 1 {
                    Err(FetchError::Connection { url: url.clone(), reason: "reset".to_owned() })
                } else {
                    Ok(Response { body: html.clone().into_bytes(), ..response(200) })
                }
            }
        };
        Fetched { times: Some(times), outcome, archive_failed: false }
    }

    /// Runs until all sites have ended, or the part ends after `most` steps.
    fn run(mut self, most: usize, end: PartEnd) -> (PartEnd, BTreeMap<SiteId, SiteOutcome>) {
        self.backend.begin().unwrap();
        let Reply::NextSites(mut waiting) = self.backend.query(Query::NextSites { after: 0, n: 64 }).unwrap() else {
            panic!("sites")
        };
        let mut steps = 0;
        loop {
            // Sites begin in between, as there is room.
            if !waiting.is_empty() && !self.is_stopping && (self.pending.is_empty() || self.below(4) == 0) {
                let work = waiting.remove(0);
                let id = work.id;
                if !self.sites.contains_key(&id) && !self.found.contains(&id) {
                    let (site, commands) = self.with(|cx| SiteCrawl::begin(work, Vec::new(), cx));
                    self.sites.insert(id, site);
                    self.carry_out(id, commands);
                }
                continue;
            }
            if self.pending.is_empty() {
                assert!(self.sites.is_empty(), "sites wait for nothing");
                break;
            }
            self.step();
            steps += 1;
            assert!(steps < 3_000, "the sites do not end: {:#?}", &self.log[self.log.len().saturating_sub(4)..]);
            if steps == most && end == PartEnd::Killed {
                self.backend.roll_back();
                return (end, self.ended);
            }
            self.is_stopping |= steps == most && end == PartEnd::Stopped;
        }
        let reached = if self.is_stopping { PartEnd::Stopped } else { PartEnd::Finished };
        let outcome = if self.is_stopping { "interrupted" } else { "finished" };
        self.backend.apply(Write::RunEnded { outcome, at: self.now }).unwrap();
        self.commit();
        self.backend.commit().unwrap();
        (reached, self.ended)
    }
}

/// Milliseconds between the nights. What was fetched at the time of the test is due again on the second one.
pub(super) const NIGHT: i64 = 100 * 365 * 24 * 3600 * 1000;

/// A crawl of the world in parts. Returns what is in the store at the end.
pub(super) fn crawl(world: &World, seed: u64, parts: &[(usize, PartEnd)]) -> Stored {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.db");
    crawl_night(world, &path, 1, seed, parts);
    Stored::read(&path)
}

/// The run of one night in parts, with the store of the nights before.
pub(super) fn crawl_night(world: &World, path: &Path, night: i64, seed: u64, parts: &[(usize, PartEnd)]) {
    let mut committed = BTreeSet::new();
    let now = (night - 1) * NIGHT;
    let parts = parts.iter().copied().chain([(usize::MAX, PartEnd::Finished)]);
    for (part, (most, end)) in parts.enumerate() {
        let store = Store::create(path, 1).unwrap();
        let run = store.begin_run(&RunRequest { at: now, ..RunRequest::default() }).unwrap();
        assert_eq!(run, Run { id: night, resumed: part > 0 });
        let mut seeds = HOSTS.iter().map(|host| PageUrl::parse(&format!("{host}/")).unwrap().into());
        store.queue_seeds(run.id, &mut seeds, now).unwrap();
        let tools = tools(path);
        let simulation = Simulation {
            world,
            now,
            backend: RunBackend::new(store, run, &tools.settings),
            tools,
            random: seed.wrapping_add(part as u64),
            sites: FxHashMap::default(),
            pending: Vec::new(),
            found: BTreeSet::new(),
            failures: BTreeMap::new(),
            committed: &mut committed,
            uncommitted: Vec::new(),
            ended: BTreeMap::new(),
            is_stopping: false,
            log: Vec::new(),
            is_twin: matches!(world.get(&format!("{}/", HOSTS[0])), Some(Answer::Redirect(_))),
        };
        let (reached, ended) = simulation.run(most, end);
        if reached == PartEnd::Finished {
            assert!(ended.values().all(|outcome| *outcome != SiteOutcome::Interrupted), "{ended:?}");
            break;
        }
    }
}
