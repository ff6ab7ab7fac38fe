//! Properties of the machine of one site, whatever the order of answers and wherever a run breaks.

use proptest::prelude::*;

use std::path::Path;

use super::simulation::{Answer, HOSTS, PartEnd, SHELLS, Stored, crawl, crawl_night, tools, visits, world};
use super::walk::{Walk, WalkTemplate};
use crate::rendering::IS_POSSIBLE;
use crate::workers::{Work, WorkResult, run};
use dehusk_html::PageUrl;
use dehusk_store::revisit::UrlState;
use dehusk_store::{PackedPage, SiteOutcome, StalePage, pack};

/// A case takes a fifth of a second, so there are fewer than usual unless `PROPTEST_CASES` asks for more.
fn n_cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

fn part() -> impl Strategy<Value = (usize, PartEnd)> {
    (1..120_usize, prop_oneof![Just(PartEnd::Stopped), Just(PartEnd::Killed)])
}

/// Nights after which every page of the world is known.
const NIGHTS_TO_KNOW_ALL: i64 = 6;

proptest! {
    #![proptest_config(ProptestConfig { cases: n_cases(), ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_order_and_wherever_it_breaks_the_store_is_the_same(
        variant in any::<u64>(), is_twin in any::<bool>(), seed in any::<u64>(),
        parts in prop::collection::vec(part(), 0..4),
    ) {
        let world = world(variant, is_twin);
        let whole = crawl(&world, 1, &[]);
        let broken = crawl(&world, seed, &parts);
        // Twins are one site under two names; which of them is begun first decides the name of the outcome.
        if is_twin {
            prop_assert_eq!(whole.templates.is_empty(), broken.templates.is_empty());
        } else {
            // A kill loses the training pages that the walk has added since the template was written.
            let was_killed = parts.iter().any(|(_, end)| *end == PartEnd::Killed);
            whole.assert_equals(&broken, !was_killed);
        }
    }

    #[test]
    fn a_night_without_changes_keeps_everything_wherever_it_breaks(
        seed in any::<u64>(), parts in prop::collection::vec(part(), 0..4),
    ) {
        let world = world(u64::MAX, false);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crawl.db");
        // Each night a quarter of `crawl.pages_per_site` is for pages that were not fetched yet.
        (1..=NIGHTS_TO_KNOW_ALL).for_each(|night| crawl_night(&world, &path, night, 1, &[]));
        let first = Stored::read(&path);
        crawl_night(&world, &path, NIGHTS_TO_KNOW_ALL + 1, seed, &parts);
        let second = Stored::read(&path);
        prop_assert_eq!(&second.sites, &["one.test kept ", "three.test kept ", "two.test kept "]);
        let lists = |of: Stored| [of.pages, of.templates, of.cleaned, of.models];
        prop_assert_eq!(lists(second), lists(first));
        let n_pages = visits(&path, NIGHTS_TO_KNOW_ALL + 1);
        prop_assert!(n_pages.len() == 1 && n_pages[0].0 == "not_modified" && n_pages[0].1 > 3 * 14, "{:?}", n_pages);
    }
}

#[test]
fn a_url_that_leads_to_a_page_of_the_run_has_moved() {
    let mut world = world(u64::MAX, false);
    world.insert(format!("{}/s/1", HOSTS[0]), Answer::Redirect("/s/2".to_owned()));
    for seed in 0..20 {
        let urls = crawl(&world, seed, &[]).urls;
        let row = urls.iter().find(|row| row.starts_with("http://one.test/s/1 ")).unwrap();
        let state = row.split(' ').nth(1).unwrap();
        assert_ne!(state, (UrlState::Waiting as i64).to_string(), "{row}");
    }
}

#[test]
fn a_crawl_without_failures_learns_all_sites() {
    let stored = crawl(&world(u64::MAX, false), 1, &[]);
    assert_eq!(stored.sites, ["one.test learned ", "three.test learned ", "two.test learned "]);
    assert_eq!((stored.pages.len(), stored.templates.len()), (3 * 14, 3));
}

#[test]
fn a_site_of_shells_is_learned_from_what_scripts_build() {
    if !IS_POSSIBLE {
        return;
    }
    let (whole, shells) = (crawl(&world(u64::MAX, false), 1, &[]), crawl(&world(u64::MAX ^ SHELLS, false), 1, &[]));
    assert_eq!(shells.cleaned, whole.cleaned);
    assert_ne!(shells.pages, whole.pages, "the bytes are others");
}

#[test]
fn a_site_that_leads_to_one_that_is_worked_on_has_moved() {
    let world = world(u64::MAX, true);
    for seed in 0..20 {
        let stored = crawl(&world, seed, &[]);
        assert!(stored.sites[0].starts_with("one.test moved"), "{:?}", stored.sites);
        assert_eq!(&stored.sites[1..], ["three.test learned ", "two.test learned "]);
    }
}

#[test]
fn stored_pages_that_cannot_be_read_back_hold_up_no_other() {
    let stale = |place: i64, raw: Vec<u8>| {
        let url = PageUrl::parse(&format!("http://one.test/{place}")).unwrap();
        let page = PackedPage { url, content_type: None, raw, is_rendered: false };
        StalePage { place, page, stored: None, doubted: None, last: None, changed_before: false, compared: None }
    };
    let pages = |raws: [Vec<u8>; 2]| {
        let walk = Box::new(Walk::new(SiteOutcome::Walked, WalkTemplate::None));
        let work = Work::Reclean(walk, 1, (1..).zip(raws).map(|(place, raw)| stale(place, raw)).collect());
        match run(7, work, &tools(Path::new("no.db"))) {
            WorkResult::Recleaned { after, pages, .. } => (after, pages.len()),
            _ => panic!("another result"),
        }
    };
    let (sound, damaged) = (pack(b"<p>Rye", 3), b"damaged".to_vec());
    assert_eq!(pages([sound.clone(), sound.clone()]), (2, 2));
    assert_eq!(pages([damaged.clone(), sound]), (2, 1));
    // The next question is for the pages after these.
    assert_eq!(pages([damaged.clone(), damaged]), (2, 0));
}
