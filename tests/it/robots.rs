//! What each answer to a robots.txt request allows, seen from the server: statuses, redirects, silence, size.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;

use crate::crawl::{run, settings};

/// What is asked of a host whose robots.txt is this answer: is its key page fetched, and why not?
fn crawl(answer: fn(&str, &str) -> Reply, hosts: &[String]) -> (BTreeMap<String, Result<(), String>>, Server) {
    let server = Server::start(Arc::new(move |host: &str, path: &str| match path {
        "/" => Reply::html("<p>a key page without links"),
        _ => answer(host, path),
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("r.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::ZERO;
    settings.fetch.retries = 0;
    // A sitemap would be looked for, as no page has links.
    settings.crawl.sitemaps = false;
    settings.fetch.timeout = Duration::from_secs(2);
    let seeds = hosts.iter().map(|host| PageUrl::parse(&format!("http://{host}/")).unwrap()).collect();
    let (_, ended) = run(seeds, &settings);
    let asked = server.arrivals();
    let of_host = |host: &String| {
        let is_asked = asked.iter().any(|arrival| arrival.host == *host && arrival.path == "/");
        let reason = ended[host].reason.clone().unwrap_or_default();
        (host.clone(), if is_asked { Ok(()) } else { Err(reason) })
    };
    (hosts.iter().map(of_host).collect(), server)
}

fn forbidden(verdict: &Result<(), String>, reason: &str) {
    assert!(verdict.as_ref().is_err_and(|said| said.contains(reason)), "{verdict:?}, wanted {reason}");
}

#[test]
fn each_status_allows_what_rfc_9309_says() {
    const FENCE: &str = "User-agent: *\nDisallow: /\n";
    let statuses = [200, 201, 203, 206, 304, 400, 401, 402, 403, 404, 405, 406, 410, 418, 421, 429, 451, 499];
    let broken = [500, 501, 502, 503, 504, 508, 511, 520, 599];
    let hosts: Vec<String> = statuses.iter().chain(&broken).map(|status| format!("s{status}.test")).collect();
    let (verdicts, _) = crawl(|host, _| Reply { status: host[1..4].parse().unwrap(), ..Reply::text(FENCE) }, &hosts);
    for (host, verdict) in &verdicts {
        match host[1..4].parse::<u16>().unwrap() {
            200..=299 => forbidden(verdict, "robots.txt forbids it"),
            429 => forbidden(verdict, "429"),
            300..=499 => assert!(verdict.is_ok(), "{host}: {verdict:?}"),
            _ => forbidden(verdict, "server error"),
        }
    }
    assert_eq!(verdicts.len(), statuses.len() + broken.len());
}

#[test]
fn five_redirects_are_followed_and_no_more() {
    let hosts: Vec<String> = (0..8).map(|n| format!("r{n}.test")).chain(["ring.test".to_owned()]).collect();
    let (verdicts, server) = crawl(
        |host, path| {
            let hops: usize = host[1..].split('.').next().unwrap().parse().unwrap_or(usize::MAX);
            let at: usize = path.trim_start_matches("/hop").parse().unwrap_or(0);
            let status = [301, 302, 303, 307, 308][at % 5];
            if at < hops {
                Reply::redirect(status, &format!("/hop{}", at + 1))
            } else {
                Reply::text("User-agent: *\nDisallow: /\n")
            }
        },
        &hosts,
    );
    for (host, verdict) in &verdicts {
        match host[1..].split('.').next().unwrap().parse::<usize>() {
            Ok(0..=5) => forbidden(verdict, "robots.txt forbids it"),
            // RFC 9309, 2.3.1.2: beyond the fifth the rules may be taken for unavailable.
            _ => assert!(verdict.is_ok(), "{host}: {verdict:?}"),
        }
    }
    let asked = |host: &str| server.arrivals().iter().filter(|a| a.host == host && a.path != "/").count();
    assert_eq!((asked("r3.test"), asked("r5.test"), asked("r7.test"), asked("ring.test")), (4, 6, 6, 6));
}

/// The rules of another host count for the host that named it, not for that other host.
#[test]
fn a_redirect_to_another_host_gives_the_rules_of_the_first() {
    let hosts = ["from.test", "to.test"].map(str::to_owned);
    let (verdicts, _) = crawl(
        |host, path| match (host, path) {
            ("from.test", _) => Reply::redirect(302, "http://to.test/rules"),
            (_, "/rules") => Reply::text("User-agent: *\nDisallow: /\n"),
            _ => Reply::status(404),
        },
        &hosts,
    );
    forbidden(&verdicts["from.test"], "robots.txt forbids it");
    assert!(verdicts["to.test"].is_ok());
}

#[test]
fn silence_and_lost_connections_forbid_all() {
    let begun = Instant::now();
    let hosts = ["slow.test", "gzip.test"].map(str::to_owned);
    let (verdicts, _) = crawl(
        |host, _| match host {
            "slow.test" => Reply { wait: Duration::from_secs(30), ..Reply::text("User-agent: *\nAllow: /\n") },
            _ => Reply::text(b"\x1f\x8b\x08 this is no gzip".to_vec()).with("content-encoding", "gzip"),
        },
        &hosts,
    );
    for verdict in verdicts.values() {
        forbidden(verdict, "robots.txt cannot be reached");
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// The first 500 KiB count, whatever follows them.
#[test]
fn size_cuts_rules_and_refuses_none() {
    let hosts = ["inside.test", "beyond.test", "large.test"].map(str::to_owned);
    let (verdicts, _) = crawl(
        |host, _| {
            let comment = |n: usize| "# a line of a comment to fill a file\n".repeat(n / 37);
            let rule = "User-agent: *\nDisallow: /\n";
            Reply::text(match host {
                "inside.test" => comment(490 << 10) + rule,
                "beyond.test" => comment(513 << 10) + rule,
                _ => rule.to_owned() + &comment(20 << 20),
            })
        },
        &hosts,
    );
    forbidden(&verdicts["inside.test"], "robots.txt forbids it");
    assert!(verdicts["beyond.test"].is_ok(), "{verdicts:?}");
    forbidden(&verdicts["large.test"], "robots.txt forbids it");
}
