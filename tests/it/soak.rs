//! Many nights with everything that happens to a nightly crawl, by a seeded plan: pages that change, go and fail, sites
//! that are redesigned or silent, numbers in every answer, kills and full disks. After each night the invariants are
//! checked in the database and at the server.
//!
//! Twelve sites and ten nights; `RUN_SLOW_TESTS=1 cargo test --test it soak -- --nocapture` runs 72 sites and thirty
//! nights.

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use rusqlite::Connection;

use crate::cli::err;
use crate::crawl::gaps;
use crate::skipped::is_asked_for;

const PAGES: u64 = 9;
const DELAY: Duration = Duration::from_millis(15);
const KEEP: i64 = 3;

/// As good as random, and the same for the same arguments.
fn chance(of: &str, site: u64, page: u64, night: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(format!("{of} {site} {page} {night}").as_bytes()) % 100
}

/// Number of times that the words of a page have changed up to a night.
fn version(site: u64, page: u64, night: u64) -> usize {
    (2..=night).filter(|night| chance("change", site, page, *night) < 10).count()
}

fn layout(site: u64, night: u64) -> usize {
    (2..=night).filter(|night| chance("redesign", site, 0, *night) < 3).count()
}

fn is_gone(site: u64, page: u64, night: u64) -> bool {
    page > 0 && (2..=night).any(|night| chance("gone", site, page, night) < 1)
}

fn is_silent(site: u64, night: u64) -> bool {
    night > 1 && chance("silent", site, 0, night) < 4
}

fn page(site: u64, page: u64, night: u64, request: usize) -> String {
    let links: String = (0..PAGES).map(|n| format!("<li><a href=/{n}>Part {n} of site {site}</a></li>")).collect();
    let words = format!("Words of page {page} of site {site}, in version {}.", version(site, page, night));
    let text: String = (0..4).map(|n| format!("<p>{words} Sentence {n} says it in another way.</p>")).collect();
    match layout(site, night) % 2 {
        0 => format!(
            "<title>{page}</title><header><ul>{links}</ul></header><main><h1>Page {page}</h1>{text}</main>\
             <footer>All rights of site {site}</footer><!-- {request} -->"
        ),
        _ => format!(
            "<title>{page}</title><table><tr><td class=menu>{links}</td><td class=text><h1>Page {page}</h1>{text}</td></tr>\
             <tr><td>Imprint of site {site}</td></tr></table><!-- {request} -->"
        ),
    }
}

fn answer(host: &str, path: &str, night: u64, request: usize) -> Reply {
    let site: u64 = host.trim_start_matches('s').trim_end_matches(".test").parse().unwrap_or(0);
    if path == "/robots.txt" {
        return Reply::status(if is_silent(site, night) { 503 } else { 404 });
    }
    let Ok(n) = path[1..].parse::<u64>() else { return Reply::status(404) };
    if n >= PAGES || is_gone(site, n, night) {
        return Reply::status(404);
    }
    match chance("fail", site, n, night) {
        0..2 if n > 0 => Reply::status(500),
        _ => Reply::html(page(site, n, night, request)),
    }
}

#[test]
fn nights_with_everything_keep_the_invariants() {
    let is_long = is_asked_for("RUN_SLOW_TESTS");
    let (sites, nights) = if is_long { (72, 30) } else { (12, 10) };
    let (tonight, requests) = (Arc::new(AtomicUsize::new(1)), AtomicUsize::new(0));
    let clock = Arc::clone(&tonight);
    let server = Server::start(Arc::new(move |host: &str, path: &str| {
        answer(host, path, clock.load(Ordering::Relaxed) as u64, requests.fetch_add(1, Ordering::Relaxed))
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let seeds: String = (0..sites).map(|site| format!("http://s{site}.test/0\n")).collect();
    std::fs::write(dir.path().join("seeds.txt"), seeds).unwrap();
    let (mut kills, mut full, mut visited) = (0, 0, Visited::default());
    for night in 1..=nights {
        tonight.store(night as usize, Ordering::Relaxed);
        let before = server.arrivals().len();
        // Killed once or twice, then run to its end.
        let n_kills = chance("kill", 0, 0, night) % 3;
        for part in 0..n_kills {
            let mut child = crawl(dir.path(), server.port()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(60 + chance("when", 0, part, night) * 4));
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        // As on a full disk: no file can grow beyond 64 kB. One sentence, exit code 3, and nothing is lost.
        if cfg!(unix) && (night == 2 || chance("full", 0, 0, night) < 20) {
            let output = on_full_disk(&crawl(dir.path(), server.port()));
            assert_eq!(output.status.code(), Some(3), "night {night}: {}", err(&output));
            full += 1;
        }
        let status = crawl(dir.path(), server.port()).status().unwrap();
        assert_eq!(status.code(), Some(0), "night {night}");
        let arrivals = server.arrivals()[before..].to_vec();
        for (host, gaps) in gaps(&arrivals) {
            let worst = gaps.iter().min().copied().unwrap_or(DELAY);
            assert!(worst >= DELAY, "night {night}, {host}: a gap of {worst:?}");
        }
        check(&Connection::open(dir.path().join("soak.db")).unwrap(), night, &mut visited);
    }
    println!("{sites} sites, {nights} nights, {kills} kills, {full} full disks, {} requests", server.arrivals().len());
}

/// Runs a command that may not write files of more than 64 kB.
fn on_full_disk(command: &Command) -> Output {
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""]).arg(command.get_program());
    limited.args(command.get_args()).current_dir(command.get_current_dir().unwrap()).output().unwrap()
}

fn crawl(dir: &std::path::Path, port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir).args(["crawl", "seeds.txt", "--all", "--config", "/dev/null", "--db", "soak.db"]);
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{port}\"]");
    let keep = format!("store.keep_versions={KEEP}");
    for pair in [
        resolve.as_str(),
        keep.as_str(),
        "fetch.allow_private=true",
        "fetch.retries=0",
        "politeness.key=host",
        "politeness.delay=0.015",
        "crawl.pages_per_site=20",
        "crawl.sitemaps=false",
    ] {
        command.args(["--set", pair]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// What was seen on earlier nights.
#[derive(Default)]
struct Visited {
    /// The night on which each page was last found.
    pages: BTreeMap<(u64, u64), u64>,
    /// The last run.
    runs: i64,
}

fn check(db: &Connection, night: u64, visited: &mut Visited) {
    let number = |sql: &str| -> i64 { db.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(db.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    let lost = number("SELECT count(*) FROM urls WHERE page_id IS NOT NULL AND page_id NOT IN (SELECT id FROM pages)");
    assert_eq!(lost, 0, "night {night}: pages are lost");
    let most = number("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM pages GROUP BY site_id, url)");
    assert!(most <= KEEP, "night {night}: {most} versions of a page");
    let mixed = number(
        "SELECT count(*) FROM (SELECT 1 FROM urls u JOIN pages p ON p.id = u.page_id
            WHERE u.run_id = (SELECT max(id) FROM runs) AND p.cleaned_id IS NOT NULL
            GROUP BY u.site_id HAVING count(DISTINCT p.model) > 1)",
    );
    assert_eq!(mixed, 0, "night {night}: texts of several models");
    // A crawl that was to be killed may have been faster, so a night can have several runs.
    let sql = "SELECT url, group_concat(coalesce(change, '-')) FROM pages WHERE run_id > ?1 GROUP BY url";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([visited.runs], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>().unwrap();
    visited.runs = number("SELECT max(id) FROM runs");
    for (url, changes) in rows {
        let (host, page) = url.trim_start_matches("http://s").split_once(".test/").unwrap();
        let (site, page): (u64, u64) = (host.parse().unwrap(), page.parse().unwrap());
        let has = |change: &str| changes.split(',').any(|other| other == change);
        let last = visited.pages.insert((site, page), night);
        let Some(last) = last else {
            assert!(has("new") && !has("changed"), "night {night}: {url}: {changes}");
            continue;
        };
        let is_other = version(site, page, last) != version(site, page, night);
        let is_redesigned = layout(site, last) != layout(site, night);
        assert!(is_other || is_redesigned || !has("changed"), "night {night}: {url} is as on night {last}: {changes}");
        assert!(!is_other || has("changed"), "night {night}: {url} has changed since night {last}: {changes}");
    }
}
