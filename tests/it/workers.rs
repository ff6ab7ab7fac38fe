//! Several crawls on one PostgreSQL database: whatever happens to a worker, its network or the server, no host is asked
//! too soon by any two of them, nothing is lost, and nothing is stored twice.
//!
//! `RUN_SLOW_TESTS=1 cargo test --release --features postgres --test it workers -- --nocapture` repeats each fault 20 times.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use dehusk::demo::server::{Answer, Reply, Server};
use dehusk::demo::{DemoSite, answers, sites};

use crate::crawl::gaps;
use crate::postgres_server::{PostgresServer, postgres_server};
use crate::skipped::is_asked_for;

const DELAY: Duration = Duration::from_millis(100);

/// The shortest lease that the settings allow.
const LEASE: Duration = Duration::from_secs(2);

/// Longest time of one crawl.
const LONGEST: Duration = Duration::from_secs(120);

/// Sites that always answer the same, and what one crawl of them stores.
fn farm() -> &'static Farm {
    static FARM: OnceLock<Farm> = OnceLock::new();
    FARM.get_or_init(Farm::demo)
}

fn is_slow_run() -> bool {
    static ASKED: LazyLock<bool> = LazyLock::new(|| is_asked_for("RUN_SLOW_TESTS"));
    *ASKED
}

struct Farm {
    answer: Arc<Answer>,
    names: Vec<String>,
    seeds: Vec<String>,
    pages: BTreeSet<String>,
    /// Requests of that crawl.
    n_requests: usize,
}

impl Farm {
    fn demo() -> Farm {
        // One that fails at times would give another set of pages each time. The one that is slow decides how long a
        // crawl takes.
        let is_used = |site: &DemoSite| site.fails_every == 0 && (site.wait.is_zero() || is_slow_run());
        let sites: Vec<DemoSite> = sites().into_iter().filter(is_used).collect();
        let seeds = sites.iter().map(|site| site.seed().unwrap().to_string()).collect();
        let names = sites.iter().map(DemoSite::host).collect();
        let farm = Farm::new(answers(Arc::new(sites)), names, seeds);
        assert!(farm.pages.len() > 70, "{}", farm.pages.len());
        farm
    }

    fn new(answer: Arc<Answer>, names: Vec<String>, seeds: Vec<String>) -> Farm {
        let mut farm = Farm { answer, names, seeds, pages: BTreeSet::new(), n_requests: 0 };
        let (dir, server) = farm.start();
        let status = farm.command(&server, dir.path(), "one.db").status().unwrap();
        assert!(status.success());
        let store = rusqlite::Connection::open(dir.path().join("one.db")).unwrap();
        let mut statement = store.prepare("SELECT DISTINCT url FROM pages WHERE cleaned_id IS NOT NULL").unwrap();
        farm.n_requests = server.arrivals().len();
        farm.pages = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        farm
    }

    fn start(&self) -> (tempfile::TempDir, Server) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("list.txt"), self.seeds.join("\n")).unwrap();
        (dir, Server::start(Arc::clone(&self.answer)).unwrap())
    }

    fn command(&self, server: &Server, dir: &Path, db: &str) -> Command {
        self.command_by(Command::new(env!("CARGO_BIN_EXE_dehusk")), server, dir, db)
    }

    fn command_by(&self, mut command: Command, server: &Server, dir: &Path, db: &str) -> Command {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let pairs: Vec<String> =
            self.names.iter().map(|name| format!("\"{name}=127.0.0.1:{}\"", server.port())).collect();
        command.current_dir(dir).args(["crawl", "--config", "/dev/null", "--db", db, "list.txt"]);
        for pair in [
            format!("fetch.resolve=[{}]", pairs.join(",")),
            "fetch.allow_private=true".to_owned(),
            "politeness.key=host".to_owned(),
            format!("politeness.delay={}ms", DELAY.as_millis()),
            "politeness.max_back_off=0.2".to_owned(),
            "fetch.retries=3".to_owned(),
            format!("store.lease={}", LEASE.as_secs()),
            "crawl.pages_per_site=12".to_owned(),
            "crawl.sites_at_once=3".to_owned(),
        ] {
            command.args(["--set", &pair]);
        }
        let log = dir.join(format!("{}.log", NUMBER.fetch_add(1, Ordering::Relaxed)));
        command.stdout(Stdio::null()).stderr(std::fs::File::create(log).unwrap());
        command
    }
}

/// What happens while three workers are at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// One is killed, another one joins.
    Kill,
    /// One is stopped for longer than its lease, and goes on.
    Pause,
    /// One is told to end.
    Drain,
    /// The network between one of them and the server swallows everything for longer than a lease.
    Cut,
    /// The server is ended at once and started again.
    Restart,
    /// The clock of one is two minutes ahead.
    Clock,
}

/// A crawl by three workers, with a fault. Returns the number of gaps between requests that were checked.
fn crawl(farm: &Farm, postgres: &PostgresServer, fault: Fault, wait: Duration) -> usize {
    let (dir, server) = farm.start();
    let address = postgres.database();
    let database = address.rsplit('/').next().unwrap().to_owned();
    let proxy = Proxy::start(postgres.port());
    let first_address = match fault {
        Fault::Cut => address.replace(&format!(":{}/", postgres.port()), &format!(":{}/", proxy.port)),
        _ => address.clone(),
    };
    let program = env!("CARGO_BIN_EXE_dehusk");
    let first = match fault {
        Fault::Clock => {
            let mut command = Command::new("faketime");
            command.args(["-f", "+120s", program]).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            command
        }
        _ => Command::new(program),
    };
    let mut workers = vec![farm.command_by(first, &server, dir.path(), &first_address).spawn().unwrap()];
    for _ in 0..2 {
        workers.push(farm.command(&server, dir.path(), &address).spawn().unwrap());
    }
    std::thread::sleep(wait);
    let pid = workers[0].id().to_string();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    match fault {
        Fault::Nothing | Fault::Clock => {}
        Fault::Kill => {
            workers[0].kill().unwrap();
            workers.push(farm.command(&server, dir.path(), &address).spawn().unwrap());
        }
        Fault::Pause => {
            signal("-STOP");
            std::thread::sleep(LEASE * 2);
            signal("-CONT");
        }
        Fault::Drain => signal("-TERM"),
        Fault::Cut => {
            proxy.cut();
            std::thread::sleep(LEASE * 2);
            proxy.heal();
        }
        Fault::Restart => postgres.restart(),
    }
    let codes: Vec<Option<i32>> = workers.iter_mut().map(|worker| ended(worker, dir.path())).collect();
    let expected = match fault {
        Fault::Kill => vec![None, Some(0), Some(0), Some(0)],
        Fault::Drain => vec![Some(4), Some(0), Some(0)],
        _ => vec![Some(0); 3],
    };
    // A worker whose run was ended by others while it was away may have nothing to join.
    let may_be_late = matches!(fault, Fault::Pause | Fault::Cut) && codes[0] == Some(3) && codes[1..] == expected[1..];
    assert!(codes == expected || may_be_late, "{fault:?}: {codes:?}\n{}", logs(dir.path()));
    check(farm, postgres, &database, &server, fault, dir.path())
}

fn check(farm: &Farm, postgres: &PostgresServer, database: &str, server: &Server, fault: Fault, dir: &Path) -> usize {
    let outcome = postgres.sql(database, "SELECT outcome, count(*) FROM runs GROUP BY 1");
    assert_eq!(outcome, "finished|1", "{fault:?}\n{}", logs(dir));
    let pages = postgres.sql(database, "SELECT DISTINCT url FROM pages WHERE cleaned_id IS NOT NULL");
    let pages: BTreeSet<String> = pages.lines().map(str::to_owned).collect();
    let lost: Vec<&String> = farm.pages.difference(&pages).collect();
    let more: Vec<&String> = pages.difference(&farm.pages).collect();
    assert!(lost.is_empty() && more.is_empty(), "{fault:?}: lost {lost:?}, more {more:?}\n{}", logs(dir));
    let twice =
        "SELECT url, count(*) FROM visits WHERE kind = 'page' AND outcome = 'fetched' GROUP BY 1 HAVING count(*) > 1";
    assert_eq!(postgres.sql(database, twice), "", "{fault:?}: stored twice\n{}", logs(dir));
    let held = "SELECT count(*) FROM hosts WHERE worker_id IS NOT NULL OR run_id IS NOT NULL";
    assert_eq!(postgres.sql(database, held), "0", "{fault:?}: still leased");
    let arrivals = server.arrivals();
    if matches!(fault, Fault::Nothing | Fault::Drain | Fault::Restart | Fault::Clock) {
        // robots.txt rules and all else that is known travel with a host.
        assert_eq!(arrivals.len(), farm.n_requests, "{fault:?}: requests");
    }
    let mut n = 0;
    for (host, gaps) in gaps(&arrivals) {
        assert!(gaps.iter().all(|gap| *gap >= DELAY), "{fault:?}: {host}: {:?}\n{}", gaps.iter().min(), logs(dir));
        n += gaps.len();
    }
    n
}

/// Waits for a worker, not for ever. Returns its exit code.
fn ended(worker: &mut Child, dir: &Path) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = worker.try_wait().unwrap() {
            return status.code();
        }
        if began.elapsed() > LONGEST {
            worker.kill().unwrap();
            worker.wait().unwrap();
            panic!("a worker did not end\n{}", logs(dir));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn logs(dir: &Path) -> String {
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    files.sort();
    files.iter().map(|path| format!("{}:\n{}", path.display(), std::fs::read_to_string(path).unwrap())).collect()
}

/// A proxy that can swallow what passes. Connections that were cut stay so; new ones work again.
struct Proxy {
    port: u16,
    /// Even: healthy. Connections remember the number that they began with.
    state: Arc<AtomicUsize>,
}

impl Proxy {
    fn start(to: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, state) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
        let now = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let began = now.load(Ordering::SeqCst);
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to, now) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&now));
                    std::thread::spawn(move || pass(from, to, began, &now));
                }
            }
        });
        Proxy { port, state }
    }

    fn cut(&self) {
        self.state.fetch_add(1, Ordering::SeqCst);
    }

    fn heal(&self) {
        self.state.fetch_add(1, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, began: usize, now: &AtomicUsize) {
    let mut bytes = [0; 8192];
    while let Ok(n) = from.read(&mut bytes) {
        let is_healthy = now.load(Ordering::SeqCst) == began && began.is_multiple_of(2);
        if n == 0 || (is_healthy && to.write_all(&bytes[..n]).is_err()) {
            break;
        }
    }
    if now.load(Ordering::SeqCst) == began {
        let _ = to.shutdown(Shutdown::Both);
    }
}

#[test]
fn workers_share_a_run_whatever_happens_to_them() {
    // A server of its own, which is restarted.
    let Some(postgres) = PostgresServer::start() else { return };
    let farm = farm();
    let mut faults = vec![Fault::Kill, Fault::Pause, Fault::Cut];
    if is_slow_run() {
        faults.extend([Fault::Restart, Fault::Nothing, Fault::Drain]);
    }
    match Command::new("faketime").arg("--version").output() {
        Ok(_) if is_slow_run() => faults.push(Fault::Clock),
        Ok(_) => {}
        Err(_) => crate::skipped::skipped("no faketime to set the clock of a worker"),
    }
    // RUN_SLOW_TESTS=5 repeats each fault five times.
    let slow = std::env::var("RUN_SLOW_TESTS").ok();
    let rounds = slow.map_or(1, |n| n.parse().ok().filter(|n| *n > 1).unwrap_or(20));
    for fault in faults {
        let mut n = 0;
        for round in 0..rounds {
            n += crawl(farm, &postgres, fault, Duration::from_millis(900 + 137 * round));
        }
        println!(
            "{fault:?}: {rounds} crawls of {} pages by 3 workers: {n} gaps, none under {DELAY:?}",
            farm.pages.len()
        );
    }
}

#[test]
fn commands_read_a_shared_database_as_they_read_a_file() {
    let Some(postgres) = postgres_server() else { return };
    let farm = farm();
    let (dir, server) = farm.start();
    let address = postgres.database();
    for db in ["one.db", &address] {
        assert!(farm.command(&server, dir.path(), db).status().unwrap().success(), "{}", logs(dir.path()));
    }
    let run = |args: &[&str], db: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_dehusk")).args(args).args(["--db", db]).current_dir(dir.path()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Times, and the order of what came at the same time, differ.
    let lines = |text: String| {
        let times =
            regex::Regex::new(r#""(fetched_at|learned_at|[a-z_]+_at|at)":("[^"]*"|\d+),?|\d{4}-\d\d-\d\d[T ][\d:]+Z?"#);
        let text = times.unwrap().replace_all(&text, "").into_owned();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let host = farm.names[0].clone();
    let page = farm.pages.iter().next().unwrap();
    for args in [
        &["templates", "list", "--json"][..],
        &["templates", "export", &host],
        &["pages", "list"],
        &["pages", "list", &host],
        &["pages", "show", page],
        &["pages", "history", page],
    ] {
        assert_eq!(lines(run(args, "one.db")), lines(run(args, &address)), "{args:?}");
    }
    for (db, out) in [("one.db", "file"), (address.as_str(), "server")] {
        run(&["export", "--out", out], db);
    }
    #[cfg(feature = "serve")]
    crate::serve::shows_both(dir.path(), &address, &host, page, lines);
    assert!(run(&["runs", "list"], &address).contains("finished"));
    assert!(run(&["workers", "--all"], &address).contains("left"));
    assert!(run(&["runs", "show", "--json"], &address).contains("\"learned\""));
}

#[test]
fn a_redirect_waits_for_the_host_that_another_worker_has() {
    let Some(postgres) = postgres_server() else { return };
    let answer = |host: &str, path: &str| match (&host[..1], path) {
        (_, "/robots.txt") => Reply::status(404),
        ("r", _) => Reply::redirect(302, &format!("http://t{}{path}", &host[1..])),
        _ => {
            let menu: String = (1..9).map(|n| format!("<li><a href=/{n}>Page {n}</a></li>")).collect();
            let text = format!("<p>What {path} of {host} says, in a sentence of its own.</p>").repeat(3);
            Reply::html(format!("<h1>{host}</h1><ul>{menu}</ul><article>{text}</article><p>Imprint of {host}</p>"))
        }
    };
    let names: Vec<String> = (0..6).flat_map(|n| [format!("r{n}.test"), format!("t{n}.test")]).collect();
    let seeds = names.iter().map(|name| format!("http://{name}/")).collect();
    let farm = Farm::new(Arc::new(answer), names, seeds);
    let (dir, server) = farm.start();
    let address = postgres.database();
    let database = address.rsplit('/').next().unwrap();
    let mut workers: Vec<Child> =
        (0..3).map(|_| farm.command(&server, dir.path(), &address).spawn().unwrap()).collect();
    for worker in &mut workers {
        assert_eq!(ended(worker, dir.path()), Some(0), "{}", logs(dir.path()));
    }
    let pages = postgres.sql(database, "SELECT DISTINCT url FROM pages WHERE cleaned_id IS NOT NULL");
    assert_eq!(pages.lines().map(str::to_owned).collect::<BTreeSet<_>>(), farm.pages);
    let outcomes =
        postgres.sql(database, "SELECT left(host, 1), outcome, count(*) FROM sites GROUP BY 1, 2 ORDER BY 1");
    assert_eq!(outcomes, "r|moved|6\nt|learned|6", "{}", logs(dir.path()));
    assert_eq!(postgres.sql(database, "SELECT outcome FROM runs"), "finished");
    for (host, gaps) in gaps(&server.arrivals()) {
        assert!(gaps.iter().all(|gap| *gap >= DELAY), "{host}: {gaps:?}\n{}", logs(dir.path()));
    }
}
