//! A farm of a hundred domains: politeness to the millisecond, at the server's clock, whatever some of them do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;
use dehusk_settings::DelayFrom;

use crate::crawl::{gaps, run, settings};
use crate::hostile::Raw;

const PAGES: usize = 20;
const DELAY: Duration = Duration::from_millis(200);
const LATENCY: Duration = Duration::from_millis(50);

fn page(host: &str, path: &str) -> Reply {
    if path == "/robots.txt" {
        return Reply { wait: LATENCY, ..Reply::text("User-agent: *\nDisallow: /private\n") };
    }
    let links: String = (0..PAGES).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    Reply { wait: LATENCY, ..Reply::html(format!("<ul>{links}</ul><p>{path} of {host}<p>the same everywhere")) }
}

/// One core of this machine serves, the other one crawls; what is printed is a ratio, what is asserted is politeness.
fn farm(from: DelayFrom, bad: &[String]) {
    let server = Server::start(Arc::new(page)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("f.db"), &server, &["*.test"]);
    settings.politeness.delay = DELAY;
    settings.politeness.delay_from = from;
    settings.crawl.pages_per_site = PAGES;
    settings.crawl.probe = false;
    settings.fetch.timeout = Duration::from_secs(3);
    settings.fetch.resolve.extend(bad.iter().cloned());
    let mut seeds: Vec<PageUrl> = bad
        .iter()
        .map(|pair| PageUrl::parse(&format!("http://{}/0", pair.split('=').next().unwrap())).unwrap())
        .collect();
    seeds.extend((0..100).map(|i| PageUrl::parse(&format!("http://h{i}.test/0")).unwrap()));
    let start = Instant::now();
    let (summary, _) = run(seeds, &settings);
    let arrivals = server.arrivals();
    let per_host = gaps(&arrivals);
    assert_eq!((summary.stats.learned, per_host.len()), (100, 100));
    let least = if from == DelayFrom::End { DELAY + LATENCY } else { DELAY };
    let mut n_gaps = 0;
    for (host, gaps) in &per_host {
        assert_eq!(gaps.len(), PAGES, "{host}: robots.txt and {PAGES} pages");
        assert!(gaps.iter().all(|gap| *gap >= least), "{host}: {:?} under {least:?}", gaps.iter().min());
        n_gaps += gaps.len();
    }
    // The good ones, from the first arrival to the end of the last answer.
    let took = arrivals.last().unwrap().at - arrivals[0].at + LATENCY;
    let ideal = least * PAGES as u32 + LATENCY;
    println!(
        "{from:?}, {} bad domains: {n_gaps} gaps, none under {least:?}; the good ones {took:.2?}, {:.3} times the ideal {ideal:.2?}; all {:.2?}",
        bad.len(),
        took.as_secs_f64() / ideal.as_secs_f64(),
        start.elapsed(),
    );
}

#[test]
fn no_gap_is_too_short_from_start_to_start_and_from_end_to_start() {
    farm(DelayFrom::Start, &[]);
    farm(DelayFrom::End, &[]);
}

#[test]
fn domains_in_trouble_slow_down_nobody_else() {
    let raw = Raw::start();
    let bad: Vec<String> = ["ten-seconds.raw", "never.raw", "drip.raw", "busy.raw"]
        .iter()
        .map(|name| format!("{name}={}", raw.address()))
        .collect();
    farm(DelayFrom::Start, &bad);
}
