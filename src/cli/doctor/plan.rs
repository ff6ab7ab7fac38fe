//! What a crawl of the seeds would do.

use rustc_hash::FxHashMap;

use super::{Check, duration, seeds};
use crate::cli::table::{count, count_of};
use dehusk_crawl::politeness::PolitenessKey;
use dehusk_html::PageUrl;
use dehusk_settings::{Mode, Settings};

/// URLs whose robots.txt is asked, at most.
const MOST_ASKED: usize = 20;

/// Says what there is to crawl, and lists pages whose robots.txt can be asked, one of each host.
pub(super) fn checks(given: &[String], settings: &Settings) -> (Vec<Check>, Vec<PageUrl>) {
    let seeds = match seeds(given, settings) {
        Ok(seeds) => seeds,
        Err(text) if given.is_empty() && settings.crawl.seeds == Settings::default().crawl.seeds => {
            return (vec![Check::note("seeds", text, "name URLs, or set crawl.seeds to your lists")], Vec::new());
        }
        Err(text) => return (vec![Check::problem("seeds", text, "name a URL, a host, or a file of them")], Vec::new()),
    };
    if seeds.is_stream() {
        return (vec![Check::ok("seeds", "they come from a pipe while the crawl runs")], Vec::new());
    }
    let rejected = seeds.rejected();
    // Seeds of each host, with the domain that it waits for.
    let mut hosts = FxHashMap::<String, (PolitenessKey, usize)>::default();
    let (mut n, mut asked) = (0, Vec::new());
    for seed in seeds.into_seeds() {
        n += 1;
        let domain = || PolitenessKey::new(&seed.url, settings.politeness.key, None);
        let of_host = hosts.entry(seed.url.authority()).or_insert_with(|| (domain(), 0));
        of_host.1 += 1;
        if of_host.1 == 1 && asked.len() < MOST_ASKED {
            asked.push(seed.url);
        }
    }
    let pages = settings.crawl.pages_per_site.max(settings.core.learn.search.max_loads + 1);
    let mut domains = FxHashMap::<PolitenessKey, usize>::default();
    for (domain, seeds) in hosts.values() {
        // Seeds are fetched whatever crawl.pages_per_site says. One request is for robots.txt.
        let requests = domains.entry(domain.clone()).or_default();
        *requests = requests.saturating_add(pages.max(*seeds)).saturating_add(1);
    }
    let text =
        format!("{}, {}, {}", count_of(n, "URL"), count_of(hosts.len(), "host"), count_of(domains.len(), "domain"));
    let seeds = match (n, rejected.count()) {
        (0, _) => Check::problem("seeds", "there is none", "name URLs, or a file with one URL on a line"),
        (_, 0) => Check::ok("seeds", text),
        (_, wrong) => Check::note("seeds", format!("{text}; {} lines are no URLs", count(wrong)), "correct them"),
    };
    let mut checks = vec![seeds];
    if n > 0 {
        let all = domains.values().fold(0_usize, |all, requests| all.saturating_add(*requests));
        checks.extend(plan(all, domains.values().max().copied().unwrap_or(0), settings));
    }
    (checks, asked)
}

/// How many requests a crawl sends in all and to one domain, how long it takes, and where it puts what it finds.
fn plan(all: usize, longest: usize, settings: &Settings) -> [Check; 3] {
    let delay = settings.politeness.delay.as_secs_f64();
    let what = match settings.crawl.mode {
        Mode::Full => "pages, and the template of each site,",
        Mode::Links => "visits and links, without pages,",
    };
    [
        Check::ok(
            "requests",
            format!(
                "a crawl sends up to {} for pages and robots.txt; redirects, retries, sitemaps and feeds come on top",
                count(all)
            ),
        ),
        Check::ok(
            "time",
            format!(
                "{} for the largest domain: {} requests, one at a time, {delay} s apart; more where servers are slow",
                duration(longest as f64 * delay),
                count(longest)
            ),
        ),
        Check::ok("output", format!("{what} are stored in {}", dehusk_store::shown(&settings.store.path))),
    ]
}
