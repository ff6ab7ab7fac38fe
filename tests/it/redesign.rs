//! Thirty nights over the demo's ten sites, whose templates stay, change block by block, or become others.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dehusk::demo::server::{Answer, Server};
use dehusk::demo::{DemoSite, Redesign, SUDDEN_NIGHT, answers, check_site, on_night, sites};
use dehusk_store::Store;

use crate::crawl::{run, settings};

const NIGHTS: u64 = 30;

/// What the nights were like.
#[derive(Debug, Default)]
struct Nights {
    /// Night and host of each template that was learned anew.
    relearned: Vec<(u64, String)>,
    requests: usize,
    /// Mean node F1 of all pages of all sites, by night.
    nodes: Vec<f64>,
    /// Least share of a site's own words that were kept, over all nights.
    least_kept: f64,
}

fn tonight(redesign: Redesign, night: u64) -> Vec<DemoSite> {
    let quick = |site: DemoSite| DemoSite { wait: Duration::ZERO, fails_every: 0, ..site };
    sites().into_iter().map(|site| on_night(&quick(site), redesign, night)).collect()
}

fn nights(redesign: Redesign) -> Nights {
    let served = Arc::new(Mutex::new(answers(Arc::new(tonight(redesign, 1)))));
    let current = Arc::clone(&served);
    let answer: Arc<Answer> = Arc::new(move |host, path| {
        let answer = Arc::clone(&current.lock().unwrap());
        answer(host, path)
    });
    let server = Server::start(answer).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.demo.test"]);
    settings.politeness.delay = Duration::from_millis(1);
    settings.revisit.first = Duration::ZERO;
    settings.revisit.least = Duration::ZERO;
    let mut result = Nights { least_kept: 1.0, ..Nights::default() };
    for night in 1..=NIGHTS {
        let sites = tonight(redesign, night);
        let seeds = sites.iter().map(|site| site.seed().unwrap()).collect();
        *served.lock().unwrap() = answers(Arc::new(tonight(redesign, night)));
        let (summary, ended) = run(seeds, &settings);
        assert_eq!(summary.stats.failed, 0, "night {night}: {ended:?}");
        let anew = ended.values().filter(|site| site.old_template_coverage.is_some());
        assert_eq!(anew.clone().count(), summary.stats.redesigned);
        result.relearned.extend(anew.map(|site| (night, site.host.clone())));
        let store = Store::open(Path::new(&settings.store.path)).unwrap();
        let mut f1 = 0.0;
        for site in &sites {
            let check = check_site(site, &store.load_template(&site.host(), None).unwrap().unwrap());
            f1 += check.nodes.f1 / sites.len() as f64;
            result.least_kept = result.least_kept.min(check.words_kept);
        }
        result.nodes.push(f1);
    }
    result.requests = server.arrivals().len();
    result
}

fn report(name: &str, nights: &Nights) -> f64 {
    let least = nights.nodes.iter().copied().fold(1.0, f64::min);
    let mean = nights.nodes.iter().sum::<f64>() / nights.nodes.len() as f64;
    println!(
        "{name}: learned anew {:?}; {} requests in {NIGHTS} nights; node F1 mean {mean:.3}, worst night {least:.3}, \
         least own words kept {:.3}",
        nights.relearned, nights.requests, nights.least_kept
    );
    mean
}

#[test]
fn news_are_no_redesign() {
    let nights = nights(Redesign::Never);
    let mean = report("never", &nights);
    assert!(nights.relearned.is_empty(), "{:?}", nights.relearned);
    // One site has a second template that its key page leads to once; its other pages are .5.
    assert!(mean > 0.93 && nights.least_kept > 0.99, "{mean}");
}

#[test]
fn a_sudden_redesign_is_noticed_on_its_night() {
    let nights = nights(Redesign::Sudden);
    let mean = report("sudden", &nights);
    let late = nights.relearned.iter().filter(|(night, _)| *night != SUDDEN_NIGHT);
    assert_eq!((nights.relearned.len(), late.count()), (10, 0), "{:?}", nights.relearned);
    assert!(mean > 0.95 && nights.least_kept > 0.99, "{mean}");
}

#[test]
fn a_template_that_changes_block_by_block_is_kept_up_with() {
    let nights = nights(Redesign::Gradual);
    let mean = report("gradual", &nights);
    // The site of two templates may be learned anew on a night on which a block changes.
    let sites: std::collections::BTreeSet<&String> = nights.relearned.iter().map(|(_, site)| site).collect();
    assert!(sites.len() <= 1 && nights.relearned.len() <= 6, "{:?}", nights.relearned);
    assert!(mean > 0.95 && nights.least_kept > 0.99, "{mean}");
}
