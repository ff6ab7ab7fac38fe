//! Leases, sessions and transactions, on a server that the tests start.

use dehusk_core::rights::Rights;
use std::time::Duration;

use dehusk_html::PageUrl;

use super::{Session, SharedBackend};
use crate::contract::postgres_server::postgres_server;
use crate::run_backend::RunBackend;
use crate::sql::params;
use crate::{
    Backend, HostLease, HostRelease, NewVisit, Query, Reply, RunRequest, SiteOutcome, SiteWork, Store, StoreError,
    VisitOutcome, Write,
};
use dehusk_settings::{PolitenessScope, Settings};

const DELAY: Duration = Duration::from_secs(5);

/// A worker on a database, with hosts of these names in its run.
fn worker(address: &str, lease: Duration, hosts: &[String]) -> SharedBackend {
    let store = Store::create(address.as_ref(), 1).unwrap().leasing_by(PolitenessScope::Host);
    let run = store.begin_run(&RunRequest { at: 1000, ..RunRequest::default() }).unwrap();
    let mut seeds = hosts.iter().map(|host| PageUrl::parse(&format!("http://{host}/")).unwrap().into());
    store.queue_seeds(run.id, &mut seeds, 1000).unwrap();
    let session = Session::begin(&store, store.server().unwrap(), run.id, lease, DELAY).unwrap();
    SharedBackend::new(RunBackend::new(store, run, &Settings::default()), session)
}

fn hosts(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("h{n}.org")).collect()
}

fn lease(backend: &mut SharedBackend, n: usize) -> (Vec<(HostLease, SiteWork)>, bool) {
    backend.begin().unwrap();
    let reply = backend.query(Query::LeaseSites(n)).unwrap();
    backend.commit().unwrap();
    let Reply::LeasedSites { leased, is_over } = reply else { panic!("{reply:?}") };
    (leased, is_over)
}

fn lease_one(backend: &mut SharedBackend, key: &str) -> Option<HostLease> {
    backend.begin().unwrap();
    let reply = backend.query(Query::LeaseHost(key.to_owned())).unwrap();
    backend.commit().unwrap();
    let Reply::LeasedHost(_, lease) = reply else { panic!("{reply:?}") };
    lease
}

fn write(backend: &mut SharedBackend, writes: Vec<Write>) {
    backend.begin().unwrap();
    for write in writes {
        backend.apply(write).unwrap();
    }
    backend.commit().unwrap();
}

fn release(host: &HostLease, wait_ms: i64) -> Write {
    Write::HostReleased(HostRelease { host: HostLease { wait_ms, ..host.clone() }, reason: None })
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_host_is_leased_to_one_worker_and_waits_its_delay_for_the_next() {
    let Some(server) = postgres_server() else { return };
    let address = server.database();
    let (mut one, mut two) = (worker(&address, LONG, &hosts(6)), worker(&address, LONG, &[]));
    let (of_one, _) = lease(&mut one, 64);
    assert_eq!(of_one.len(), 3, "a worker's share");
    let (of_two, _) = lease(&mut two, 64);
    let both: std::collections::BTreeSet<&str> =
        of_one.iter().chain(&of_two).map(|(_, work)| work.host.as_str()).collect();
    assert_eq!(both.len(), of_one.len() + of_two.len(), "each once");
    let (host, work) = &of_one[0];
    assert_eq!(lease_one(&mut two, &host.key), None);
    assert_eq!(lease_one(&mut one, &host.key).unwrap().key, host.key, "its own");
    // A back-off and what the holder knows travel with the host.
    let state = HostLease { doublings: 3, failures: 2, parked: Some("why".to_owned()), ..host.clone() };
    let ended = Write::site_ended(work.id, SiteOutcome::Learned, 2000);
    write(&mut one, vec![ended, release(&state, 700)]);
    let next = lease_one(&mut two, &host.key).unwrap();
    assert!(next.wait_ms > 300 && next.wait_ms <= 700, "{next:?}");
    assert_eq!((next.doublings, next.failures, next.parked.as_deref()), (3, 2, Some("why")));
    write(&mut two, vec![release(&next, 0)]);
    // The run is over when no host waits or is leased.
    let (rest, _) = lease(&mut two, 9);
    assert!(!rest.is_empty() && !lease(&mut two, 9).1, "the others are at work");
    for (host, work) in &of_one[1..] {
        write(&mut one, vec![Write::site_ended(work.id, SiteOutcome::Learned, 2000), release(host, 0)]);
    }
    for (host, work) in of_two.iter().chain(&rest) {
        write(&mut two, vec![Write::site_ended(work.id, SiteOutcome::Learned, 2000), release(host, 0)]);
    }
    assert!(lease(&mut one, 9).1);
}

#[test]
fn sites_of_one_key_come_one_after_the_other() {
    let Some(server) = postgres_server() else { return };
    let address = server.database();
    let names = ["a.org".to_owned(), "a.org:8080".to_owned(), "a.org:8081".to_owned()];
    let mut one = worker(&address, LONG, &names);
    for n in 0..names.len() {
        let (leased, _) = lease(&mut one, 9);
        assert_eq!(leased.len(), 1, "site {n}");
        let (host, work) = &leased[0];
        assert!(lease(&mut one, 9).0.is_empty());
        write(&mut one, vec![Write::site_ended(work.id, SiteOutcome::Learned, 2000), release(host, 0)]);
    }
    assert!(lease(&mut one, 9).1);
}

#[test]
fn a_lost_worker_stores_nothing_and_its_hosts_wait_a_full_delay() {
    let Some(server) = postgres_server() else { return };
    let address = server.database();
    let lease_time = Duration::from_secs(2);
    let (mut lost, mut other) = (worker(&address, lease_time, &hosts(2)), worker(&address, LONG, &[]));
    let (leased, _) = lease(&mut lost, 9);
    lost.stop_heartbeats();
    assert!(!lost.session().gate.is_lost());
    std::thread::sleep(lease_time + Duration::from_millis(100));
    assert!(!lost.session().gate.is_open(), "by its own clock, before anybody else says so");
    other.store().reap(DELAY).unwrap();
    let ended = Write::site_ended(leased[0].1.id, SiteOutcome::Learned, 2000);
    assert!(matches!(lost.begin(), Err(StoreError::LeaseLost { .. })), "{ended:?} is not stored");
    let again = lease_one(&mut other, &leased[0].0.key).unwrap();
    assert!(!again.is_pace_known, "its own delay is not in it");
    assert!(again.wait_ms > 3000 && again.wait_ms <= 5000, "{again:?}");
}

#[test]
fn a_transaction_whose_connection_breaks_is_applied_once() {
    let Some(server) = postgres_server() else { return };
    let address = server.database();
    let mut one = worker(&address, LONG, &hosts(3));
    let (leased, _) = lease(&mut one, 2);
    let visit = |n: usize| {
        let visit = NewVisit {
            site_id: Some(leased[0].1.id),
            url: format!("http://h0.org/{n}"),
            kind: "page",
            sent_at: Some(2000),
            took_ms: None,
            status: None,
            raw_bytes: None,
            outcome: VisitOutcome::FetchError,
            reason: None,
            redirect_to: None,
            rights: Rights::default(),
        };
        Write::Visit(visit, None)
    };
    let cut = || {
        let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND datname = current_database()";
        server.sql(address.rsplit('/').next().unwrap(), kill);
        std::thread::sleep(Duration::from_millis(50));
    };
    one.begin().unwrap();
    one.apply(visit(1)).unwrap();
    cut();
    one.apply(visit(2)).unwrap();
    cut();
    one.commit().unwrap();
    cut();
    assert_eq!(lease(&mut one, 9).0.len(), 1, "the third host");
    write(&mut one, vec![visit(3)]);
    let count = one.store().row("SELECT count(*) FROM visits", params![], |row| row.get::<i64>(0));
    assert_eq!(count.unwrap(), 3);
    // A commit that was carried out, of which the worker did not hear.
    one.begin().unwrap();
    one.apply(visit(4)).unwrap();
    one.store().batch("COMMIT").unwrap();
    cut();
    one.commit().unwrap();
    let count = one.store().row("SELECT count(*) FROM visits", params![], |row| row.get::<i64>(0));
    assert_eq!(count.unwrap(), 4);
}
