//! `kill -9` at random moments: nothing is lost, nothing is torn, nobody is asked too soon.
//!
//! `RUN_SLOW_TESTS=1 cargo test --release --test it killed -- --nocapture` kills 200 times over the real sites; without
//! the variable, a few times over the demo's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dehusk::demo::server::{Answer, Server};
use dehusk::demo::{answers, sites};
use dehusk_files::warc::Reader;

use crate::crawl::{DevSites, gaps};
use crate::skipped::is_asked_for;

struct Farm {
    answer: Arc<Answer>,
    seeds: Vec<String>,
    names: Vec<String>,
    pages_per_site: usize,
    kills: usize,
}

const DELAY: Duration = Duration::from_millis(100);

fn command(farm: &Farm, server: &Server, dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    let pairs: Vec<String> = farm.names.iter().map(|name| format!("\"{name}=127.0.0.1:{}\"", server.port())).collect();
    command.current_dir(dir).args(["crawl", "--config", "/dev/null", "--db", "k.db", "--warc", "warc", "list.txt"]);
    for pair in [
        format!("fetch.resolve=[{}]", pairs.join(",")),
        "fetch.allow_private=true".to_owned(),
        "politeness.key=host".to_owned(),
        format!("politeness.delay={}ms", DELAY.as_millis()),
        "politeness.max_back_off=0.2".to_owned(),
        "fetch.retries=3".to_owned(),
        format!("crawl.pages_per_site={}", farm.pages_per_site),
    ] {
        command.args(["--set", &pair]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// URLs with a cleaned snapshot.
fn pages(dir: &Path) -> BTreeSet<String> {
    let store = rusqlite::Connection::open(dir.join("k.db")).unwrap();
    let check: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut statement = store.prepare("SELECT DISTINCT url FROM pages WHERE cleaned_id IS NOT NULL").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn unfinished(dir: &Path) -> bool {
    let Ok(store) = rusqlite::Connection::open(dir.join("k.db")) else { return true };
    let outcome: Result<Option<String>, _> =
        store.query_row("SELECT outcome FROM runs ORDER BY id DESC LIMIT 1", [], |row| row.get(0));
    outcome.ok().flatten().as_deref() != Some("finished")
}

fn check(farm: &Farm) {
    let whole = tempfile::tempdir().unwrap();
    std::fs::write(whole.path().join("list.txt"), farm.seeds.join("\n")).unwrap();
    let server = Server::start(Arc::clone(&farm.answer)).unwrap();
    assert!(command(farm, &server, whole.path()).status().unwrap().code().is_some());
    let expected = pages(whole.path());
    let requests = server.arrivals().len();
    drop(server);
    let (mut kills, mut rounds, mut again, mut n_gaps, mut random) = (0, 0, 0, 0, 88_172_645_463_325_252_u64);
    while kills < farm.kills {
        rounds += 1;
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("list.txt"), farm.seeds.join("\n")).unwrap();
        let server = Server::start(Arc::clone(&farm.answer)).unwrap();
        let mut kills_here = 0;
        while unfinished(dir.path()) {
            let mut child = command(farm, &server, dir.path()).spawn().unwrap();
            if kills < farm.kills {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                std::thread::sleep(Duration::from_millis(30 + random % 600));
                if child.try_wait().unwrap().is_none() {
                    child.kill().unwrap();
                    kills += 1;
                    kills_here += 1;
                }
            }
            child.wait().unwrap();
            if dir.path().join("k.db").exists() {
                pages(dir.path());
            }
        }
        let got = pages(dir.path());
        let lost: Vec<&String> = expected.difference(&got).collect();
        let more: Vec<&String> = got.difference(&expected).collect();
        assert!(lost.is_empty() && more.is_empty(), "lost {lost:?}, more {more:?}");
        let arrivals = server.arrivals();
        for (host, gaps) in gaps(&arrivals) {
            assert!(gaps.iter().all(|gap| *gap >= DELAY), "{host}: {:?}", gaps.iter().min());
            n_gaps += gaps.len();
        }
        let mut asked: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for arrival in &arrivals {
            *asked.entry((&arrival.host, &arrival.path)).or_default() += 1;
        }
        let twice: usize = arrivals.len().saturating_sub(requests);
        // At most what was in flight: one request a host and kill.
        assert!(twice <= kills_here * farm.seeds.len(), "{twice} requests more after {kills_here} kills");
        again += twice;
        for file in std::fs::read_dir(dir.path().join("warc")).unwrap() {
            let path = file.unwrap().path();
            assert!(path.extension().is_none_or(|e| e != "open"), "{} was not closed", path.display());
            if path.extension().is_some_and(|e| e == "gz") {
                for record in Reader::open(&path).unwrap() {
                    record.unwrap();
                }
            }
        }
        if let Some(keep) = std::env::var_os("KEEP_WARC") {
            let to = Path::new(&keep).join(rounds.to_string());
            std::fs::create_dir_all(&to).unwrap();
            for file in std::fs::read_dir(dir.path().join("warc")).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_none() {
                    continue;
                }
                std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    println!(
        "{kills} kills over {rounds} crawls of {} pages: no page lost, none more, {again} requests made again, \
         {n_gaps} gaps, none under {DELAY:?}, every database and archive whole",
        expected.len()
    );
}

#[cfg(unix)]
#[test]
fn a_crawl_that_is_killed_goes_on_where_it_was() {
    let slow = is_asked_for("RUN_SLOW_TESTS");
    let farm = if slow {
        let Some(sites) = DevSites::load() else { return };
        Farm {
            seeds: sites.seeds.iter().map(ToString::to_string).collect(),
            names: sites.names().into_iter().map(str::to_owned).collect(),
            answer: sites.answer,
            pages_per_site: 25,
            kills: 200,
        }
    } else {
        // The one that fails at times would give another set of pages each time.
        let demo: Vec<_> = sites().into_iter().filter(|site| site.fails_every == 0).collect();
        Farm {
            seeds: demo.iter().map(|site| site.seed().unwrap().to_string()).collect(),
            names: demo.iter().map(|site| site.host()).collect(),
            answer: answers(Arc::new(demo)),
            pages_per_site: 12,
            kills: 8,
        }
    };
    check(&farm);
}
