//! A frontier of many hosts on PostgreSQL: how long it takes to load, and how long a lease takes with eight clients.
//!
//! `scripts/measure_frontier.sh` starts a server for it. `cargo bench --features postgres --bench frontier -- ADDRESS
//! HOSTS URLS` needs one with an empty database; URLS is the number of URLs of each host.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a benchmark")]

use std::path::Path;
use std::time::{Duration, Instant};

use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::{HostLease, HostRelease, Query, Reply, RunRequest, SiteOutcome, Store, Write, start_backend};

/// Clients at once.
const CLIENTS: usize = 8;

/// Leases of each client.
const LEASES: usize = 200;

/// Hosts wanted by each lease.
const WANTED: usize = 32;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [address, hosts, urls] = arguments.as_slice() else {
        println!("frontier: skipped, it needs ADDRESS HOSTS URLS; see scripts/measure_frontier.sh");
        return;
    };
    let (hosts, urls): (usize, usize) = (hosts.parse().unwrap(), urls.parse().unwrap());
    load(address, hosts, urls);
    lease(address);
}

fn open(address: &str) -> Store {
    Store::create(Path::new(address), 3).unwrap()
}

fn request() -> RunRequest<'static> {
    RunRequest { at: 1000, settings: "{}", ..RunRequest::default() }
}

fn load(address: &str, hosts: usize, urls: usize) {
    let store = open(address);
    let run = store.begin_run(&request()).unwrap();
    let url = |n: usize| {
        let (host, page) = (n / urls, n % urls);
        let path = if page == 0 { String::new() } else { format!("articles/2026/{page}/a-title-of-usual-length.html") };
        PageUrl::parse(&format!("https://www.site-number-{host}.com/{path}")).unwrap().into()
    };
    let began = Instant::now();
    let queued = store.queue_seeds(run.id, &mut (0..hosts * urls).map(url), 1000).unwrap();
    let took = began.elapsed().as_secs_f64();
    let n = (hosts * urls) as f64;
    println!("load    {} hosts, {} URLs in {took:.0} s: {:.0} URLs/s", queued.sites, n, n / took);
    println!("size    {:.2} GB", store.used_bytes().unwrap() as f64 / 1e9);
}

fn lease(address: &str) {
    let threads: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let address = address.to_owned();
            std::thread::spawn(move || client(&address))
        })
        .collect();
    let began = Instant::now();
    let (mut took, mut n) = (Vec::new(), 0);
    for thread in threads {
        let (times, hosts) = thread.join().unwrap();
        took.extend(times);
        n += hosts;
    }
    let seconds = began.elapsed().as_secs_f64();
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "lease   {} by {CLIENTS} clients: {n} hosts in {seconds:.1} s, {:.0} hosts/s; p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms",
        took.len(),
        n as f64 / seconds,
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// Leases hosts, ends their sites and gives them back. Returns how long each lease took, and the number of hosts.
fn client(address: &str) -> (Vec<Duration>, usize) {
    let store = open(address);
    let run = store.begin_run(&request()).unwrap();
    let (mut backend, _) = start_backend(store, run, &Settings::default()).unwrap();
    let (mut took, mut n) = (Vec::new(), 0);
    for _ in 0..LEASES {
        let began = Instant::now();
        backend.begin().unwrap();
        let reply = backend.query(Query::LeaseSites(WANTED)).unwrap();
        took.push(began.elapsed());
        let Reply::LeasedSites { leased, .. } = reply else { panic!("{reply:?}") };
        n += leased.len();
        for (host, work) in leased {
            backend.apply(Write::site_ended(work.id, SiteOutcome::Learned, 2000)).unwrap();
            let host = HostLease { wait_ms: 1000, ..host };
            backend.apply(Write::HostReleased(HostRelease { host, reason: None })).unwrap();
        }
        backend.commit().unwrap();
    }
    backend.begin().unwrap();
    backend.apply(Write::RunEnded { outcome: "interrupted", at: 3000 }).unwrap();
    backend.commit().unwrap();
    (took, n)
}
